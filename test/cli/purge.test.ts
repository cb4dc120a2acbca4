import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { itemIds } from '../../src/api/all-operations.js';
import { ManualClock } from '../../src/util/clock.js';
import { createRun, NOW, type RunFixture } from '../export/support.js';
import { dropPortfolios } from '../helpers/begin-run.js';
import { withFolder } from '../helpers/cli.js';
import { bytesOf, everythingIn, openLedgerIn } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { type EndJson, type HereOptions, here, jsonOf, type Said, withJob } from './here.js';

const fixture: RunFixture = {
  rows: [
    {
      values: ['07654321'],
      fields: { name: 'Acme', country: 'GB', registration_number: '07654321' },
      ids: { v1: '9000001' },
    },
    { values: ['Other'], ids: { v1: '9000002' } },
  ],
  bought: [
    { row: 1, api: 'v1', operation: 'fullKyb', params: { id: '9000001' }, body: '{"lite":{"id":9000001}}' },
    {
      row: 2,
      api: 'v1',
      operation: 'searchKyb',
      params: { location: 'GB', name: 'Other' },
      body: '[{"id":9000002,"name":"Other","parent":"07654321","count":1}]',
    },
    {
      row: 2,
      api: 'v1',
      operation: 'searchKyb',
      params: { location: 'GB', name: 'Others' },
      body: '[{"id":1,"x":"y"}]',
    },
  ],
};

interface Place {
  readonly dataDir: string;
  readonly erase: (args: readonly string[], options?: Partial<HereOptions>) => Promise<Said>;
  /** The whole ledger as text. */
  readonly dump: () => Promise<string>;
}

async function withLedger(use: (place: Place) => Promise<void>): Promise<void> {
  await withFolder(async (cwd) => {
    const dataDir = join(cwd, 'data');
    const ledger = await openLedgerIn({ dataDir: dataDir, now: NOW, access: 'write' });
    await createRun(ledger, 'first', fixture);
    await ledger.close();
    await dropPortfolios(dataDir);
    mkdirSync(dataDir, { recursive: true });
    await use({
      dataDir,
      erase: (args, options) => here(['erase', ...args], { cwd, clock: new ManualClock(NOW), ...options }),
      dump: () => everythingIn(dataDir),
    });
  });
}

describe('an empty or wrong name removes nothing', () => {
  long.each([
    ['an empty entity', ['--entity', '']],
    ['a blank one', ['--entity', '  ']],
    ['an ID space without an ID', ['--entity', 'v1:']],
    ['a blank ID', ['--entity', 'v2:  ']],
    ['a country without a number', ['--entity', 'GB: ']],
    ['punctuation', ['--entity', 'GB:--']],
    ['a pattern', ['--entity', '.*']],
    ['an unknown prefix', ['--entity', 'XX:1'], 'ENTITY_SPACE_UNKNOWN'],
    ['two entities', ['--entity', '9000001', '--entity', '9000002'], 'FLAG_REPEATED'],
    ['a day in the future', ['--before', '2026-02-01'], 'DATE_IN_FUTURE'],
    ['a day that does not exist', ['--before', '2025-02-31'], 'DATE_INVALID'],
    ['no date', ['--before', 'yesterday'], 'DATE_INVALID'],
  ])('%s is refused', async (_, args, refusal = 'ENTITY_INVALID') => {
    await withLedger(async ({ erase: purge, dump }) => {
      const before = await dump();
      const refused = await purge([...args, '--yes']);
      expect(refused.code).toBe(2);
      expect(refused.codes).toEqual([refusal]);
      expect(await dump()).toBe(before);
    });
  });

  long.each(['x', '[0-9]+', '9000001|9000002', 'name', 'id', 'Other', '90000', 'v2:9000001'])(
    'an entity %s is matched only as a whole, and is not found',
    async (entity) => {
      await withLedger(async ({ erase: purge, dump }) => {
        const before = await dump();
        const missed = await purge(['--entity', entity, '--yes']);
        expect(missed).toMatchObject({ code: 2, codes: expect.arrayContaining(['NOTHING_TO_PURGE']) });
        expect(await dump()).toBe(before);
      });
    },
  );

  test('an ID of one character does not match a character of other IDs', async () => {
    await withLedger(async ({ erase: purge }) => {
      const { stdout, code } = await purge(['--entity', '1', '--yes', '--json']);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ removed: { answers: 1, rows: 0 }, not_searched: ['1'] });
    });
  });
});

describe('purge asks first', { tags: 'long' }, () => {
  /** A row, an answer and a raw body, without candidate, question or decision. */
  const counts = / 1 \D+ 1 \D+ 1 \w+ \(first\)/;

  test('without a terminal it needs --yes, and counts the records', async () => {
    await withLedger(async ({ erase: purge, dump }) => {
      const before = await dump();
      const refused = await purge(['--entity', 'v1:9000001']);
      expect(refused.code).toBe(2);
      expect(refused.textOf('NOT_CONFIRMED')).toMatch(counts);
      expect(refused.textOf('NOT_CONFIRMED')).toContain('--yes');
      expect(await dump()).toBe(before);
      expect((await purge(['--before', '2026-01-31'])).code).toBe(0);
    });
  });

  test('on a terminal a no removes nothing, a yes does', async () => {
    await withLedger(async ({ erase: purge, dump }) => {
      const before = await dump();
      const questions: string[] = [];
      const answers = (answer: string) => (question: string) => {
        questions.push(question);
        return answer;
      };
      const no = await purge(['--entity', '9000001'], { answers: answers('') });
      expect(no).toMatchObject({ code: 130, codes: ['NOT_AGREED'] });
      expect(await dump()).toBe(before);
      const yes = await purge(['--entity', '9000001'], { answers: answers('y') });
      expect(yes.code).toBe(0);
      expect(questions).toEqual(Array(2).fill(expect.stringMatching(counts)));
      expect(yes.textOf('PURGED')).toMatch(counts);
      expect(await dump()).not.toContain('9000001');
    });
  });
});

describe('purge reports the remaining mentions', () => {
  long('remaining mentions are listed with a working command', async () => {
    await withLedger(async ({ erase: purge, dataDir }) => {
      const args = ['--yes', '--data-dir', dataDir];
      const first = await purge(['--entity', 'GB:7654321', ...args]);
      expect(first.code).toBe(0);
      expect(first.codes).not.toContain('PURGE_PROVED');
      const command = `kybatch erase --entity v1:9000002 --data-dir ${dataDir}`;
      expect(first.textOf('STILL_NAMED')).toMatch(new RegExp(` 1 .*:\n .* searchKyb .*: 07654321; ${command}$`));
      const second = await purge(['--entity', 'v1:9000002', ...args, '--json']);
      expect(jsonOf<object>(second)).toMatchObject({ still_mentioned: [], times_in_file: 0 });
      const third = await purge(['--entity', 'GB:7654321', ...args]);
      expect(third).toMatchObject({ code: 2, codes: expect.arrayContaining(['NOTHING_TO_PURGE', 'PURGE_PROVED']) });
    });
  });

  long('repeating the command finishes a purge that was killed', async () => {
    await withLedger(async ({ erase: purge, dataDir }) => {
      const made = { run: 'first', exported_at: '2026-01-05T00:00:00Z', versions: { kybatch: '1' }, files: [] };
      mkdirSync(join(dataDir, 'exports', 'first'), { recursive: true });
      writeFileSync(join(dataDir, 'exports', 'first', 'summary.json'), JSON.stringify(made));
      const ledger = await openLedgerIn({ dataDir, now: NOW, access: 'write' });
      await ledger.housekeeping.erase({ kind: 'entity', space: 'v1', id: '9000001' }, itemIds);
      await ledger.close();
      const other = await purge(['--entity', 'v1:9000003', '--yes']);
      expect(other).toMatchObject({ code: 2, codes: expect.arrayContaining(['NOTHING_TO_PURGE']) });
      const again = await purge(['--entity', 'v1:9000001', '--yes', '--json']);
      expect(again.code).toBe(0);
      expect(jsonOf<object>(again)).toMatchObject({
        runs: ['first'],
        removed: { rows: 1, answers: 1 },
        searched: ['9000001'],
        times_in_file: 0,
        exports_still_holding: [{ run: 'first' }],
      });
      expect((await purge(['--entity', 'v1:9000001', '--yes'])).code).toBe(2);
    });
  });

  long('a second purge finds nothing in the ledger, and still names the exports that hold it', async () => {
    await withLedger(async ({ erase: purge, dataDir }) => {
      const cwd = join(dataDir, '..');
      const write = (flags: readonly string[]) =>
        here(['export', 'first', ...flags], { cwd, clock: new ManualClock(NOW) });
      const flags = ['--format', 'csv', '--delimiter', ';', '--bom', '--include-contacts'];
      expect((await write(['--out', 'old', ...flags])).code).toBe(0);
      const again = `kybatch export first --out ${cwd}/old --format csv --delimiter ';' --bom --include-contacts`;
      const entity = ['--entity', 'GB:7654321', '--yes'];
      expect((await purge(entity)).textOf('EXPORTS_STILL_HOLDING')).toContain(`\n  ${cwd}/old\n      ${again}`);
      expect((await purge(['--entity', 'v1:9000002', '--yes'])).code).toBe(0);
      expect((await write(['--out', 'new'])).code).toBe(0);
      const second = await purge(entity);
      expect(second.code).toBe(2);
      expect(second.codes).toEqual(expect.arrayContaining(['NOTHING_TO_PURGE', 'EXPORTS_STILL_HOLDING']));
      expect(second.textOf('EXPORTS_STILL_HOLDING')).toContain(`\n  ${cwd}/old\n      ${again}`);
      expect(second.textOf('EXPORTS_STILL_HOLDING')).not.toContain(`${cwd}/new`);
      expect((await write(['--out', 'old', ...flags])).code).toBe(0);
      expect((await purge(entity)).codes).not.toContain('EXPORTS_STILL_HOLDING');
    });
  });

  test('an export of an unknown run is named, too', async () => {
    await withLedger(async ({ erase: purge, dataDir }) => {
      const cwd = join(dataDir, '..');
      const flags = ['--format', 'csv', '--out', 'old'];
      expect((await here(['export', 'first', ...flags], { cwd, clock: new ManualClock(NOW) })).code).toBe(0);
      const marker = join(cwd, 'old', 'summary.json');
      writeFileSync(marker, readFileSync(marker, 'utf8').replace('"run": "first"', '"run": "gone"'));
      const entity = ['--entity', 'GB:7654321', '--yes', '--json'];
      const held = { exports_still_holding: [{ run: 'gone', folder: join(cwd, 'old') }] };
      expect(jsonOf(await purge(entity))).toMatchObject(held);
      expect((await purge(['--entity', 'v1:9000002', '--yes'])).code).toBe(0);
      expect(jsonOf(await purge(entity))).toMatchObject(held);
    });
  });

  long.each([
    'null',
    '[]',
    '"x"',
    '5',
    '{"run":1}',
    '{"folder":5}',
    '{"folder":""}',
    '{"__proto__":{"folder":1}}',
    'z',
  ])('a list of exports that holds %s does not stop purge and prune', async (line) => {
    await withLedger(async ({ erase: purge, dataDir }) => {
      writeFileSync(join(dataDir, 'exports.jsonl'), `${line}\n`);
      expect((await purge(['--entity', 'v1:9000001', '--yes'])).code).toBe(0);
      const clock = new ManualClock(NOW);
      const prune = ['prune', '--older-than', '1d', '--yes', '--data-dir', dataDir];
      expect((await here(prune, { cwd: dataDir, clock })).code).toBe(0);
    });
  });

  long('a list of exports that cannot be read is reported before anything is removed', async () => {
    await withLedger(async ({ erase: purge, dataDir, dump }) => {
      mkdirSync(join(dataDir, 'exports.jsonl'));
      const before = await dump();
      const refused = await purge(['--entity', 'v1:9000001', '--yes']);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('exports.jsonl') });
      expect(await dump()).toBe(before);
    });
  });

  long('purge by date rewrites the database file', async () => {
    await withLedger(async ({ erase: purge, dump }) => {
      const clock = new ManualClock(NOW + 24 * 3_600_000);
      const gone = await purge(['--before', '2026-02-01', '--yes'], { clock });
      expect(gone.code).toBe(0);
      expect(gone.textOf('PURGED')).toMatch(/ 1 [^,]+ \(first\)/);
      expect(await dump()).not.toContain('07654321');
    });
  });
});

test('after a real run a number is removed, or every place that still has it is listed', async () => {
  await withJob(
    { pipeline: ['stages: [record, financials, credit-report]'] },
    async ({ rows, writeCsv, kybatch, cwd }) => {
      const [first] = rows.filter(({ country }) => country === 'GB');
      const number = first?.registration_number ?? '';
      const nobody = { ...first, id: 'nobody', name: 'Nobody Here', registration_number: '09999998', vat_number: '' };
      writeCsv('in.csv', [...rows.slice(0, 8), first ?? {}, nobody]);
      const run = await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--no-export']);
      expect(jsonOf<EndJson>(run).rows).toBe(10);
      for (const entity of [`GB:${number}`, 'GB:9999998']) {
        const gone = await kybatch(['erase', '--entity', entity, '--yes', '--json']);
        expect(gone.code).toBe(0);
        const { still_mentioned, times_in_file } = jsonOf<{ still_mentioned: unknown[]; times_in_file: number }>(gone);
        expect(still_mentioned).toEqual([]);
        expect(times_in_file).toBe(0);
      }
      const left = await bytesOf(join(cwd, 'data'));
      expect(left).not.toContain(number);
      expect(left).not.toContain('9999998');
      const again = jsonOf<EndJson>(await kybatch(['status', '--json']));
      expect(again.rows).toBe(10);
    },
  );
});
