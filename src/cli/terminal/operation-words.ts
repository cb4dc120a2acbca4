import type { OperationView } from '../../app/operations.js';
import type { ApiName } from '../../domain/api-name.js';

/** A page for people: every operation, where it goes, and what it takes. */
export function operationsInWords(api: ApiName, operations: readonly OperationView[]): string {
  const blocks = operations.map((view) => {
    const width = Math.max(0, ...view.parameters.map((parameter) => parameter.name.length + 1));
    const lines = view.parameters.map(({ name, required, type, description }) => {
      const label = `${name}${required ? '*' : ''}`.padEnd(width);
      return `    ${label}  ${type}${description === '' ? '' : `: ${description}`}`;
    });
    return [`${view.operation}: ${view.summary}`, ...routeOf(api, view), ...lines].join('\n');
  });
  return `${blocks.join('\n\n')}\n\n* required. Call one: kybatch call ${api} ${EXAMPLES[api]}\n`;
}

/** A tool has none: it is named in the message. */
function routeOf(api: ApiName, { method, path }: OperationView): readonly string[] {
  if (api === 'mcp') return [];
  return [`    ${path === null ? 'method and path from the routes file (KYBATCH_V2_ROUTES)' : `${method} ${path}`}`];
}

const EXAMPLES: Readonly<Record<ApiName, string>> = {
  v1: `searchKyb --params '{"location":"GB","name":"Aber"}'`,
  v2: 'metrics',
  mcp: `TOOL --params '{"country_code":"GB","name":"Aber"}'`,
};
