import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type GraphLink,
  type GraphNode,
  type Holding,
  type LinkEnd,
  type OwnershipFacts,
  type OwnershipGraph,
  ownershipGraph,
} from '../../src/domain/ownership-graph.js';

const subject = {
  name: 'Example Ltd',
  countryCode: 'GB',
  registrationNumber: '00045590',
  ids: [
    { scheme: 'v1', id: '10' },
    { scheme: 'v2', id: 'x10' },
  ],
};

const end = (name: string | null, more: Partial<LinkEnd> = {}): LinkEnd => ({
  name,
  countryCode: null,
  registrationNumber: null,
  ids: [],
  isSubject: false,
  ...more,
});
const asked = end('Example Ltd', { isSubject: true });
const v1 = (id: string) => ({ ids: [{ scheme: 'v1', id }] });

const link = (source: LinkEnd | null, target: LinkEnd, operation = 'groupFullKyb'): GraphLink => ({
  source,
  target,
  operation,
});
const holding = (name: string | null, percentage: string | null = null, operation = 'fullKyb'): Holding => ({
  name,
  percentage,
  status: null,
  operation,
});
const graphOf = (facts: Partial<OwnershipFacts>, ...limits: [Parameters<typeof ownershipGraph>[1]?]) =>
  ownershipGraph({ subject, holdings: [], links: [], ...facts }, ...limits);
const namesOf = ({ nodes }: OwnershipGraph) => nodes.map(({ name }) => name);
const named = ({ nodes }: OwnershipGraph, name: string): GraphNode | undefined =>
  nodes.find((node) => node.name === name);
const hiddenIn = ({ nodes }: OwnershipGraph) =>
  nodes.reduce((sum, { hiddenAbove, hiddenBelow }) => sum + hiddenAbove + hiddenBelow, 0);

describe('a company is one node', () => {
  test.each<[string, LinkEnd, LinkEnd]>([
    [
      'under two ID schemes with the same number',
      end('Parent Ltd', { ...v1('11'), countryCode: 'GB', registrationNumber: 'GB-01234567' }),
      end('PARENT LIMITED', { ids: [{ scheme: 'ownership', id: 'y11' }], registrationNumber: 'GB-01234567' }),
    ],
    [
      'with a local number in one answer and a qualified one in the other',
      end('Parent Ltd', { countryCode: 'GB', registrationNumber: '01234567' }),
      end('Parent Ltd', { registrationNumber: 'GB-01234567' }),
    ],
    [
      'with a court’s number and the same name',
      end('Muster GmbH', { countryCode: 'DE', registrationNumber: 'DE-HRB 1576' }),
      end('Muster GmbH', { registrationNumber: 'DE-HRB1576' }),
    ],
    ['under the same ID', end('Parent Ltd', v1('11')), end(null, v1('11'))],
  ])('%s', (_, one, other) => {
    const graph = graphOf({ links: [link(one, asked), link(other, asked, 'ownership')] });
    expect(graph.nodes).toHaveLength(2);
    expect(graph.edges).toMatchObject([{ kind: 'group_link', operations: ['groupFullKyb', 'ownership'] }]);
  });

  test('if a third mention joins two that share nothing', () => {
    const one = end('Parent Ltd', v1('11'));
    const other = end('Parent', { countryCode: 'GB', registrationNumber: '01234567' });
    const both = end('Parent Ltd', { ...v1('11'), registrationNumber: 'GB-01234567' });
    const graph = graphOf({ links: [link(one, asked), link(other, asked), link(both, asked)] });
    expect(graph.nodes).toHaveLength(2);
    expect(graph.nodes[1]).toMatchObject({ registrationNumber: '01234567', ids: [{ scheme: 'v1', id: '11' }] });
  });

  test('and the company itself is found by the mark, by its ID and by its number', () => {
    const itself = [asked, end('Other spelling', v1('10')), end('X', { registrationNumber: 'GB-00045590' })];
    const graph = graphOf({ links: itself.map((one, index) => link(one, end(`Child ${index}`, v1(`2${index}`)))) });
    expect(namesOf(graph)).toEqual(['Example Ltd', 'Child 0', 'Child 1', 'Child 2']);
    expect(graph.nodes[0]).toMatchObject({ kind: 'subject', hops: 0 });
  });
});

describe('companies stay apart', () => {
  test.each<[string, LinkEnd, LinkEnd]>([
    ['with the same ID in another scheme', end('A', v1('11')), end('A', { ids: [{ scheme: 'ownership', id: '11' }] })],
    [
      'with the same number in another country',
      end('A', { registrationNumber: 'GB-01234567' }),
      end('A', { registrationNumber: 'NL-01234567' }),
    ],
    [
      'with the number of two courts',
      end('Alpha GmbH', { registrationNumber: 'DE-HRB 1576' }),
      end('Beta GmbH', { registrationNumber: 'DE-HRB 1576' }),
    ],
    ['with the same name alone', end('A', v1('11')), end('A', v1('12'))],
    ['in two answers with the same name and no number', end('A'), end('A', { registrationNumber: 'GB-01234567' })],
  ])('%s', (_, one, other) => {
    expect(graphOf({ links: [link(one, asked), link(other, asked, 'ownership')] }).nodes).toHaveLength(3);
  });
});

describe('holders', () => {
  test('have their percentages as sent, and differing ones are both kept', () => {
    const holdings = [
      holding('Ann Lee', '60.0'),
      holding('Ann Lee', '55', 'ownership'),
      holding('Ann Lee', '55', 'v2'),
    ];
    const graph = graphOf({ holdings });
    expect(graph.edges).toMatchObject([
      { kind: 'shareholding', percentages: ['60.0', '55'], operations: ['fullKyb', 'ownership', 'v2'] },
    ]);
    expect(named(graph, 'Ann Lee')).toMatchObject({ kind: 'holder', chainEnds: true });
  });

  test('with one name twice in a list are two nodes, in all lists', () => {
    const holdings = ['fullKyb', 'ownership'].flatMap((list) => [
      holding('Ann Lee', '1', list),
      holding('Ann Lee', '2', list),
    ]);
    expect(graphOf({ holdings }).edges.map(({ percentages }) => percentages)).toEqual([['1'], ['2']]);
  });

  test('without a name or percentage are nodes of their own', () => {
    const graph = graphOf({ holdings: [holding(null), holding(null)] });
    expect(namesOf(graph)).toEqual(['Example Ltd', null, null]);
    expect(graph.edges.map(({ percentages }) => percentages)).toEqual([[], []]);
  });

  test('with the name of a company in the group are not taken for it', () => {
    const graph = graphOf({ holdings: [holding('Parent Ltd')], links: [link(end('Parent Ltd', v1('11')), asked)] });
    expect(graph.nodes.map(({ kind }) => kind)).toEqual(['subject', 'holder', 'company']);
  });
});

/** A chain above and below the company. */
const chain = (length: number): readonly GraphLink[] => {
  const nodes = Array.from({ length: 2 * length + 1 }, (_, at) =>
    at === length ? asked : end(`Level ${at}`, v1(`L${at}`)),
  );
  return nodes.slice(1).map((target, at) => link(nodes[at] as LinkEnd, target));
};

describe('limits', () => {
  test('a long chain ends after the hop limit, and the counts show how many follow', () => {
    const graph = graphOf({ links: chain(32) });
    expect(namesOf(graph)).toEqual(['Example Ltd', 'Level 31', 'Level 33', 'Level 30', 'Level 34']);
    expect(graph).toMatchObject({ linked: 65, notLinked: 0 });
    expect(named(graph, 'Level 30')).toMatchObject({ hops: 2, chainEnds: false, hiddenAbove: 30, hiddenBelow: 0 });
    expect(named(graph, 'Level 34')).toMatchObject({ hiddenAbove: 0, hiddenBelow: 30 });
  });

  test('of many subsidiaries the first are shown, and 292 more', () => {
    const links = Array.from({ length: 300 }, (_, at) => link(asked, end(`Child ${at}`, v1(`C${at}`))));
    const graph = graphOf({ links });
    expect(graph.nodes).toHaveLength(9);
    expect(graph.nodes[0]).toMatchObject({ hiddenAbove: 0, hiddenBelow: 292, chainEnds: true });
  });

  test('a chain of 1,000 levels and a circle end', () => {
    expect(graphOf({ links: chain(500) }).linked).toBe(1001);
    const [a, b] = [end('A', v1('a')), end('B', v1('b'))];
    const circle = graphOf({ links: [link(asked, a), link(a, b), link(b, asked)] });
    expect(circle).toMatchObject({ linked: 3 });
    expect(circle.nodes.some(({ chainEnds }) => chainEnds)).toBe(false);
  });

  test('a tree that does not name the company is counted, not drawn', () => {
    const graph = graphOf({ links: [link(end('A', v1('a')), end('B', v1('b'))), link(null, end('C', v1('c')))] });
    expect(graph).toMatchObject({ edges: [], linked: 1, notLinked: 3 });
  });

  test('every linked node is shown or counted once, for any links', () => {
    const party = fc.integer({ min: 0, max: 30 }).map((id) => (id === 0 ? asked : end(`N${id}`, v1(`n${id}`))));
    const links = fc.array(
      fc.tuple(party, party).map(([source, target]) => link(source, target)),
      { maxLength: 60 },
    );
    const limits = fc.record({
      hops: fc.integer({ min: 0, max: 4 }),
      neighbours: fc.integer({ min: 1, max: 5 }),
      nodes: fc.integer({ min: 1, max: 12 }),
    });
    fc.assert(
      fc.property(links, limits, (given, limit) => {
        const graph = graphOf({ links: given }, limit);
        expect(graph.nodes.length + hiddenIn(graph)).toBe(graph.linked);
        expect(graph.nodes.length).toBeLessThanOrEqual(limit.nodes);
        expect(Math.max(...graph.nodes.map(({ hops }) => hops))).toBeLessThanOrEqual(limit.hops);
        const keys = new Set(graph.nodes.map(({ key }) => key));
        expect(graph.edges.every(({ from, to }) => from !== to && keys.has(from) && keys.has(to))).toBe(true);
      }),
    );
  });
});
