import type { OperationView } from '../../app/operations.js';

/** A page for people: every operation, where it goes, and what it takes. */
export function operationsInWords(api: 'v1' | 'v2', operations: readonly OperationView[]): string {
  const blocks = operations.map((view) => {
    const route =
      view.path === null ? 'method and path from the routes file (KYBATCH_V2_ROUTES)' : `${view.method} ${view.path}`;
    const width = Math.max(0, ...view.parameters.map((parameter) => parameter.name.length + 1));
    const lines = view.parameters.map(({ name, required, type, description }) => {
      const label = `${name}${required ? '*' : ''}`.padEnd(width);
      return `    ${label}  ${type}${description === '' ? '' : `: ${description}`}`;
    });
    return [`${view.operation}: ${view.summary}`, `    ${route}`, ...lines].join('\n');
  });
  const example = api === 'v1' ? `searchKyb --params '{"location":"GB","name":"Aber"}'` : 'metrics';
  return `${blocks.join('\n\n')}\n\n* required. Call one: kybatch call ${api} ${example}\n`;
}
