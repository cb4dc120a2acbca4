// Decides which stages and IDs a row loses when a decision is withdrawn.

import { type IdSpace, INFORMATIVE_SPACES } from '../../domain/provider.js';
import type { QuestionTopic, Stages } from '../rows/runs.js';

/** The part of a run's stage that tells which stages depend on which IDs. */
export interface StageDependency {
  readonly name: string;
  /** The space of the IDs it uses. */
  readonly space: IdSpace;
  /** Spaces whose IDs it finds. */
  readonly finds: readonly IdSpace[];
  /** It only adds data to a company that is known without it. */
  readonly additional: boolean;
}

/** The settings of a run that tell which stages depend on which IDs. */
export interface StageDependencies {
  readonly stages: readonly StageDependency[];
  /** Spaces that the pipeline says share their IDs. */
  readonly idsShared: readonly IdSpace[];
}

export type StageDependenciesOf = (runId: string) => StageDependencies;

/** A row that continued with the decision to be withdrawn. */
export interface DecidedRow {
  /** One decision may have answered the questions of several stages. */
  readonly topics: readonly QuestionTopic[];
  readonly confirmed: boolean;
  readonly statuses: Stages;
  readonly ids: readonly { readonly space: IdSpace; readonly matchedOn: string | null }[];
  /** The row had reached this stage before the decision. */
  readonly wasThere: (stage: string) => boolean;
}

/** Stages that reopen, and IDs that the row loses. */
export interface WithdrawalEffects {
  readonly stages: readonly string[];
  readonly spaces: readonly IdSpace[];
}

/**
 * A match that did not depend on the decision stays: then only the module's ID and stages are removed. Undefined: the
 * whole row depends on it.
 */
export function withdrawalEffects(
  row: DecidedRow,
  { stages, idsShared }: StageDependencies,
): WithdrawalEffects | undefined {
  const isLost = ({ space, stage }: QuestionTopic) => stage === null || row.ids.every((known) => known.space !== space);
  const reached = stages.filter(({ name }) => isReached(row.statuses[name]));
  return row.topics.some(isLost) ? withoutCompany(row, reached, idsShared) : withoutAnswer(row, reached);
}

/** The decision chose the company in a space, or none. */
function withoutCompany(
  { topics, ids }: DecidedRow,
  reached: readonly StageDependency[],
  idsShared: readonly IdSpace[],
): WithdrawalEffects | undefined {
  const asked = topics.map(({ space }) => space);
  const lost = new Set([...asked, ...(asked.some((space) => idsShared.includes(space)) ? idsShared : [])]);
  const again = reached.filter(({ name, space }) => lost.has(space) || topics.some(({ stage }) => stage === name));
  const spaces = [...lost, ...again.flatMap(({ finds }) => finds)];
  const left = ids.map(({ space }) => space).filter((space) => !spaces.includes(space));
  return isKnownBy(left, lost) ? { stages: again.map(({ name }) => name), spaces } : undefined;
}

/** A less informative space was searched with the facts of a more informative one, and depends on it. */
function isKnownBy(left: readonly IdSpace[], lost: ReadonlySet<IdSpace>): boolean {
  const first = INFORMATIVE_SPACES.findIndex((space) => lost.has(space));
  return first === -1 ? left.length > 0 : INFORMATIVE_SPACES.slice(0, first).some((space) => left.includes(space));
}

/**
 * The decision accepted an answer. If the row had stopped at that question, everything since depends on it. For an
 * additional stage only stages that use the same ID do.
 */
function withoutAnswer(row: DecidedRow, reached: readonly StageDependency[]): WithdrawalEffects {
  const { topics, ids, confirmed, wasThere } = row;
  const isAsked = ({ name }: StageDependency) => topics.some(({ stage }) => stage === name);
  const asked = reached.filter(isAsked);
  const isOwn = asked.every(({ additional }) => additional);
  const isNear = ({ space }: StageDependency) => !isOwn || topics.some((topic) => topic.space === space);
  const since = reached.filter((stage) => confirmed && !isAsked(stage) && isNear(stage) && !wasThere(stage.name));
  const kept = [...asked, ...reached.filter((stage) => !isAsked(stage) && !since.includes(stage))];
  const byWord = ids.filter(({ matchedOn }) => matchedOn === 'review').map(({ space }) => space);
  const needed = new Set([...kept, ...topics].map(({ space }) => space));
  return {
    stages: [...topics.flatMap(({ stage }) => stage ?? []), ...since.map(({ name }) => name)],
    spaces: [
      // IDs found without a person stay.
      ...asked.flatMap(({ finds }) => finds).filter((space) => byWord.includes(space)),
      ...since.flatMap(({ space, finds }) => [...finds, ...(needed.has(space) ? [] : [space])]),
    ],
  };
}

const isReached = (status: string | undefined): boolean => status === 'done' || status === 'not_available';
