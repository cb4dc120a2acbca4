import type { CandidateFacts } from '../../domain/grade.js';
import { type IdSpace, TELLING_SPACES } from '../../domain/id-spaces.js';
import type { Ids } from '../stage.js';

/** What was confirmed of the company in a space that tells more than this one; in any, where none is named. */
export function confirmedElsewhere(ids: Ids, than?: IdSpace): CandidateFacts | undefined {
  const place = than === undefined ? -1 : TELLING_SPACES.indexOf(than);
  const before = place === -1 ? TELLING_SPACES : TELLING_SPACES.slice(0, place);
  for (const space of before) {
    const candidate = ids[space]?.candidate;
    if (candidate != null) return candidate;
  }
  return undefined;
}
