import { isSettled } from '../domain/outcomes.js';
import type { Standing } from '../ledger/portfolios.js';
import { stages } from '../stages/list.js';

const ADDITIONAL: ReadonlySet<string> = new Set(stages.flatMap(({ name, additional }) => (additional ? [name] : [])));

/**
 * The stages that a person is asked about, where the question is theirs alone: they only add to a company that is known,
 * and of which something was bought. Undefined where nobody is asked, or who the company is may be the question.
 */
export function stagesInQuestion({ outcome, stages: statuses }: Standing): ReadonlySet<string> | undefined {
  if (outcome !== 'needs_review' || !Object.values(statuses).includes('done')) return undefined;
  const open = Object.entries(statuses).filter(([, status]) => !isSettled(status) && status !== 'failed');
  const names = open.map(([name]) => name);
  return names.length > 0 && names.every((name) => ADDITIONAL.has(name)) ? new Set(names) : undefined;
}
