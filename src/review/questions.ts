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
  isSamePerson,
  isSingleConfirmation,
  type ReviewStore,
} from '../ledger/review/review.js';
import type { CandidateRecord, QuestionTopic } from '../ledger/rows/runs.js';

/** One review question, however many rows ask it. */
export interface Question extends QuestionTopic {
  /** `Q-…`: the same for the same question in every run. No spreadsheet reads it as a number. */
  readonly id: string;
  readonly environmentId: number;
  readonly environment: string;
  readonly entityKey: string;
  readonly code: string;
  readonly message: string;
  /** The rows that ask it. If any of them wait, only those. */
  readonly rows: readonly AskingRow[];
  /** The fields of the first row. */
  readonly input: Readonly<Record<string, string>>;
  /** Each row's version of the question: an older sheet may show the fields and candidates of any of them. */
  readonly asked: readonly Pick<AskedQuestion, 'fields' | 'candidates'>[];
  /** The country code from the input, else of the best candidate. Null: neither. */
  readonly countryCode: string | null;
  /** The identity in the answer under review. */
  readonly bought?: IdentityMismatch['bought'] | undefined;
  /** The best first. */
  readonly candidates: readonly Choice[];
  /** Changes with the candidates: an older sheet says nothing about candidates it does not show. */
  readonly basis: string;
  readonly open: boolean;
  /** Only a pipeline other than the last one asks it. An answer counts when that pipeline runs again. */
  readonly beside: boolean;
  /** The name of that pipeline, if known. */
  readonly askedBy?: string | undefined;
  /** The decision in force. An open question has one if a person was not sure or its candidates changed. */
  readonly decision: DecisionEntry | undefined;
  /** People who have ever answered `not_sure`. */
  readonly unsure: readonly string[];
  /** A confirmation only counts when a second person agrees. */
  readonly needsTwo: boolean;
  /** Answers that wait for a second person. */
  readonly held: readonly DecisionEntry[];
}

export interface AskingRow {
  readonly runId: string;
  readonly row: number;
  readonly line: number;
  /** The user's own key. */
  readonly inputId: string | undefined;
}

export interface Choice extends CandidateRecord {
  /** `C-…`: stands for the ID, which a spreadsheet would round beyond 15 digits. */
  readonly key: string;
}

/** Every question ever asked, in the order of runs and rows. */
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
    // The newest decisions come first. The first answer must come first.
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

/** Questions that rows wait for, with unsure ones last. */
export async function openQuestions(review: ReviewStore, runIds?: readonly string[]): Promise<readonly Question[]> {
  const open = (await readQuestions(review, runIds)).filter((question) => question.open);
  return [...open.filter(({ decision }) => !decision), ...open.filter(({ decision }) => decision)];
}

/** No candidate has the row's number, so the row's number may be wrong. */
export const lacksGoodCandidate = ({ stage, candidates }: Question): boolean =>
  stage === null && candidates.every(({ matchGrade }) => matchGrade.startsWith('F'));

const questionIdentity = (of: Pick<AskedQuestion, 'environmentId' | 'entityKey'>) =>
  `${of.environmentId}|${of.entityKey}`;

export const questionId = (of: Pick<AskedQuestion, 'environmentId' | 'entityKey'>): string =>
  `Q-${digest(questionIdentity(of), 10)}`;

/** Identifies a set of candidates, in any order. */
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
  // The row searched last has the newest candidates. Those of other rows count too: a pipeline with fewer searches must
  // not remove candidates that a person is looking at.
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
  // A confirmation by one person, in a list that needs no second, is the first of two in a list that does.
  const first = open && needsTwo && decision !== undefined && isSingleConfirmation(decision) ? decision : undefined;
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

/** The search's evidence does not describe the bought answer: "same: number" must not stand beside another number. */
const heldAgainst = ({ matchGrade, evidence }: CandidateRecord, odd: IdentityMismatch | undefined) =>
  odd === undefined
    ? {}
    : {
        matchGrade: gradeOfBought(matchGrade, odd),
        evidence: `bought data ${mismatchInWords(odd)}; search: ${evidence}`,
      };

function countryOf({ country = '', state }: Question['input']): string | null {
  const place = resolveLocation(country, state);
  return place.ok ? place.countryCode : null;
}

const digest = (text: string, length: number) => createHash('sha256').update(text).digest('hex').slice(0, length);
