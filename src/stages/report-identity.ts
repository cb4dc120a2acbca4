import { type Id, idText } from '../api/schema.js';
import { nameSimilarity } from '../domain/names.js';
import { comparable } from '../domain/numbers/compare.js';
import { askAboutAnswer } from './ask-about-answer.js';
import { ID_TAKEN } from './identity/confirm.js';
import { confirmedElsewhere } from './identity/confirmed-elsewhere.js';
import { nothingReturned } from './nothing-returned.js';
import { type Company, type Compared, identified, type StageContext, type StageOutcome } from './stage.js';

/** What the answer to generating, or an item of the history, says about whose report it is. */
export interface ReportIdentity {
  readonly sourceId: string | null;
  readonly registrationNumber: string | null;
  /** The history tells no number (V2-6): there the name is all that can be compared. */
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
 * The report that was generated must be that of the company that was confirmed, as the full record must (V2-4): a
 * credit limit of somebody else does real harm. What it does not say is no contradiction. Undefined: it may be used.
 */
export async function askAboutIdentity(
  reportId: string,
  said: ReportIdentity,
  company: Company,
  asked: Pick<Compared, 'operation' | 'params'>,
  context: Pick<StageContext, 'questions' | 'claimId' | 'nameAgreement'>,
): Promise<StageOutcome | undefined> {
  const { id, grade, candidate } = identified(company, 'credit');
  const owner = candidate ?? confirmedElsewhere(company.ids);
  // What the row has begun with was taken before.
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
  const decided = await askAboutAnswer(question, message, grade, context, code);
  if (decided === 'accepted') return undefined;
  if (decided !== 'refused') return decided;
  const refused = `a person refused report ${reportId}, which names another company`;
  return nothingReturned('REVIEWED', refused);
}

/** A number that is told says more than a name, which may have changed since. */
function isNameOfAnother({ registrationNumber, name }: ReportIdentity, company: Company, agreement: number): boolean {
  if (registrationNumber !== null || name == null || name.trim() === '') return false;
  const known = [identified(company, 'credit').candidate?.name, company.enquiry.subject.name].filter(
    (one) => one != null,
  );
  return known.length > 0 && known.every((one) => nameSimilarity(one, name) < agreement);
}

const same = (a: string, b: string, countryCode: string): boolean =>
  comparable(a, countryCode) === comparable(b, countryCode);
