import type { CandidateFacts } from '../../domain/grade.js';
import type { IdSpace } from '../../domain/id-spaces.js';
import type { Ids } from '../stage.js';

/** Whose searches say most about a company, first to last: an account may have any of them, and none is sure to be there. */
const TELLING: readonly IdSpace[] = ['v1', 'v2', 'companies'];

/** What was confirmed of the company in a space that tells more than this one; in any, where none is named. */
export function confirmedElsewhere(ids: Ids, than?: IdSpace): CandidateFacts | undefined {
  const place = than === undefined ? -1 : TELLING.indexOf(than);
  const before = place === -1 ? TELLING : TELLING.slice(0, place);
  for (const space of before) {
    const candidate = ids[space]?.candidate;
    if (candidate != null) return candidate;
  }
  return undefined;
}
