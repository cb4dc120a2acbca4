import { asPlaceError, UsageError } from '../domain/errors.js';
import { fileTarget } from './file-target.js';
import { dataDirOf, here, type PlaceOptions, pathIn } from './surroundings.js';

export interface SampleOptions extends PlaceOptions {
  readonly rows: number;
  /** With the damage that analysts' files have. */
  readonly dirty?: boolean | undefined;
  /** As a spreadsheet saves it. */
  readonly excel?: boolean | undefined;
  /** Of the registry. */
  readonly seed?: number | undefined;
  /** The CSV; the answers go beside it. */
  readonly out: string;
  /** Gives it up; no file is left behind. The promise rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface SampleView {
  readonly rows: number;
  readonly input: string;
  readonly answers: string;
}

/** As many as there are companies. */
const MOST_ROWS = 1_000_000;

/** Writes a CSV of companies that exist in the sandbox, and the right answer for each row in a second file. */
export async function sample(options: SampleOptions, around = here()): Promise<SampleView> {
  const { rows, dirty = false, excel = false, seed = 1, signal } = options;
  if (!Number.isSafeInteger(rows) || rows < 1 || rows > MOST_ROWS)
    throw new UsageError(
      `--rows must be a whole number from 1 to 1,000,000, got ${rows}`,
      'The sandbox has a million companies.',
    );
  const { answersBeside, writeSampleFiles } = await import('../sandbox/sample.js');
  const { createRegistry } = await import('../sandbox/registry/index.js');
  const dataDir = dataDirOf(options, around);
  const out = fileTarget(pathIn(around, options.out), dataDir, around);
  fileTarget(answersBeside(out), dataDir, around);
  try {
    return {
      rows,
      ...(await writeSampleFiles({ registry: createRegistry({ seed }), rows, dirty, excel, out, signal })),
    };
  } catch (error) {
    throw asPlaceError(error, out);
  }
}
