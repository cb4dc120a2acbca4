import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSettings } from '../../src/app/run/stored-settings.js';
import type { Checkpoint } from '../../src/ledger/rows/runs.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { inLedger, isOnPostgres, openLedgerIn } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { rowSettlement } from '../ledger/support.js';
import { type EndJson, here, Interrupts, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json', '--yes'];

/** Rows as an interrupted attempt leaves them. */
async function withRows(cwd: string, run: string, rows: Readonly<Record<number, Partial<Checkpoint>>>): Promise<void> {
  const ledger = await openLedgerIn({ dataDir: join(cwd, 'data'), now: Date.now(), access: 'write' });
  try {
    for (const [row, change] of Object.entries(rows))
      await ledger.runs.settleRow(run, Number(row), rowSettlement({ outcome: 'pending', ...change }));
  } finally {
    await ledger.close();
  }
}

describe('resume --failed', { tags: 'long' }, () => {
  test('tries only the failed rows, and pays only for them', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 6));
      sandbox.script({ operation: 'fullKyb' }, ['none', 400, 'none', 400]);
      const end = await kybatch([...RUN, '--concurrency', '1']);
      expect(jsonOf<EndJson>(end)).toMatchObject({ outcomes: { complete: 4, failed: 2 }, units_charged: 10 });
      const status = jsonOf<{ failures: object[] }>(await kybatch(['status', '--json']));
      expect(status.failures).toEqual([
        { code: 'INVALID_REQUEST', rows: 2, first_row: expect.any(Number), first_line: expect.any(Number) },
      ]);
      const paid = sandbox.chargeLog.length;
      const retried = await kybatch(['resume', '--failed', '--json', '--yes']);
      expect(retried.code).toBe(0);
      expect(retried.textOf('RUN_RESUMED')).toMatch(/: 2 /);
      expect(jsonOf<EndJson>(retried)).toMatchObject({ outcomes: { complete: 6, failed: 0 }, units_charged: 12 });
      expect(sandbox.chargeLog.slice(paid).map(({ operation }) => operation)).toEqual(['fullKyb', 'fullKyb']);
      expect(await kybatch(['resume', '--failed'])).toMatchObject({ code: 2, codes: ['NO_FAILED_ROWS'] });
    });
  });

  test('tries them while other rows wait for reports or are to do, and leaves the others unchanged', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox, cwd }) => {
      writeCsv('in.csv', rows.slice(0, 4));
      sandbox.script({ operation: 'fullKyb' }, ['none', 'none', 'none', 400]);
      const end = jsonOf<EndJson>(await kybatch([...RUN, '--concurrency', '1']));
      expect(end).toMatchObject({ outcomes: { complete: 3, failed: 1 } });
      const until = Date.now() + 3_600_000;
      await withRows(cwd, end.run, { 1: { hold: 'waiting', nextAt: until }, 2: { hold: 'waiting', nextAt: 1 }, 4: {} });
      const paid = sandbox.chargeLog.length;
      const retried = await kybatch(['resume', '--failed', '--json', '--yes']);
      expect(jsonOf<EndJson>(retried)).toMatchObject({
        outcomes: { complete: 1, pending: 3, failed: 0 },
        finished: false,
        next: expect.stringContaining(`kybatch resume ${end.run}`),
      });
      expect(sandbox.chargeLog.slice(paid).map(({ operation }) => operation)).toEqual(['fullKyb']);
      const holds = await inLedger(
        join(cwd, 'data'),
        'SELECT hold, next_at AS nextAt FROM rows WHERE row <> 3 ORDER BY row',
      );
      expect(holds).toEqual([
        { hold: 'waiting', nextAt: until },
        { hold: 'waiting', nextAt: 1 },
        { hold: null, nextAt: null },
      ]);
    });
  });
});

describe('a stored answer is not bought again', { tags: 'long' }, () => {
  test('a company in two rows and in two files is bought once', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      const [first, second, third] = rows;
      writeCsv(
        'in.csv',
        [first, second, first].map((row) => ({ ...row })),
      );
      expect(jsonOf<EndJson>(await kybatch(RUN))).toMatchObject({ outcomes: { complete: 3 }, units_charged: 4 });
      writeCsv('in.csv', [{ ...third }, { ...first, segment: 'another' }]);
      const plan = jsonOf<object>(await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']));
      expect(plan).toMatchObject({ owned: 1, to_search: 1, v1_units: { at_least: 1, likely: 2 } });
      expect(jsonOf<EndJson>(await kybatch(RUN))).toMatchObject({ outcomes: { complete: 2 }, units_charged: 2 });
      expect(sandbox.chargeLog).toHaveLength(6);
    });
  });

  test('X-2 a slash, a capital or a default port in a base URL buys nothing again', async () => {
    await withJob({}, async ({ env, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      const first = jsonOf<EndJson>(await kybatch(RUN));
      const spelt = {
        ...env,
        KYBATCH_V1_BASE_URL: `${sandbox.v1BaseUrl.replace('http:', 'HTTP:')}//`,
        KYBATCH_V2_BASE_URL: `${sandbox.v2BaseUrl}/x/../`,
      };
      expect(jsonOf<EndJson>(await kybatch(RUN, { env: spelt }))).toMatchObject({ run: first.run, finished: true });
      writeCsv('in.csv', [{ ...rows[0], segment: 'another' }]);
      const again = jsonOf<EndJson>(await kybatch(RUN, { env: spelt }));
      expect(again).toMatchObject({ outcomes: { complete: 1 }, units_charged: 0 });
      expect(sandbox.chargeLog).toHaveLength(4);
    });
  });

  test('--rebuy buys again in a new run', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      const first = jsonOf<EndJson>(await kybatch(RUN));
      const second = jsonOf<EndJson>(await kybatch([...RUN, '--rebuy']));
      expect(second.run).not.toBe(first.run);
      expect(sandbox.chargeLog).toHaveLength(4);
      const { runs } = jsonOf<{ runs: { state: string }[] }>(await kybatch(['runs', '--json']));
      expect(runs.map(({ state }) => state)).toEqual(['finished', 'finished']);
    });
  });

  test('a direct call reuses a stored answer, and --rebuy asks again', async () => {
    await withJob({}, async ({ cwd, env, rows, kybatch, sandbox }) => {
      const params = JSON.stringify({ location: 'GB', name: rows[0]?.name });
      const call = ['call', 'v1', 'searchKyb', '--params', params, '--json'];
      const facts = async (args: readonly string[]) => jsonOf<object>(await kybatch(args));
      expect(await facts(call)).toMatchObject({ owned: false, units_charged: 1, http_status: 200 });
      expect(await facts(call)).toMatchObject({ owned: true, units_charged: 0 });
      expect(await facts([...call, '--rebuy'])).toMatchObject({ owned: false, units_charged: 1 });
      const metrics = ['call', 'v2', 'metrics', '--json'];
      for (const _ of [1, 2]) expect(await facts(metrics)).toMatchObject({ owned: false });
      expect(sandbox.chargeLog.filter(({ api }) => api === 'v1')).toHaveLength(2);
      const usage = jsonOf<{ by_run: object[] }>(await here(['usage', '--json'], { cwd, env }));
      expect(usage.by_run).toContainEqual(
        expect.objectContaining({ key: '(by hand)', api: 'v1', owned: 1, units_charged: 2 }),
      );
    });
  });
});

/** Calls `act` once when this many units are charged. All requests pass. */
function onceCharged(sandbox: Sandbox, units: number, act: () => void): void {
  let acted = false;
  sandbox.script((request) => {
    if (!acted && sandbox.chargeLog.length >= units) {
      acted = true;
      act();
    }
    return request.api === 'none';
  }, 'none');
}

describe('continuing', () => {
  long('an interrupt drains and exits with 130, and the printed resume command works as pasted', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows);
      sandbox.setFaults({ latency: { medianMs: 15, p99Ms: 15 } });
      const interrupts = new Interrupts();
      onceCharged(sandbox, 10, () => interrupts.send('SIGINT'));
      const end = await kybatch([...RUN, '--data-dir', 'my data'], { interrupts });
      expect(end.code).toBe(130);
      const { next = '', units_charged } = jsonOf<EndJson>(end);
      expect(sandbox.chargeLog).toHaveLength(units_charged);
      expect(next).toMatch(/^kybatch resume \S+ --data-dir 'my data' --yes$/);
      const resumed = await kybatch(['resume', '--data-dir', 'my data', '--json']);
      expect(resumed.code).toBe(0);
      expect(jsonOf<EndJson>(resumed)).toMatchObject({ outcomes: { complete: 30 }, units_charged: 60 });
      expect(sandbox.chargeLog).toHaveLength(60);
    });
  });

  long.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s drains as an interrupt does, and exits with %i', async (signal, code) => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows);
      const interrupts = new Interrupts();
      onceCharged(sandbox, 4, () => interrupts.send(signal));
      const end = await kybatch(RUN, { interrupts });
      expect(end).toMatchObject({ code, codes: expect.arrayContaining(['STOPPING']) });
      expect(jsonOf<EndJson>(end)).toMatchObject({ finished: false, outcomes: { failed: 0 } });
      expect(jsonOf<EndJson>(end).units_charged).toBe(sandbox.chargeLog.length);
    });
  });

  long.each([
    [
      'a report',
      ['stages: [credit-report]'],
      'REPORTS_AWAITED',
      // The second look shows that the row waited after the first.
      ({ requestLog }: Sandbox) => requestLog.filter(({ operation }) => operation === 'creditReportStatus').length > 1,
    ],
    [
      'the wait that a 429 requests',
      ['stages: [record]', 'patience: 4h'],
      'ROW_DELAYED',
      (_: Sandbox, told: readonly string[]) => told.includes('ROW_DELAYED'),
    ],
  ])(
    'SIGHUP ends a wait for %s at once, resumable, and the wait was reported',
    async (_, pipeline, said, isWaiting) => {
      await withJob({ pipeline, reportDelayMs: 3_600_000 }, async ({ rows, writeCsv, kybatch, sandbox }) => {
        writeCsv('in.csv', rows.slice(0, 1));
        // Two refusals: a slow machine may give up the check of the key before it is sent, and the check takes the
        // first.
        const later = { status: 429, code: 'RATE_LIMITED', retryAfter: 3600 } as const;
        sandbox.script({ operation: 'searchKyb' }, [later, later]);
        const interrupts = new Interrupts();
        const told: string[] = [];
        let isOver = false;
        const ended = kybatch(RUN, {
          interrupts,
          onCode: (one) => told.push(one),
        }).finally(() => {
          isOver = true;
        });
        while (!isOver && !isWaiting(sandbox, told)) await new Promise((turn) => setTimeout(turn, 5));
        interrupts.send('SIGHUP');
        const { code, codes } = await ended;
        expect(code).toBe(129);
        expect(codes).toEqual(expect.arrayContaining([said, 'RESUME_NEXT']));
      });
    },
  );

  long('a run of the sandbox cannot continue with a real account, and does not count as a run there', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      expect((await kybatch([...RUN, '--sandbox', '--max-units', '2'])).code).toBe(4);
      const refused = await kybatch(['resume', '--max-units', '9']);
      expect(refused).toMatchObject({ code: 2, codes: ['OTHER_PROVIDER'] });
      // The embedded registry has other companies: whether it knows these rows does not matter here.
      expect([0, 3]).toContain((await kybatch(['resume', '--sandbox', '--max-units', '9'])).code);
      expect(sandbox.requestLog).toEqual([]);
      expect((await kybatch(RUN)).code).toBe(0);
      expect(sandbox.chargeLog).toHaveLength(4);
    });
  });

  // A database allows several.
  test.skipIf(isOnPostgres)(
    '75 while another process is running, and reading is allowed',
    { tags: 'long' },
    async () => {
      await withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
        writeCsv('in.csv', rows.slice(0, 2));
        expect((await kybatch(RUN)).code).toBe(0);
        const other = await openLedgerIn({ dataDir: join(cwd, 'data'), now: 0, access: 'write' });
        try {
          for (const args of [
            RUN,
            ['resume'],
            ['resume', '--failed'],
            ['call', 'v1', 'liteKyb', '--params', '{"id":"1"}'],
          ])
            expect((await kybatch(args)).code, args[0]).toBe(75);
          for (const args of [['status'], ['usage'], ['runs'], ['plan', 'in.csv']])
            expect((await kybatch(args)).code, args[0]).toBe(0);
        } finally {
          await other.close();
        }
      });
    },
  );

  test.skipIf(isOnPostgres)('a missing run to show or continue is reported', async () => {
    await withJob({}, async ({ kybatch }) => {
      for (const verb of ['resume', 'retry', 'runs', 'status', 'usage'])
        expect(await kybatch([verb])).toMatchObject({ code: 2, codes: ['NO_LEDGER_YET'] });
    });
  });

  test('an answer without an expiry stays so when a run is resumed', () => {
    const settings =
      '{"pipeline":{"sha256":"","freshnessMs":{"fullKyb":null,"searchKyb":5}},"fresh":false,"limit":null}';
    const { pipeline } = readSettings({ id: 'run', settings });
    expect(pipeline.freshnessMs).toEqual({ fullKyb: Number.POSITIVE_INFINITY, searchKyb: 5 });
  });

  test('an option that is newer than a run has its default when the run is resumed', () => {
    const options = '{"credit-report":{"firstPollMs":7}}';
    const settings = `{"pipeline":{"sha256":"","freshnessMs":{},"options":${options}},"fresh":false,"limit":null}`;
    const { pipeline } = readSettings({ id: 'run', settings });
    expect(pipeline.options['credit-report']).toMatchObject({ firstPollMs: 7, lookForMs: 900_000, format: 'json' });
  });
});

test('V1-5 an interrupted direct call ends with 130, and usage shows its unknown charge', async () => {
  await withJob({}, async ({ kybatch, sandbox }) => {
    const interrupts = new Interrupts();
    sandbox.script(
      ({ operation }) => {
        setImmediate(() => interrupts.send('SIGINT'));
        return operation === 'liteKyb';
      },
      { latencyMs: 60_000 },
    );
    const stopped = await kybatch(['call', 'v1', 'liteKyb', '--params', '{"id":"1"}'], { interrupts });
    expect(stopped).toMatchObject({ code: 130, stdout: '' });
    const { unknown_calls } = jsonOf<{ unknown_calls: object[] }>(await kybatch(['usage', '--json']));
    expect(unknown_calls).toEqual([expect.objectContaining({ operation: 'liteKyb', run: null })]);
  });
});

test('V2-17 usage counts a failure answered by v2 as a call of unknown charge, and charges lists it', async () => {
  await withJob({}, async ({ kybatch, sandbox }) => {
    sandbox.script('kybSearch', { failAfterWork: 500 });
    const params = '{"location":"NL","name":"nobody"}';
    expect((await kybatch(['call', 'v2', 'kybSearch', '--params', params])).code).not.toBe(0);
    expect((await kybatch(['usage'])).codes).toContain('CHARGES_UNKNOWN');
    expect((await kybatch(['charges'])).textOf('CHARGE_UNKNOWN')).toMatch(/kybSearch .*SERVER_FAILURE/);
  });
});
