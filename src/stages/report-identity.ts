import type { UnusableAnswer } from '../api/answer.js';
import { type Id, idText } from '../api/schema.js';
import { nameSimilarity } from '../domain/names/similarity.js';
import { comparableNumber } from '../domain/numbers/compare.js';
import { isEmptyBody } from '../util/exact-json.js';
import { askAboutMismatch } from './ask-about-mismatch.js';
import { confirmedElsewhere, ID_TAKEN } from './identity/confirm.js';
import {
  type Company,
  type Compared,
  nothingReturned,
  requireIdentified,
  type StageContext,
  type StageOutcome,
} from './stage.js';

/** The company of a report, by the answer to generating or by an item of the history. */
export interface ReportIdentity {
  readonly sourceId: string | null;
  readonly registrationNumber: string | null;
  /** The history has no number (V2-6), so only the name can be compared. */
  readonly name?: string | null;
}

export const identityIn = (generated: object): ReportIdentity => {
  const { source_id, registration_number } = generated as {
    source_id?: Id | null;
    registration_number?: string | null;
  };
  return { sourceId: source_id == null ? null : idText(source_id), registrationNumber: registration_number ?? null };
};

/**
 * A generated report must belong to the match, like the full record (V2-4): a stranger's credit limit does real harm.
 * An absent field contradicts nothing. Undefined: it may be used.
 */
export async function askAboutIdentity(
  reportId: string,
  said: ReportIdentity,
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
  const problems = [
    sourceId === null || sourceId === id ? [] : [`is of source ${sourceId}, asked for was ${id}`],
    registrationNumber === null || confirmed === '' || same(registrationNumber, confirmed, countryCode)
      ? []
      : [`has registration number ${registrationNumber}, the confirmed candidate ${confirmed}`],
    isNameOfAnother(said, company, context.nameAgreement)
      ? [`is about ${said.name}, the confirmed candidate is ${candidate?.name ?? 'without a name'}`]
      : [],
  ].flat();
  if (problems.length === 0 && other === undefined) return undefined;
  const code = problems.length === 0 ? ID_TAKEN : 'IDENTITY_MISMATCH';
  if (other !== undefined) problems.push(`is the report of another company, ${other.registration_number}`);
  const message = `report ${reportId} ${problems.join('; it ')}`;
  const bought = other?.registration_number ?? registrationNumber;
  const named = said.name === undefined ? [] : [said.name];
  const key = `report|${id}|${JSON.stringify([reportId, confirmed, sourceId, bought, ...named])}`;
  const compared = { ...asked, company: { space: 'report', id: reportId } } as const;
  const question = { space: 'credit', stage: 'credit-report', key, candidateId: id, compared } as const;
  const decided = await askAboutMismatch(question, message, grade, context, code);
  if (decided === 'accepted') return undefined;
  if (decided !== 'refused') return decided;
  const refused = `a person refused report ${reportId}, which names another company`;
  return nothingReturned('REVIEWED', refused);
}

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
export type ReportBody = 'report' | 'page' | 'empty' | 'other';

export function kindOfReport(body: Buffer): ReportBody {
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
export function unusableReport(body: Buffer): UnusableAnswer | undefined {
  const kind = kindOfReport(body);
  if (kind === 'page') return { code: REPORT_IN_HTML, message: 'a page of HTML came where JSON was asked for' };
  return kind === 'other' ? { code: 'UNEXPECTED_BODY', message: 'expected an object' } : undefined;
}
