import { asPlaceError, UsageError } from '../domain/errors.js';
import { hasLedger } from '../ledger/open-ledger.js';
import { answersBeside, foreignFile } from '../sandbox/sample/files.js';
import { outsideText } from '../util/outside-text.js';
import { fileTarget } from './file-target.js';
import { sampleWorkbook } from './sample-workbook.js';
import { filesOf } from './stored-settings.js';
import { dataDirOf, here, ledgerOf, type PlaceOptions, type Surroundings, withLedger } from './surroundings.js';

export interface SampleOptions extends PlaceOptions {
  readonly rows: number;
  /** With the damage that analysts' files have. */
  readonly dirty?: boolean | undefined;
  /** As a spreadsheet saves it. */
  readonly excel?: boolean | undefined;
  /** ISO code: companies of this country alone. */
  readonly country?: string | undefined;
  /** Of the registry. */
  readonly seed?: number | undefined;
  /** The CSV, or the workbook where it is named `.xlsx`; the answers go beside it, as a CSV. */
  readonly out: string;
  /** Write over files that are there, and are no sample. */
  readonly force?: boolean | undefined;
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

/** Writes a list of companies that exist in the sandbox, and the right answer for each row in a second file. */
export async function sample(options: SampleOptions, around = here()): Promise<SampleView> {
  const { rows, dirty = false, excel = false, seed = 1, signal } = options;
  if (!Number.isSafeInteger(rows) || rows < 1 || rows > MOST_ROWS)
    throw new UsageError(
      `--rows must be a whole number from 1 to 1,000,000, got ${rows}`,
      'The sandbox has a million companies.',
    );
  const { writeSampleFiles } = await import('../sandbox/sample.js');
  const { createRegistry } = await import('../sandbox/registry/index.js');
  const { countries } = await import('../sandbox/registry/countries/index.js');
  const country = oneOf(
    countries.map(({ code }) => code),
    options.country,
  );
  const out = await sampleTarget(options, around);
  try {
    const rowsFile = out.toLowerCase().endsWith('.xlsx') ? sampleWorkbook : undefined;
    const wanted = { rows, dirty, excel, country, out, rowsFile, signal };
    return { rows, ...(await writeSampleFiles({ registry: createRegistry({ seed }), ...wanted })) };
  } catch (error) {
    throw asPlaceError(error, out);
  }
}

function oneOf(known: readonly string[], given: string | undefined): string | undefined {
  const code = given?.trim().toUpperCase();
  if (code === undefined || known.includes(code)) return code;
  const hint = `It has some of ${known.join(', ')}.`;
  throw new UsageError(`the sandbox has no companies of ${outsideText(code, 40)}`, hint);
}

/** Where it goes. Nothing is written over but a sample, unless `force` says so, and nothing else that kybatch reads. */
async function sampleTarget({ force = false, ...options }: SampleOptions, around: Surroundings): Promise<string> {
  const dataDir = dataDirOf(options, around);
  const [first, second] = [options.out, answersBeside(options.out)];
  const out = fileTarget(first, dataDir, around, []);
  const foreign = foreignFile(out);
  // A sample may have been run: another one takes its place all the same.
  const reads = foreign === undefined ? [] : await filesOfRuns(options, around);
  for (const path of [first, second]) fileTarget(path, dataDir, around, reads);
  if (foreign !== undefined && !force)
    throw new UsageError(
      `${foreign} is there already, and is no sample`,
      'Name another file with --out, or use --force to write over it.',
    );
  return out;
}

const filesOfRuns = async (options: PlaceOptions, around: Surroundings): Promise<readonly string[]> =>
  (await hasLedger(ledgerOf(options, around)))
    ? await withLedger('read', options, around, async ({ runs }) => (await runs.all()).flatMap(filesOf))
    : [];
