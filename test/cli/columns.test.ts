import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { cli, withFolder } from '../helpers/cli.js';
import { long } from '../helpers/long.js';
import { type EndJson, type Job, jsonOf, type Said, withJob } from './here.js';

const HOW = ['--pipeline', './p.yaml'];
const RUN = ['run', 'in.csv', ...HOW, '--yes'];
const PEOPLE = ['Anna Schmidt', 'Bernd Kunz', 'Carla Diaz', 'Dora Heine'];

/** Rows whose name could be in either of two columns. Without legal forms, a company looks like a person. */
const unclear = ({ rows }: Job) =>
  rows.slice(0, 4).map(({ registration_number, country }, index) => ({
    Name: PEOPLE[index],
    Company: ['Acme', 'Beta', 'Gamma', 'Delta'][index],
    registration_number,
    country,
  }));

/** The words of a command. None of them has a quotation mark. */
const asWords = (command = ''): readonly string[] =>
  command.split(/ (?=(?:[^']*'[^']*')*[^']*$)/).map((word) => word.replaceAll("'", ''));

/** The commands that a refusal suggests: one, or several to choose from. */
const suggested = ({ textOf }: Said): readonly (readonly string[])[] =>
  [...textOf('COLUMNS_UNCLEAR').matchAll(/(?:^ +|: )kybatch (.*)$/gm)].map(([, command]) => asWords(command));

describe('two possible columns', () => {
  test('without a terminal: refused before anything is spent, with a command for each choice', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', unclear(job));
      const refused = await job.kybatch(RUN);
      expect(refused.code).toBe(2);
      expect(refused.textOf('COLUMNS_UNCLEAR')).toMatch(
        / name: "Name" \(Anna Schmidt, Bernd Kunz, Carla Diaz\), "Company" \(Acme, Beta, Gamma\)$/m,
      );
      expect(refused.textOf('COLUMNS_UNCLEAR')).toMatch(/--map name=Name, .*--map name=Company, .*--map name= /);
      expect(job.sandbox.requestLog).toEqual([]);
      const readAs = (map: string) => ['run', 'in.csv', ...HOW, '--map', map, '--yes'];
      expect(suggested(refused)).toEqual([readAs('name=Name'), readAs('name=Company')]);
      expect((await job.kybatch(suggested(refused)[1] ?? [])).code).not.toBe(2);
      const planned = await job.kybatch(['plan', 'other.csv']);
      expect(planned.code).toBe(2);
    });
  });

  test('on a terminal: asked once, with samples, and the answer holds for the next run', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', unclear(job));
      const asked: string[] = [];
      const answers = (question: string) => {
        asked.push(question);
        return '2';
      };
      const first = await job.kybatch(RUN, { answers });
      expect(asked).toEqual([expect.stringMatching(/\bname\b.* \[1\/2\/0\] $/)]);
      expect(first.textOf('WHICH_COLUMN')).toContain(
        '\n  1  Name     Anna Schmidt, Bernd Kunz, Carla Diaz\n  2  Company  Acme, Beta, Gamma\n  0  ',
      );
      job.writeCsv('in.csv', [...unclear(job).slice(1), unclear(job)[0] ?? {}]);
      const next = await job.kybatch(RUN);
      expect(next.code).not.toBe(2);
      expect(next.codes).toContain('AGREED_COLUMNS');
      const { columns } = jsonOf<{ columns: readonly object[] }>(
        await job.kybatch(['plan', 'in.csv', ...HOW, '--json']),
      );
      expect(columns[0]).toEqual({
        field: 'name',
        header: 'Company',
        column: 2,
        decided_by: 'agreed',
        samples: ['Beta', 'Gamma', 'Delta'],
      });
    });
  });

  test('without an answer nothing is run', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', unclear(job));
      expect(await job.kybatch(RUN, { answers: () => '' })).toMatchObject({ code: 130 });
      expect(job.sandbox.requestLog).toEqual([]);
    });
  });
});

describe('a list that comes again', { tags: 'long' }, () => {
  test('a number that would come from another column is refused, and an additional column is ignored', async () => {
    await withJob({ clock: new ManualClock('2026-03-01T10:00:00Z') }, async (job) => {
      const rows = job.rows.slice(0, 4);
      job.writeCsv('in.csv', rows);
      expect((await job.kybatch(RUN)).code).toBe(0);
      job.writeCsv(
        'in.csv',
        rows.map((row) => ({ 'Legal name': 'Somebody Ltd', ...row, 'Registry no': 'SC000001' })),
      );
      const wider = await job.kybatch([...RUN, '--json']);
      expect(wider.code).toBe(0);
      expect(jsonOf<EndJson>(wider).units_charged).toBe(0);
      const called = (header: string, more = {}) =>
        rows.map(({ registration_number, ...row }) => ({ ...row, [header]: registration_number, ...more }));
      job.writeCsv('in.csv', called('Nothing we know', { 'Registry no': 'SC000001' }));
      const refused = await job.kybatch(RUN);
      expect(refused.code).toBe(2);
      expect(refused.textOf('COLUMNS_UNCLEAR')).toMatch(
        / "registration_number", .* registration_number .*: "Registry no"/,
      );
      expect(suggested(refused).map((words) => words.find((word) => word.includes('=')))).toEqual([
        'registration_number=Registry no',
        'registration_number=Nothing we know',
      ]);
      job.writeCsv('in.csv', called('Nothing we know'));
      const [only, ...others] = suggested(await job.kybatch(RUN));
      expect([only, others]).toEqual([expect.arrayContaining(['registration_number=Nothing we know']), []]);
      // A new column with this name is the old one, renamed.
      job.writeCsv('in.csv', called('Company number'));
      const renamed = await job.kybatch([...RUN, '--json']);
      expect(renamed.textOf('AGREED_COLUMN_REPLACED')).toMatch(/"registration_number".*: "Company number" /);
      expect(jsonOf<EndJson>(renamed).units_charged).toBe(0);
    });
  });

  test('--map changes the agreed column, and the row is searched again', async () => {
    await withJob({}, async (job) => {
      const [row, another] = job.rows.filter(({ country }) => country === 'GB');
      job.writeCsv('in.csv', [{ ...row, other: another?.registration_number }]);
      expect((await job.kybatch(RUN)).code).toBe(0);
      const plan = await job.kybatch(['plan', 'in.csv', ...HOW, '--map', 'registration_number=other', '--json']);
      expect(jsonOf<object>(plan)).toMatchObject({ to_search: 1 });
    });
  });
});

describe('flags and notes about the columns', () => {
  long('--country fills in rows without a country, and holds for the next run', async () => {
    await withJob({}, async (job) => {
      const british = job.rows.filter(({ country }) => country === 'GB').slice(0, 2);
      job.writeCsv(
        'in.csv',
        british.map(({ country: _, ...row }) => row),
      );
      const first = await job.kybatch([...RUN, '--country', 'United Kingdom']);
      expect(first.code).toBe(0);
      const again = await job.kybatch(RUN);
      expect(again).toMatchObject({ code: 0, codes: expect.arrayContaining(['NOTHING_DUE']) });
      expect(again.textOf('AGREED_COUNTRY')).toMatch(/\bGB\b.* \d{4}-\d\d-\d\d/);
      expect(await job.kybatch([...RUN, '--country', 'Atlantis'])).toMatchObject({
        code: 2,
        codes: ['COUNTRY_INVALID'],
      });
    });
  });

  long('plan shows each column with its field and reason, within the terminal', async () => {
    await withJob({}, async (job) => {
      const long = 'A name that is so long that it would not fit into any table of a terminal GmbH';
      job.writeCsv(
        'in.csv',
        job.rows.slice(0, 3).map((row) => ({ ...row, name: `${row.name} ${long}`, Team: 'A', Notes: long })),
      );
      const table = (await job.kybatch(['plan', 'in.csv', ...HOW, '--map', 'name=#2'])).textOf('COLUMNS');
      expect(table).toMatch(/^Columns +name +← name \(--map\) +\S.{30,}…$/m);
      expect(table).toMatch(/^ +country +← country +\S/m);
      expect(table).toMatch(/^ +.*: .*Team, Notes$/m);
      for (const line of table.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    });
  });

  test.each([
    [['--map', 'nme=Company'], 'FIELD_NOT_FOUND', 'name?'],
    [['--map', 'name=Nmae'], 'COLUMN_NOT_FOUND', 'name?'],
    [['--map', 'name'], 'MAP_INVALID', '--map name'],
    [['--map', 'name=#99'], 'COLUMN_NOT_FOUND', '"#99"'],
    [['--map', 'country=B'], 'COLUMN_NOT_FOUND', '"name"'],
    [['--map', 'name=name', '--map', 'name=id'], 'FIELD_REPEATED', 'name=id'],
    [['--map', 'website=id'], 'FIELD_NOT_USED', 'search.fallback'],
  ])('%j is refused as %s', async (flags, refusal, named) => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      expect(await job.kybatch([...RUN, ...flags])).toMatchObject({
        code: 2,
        codes: [refusal],
        stderr: expect.stringContaining(named),
      });
    });
  });
});

long('a text and a transposed list are refused with 2, and nothing is created', async () => {
  await withFolder(async (folder) => {
    writeFileSync(
      join(folder, 'README.md'),
      '# Company\n\nWe sell tools, as many others do, to people here.\n\n- fast\n',
    );
    writeFileSync(join(folder, 'turned.csv'), 'Name,Acme Ltd,Beta Ltd\nCountry,GB,GB\nNumber,00445790,00445791\n');
    for (const name of ['README.md', 'turned.csv']) {
      const { code } = await cli(['run', name, '--data-dir', 'data', '--yes'], { cwd: folder });
      expect(code).toBe(2);
    }
    expect(readdirSync(folder).sort()).toEqual(['README.md', 'turned.csv']);
  });
});
