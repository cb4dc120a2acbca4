import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { type EndJson, jsonOf, withJob } from './here.js';

const run = (file: string) => ['run', file, '--pipeline', './p.yaml', '--yes', '--json'];
const CHECK = ['status', '--check', '--json'];

/** A name alone is never enough: a person is asked. */
const inQuestion = (row: object) => ({ ...row, registration_number: '', vat_number: '' });

const wordsOf = (command: string | undefined) => (command ?? '').split(' ').slice(1);

test('the command to answer the questions leads to all of the list, in whichever runs they are, and to no others', async () => {
  const clock = new JumpingClock();
  await withJob({ clock }, async ({ rows, writeCsv, kybatch, cwd }) => {
    const [one, two, three] = rows.map(inQuestion) as [object, object, object];
    const list = async (name: string, ...records: object[]) => {
      writeCsv(name, records);
      return jsonOf<EndJson>(await kybatch(run(name)));
    };
    const alone = await list('in.csv', one);
    expect(alone.next).toBe(`kybatch review export ${alone.run}`);
    await list('other.csv', three);
    clock.advance(60_000);
    const { next } = await list('in.csv', one, two);
    expect(next).toBe(`kybatch review export --portfolio ${join(cwd, 'in.csv')}`);
    expect(jsonOf<EndJson>(await kybatch([...CHECK, '--portfolio', 'in.csv'])).next).toBe(next);

    const listed = await kybatch(['review', 'list', '--portfolio', 'in.csv', '--json']);
    expect(jsonOf<{ questions: object[] }>(listed).questions).toHaveLength(2);
    expect(listed.stderr).toContain('kybatch review export --portfolio in.csv\n');
    expect((await kybatch(['review', 'list', alone.run, '--portfolio', 'in.csv'])).code).toBe(2);
    expect((await kybatch(['review', 'list', '--portfolio', 'nobody'])).code).toBe(2);

    const exported = await kybatch(wordsOf(next));
    expect(exported).toMatchObject({ code: 0, stderr: expect.stringContaining('2 questions in') });
    expect(exported.stderr).toMatch(/decision.*confirm.*none_of_these.*not_sure/s);
    const sheet = readFileSync(join(cwd, 'review.csv'), 'utf8');
    expect(new Set(sheet.match(/Q-[0-9a-f]+/g))).toHaveProperty('size', 2);

    // A sheet that is being filled in is not written over, whoever is asked what leads on.
    const apply = 'kybatch review apply review.csv';
    expect((await list('in.csv', one, two)).next).toBe(apply);
    expect(jsonOf<EndJson>(await kybatch([...CHECK, '--portfolio', 'in.csv'])).next).toBe(apply);
    const elsewhere = jsonOf<EndJson>(await kybatch([...CHECK, '--portfolio', 'other.csv']));
    expect(elsewhere.next).toMatch(/^kybatch review export \S+ --out review-\S+\.csv$/);
  });
});
