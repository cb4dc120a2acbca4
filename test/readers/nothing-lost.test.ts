import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tables } from '../../src/export/tables.js';
import { creditReportReader } from '../../src/readers/credit-report.js';
import { firmographicsReader } from '../../src/readers/firmographics.js';
import { flatFinancialsReader } from '../../src/readers/flat-financials.js';
import { insightsReader } from '../../src/readers/insights.js';
import { ownershipReader } from '../../src/readers/ownership.js';
import { employeesReader, peopleReader } from '../../src/readers/people.js';
import type { Reader } from '../../src/readers/reader.js';
import { recordReader, registryReader } from '../../src/readers/record.js';
import { screeningReader, v2ScreeningReader } from '../../src/readers/screening.js';
import { long } from '../helpers/long.js';
import { answer, read } from './support.js';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** A unique leaf or name, which must be found again in the tables. */
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
const KNOWN_FIELDS = ['order', 'pod', 'commonValue', 'value', 'currency', 'source_id', 'selected'];
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
const held = mostly(record({ id: leaf, name: leaf, vat_number: leaf, address: fields('zip', 'city', 'floor') }));
const holdings = envelope(mostly(record({ id: leaf, name: leaf, created: leaf, company: held, source })));
const appointment = mostly(
  record({
    id: leaf,
    company_id: leaf,
    full_name: leaf,
    officer: fields('full_name'),
    contact: fields('email'),
    source,
  }),
);
const works = fields('name', 'country', 'city', 'floor');
const crowd = (item: fc.Arbitrary<Json>) => record({ data: some(item), total_pages: leaf, total_employees: leaf });
const risk = mostly(record({ pod: leaf, commonValue: leaf, creditLimit: fields('value', 'currency') }));
const remarks = some(leaf);
const classes = some(fields('id', 'type', 'value'));
const firmographics = record({
  id: leaf,
  name: leaf,
  size: leaf,
  company_phone: some(leaf),
  industry: classes,
  sic: classes,
});
const technologies = some(record({ id: leaf, name: leaf, list: some(fields('id', 'name', 'category')) }));
const digital = record({ domain: leaf, nameservers: mostly(leaf), global_rank: leaf, technologies, dns: anything });
const summary = mostly(record({ turnover: leaf, overall_credit_risk: risk, what_we_like_about_this_company: remarks }));

/** Every operation that fills tables, and its answer. */
const BODIES: readonly [string, Reader, string, fc.Arbitrary<Json>][] = [
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
  ['firmographics', firmographicsReader, 'companyProfile', firmographics],
  ['a digital profile', insightsReader, 'insightsProfile', digital],
  [
    'ownership',
    ownershipReader,
    'ownership',
    record({ shareholders: some(shareholder), group_structure: some(node), registration_number: leaf }),
  ],
  ['holdings', screeningReader, 'shareholdersSearchKyb', holdings],
  ['appointments', screeningReader, 'officersSearchKyb', some(appointment)],
  ['v2 appointments', v2ScreeningReader, 'kybOfficersSearch', some(appointment)],
  [
    'people by domain',
    peopleReader,
    'enrichEmployeesSearch',
    crowd(record({ name: leaf, job_title: leaf, company: works })),
  ],
  [
    'a person',
    peopleReader,
    'enrichPerson',
    record({ id: leaf, full_name: leaf, seniority_level: some(leaf), email: leaf }),
  ],
  ['employees', employeesReader, 'employeesSearch', crowd(fields('id', 'name', 'company_name'))],
  ['an employee', employeesReader, 'employeeProfile', record({ id: leaf, gender: leaf, phone: some(leaf) })],
  [
    'the record of a credit report',
    creditReportReader,
    'creditReportGenerate',
    record({ source_id: leaf, name: leaf, status: leaf, expired: leaf }).map(
      (value) => ({ ...(value as object), id: '77' }) as Json,
    ),
  ],
  ['a credit report', creditReportReader, 'creditReportFetch', record({ summary, company_profile: anything })],
  [
    'figures',
    flatFinancialsReader,
    'financial',
    mostly(fc.dictionary(fc.constant(NAME), values, { maxKeys: 2, noNullPrototype: true })),
  ],
];

describe('nothing that the provider sent is lost between raw answers and tables', () => {
  long.each(BODIES)('%s', (_, reader, operation, body) => {
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

  long.each(BODIES)('%s: null, an empty list, an empty object and an absent member are distinguished', (...of) => {
    const [, reader, operation, body] = of;
    fc.assert(
      fc.property(body.map(named), fc.nat(), (shape, pick) => {
        // The ID of a report identifies its record.
        const places = membersOf(shape).filter((way) => way.join() !== 'id');
        const place = places[pick % Math.max(places.length, 1)];
        if (place === undefined) return;
        const told = (value: Json | undefined) => {
          const { rows, issues } = read(reader, [answer(operation, JSON.stringify(replaced(shape, place, value)))]);
          return JSON.stringify([[...rows], issues]);
        };
        const forms = [
          told(null),
          told([]),
          told({}),
          ...(isField(place) || isTwice(place, shape) ? [] : [told(undefined)]),
        ];
        expect(new Set(forms).size, place.join('/')).toBe(forms.length);
      }),
      { numRuns: 60 },
    );
  });

  test('two answers that differ about one company are both shown', () => {
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

/** The shape as JSON with unique leaves and names, and those that must be found again. */
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
  const write = (value: Json): string => {
    if (value === LEAF) return token();
    if (value === 1) return number() ?? '';
    if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const members = Object.keys(value).map((key) => {
      const member = value[key] as Json;
      const told = key === NAME ? token() : JSON.stringify(key);
      // Their number is visible by counting.
      return `${told}:${/^total_/.test(key) && member === 1 ? 1 : write(member)}`;
    });
    return `{${members.join(',')}}`;
  };
  return { text: write(shape), tokens };
}

/** Gives each member with an unknown name a unique name. */
const named = (shape: Json): Json => JSON.parse(withTokens(shape).text) as Json;

/** The paths to all members. */
function membersOf(shape: Json): readonly (readonly string[])[] {
  if (typeof shape !== 'object' || shape === null) return [];
  return Object.entries(shape).flatMap(([key, value]) => {
    const below = membersOf(value).map((way) => [key, ...way]);
    return Array.isArray(shape) ? below : [[key], ...below];
  });
}

function replaced(shape: Json, [key = '', ...way]: readonly string[], value: Json | undefined): Json {
  const entries = Object.entries(shape as object).flatMap(([name, member]: [string, Json]) => {
    if (name !== key) return [[name, member] as const];
    const put = way.length === 0 ? value : replaced(member, way, value);
    return put === undefined ? [] : [[name, put] as const];
  });
  return Array.isArray(shape) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}

/** For a field with a column, null and missing are both an empty cell. */
/** Fields of a connected company are prefixed with its name. */
const FIELDS = new Set([
  ...tables.flatMap(({ columns }) => columns.flatMap(({ name: field }) => [field, field.replace(/^company_/, '')])),
  ...KNOWN_FIELDS,
]);
const isField = (place: readonly string[]) => FIELDS.has(place.at(-1) ?? '');
/** With provenance a field may come twice, in a group and beside it: one of them may be missing. */
const isTwice = (place: readonly string[], shape: Json) =>
  membersOf(shape).filter((way) => way.at(-1) === place.at(-1)).length > 1;
