import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import { aRecord, type EndJson, jsonOf } from '../cli/here.js';
import { inLedger } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { sheetColumns } from '../helpers/review-sheet.js';
import { DAY, type Line, NIGHTLY, type Nights, RUN, withNights } from './nights.js';

describe('one file in repeated runs', () => {
  long('buys only stale answers again: a record is one unit, not a search and a record', () =>
    withNights(4, async ({ night, clock, table, fetched }) => {
      expect(await night()).toMatchObject({ units: 8, code: 0, end: { due: 4 } });
      clock.advance(DAY);
      expect(await night()).toMatchObject({ units: 0, code: 0, end: { outcomes: { complete: 4 }, units_charged: 0 } });
      clock.advance(7 * DAY);
      expect(await night()).toMatchObject({ units: 4, code: 0, end: { due: 4, rows: 4, outcomes: { complete: 4 } } });
      expect(fetched()).toEqual(Array(4).fill('2026-01-13'));
      expect(table('rows').map(({ units_charged }) => units_charged)).toEqual(Array(4).fill('1'));
      expect(table('candidates').map(({ decision }) => decision)).toContain('confirmed');
      for (const days of [31, 91, 400]) {
        clock.advance(days * DAY);
        expect(await night()).toMatchObject({ units: 4, code: 0 });
      }
    }),
  );

  long('shows when something is due next', () =>
    withNights(2, async ({ night, clock, kybatch }) => {
      await night();
      clock.advance(DAY);
      const { codes, code } = await kybatch(RUN.filter((word) => word !== '--json'));
      expect(codes).toContain('NOTHING_DUE');
      expect(jsonOf(await kybatch(RUN))).toMatchObject({ next_due_at: '2026-01-12T01:00:00.000Z', due: 0, to_do: 0 });
      expect(code).toBe(0);
    }),
  );

  long('tables of an older run note that they show the present list', () =>
    withNights(2, async ({ night, clock, kybatch }) => {
      const { end } = await night();
      expect((await kybatch(['export', end.run])).codes).not.toContain('OLDER_RUN');
      clock.advance(400 * DAY);
      const { end: later } = await night();
      const { codes, stderr } = await kybatch(['export', end.run]);
      expect(codes).toContain('OLDER_RUN');
      expect(stderr).toContain(later.run);
    }),
  );

  long('with a low limit: complete tables, the oldest rows first, each in its turn', () =>
    withNights(10, async ({ night, clock, table, fetched }) => {
      await night();
      const seen: number[] = [];
      for (let count = 1; count <= 5; count++) {
        clock.advance(count === 1 ? 8 * DAY : DAY);
        const { units, code, end } = await night('--max-units', '2');
        expect(units).toBe(2);
        expect(table('companies')).toHaveLength(10);
        expect(table('rows').every(({ outcome }) => outcome === 'complete')).toBe(true);
        seen.push(fetched().filter((date) => date > '2026-01-05').length);
        expect(code).toBe(count < 5 ? 4 : 0);
        expect(end.to_do).toBe(10 - 2 * count);
      }
      expect(seen).toEqual([2, 4, 6, 8, 10]);
      clock.advance(DAY);
      expect((await night()).units).toBe(0);
      clock.advance(3 * DAY);
      // The records of the first of these runs are the oldest.
      expect(await night()).toMatchObject({ units: 2, end: { due: 2 } });
    }),
  );

  long('a first fill over many runs continues as one run', () =>
    withNights(6, async ({ night, clock }) => {
      const first = await night('--max-units', '4');
      expect(first).toMatchObject({ units: 4, code: 4, end: { outcomes: { complete: 2, pending: 4 } } });
      clock.advance(DAY);
      const second = await night('--max-units', '4');
      expect(second).toMatchObject({ units: 4, code: 4, end: { run: first.end.run, outcomes: { complete: 4 } } });
      clock.advance(DAY);
      expect(await night()).toMatchObject({
        units: 4,
        code: 0,
        end: { run: first.end.run, outcomes: { complete: 6 } },
      });
    }),
  );

  long('a new stage of the pipeline is bought for all rows, and nothing else is', () =>
    withNights(3, async ({ night, cwd, sandbox, table }) => {
      await night();
      const file = join(cwd, 'p.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace('stages: [record]', 'stages: [record, financials]'));
      const before = sandbox.requests.get('financial') ?? 0;
      expect(await night()).toMatchObject({ code: 0, end: { due: 3, this_start: { units_charged: 0 } } });
      expect((sandbox.requests.get('financial') ?? 0) - before).toBe(3);
      expect(table('rows').map(({ record_status }) => record_status)).toEqual(Array(3).fill('done'));
    }),
  );

  long('no_match holds while a search is fresh, and a failure while an answer would be', () =>
    withNights(2, async ({ night, clock, writeCsv, rows, sandbox }) => {
      writeCsv('in.csv', [
        rows[0],
        { ...rows[1], name: 'Nobody At All', country: 'GB', registration_number: '99999998', vat_number: '' },
      ] as object[]);
      sandbox.script(aRecord, [400]);
      const first = await night('--concurrency', '1');
      expect(first.end.outcomes).toMatchObject({ failed: 1, no_match: 1 });
      clock.advance(DAY);
      expect(await night()).toMatchObject({ units: 0, code: 3 });
      clock.advance(7 * DAY);
      expect(await night()).toMatchObject({
        units: 1,
        code: 0,
        end: { due: 1, outcomes: { complete: 1, no_match: 1 } },
      });
      clock.advance(366 * DAY);
      expect((await night()).end).toMatchObject({ due: 2, outcomes: { complete: 1, no_match: 1 } });
    }),
  );
});

long('--rebuy over unfinished rows keeps one row for each company, and stays fresh when the file changes', () =>
  withNights(3, async ({ night, clock, rows, writeCsv, kybatch }) => {
    await night('--max-units', '4');
    clock.advance(1000);
    const fresh = await night('--rebuy', '--max-units', '1');
    expect(fresh).toMatchObject({ units: 1, end: { due: 3 } });
    writeCsv('in.csv', [...rows.slice(0, 3).toReversed(), rows[4]] as object[]);
    clock.advance(1000);
    // Three rows again from the search on, one of them bought, and a new one.
    const taken = await night();
    expect(taken).toMatchObject({ units: 2 * 3 - 1 + 2, code: 0, end: { rows: 4, outcomes: { complete: 4 } } });
    expect(taken.stderr).toMatch(new RegExp(`${fresh.end.run} .* --rebuy`));
    const { runs } = jsonOf<{ runs: { state: string }[] }>(await kybatch(['runs', '--json']));
    expect(runs.map(({ state }) => state)).toEqual(['finished', 'superseded', 'superseded']);
  }),
);

describe('a changing file', () => {
  long('new, changed and departed rows are noticed, and the unfinished run of the older file is superseded', () =>
    withNights(4, async ({ night, clock, rows, writeCsv, table, kybatch }) => {
      const first = await night('--max-units', '4');
      clock.advance(DAY);
      const [a, b, , d] = rows;
      const changed = { ...rows[7], id: b?.id };
      writeCsv('in.csv', [a, changed, d, rows[8]] as object[]);
      const second = await night();
      expect(second).toMatchObject({ units: 6, code: 0, end: { rows: 4, outcomes: { complete: 4 } } });
      expect(second.end.run).not.toBe(first.end.run);
      expect(table('rows').map(({ input_id }) => input_id)).toEqual([a?.id, b?.id, d?.id, rows[8]?.id]);
      expect(new Set(table('companies').map(({ name }) => name)).has(rows[2]?.name ?? '')).toBe(false);
      const { runs } = jsonOf<{ runs: { run: string; state: string }[] }>(await kybatch(['runs', '--json']));
      expect(runs.map(({ run, state }) => [run, state])).toEqual([
        [second.end.run, 'finished'],
        [first.end.run, 'superseded'],
      ]);
      const refused = await kybatch(['resume', first.end.run, '--yes']);
      expect(refused).toMatchObject({
        code: 2,
        codes: ['RUN_SUPERSEDED'],
        stderr: expect.stringContaining(second.end.run),
      });
    }),
  );

  long('one changed cell per run and few units: every row has its turn and none is left behind', () =>
    withNights(6, async ({ night, clock, rows, writeCsv, fetched, kybatch }) => {
      await night();
      clock.advance(8 * DAY);
      for (let count = 0; count < 3; count++) {
        writeCsv(
          'in.csv',
          rows.slice(0, 6).map((row, index) => ({ ...row, note: index === count ? 'seen' : '' })),
        );
        expect((await night('--max-units', '2')).units).toBe(2);
        clock.advance(DAY);
      }
      expect(fetched().every((date) => date > '2026-01-05')).toBe(true);
      const { runs } = jsonOf<{ runs: { state: string }[] }>(await kybatch(['runs', '--json']));
      expect(runs.filter(({ state }) => state === 'open')).toEqual([]);
    }),
  );

  long('sorted or encoded differently, with renamed and other columns, it stays one portfolio and buys nothing', () =>
    withNights(5, async ({ night, clock, rows, cwd, table }) => {
      await night();
      clock.advance(DAY);
      const other = rows
        .slice(0, 5)
        .toReversed()
        .map(({ id, name, country, registration_number, vat_number }) => ({
          Country: country,
          'Reg. No.': registration_number,
          'Company Name': name,
          segment: 'B',
          ID: id,
          VAT: vat_number,
        }));
      writeFileSync(
        join(cwd, 'in.csv'),
        Buffer.from(`\ufeff${stringify(other, { header: true, delimiter: ';' })}`, 'utf16le'),
      );
      expect(await night()).toMatchObject({ units: 0, code: 0, end: { rows: 5 } });
      expect(table('rows').map(({ row, input_ID, input_segment }) => [row, input_ID, input_segment])).toEqual(
        other.map(({ ID }, index) => [String(index + 1), ID, 'B']),
      );
    }),
  );

  long('without IDs a row is recognized by its company in any spelling, and an ID column may be added later', () =>
    withNights(3, async ({ night, clock, rows, writeCsv, table }) => {
      const without = rows.slice(0, 3).map(({ id: _, ...row }) => row);
      writeCsv('in.csv', without);
      expect((await night()).units).toBe(6);
      clock.advance(DAY);
      writeCsv('in.csv', [
        { ...without[2], registration_number: ` ${without[2]?.registration_number} ` },
        without[0],
        without[1],
      ] as object[]);
      expect((await night()).units).toBe(0);
      writeCsv('in.csv', rows.slice(0, 3));
      expect(await night()).toMatchObject({ units: 0, end: { rows: 3 } });
      expect(table('companies')).toHaveLength(3);
    }),
  );

  long('without IDs a row whose number was corrected is a changed row, and a namesake is another company', () =>
    withNights(3, async ({ night, clock, rows, writeCsv, table }) => {
      const without = rows.slice(0, 3).map(({ id: _, ...row }) => row);
      writeCsv('in.csv', without.slice(0, 2));
      await night();
      clock.advance(DAY);
      writeCsv('in.csv', [{ ...without[0], registration_number: '99999999' }, without[1]] as object[]);
      const changed = await night();
      expect(changed.codes).not.toContain('MEMBERS_LEFT');
      expect(changed.end).toMatchObject({ members_left: 0, due: 1 });
      expect(table('members')).toHaveLength(2);
      clock.advance(DAY);
      writeCsv('in.csv', [{ ...without[0], registration_number: '99999999' }, without[2]] as object[]);
      expect((await night()).end).toMatchObject({ members_left: 1, due: 1 });
    }),
  );

  long('questions and tables agree on row and line after a line above was removed', () =>
    withNights(3, async ({ night, clock, rows, writeCsv, table, kybatch }) => {
      const odd = { ...rows[2], name: 'Somebody Else Altogether' };
      writeCsv('in.csv', [rows[0], rows[1], odd] as object[]);
      await night();
      clock.advance(DAY);
      writeCsv('in.csv', [rows[1], odd] as object[]);
      await night();
      const [shown] = table('rows').filter(({ outcome }) => outcome === 'needs_review');
      const { questions } = jsonOf<{ questions: { rows: object[] }[] }>(await kybatch(['review', 'list', '--json']));
      expect(questions.map((question) => question.rows)).toEqual([[expect.objectContaining({ row: 2, line: 3 })]]);
      expect(shown).toMatchObject({ row: '2', line: '3' });
    }),
  );

  long('after answers to questions of an older run, a run of the list writes the newest tables', () =>
    withNights(3, async ({ night, clock, rows, writeCsv, kybatch, cwd }) => {
      const odd = { ...rows[2], name: 'Somebody Else Altogether' };
      writeCsv('in.csv', [rows[0], odd] as object[]);
      await night();
      clock.advance(DAY);
      writeCsv('in.csv', [rows[0], rows[1], odd] as object[]);
      const second = await night();
      await kybatch(['review', 'export', '--force']);
      const sheet = parse(readFileSync(join(cwd, 'review.csv')), { columns: sheetColumns, bom: true }) as Line[];
      const decided = sheet.map((line, at) => ({ ...line, decision: at === 0 ? 'confirm' : '', note: 'checked' }));
      writeFileSync(join(cwd, 'review.csv'), stringify(decided, { header: true }));
      const { next } = jsonOf<{ next: string[] }>(await kybatch(['review', 'apply', 'review.csv', '--json']));
      expect(next).toEqual([expect.stringMatching(/^kybatch run .*in\.csv --pipeline .*p\.yaml .*--yes$/)]);
      clock.advance(DAY);
      const third = await night();
      expect(third.end).toMatchObject({ outcomes: { complete: 3 }, finished: true });
      expect(third.end.run > second.end.run).toBe(true);
    }),
  );

  long('two rows of one company stay two rows and are bought once', () =>
    withNights(1, async ({ night, clock, rows, writeCsv, table }) => {
      writeCsv('in.csv', [rows[0], rows[0], rows[1]] as object[]);
      expect(await night()).toMatchObject({ units: 4, end: { rows: 3, outcomes: { complete: 3 } } });
      clock.advance(8 * DAY);
      expect(await night()).toMatchObject({ units: 2, end: { due: 3 } });
      expect(table('rows')).toHaveLength(3);
    }),
  );

  long('--limit works on the first rows and removes nothing from the others', () =>
    withNights(4, async ({ night, clock, table }) => {
      expect(await night('--limit', '2')).toMatchObject({ units: 4, end: { rows: 2 } });
      expect(await night()).toMatchObject({ units: 4, end: { rows: 4 } });
      clock.advance(8 * DAY);
      expect(await night('--limit', '1')).toMatchObject({ units: 1, end: { rows: 4, due: 1 } });
      expect(table('companies')).toHaveLength(4);
    }),
  );

  long(
    '--portfolio names the list: another file under the name updates it, and its file under another name is a new list',
    () =>
      withNights(2, async ({ night, kybatch, rows, writeCsv, sandbox }) => {
        await night('--portfolio', 'clients');
        writeCsv('other.csv', rows.slice(0, 2));
        const before = sandbox.chargeLog.length;
        const args = ['run', 'other.csv', '--pipeline', './p.yaml', '--yes', '--json', '--portfolio', 'clients'];
        expect(jsonOf(await kybatch(args))).toMatchObject({
          portfolio: 'clients',
          to_do: 0,
          this_start: { units_charged: 0 },
        });
        expect(jsonOf(await kybatch(args.slice(0, -2)))).toMatchObject({ due: 2, units_charged: 0 });
        expect(sandbox.chargeLog).toHaveLength(before);
      }),
  );
});

describe('the table members', { tags: 'long' }, () => {
  test('shows companies in the list, their dates, due data, and departed companies', () =>
    withNights(3, async ({ night, clock, rows, writeCsv, table, kybatch }) => {
      await night();
      clock.advance(3 * DAY);
      writeCsv('in.csv', [rows[1], rows[0], rows[5]] as object[]);
      await night();
      clock.advance(5 * DAY);
      await night('--max-units', '1');
      const seen = table('members').map(
        ({ input_id, row, first_seen = '', last_seen = '', left_at = '', due, due_reason, oldest_fetched_at = '' }) => [
          input_id,
          row,
          ...[first_seen, last_seen, left_at, oldest_fetched_at].map((time) => time.slice(0, 10)),
          due,
          due_reason,
        ],
      );
      const [a, b, c, , , d] = rows.map(({ id }) => id);
      expect(seen).toEqual([
        [a, '2', '2026-01-05', '2026-01-13', '', '2026-01-05', 'true', 'stale'],
        [b, '1', '2026-01-05', '2026-01-13', '', '2026-01-13', 'false', ''],
        [c, '', '2026-01-05', '2026-01-05', '2026-01-08', '2026-01-05', 'false', ''],
        [d, '3', '2026-01-08', '2026-01-13', '', '2026-01-08', 'false', ''],
      ]);
      const { stdout } = await kybatch(['portfolios', '--json']);
      expect(JSON.parse(stdout)).toMatchObject({
        portfolios: [{ members: 3, outcomes: { complete: 3 }, due: { stale: 1 }, units_at_most: 1 }],
      });
    }));
});

long('after an interrupted attempt, portfolios, plan and run show the same maximum without the stored answers', () =>
  withNights(
    4,
    async ({ kybatch, sandbox, clock, night, rows, writeCsv }) => {
      const bounds = async () => {
        const { portfolios } = jsonOf<{ portfolios: { units_at_most: number }[] }>(
          await kybatch(['portfolios', '--json']),
        );
        const plan = await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']);
        return [portfolios[0]?.units_at_most, jsonOf<{ v1_units: { at_most: number } }>(plan).v1_units.at_most];
      };
      // Searches are answered, records are not.
      sandbox.script(aRecord, Array(40).fill(503));
      expect((await night()).code).toBe(6);
      const [told, planned] = await bounds();
      expect([told, planned]).toEqual([4, 4]);
      sandbox.script(aRecord, []);
      const { stderr } = await kybatch(RUN);
      expect(stderr).toContain(` ${told} units`);
      // A list with stale rows, unfinished rows and repeated companies works in this way, too.
      writeCsv('in.csv', [...rows.slice(0, 6), { ...rows[0], id: 'once more' }]);
      clock.advance(8 * DAY);
      await night('--max-units', '3', '--concurrency', '1');
      const [again, plannedAgain] = await bounds();
      expect(again).toBe(plannedAgain);
      expect((await kybatch(RUN)).stderr).toContain(` ${again} units`);
    },
    [...NIGHTLY, 'patience: 0'],
  ),
);

long('a ledger older than portfolios keeps its matches', () =>
  withNights(3, async ({ night, clock, cwd, table }) => {
    const { end: first } = await night();
    for (const statement of "DELETE FROM members; DELETE FROM portfolios; UPDATE runs SET portfolio_id = NULL; UPDATE rows SET member_id = NULL, fetched = '{}'".split(
      '; ',
    ))
      await inLedger(join(cwd, 'data'), statement);
    clock.advance(DAY);
    expect(await night()).toMatchObject({ units: 0, code: 0, end: { run: first.run, rows: 3 } });
    clock.advance(7 * DAY);
    expect(await night()).toMatchObject({ units: 3, code: 0, end: { due: 3 } });
    expect(table('members').map(({ first_seen = '' }) => first_seen.slice(0, 10))).toEqual(Array(3).fill('2026-01-05'));
  }),
);

long('a pipeline with fewer stages leaves the results of another unchanged', () =>
  withNights(3, async ({ night, clock, cwd, sandbox, table }) => {
    const file = join(cwd, 'p.yaml');
    const nightly = readFileSync(file, 'utf8');
    writeFileSync(file, nightly.replace('stages: [record]', 'stages: [record, financials]'));
    await night();
    const before = sandbox.requests.get('financial') ?? 0;
    writeFileSync(file, nightly);
    clock.advance(8 * DAY);
    expect(await night()).toMatchObject({ units: 3, code: 0 });
    expect(table('rows').map(({ financials_status }) => financials_status)).not.toContain('');
    writeFileSync(file, nightly.replace('stages: [record]', 'stages: [record, financials]'));
    clock.advance(DAY);
    expect(await night()).toMatchObject({ units: 0, code: 0 });
    expect(sandbox.requests.get('financial') ?? 0).toBe(before);
  }),
);

long('a run with nothing due writes the tables if the file has changed', () =>
  withNights(3, async ({ clock, rows, writeCsv, kybatch }) => {
    const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json'];
    const { files } = jsonOf<{ files: string }>(await kybatch(run));
    clock.advance(DAY);
    writeCsv('in.csv', rows.slice(0, 2));
    expect(jsonOf(await kybatch(run))).toMatchObject({ rows: 2, files, units_charged: 0 });
    expect(parse(readFileSync(join(files, 'rows.csv')), { columns: true })).toHaveLength(2);
  }),
);

long(
  'after a run that was killed when its rows were done, the next run writes the tables and reports the changes',
  () =>
    withNights(2, async ({ night, clock, kybatch, sandbox, cwd, table }) => {
      await night();
      clock.advance(8 * DAY);
      const renamed = sandbox.registry.byV1Id(table('companies')[0]?.v1_company_id ?? '');
      await sandbox.changeCompany(renamed?.v2Id ?? '', 'name', 'Quite Another Holding');
      const plain = RUN.filter((word) => !['--export', '--out', 'tables'].includes(word));
      expect((await kybatch([...plain, '--no-export'])).code).toBe(0);
      // The state of the ledger after a kill right after the last row.
      for (const statement of `UPDATE portfolios SET last_success_at = ${Date.parse('2026-01-05T01:00:00Z')}; DELETE FROM changes; UPDATE calls SET compared = 0`.split(
        '; ',
      ))
        await inLedger(join(cwd, 'data'), statement);
      clock.advance(DAY);
      writeFileSync(
        join(cwd, 'p.yaml'),
        `${readFileSync(join(cwd, 'p.yaml'), 'utf8')}\nnotify: {command: [tee, told.json], on: [important_change]}`,
      );
      const { files = '' } = jsonOf<{ files?: string }>(await kybatch(plain));
      expect(readFileSync(join(files, 'companies.csv'), 'utf8')).toContain('Quite Another Holding');
      expect(readFileSync(join(files, 'changes.csv'), 'utf8')).toContain('Quite Another Holding');
      expect(readFileSync(join(cwd, 'told.json'), 'utf8')).toContain('important_change');
      expect(jsonOf<{ files?: string }>(await kybatch(plain)).files).toBe(undefined);
    }),
);

long('an answer that another list bought is in the tables of the next run, even if nothing is due', () =>
  withNights(3, async ({ night, clock, kybatch, table, cwd, sandbox }) => {
    await night();
    clock.advance(2 * DAY);
    const plain = RUN.filter((word) => !['--export', '--out', 'tables'].includes(word));
    const quiet = async () => jsonOf<{ files?: string }>(await kybatch([...plain])).files;
    expect(await quiet()).toBe(undefined);
    writeFileSync(join(cwd, 'two.csv'), readFileSync(join(cwd, 'in.csv')));
    const other = (...flags: string[]) => kybatch(['run', 'two.csv', '--pipeline', './p.yaml', '--yes', ...flags]);
    expect((await other()).code).toBe(0);
    expect(await quiet()).toBe(undefined);
    clock.advance(DAY);
    const renamed = sandbox.registry.byV1Id(table('companies')[1]?.v1_company_id ?? '');
    await sandbox.changeCompany(renamed?.v2Id ?? '', 'name', 'Quite Another Holding');
    expect((await other('--rebuy')).code).toBe(0);
    clock.advance(1000);
    const written = (await quiet()) ?? '';
    expect(readFileSync(join(written, 'companies.csv'), 'utf8')).toContain('Quite Another Holding');
    expect(readFileSync(join(written, 'changes.csv'), 'utf8')).toContain('Quite Another Holding');
    expect(await quiet()).toBe(undefined);
  }),
);

long('an answer that becomes stale while its row waits is bought in the same turn', () =>
  withNights(
    3,
    async ({ night, clock, sandbox, table }) => {
      await night();
      const asked = () => sandbox.requests.get('financial') ?? 0;
      const before = asked();
      clock.advance(29 * DAY);
      expect((await night('--max-units', '1')).end.to_do).toBe(2);
      clock.advance(2 * DAY);
      expect((await night()).code).toBe(0);
      // The first was bought on its own, and its figures are stale by now.
      expect(asked() - before).toBe(3);
      expect(table('members').filter(({ due }) => due === 'true')).toEqual([]);
    },
    NIGHTLY.map((line) => line.replace('[record]', '[record, financials]')),
  ),
);

const membersOf = async (kybatch: Nights['kybatch']) =>
  jsonOf<{ portfolios: { members: number }[] }>(await kybatch(['portfolios', '--json'])).portfolios[0]?.members;

long('purge names every export of the portfolio, because each shows the whole list', () =>
  withNights(2, async ({ clock, rows, writeCsv, kybatch, sandbox }) => {
    const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json'];
    const first = jsonOf<EndJson>(await kybatch(run));
    clock.advance(DAY);
    writeCsv('in.csv', rows.slice(0, 3));
    const second = jsonOf<EndJson>(await kybatch(run));
    const { params } = sandbox.chargeLog.find(({ operation }) => operation === 'fullKyb') ?? { params: '{}' };
    const { id } = JSON.parse(params) as { id: string };
    const { stdout, stderr } = await kybatch(['erase', '--entity', `v1:${id}`, '--yes']);
    for (const end of [first, second]) expect(stdout + stderr).toContain(join('exports', end.run));
    expect(await membersOf(kybatch)).toBe(2);
  }),
);
