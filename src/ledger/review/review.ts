// The records of the review store, and what a row loses when a decision is withdrawn.

import type { FindCorrection } from '../../domain/entity-key.js';
import { type IdSpace, INFORMATIVE_SPACES } from '../../domain/provider.js';
import type { CandidateRecord, NewQuestion, QuestionTopic, Stages } from '../rows/runs.js';

/** The provider and the company that a question is about. */
export type QuestionKey = Pick<AskedQuestion, 'environmentId' | 'entityKey'>;

export interface WaitingRow
  extends Pick<AskedQuestion, 'environmentId' | 'entityKey' | 'stage' | 'code' | 'askedAt' | 'fields'> {
  readonly candidates: readonly Pick<CandidateRecord, 'id' | 'matchGrade' | 'countryCode'>[];
}

/** The rows that were read before: their places as one text, by place, and as a list. */
export interface KnownRows {
  places: string;
  byPlace: ReadonlyMap<string, WaitingRow>;
  list: readonly WaitingRow[];
}

/** A row of a run, or of a plan, which has no run. */
export interface PlaceOfRow {
  readonly runId: string | null;
  readonly row: number;
}

/** The run or plan that looks for a decision. */
export interface AskingRun {
  /** Null for a plan: any list that requires two people counts. */
  readonly runId: string | null;
  readonly secondPerson: boolean;
}

export interface AskedQuestion extends NewQuestion {
  readonly runId: string;
  readonly row: number;
  readonly environment: string;
  /** Its place in the newest file. If it left the list: in its run. */
  readonly listedRow: number;
  readonly line: number;
  /** The name of the row's list, else the path of its file. */
  readonly list: string;
  readonly fields: Readonly<Record<string, string>>;
  /** The number by which a person had the row searched instead of its own. */
  readonly correctedNumber: string | undefined;
  /** The header of the list and the row's cells as written. */
  readonly columns: readonly string[];
  readonly values: readonly string[];
  /** The row waits for the answer, or will when the asking pipeline runs again. */
  readonly open: boolean;
  /** Asked by another pipeline than that of the row's run. */
  readonly beside: boolean;
  /** A list that asks it requires a second person for a confirmation. */
  readonly needsTwo: boolean;
  /** The row's company is confirmed in another ID space. */
  readonly isKnown: boolean;
  readonly candidates: readonly CandidateRecord[];
}

export interface RowRef {
  readonly runId: string;
  readonly row: number;
}

export type FindCorrections = (environmentId: number) => FindCorrection;

export interface DecisionRecord {
  readonly decision: 'confirm' | 'none_of_these' | 'not_sure';
  readonly candidateId: string | null;
  readonly decidedBy: string;
  readonly decidedAt: number;
  readonly note: string | null;
  readonly shown: readonly string[];
}

export interface NewDecision extends DecisionRecord, QuestionTopic {
  readonly environmentId: number;
  readonly entityKey: string;
  readonly summary: string;
  /** Names decisions made at once by one rule. */
  readonly batch?: string | null;
}

export type Recorded = { readonly id: number; readonly released: readonly RowRef[] } & (
  | {
      readonly kind: 'in_force';
      /** The first person, who waited for a second one. */
      readonly with: string | null;
    }
  /** It waits for a second person. `against`: different decisions of others. */
  | { readonly kind: 'held'; readonly against: readonly DecisionEntry[] }
  /** The same person decided so before and another is still needed: nothing was written. */
  | { readonly kind: 'said_before' }
);

export interface DecisionEntry extends NewDecision {
  readonly id: number;
  /** The second person, if two were needed. */
  readonly secondBy: string | null;
  readonly batch: string | null;
  /** For two people: the batch and time of the first decision. */
  readonly firstBatch: string | null;
  readonly firstAt: number | null;
  /** It waits for a second person and is not in force. */
  readonly held: boolean;
  readonly withdrawnAt: number | null;
  readonly withdrawnBy: string | null;
}

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
interface StageDependencies {
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

interface WithdrawalEffects {
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
