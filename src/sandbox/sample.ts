// Writes sample lists with the right answer for each row, and protects other files.

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { hash, Permutation, Random } from './random.js';
import type { Registry } from './registry/index.js';
import type { Company } from './registry/types.js';
import {
  type Change,
  type Damage,
  isPlain,
  repairable,
  reviewable,
  type SampleInput,
  type SampleRow,
  unreadableDamage,
} from './sample/damage.js';

const inputColumns = ['id', 'name', 'country', 'registration_number', 'vat_number', 'city', 'segment'];
/** Headers as people write them in a spreadsheet. */
const excelHeaders = ['Id', 'Company Name', 'Country', 'Reg. No.', 'VAT No.', 'City', 'Segment'];
const answerColumns = ['id', 'damage', 'expected', 'reason', 'v1_company_id', 'v2_company_id', 'registration_number'];

export const answersBeside = (out: string): string => `${out.replace(/\.(?:csv|xlsx)$/i, '')}.answers.csv`;

/**
 * The first file that a new sample would overwrite and that is not a sample. Rows without their answers may be a user's
 * own list.
 */
export function foreignFile(out: string): string | undefined {
  const answers = answersBeside(out);
  const hasAnswers = isThere(answers);
  if (hasAnswers && !beginsWith(answers, [answerColumns.join(',')])) return answers;
  const headers = [inputColumns.join(','), excelHeaders.join(';')];
  return isThere(out) && !(hasAnswers && beginsWith(out, headers)) ? out : undefined;
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** The first line is one of these headers, and the first row has the first ID of a sample. */
function beginsWith(path: string, headers: readonly string[]): boolean {
  const start = Buffer.alloc(1024);
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const length = readSync(file, start, 0, start.length, 0);
    const [header = '', row = ''] = start
      .subarray(0, length)
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .split(/\r?\n/);
    return headers.includes(header) && /^C-000001[,;]/.test(row);
  } catch {
    // A file that cannot be read is not a sample.
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

export type { Expected, SampleAnswer, SampleInput, SampleRow } from './sample/damage.js';

export interface SampleOptions {
  readonly registry: Registry;
  readonly rows: number;
  /** Half of the rows have damage, each kind in turn, unless the country has no such damage. */
  readonly dirty: boolean;
  readonly seed?: number | undefined;
  /** ISO code: only companies of this country. */
  readonly country?: string | undefined;
  /** Rows that the file's encoding cannot express are skipped. */
  readonly accepts?: ((input: SampleInput) => boolean) | undefined;
}

/** Draws per row before a clean row replaces a rare kind of damage. Only tiny registries reach this. */
const MOST_DRAWS = 6_000;
const segments = ['A', 'B', 'key account', 'supplier; EU', 'n/a'];
const clean: Damage = { kind: 'clean', expected: 'confirmed', reason: 'exact', apply: () => ({}) };

/** The kinds of damage a dirty sample carries. */
export const damages: readonly Damage[] = [...repairable, ...reviewable, ...unreadableDamage];

/** Rows about companies of the registry, each with the answer that a careful client must reach. */
export function* writeSample(options: SampleOptions): Generator<SampleRow> {
  const { registry, rows, dirty, seed = registry.seed, country, accepts = () => true } = options;
  const random = new Random(hash(seed, 171));
  const order = new Permutation(registry.size, hash(seed, 172));
  /** Damage that no company of the country can have is searched for only once. */
  const impossible = new Set<Damage>();
  let draws = 0;
  const draw = () => registry.company(order.forward(draws++ % registry.size));

  // A short list has too few damaged rows for every kind. It takes some of each group: repairable, reviewable, hopeless.
  const step = Math.max(1, damages.length / Math.floor(rows / 2));

  for (let row = 0; row < rows; row++) {
    const damage = dirty && row % 2 === 1 ? damages[Math.floor(((row - 1) / 2) * step) % damages.length] : clean;
    const id = `C-${String(row + 1).padStart(6, '0')}`;
    const made = (damage && make(damage, id)) ?? make(clean, id);
    if (made === undefined) throw new RangeError('the registry is too small for a sample');
    yield made;
  }

  function make(damage: Damage, id: string): SampleRow | undefined {
    if (impossible.has(damage)) return undefined;
    const eligible = damage.eligible ?? isPlain;
    for (let tries = 0; tries < Math.min(MOST_DRAWS, registry.size * 4); tries++) {
      const company = draw();
      if (country !== undefined && company.countryCode !== country) continue;
      if (!eligible(registry, company)) continue;
      const change = damage.apply({ registry, company, number: company.registrationNumber ?? '', random });
      if (change === undefined) continue;
      const input = inputOf(id, company, change, random);
      if (accepts(input)) return { input, answer: answerOf(registry, damage, id, company) };
    }
    impossible.add(damage);
    return undefined;
  }
}

function inputOf(id: string, company: Company, change: Change, random: Random): SampleInput {
  const stated = company.countryCode === 'US' || company.countryCode === 'CA' || company.countryCode === 'CN';
  const number = company.registrationNumber ?? '';
  return {
    id,
    name: company.name,
    country: stated ? `${company.countryCode}-${company.state}` : company.countryCode,
    // A German number identifies a company only together with its court.
    registration_number: company.countryCode === 'DE' && number !== '' ? `${company.jurisdiction} ${number}` : number,
    vat_number: company.vatNumber ?? '',
    city: company.city,
    ...change,
    segment: random.pick(segments),
  };
}

function answerOf(registry: Registry, damage: Damage, id: string, company: Company): SampleRow['answer'] {
  const { kind, expected, reason } = damage;
  const meant = expected === 'confirmed' || expected === 'needs_review';
  return {
    id,
    damage: kind,
    expected,
    reason,
    v1_company_id: meant ? company.v1Id : '',
    v2_company_id: meant && registry.inV2(company) ? company.v2Id : '',
    registration_number: meant ? (company.registrationNumber ?? '') : '',
  };
}

const BATCH = 500;

interface SampleFileOptions extends Omit<SampleOptions, 'accepts'> {
  /** The file of the rows. The answers are beside it as `….answers.csv`. */
  readonly out: string;
  /** As a spreadsheet saves it: semicolons, CRLF, different headers, UTF-8 with BOM or windows-1252. */
  readonly excel?: boolean | 'windows-1252' | undefined;
  /** Writes the rows in another format than CSV, under the spreadsheet's headers. */
  readonly rowsFile?: ((path: string, headers: readonly string[]) => RowsFile) | undefined;
  /** Cancels the writing and leaves no file behind. */
  readonly signal?: AbortSignal | undefined;
}

/** An unfinished file. It appears when it is published. */
export interface RowsFile {
  write(records: readonly object[], first: boolean): Promise<void>;
  close(): Promise<void>;
  publish(): Promise<void>;
  discard(): Promise<void>;
}

/** Both files appear only when both are complete. The umask decides who can read them. */
export async function writeSampleFiles(options: SampleFileOptions): Promise<{ input: string; answers: string }> {
  const { out, excel = false, rowsFile, signal, ...rest } = options;
  const answers = answersBeside(out);
  const ansi = excel === 'windows-1252';
  const rows = writeSample({ ...rest, accepts: ansi ? isLatin : undefined });
  const files: RowsFile[] = [];
  try {
    const input =
      rowsFile?.(out, excelHeaders) ??
      (await partFile(out, ansi ? 'latin1' : 'utf8', {
        columns: inputColumns.map((key, i) => ({ key, header: excel === false ? key : (excelHeaders[i] ?? key) })),
        ...(excel === false ? {} : { delimiter: ';', record_delimiter: '\r\n' as const, bom: !ansi }),
      }));
    files.push(input);
    const solution = await partFile(answers, 'utf8', { columns: answerColumns.map((key) => ({ key, header: key })) });
    files.push(solution);
    for (let batch = take(rows, BATCH), first = true; first || batch.length > 0; batch = take(rows, BATCH)) {
      signal?.throwIfAborted();
      await input.write(
        batch.map((row) => row.input),
        first,
      );
      await solution.write(
        batch.map(({ answer }) => answer),
        first,
      );
      first = false;
    }
    for (const file of files) await file.close();
    for (const file of files) await file.publish();
  } catch (error) {
    for (const file of files) await file.discard();
    throw error;
  }
  return { input: out, answers };
}

type CsvOptions = NonNullable<Parameters<typeof stringify>[1]>;

async function partFile(path: string, encoding: BufferEncoding, format: CsvOptions): Promise<RowsFile> {
  const part = `${path}.${process.pid}.part`;
  const handle = await open(part, 'w');
  return {
    write: (records: readonly object[], first: boolean) =>
      handle.appendFile(stringify([...records], { ...format, header: first, bom: first && format.bom === true }), {
        encoding,
      }),
    close: async () => {
      await handle.sync();
      await handle.close();
    },
    publish: () => rename(part, path),
    discard: async () => {
      await handle.close().catch(() => undefined);
      await rm(part, { force: true });
    },
  };
}

/** The characters that windows-1252 and Latin-1 share. */
function isLatin(input: SampleInput): boolean {
  return Object.values(input).every((text: string) => /^[\x20-\x7e\xa0-\xff]*$/.test(text));
}

function take<T>(items: Iterator<T>, count: number): T[] {
  const taken: T[] = [];
  while (taken.length < count) {
    const { value, done } = items.next();
    if (done === true) break;
    taken.push(value);
  }
  return taken;
}
