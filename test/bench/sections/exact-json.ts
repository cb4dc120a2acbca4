import { parse as parseLossless } from 'lossless-json';
import { writeJson } from '../../../src/sandbox/json.js';
import { createRegistry } from '../../../src/sandbox/registry/index.js';
import { parseExact } from '../../../src/util/exact-json.js';
import { assertWholeJson, scanJson } from '../../../src/util/json-scan.js';
import { interleaved, median, microseconds } from '../measure.js';
import { type Row, ratio, whole } from '../table.js';

const body = largeFinancials();
const bytes = Buffer.from(body);
const numbers = body.match(/:-?\d/g)?.length ?? 0;

export const title = `one body of flat financials, ${whole(bytes.length)} bytes, ${whole(numbers)} numbers, from bytes to values`;

export async function run(): Promise<Row[]> {
  const parsers: [string, () => unknown][] = [
    ['JSON.parse (rounds)', () => JSON.parse(bytes.toString('utf8'))],
    ['parseExact', () => parseExact(bytes)],
    ['scanJson (outside only)', () => scanJson(bytes)],
    ['mustBeWhole (nothing kept)', () => assertWholeJson(bytes)],
    ['lossless-json', () => parseLossless(bytes.toString('utf8'))],
  ];
  for (const [, parse] of parsers) microseconds(parse, 300);
  const results = await interleaved(
    parsers.map(
      ([, parse]) =>
        () =>
          microseconds(parse, 300),
    ),
    5,
  );
  const medians = results.map(median);
  const base = medians[0] ?? Number.NaN;
  return parsers.map(([name], index) => ({
    parser: name,
    µs: whole(medians[index] ?? Number.NaN),
    'of JSON.parse': ratio((medians[index] ?? Number.NaN) / base),
  }));
}

function largeFinancials(): string {
  const registry = createRegistry({ seed: 1 });
  for (let index = 0; index < registry.size; index++) {
    const company = registry.company(index);
    const { large, noAccounts } = registry.traits(company);
    if (large && !noAccounts) return writeJson(registry.v2.flatFinancials(company));
  }
  throw new Error('The registry has no large company.');
}
