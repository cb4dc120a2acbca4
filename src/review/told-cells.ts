import { normaliseName } from '../domain/names.js';
import type { CandidateRecord } from '../ledger/runs.js';
import type { Question } from './questions.js';
import { isSameCell } from './same-cell.js';

/** What of a line tells a person which row asks, and which company is meant. */
export const TOLD_COLUMNS = [
  'input_name',
  'input_registration_number',
  'input_vat_number',
  'candidate_name',
  'candidate_registration_number',
  'candidate_vat_number',
  'candidate_id',
] as const;

export type ToldColumn = (typeof TOLD_COLUMNS)[number];
type Cells = Partial<Record<ToldColumn, string>>;

export const inputCells = (input: Question['input']) => ({
  input_name: input.name ?? '',
  input_registration_number: input.registration_number ?? '',
  input_vat_number: input.vat_number ?? '',
});

export const candidateCells = (candidate: CandidateRecord | undefined) => ({
  candidate_name: candidate?.name ?? '',
  candidate_registration_number: candidate?.registrationNumber ?? '',
  candidate_vat_number: candidate?.vatNumber ?? '',
  candidate_id: candidate?.id ?? '',
});

/** A cell of a line that says something else than its question or its candidate does. */
export interface OtherCell {
  readonly column: ToldColumn;
  readonly cell: string;
  readonly means: string;
}

/**
 * A person decides by what a line shows, the program by its tokens: where a part of the line was sorted or pasted alone they
 * speak of different companies. `candidateId`: null where the line stands for the question alone.
 */
export function otherCell(
  told: ReadonlyMap<ToldColumn, string>,
  question: Question,
  candidateId: string | null,
): OtherCell | undefined {
  const found = question.asked.flatMap(({ candidates }) => candidates.filter(({ id }) => id === candidateId));
  return (
    differing(told, [question.input, ...question.asked.map(({ fields }) => fields)].map(inputCells)) ??
    (found.length === 0 ? undefined : differing(told, found.map(candidateCells)))
  );
}

/** Undefined if the line shows one of those; else what differs from the first that is nearest. */
function differing(told: ReadonlyMap<ToldColumn, string>, written: readonly Cells[]): OtherCell | undefined {
  const each = written.map((cells) =>
    TOLD_COLUMNS.flatMap((column) => {
      const [cell, means] = [told.get(column), cells[column]];
      return cell === undefined || means === undefined || isSame(column, cell, means) ? [] : [{ column, cell, means }];
    }),
  );
  return each.reduce((nearest, others) => (others.length < nearest.length ? others : nearest))[0];
}

/** Rows that spell a name in several ways ask the same question. */
const isSame = (column: ToldColumn, cell: string, means: string): boolean =>
  isSameCell(cell, means) || (column === 'input_name' && cell !== '' && normaliseName(cell) === normaliseName(means));
