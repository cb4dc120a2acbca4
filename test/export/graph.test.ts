import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.js';
import { candidate } from '../ledger/support.js';
import { type Bought, exportTo, orphansIn, type RunFixture, readTable, settleAgain, withRun } from './support.js';

interface Company {
  readonly v1: string;
  readonly v2?: string;
  readonly ownership?: string;
  readonly name: string;
  /** Null: the provider has none. */
  readonly number: string | null;
  readonly country?: string;
}

const EXAMPLE: Company = { v1: '10', v2: 'x10', ownership: '00045590', name: 'Example Ltd', number: '00045590' };
const CHILD: Company = { v1: '11', name: 'Child Ltd', number: '01234567' };

const full = ({ v1, name, number, country = 'GB' }: Company, lists: object): Omit<Bought, 'row'> => ({
  api: 'v1',
  operation: 'fullKyb',
  params: { id: v1 },
  body: JSON.stringify({ lite: { id: v1, name, registration_number: number, country_code: country }, ...lists }),
});

const answer = (api: 'v1' | 'v2', operation: string, params: object, body: object): Omit<Bought, 'row'> => ({
  api,
  operation,
  params: params as Bought['params'],
  body: JSON.stringify(body),
});

type Lines = readonly Readonly<Record<string, string | null>>[];

interface Graph {
  readonly entities: Lines;
  readonly relations: Lines;
  readonly orphans: readonly string[];
}

/** The graph of companies that searches confirmed, with their answers. */
async function graphOf(
  companies: readonly { readonly of: Company; readonly bought: readonly Omit<Bought, 'row'>[] }[],
  check: (graph: Graph, folder: string) => Promise<void> | void,
  options: Parameters<typeof exportTo>[3] = {},
): Promise<void> {
  const fixture: RunFixture = {
    rows: companies.map(({ of }) => ({
      values: [of.name],
      ids: { v1: of.v1, ...(of.v2 && { v2: of.v2 }), ...(of.ownership && { ownership: of.ownership }) },
    })),
    bought: companies.flatMap(({ bought }, index) => bought.map((one) => ({ ...one, row: index + 1 }))),
  };
  await withRun(fixture, async ({ dataDir, ledger, id }) => {
    for (const [index, { of }] of companies.entries()) await confirm(ledger, id, index + 1, of);
    const folder = join(dataDir, 'out');
    await exportTo(folder, ledger, id, options);
    const entities = readTable(folder, 'entities');
    await check({ entities, relations: readTable(folder, 'relations'), orphans: orphansIn(folder) }, folder);
  });
}

async function confirm(ledger: Ledger, id: string, row: number, { v1, name, number, country = 'GB' }: Company) {
  const facts = { name, registrationNumber: number, countryCode: country, decision: 'confirmed' };
  await settleAgain(ledger, id, row, { candidates: [{ space: 'v1', seen: [candidate(v1, facts)] }] });
}

const keysOf = ({ entities }: Graph, kind: string) =>
  entities.filter((entity) => entity.kind === kind).map(({ entity_key }) => entity_key);
const named = ({ entities }: Graph, name: string) => entities.filter((entity) => entity.name === name);
const edges = ({ relations }: Graph, kind: string) =>
  relations.filter((one) => one.kind === kind).map(({ from_key, to_key }) => `${from_key} > ${to_key}`);

const anna = { first_name: 'Anna', last_name: 'Smith', work_status: 'ACTIVE', job_title: 'Director' };
const born = { date_of_birth_year: 1970, date_of_birth_month: 5 };

describe('people', () => {
  test('a month of birth identifies a person, a name does not', async () => {
    await graphOf(
      [
        {
          of: EXAMPLE,
          bought: [
            full(EXAMPLE, {
              officers: [
                { id: 1, ...anna, ...born },
                { id: 2, ...anna },
              ],
            }),
          ],
        },
        {
          of: CHILD,
          bought: [
            full(CHILD, {
              officers: [
                { id: 3, ...anna, ...born, resigned_at: '2020-01-31' },
                { id: 4, ...anna },
                { id: 5, ...anna, date_of_birth_year: 1970 },
                { id: 6, ...anna, ...born, first_name: null },
              ],
            }),
          ],
        },
      ],
      (graph) => {
        expect(keysOf(graph, 'person')).toEqual([
          'GB-00045590.fullKyb.officers.2',
          'GB-01234567.fullKyb.officers.2',
          'GB-01234567.fullKyb.officers.3',
          'GB-01234567.fullKyb.officers.4',
          'person-anna-smith-1970-05',
        ]);
        expect(graph.relations[0]).toMatchObject({
          from_key: 'GB-00045590.fullKyb.officers.2',
          to_key: 'GB-00045590',
          kind: 'directorship',
          current: 'true',
          chain_ends: null,
          role: 'Director',
        });
        expect(edges(graph, 'directorship').filter((edge) => edge.startsWith('person-'))).toEqual([
          'person-anna-smith-1970-05 > GB-00045590',
          'person-anna-smith-1970-05 > GB-01234567',
        ]);
        const left = graph.relations.find(({ end_date }) => end_date !== null);
        expect(left).toMatchObject({ current: 'false', end_date: '2020-01-31', to_key: 'GB-01234567' });
        expect(graph.orphans).toEqual([]);
      },
    );
  });

  test('an officer without given name and birthday may be a company', async () => {
    const officers = [{ id: 1, last_name: 'Secretaries Ltd', job_title: 'Secretary' }];
    await graphOf([{ of: EXAMPLE, bought: [full(EXAMPLE, { officers })] }], (graph) => {
      expect(named(graph, 'Secretaries Ltd')).toMatchObject([{ kind: 'unknown' }]);
      expect(graph.relations).toMatchObject([{ kind: 'directorship', current: null }]);
    });
  });

  test('contacts stay out', async () => {
    const officers = [{ ...anna, ...born, contact: { email: 'anna@example.com', phone: '+44 20 7946 0000' } }];
    const shareholders = [{ name: 'Anna Smith anna@example.com' }];
    await graphOf([{ of: EXAMPLE, bought: [full(EXAMPLE, { officers, shareholders })] }], (graph) => {
      expect(JSON.stringify(graph)).not.toMatch(/anna@|7946/);
    });
  });
});

describe('shareholders', () => {
  test('a holder is a node of its own in each list, of unknown kind, with the percentage as sent', async () => {
    const shareholders = [
      { id: 1, name: 'John Holder', percentage: 60.1 },
      { id: 2, name: 'John Holder', percentage: null, status: 'ACTIVE' },
    ];
    await graphOf(
      [
        {
          of: EXAMPLE,
          bought: [
            {
              ...full(EXAMPLE, {}),
              body: full(EXAMPLE, { shareholders }).body.replace('60.1,', '60.10,').replace('60.1}', '60.10}'),
            },
            answer(
              'v2',
              'kybShareholders',
              { id: 'x10' },
              { data: [{ id: 1, name: 'John Holder' }], total_results: 1 },
            ),
          ],
        },
      ],
      (graph) => {
        expect(keysOf(graph, 'unknown')).toEqual([
          'GB-00045590.fullKyb.shareholders.1',
          'GB-00045590.fullKyb.shareholders.2',
          'GB-00045590.kybShareholders.shareholders.1',
        ]);
        expect(graph.relations).toMatchObject([
          { percentage: '60.10', current: null, chain_ends: 'true', operation: 'fullKyb' },
          { percentage: null, current: 'true', chain_ends: 'true', operation: 'fullKyb' },
          { percentage: null, current: null, chain_ends: 'true', operation: 'kybShareholders' },
        ]);
        expect(graph.relations[0]?.raw_sha256).toMatch(/^[0-9a-f]{64}$/);
        expect(graph.relations[0]?.fetched_at).toBe('2026-01-31T12:00:00.000Z');
      },
    );
  });

  test('an empty list and a list that did not come give no line', async () => {
    await graphOf(
      [
        { of: EXAMPLE, bought: [full(EXAMPLE, { shareholders: [], officers: [] })] },
        { of: CHILD, bought: [full(CHILD, {})] },
      ],
      (graph) => {
        expect(keysOf(graph, 'company')).toEqual(['GB-00045590', 'GB-01234567']);
        expect(graph.relations).toEqual([]);
      },
    );
  });
});

describe('companies', () => {
  const node = (more: object) => ({ id: null, name: null, country: null, registration_number: null, ...more });
  const tree = (...data: object[]) => answer('v1', 'groupFullKyb', { id: '10' }, { data });

  test('a company is one node under two ID schemes, and its match in the list is that node', async () => {
    const asked = node({
      id: 10,
      name: 'Example Ltd',
      selected: true,
      children: [node({ id: 11, name: 'Child Limited' })],
    });
    const parent = node({ id: 77, name: 'Parent Ltd', registration_number: 'GB-07654321', children: [asked] });
    const seen = node({ id: 'o1', name: 'PARENT LTD', registration_number: 'GB-07654321' });
    const structure = [{ ...seen, children: [node({ id: 'o2', name: 'Example Ltd', selected: true })] }];
    await graphOf(
      [
        {
          of: EXAMPLE,
          bought: [
            full(EXAMPLE, {}),
            tree(parent),
            answer('v2', 'ownership', { registration_number: '00045590' }, { group_structure: structure }),
          ],
        },
        { of: CHILD, bought: [full(CHILD, {})] },
      ],
      (graph) => {
        expect(keysOf(graph, 'company')).toEqual(['GB-00045590', 'GB-01234567', 'GB-07654321']);
        const byKey = new Map(graph.entities.map((entity) => [entity.entity_key, entity]));
        expect(byKey.get('GB-01234567')).toMatchObject({ name: 'Child Ltd', in_list: 'true', v1_company_id: '11' });
        expect(byKey.get('GB-07654321')).toMatchObject({
          v1_company_id: '77',
          tree_node_id: 'o1',
          country_code: 'GB',
          in_list: null,
        });
        expect(edges(graph, 'group_link')).toContain('GB-07654321 > GB-00045590');
        expect(edges(graph, 'group_link')).toContain('GB-00045590 > GB-01234567');
        const ends = (key: string) =>
          graph.relations.filter((one) => one.from_key === key).map((one) => one.chain_ends);
        expect(new Set(ends('GB-07654321'))).toEqual(new Set(['true']));
        expect(new Set(ends('GB-00045590'))).toEqual(new Set(['false']));
        expect(graph.orphans).toEqual([]);
      },
    );
  });

  test('two companies of the list stay two, even if a group merges them', async () => {
    const odd = node({ id: 11, name: 'Child Ltd', registration_number: 'GB-00045590' });
    await graphOf(
      [
        { of: EXAMPLE, bought: [full(EXAMPLE, {}), tree(odd)] },
        { of: CHILD, bought: [full(CHILD, {})] },
      ],
      (graph) => {
        expect(keysOf(graph, 'company')).toEqual(['GB-00045590', 'GB-01234567']);
        expect(graph.orphans).toEqual([]);
      },
    );
  });

  test('two records with one number keep their own holders', async () => {
    const other = { ...EXAMPLE, v1: '12', v2: 'x12' };
    const holders = (name: string) => ({ shareholders: [{ id: 1, name }] });
    await graphOf(
      [
        { of: EXAMPLE, bought: [full(EXAMPLE, holders('First'))] },
        { of: other, bought: [full(other, holders('Second'))] },
      ],
      (graph) => {
        expect(keysOf(graph, 'company')).toEqual(['GB-00045590']);
        expect([...named(graph, 'First'), ...named(graph, 'Second')]).toHaveLength(2);
        expect(new Set(graph.entities.map(({ entity_key }) => entity_key)).size).toBe(3);
        expect(graph.relations).toHaveLength(2);
      },
    );
  });

  test('a company without number and ID is known by its name within one answer alone', async () => {
    const holding = node({
      name: 'Holding',
      children: [node({ id: 10, selected: true }), node({ id: 88, name: 'Sister' })],
    });
    await graphOf(
      [
        { of: EXAMPLE, bought: [full(EXAMPLE, {}), tree(holding)] },
        {
          of: CHILD,
          bought: [
            full(CHILD, {}),
            { ...tree({ ...holding, children: [node({ id: 11, selected: true })] }), params: { id: '11' } },
          ],
        },
      ],
      (graph) => {
        expect(named(graph, 'Holding')).toHaveLength(2);
        expect(named(graph, 'Sister')).toMatchObject([{ entity_key: 'v1-88', kind: 'company' }]);
      },
    );
  });
});
