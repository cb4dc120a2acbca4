import { readEnquiry } from '../domain/enquiry.js';
import { gradeCandidate } from '../domain/grade.js';
import { TELLING_SPACES } from '../domain/id-spaces.js';
import { nameSimilarity } from '../domain/names.js';
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
 * The grade of a row is that of what its search found. If a person has accepted an answer that says otherwise, that is what
 * is shown, and the grade beside it is about it: nobody must sign for "the same number" beside another one. If the company
 * was renamed since, the name's letter is that of today's name.
 */
export function gradeShown(row: Graded, shown: Shown, renamed = false): string | null {
  const { matchGrade, fields } = row;
  if (matchGrade?.length !== 5 || fields === null || !(renamed || isAccepted(row, shown))) return matchGrade;
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
  if (renamed) return `${matchGrade.charAt(0)}${grade.charAt(1)}${matchGrade.slice(2)}`;
  // VAT number and place stand in no such question, and the search has told more of them.
  return `${grade.slice(0, 2)}${matchGrade.charAt(2)}${grade.charAt(3)}${matchGrade.charAt(4)}`;
}

/** The name under which the company was confirmed, if today's record has another one. */
export function formerName(row: Graded & Pick<SnapshotRow, 'confirmed'>, shown: Shown): string | undefined {
  const before = row.confirmed?.name ?? null;
  if (before === null || shown.name === null || before === shown.name || isAccepted(row, shown)) return undefined;
  const [number, country] = [row.confirmed?.registrationNumber ?? '', shown.country ?? ''];
  // What was confirmed may be the company of a credit report alone, which a person has chosen.
  const isSame = number === '' || comparable(number, country) === comparable(shown.registrationNumber ?? '', country);
  return isSame && nameSimilarity(before, shown.name) < 100 ? before : undefined;
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
