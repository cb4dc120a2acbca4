import { KybatchError } from '../../../src/domain/errors.js';
import { readSearchSubject } from '../../../src/domain/search-subject.js';
import { readInput } from '../../../src/input/read-input.js';
import type { InputField, InputRow } from '../../../src/input/types.js';
import { optionsOf } from './flags.js';

/** The reading of a file by kybatch. */
export type Seen = Refusal | Read;

export interface Refusal {
  readonly refused: string;
}

export interface Read {
  readonly columns: Readonly<Partial<Record<InputField, string>>>;
  readonly rows: readonly SeenRow[];
  /** The messages about the file. */
  readonly notes: string;
}

export interface SeenRow {
  readonly row: number;
  readonly line: number;
  readonly fields: Readonly<Partial<Record<InputField, string>>>;
  /** Fields that are read, but not used to search or compare. */
  readonly unused: readonly InputField[];
  readonly problem?: string;
}

/** Reads a file as a run would, with the flags that a person adds to the command. */
export async function look(path: string, flags: readonly string[] = []): Promise<Seen> {
  try {
    const table = await readInput(path, optionsOf(flags));
    const rows: SeenRow[] = [];
    for await (const row of table.rows()) rows.push(seenRow(row));
    // A run refuses a list without companies.
    if (rows.length === 0) return { refused: 'no row' };
    const columns = Object.fromEntries(table.read.map(({ field, header }) => [field, header]));
    return { columns, rows, notes: table.warnings.map(({ text }) => text).join('\n') };
  } catch (error) {
    if (error instanceof KybatchError) return { refused: `${error.message}\n${error.hint ?? ''}` };
    throw error;
  }
}

function seenRow({ row, line, fields, problem }: InputRow): SeenRow {
  if (problem !== undefined) return { row, line, fields, unused: [], problem: problem.code };
  const reading = readSearchSubject(fields);
  if (!reading.ok) return { row, line, fields, unused: [], problem: reading.code };
  const { name, registrationNumber, vatNumber, city } = reading.enquiry.subject;
  const used = { name, registration_number: registrationNumber, vat_number: vatNumber, city };
  const unused = (['name', 'registration_number', 'vat_number', 'city'] as const).filter(
    (field) => used[field] === undefined,
  );
  return { row, line, fields, unused };
}
