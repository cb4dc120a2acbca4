import { type IdSpace, spaceWithSameId } from '../domain/provider.js';
import { readSearchSubject, type SearchSubject } from '../domain/search-subject.js';
import type { RowRecord, RowSettlement } from '../ledger/rows/runs.js';
import { withKnownCountry } from '../stages/identity/confirm.js';
import { resolve, withoutFallback } from '../stages/identity/resolve.js';
import { isSpaceNeeded, searchedIn } from '../stages/identity/space-search.js';
import { type Company, noteOf, type Stage, type StageOutcome } from '../stages/stage.js';
import { sanitizeText } from '../util/sanitize-text.js';
import { bySpace, initialCheckpoint, type KnownIds, RowNotes, RowState } from './row-state.js';
import type { StageContexts } from './stage-contexts.js';

/**
 * Takes one row through the stages of the pipeline. Before a stage runs, the company is matched in the ID space that
 * the stage needs. Finished stages are skipped, missing answers are bought, and stored answers are free. A parked or
 * failed stage does not stop the others, once v1 knows the company and its record was compared with the match. An
 * outcome that ends the row (no match, a review question, a failure of v1) does. A question about an additional stage
 * holds that stage only.
 */
export async function processRow(
  row: RowRecord,
  contexts: StageContexts,
  reading = readSearchSubject(row.fields),
): Promise<RowSettlement> {
  if (!reading.ok) {
    const error = { errorCode: reading.code, errorMessage: sanitizeText(reading.message) };
    const checkpoint = { ...initialCheckpoint(row, contexts.now()), outcome: 'invalid' as const, ...error };
    return { checkpoint, ids: [], ...new RowNotes().all() };
  }
  const journey = new Journey(row, reading.enquiry, contexts);
  for (const stage of contexts.stages) {
    if (journey.state.ended) break;
    if (!journey.state.isOpen(stage)) continue;
    if (journey.isUncompared) journey.state.markHeldUp(stage);
    else if (await journey.identify(stage)) await journey.run(stage);
  }
  return journey.state.settlement();
}

class Journey {
  readonly state: RowState;
  readonly #resolved = new Set<IdSpace>();
  readonly #confirmedBefore: KnownIds;
  /**
   * The record to compare the match with has not come yet but will: nothing is bought for a company that may turn out
   * to be another.
   */
  isUncompared = false;

  constructor(
    private readonly row: RowRecord,
    private readonly enquiry: SearchSubject,
    private readonly contexts: StageContexts,
  ) {
    this.#confirmedBefore = bySpace(row.confirmedBefore);
    this.state = new RowState(row, contexts.stages, contexts.policy.review, () => contexts.now());
  }

  /** Matches the company in the stage's ID space. False if that failed. */
  async identify(stage: Stage): Promise<boolean> {
    const { space } = stage;
    const { policy } = this.contexts;
    const own = this.state.ids[space];
    const twin = spaceWithSameId(space, policy.idsShared, (other) => this.state.ids[other] !== undefined);
    const known = own?.candidate == null && twin !== undefined ? this.state.ids[twin] : own;
    if (known !== undefined) this.state.know(space, known);
    if (known !== undefined && (known.candidate !== null || stage.comparesCandidate !== true)) return true;
    // A v1 match is the better evidence for all other spaces.
    const { stages } = this.contexts;
    if (space !== 'v1' && this.state.ids.v1?.candidate == null && isSpaceNeeded('v1', stages))
      await this.#resolve('v1');
    // v1 could not be asked yet. Nothing is bought for a company that may turn out to be another.
    if (space !== 'v1' && this.state.ids.v1 === undefined && isSpaceNeeded('v1', stages)) this.state.markHeldUp(stage);
    else if (!this.state.ended) await this.#resolve(this.#searchedIn(space));
    const found = this.state.ids[this.#searchedIn(space)];
    if (found !== undefined) this.state.know(space, found);
    return !this.state.ended && this.state.ids[space] !== undefined;
  }

  #searchedIn(space: IdSpace): IdSpace {
    return searchedIn(space, this.contexts.stages, this.contexts.policy.idsShared);
  }

  async run(stage: Stage): Promise<void> {
    const context = this.contexts.contextFor(this.row, stage.name, this.state.notes, stage);
    this.state.reopen(this.contexts.stages.filter(({ reads = [] }) => reads.includes(stage.name)));
    const outcome = await stage.run(this.#company(), context);
    this.state.reached = stage.name;
    this.state.learn(outcome);
    if (outcome.kind !== 'done' && outcome.kind !== 'not_available') {
      this.isUncompared = stage.comparesCandidate === true && this.#comesLater(stage, outcome);
      return this.state.noteTrouble([stage], outcome);
    }
    const isOld = outcome.kind === 'not_available' && this.row.stagesBefore[stage.name] === 'done';
    const stays = isOld && outcome.stays === true;
    this.state.mark([stage], stays ? 'done' : outcome.kind);
    // A person decided that this match is another company, so no other stage buys for it.
    if (outcome.ids?.[stage.space] === null)
      this.state.mark(
        this.contexts.stages.filter(({ space }) => space === stage.space),
        'not_available',
      );
    const { asOf } = outcome;
    // An answer from before keeps its age until its company has been searched again.
    const isGone = isOld && outcome.gone === true && !this.#resolved.has(stage.space);
    if (!isGone && !stays) {
      this.state.notes.ended.add(stage.name);
      this.state.noteFetched(stage.name, asOf ?? this.contexts.now());
    }
    if (outcome.kind === 'not_available' && outcome.error !== undefined) this.state.keepError(outcome.error);
  }

  /** False for operations the key may not use, and for answers that were compared before and are only renewed. */
  #comesLater({ name, additional }: Stage, outcome: StageOutcome): boolean {
    if (additional === true || this.row.stagesBefore[name] === 'done') return false;
    return outcome.kind === 'parked' && outcome.reason !== 'scope' && outcome.reason !== 'closed';
  }

  async #resolve(space: IdSpace): Promise<void> {
    if (this.#resolved.has(space)) return;
    const isFirst = this.#resolved.size === 0 && Object.keys(this.state.ids).length === 0;
    this.#resolved.add(space);
    const { policy } = this.contexts;
    const context = this.contexts.contextFor(this.row, 'resolve', this.state.notes);
    const outcome = await resolve(space, this.#company(), isFirst ? policy : withoutFallback(policy), context);
    this.state.learn(outcome);
    const waiting = this.contexts.stages.filter(
      (stage) => this.#searchedIn(stage.space) === space && this.state.isOpen(stage),
    );
    const decided = outcome.kind === 'done' || outcome.kind === 'needs_review';
    this.state.reached = decided ? 'confirm' : 'resolve';
    if (outcome.kind === 'done') return;
    if (outcome.kind === 'not_available') {
      if (outcome.error !== undefined) this.state.keepError(outcome.error);
      return this.state.mark(waiting, 'not_available');
    }
    const known = Object.keys(this.state.ids).some((other) => other !== space);
    if (outcome.kind === 'no_match' && (known || this.state.hasFailed)) {
      // The company is known already, or the better source could not be asked: this module does not have it.
      for (const stage of waiting) {
        this.state.reached = stage.name;
        this.state.keepError(noteOf(outcome.code, outcome.message));
      }
      this.state.mark(waiting, 'not_available');
      for (const { name } of waiting) {
        this.state.notes.ended.add(name);
        this.state.noteFetched(name, this.contexts.now());
      }
      this.state.reached = waiting[0]?.name ?? this.state.reached;
    } else {
      this.state.noteTrouble(waiting, outcome);
    }
  }

  #company(): Company {
    const enquiry = withKnownCountry(this.enquiry, this.state.ids);
    return { row: this.row.row, enquiry, ids: this.state.ids, confirmedBefore: this.#confirmedBefore };
  }
}
