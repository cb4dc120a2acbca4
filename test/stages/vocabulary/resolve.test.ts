import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallOutcome } from '../../../src/calls/request.js';
import { findItem, nameKey, type VocabularyItem } from '../../../src/domain/vocabulary.js';
import { resolveVocabulary, walkVocabulary } from '../../../src/stages/vocabulary.js';
import { expectGolden } from '../../helpers/golden.js';

type Listed = { id: number | string | null; name?: string | null; parents?: string; has_children?: boolean };

/** A provider with these lists by parent, and its requests. */
function provider(lists: Readonly<Record<string, readonly Listed[]>>) {
  const asked: string[] = [];
  const ask = async (_: unknown, params: Readonly<Record<string, unknown>>): Promise<CallOutcome> => {
    const parent = String(params.parent ?? '');
    asked.push(parent);
    const body = Buffer.from(JSON.stringify(lists[parent] ?? []));
    return { kind: 'answer', body, owned: false, fetchedAt: 1, use: null };
  };
  return { ask, asked };
}

const STATUSES = {
  '': [
    { id: 106, name: 'Active' },
    { id: 108, name: 'Inactive' },
    { id: 1615, name: 'Intermediate' },
  ],
};
const leaf = (id: number, name: string) => ({ id, name, has_children: false });
const branch = (id: number, name: string) => ({ id, name, has_children: true });

describe('names become IDs', () => {
  test.each(['Active', 'active', '  AC TIVE ', 'Ａctive'])('%j is found', async (written) => {
    const { ask } = provider(STATUSES);
    const found = await resolveVocabulary({ name: 'company-status' }, [written], ask);
    expect(found).toMatchObject({ kind: 'resolved', items: [{ id: '106', name: 'Active' }] });
  });

  test('IDs stay as they are and need no call', async () => {
    const { ask, asked } = provider(STATUSES);
    const found = await resolveVocabulary({ name: 'nace' }, [106, '007', '1_44', '01.1', { id: 'EUR' }], ask);
    const ids = found.kind === 'resolved' ? found.items.map(({ id }) => id) : [];
    expect(ids).toEqual(['106', '007', '1_44', '01.1', 'EUR']);
    expect(asked).toEqual([]);
  });

  test('an unknown name is refused with the nearest names', async () => {
    const { ask } = provider(STATUSES);
    const found = await resolveVocabulary({ name: 'company-status' }, ['Aktive', 108], ask);
    const message = expect.stringMatching(/ "Aktive" .* company-status\. .*: "Active", "Inactive", "Intermediate"$/);
    expect(found).toEqual({ kind: 'refused', problems: [{ written: 'Aktive', message }] });
    if (found.kind === 'refused')
      await expectGolden(
        'unknown-name',
        found.problems.map(({ written, message }) => [written, message]),
      );
  });

  test('an ambiguous name is refused with the candidates and their IDs', async () => {
    const { ask } = provider({
      '': [branch(1, 'A'), branch(2, 'B')],
      1: [{ ...leaf(11, 'Trade'), parents: '1_11' }],
      2: [{ ...leaf(21, 'Trade'), parents: '2_21', active: false } as Listed],
    });
    const found = await resolveVocabulary({ name: 'nace' }, ['trade'], ask);
    expect(found).toMatchObject({
      problems: [
        {
          message: expect.stringMatching(/^"trade" .* nace: 11 \(Trade, in 1\), 21 \(Trade, in 2, .*\)/),
        },
      ],
    });
  });

  test('a tree is read only as deep as needed, and the first level decides', async () => {
    const { ask, asked } = provider({ '': [branch(1, 'Trade'), branch(2, 'B')], 1: [leaf(11, 'Trade')], 2: [] });
    expect(await resolveVocabulary({ name: 'nace' }, ['Trade'], ask)).toMatchObject({ items: [{ id: '1' }] });
    expect(asked).toEqual(['']);
  });

  test.each([
    ['DE', 'resolved'],
    ['Deutschland', 'resolved'],
    ['USA', 'resolved'],
    ['England', 'refused'],
  ])('a country has many names: %s is %s', async (written, kind) => {
    const countries = [leaf(44, 'Germany'), leaf(40, 'United Kingdom'), leaf(60, 'United States of America')];
    const { ask } = provider({ '': [branch(1, 'Earth')], 1: countries });
    expect(await resolveVocabulary({ name: 'country' }, [written], ask)).toMatchObject({ kind });
  });

  test('an outcome without an answer is returned as it is', async () => {
    const parked = { kind: 'parked', reason: 'allowance', until: null, message: 'spent' } as const;
    expect(await resolveVocabulary({ name: 'seniority' }, ['Director'], async () => parked)).toBe(parked);
  });
});

describe('a walk', () => {
  test('ends in a tree with a cycle, and at promised children that do not come', async () => {
    const { ask, asked } = provider({ '': [branch(1, 'A'), branch(3, 'C')], 1: [branch(2, 'B')], 2: [branch(1, 'A')] });
    const walked = await walkVocabulary({ name: 'isic' }, ask, { listsAtMost: 100 });
    expect(walked).toMatchObject({ kind: 'walked', lists: 4, complete: true });
    expect(asked).toEqual(['', '1', '3', '2']);
  });

  test('reads no more lists than allowed, and reports that there are more', async () => {
    const lists = { '': [1, 2, 3].map((id) => branch(id, `${id}`)), 1: [branch(11, 'x')], 2: [leaf(12, 'y')] };
    const { ask, asked } = provider(lists);
    const walked = await walkVocabulary({ name: 'isic' }, ask, { listsAtMost: 3 });
    expect(walked).toMatchObject({ lists: 3, complete: false });
    expect(asked).toEqual(['', '1', '2']);
  });

  test('asks a flat vocabulary once, regardless of its children, and descends if it has no such statement', async () => {
    const odd = provider({ '': [branch(1, 'A'), { id: null, name: 'nobody' }] });
    const flat = await walkVocabulary({ name: 'department' }, odd.ask, { listsAtMost: 9 });
    expect(flat).toMatchObject({ lists: 1, items: [{ id: '1', level: 1 }] });
    const silent = provider({ '': [{ id: 'x', name: null }], x: [leaf(2, 'B')] });
    const tree = await walkVocabulary({ name: 'technology' }, silent.ask, { listsAtMost: 9 });
    expect(tree).toMatchObject({
      items: [
        { id: 'x', name: null, hasChildren: null },
        { id: '2', level: 2 },
      ],
    });
  });
});

const item = (id: string, name: string): VocabularyItem => ({
  id,
  name,
  parents: id,
  hasChildren: false,
  active: true,
});

test('property: a name finds its item in any spacing and case, or is reported as ambiguous', () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1, unit: 'grapheme' }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(names, fc.nat(), fc.boolean(), (all, pick, loud) => {
      const items = all.map((name, index) => item(`id${index}`, name));
      const chosen = items[pick % items.length] as VocabularyItem;
      const name = chosen.name ?? '';
      expect(findItem(name, items)).toEqual({ kind: 'found', item: chosen });
      const written = `  ${loud ? name.toUpperCase() : name}\t`;
      fc.pre(nameKey(written) === nameKey(name) && nameKey(name) !== '');
      const alike = items.filter((other) => nameKey(other.name ?? '') === nameKey(name));
      const found = findItem(written, items);
      // Another item may have exactly this name.
      if (items.some((other) => other.name === written || other.id === written)) return;
      if (alike.length === 1) expect(found).toEqual({ kind: 'found', item: chosen });
      else expect(found).toEqual({ kind: 'ambiguous', candidates: alike });
    }),
  );
});

test('property: a refused name is never found in another way, and suggestions are existing names', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 8 }), { maxLength: 20 }),
      fc.string({ maxLength: 8 }),
      (all, written) => {
        const items = all.map((name, index) => item(`id${index}`, name));
        const found = findItem(written, items);
        if (found.kind !== 'unknown') return;
        expect(all.includes(written)).toBe(false);
        expect(found.nearest.every((name) => all.includes(name))).toBe(true);
      },
    ),
  );
});
