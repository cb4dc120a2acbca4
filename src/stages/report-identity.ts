import { type Id, idText } from '../api/schema.js';
import { comparable } from '../domain/numbers/compare.js';
import { askAboutAnswer } from './ask-about-answer.js';
import { nothingReturned } from './nothing-returned.js';
import { type Company, type Compared, identified, type StageContext, type StageOutcome } from './stage.js';

/** What the answer to generating says about whose report it is. */
export interface ReportIdentity {
  readonly sourceId: string | null;
  readonly registrationNumber: string | null;
}

export const identityIn = (generated: object): ReportIdentity => {
  const { source_id, registration_number } = generated as {
    source_id?: Id | null;
    registration_number?: string | null;
  };
  return { sourceId: source_id == null ? null : idText(source_id), registrationNumber: registration_number ?? null };
};

/**
 * The report that was generated must be that of the company that was confirmed, as the full record must (V2-4): a
 * credit limit of somebody else does real harm. What it does not say is no contradiction. Undefined: it may be used.
 */
export async function askAboutIdentity(
  reportId: string,
  said: ReportIdentity,
  company: Company,
  asked: Pick<Compared, 'operation' | 'params'>,
  context: Pick<StageContext, 'questions'>,
): Promise<StageOutcome | undefined> {
  const { id, grade, candidate } = identified(company, 'credit');
  const { countryCode } = company.enquiry.subject;
  const confirmed = candidate?.registration_number ?? '';
  const { sourceId, registrationNumber } = said;
  const problems = [
    sourceId === null || sourceId === id ? [] : [`is of source ${sourceId}, asked for was ${id}`],
    registrationNumber === null || confirmed === '' || same(registrationNumber, confirmed, countryCode)
      ? []
      : [`has registration number ${registrationNumber}, the confirmed candidate ${confirmed}`],
  ].flat();
  if (problems.length === 0) return undefined;
  const message = `report ${reportId} ${problems.join('; it ')}`;
  const key = `report|${id}|${JSON.stringify([reportId, confirmed, sourceId, registrationNumber])}`;
  const compared = { ...asked, company: { space: 'report', id: reportId } } as const;
  const question = { space: 'credit', stage: 'credit-report', key, candidateId: id, compared } as const;
  const decided = await askAboutAnswer(question, message, grade, context);
  if (decided === 'accepted') return undefined;
  if (decided !== 'refused') return decided;
  const refused = `a person refused report ${reportId}, which names another company`;
  return nothingReturned('REVIEWED', refused);
}

const same = (a: string, b: string, countryCode: string): boolean =>
  comparable(a, countryCode) === comparable(b, countryCode);
