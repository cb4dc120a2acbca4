import { decisiveOptions, freshnessMs, type Pipeline, stagesOf } from '../config/pipeline.js';
import { freshUntil, isOver } from '../domain/freshness.js';
import { isStageFinished } from '../domain/outcomes.js';
import { ID_SPACES, type IdSpace } from '../domain/provider.js';
import type { Due, DueDecision, MemberState } from '../ledger/portfolio/portfolios.js';
import { searchesOf } from '../stages/identity/space-search.js';
import { stages } from '../stages/list.js';

export interface DueTerms {
  readonly now: number;
  readonly stages: readonly StageTerms[];
  /** How long a search without a match is reused. */
  readonly searchMs: number;
  readonly fresh: boolean;
  /** Did a run with this pipeline search in the same way? */
  readonly isSameSearch: (pipelineSha256: string) => boolean;
  /** The stages whose options changed since a run with this pipeline. */
  readonly optionChanges: (pipelineSha256: string) => OptionChanges;
}

export interface StageTerms {
  readonly name: string;
  readonly space: IdSpace;
  readonly freshMs: number;
  /** Spaces whose IDs it finds, and finds again when it runs again. */
  readonly finds: readonly IdSpace[];
  /** It runs again if the provider's watch reports a change. */
  readonly watched: boolean;
}

/** `before`: the pipelines of the runs that members use, as far as known, latest last. */
export function dueTerms(
  pipeline: Pipeline,
  now: number,
  fresh: boolean,
  isSameWay: DueTerms['isSameSearch'],
  before: ReadonlyMap<string, Pipeline> = new Map(),
): DueTerms {
  const stages = stagesOf(pipeline);
  const otherwise = new Map(
    [...before].map(([key, told]) => [key, optionChanges(told, pipeline, [...before.values()])]),
  );
  const searches = stages.flatMap(({ space }) => searchesOf(space).map((search) => freshnessMs(pipeline, search)));
  return {
    now,
    fresh,
    isSameSearch: isSameWay,
    optionChanges: (key) => otherwise.get(key) ?? NO_OPTION_CHANGES,
    searchMs: Math.min(...searches),
    stages: stages.map(({ name, space, ages, finds = [] }) => ({
      name,
      space,
      freshMs: Math.min(...ages.map((operation) => freshnessMs(pipeline, operation))),
      finds,
      watched: pipeline.watch.refresh.includes(name),
    })),
  };
}

/** Ranks before stale stages, which are ordered by age, oldest first. */
const RANK = { neverDone: 0, watch: 1 } as const;

/**
 * A match stays: only stages with a stale answer or changed options run again. A review question about the match waits
 * for a person. A question about an additional stage holds that stage only. No match, and a failure, are kept as long
 * as an answer is fresh. `retry` asks sooner.
 */
export function decideDue(standing: MemberState, terms: DueTerms): DueDecision {
  const { outcome } = standing;
  if (outcome === 'invalid') return NEVER;
  if (terms.fresh) return { due: { ...ANEW, reason: 'asked', rank: RANK.neverDone, notBefore: terms.now } };
  if (standing.onItsWay === null) return judgeAtRest(standing, terms);
  if (outcome === 'pending') return { due: { ...GOES_ON, ...changesInProgress(standing, terms) } };
  return { due: { ...(judgeAtRest(standing, terms).due ?? GOES_ON), goesOn: true } };
}

/** Stages to repeat of a row that never finished, because another run began it with other options. */
function changesInProgress({ stages, pipelineSha256 }: MemberState, terms: DueTerms): Pick<Due, 'stages' | 'forget'> {
  const told = terms.optionChanges(pipelineSha256);
  const wasSettled = ({ name }: StageTerms) => stages[name] === 'done' || stages[name] === 'not_available';
  const otherwise = terms.stages.filter((stage) => told.stages.has(stage.name) && wasSettled(stage));
  return {
    stages: Object.fromEntries(otherwise.map(({ name }) => [name, 'pending' as const])),
    forget: [...spacesToForget(told, otherwise), ...otherwise.flatMap(({ finds }) => finds)],
  };
}

/** An ID that was or will be shared with another space is searched again. */
const spacesToForget = (told: OptionChanges, otherwise: readonly StageTerms[]): readonly IdSpace[] =>
  told.spaces.filter((space) => otherwise.some((stage) => stage.space === space));

function judgeAtRest(standing: MemberState, terms: DueTerms): DueDecision {
  const { outcome, updatedAt } = standing;
  // Another search may find or confirm the company.
  const isOpen = outcome === 'needs_review' || outcome === 'no_match';
  const anotherWay = isOpen && !terms.isSameSearch(standing.pipelineSha256);
  const inQuestion = stagesInQuestion(standing);
  if (inQuestion !== undefined) return judgeStages(standing, terms, { inQuestion, anotherWay });
  if (anotherWay) return { due: { ...ANEW, reason: 'unfinished', rank: RANK.neverDone } };
  if (outcome === 'needs_review') return NEVER;
  if (outcome === 'no_match') {
    const until = freshUntil(updatedAt, terms.searchMs);
    return isOver(until, terms.now)
      ? { due: { ...ANEW, reason: 'stale', rank: updatedAt } }
      : { due: null, nextAt: timeOf(until) };
  }
  // With other options the request may succeed.
  const isTheSame = terms.optionChanges(standing.pipelineSha256).stages.size === 0;
  if (outcome === 'failed' && isTheSame) {
    const failed = terms.stages.filter(({ name }) => standing.stages[name] === 'failed');
    const until = freshUntil(updatedAt, Math.min(...failed.map(({ freshMs }) => freshMs)));
    if (!isOver(until, terms.now)) return { due: null, nextAt: timeOf(until) };
  }
  return judgeStages(standing, terms, NO_QUESTIONS);
}

/** `anotherWay`: this pipeline may not ask these questions, or not have these stages. */
interface Questions {
  readonly inQuestion: ReadonlySet<string>;
  readonly anotherWay: boolean;
}

const NO_QUESTIONS: Questions = { inQuestion: new Set(), anotherWay: false };

function judgeStages(standing: MemberState, terms: DueTerms, { inQuestion, anotherWay }: Questions): DueDecision {
  const { changedAt, outcome } = standing;
  const told = terms.optionChanges(standing.pipelineSha256);
  const spaces: IdSpace[] = [];
  const missing: StageTerms[] = [];
  const otherwise: StageTerms[] = [];
  const watched: StageTerms[] = [];
  const stale: StageTerms[] = [];
  /** Failed stages beside a question: repeated with other due stages, or alone when an answer would be stale. */
  const failed: StageTerms[] = [];
  let gone: number | null = null;
  let oldest = Number.POSITIVE_INFINITY;
  let next = Number.POSITIVE_INFINITY;
  for (const stage of terms.stages) {
    const status = standing.stages[stage.name];
    if (status === 'skipped') continue;
    if (inQuestion.has(stage.name)) {
      if (anotherWay) missing.push(stage);
      continue;
    }
    if (status !== undefined && told.stages.has(stage.name)) otherwise.push(stage);
    const hasFailed = status === 'failed' && outcome === 'needs_review';
    if (hasFailed) failed.push(stage);
    else if (!isStageFinished(status)) {
      missing.push(stage);
      continue;
    }
    const asOf = hasFailed ? standing.updatedAt : fetchedAt(standing, stage.name);
    if (stage.watched && changedAt !== null && asOf < changedAt) watched.push(stage);
    const until = freshUntil(asOf, stage.freshMs);
    if (!isOver(until, terms.now)) next = Math.min(next, until);
    else {
      stale.push(stage);
      oldest = Math.min(oldest, asOf);
      if (status === 'not_available' && until < standing.updatedAt) {
        spaces.push(stage.space);
        gone = Math.max(gone ?? 0, asOf);
      }
    }
  }
  const because = new Set([...missing, ...otherwise, ...watched, ...stale]);
  if (because.size === 0 && !anotherWay) return { due: null, nextAt: timeOf(next) };
  const again = [...because, ...failed];
  const stages = { ...standing.stages, ...Object.fromEntries(again.map(({ name }) => [name, 'pending' as const])) };
  const shared = {
    goesOn: false,
    stages,
    // A record that was there and then was not is searched again: the company may have a new ID.
    forget: [...spaces, ...spacesToForget(told, otherwise), ...again.flatMap(({ finds }) => finds)],
    notBefore: watched.length > 0 ? changedAt : gone === null ? null : gone + 1,
  };
  const isUnfinished = otherwise.length > 0 || anotherWay || (missing.length > 0 && outcome !== 'failed');
  if (isUnfinished) return { due: { ...shared, reason: 'unfinished', rank: RANK.neverDone } };
  if (missing.length > 0) return { due: { ...shared, reason: 'stale', rank: standing.updatedAt } };
  if (watched.length > 0) return { due: { ...shared, reason: 'watch', rank: RANK.watch } };
  return { due: { ...shared, reason: 'stale', rank: oldest } };
}

const fetchedAt = ({ fetched, updatedAt }: MemberState, stage: string): number =>
  Object.hasOwn(fetched, stage) ? (fetched[stage] ?? updatedAt) : updatedAt;

const timeOf = (at: number): number | null => (Number.isFinite(at) ? at : null);

const NEVER: DueDecision = { due: null, nextAt: null };

const ALL_SPACES: readonly IdSpace[] = ID_SPACES;

const ANEW = { goesOn: false, stages: {}, forget: ALL_SPACES, notBefore: null } as const satisfies Partial<Due>;

const GOES_ON: Due = {
  reason: 'unfinished',
  goesOn: true,
  rank: RANK.neverDone,
  stages: {},
  forget: [],
  notBefore: null,
};

const ADDITIONAL: ReadonlySet<string> = new Set(stages.flatMap(({ name, additional }) => (additional ? [name] : [])));

/**
 * The stages in question, if they are all additional to a known company with bought data. Undefined if there is no
 * question, or it may be about the match.
 */
function stagesInQuestion({ outcome, stages: statuses }: MemberState): ReadonlySet<string> | undefined {
  if (outcome !== 'needs_review' || !Object.values(statuses).includes('done')) return undefined;
  const open = Object.entries(statuses).filter(([, status]) => !isStageFinished(status) && status !== 'failed');
  const names = open.map(([name]) => name);
  return names.length > 0 && names.every((name) => ADDITIONAL.has(name)) ? new Set(names) : undefined;
}

export interface OptionChanges {
  /** Finished stages that would get other answers. */
  readonly stages: ReadonlySet<string>;
  readonly spaces: readonly IdSpace[];
}

const NO_OPTION_CHANGES: OptionChanges = { stages: new Set(), spaces: [] };

/**
 * `others`: pipelines of other runs of the same list, latest last. If a run lacked a stage, the latest of those that
 * had it counts.
 */
function optionChanges(before: Pipeline, now: Pipeline, others: readonly Pipeline[] = []): OptionChanges {
  const told = new Map([...others, before].flatMap(decisiveOptions).map(({ stage, words }) => [stage.name, words]));
  const spaces = changedSharing(before.idsShared, now.idsShared);
  const planned = decisiveOptions(now).filter(({ stage }) => told.has(stage.name));
  const otherwise = planned.filter(
    ({ stage, words }) => told.get(stage.name) !== words || spaces.includes(stage.space),
  );
  return { stages: new Set(otherwise.map(({ stage }) => stage.name)), spaces };
}

/** A v1 match stays: the others are compared with it. */
function changedSharing(before: readonly IdSpace[], now: readonly IdSpace[]): readonly IdSpace[] {
  const [were, are] = [new Set(before), new Set(now)];
  if (were.size === are.size && before.every((space) => are.has(space))) return [];
  return [...new Set([...were, ...are])].filter((space) => space !== 'v1');
}
