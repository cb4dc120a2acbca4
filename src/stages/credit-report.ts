// The credit report. It has over 500 lines, because its steps share one report: find, generate, wait, fetch, compare.

import { readAnswer, type UnusableAnswer } from '../api/answer.js';
import { INVALID_PARAMS } from '../api/errors.js';
import { type Id, idText } from '../api/schema.js';
import { REPORT_UNKNOWN } from '../api/v2/errors.js';
import { isReportReady, REPORT_FINISHED } from '../api/v2/operations/credit-report.js';
import { v2Operations } from '../api/v2/operations.js';
import { compareVats } from '../domain/candidate-grade.js';
import { parseDuration } from '../domain/freshness.js';
import { identifierText, statedCompanies } from '../domain/identity-mismatch.js';
import { nameSimilarity } from '../domain/names/similarity.js';
import { comparableNumber } from '../domain/numbers/compare.js';
import { parseVatNumber } from '../domain/numbers/vat.js';
import { choice, duration, notBelow, section, yesOrNo } from '../domain/options.js';
import { type ExactJson, isEmptyBody, isObject, type JsonObject, parseExact } from '../util/exact-json.js';
import { paramsFlag } from '../util/message-parts.js';
import { confirmedElsewhere, ID_TAKEN } from './identity/confirm.js';
import {
  type HistoryItem,
  historyIncomplete,
  historyUnreadable,
  PastReports,
  ReportHistory,
} from './report-history.js';
import {
  askAboutMismatch,
  type Company,
  type Compared,
  IDENTITY_MISMATCH,
  type Identified,
  noteOf,
  nothingReturned,
  orUnanswered,
  type Params,
  parkUnanswered,
  requireIdentified,
  type StageContext,
  type StageError,
  type StageOptions,
  type StageOutcome,
  stage,
  withoutAnswer,
} from './stage.js';

const { creditReportHistory, creditReportGenerate, creditReportStatus, creditReportFetch } = v2Operations;

const isUnanswered = (outcome: StageOutcome): boolean => outcome.kind === 'parked' && outcome.reason === 'unanswered';

/** The row is held until a person has asked the provider. The next attempt asks again, free. */
const asked = (error: StageError): Extract<StageOutcome, { kind: 'parked' }> => ({
  ...parkUnanswered(error),
  reason: 'ask_provider',
});

const isPlanned = (outcome: StageOutcome): boolean => outcome.kind === 'parked' && outcome.reason === 'closed';

const requestOf = (company: Company, { options }: Context): Params => ({
  source_id: requireIdentified(company, 'credit').id,
  country: company.enquiry.subject.countryCode,
  // The default is not published (V2-21).
  format: options.format,
});

const tooLate = (id: string, waited: number): StageError =>
  noteOf(
    'REPORT_NOT_READY',
    `report ${id} was not ready after ${Math.round(waited / 1000)} s. It is paid for, and the next attempt fetches it`,
    'fail_row',
  );

const buyAnother = (params: Params): string =>
  `kybatch call v2 creditReportGenerate --rebuy ${paramsFlag(params)}, then kybatch resume`;

/** What a person can do about a report that stays like this for as long as a report is waited for. */
const adviceByCode: Readonly<Record<string, (id: string, params: Params, provider: string) => string>> = {
  // HTML has no columns: the row would look complete with nothing in it (V2-21).
  REPORT_IN_HTML: (id, params) =>
    `report ${id} is an HTML page, which fills no column. If that is a fault of the provider, kybatch resume fetches it again, free. ` +
    `If it was generated as HTML, buy another one as JSON: ${buyAnother(params)}`,
  [REPORT_UNKNOWN]: (id, params, provider) =>
    `the provider does not know report ${id}, which is paid for (${provider}). Ask the provider about this ID. kybatch resume asks for it again, free. ` +
    `If it is lost, buy another one: ${buyAnother(params)}`,
};

function withAdvice(outcome: StageOutcome, { id }: Report, params: Params): StageOutcome {
  if (outcome.kind !== 'parked' || outcome.reason !== 'ask_provider' || outcome.error === undefined) return outcome;
  const { code, message } = outcome.error;
  const advice = adviceByCode[code]?.(id, params, message);
  return advice === undefined ? outcome : asked({ ...outcome.error, message: advice });
}

/** Pauses grow with the time already waited, so that a slow report is not asked for a hundred times. */
const pauseAfter = (waited: number, { firstPollMs, pollAtMostMs }: ReportOptions): number =>
  Math.min(pollAtMostMs, Math.max(firstPollMs, Math.round(waited / 4)));

const ms = (value: string | 0): number => parseDuration(String(value));

export const reportOptions: StageOptions<ReportOptions> = {
  key: 'report',
  schema: section({
    reuse_expired: yesOrNo()
      .default(false)
      .describe('Use a report of the history although it is marked as expired, instead of buying a new one'),
    first_poll: duration({ least: '1ms', most: '1h' })
      .default('5s')
      .describe('The wait before kybatch first asks whether a report is ready'),
    poll_at_most: duration({ least: '1ms', most: '1h' })
      .default('30s')
      .describe('The longest wait before kybatch asks again'),
    give_up_after: duration({ least: '1s', most: '7d' })
      .default('30m')
      .describe(
        'How long to wait for a report, also if the provider does not know its ID. Generating may take three minutes',
      ),
    look_for: duration({ least: '5m', most: '7d' })
      .default('15m')
      .describe(
        'How long kybatch looks in the history for a report whose call failed or was lost, before it buys another. At least `5m`',
      ),
    format: choice(['json']).default('json').describe('The format of the report. Only JSON can be exported'),
  })
    .refine(notBelow('first_poll', 'poll_at_most'), {
      path: ['poll_at_most'],
      error: 'must not be shorter than report.first_poll',
    })
    .transform((file) => ({
      reuseExpired: file.reuse_expired,
      firstPollMs: ms(file.first_poll),
      pollAtMostMs: ms(file.poll_at_most),
      giveUpAfterMs: ms(file.give_up_after),
      lookForMs: ms(file.look_for),
      format: file.format,
    }))
    .prefault({})
    .describe('How kybatch waits for credit reports. Other rows continue meanwhile'),
  decisive: ({ reuseExpired }) => ({ reuseExpired }),
};

/**
 * A credit report: history → generate → wait → fetch (V2-6). Only generating costs. So a stored report comes first,
 * then the account's history, where opening is free. A failed generate call is never repeated before its report has
 * been looked for there for longer than generating may take (V2-17). A waiting report holds no slot.
 */
export const creditReportStage = stage({
  name: 'credit-report',
  summary: 'A credit report (v2), from the history of the account if there is one',
  space: 'credit',
  finds: ['report'],
  ages: [creditReportGenerate],
  calls: [
    { operation: creditReportHistory, atMost: 1 },
    { operation: creditReportGenerate, atMost: 1 },
    { operation: creditReportStatus, atMost: 1 },
    { operation: creditReportFetch, atMost: 1 },
  ],
  options: reportOptions,
  shared: () => new ReportHistory(),
  run: buyReport,
});

type Context = StageContext<ReportOptions, ReportHistory>;

async function buyReport(company: Company, context: Context): Promise<StageOutcome> {
  const report = await obtainReport(company, context);
  if ('kind' in report) return report;
  const asked = report.isListed
    ? { operation: creditReportFetch, params: { report_id: report.id } }
    : { operation: creditReportGenerate, params: requestOf(company, context) };
  for (const said of report.said ?? []) {
    const stranger = await askAboutIdentity({ ...report, said }, company, asked, context);
    if (stranger !== undefined) return { ...stranger, ids: { report: before(report, company) } };
  }
  const ids = { report: { id: report.id, grade: null, matchedOn: null, candidate: null } };
  const ready = await isReady(report, context);
  const outcome = ready === true ? await fetchReport(report, company, context) : ready;
  return { ids, ...withAdvice(outcome, report, requestOf(company, context)) };
}

/** The report that the company uses while a new one is in review or was refused. Null: none. */
function before({ id }: Report, { ids, confirmedBefore }: Company): Identified | null {
  const known = ids.report ?? confirmedBefore.report;
  return known === undefined || known.id === id ? null : known;
}

interface Report {
  readonly id: string;
  readonly finished: boolean;
  /** When it was first known: the waiting time counts from here. */
  readonly since: number;
  readonly fresh: boolean;
  /** The history lists it for another company too. */
  readonly alsoListed?: HistoryItem | undefined;
  readonly said?: readonly ReportIdentity[];
  readonly isListed?: true;
}

async function obtainReport(company: Company, context: Context): Promise<Report | StageOutcome> {
  const source = requireIdentified(company, 'credit').id;
  const params = requestOf(company, context);
  const begun = company.ids.report;
  const stored = await storedReport(params, begun !== undefined, context);
  const readable = stored !== undefined && !('kind' in stored) ? stored : undefined;
  // A row continues with the report it began with.
  if (readable !== undefined && begun !== undefined) return readable;
  for (let look = 0; ; ) {
    const past = await context.shared.list(look, context);
    // A plan cannot read the history, so it uses the stored report.
    if (!(past instanceof PastReports) && readable !== undefined && isPlanned(past)) return readable;
    // A report that the row began with is paid for, whether the history can be read or not.
    if (!(past instanceof PastReports) && begun !== undefined && isUnanswered(past))
      return { id: begun.id, finished: false, since: context.now(), fresh: false };
    if (!(past instanceof PastReports)) return past;
    const { reuseExpired, lookForMs } = context.options;
    if (readable !== undefined && (reuseExpired || !past.isExpired(readable.id)))
      return { ...readable, alsoListed: past.contradiction(readable.id, source) };
    const found = past.ofSource(source);
    if (found !== undefined && (reuseExpired || !found.expired)) {
      // If a call failed before, it generated this report.
      await context.settleLost(creditReportGenerate, params, 'charged', `found in the history as ${found.reportId}`);
      const { reportId: id, finished, item } = found;
      const said = identitiesIn(item);
      const alsoListed = past.contradiction(id, source);
      return { id, finished, since: past.at, fresh: false, said, isListed: true, alsoListed };
    }
    if (begun !== undefined) return { id: begun.id, finished: false, since: past.at, fresh: false };
    // It is paid for, its answer was unreadable, and the history does not list it.
    if (stored !== undefined && 'kind' in stored) return stored;
    if (past.hasUnreadable(source)) return asked(historyUnreadable(params));
    if (!past.isComplete) return parkUnanswered(historyIncomplete(params));
    const notBefore = readable === undefined ? 0 : readable.since + 1;
    const outcome = await context.call(creditReportGenerate, params, { lookedSince: look - lookForMs, notBefore });
    if (outcome.kind === 'answer') return readGenerated(outcome.body, outcome.fetchedAt, !outcome.owned);
    if (outcome.kind !== 'in_doubt') return withoutAnswer(outcome);
    const next = nextHistoryCheck(outcome.endedAt, look, context.now(), context.options);
    if ('waitUntil' in next) return { kind: 'waiting', until: next.waitUntil, lookUntil: outcome.endedAt + lookForMs };
    look = next.look;
  }
}

async function storedReport(
  params: Params,
  begun: boolean,
  context: Context,
): Promise<Report | StageOutcome | undefined> {
  const stored = await context.stored(creditReportGenerate, params, begun);
  return stored && readGenerated(stored.body, stored.fetchedAt, false);
}

function readGenerated(body: Buffer, since: number, fresh: boolean): Promise<Report | StageOutcome> {
  return orUnanswered(() => {
    const generated = readAnswer(creditReportGenerate, body) as { id: Id; status?: unknown };
    const { id, status } = generated;
    return { id: idText(id), finished: status === REPORT_FINISHED, since, fresh, said: identitiesIn(generated, false) };
  });
}

async function isReady(report: Report, context: Context): Promise<true | StageOutcome> {
  if (report.finished) return true;
  const now = context.now();
  if (report.fresh) return { kind: 'waiting', until: now + context.options.firstPollMs };
  const outcome = await context.call(creditReportStatus, { report_id: report.id });
  if (outcome.kind !== 'answer') return retryWhileWaiting(withoutAnswer(outcome), report, context);
  const said = await orUnanswered(() => ({
    ready: isReportReady(readAnswer(creditReportStatus, outcome.body) as ExactJson),
  }));
  if ('kind' in said) return retryWhileWaiting(said, report, context);
  if (said.ready) return true;
  return retryWhileWaiting(asked(tooLate(report.id, now - report.since)), report, context);
}

async function fetchReport(report: Report, company: Company, context: Context): Promise<StageOutcome> {
  const params = { report_id: report.id };
  const terms = { whyUnfit: unusableReport };
  let fetched = await context.call(creditReportFetch, params, terms);
  // Fetching is free: a stored empty report may have content by now.
  if (fetched.kind === 'answer' && fetched.owned && kindOfReport(fetched.body) === 'empty')
    fetched = await context.call(creditReportFetch, params, { ...terms, notBefore: fetched.fetchedAt + 1 });
  if (fetched.kind === 'answer') {
    if (kindOfReport(fetched.body) === 'empty') return withNothing(report);
    const asked = { operation: creditReportFetch, params };
    for (const said of identitiesInBody(fetched.body, report)) {
      const stranger = await askAboutIdentity({ id: report.id, said }, company, asked, context);
      if (stranger !== undefined) return { ...stranger, ids: { report: before(report, company) } };
    }
    return { kind: 'done', asOf: report.since };
  }
  return retryWhileWaiting(withoutAnswer(fetched), report, context);
}

/**
 * The report is paid for and asking is free, so any failure is retried for as long as a report is waited for. Only then
 * it becomes the row's outcome.
 */
function retryWhileWaiting(met: StageOutcome, { since }: Report, context: Context): StageOutcome {
  const isOpen =
    met.kind === 'failed' || (met.kind === 'parked' && (isUnanswered(met) || met.reason === 'ask_provider'));
  if (!isOpen || met.error === undefined) return met;
  // An invalid ID stays invalid.
  if (met.error.code === INVALID_PARAMS) return met;
  const now = context.now();
  const waited = now - since;
  // The report is paid for, so a refusal never fails the row.
  if (waited > context.options.giveUpAfterMs) return asked(met.error);
  return { kind: 'waiting', until: now + pauseAfter(waited, context.options) };
}

/** It was fetched, so nothing more will come: nothing was returned (V1-22). */
function withNothing({ id, since }: Report): StageOutcome {
  const message =
    `report ${id} is paid for, but empty. Ask the provider about this ID. ` +
    `kybatch call v2 creditReportFetch --rebuy ${paramsFlag({ report_id: id })} fetches it again, free. Then run kybatch export`;
  return { ...nothingReturned('REPORT_EMPTY', message), asOf: since };
}

type NextHistoryCheck =
  /** Look at the history as of this time or later. */
  { readonly look: number } | { readonly waitUntil: number };

/**
 * A call for a report failed at `endedAt`. The provider may still generate it and list it late. It is looked for with
 * growing pauses until it can no longer appear (V2-17). Only a look after that allows another to be generated.
 */
export function nextHistoryCheck(
  endedAt: number,
  looked: number,
  now: number,
  options: ReportOptions,
): NextHistoryCheck {
  const last = endedAt + options.lookForMs + 1;
  if (now >= last) return { look: last };
  const first = endedAt + options.firstPollMs;
  if (now < first) return { waitUntil: Math.min(last, first) };
  // Rows that look at about the same time share one look.
  if (looked <= endedAt) return { look: Math.max(endedAt + 1, now - options.firstPollMs) };
  return { waitUntil: Math.min(last, now + pauseAfter(now - endedAt, options)) };
}

export interface ReportOptions {
  readonly reuseExpired: boolean;
  readonly firstPollMs: number;
  readonly pollAtMostMs: number;
  readonly giveUpAfterMs: number;
  readonly lookForMs: number;
  readonly format: 'json';
}

/** The company of a report, by the answer to generating, an item of the history or the report itself. */
interface ReportIdentity {
  readonly id?: string | null;
  readonly sourceId: string | null;
  readonly registrationNumber: string | null;
  readonly vatNumber: string | null;
  readonly country: string | null;
  /** Compared if there is no number. The document shows none in the history (V2-6). */
  readonly name?: string | null;
}

/** At least one, which may state nothing: the ID of the report is compared too. */
function identitiesIn(record: object, withName = true): readonly ReportIdentity[] {
  const { source_id } = record as Readonly<Record<string, unknown>>;
  const [first, ...others] = statedCompanies(record as JsonObject);
  return [first, ...others].map((stated) => ({
    sourceId: stated === first ? identifierText(source_id) : null,
    registrationNumber: stated?.registration_number ?? null,
    vatNumber: stated?.vat_number ?? null,
    country: stated?.country_code ?? null,
    ...(withName ? { name: stated?.name ?? null } : {}),
  }));
}

/** The sections about the company itself. Only `company_profile` is published, and others name further companies. */
const ABOUT_COMPANY = /^(?:company|summary)/i;

/** What the report itself states, at its top and about the company, unless its record stated the same. */
function* identitiesInBody(body: Buffer, { said: before = [] }: Report): Generator<ReportIdentity> {
  const report = parseExact(body);
  if (!isObject(report)) return;
  const sections = Object.entries(report).flatMap(([name, value]) => (ABOUT_COMPANY.test(name) ? [value] : []));
  for (const part of [
    report,
    ...sections.map((value) => (Array.isArray(value) && value.length === 1 ? value[0] : value)),
  ])
    for (const stated of isObject(part) ? identitiesIn(part) : []) {
      const { registrationNumber, sourceId, name = null } = stated;
      const isKnown =
        registrationNumber !== null && before.some((one) => one.registrationNumber === registrationNumber);
      yield {
        ...stated,
        id: part === report ? identifierText(report.id) : null,
        sourceId: before.some((one) => one.sourceId === sourceId) ? null : sourceId,
        registrationNumber: isKnown ? null : registrationNumber,
        name: isKnown || before.some((one) => one.name === name) ? null : name,
      };
    }
}

/**
 * A generated report must belong to the match, like the full record (V2-4): a stranger's credit limit does real harm.
 * An absent field contradicts nothing. Undefined: it may be used.
 */
async function askAboutIdentity(
  { id: reportId, said, alsoListed }: Pick<Report, 'id' | 'alsoListed'> & { readonly said: ReportIdentity },
  company: Company,
  asked: Pick<Compared, 'operation' | 'params'>,
  context: Pick<StageContext, 'questions' | 'claimId' | 'nameAgreement'>,
): Promise<StageOutcome | undefined> {
  const { id, grade, candidate } = requireIdentified(company, 'credit');
  const owner = candidate ?? confirmedElsewhere(company.ids);
  // The report that the row began with is already claimed.
  const isBegun = company.ids.report?.id === reportId;
  const other = owner === undefined || isBegun ? undefined : await context.claimId('report', reportId, owner);
  const { countryCode } = company.enquiry.subject;
  const confirmed = candidate?.registration_number ?? '';
  const { sourceId, registrationNumber } = said;
  const vats = [candidate?.vat_number, ...(candidate?.further_vat_numbers ?? [])].filter((vat) => vat != null);
  const vatNumber = said.vatNumber === null ? undefined : parseVatNumber(said.vatNumber, countryCode);
  const isOtherVat = candidate != null && compareVats({ vatNumber, countryCode }, candidate) === 'F';
  const { country } = said;
  const isOtherCountry = country !== null && countryCode !== '' && country !== countryCode;
  const isOtherId = said.id != null && said.id !== reportId && said.id !== id;
  const problems = [
    isOtherId ? [`states the ID ${said.id}`] : [],
    isOtherVat ? [`has VAT number ${said.vatNumber}, the confirmed candidate has ${vats.join(' and ')}`] : [],
    isOtherCountry ? [`is of ${country}, the confirmed candidate is of ${countryCode}`] : [],
    sourceId === null || sourceId === id ? [] : [`is of source ${sourceId}, but kybatch asked for ${id}`],
    registrationNumber === null || confirmed === '' || same(registrationNumber, confirmed, countryCode)
      ? []
      : [`has registration number ${registrationNumber}, the confirmed candidate has ${confirmed}`],
    isNameOfAnother(said, company, context.nameAgreement)
      ? [`is about ${said.name}, the confirmed candidate is ${candidate?.name ?? 'without a name'}`]
      : [],
  ].flat();
  if (problems.length === 0 && other === undefined && alsoListed === undefined) return undefined;
  const code = problems.length === 0 ? ID_TAKEN : IDENTITY_MISMATCH;
  if (other !== undefined) problems.push(`is the report of another company, ${other.registration_number}`);
  if (alsoListed !== undefined) problems.push(`is also listed as ${inWords(alsoListed)}`);
  const message = `report ${reportId} ${problems.join(', it ')}`;
  const bought = other?.registration_number ?? registrationNumber;
  const named = said.name === undefined ? [] : [said.name];
  const further = [
    ...(isOtherId ? [{ id: said.id }] : []),
    ...(isOtherVat ? [{ vat: said.vatNumber }] : []),
    ...(isOtherCountry ? [{ country }] : []),
    ...(alsoListed === undefined ? [] : [inWords(alsoListed)]),
  ];
  const key = `report|${id}|${JSON.stringify([reportId, confirmed, sourceId, bought, ...named, ...further])}`;
  // The question hides the report here, and not from the company that it belongs to.
  const about = other === undefined ? ({ space: 'report', id: reportId } as const) : ({ space: 'credit', id } as const);
  const compared = { ...asked, company: about };
  const question = { space: 'credit', stage: 'credit-report', key, candidateId: id, compared } as const;
  const decided = await askAboutMismatch(question, message, grade, context, code);
  if (decided === 'accepted') return undefined;
  if (decided !== 'refused') return decided;
  const refused = `a person refused report ${reportId}, which names another company`;
  return nothingReturned('REVIEWED', refused);
}

const inWords = ({ source_id, name }: HistoryItem): string =>
  `the report of ${name ?? 'a company without a name'}, source ${source_id == null ? 'not given' : idText(source_id)}`;

/** A number is better evidence than a name, which may have changed. */
function isNameOfAnother({ registrationNumber, name }: ReportIdentity, company: Company, agreement: number): boolean {
  if (registrationNumber !== null || name == null || name.trim() === '') return false;
  const known = [requireIdentified(company, 'credit').candidate?.name, company.enquiry.subject.name].filter(
    (one) => one != null,
  );
  return known.length > 0 && known.every((one) => nameSimilarity(one, name) < agreement);
}

const same = (a: string, b: string, countryCode: string): boolean =>
  comparableNumber(a, countryCode) === comparableNumber(b, countryCode);

/**
 * The kind of a fetched report. `page`: HTML, raw or in a text: a report generated so, or a maintenance page. `empty`:
 * an object with nothing returned. `other`: no report at all.
 */
type ReportBody = 'report' | 'page' | 'empty' | 'other';

function kindOfReport(body: Buffer): ReportBody {
  const first = firstLetter(body);
  if (first === '<' || first === '"') return 'page';
  if (first !== '{') return 'other';
  return isEmptyBody(body) ? 'empty' : 'report';
}

const firstLetter = (body: Buffer): string | undefined =>
  body
    .toString('utf8', 0, 64)
    .replace(/^\ufeff/, '')
    .trimStart()[0];

export const REPORT_IN_HTML = 'REPORT_IN_HTML';

/**
 * Reports are requested as JSON (V2-21), so HTML is never the answer. If every report is HTML, it is the provider's
 * fault and not that of a company.
 */
function unusableReport(body: Buffer): UnusableAnswer | undefined {
  const kind = kindOfReport(body);
  if (kind === 'page') return { code: REPORT_IN_HTML, message: 'the answer is an HTML page, not JSON' };
  return kind === 'other' ? { code: 'UNEXPECTED_BODY', message: 'expected an object' } : undefined;
}
