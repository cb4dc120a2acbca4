// Review questions for a page: counts, one page of them, and one question with its neighbours.

import { UsageError } from '../../domain/errors.js';
import { type FieldAgreement, fieldAgreements } from '../../domain/grade-order.js';
import { isSamePerson } from '../../ledger/review/second-person.js';
import { type Facets, facetsOf, matchesFilter, type QuestionFilter } from '../../review/filter.js';
import {
  type Choice,
  type Question,
  type QuestionSummary,
  questionId,
  questionsAbout,
  questionsNamed,
} from '../../review/questions.js';
import { listed } from '../../util/words.js';
import { type AppEnvironment, dataDirOf, type PlaceOptions, processEnvironment, withLedger } from '../environment.js';
import type { QuestionScope } from '../run/next-step.js';
import { waitingEntries } from './answer-question.js';
import { openInOrder, type QuestionsLedger, readSummaries, withAskingPipelines } from './questions.js';

/** Whose questions: those that this person answered and that wait to be recorded are left out. */
interface Reader extends PlaceOptions, QuestionScope {
  readonly by?: string | undefined;
}

export interface QuestionPageOptions extends Reader {
  readonly filter?: QuestionFilter | undefined;
  /** From 1 on. Beyond the last page, the last one. */
  readonly page?: number | undefined;
  /** Questions on a page. Default: 50. */
  readonly size?: number | undefined;
}

export interface QuestionPageView {
  /** The open questions, and those of them that fit the filter. */
  readonly open: number;
  readonly fitting: number;
  /** Each part counts the questions that fit the other parts of the filter, so that its values can be exchanged. */
  readonly facets: Facets;
  readonly page: number;
  readonly pages: number;
  readonly questions: readonly Question[];
}

export function questionPage(
  options: QuestionPageOptions = {},
  environment = processEnvironment(),
): Promise<QuestionPageView> {
  const { filter = {}, size = 50 } = options;
  return withLedger('read', options, environment, async (ledger) => {
    const open = await openSummaries(options, ledger, environment);
    const fitting = open.filter((question) => matchesFilter(question, filter));
    const pages = Math.max(1, Math.ceil(fitting.length / size));
    const page = Math.min(Math.max(1, options.page ?? 1), pages);
    // The list may be some seconds old, the shown questions are not.
    const shown = await questionsAbout(ledger.review, fitting.slice((page - 1) * size, page * size));
    const stillOpen = shown.filter((question) => question.open);
    const questions = await withAskingPipelines(stillOpen, ledger);
    return { open: open.length, fitting: fitting.length, facets: facetsFor(open, filter), page, pages, questions };
  });
}

function facetsFor(open: readonly QuestionSummary[], filter: QuestionFilter): Facets {
  const counted = countedFacets.get(open) ?? new Map<string, Facets>();
  countedFacets.set(open, counted);
  const without = (part: Partial<Record<keyof QuestionFilter, undefined>>) => {
    const rest = { ...filter, ...part };
    const key = JSON.stringify(rest);
    const facets = counted.get(key) ?? facetsOf(open.filter((question) => matchesFilter(question, rest)));
    counted.set(key, facets);
    return facets;
  };
  return {
    reason: without({ reasons: undefined }).reason,
    country: without({ countryCode: undefined }).country,
    bestGrade: without({ grade: undefined, minGrade: undefined }).bestGrade,
  };
}

/** By filter, while the open questions stay the same. */
const countedFacets = new WeakMap<readonly QuestionSummary[], Map<string, Facets>>();

export interface OneQuestionOptions extends Reader {
  /** `Q-…` */
  readonly question: string;
  /** Its neighbours are those that fit. */
  readonly filter?: QuestionFilter | undefined;
}

export interface OneQuestionView {
  readonly question: Question;
  /** The row's fields. Null: not given. */
  readonly yours: Readonly<Record<FieldAgreement['field'], string | null>>;
  /** For each candidate, the row's fields beside its own. */
  readonly compared: readonly ComparedCandidate[];
  /** Its place among the open questions that fit, from 1 on. Null: it is not among them. */
  readonly position: number | null;
  readonly fitting: number;
  /** The open questions before and after it. Without a place, the first one is the next. */
  readonly previous: string | null;
  readonly next: string | null;
  /** Some questions around it, itself included, and how many follow those. */
  readonly queue: readonly Question[];
  readonly further: number;
}

export interface ComparedCandidate {
  readonly choice: Choice;
  readonly fields: readonly ComparedField[];
}

export interface ComparedField extends FieldAgreement {
  /** Null: not given, or not returned. */
  readonly yours: string | null;
  readonly theirs: string | null;
}

export function oneQuestion(options: OneQuestionOptions, environment = processEnvironment()): Promise<OneQuestionView> {
  const { question: id, filter = {} } = options;
  return withLedger('read', options, environment, async (ledger) => {
    const open = await openSummaries(options, ledger, environment);
    const key = open.find((summary) => questionId(summary) === id);
    const [found] =
      key === undefined ? await questionsNamed(ledger.review, [id]) : await questionsAbout(ledger.review, [key]);
    if (found === undefined)
      throw new UsageError(
        'QUESTION_NOT_FOUND',
        `no such question: "${id}"`,
        'List the questions: `kybatch review list`',
      );
    const [question = found] = await withAskingPipelines([found], ledger);
    const fitting = open.filter((summary) => matchesFilter(summary, filter));
    const place = fitting.findIndex((summary) => questionId(summary) === id);
    const from = Math.max(0, place - 2);
    const beside = await questionsAbout(ledger.review, fitting.slice(from, from + QUEUE));
    const queue = beside.filter((one) => one.open);
    const idAt = (index: number) => (fitting[index] === undefined ? null : questionId(fitting[index]));
    return {
      question,
      yours: rowFields(question),
      compared: question.candidates.map((choice) => ({ choice, fields: comparedFields(question, choice) })),
      position: place === -1 ? null : place + 1,
      fitting: fitting.length,
      previous: place < 1 ? null : idAt(place - 1),
      next: idAt(place + 1),
      queue,
      further: Math.max(0, fitting.length - from - QUEUE),
    };
  });
}

/** Questions beside the one that a person looks at. */
const QUEUE = 8;

const rowFields = ({ input }: Question) => ({
  name: input.name || null,
  number: input.registration_number || null,
  VAT: input.vat_number || null,
  country: input.country || null,
  place: listed([input.state, input.city]) || null,
});

/** An answer under review is compared with the row, not with the search that led to it. */
function comparedFields(question: Question, choice: Choice): readonly ComparedField[] {
  const { bought } = question;
  const yours = rowFields(question);
  const theirs: Readonly<Record<FieldAgreement['field'], string | null>> = {
    number: bought === undefined ? choice.registrationNumber : bought.registrationNumber,
    name: choice.name,
    VAT: choice.vatNumber,
    country: bought?.countryCode ?? choice.countryCode,
    place: listed([choice.state, choice.jurisdiction]),
  };
  return fieldAgreements(choice.matchGrade).map((one) => ({
    ...one,
    yours: yours[one.field],
    theirs: theirs[one.field] || null,
  }));
}

async function openSummaries(
  options: Reader,
  ledger: QuestionsLedger,
  environment: AppEnvironment,
): Promise<readonly QuestionSummary[]> {
  // Read before the ledger: an answer that is recorded meanwhile is in one of both.
  const answered = notedQuestions(options, environment);
  const open = await readSummaries(options, ledger, environment);
  return answered.size === 0 ? open : open.filter((summary) => !answered.has(questionId(summary)));
}

/** The questions that this person answered and whose answers wait to be recorded. */
const notedQuestions = ({ by, ...options }: Reader, environment: AppEnvironment): ReadonlySet<string> =>
  new Set(
    waitingEntries(options, environment)
      .filter((entry) => entry.kind === 'answer' && by !== undefined && isSamePerson(entry.by, by))
      .map(({ question }) => question),
  );

export const countQuestions = (options: Reader, environment: AppEnvironment): Promise<number> =>
  withLedger('read', options, environment, async (ledger) => {
    const dataDir = dataDirOf(options, environment);
    const answered = notedQuestions(options, environment).size;
    const open = await openInOrder(undefined, ledger, dataDir);
    return Math.max(0, open.size - answered);
  });
