import { readEnquiry } from '../domain/enquiry.js';
import { gradeCandidate } from '../domain/grade.js';
import { TELLING_SPACES } from '../domain/id-spaces.js';
import { comparable } from '../domain/numbers/compare.js';
import { oddAnswer } from '../domain/odd-answer.js';
import type { SnapshotRow } from '../ledger/snapshot.js';

type Graded = Pick<SnapshotRow, 'matchGrade' | 'questions' | 'ids' | 'fields'>;

interface Shown {
  readonly name: string | null;
  readonly registrationNumber: string | null;
  readonly country: string | null;
  readonly register: string | null;
}

/**
 * The grade of a row is that of what its search found. Where a person has accepted an answer that says otherwise, that is what
 * is shown, and the grade beside it is about it: nobody must sign for "the same number" beside another one.
 */
export function gradeShown(row: Graded, shown: Shown): string | null {
  const { matchGrade, fields } = row;
  if (matchGrade?.length !== 5 || fields === null || !isAccepted(row, shown)) return matchGrade;
  const reading = readEnquiry(fields);
  if (!reading.ok) return matchGrade;
  const { grade } = gradeCandidate(reading.enquiry.subject, {
    id: '',
    name: shown.name,
    registration_number: shown.registrationNumber,
    vat_number: null,
    country_code: shown.country,
    state: null,
    jurisdiction: shown.register,
  });
  // VAT number and place stand in no such question, and the search has told more of them.
  return `${grade.slice(0, 2)}${matchGrade.charAt(2)}${grade.charAt(3)}${matchGrade.charAt(4)}`;
}

/** What is shown is what a person has accepted, unless it was replaced since. */
function isAccepted({ questions, ids }: Graded, { registrationNumber }: Shown): boolean {
  const telling = TELLING_SPACES.find((space) => ids[space] !== undefined);
  return questions.some(({ space, stage, answered, decision, candidateId, entityKey }) => {
    if (space !== telling || stage === null || answered !== 1) return false;
    if (decision !== 'confirm' || candidateId !== ids[space]) return false;
    const { bought, confirmed } = oddAnswer(entityKey) ?? {};
    const country = confirmed?.countryCode ?? '';
    return comparable(bought?.registrationNumber ?? '', country) === comparable(registrationNumber ?? '', country);
  });
}
