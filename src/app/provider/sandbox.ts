// Writes sample lists, and changes companies in the sandbox.

import { renameSync, rmSync } from 'node:fs';
import { asOpenError, UsageError } from '../../domain/errors.js';
import { hasLedger } from '../../ledger/open-ledger.js';
import { answersBeside, foreignFile, type RowsFile } from '../../sandbox/sample.js';
import { changePath } from '../../sandbox/server.js';
import { WorkbookWriter } from '../../sheets/xlsx/write-workbook.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import {
  type AppEnvironment,
  dataDirOf,
  ledgerOf,
  type PlaceOptions,
  processEnvironment,
  withLedger,
} from '../environment.js';
import { fileTarget } from '../output-paths.js';
import { filesOf } from '../run/stored-settings.js';
import { withProvider } from './provider.js';

export interface SampleOptions extends PlaceOptions {
  readonly rows: number;
  /** With the typing errors of real files. */
  readonly dirty?: boolean | undefined;
  /** As a spreadsheet program saves it. */
  readonly excel?: boolean | undefined;
  /** ISO code: only companies of this country. */
  readonly country?: string | undefined;
  /** The seed of the registry. */
  readonly seed?: number | undefined;
  /** The CSV file, or a workbook if the name ends with `.xlsx`. The answers go beside it as CSV. */
  readonly out: string;
  /** Overwrites existing files that are no sample. */
  readonly force?: boolean | undefined;
  /** Cancels the writing. No file is left behind. The promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface SampleView {
  readonly rows: number;
  readonly input: string;
  readonly answers: string;
}

const MOST_ROWS = 1_000_000;

/** Writes a list of companies that exist in the sandbox, and a second file with the right answer for each row. */
export async function sample(options: SampleOptions, environment = processEnvironment()): Promise<SampleView> {
  const { rows, dirty = false, excel = false, seed = 1, signal } = options;
  if (!Number.isSafeInteger(rows) || rows < 1 || rows > MOST_ROWS)
    throw new UsageError(
      'FLAG_OUT_OF_RANGE',
      `--rows must be a whole number from 1 to 1,000,000, got ${rows}`,
      'The sandbox has a million companies.',
    );
  const { writeSampleFiles } = await import('../../sandbox/sample.js');
  const { createRegistry } = await import('../../sandbox/registry/index.js');
  const { countries } = await import('../../sandbox/registry/countries/index.js');
  const country = oneOf(
    countries().map(({ code }) => code),
    options.country,
  );
  const out = await sampleTarget(options, environment);
  try {
    const rowsFile = out.toLowerCase().endsWith('.xlsx') ? sampleWorkbook : undefined;
    const wanted = { rows, dirty, excel, country, out, rowsFile, signal };
    return { rows, ...(await writeSampleFiles({ registry: createRegistry({ seed }), ...wanted })) };
  } catch (error) {
    throw asOpenError(error, out);
  }
}

function oneOf(known: readonly string[], given: string | undefined): string | undefined {
  const code = given?.trim().toUpperCase();
  if (code === undefined || known.includes(code)) return code;
  const hint = `It has some of ${known.join(', ')}.`;
  throw new UsageError('SANDBOX_COUNTRY_UNKNOWN', `the sandbox has no companies of ${sanitizeText(code, 40)}`, hint);
}

/** The output file. Without `force` only a sample is overwritten, and never another file that kybatch reads. */
async function sampleTarget(
  { force = false, ...options }: SampleOptions,
  environment: AppEnvironment,
): Promise<string> {
  const dataDir = dataDirOf(options, environment);
  const [first, second] = [options.out, answersBeside(options.out)];
  const out = fileTarget(first, dataDir, environment, []);
  const foreign = foreignFile(out);
  // A sample may be the input of a run and is replaced all the same.
  const reads = foreign === undefined ? [] : await filesOfRuns(options, environment);
  for (const path of [first, second]) fileTarget(path, dataDir, environment, reads);
  if (foreign !== undefined && !force)
    throw new UsageError(
      'OUT_NOT_OURS',
      `${foreign} exists and is not a sample`,
      'Name another file with --out, or overwrite it with --force.',
    );
  return out;
}

const filesOfRuns = async (options: PlaceOptions, environment: AppEnvironment): Promise<readonly string[]> =>
  (await hasLedger(ledgerOf(options, environment)))
    ? await withLedger('read', options, environment, async ({ runs }) => (await runs.all()).flatMap(filesOf))
    : [];

/** Writes a sample as a workbook with one sheet, which appears only when it is complete. */
function sampleWorkbook(path: string, headers: readonly string[]): RowsFile {
  const part = `${path}.${process.pid}.part`;
  const workbook = new WorkbookWriter(part, { mode: 0o666 });
  workbook.begin({ name: 'Companies', columns: headers.map((header) => ({ header })) });
  return {
    async write(records) {
      workbook.write(records.map((record) => Object.values(record).map(String)));
      await workbook.drain();
    },
    async close() {
      await workbook.finish();
    },
    async publish() {
      renameSync(part, path);
    },
    async discard() {
      workbook.abandon();
      rmSync(part, { force: true });
    },
  };
}

export interface SandboxChangeOptions extends PlaceOptions {
  /** The v2 ID of the company. */
  readonly company: string;
  /** The watch's name of the field, such as name or company_status. */
  readonly field: string;
  readonly value: string | null;
  /** The port of a running sandbox. Default: that of `--sandbox`, with its account beside the ledger. */
  readonly port?: number | undefined;
}

export interface SandboxChangeView {
  /** The company and the field are watched, so the change is in the history. */
  readonly recorded: boolean;
  /** The callback's HTTP status. Null: nothing was posted, or no answer came. */
  readonly callbackStatus: number | null;
}

export async function changeInSandbox(
  options: SandboxChangeOptions,
  environment = processEnvironment(),
): Promise<SandboxChangeView> {
  const { company, field, value, port, dataDir } = options;
  const ask = async (origin: string): Promise<SandboxChangeView> => {
    const answer = await fetch(`${origin}${changePath}`, {
      method: 'POST',
      body: JSON.stringify({ company, field, value }),
    }).catch(() => {
      throw new UsageError(
        'SANDBOX_NOT_SERVING',
        `no sandbox serves at ${origin}`,
        '`kybatch sandbox --port N` starts one.',
      );
    });
    const said = (await answer.json().catch(() => ({}))) as Readonly<Record<string, unknown>>;
    if (!answer.ok)
      throw new UsageError('SANDBOX_REFUSED', String(said.detail ?? `the sandbox answered ${answer.status}`));
    const { recorded, callback_status: status } = said;
    return { recorded: recorded === true, callbackStatus: typeof status === 'number' ? status : null };
  };
  if (port !== undefined) return await ask(`http://127.0.0.1:${port}`);
  return await withProvider(
    { dataDir, sandbox: true },
    environment,
    async ({ sandbox }) => await ask(`http://127.0.0.1:${sandbox?.port}`),
    { keepSandbox: true },
  );
}
