import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { compareGrades, seemsAnotherCompany } from '../domain/grade-order.js';
import {
  gradeOfBought,
  type IdentityMismatch,
  mismatchInWords,
  readIdentityMismatch,
} from '../domain/identity-mismatch.js';
import { resolveLocation } from '../domain/places/resolve-location.js';
import type { AskedQuestion, DecisionEntry, KnownRows, QuestionKey, WaitingRow } from '../ledger/review/review.js';
import type { ReviewStore } from '../ledger/review/review-store.js';
import { isSamePerson, isSingleConfirmation } from '../ledger/review/second-person.js';
import type { CandidateRecord, QuestionTopic } from '../ledger/rows/runs.js';
import { firstFew } from '../util/message-parts.js';
import { Memo } from '../util/text-limits.js';

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
  /** The fields of the first row. Other rows may have another place and VAT number. */
  readonly input: Readonly<Record<string, string>>;
  /** Its filled cells that no shown field has. */
  readonly otherCells: readonly ListCell[];
  /** The number by which a person had the row searched instead of its own. */
  readonly correctedNumber?: string | undefined;
  /** Each row's version of the question: an older sheet may show the fields and candidates of any of them. */
  readonly asked: readonly Pick<AskedQuestion, 'fields' | 'candidates'>[];
  /** The country code from the input, else of the best candidate. Null: neither. */
  readonly countryCode: string | null;
  /** The rows' company is confirmed in another ID space. */
  readonly isKnown: boolean;
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
  /** Its place in its own run, and in the newest file. */
  readonly runRow: number;
  /** The name of the list, without the folder of its file. */
  readonly list: string;
  readonly row: number;
  readonly line: number;
  /** The user's own key. */
  readonly inputId: string | undefined;
}

export interface ListCell {
  readonly column: string;
  readonly text: string;
}

export interface Choice extends CandidateRecord {
  /** `C-…`: stands for the ID, which a spreadsheet would round beyond 15 digits. */
  readonly key: string;
}

/** Every question ever asked, in the order of runs and rows. */
export async function readQuestions(review: ReviewStore, runIds?: readonly string[]): Promise<readonly Question[]> {
  const [asked, decisions] = await Promise.all([review.questions(runIds), review.decisions()]);
  return toQuestions(asked, decisions);
}

/** Some questions, whether they are open or not, in the order of their keys. */
export async function questionsAbout(review: ReviewStore, keys: readonly QuestionKey[]): Promise<readonly Question[]> {
  const [asked, decisions] = await Promise.all([review.questionsAbout(keys), review.decisionsAbout(keys)]);
  const found = new Map(toQuestions(asked, decisions).map((question) => [questionIdentity(question), question]));
  return keys.flatMap((key) => found.get(questionIdentity(key)) ?? []);
}

/** Some questions by their IDs. Unknown ones are left out. */
export async function questionsNamed(review: ReviewStore, ids: Iterable<string>): Promise<readonly Question[]> {
  const named = new Set(ids);
  const known = [...named].flatMap((id) => keyOf.get(id) ?? []);
  // Only for an ID that this process has not shown, the IDs of all questions are computed.
  const keys =
    known.length === named.size ? known : (await review.questionKeys()).filter((key) => named.has(questionId(key)));
  return await questionsAbout(review, keys);
}

function toQuestions(asked: readonly AskedQuestion[], decisions: readonly DecisionEntry[]): readonly Question[] {
  const { inForce, held } = standingDecisions(decisions);
  const unsure = new Map<string, string[]>();
  for (const decision of decisions.filter(({ decision: said }) => said === 'not_sure')) {
    const key = questionIdentity(decision);
    unsure.set(key, [...(unsure.get(key) ?? []), decision.decidedBy]);
  }
  return [...groupByQuestion(asked)].map(([key, group]) =>
    toQuestion(group, inForce.get(key), held.get(key) ?? [], unsure.get(key) ?? []),
  );
}

/** The decisions that are not withdrawn, by question: the one in force, and those that wait for a second person. */
function standingDecisions(decisions: readonly DecisionEntry[]) {
  const inForce = new Map<string, DecisionEntry>();
  const held = new Map<string, DecisionEntry[]>();
  for (const decision of decisions.filter(({ withdrawnAt }) => withdrawnAt === null)) {
    const key = questionIdentity(decision);
    // The newest decisions come first. The first answer must come first.
    if (decision.held) held.set(key, [decision, ...(held.get(key) ?? [])]);
    else if (!inForce.has(key)) inForce.set(key, decision);
  }
  return { inForce, held };
}

function groupByQuestion<Asked extends QuestionKey>(asked: readonly Asked[]): ReadonlyMap<string, readonly Asked[]> {
  const groups = new Map<string, Asked[]>();
  for (const question of asked) {
    const key = questionIdentity(question);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [question]);
    else group.push(question);
  }
  return groups;
}

/** A question as lists and rules need it. */
export interface QuestionSummary
  extends Pick<Question, 'environmentId' | 'entityKey' | 'stage' | 'code' | 'countryCode' | 'decision' | 'held'> {
  /** The best first. */
  readonly candidates: readonly Graded[];
}

/** The open questions by environment and key, in the order of runs and rows, without all that only one question needs. */
export async function summarizeOpenQuestions(
  review: ReviewStore,
  runIds?: readonly string[],
  known?: KnownRows,
): Promise<ReadonlyMap<string, QuestionSummary>> {
  const rows = await review.waitingRows(runIds, known);
  const summaries = summariesOf.get(rows) ?? summarize(rows);
  summariesOf.set(rows, summaries);
  return summaries;
}

/** While the rows stay the same, so do the summaries. */
const summariesOf = new WeakMap<readonly WaitingRow[], ReadonlyMap<string, QuestionSummary>>();
const summaryOfRow = new WeakMap<WaitingRow, QuestionSummary>();

/** Most questions have one row. */
function summarize(waiting: readonly WaitingRow[]): ReadonlyMap<string, QuestionSummary> {
  const summaries = new Map<string, QuestionSummary>();
  for (const [key, rows] of groupByQuestion(waiting)) {
    const [first] = rows;
    if (first === undefined) continue;
    const isOnly = rows.length === 1;
    const summary = (isOnly && summaryOfRow.get(first)) || summaryOf(rows, first);
    if (isOnly) summaryOfRow.set(first, summary);
    summaries.set(key, summary);
  }
  return summaries;
}

/** The same as a list with their decisions, in the order of `openQuestions`. What was counted of the same list is kept. */
export async function withDecisions(
  open: ReadonlyMap<string, QuestionSummary>,
  review: ReviewStore,
): Promise<readonly QuestionSummary[]> {
  const plain = listsOf.get(open) ?? [...open.values()];
  listsOf.set(open, plain);
  const standing = await standingOf(open, review);
  if (standing.size === 0) return plain;
  const decided = ([key, summary]: readonly [string, QuestionSummary]) => {
    const found = standing.get(key);
    return found === undefined ? summary : { ...summary, ...found };
  };
  return undecidedFirst([...open].map(decided));
}

const listsOf = new WeakMap<ReadonlyMap<string, QuestionSummary>, readonly QuestionSummary[]>();

function summaryOf(rows: readonly WaitingRow[], { fields }: WaitingRow): QuestionSummary {
  const { newest, candidates } = mergeCandidates<WaitingRow['candidates'][number], WaitingRow>(rows);
  const { environmentId, entityKey, stage, code } = newest;
  const countryCode = countryOf(fields) ?? candidates[0]?.countryCode ?? null;
  return { environmentId, entityKey, stage, code, countryCode, candidates, decision: undefined, held: [] };
}

const undecidedFirst = <Asked extends Pick<Question, 'decision'>>(questions: readonly Asked[]): readonly Asked[] => [
  ...questions.filter(({ decision }) => !decision),
  ...questions.filter(({ decision }) => decision),
];

/** The open review questions of some runs. An answer that decides nothing leaves its question open. */
export interface OpenQuestions {
  readonly open: number;
  /** Open questions that a person answered with `not_sure`. */
  readonly notSure: number;
  /** Open questions that wait for a second person. */
  readonly held: number;
}

/** Counts them without their rows and candidates, which takes most of the time. */
export async function countOpenQuestions(review: ReviewStore, runIds: readonly string[]): Promise<OpenQuestions> {
  const open = new Map((await review.waitingQuestions(runIds)).map((key) => [questionIdentity(key), key]));
  const standing = [...(await standingOf(open, review)).values()];
  return {
    open: open.size,
    notSure: standing.filter(({ decision }) => decision?.decision === 'not_sure').length,
    held: standing.filter(({ held }) => held.length > 0).length,
  };
}

/** Of these questions: those with a decision, or with some that wait for a second person. */
async function standingOf(open: ReadonlyMap<string, QuestionKey>, review: ReviewStore) {
  const { inForce, held } = standingDecisions(await review.decisions());
  const standing = new Map<string, Pick<Question, 'decision' | 'held'>>();
  for (const key of new Set([...inForce.keys(), ...held.keys()]))
    if (open.has(key)) standing.set(key, { decision: inForce.get(key), held: held.get(key) ?? [] });
  // Whether such a confirmation is the first of two depends on the lists that ask.
  const confirmed = [...standing].flatMap(([key, { decision }]) =>
    decision !== undefined && isSingleConfirmation(decision) ? (open.get(key) ?? []) : [],
  );
  for (const { decision, held: waiting, ...key } of confirmed.length === 0
    ? []
    : await questionsAbout(review, confirmed))
    standing.set(questionIdentity(key), { decision, held: waiting });
  return standing;
}

/** Questions that rows wait for, with unsure ones last. */
export async function openQuestions(review: ReviewStore, runIds?: readonly string[]): Promise<readonly Question[]> {
  return undecidedFirst((await readQuestions(review, runIds)).filter((question) => question.open));
}

/** No candidate has the row's number, so the row's number may be wrong. */
export const lacksGoodCandidate = ({ stage, candidates }: Question): boolean =>
  stage === null && candidates.every(({ matchGrade }) => matchGrade.startsWith('F'));

const questionIdentity = (of: QuestionKey) => `${of.environmentId}|${of.entityKey}`;

/** A page looks for one of many summaries by its ID. */
const ids = new WeakMap<QuestionKey, string>();

/** The way back. A page asks about a question that it has just shown. */
const keyOf = new Map<string, QuestionKey>();
const KEYS_AT_MOST = 100_000;

export function questionId(of: QuestionKey): string {
  const known = ids.get(of);
  if (known !== undefined) return known;
  const id = `Q-${digest(questionIdentity(of), 10)}`;
  ids.set(of, id);
  if (keyOf.size < KEYS_AT_MOST) keyOf.set(id, { environmentId: of.environmentId, entityKey: of.entityKey });
  return id;
}

export const basisOf = (candidateIds: Iterable<string>): string =>
  `B-${digest(JSON.stringify([...candidateIds].sort()), 8)}`;

export const choiceKey = (candidateId: string): string => `C-${digest(candidateId, 8)}`;

type Graded = Pick<CandidateRecord, 'id' | 'matchGrade'>;

/**
 * The candidates of all rows that ask a question, the best first. The row searched last has the newest candidates.
 * Those of other rows count too: a pipeline with fewer searches must not remove candidates that a person is looking at.
 */
function mergeCandidates<
  Candidate extends Graded,
  Asked extends Pick<AskedQuestion, 'askedAt' | 'stage' | 'entityKey'> & { readonly candidates: readonly Candidate[] },
>(rows: readonly Asked[]) {
  const newest = rows.reduce((a, b) => (b.askedAt > a.askedAt ? b : a));
  const newestFirst = rows.length === 1 ? rows : [newest, ...rows.toSorted((a, b) => b.askedAt - a.askedAt)];
  const odd = newest.stage === null ? undefined : readIdentityMismatch(newest.entityKey);
  const unique = new Map<string, Candidate>();
  for (const candidate of newestFirst.flatMap((asked) => asked.candidates))
    if (!unique.has(candidate.id))
      unique.set(
        candidate.id,
        odd === undefined ? candidate : { ...candidate, matchGrade: gradeOfBought(candidate.matchGrade, odd) },
      );
  const isOther = ({ matchGrade }: Candidate) => Number(seemsAnotherCompany(matchGrade));
  const candidates = [...unique.values()].sort(
    (a, b) => isOther(a) - isOther(b) || compareGrades(a.matchGrade, b.matchGrade),
  );
  return { newest, odd, candidates };
}

function toQuestion(
  group: readonly AskedQuestion[],
  decision: DecisionEntry | undefined,
  held: readonly DecisionEntry[],
  unsure: readonly string[],
): Question {
  const waiting = group.filter(({ open }) => open);
  const shown = waiting.length > 0 ? waiting : group;
  const [firstRow] = shown;
  const { newest, odd, candidates } = mergeCandidates<CandidateRecord, AskedQuestion>(shown);
  const bestFirst = candidates.map((candidate) => ({
    ...candidate,
    evidence: odd === undefined ? candidate.evidence : evidenceOfBought(candidate, odd),
    key: choiceKey(candidate.id),
  }));
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
    rows: shown.map(({ runId, list, row, listedRow, line, fields }) => ({
      runId,
      list: basename(list),
      runRow: row,
      row: listedRow,
      line,
      inputId: fields.id,
    })),
    input: inputOf(shown),
    otherCells: firstRow === undefined ? [] : otherCellsOf(firstRow),
    correctedNumber: firstRow?.correctedNumber,
    asked: group,
    countryCode: countryOf(firstRow?.fields ?? {}) ?? bestFirst[0]?.countryCode ?? null,
    isKnown: shown.every(({ isKnown }) => isKnown),
    bought: odd?.bought,
    candidates: bestFirst,
    basis: basisOf(candidates.map(({ id }) => id)),
    open,
    beside: open && waiting.every(({ beside }) => beside),
    decision: first === undefined ? decision : undefined,
    unsure,
    needsTwo: needsTwo || held.length > 0,
    held: first === undefined || held.some(isFirst) ? held : [first, ...held],
  };
}

/** An answer counts for all rows, so it shows in what they differ. */
function inputOf(rows: readonly AskedQuestion[]): Question['input'] {
  const fields = rows[0]?.fields ?? {};
  const further = ['state', 'city', 'vat_number'].flatMap((field) => {
    const values = [...new Set(rows.flatMap((row) => row.fields[field] ?? []))];
    return values.length === 0 ? [] : [[field, firstFew(values, (value) => value, 'others').join(' / ')] as const];
  });
  return { ...fields, ...Object.fromEntries(further) };
}

/** Of a cell that is a part of a field, the field is shown. A ditto mark says nothing. */
function otherCellsOf({ columns, values, fields }: AskedQuestion): readonly ListCell[] {
  const shown = SHOWN_FIELDS.map((field) => ` ${fields[field] ?? ''} `);
  return values.flatMap((value, index) => {
    const text = value.trim();
    const isOther = /[\p{L}\p{N}]/u.test(text) && !shown.some((field) => field.includes(` ${text} `));
    return isOther ? [{ column: columns[index] ?? `column ${index + 1}`, text }] : [];
  });
}

const SHOWN_FIELDS = 'id name country state city registration_number vat_number ticker'.split(' ');

/** The row's fields for people, with the number that was searched for. */
export const shownInput = ({ input, correctedNumber: number }: Question): Question['input'] =>
  number === undefined ? input : { ...input, registration_number: `corrected: ${number}` };

/** The search's evidence does not describe the bought answer: "same: number" must not stand beside another number. */
const evidenceOfBought = ({ evidence }: CandidateRecord, odd: IdentityMismatch): string =>
  [`bought data ${mismatchInWords(odd)}`, `search: ${evidence}`].join('; ');

const countries = new Memo<{ readonly code: string | null }>(10_000);

function countryOf({ country = '', state }: Question['input']): string | null {
  const resolve = () => {
    const place = resolveLocation(country, state);
    return { code: place.ok ? place.countryCode : null };
  };
  return countries.getOrCompute(`${country}\n${state ?? ''}`, resolve).code;
}

const digest = (text: string, length: number) => createHash('sha256').update(text).digest('hex').slice(0, length);
