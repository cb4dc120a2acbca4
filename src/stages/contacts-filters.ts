import type { ContactsContext } from './contacts-people.js';
import { type StageOutcome, withoutAnswer } from './stage.js';
import { resolveVocabulary } from './vocabulary/resolve.js';

/** What people are filtered by in the employees module, as it takes it. */
export interface EmployeeFilters {
  readonly kind: 'filters';
  readonly filters: {
    readonly seniority?: readonly number[];
    readonly department?: readonly number[];
    readonly job_title?: readonly string[];
  };
}

/** Names become IDs of their vocabulary, which is free to read and kept for a year. */
export async function employeeFilters(context: ContactsContext): Promise<EmployeeFilters | StageOutcome> {
  const { jobTitle } = context.options;
  const filters: { -readonly [Key in keyof EmployeeFilters['filters']]: EmployeeFilters['filters'][Key] } = {};
  for (const name of ['seniority', 'department'] as const) {
    const written = context.options[name];
    if (written.length === 0) continue;
    const resolved = await resolveVocabulary({ name }, written, (operation, params) => context.call(operation, params));
    if (resolved.kind === 'refused') return unknownName(name, resolved.problems[0]?.message ?? '');
    if (resolved.kind !== 'resolved') return withoutAnswer(resolved);
    const ids = resolved.items.map(({ id }) => Number(id));
    if (!ids.every(Number.isSafeInteger)) return unknownName(name, 'an ID of the vocabulary is no whole number');
    filters[name] = ids;
  }
  if (jobTitle.length > 0) filters.job_title = jobTitle;
  return { kind: 'filters', filters };
}

const unknownName = (name: string, message: string): StageOutcome => ({
  kind: 'failed',
  error: {
    class: 'fail_row',
    code: 'UNKNOWN_NAME',
    message: `contacts.${name}: ${message}. \`kybatch vocab ${name}\` lists them; correct the pipeline file, and start again with \`kybatch run\`: a run keeps the pipeline that it was begun with`,
    requestId: null,
    attempts: 1,
  },
});
