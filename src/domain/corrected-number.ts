import { lacksCourt } from './numbers/german.js';
import { parseRegistrationNumber } from './numbers/parse.js';

/**
 * A person may answer a question with the registration number that the row should have. It is kept as "none of these", with
 * the number in the place of the candidate: whoever does not know of corrections reads that no candidate was meant.
 */
interface Answer {
  readonly decision: string;
  readonly candidateId: string | null;
}

const PREFIX = 'number:';

export const asCorrection = (number: string): string => `${PREFIX}${number.trim()}`;

/** The number to search for instead of the row's own; undefined if the answer is no correction. */
export const correctedNumber = ({ decision, candidateId }: Answer): string | undefined =>
  decision === 'none_of_these' && candidateId?.startsWith(PREFIX) === true
    ? candidateId.slice(PREFIX.length)
    : undefined;

/** Why a number cannot be searched for; undefined if it can. */
export function correctionProblem(number: string, countryCode: string | null, given = ''): string | undefined {
  const parsed = parseRegistrationNumber(number, countryCode ?? '');
  const { canonical, reason, treatment } = parsed;
  if (canonical === null || !/\d/.test(canonical))
    return reason ?? `"${number}" cannot be read as a registration number`;
  // The next run would only ask again. A missing court is no defect of the number: name and place may tell it.
  if (treatment === 'review' && reason !== undefined && !lacksCourt(parsed)) return reason;
  if (number.trim() === given.trim()) return `"${number}" is the number that the row has already`;
  return undefined;
}
