import { type IdSpace, INFORMATIVE_SPACES } from '../../domain/provider.js';
import type { QuestionTopic, Stages } from '../rows/runs.js';

/** A stage as the run of a row has it, as far as it says what rests on what. */
export interface StageDependency {
  readonly name: string;
  /** Whose IDs it buys by. */
  readonly space: IdSpace;
  /** Spaces whose IDs it finds itself. */
  readonly finds: readonly IdSpace[];
  /** It only adds to a company that is known without it. */
  readonly additional: boolean;
}

/** What a run is told that says what rests on what. */
export interface StageDependencies {
  readonly stages: readonly StageDependency[];
  /** Spaces that have the same IDs, as the pipeline says. */
  readonly idsShared: readonly IdSpace[];
}

export type StageDependenciesOf = (runId: string) => StageDependencies;

/** A row that went on with a decision which is withdrawn now. */
export interface RestingRow {
  /** What was decided: one word may have answered for several stages. */
  readonly topics: readonly QuestionTopic[];
  readonly confirmed: boolean;
  readonly statuses: Stages;
  readonly ids: readonly { readonly space: IdSpace; readonly matchedOn: string | null }[];
  /** The row had come to this stage before it was decided. */
  readonly wasThere: (stage: string) => boolean;
}

/** What a row is without the decision: stages that are open again, and IDs that it does not have any more. */
export interface WithdrawalEffects {
  readonly stages: readonly string[];
  readonly spaces: readonly IdSpace[];
}

/**
 * Who the company is stays, where that did not rest on the decision: then a module's ID and stages are taken back, and
 * nothing else. Undefined: all of the row rests on it.
 */
export function withdrawalEffects(
  row: RestingRow,
  { stages, idsShared }: StageDependencies,
): WithdrawalEffects | undefined {
  const isLost = ({ space, stage }: QuestionTopic) => stage === null || row.ids.every((known) => known.space !== space);
  const reached = stages.filter(({ name }) => isReached(row.statuses[name]));
  return row.topics.some(isLost) ? withoutCompany(row, reached, idsShared) : withoutAnswer(row, reached);
}

/** The decision said which company is meant in a space, or that none is. */
function withoutCompany(
  { topics, ids }: RestingRow,
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

/** A space that tells less was searched by what one that tells more had confirmed, and rests on it. */
function isKnownBy(left: readonly IdSpace[], lost: ReadonlySet<IdSpace>): boolean {
  const first = INFORMATIVE_SPACES.findIndex((space) => lost.has(space));
  return first === -1 ? left.length > 0 : INFORMATIVE_SPACES.slice(0, first).some((space) => left.includes(space));
}

/**
 * The decision said of an answer that it is the company's. Where the row had ended with that question, all that it came to
 * since rests on the word; what only adds to it carries no more than what is asked by the same ID.
 */
function withoutAnswer(row: RestingRow, reached: readonly StageDependency[]): WithdrawalEffects {
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
      // What was found without a person stands without one.
      ...asked.flatMap(({ finds }) => finds).filter((space) => byWord.includes(space)),
      ...since.flatMap(({ space, finds }) => [...finds, ...(needed.has(space) ? [] : [space])]),
    ],
  };
}

const isReached = (status: string | undefined): boolean => status === 'done' || status === 'not_available';
