import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { creditReportReader } from '../../src/readers/credit-report.js';
import { flatFinancialsReader } from '../../src/readers/flat-financials.js';
import type { Reader } from '../../src/readers/reader.js';
import { recordReader } from '../../src/readers/record.js';
import { registryReader } from '../../src/readers/registry.js';
import { answer, read } from './support.js';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** A leaf or a name that is told from all others: it must be found again in the tables. */
const LEAF = '#leaf';
const NAME = '#name';

/** Anything, with the names that readers know in all the wrong places. */
const KNOWN = ['id', 'name', 'lite', 'officers', 'financial', 'years', 'groups', 'list', 'progress', 'order', 'basic']
  .concat(['address', 'contact', 'source', 'sources', 'provenance', 'data', 'children', 'summary', 'creditLimit'])
  .concat(['__proto__', 'constructor', 'toString', '__defineGetter__', 'hasOwnProperty', 'status', 'total_pages']);
const name = fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...KNOWN) }, fc.constant(NAME));
const leaf = fc.constantFrom<Json>(LEAF, LEAF, 1, null, true);
const { anything } = fc.letrec<{ anything: Json }>((tie) => ({
  anything: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie('anything'), { maxLength: 3 }),
    fc.dictionary(name, tie('anything'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const mostly = (usual: fc.Arbitrary<Json>) => fc.oneof({ weight: 5, arbitrary: usual }, anything);
const record = (members: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<Json> =>
  fc
    .tuple(
      fc.record(members, { requiredKeys: [], noNullPrototype: true }),
      fc.dictionary(name, anything, { maxKeys: 2, noNullPrototype: true }),
    )
    .map(([known, further]) => ({ ...further, ...known }) as Json);
const some = (item: fc.Arbitrary<Json>) => mostly(fc.array(item, { maxLength: 3 }));
const fields = (...names: readonly string[]) => mostly(record(Object.fromEntries(names.map((key) => [key, leaf]))));

const source = fields('category', 'comment', 'id', 'name', 'url');
const values = mostly(fc.dictionary(fc.constant(NAME), leaf, { maxKeys: 2, noNullPrototype: true }));
const metric = mostly(record({ name: leaf, list: values, progress: some(leaf) }));
const group = mostly(record({ id: leaf, name: leaf, order: leaf, list: some(metric) }));
const financial = mostly(record({ id: leaf, name: leaf, years: some(leaf), groups: some(group), source }));
const profile = mostly(
  record({
    id: leaf,
    name: leaf,
    status: leaf,
    basic: fields('name', 'status', 'ticker', 'source'),
    address: fields('zip_code'),
    source,
  }),
);
const officer = mostly(
  record({ id: leaf, first_name: leaf, officer: fields('first_name'), contact: fields('email'), source }),
);
const shareholder = fields('id', 'name', 'percentage', 'company_id');
const links = some(fields('company_id', 'source', 'target', 'temporary'));
const { node } = fc.letrec<{ node: Json }>((tie) => ({
  node: record({
    id: leaf,
    name: leaf,
    selected: leaf,
    children: some(fc.oneof({ maxDepth: 3 }, anything, tie('node'))),
  }),
}));
const envelope = (item: fc.Arbitrary<Json>) => record({ data: some(item), total_pages: leaf, total_results: leaf });
const risk = mostly(record({ pod: leaf, commonValue: leaf, creditLimit: fields('value', 'currency') }));
const remarks = some(leaf);
const summary = mostly(record({ turnover: leaf, overall_credit_risk: risk, what_we_like_about_this_company: remarks }));

describe('nothing that the provider sent is lost between raw and tables', () => {
  test.each<[string, Reader, string, fc.Arbitrary<Json>]>([
    [
      'the full record',
      recordReader,
      'fullKyb',
      record({
        lite: profile,
        officers: some(officer),
        shareholders: some(shareholder),
        group_structures_full: links,
        financial,
      }),
    ],
    ['the profile', recordReader, 'liteKyb', profile],
    ['officers', recordReader, 'officersKyb', envelope(officer)],
    ['shareholders', recordReader, 'shareholdersKyb', envelope(shareholder)],
    ['the group', recordReader, 'groupFullKyb', envelope(node)],
    ['filed statements', recordReader, 'financialKyb', financial],
    ['v2 officers', registryReader, 'kybOfficers', envelope(officer)],
    ['v2 shareholders', registryReader, 'kybShareholders', envelope(shareholder)],
    ['v2 filed statements', registryReader, 'kybFinancial', financial],
    ['a credit report', creditReportReader, 'creditReportFetch', record({ summary, company_profile: anything })],
    [
      'figures',
      flatFinancialsReader,
      'financial',
      mostly(fc.dictionary(fc.constant(NAME), values, { maxKeys: 2, noNullPrototype: true })),
    ],
  ])('%s', (_, reader, operation, body) => {
    fc.assert(
      fc.property(body, (shape) => {
        const { text, tokens } = withTokens(shape);
        const out = read(reader, [answer(operation, text)]);
        const cells = [...out.rows.values()].flat().flatMap((row) => Object.values(row));
        const told = [...cells, ...out.issues.flatMap(({ pointer, seen }) => [pointer, seen])].join('\n');
        expect(tokens.filter((token) => !told.includes(token))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test('two answers that say different things of one company are both told', () => {
    const out = read(recordReader, [
      answer('fullKyb', '{"lite":{"id":77,"status":"active"},"note":"first"}'),
      answer('liteKyb', '{"id":77,"status":"dissolved","note":"second","ticker":"ACME"}'),
    ]);
    const [company] = out.rows.get('companies') ?? [];
    expect(company).toMatchObject({ status: 'active', ticker: 'ACME' });
    expect(JSON.parse(company?.extra ?? '')).toEqual({
      note: 'first',
      note_2: 'second',
      liteKyb: { status: 'dissolved' },
    });
  });
});

/** The shape as JSON, each leaf and name of its own; what must be found again. Years without figures say nothing. */
function withTokens(shape: Json): { readonly text: string; readonly tokens: readonly string[] } {
  const tokens: string[] = [];
  const token = () => {
    tokens.push(`t${tokens.length + 100}z`);
    return JSON.stringify(tokens.at(-1));
  };
  const number = () => {
    tokens.push(String(7_000_001 + tokens.length));
    return tokens.at(-1);
  };
  const isEmpty = (value: Json) => typeof value === 'object' && (value === null || Object.keys(value).length === 0);
  const write = (value: Json): string => {
    if (value === LEAF) return token();
    if (value === 1) return number() ?? '';
    if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const members = Object.keys(value).map((key) => {
      const member = value[key] as Json;
      const told = key === NAME && !isEmpty(member) ? token() : JSON.stringify(key);
      // How many there are is seen by counting them.
      return `${told}:${/^total_/.test(key) && member === 1 ? 1 : write(member)}`;
    });
    return `{${members.join(',')}}`;
  };
  return { text: write(shape), tokens };
}
