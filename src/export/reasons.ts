import { compareNames, OTHER_NAME_AGREES } from '../domain/candidate-grade.js';
import { correctedNumber } from '../domain/entity-key.js';
import { mismatchInWords, readIdentityMismatch } from '../domain/identity-mismatch.js';
import type { NoMatchReason, ReviewReason } from '../domain/match-decision.js';
import { repairInWords } from '../domain/numbers/number-text.js';
import { resolveLocation } from '../domain/places/resolve-location.js';
import { type IdSpace, INFORMATIVE_SPACES } from '../domain/provider.js';
import {
  lacksCourt,
  lacksState,
  otherCountryInWords,
  type RowFields,
  readSearchSubject,
} from '../domain/search-subject.js';
import type { NumberCorrection, RowQuestion, SnapshotRow } from '../ledger/answers/snapshot.js';
import { DISAGREE, SECOND_PERSON } from '../ledger/review/second-person.js';
import { SEARCHED_BY } from '../stages/identity/searches.js';
import { sentence } from '../util/message-parts.js';
import { sanitizeText } from '../util/sanitize-text.js';
import { type CompanyFacts, stateOfStatus } from './company-at-a-glance.js';

/** The outcome of a row as a sentence for people. */
export const reasonOf = (row: ReasonFacts): string => `${endOf(row)}${turnoverFrom(row)}${ended(row)}`;

function endOf(row: ReasonFacts): string {
  switch (row.outcome) {
    case 'complete':
      return `${confirmedBy(row)}${row.notes.map(further).join('')}${lacking(row)}${inPart(row)}`;
    case 'needs_review':
      return `${correctedFirst(row)}${inQuestion(row)}${toDecide(row)}`;
    case 'no_match':
      if (row.code === 'REVIEWED') return `${correctedFirst(row)}${refusedInWords(row)}`;
      return `${correctedFirst(row)}${said(row, 'No such company was found')}${inCountry(row)}${searchedBy(row)}`;
    case 'pending':
      return stillOpen(row);
    default:
      return unknownCountry(row) ?? said(row, fromMessage(row));
  }
}

const further = (text: string): string => `. ${text.charAt(0).toUpperCase()}${text.slice(1)}`;

export interface ReasonFacts
  extends Pick<SnapshotRow, 'outcome' | 'matchedOn' | 'country' | 'hold' | 'holdReason' | 'matchGrade'>,
    Pick<SnapshotRow, 'stages' | 'ids' | 'questions'>,
    Pick<CompanyFacts, 'otherFiledTurnover' | 'listsInPart' | 'status'> {
  readonly code: string | null;
  readonly message: string | null;
  readonly lacksCourt: boolean;
  /** Several companies have the number, and its state is missing. */
  readonly lacksState: boolean;
  /** Why the country of the row may be wrong, in words. */
  readonly otherCountry: string | undefined;
  /** The different turnovers in the accounts it would be taken from, as sent. Null if it has another source. */
  readonly filedTurnovers: readonly string[] | null;
  /** Figures were bought, and none of them is a turnover. */
  readonly lacksTurnover: boolean;
  /** Differences of a match that was confirmed anyway, and later changes. */
  readonly notes: readonly string[];
}

export const reasonFacts = (row: SnapshotRow, company: CompanyFacts): ReasonFacts => ({
  ...row,
  notes: row.outcome === 'complete' ? notesOn(row, company) : [],
  lacksCourt: row.errorCode === 'NUMBER_UNREADABLE' && lacksCourt(usedFields(row)),
  lacksState: row.errorCode === 'SEVERAL_CANDIDATES' && lacksState(usedFields(row)),
  otherCountry: row.errorCode === 'NUMBER_UNREADABLE' ? otherCountryInWords(usedFields(row)) : undefined,
  code: row.errorCode,
  message: row.errorMessage,
  filedTurnovers: company.cell('turnover_filed')?.split('\n') ?? null,
  // Lists of rows read no answers.
  lacksTurnover:
    Object.keys(row.glances).length > 0 &&
    company.cell('turnover') === null &&
    [row.stages?.record, row.stages?.financials].some((status) => status === 'done'),
  otherFiledTurnover: company.otherFiledTurnover,
  listsInPart: company.listsInPart,
  status: company.status,
});

const GRADED = ['registration number', 'name', 'VAT number', 'country', 'place'];

/** A person may confirm a match in spite of a difference. The difference stays visible under the decision. */
function notesOn(row: SnapshotRow, company: CompanyFacts): readonly string[] {
  const { fields, matchGrade, matchedOn } = row;
  const { name, country, register, formerName } = company;
  const names = compareNames(fields?.name, name, country ?? '');
  const court = country === 'DE' && lacksCourt(usedFields(row));
  return [
    ...(matchedOn === 'registration_number_repaired' && !court ? [repairsOf(usedFields(row))] : []),
    ...(isCountryFromNumber(fields) ? ['the row has no country: it was taken from the number'] : []),
    ...(court && register !== null ? [`the row has no register court: it is ${sanitizeText(register, 60)}`] : []),
    ...(names.isOther ? [`only ${OTHER_NAME_AGREES}`] : []),
    ...(names.otherForm ? ['the legal form differs'] : []),
    ...GRADED.flatMap((field, at) => (matchGrade?.[at] === 'F' ? [`the ${field} differs`] : [])),
    ...(formerName === undefined ? [] : [`renamed since it was confirmed: was ${sanitizeText(formerName, 200)}`]),
  ];
}

/** The row's fields with the number that was searched for. */
function usedFields({ fields, questions }: Pick<SnapshotRow, 'fields' | 'questions'>): RowFields {
  const ofCompany = INFORMATIVE_SPACES.flatMap((space) => questions.filter((question) => question.space === space));
  const [correction] = ofCompany.flatMap((question) => correctionIn(question) ?? []);
  return correction === undefined ? (fields ?? {}) : { ...fields, registration_number: correction.number };
}

function repairsOf(fields: RowFields): string {
  const reading = readSearchSubject(fields);
  const { repairs = [] } = (reading.ok && reading.enquiry.subject.registrationNumber) || {};
  const words = repairs.map((repair) => sanitizeText(repairInWords(repair), 100));
  return words.length === 0 ? 'the number is spelled differently' : `the number was repaired by ${words.join(', ')}`;
}

function isCountryFromNumber(fields: RowFields | null): boolean {
  const reading = fields === null ? undefined : readSearchSubject(fields);
  return reading?.ok === true && reading.enquiry.subject.countryFrom !== undefined;
}

function searchedBy({ message }: ReasonFacts): string {
  const at = message?.search(SEARCHED_BY) ?? -1;
  return message === null || at < 0 ? '' : sanitizeText(message.slice(at), 300);
}

/** The question for a person. If a second person must agree, that says more than its topic. */
function inQuestion(row: ReasonFacts): string {
  if (row.code === 'NUMBER_UNREADABLE' && row.lacksCourt) return 'The register court is missing';
  if (row.lacksState) return 'Several companies have this number, and the row has no state';
  if (row.otherCountry !== undefined) return row.otherCountry;
  // Only a question about one candidate has a grade, and that candidate has the VAT number.
  if (row.code === 'VAT_ONLY' && row.matchGrade !== null && Object.keys(row.ids).length === 0)
    return 'Only the VAT number and the name agree';
  if (row.code === SECOND_PERSON && row.message?.startsWith(DISAGREE) === true)
    return 'Two people answered differently. The next person who agrees with one of them decides';
  const open = row.code === SECOND_PERSON ? undefined : openInWords(row);
  return open ?? said(row, 'It is not certain which company is meant');
}

const said = ({ code }: ReasonFacts, otherwise: string): string =>
  code !== null && Object.hasOwn(REASON_WORDS, code) ? (REASON_WORDS[code] ?? otherwise) : otherwise;

const CONFIRMED_BY: Readonly<Record<string, string>> = {
  registration_number: 'Confirmed by registration number',
  registration_number_repaired: 'Confirmed by registration number',
  vat_number: 'Confirmed by VAT number and name',
};

const confirmedBy = (row: ReasonFacts): string =>
  decidedInWords(row, row.matchedOn === 'review' ? undefined : (CONFIRMED_BY[row.matchedOn ?? ''] ?? 'Confirmed'));

/** Stages of the pipeline for which the provider has nothing, or nothing that a person accepted. */
function lacking({ stages, code }: ReasonFacts): string {
  const lacked = Object.entries(stages ?? {}).flatMap(([name, status]) => (status === 'not_available' ? [name] : []));
  if (lacked.length === 0) return '';
  const refused = code === 'REVIEWED' ? '. A person refused what was found' : '';
  return `${refused}. Not available: ${lacked.map(stageWords).join(', ')}`;
}

/** Further pages were not bought, or the provider counts more than it returned: that is never shown as all. */
const inPart = ({ listsInPart }: ReasonFacts): string =>
  listsInPart.length === 0
    ? ''
    : `. Not complete: ${[...listsInPart]
        .sort()
        .map((name) => name.replaceAll('_', ' '))
        .join(', ')}`;

/** Explains a turnover without a currency, or an empty cell beside accounts with a turnover. */
function turnoverFrom({ outcome, filedTurnovers, lacksTurnover, otherFiledTurnover }: ReasonFacts): string {
  if (otherFiledTurnover !== null) return `. The filed accounts have another turnover (${otherFiledTurnover})`;
  if (filedTurnovers === null) return outcome === 'complete' && lacksTurnover ? '. No turnover was returned' : '';
  if (filedTurnovers.length === 1) return '. Turnover from the filed accounts';
  const values = filedTurnovers.slice(0, 3).map((value) => sanitizeText(value, 40));
  const last = filedTurnovers.length > 3 ? 'others' : values.pop();
  return `. Different turnovers were filed: ${values.join(', ')} and ${last}`;
}

function ended({ outcome, status }: ReasonFacts): string {
  const state = status === null || outcome !== 'complete' ? undefined : stateOfStatus(status);
  return state === undefined || state === 'in liquidation' || state === 'dormant' ? '' : `. The company is ${state}`;
}

/** The filed accounts are figures, too. */
const stageWords = (stage: string): string => (stage === 'financials' ? 'flat financials' : stage.replaceAll('-', ' '));

/** Without a candidate there is nothing to choose: the list or the number has to be corrected. */
const toDecide = (row: ReasonFacts): string => {
  const open = row.questions.filter(({ answered }) => answered === 0);
  const isEmpty = open.length > 0 && open.every(({ stage, candidates }) => stage === null && candidates === 0);
  return isEmpty
    ? '. No candidate was found: correct the row, or give the right number'
    : `: please decide${choice(row)}`;
};

/** " (3 candidates)", or " (v1: 3 candidates, v2: 1 candidate)" with more than one choice. */
function choice({ questions }: ReasonFacts): string {
  const open = questions.filter(({ answered, candidates }) => answered === 0 && candidates > 0);
  const choices = open.map(({ space, candidates }) => {
    const counted = `${candidates} ${candidates === 1 ? 'candidate' : 'candidates'}`;
    return open.length === 1 ? counted : `${space}: ${counted}`;
  });
  return choices.length === 0 ? '' : ` (${choices.join(', ')})`;
}

const inCountry = ({ country }: ReasonFacts): string => (country === null ? '' : ` in ${sanitizeText(country, 60)}`);

function unknownCountry({ code, country }: ReasonFacts): string | undefined {
  if (code !== 'BAD_COUNTRY' || country === null) return undefined;
  const place = resolveLocation(country);
  const said = `The country "${sanitizeText(country, 60)}"`;
  return !place.ok && place.several !== undefined ? `${said} names more than one` : `${said} is not known`;
}

const HELD_BY: Readonly<Record<string, string>> = {
  allowance: 'The allowance was used up. kybatch continues with the next attempt',
  scope: 'The key lacks a permission. kybatch continues when it has it',
  in_doubt: 'On hold: a call brought no usable answer. Decide with kybatch charges',
  ask_provider: 'The provider sent an unusable answer. Please ask the provider',
  unanswered: 'The provider did not answer. kybatch continues with the next attempt',
};

/** A row with a question was processed and paid for, whatever its answer. */
function answeredInWords(questions: ReasonFacts['questions']): string {
  const by = questions.find(({ decision }) => decision !== null)?.decidedBy ?? null;
  return by === null ? 'A question has to be decided again' : `Answered by ${sanitizeText(by, 60)}`;
}

function stillOpen({ hold, holdReason, ids, stages, questions }: ReasonFacts): string {
  if (hold === 'waiting') return `Waiting for the ${stageWords(holdReason ?? 'answer')}`;
  if (hold === 'parked' && holdReason === 'budget') {
    const isFound = Object.keys(ids).length > 0;
    const [stage = 'search'] = Object.entries(stages ?? {}).flatMap(([name, status]) =>
      status === 'parked' && isFound ? [name] : [],
    );
    return `Your limit was reached before the ${stageWords(stage)}. kybatch continues with the next attempt`;
  }
  if (hold === 'parked') return HELD_BY[holdReason ?? ''] ?? 'On hold. kybatch continues with the next attempt';
  const begun = Object.values(stages ?? {}).some((status) => status === 'done');
  const asked = questions.length === 0 ? undefined : answeredInWords(questions);
  return `${asked ?? (begun ? 'Only a part was bought so far' : 'Not started yet')}. kybatch continues with the next attempt`;
}

/** For a code that the provider's document does not list: the provider's own message. */
const fromMessage = ({ message }: ReasonFacts): string =>
  message === null || message === '' ? 'Something went wrong' : sentence(sanitizeText(message, 300)).slice(0, -1);

const REFUSED = 'answered none_of_these. The row stays without a company';

type Reviewed = Readonly<Record<Uppercase<ReviewReason>, string>>;
type NotFound = Readonly<Record<Uppercase<NoMatchReason>, string>>;

const reviewed: Reviewed = {
  NUMBER_UNREADABLE: 'The number is incomplete or unclear',
  NUMBER_ALONE: 'Found by its number alone, with no name to compare',
  SEVERAL_CANDIDATES: 'Several companies fit',
  NAME_CONFLICT: 'Found under another name',
  NAME_NEEDED: 'The number alone is not enough: a name is needed',
  NUMBER_CONFLICT: 'Found with another registration number',
  COUNTRY_CONFLICT: 'Found in another country',
  VAT_CONFLICT: 'Found with another VAT number',
  LEGAL_FORM_DIFFERS: 'Found with another legal form',
  CANDIDATE_WITHOUT_NUMBER: 'Found, but without a number to compare',
  CONTRADICTORY_CANDIDATE: 'The provider gives one ID different registration numbers',
  REPAIRED_NUMBER: 'Found by the number, but only after a repair',
  VAT_ONLY: 'No company found has this VAT number, but one of them may be the right one',
  TICKER_ONLY: 'Only the ticker is known',
  NAME_ONLY: 'Only the name is known',
  HINT_ONLY: 'Only another source names this company',
};

const notFound: NotFound = {
  NO_CANDIDATES: 'No company was found',
  NO_CANDIDATE_WITH_NUMBER: 'No company with this number',
  NO_CANDIDATE_WITH_VAT_NUMBER: 'No company with this VAT number',
};

/** Every code that a row can end with, except those that only the provider gives. */
export const REASON_WORDS: Readonly<Record<string, string>> = {
  ...reviewed,
  ...notFound,
  // Questions about bought answers or about the search.
  IDENTITY_MISMATCH: 'The bought data has another number or country than the confirmed company',
  ID_TAKEN: 'The provider’s ID was confirmed for another company before',
  UNREADABLE_CANDIDATE: 'A candidate could not be read',
  CANDIDATES_NOT_RETURNED: 'The search returned no list of candidates',
  CANDIDATES_UNSEEN: 'There are more candidates than the search showed',
  SECOND_PERSON: 'A person has answered. A second person must agree',
  // No match, or nothing to search by.
  REVIEWED: `A person ${REFUSED}`,
  CANNOT_BE_ASKED: 'The row has too little to search by: its registration number is needed',
  COUNTRY_NEEDED: 'The search needs an ISO country code',
  // Invalid rows.
  NO_IDENTIFIER: 'The row has no name, registration number, VAT number or ticker',
  NO_COUNTRY: 'The row has no country',
  BAD_COUNTRY: 'The country is not known',
  BROKEN_QUOTES: 'The quotation marks in the line do not match',
  OVER_LONG: 'The line is too long',
  RAGGED: 'The line has more or fewer cells than the header',
  NUL_CHARACTER: 'The line contains characters that are not text',
  BAD_ENCODING: 'The line contains characters that cannot be read',
  CELL_TOO_LONG: 'A cell of the line is too long',
  PURGED: 'The content of the row was erased',
  // Failures.
  UNEXPECTED_BODY: 'The provider’s answer could not be read',
  UNEXPECTED_FORM: 'The provider’s answer had another form than documented',
  MALFORMED_ANSWER: 'The provider’s answer was not valid JSON, or repeated a key',
  ANSWER_TOO_LARGE: 'The provider’s answer was too large',
  CONNECTION_LOST: 'The connection was lost',
  DEADLINE_EXCEEDED: 'The provider did not answer in time',
  PROVIDER_UNREACHABLE: 'The provider could not be reached',
  PROVIDER_UNAVAILABLE: 'The provider could not be reached',
  SERVER_FAILURE: 'The provider failed to answer',
  TOO_MANY_REQUESTS: 'The provider received too many requests',
  UNEXPLAINED: 'The provider refused without a reason',
  VALIDATION: 'The provider rejected the values of the row',
  RULE_FAILURE: 'The provider rejected the values of the row',
  INVALID_REQUEST: 'The provider rejected the values of the row',
  INVALID_PARAMS: 'The values of the row cannot be sent to the provider',
  BODY_TOO_LARGE: 'The values of the row are too long for the provider',
  DATA_SERVICE_UNAVAILABLE: 'The provider failed to answer',
  ACCOUNT_SERVICE_UNAVAILABLE: 'The provider failed to answer',
  USAGE_LEDGER_UNAVAILABLE: 'The provider failed to answer',
  DATA_SERVICE_TIMEOUT: 'The provider did not answer in time',
  LIMIT_REACHED: 'The allowance was used up',
  ALLOWANCE_EXHAUSTED: 'The allowance was used up',
  UNAUTHENTICATED: 'The provider refused the key',
  PRODUCTION_KEY_REQUIRED: 'The provider refused the key',
  REDIRECT_REFUSED: 'The address of the provider is wrong',
  ROUTE_NOT_FOUND: 'The address of the provider is wrong',
  API_ROUTE_NOT_FOUND: 'The address of the provider is wrong',
  KYB_ROUTE_NOT_FOUND: 'The address of the provider is wrong',
  FORBIDDEN: 'The account lacks a permission',
  INSUFFICIENT_SCOPE: 'The key lacks a permission',
  NOT_FOUND: 'The provider has no record of it',
  DATA_SERVICE_404: 'The provider has no record of it',
  HISTORY_INCOMPLETE: 'kybatch could not read whether a credit report exists',
  HISTORY_UNREADABLE: 'kybatch could not read whether a credit report exists',
  REPORT_UNKNOWN: 'The provider does not know the credit report',
  REPORT_NOT_READY: 'The credit report was not ready in time',
  REPORT_EMPTY: 'The credit report is empty',
  INTERNAL_ERROR: 'An error in kybatch. To try again: kybatch resume --failed',
};

/** People's decisions on a row and its open questions, in words. */
type Facts = Pick<SnapshotRow, 'ids' | 'questions'>;

const THINGS: Readonly<Record<IdSpace, string>> = {
  v1: 'company of v1',
  v2: 'company of v2',
  companies: 'company of the companies module',
  employees: 'company of the employees module',
  insights: 'company of digital insights',
  credit: 'credit report',
  ownership: 'ownership',
  report: 'credit report',
};

/** Questions confirmed by people whose confirmed candidate is the row's present match. */
const confirmedOf = ({ ids, questions }: Facts): readonly RowQuestion[] =>
  questions.filter(
    ({ answered, decision, candidateId, space }) =>
      answered === 1 && decision === 'confirm' && candidateId !== null && candidateId === ids[space],
  );

/** The question that confirmed the row's company: which company it is, else whether its record is its own. */
function deciding(confirmed: readonly RowQuestion[]): RowQuestion | undefined {
  const ofCompany = INFORMATIVE_SPACES.flatMap((space) => confirmed.filter((question) => question.space === space));
  return ofCompany.find(({ stage }) => stage === null) ?? ofCompany[0];
}

/** "Confirmed by Anna although the record has number X. The credit report was chosen by Bernd and names Y AG". */
function decidedInWords(row: Facts, confirmedBy: string | undefined): string {
  const confirmed = confirmedOf(row);
  const company = confirmedBy === undefined ? deciding(confirmed) : undefined;
  const head =
    confirmedBy ?? `Confirmed by ${company === undefined ? 'a person' : `${people(company)}${although(company)}`}`;
  const others = confirmed.filter((question) => question !== company);
  return [[head, ...correctionsOf(row)].join('. '), ...others.map((other) => further(furtherInWords(other)))].join('');
}

const correctionsOf = ({ questions }: Pick<Facts, 'questions'>): readonly string[] =>
  questions.flatMap((question) => {
    const correction = correctionIn(question);
    if (correction === null) return [];
    return [`${people(correction)} corrected the number to ${sanitizeText(correction.number, 100)}`];
  });

/** The correction that answered the question, else the last one before it. */
function correctionIn(question: RowQuestion): NumberCorrection | null {
  const number = correctedNumber({ ...question, decision: question.decision ?? '' });
  return question.answered !== 1 || number === undefined ? question.correction : { ...question, number };
}

const correctedFirst = (row: Facts): string =>
  correctionsOf(row)
    .map((words) => `${words}. `)
    .join('');

function furtherInWords(question: RowQuestion): string {
  const { space, stage, name, grade } = question;
  if (stage !== null) return `the ${spaced(stage)} was accepted by ${people(question)}${although(question, 'it')}`;
  // The reader must see whose it is, unless the row has the same name.
  const isSame = grade !== null && /^[ABZ]A/.test(grade);
  const names = isSame || name === null ? '' : ` and names ${sanitizeText(name, 200)}`;
  return `the ${THINGS[space]} was chosen by ${people(question)}${names}`;
}

const although = ({ stage, entityKey }: RowQuestion, what = `the ${spaced(stage ?? '')}`): string =>
  stage === null ? '' : ` although ${what} ${sanitizeText(mismatchInWords(readIdentityMismatch(entityKey)), 200)}`;

const spaced = (stage: string): string => stage.replaceAll('-', ' ');

/** "Anna", or "Anna and Bernd" if two had to agree. */
const people = ({ decidedBy, secondBy }: Pick<RowQuestion, 'decidedBy' | 'secondBy'>): string =>
  [decidedBy ?? 'a person', secondBy].flatMap((name) => (name === null ? [] : [sanitizeText(name, 100)])).join(' and ');

/** A person decided that no candidate is meant, or that a bought answer is another company's. */
function refusedInWords({ questions }: Facts): string {
  const refused = questions.find(({ answered, decision }) => answered === 1 && decision === 'none_of_these');
  if (refused === undefined) return `A person ${REFUSED}`;
  const { stage, entityKey } = refused;
  if (stage === null) return `${people(refused)} ${REFUSED}`;
  const odd = sanitizeText(mismatchInWords(readIdentityMismatch(entityKey)), 200);
  return `The bought ${spaced(stage)} ${odd}. ${people(refused)} decided that it is another company`;
}

/**
 * The open question if the company is known but an answer is in review. Undefined if the match itself is the question.
 */
function openInWords({ ids, questions }: Facts): string | undefined {
  const open = questions.find(({ answered }) => answered === 0);
  if (open === undefined) return undefined;
  const { space, stage, entityKey } = open;
  const isKnown = isKnownBefore(space, ids);
  if (stage !== null) {
    const odd = sanitizeText(mismatchInWords(readIdentityMismatch(entityKey)), 200);
    if (isKnown) return `Company confirmed. The ${spaced(stage)} ${odd}`;
    return `Found, but the bought ${spaced(stage)} ${odd}`;
  }
  if (!isKnown) return undefined;
  return `Company confirmed. It is open which ${THINGS[space]} is the right one`;
}

/** The company is confirmed in a space with better evidence. */
function isKnownBefore(space: IdSpace, ids: Facts['ids']): boolean {
  const place = INFORMATIVE_SPACES.indexOf(space);
  return INFORMATIVE_SPACES.slice(0, place === -1 ? undefined : place).some((telling) => ids[telling] !== undefined);
}
