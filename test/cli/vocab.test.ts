import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonOf, withJob } from './here.js';

interface Listed {
  readonly items: readonly { id: string; name: string; level: number; parents: string }[];
  readonly owned: number;
  readonly sent: number;
  readonly bound_reached: boolean;
}

test('vocabularies are listed with their stored items, and fetched once', () =>
  withJob({}, async ({ cwd, kybatch, sandbox }) => {
    type Owned = { vocabularies: { name: string; country: string | null; items: number; lists: number }[] };
    const before = jsonOf<Owned>(await kybatch(['vocab', '--json']));
    expect(before.vocabularies).toHaveLength(15);
    expect(before.vocabularies.every(({ items }) => items === 0)).toBe(true);

    const first = jsonOf<Listed>(await kybatch(['vocab', 'sic', '--country', 'gb', '--all', '--json']));
    expect(first).toMatchObject({ owned: 0, sent: 22, bound_reached: false });
    expect(first.items).toHaveLength(21 * 5);
    // Each item is followed by its children.
    expect(first.items.slice(0, 2).map(({ level }) => level)).toEqual([1, 2]);
    expect(first.items[1]?.parents.startsWith(`${first.items[0]?.parents}_`)).toBe(true);

    const again = jsonOf<Listed>(await kybatch(['vocab', 'sic', '--country', 'GB', '--search', 'RETAIL', '--json']));
    expect(again).toMatchObject({ owned: 22, sent: 0 });
    expect(again.items.every(({ name }) => /retail/i.test(name))).toBe(true);
    const fresh = jsonOf<Listed>(await kybatch(['vocab', 'sic', '--country', 'GB', '--rebuy', '--json']));
    expect(fresh).toMatchObject({ owned: 0, sent: 1 });
    expect([...sandbox.requests.values()].reduce((sum, times) => sum + times, 0)).toBe(23);

    const written = await kybatch(['vocab', '--out', 'tables', '--json']);
    const after = jsonOf<Owned>(written).vocabularies.find(({ name }) => name === 'sic');
    expect(after).toMatchObject({ country: 'GB', items: 105, lists: 22 });
    const [header = '', line = ''] = readFileSync(join(cwd, 'tables', 'vocabularies.csv'), 'utf8').split('\r\n');
    expect(header).toBe(
      'vocabulary,country,id,parents,name,has_children,active,level,parent,position,fetched_at,raw_sha256,extra',
    );
    expect(line).toMatch(/^sic,GB,50000,50000,"?Agriculture.*,true,true,1,,1,2/);
  }));

test('one level of a tree, from the top or below an item', () =>
  withJob({}, async ({ kybatch }) => {
    const top = jsonOf<Listed>(await kybatch(['vocab', 'country', '--json']));
    expect(top.items.map(({ name }) => name)).toContain('Europe');
    const { id = '' } = top.items.find(({ name }) => name === 'Europe') ?? {};
    const below = await kybatch(['vocab', 'country', '--parent', id]);
    expect(below.textOf('VOCABULARY')).toMatch(/^44 +Germany +1_44 +yes +yes$/m);
    expect(below.textOf('VOCABULARY_READ')).toMatch(/^51 \D+ 1 \D+ 1 /);
  }));

test('a wrong flag or value is refused, and no request is sent', () =>
  withJob({}, async ({ kybatch, sandbox }) => {
    const refused: readonly [readonly string[], string][] = [
      [['nce'], 'VOCABULARY_NOT_FOUND'],
      [['sic'], 'VOCABULARY_COUNTRY_MISSING'],
      [['states', '--country', 'GB'], 'VOCABULARY_COUNTRY_UNKNOWN'],
      [['nace', '--country', 'GB'], 'VOCABULARY_WITHOUT_COUNTRIES'],
      [['seniority', '--parent', '1'], 'VOCABULARY_WITHOUT_LEVELS'],
      [['--all'], 'VOCABULARY_MISSING'],
      [['nace', '--search', ' '], 'FLAG_EMPTY'],
    ];
    for (const [args, refusal] of refused)
      expect(await kybatch(['vocab', ...args])).toMatchObject({ code: 2, codes: [refusal] });
    expect(sandbox.requests.size).toBe(0);
  }));

test('a foreign folder is not overwritten', () =>
  withJob({}, async ({ cwd, kybatch }) => {
    writeFileSync(join(cwd, 'somebody.txt'), 'mine');
    const { code, codes } = await kybatch(['vocab', '--out', '.']);
    expect(code).toBe(2);
    expect(['OUT_NOT_FREE', 'OUT_HOLDS_DATA']).toContain(codes.at(-1));
  }));
