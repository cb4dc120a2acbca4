import pLimit from 'p-limit';
import { companies } from '../../api/v2/operations/companies.js';
import type { KybatchError } from '../../domain/errors.js';
import type { ProfileSeen, Prospect } from '../../readers/prospects.js';
import { type AskDoor, type AskTerms, endsAll, noAnswerError } from '../ask-door.js';
import { answerAsRead } from './answer-as-read.js';

export interface Profiles {
  /** By the ID that prospecting gave. */
  readonly seen: ReadonlyMap<string, ProfileSeen>;
  /** The first of those that could not be had, though there may be something. */
  readonly failure: KybatchError | null;
}

/**
 * The profile of each, one call each, several at once. One that the provider does not have, or that fails, is told of its
 * prospect; what would end them all ends this, and what came before it is owned.
 */
export async function askProfiles(
  prospects: readonly Prospect[],
  { ask }: AskDoor,
  terms: AskTerms,
): Promise<Profiles> {
  const operation = companies.companyProfile;
  const seen = new Map<string, ProfileSeen>();
  let [failure, end]: (KybatchError | null)[] = [null, null];
  await pLimit(AT_ONCE).map([...prospects], async ({ id }) => {
    if (end) return;
    const params = { id };
    const outcome = await ask(operation, params, terms);
    if (outcome.kind === 'answer') {
      seen.set(id, answerAsRead(operation, params, outcome));
      return;
    }
    if (endsAll(outcome) !== undefined) end ??= noAnswerError(outcome, operation);
    const isMissing = outcome.kind === 'not_available';
    if (!isMissing) failure ??= noAnswerError(outcome, operation);
    seen.set(id, isMissing ? 'not_available' : 'failed');
  });
  if (end) throw end;
  return { seen, failure: failure ?? null };
}

/** How many the provider takes is not shown. */
const AT_ONCE = 4;
