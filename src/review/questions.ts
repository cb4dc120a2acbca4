import { createHash } from 'node:crypto';
import { compareGrades } from '../domain/grade-order.js';
import {
  gradeOfBought,
  type IdentityMismatch,
  mismatchInWords,
  readIdentityMismatch,
} from '../domain/identity-mismatch.js';
import { resolveLocation } from '../domain/places/resolve-location.js';
import {
  type AskedQuestion,
  type DecisionEntry,
  isAlone,
  isSamePerson,
  type ReviewStore,
} from '../ledger/review/review.js';
import type { CandidateRecord, QuestionTopic } from '../ledger/rows/runs.js';

/** One question for people, however many rows ask it. */
export interface Question extends QuestionTopic {
  /** `Q-…`: the same for the same question in every run. No spreadsheet takes it for a number. */
  readonly id: string;
  readonly environmentId: number;
  readonly environment: string;
  readonly entityKey: string;
  readonly code: string;
  readonly message: string;
  /** The rows that ask; those that wait, where any does. */
  readonly rows: readonly AskingRow[];
  /** The fields of the first of them. */
  readonly input: Readonly<Record<string, string>>;
  /** Each row that has asked it, as it did: an older sheet may show what any of them gave, and found. */
  readonly asked: readonly Pick<AskedQuestion, 'fields' | 'candidates'>[];
  /** Its code, as far as the input tells it, else that of the best candidate; null where neither does. */
  readonly countryCode: string | null;
  /** What the answer that the question is about says of itself. */
  readonly bought?: IdentityMismatch['bought'] | undefined;
  /** The best first. */
  readonly candidates: readonly Choice[];
  /** Changes with the candidates: a sheet that shows others says nothing about those that it does not show. */
  readonly basis: string;
  readonly open: boolean;
  /** Only another pipeline has asked it than the one that was run last: an answer counts when that is run again. */
  readonly beside: boolean;
  /** The name of that pipeline, where it is known. */
  readonly askedBy?: string | undefined;
  /** The decision in force. An open question has one if a person was not sure, or if its candidates have changed. */
  readonly decision: DecisionEntry | undefined;
  /** Those who have ever said that they are not sure. */
  readonly unsure: readonly string[];
  /** A confirmation counts only when a second person has agreed. */
  readonly needsTwo: boolean;
  /** What has been said, and waits for a second person. */
  readonly held: readonly DecisionEntry[];
}

export interface AskingRow {
  readonly runId: string;
  readonly row: number;
  readonly line: number;
  /** The analyst's own key. */
  readonly inputId: string | undefined;
}

export interface Choice extends CandidateRecord {
  /** `C-…`: stands for the ID, which a spreadsheet would round beyond 15 digits. */
  readonly key: string;
}

/** Every question that was ever asked, in the order of runs and rows. */
export async function readQuestions(review: ReviewStore, runIds?: readonly string[]): Promise<readonly Question[]> {
  const [asked, decisions] = await Promise.all([review.questions(runIds), review.decisions()]);
  const inForce = new Map<string, DecisionEntry>();
  const held = new Map<string, DecisionEntry[]>();
  const unsure = new Map<string, string[]>();
  for (const decision of decisions.filter(({ decision: said }) => said === 'not_sure')) {
    const key = questionIdentity(decision);
    unsure.set(key, [...(unsure.get(key) ?? []), decision.decidedBy]);
  }
  for (const decision of decisions.filter(({ withdrawnAt }) => withdrawnAt === null)) {
    const key = questionIdentity(decision);
    // The newest come first; what was said first stands first.
    if (decision.held) held.set(key, [decision, ...(held.get(key) ?? [])]);
    else if (!inForce.has(key)) inForce.set(key, decision);
  }
  const groups = new Map<string, AskedQuestion[]>();
  for (const question of asked) {
    const key = questionIdentity(question);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [question]);
    else group.push(question);
  }
  return [...groups].map(([key, group]) =>
    toQuestion(group, inForce.get(key), held.get(key) ?? [], unsure.get(key) ?? []),
  );
}

/** Questions that rows wait for; those that a person was not sure about come last. */
export async function openQuestions(review: ReviewStore, runIds?: readonly string[]): Promise<readonly Question[]> {
  const open = (await readQuestions(review, runIds)).filter((question) => question.open);
  return [...open.filter(({ decision }) => !decision), ...open.filter(({ decision }) => decision)];
}

/** No candidate has the number that the row gives: the row's own number may be wrong. */
export const lacksGoodCandidate = ({ stage, candidates }: Question): boolean =>
  stage === null && candidates.every(({ matchGrade }) => matchGrade.startsWith('F'));

const questionIdentity = (of: Pick<AskedQuestion, 'environmentId' | 'entityKey'>) =>
  `${of.environmentId}|${of.entityKey}`;

export const questionId = (of: Pick<AskedQuestion, 'environmentId' | 'entityKey'>): string =>
  `Q-${digest(questionIdentity(of), 10)}`;

/** Stands for a set of candidates, in whichever order they come. */
export const basisOf = (candidateIds: Iterable<string>): string =>
  `B-${digest(JSON.stringify([...candidateIds].sort()), 8)}`;

export const choiceKey = (candidateId: string): string => `C-${digest(candidateId, 8)}`;

function toQuestion(
  group: readonly AskedQuestion[],
  decision: DecisionEntry | undefined,
  held: readonly DecisionEntry[],
  unsure: readonly string[],
): Question {
  const waiting = group.filter(({ open }) => open);
  const shown = waiting.length > 0 ? waiting : group;
  const [firstRow] = shown;
  // The row that was searched for last saw the newest candidates. What the others saw can be meant as well: a pipeline
  // that searches less must not take away what a person is looking at.
  const newest = shown.reduce((a, b) => (b.askedAt > a.askedAt ? b : a));
  const newestFirst = [newest, ...shown.toSorted((a, b) => b.askedAt - a.askedAt)];
  const odd = newest.stage === null ? undefined : readIdentityMismatch(newest.entityKey);
  const candidates = new Map<string, Choice>();
  for (const candidate of newestFirst.flatMap((asked) => asked.candidates))
    if (!candidates.has(candidate.id))
      candidates.set(candidate.id, { ...candidate, ...heldAgainst(candidate, odd), key: choiceKey(candidate.id) });
  const bestFirst = [...candidates.values()].sort((a, b) => compareGrades(a.matchGrade, b.matchGrade));
  const { space, stage, environmentId, environment, entityKey, code, message } = newest;
  const open = waiting.length > 0;
  const needsTwo = group.some((asked) => asked.needsTwo);
  // What one person has confirmed, to a list that needs no second, is the first word of two where one does.
  const first = open && needsTwo && decision !== undefined && isAlone(decision) ? decision : undefined;
  const isFirst = ({ decidedBy }: DecisionEntry) => first !== undefined && isSamePerson(first.decidedBy, decidedBy);
  return {
    id: questionId(newest),
    space,
    stage,
    environmentId,
    environment,
    entityKey,
    code,
    message,
    rows: shown.map(({ runId, row, line, fields }) => ({ runId, row, line, inputId: fields.id })),
    input: firstRow?.fields ?? {},
    asked: group,
    countryCode: countryOf(firstRow?.fields ?? {}) ?? bestFirst[0]?.countryCode ?? null,
    bought: odd?.bought,
    candidates: bestFirst,
    basis: basisOf(candidates.keys()),
    open,
    beside: open && waiting.every(({ beside }) => beside),
    decision: first === undefined ? decision : undefined,
    unsure,
    needsTwo: needsTwo || held.length > 0,
    held: first === undefined || held.some(isFirst) ? held : [first, ...held],
  };
}

/** What the search said agrees is not what was bought: a person must not read "same: number" beside another number. */
const heldAgainst = ({ matchGrade, evidence }: CandidateRecord, odd: IdentityMismatch | undefined) =>
  odd === undefined
    ? {}
    : {
        matchGrade: gradeOfBought(matchGrade, odd),
        evidence: `what was bought ${mismatchInWords(odd)}; when it was searched for: ${evidence}`,
      };

function countryOf({ country = '', state }: Question['input']): string | null {
  const place = resolveLocation(country, state);
  return place.ok ? place.countryCode : null;
}

const digest = (text: string, length: number) => createHash('sha256').update(text).digest('hex').slice(0, length);
