import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { usage } from '../../src/app/admin/usage.js';
import { call, type DirectCallOptions } from '../../src/app/provider/call.js';
import { operations } from '../../src/app/provider/operations.js';
import { listUnknownCharges } from '../../src/app/review/unknown-charges.js';
import { requestKey } from '../../src/calls/request.js';
import { bodyInWords, callInWords, callJson } from '../../src/cli/commands/call.js';
import type { Fault } from '../../src/sandbox/index.js';
import { ManualClock } from '../../src/util/clock.js';
import { ExactNumber, stringifyExact } from '../../src/util/exact-json.js';
import { toJson } from '../../src/util/view-json.js';
import { present } from '../engine/support.js';
import { ledgerEnvironment } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { findCompany } from '../helpers/sandbox.js';
import { type Office, refusal, withOffice } from './support.js';

const DAY_MS = 86_400_000;

const lite = ({ companies }: Office): DirectCallOptions => ({
  api: 'v1',
  operation: 'liteKyb',
  params: { id: present(companies(1)[0]).v1Id },
});

describe('a direct call', () => {
  long('is bought once, and again only with --rebuy or when the answer is stale', async () => {
    const clock = new ManualClock();
    await withOffice({ clock }, async (office) => {
      const { sandbox, environment } = office;
      const first = await call(lite(office), environment);
      expect(first).toMatchObject({ owned: false, httpStatus: 200, unitsCharged: 1 });
      expect(first.unitsRemaining).toBe(sandbox.v1Remaining);
      clock.advance(89 * DAY_MS);
      const again = await call(lite(office), environment);
      expect(again).toEqual({
        ...first,
        owned: true,
        httpStatus: null,
        requestId: null,
        unitsCharged: 0,
        unitsRemaining: null,
        durationMs: null,
      });
      expect(callInWords(again).code).toBe('ANSWER_OWNED');
      expect(sandbox.chargeLog).toHaveLength(1);
      expect((await usage({}, environment)).byRun).toMatchObject([{ key: '(by hand)', calls: 1, owned: 1 }]);
      expect(await call({ ...lite(office), fresh: true }, environment)).toMatchObject({
        owned: false,
        unitsCharged: 1,
      });
      clock.advance(91 * DAY_MS);
      expect(await call(lite(office), environment)).toMatchObject({ owned: false, unitsCharged: 1 });
      expect(sandbox.chargeLog).toHaveLength(3);
    });
  });

  long('is bought once, with or without the documented defaults', async () => {
    await withOffice({}, async (office) => {
      const { sandbox, environment } = office;
      const { params } = lite(office);
      for (const [operation, defaults] of [
        ['officersKyb', { page: 1, per_page: 10 }],
        ['fullKyb', { include_provenance: false }],
      ] as const) {
        expect(await call({ api: 'v1', operation, params }, environment)).toMatchObject({ owned: false });
        const again = { api: 'v1', operation, params: { ...params, ...defaults } } as const;
        expect(await call(again, environment)).toMatchObject({ owned: true });
      }
      expect(sandbox.chargeLog).toHaveLength(2);
    });
  });

  long('shows exact numbers, for people and as one JSON object', async () => {
    await withOffice({}, async ({ sandbox, environment }) => {
      const { v1Id } = findCompany(sandbox, (company) => BigInt(company.v1Id) > 2n ** 53n);
      const view = await call({ api: 'v1', operation: 'liteKyb', params: { id: v1Id } }, environment);
      expect((view.body as { readonly id: unknown }).id).toEqual(new ExactNumber(v1Id));
      expect(bodyInWords(view)).toContain(`"id": ${v1Id}`);
      expect(stringifyExact(toJson(callJson(view)))).toContain(
        '"api":"v1","operation":"liteKyb","owned":false,"in_history":false,"fetched_at":"',
      );
    });
  });

  long('that reads the present state is asked every time', async () => {
    await withOffice({}, async ({ sandbox, environment }) => {
      for (let time = 0; time < 2; time++)
        expect(await call({ api: 'v2', operation: 'metrics' }, environment)).toMatchObject({ owned: false });
      expect(sandbox.requests.get('metrics')).toBe(2);
    });
  });

  test.each(['toString', 'constructor', '__proto__', 'hasOwnProperty', 'serchKyb'])(
    'v1 has no operation %s: nothing is sent and no ledger is created',
    async (operation) => {
      await withOffice({}, async ({ sandbox, environment, folder }) => {
        const error = await refusal(call({ api: 'v1', operation }, environment));
        expect(error).toMatchObject({ code: 'OPERATION_NOT_FOUND', exit: 2 });
        expect(error.message).toContain(operation);
        expect(error.hint).toContain('`kybatch call v1`');
        const invalid = await refusal(call({ api: 'v1', operation: 'liteKyb', params: { id: '' } }, environment));
        expect(invalid).toMatchObject({ code: 'INVALID_PARAMS', exit: 2 });
        expect(sandbox.requestLog).toEqual([]);
        expect(existsSync(join(folder, 'data'))).toBe(false);
      });
    },
  );

  long('makes one try while the provider is down, and succeeds later', async () => {
    await withOffice({}, async (office) => {
      const { sandbox, environment } = office;
      sandbox.script({ operation: 'liteKyb' }, [503, 'lostAnswer']);
      expect(await refusal(call(lite(office), environment))).toMatchObject({ exit: 6, httpStatus: 503 });
      expect(await refusal(call(lite(office), environment))).toMatchObject({ exit: 6, code: 'CONNECTION_LOST' });
      // A unit may be lost with it, which the caller accepts by asking again.
      expect(await call(lite(office), environment)).toMatchObject({ owned: false, unitsCharged: 1 });
      expect(sandbox.requests.get('liteKyb')).toBe(3);
    });
  });

  test.each<[string, string, Fault, number, boolean]>([
    ['v2', 'financial', 500, 6, true],
    ['v2', 'financial', 404, 3, true],
    ['v2', 'financial', 403, 5, true],
    ['v2', 'financial', { failAfterWork: 400, text: '{"id":["No."]}' }, 3, true],
    ['v2', 'financial', { failAfterWork: 200, text: '<html>' }, 6, true],
    ['v2', 'metrics', 500, 6, false],
    ['v1', 'liteKyb', 503, 6, false],
    ['v1', 'liteKyb', { reply: { status: 504, body: '<html>' } }, 6, true],
    ['v1', 'liteKyb', 'lostAnswer', 6, true],
  ])(
    '%s %s that fails (%j) explains the failure to the caller without mentioning rows',
    async (api, operation, fault, exit, unknown) => {
      await withOffice({}, async (office) => {
        const { sandbox, environment, companies } = office;
        const { v1Id, v2Id } = present(companies(1)[0]);
        sandbox.script({ operation }, fault);
        const params = operation === 'metrics' ? {} : { id: api === 'v1' ? v1Id : v2Id };
        const { exit: ended, hint } = await refusal(call({ api, operation, params } as DirectCallOptions, environment));
        expect(ended).toBe(exit);
        expect(hint).not.toMatch(/\brow|stages/);
        expect(hint?.includes('`kybatch charges`')).toBe(unknown);
        expect((await usage({}, environment)).unknownCalls).toHaveLength(unknown ? 1 : 0);
      });
    },
  );

  test('does not wait for a call of a dead process', async () => {
    await withOffice({}, async (office) => {
      const { environment, ledger, sandbox } = office;
      const { params = {} } = lite(office);
      await ledger(async ({ calls }) => {
        const now = environment.clock.now();
        const environmentId = await calls.environment('v1', sandbox.v1BaseUrl);
        const attemptId = await calls.begin({ runId: null, begunAt: now, leaseUntil: now + 30_000 });
        const request = { operation: 'liteKyb', meter: 'unit' as const, requestKey: requestKey('liteKyb', params) };
        const by = { runId: null, row: null, stage: null, subject: null };
        const sent = { reusableSince: Infinity, lookedSince: Infinity, lostAtMost: Infinity };
        await calls.intend(
          { ...request, ...by, ...sent, attemptId, environmentId, attempt: 1, startedAt: now },
          { units: null, reports: null },
        );
      });
      expect(await call(lite(office), environment)).toMatchObject({ owned: false, unitsCharged: 1 });
      expect((await usage({}, environment)).unknownCalls).toMatchObject([
        { operation: 'liteKyb', errorCode: 'PROCESS_DIED' },
      ]);
    });
  });

  long('that is cancelled rejects with the reason and is recorded with unknown charge', async () => {
    await withOffice({}, async (office) => {
      const { sandbox, environment } = office;
      const abort = new AbortController();
      sandbox.script({ operation: 'liteKyb' }, 'hang');
      const reason = new Error('interrupted');
      const calling = call({ ...lite(office), signal: abort.signal }, environment);
      const ended = expect(calling).rejects.toBe(reason);
      while ((sandbox.requests.get('liteKyb') ?? 0) === 0) await new Promise((turn) => setImmediate(turn));
      abort.abort(reason);
      await ended;
      expect((await usage({}, environment)).unknownCalls).toMatchObject([
        { operation: 'liteKyb', errorCode: 'ABORTED' },
      ]);
    });
  });
});

describe('a direct credit report', () => {
  const generate = ({ companies }: Office): DirectCallOptions => {
    const { sourceId, countryCode } = present(companies(1)[0]);
    return { api: 'v2', operation: 'creditReportGenerate', params: { source_id: sourceId, country: countryCode } };
  };

  const sent = ({ sandbox }: Office) => sandbox.requests.get('creditReportGenerate');
  const inForm = (request: DirectCallOptions, format: string): DirectCallOptions => ({
    ...request,
    params: { ...request.params, format },
  });

  long.each([
    ['lostAnswer', null],
    [{ failAfterWork: 500 }, 500],
  ] as const)('V2-17 that was generated (%j) is found in the history, in any requested form', async (fault, status) => {
    for (const again of [
      (request: DirectCallOptions) => request,
      (request: DirectCallOptions) => ({ ...request, fresh: true }),
      (request: DirectCallOptions) => inForm(request, 'html'),
    ]) {
      await withOffice({}, async (office) => {
        const { sandbox, environment } = office;
        sandbox.script({ operation: 'creditReportGenerate' }, fault);
        const failed = await refusal(call(inForm(generate(office), 'json'), environment));
        expect(failed).toMatchObject({ code: 'REPORT_LOST', exit: 6 });
        expect(failed.message.includes('SERVER_FAILURE')).toBe(status === 500);
        expect((await listUnknownCharges({}, environment)).calls).toMatchObject([
          { operation: 'creditReportGenerate', httpStatus: status },
        ]);
        const found = await call(again(generate(office)), environment);
        expect(found).toMatchObject({ owned: false, inHistory: true, unitsCharged: 0 });
        expect(stringifyExact(found.body)).toContain(`"id":${sandbox.reports[0]?.id},`);
        expect(callInWords(found).code).toBe('REPORT_IN_HISTORY');
        expect(sandbox.reports).toHaveLength(1);
        expect(sent(office)).toBe(1);
        expect((await usage({}, environment)).unknownCalls).toEqual([]);
        // The charge is settled, so another request gets another report.
        expect(await call({ ...generate(office), fresh: true }, environment)).toMatchObject({ inHistory: false });
        expect(sandbox.reports).toHaveLength(2);
      });
    }
  });

  long('V2-17 that is not listed yet is only looked for until it can no longer appear', async () => {
    const clock = new ManualClock();
    await withOffice({ clock, historyLagMs: 3_600_000 }, async (office) => {
      const { sandbox, environment } = office;
      sandbox.script({ operation: 'creditReportGenerate' }, 'lostAnswer');
      const lost = await refusal(call(generate(office), environment));
      const again = new Date(clock.now() + 900_001).toISOString();
      expect(lost.hint).toContain(again);
      for (const fresh of [false, true]) {
        clock.advance(100_000);
        const refused = await refusal(call({ ...generate(office), fresh }, environment));
        expect(refused).toMatchObject({ code: 'REPORT_NOT_LISTED', exit: 6, hint: expect.stringContaining(again) });
      }
      sandbox.script({ operation: 'creditReportHistory' }, 500);
      const blind = await refusal(call(generate(office), environment));
      expect(blind).toMatchObject({
        code: 'HISTORY_NOT_READABLE',
        exit: 6,
        message: expect.stringContaining('SERVER_FAILURE'),
      });
      expect(sent(office)).toBe(1);
      clock.advance(700_001);
      expect(await call(generate(office), environment)).toMatchObject({ owned: false, inHistory: false });
      expect(sent(office)).toBe(2);
    });
  });

  test('V2-17 an older stored report is not mistaken for a lost one', async () => {
    const clock = new ManualClock();
    await withOffice({ clock }, async (office) => {
      const { sandbox, environment } = office;
      await call(generate(office), environment);
      clock.advance(1_000);
      sandbox.script({ operation: 'creditReportGenerate' }, 503);
      await refusal(call({ ...generate(office), fresh: true }, environment));
      const refused = await refusal(call({ ...generate(office), fresh: true }, environment));
      expect(refused).toMatchObject({ code: 'REPORT_NOT_LISTED' });
    });
  });

  long('V2-6 lost while generated and fetched in one call is fetched from the history', async () => {
    await withOffice({}, async (office) => {
      const { sandbox, environment } = office;
      const combined = { ...generate(office), operation: 'creditReportCombined' };
      sandbox.script({ operation: 'creditReportCombined' }, 'lostAnswer');
      expect(await refusal(call(combined, environment))).toMatchObject({ code: 'REPORT_LOST' });
      const found = await call(combined, environment);
      expect(found).toMatchObject({ inHistory: true, body: { summary: expect.anything() } });
      expect(sandbox.reports).toHaveLength(1);
    });
  });

  const combined = (office: Office): DirectCallOptions => ({ ...generate(office), operation: 'creditReportCombined' });

  long.each([
    ['creditReportGenerate', 'lostAnswer'],
    ['creditReportCombined', { failAfterWork: 503 }],
  ] as const)(
    'V2-17 %s (%j) is paid for once, after any number and kind of further requests',
    async (operation, fault) => {
      await withOffice({}, async (office) => {
        const { sandbox, environment } = office;
        sandbox.script({ operation }, fault);
        expect(await refusal(call({ ...generate(office), operation }, environment))).toMatchObject({ exit: 6 });
        const reportId = String(sandbox.reports[0]?.id);
        const again = [
          generate(office),
          combined(office),
          inForm(generate(office), 'html'),
          generate(office),
          combined(office),
        ];
        for (const request of [{ ...generate(office), operation }, ...again]) {
          const found = await call(request, environment);
          expect(found).toMatchObject({ inHistory: true, reportId, unitsCharged: 0 });
          expect(callInWords(found)).toMatchObject({
            code: 'REPORT_IN_HISTORY',
            text: expect.stringContaining(reportId),
          });
        }
        expect(sandbox.reports).toHaveLength(1);
        expect((await usage({}, environment)).unknownCalls).toEqual([]);
        expect(await call({ ...generate(office), fresh: true }, environment)).toMatchObject({
          inHistory: false,
          reportId: null,
        });
        expect(sandbox.reports).toHaveLength(2);
      });
    },
  );

  long('V2-6 that another user generated is opened from the history unless it has expired', async () => {
    const clock = new ManualClock();
    await withOffice({ clock }, async (office) => {
      const { sandbox, environment, folder } = office;
      await call(generate(office), environment);
      // Another data directory has no stored answers.
      const other = join(folder, 'other');
      const env = { ...environment.env, KYBATCH_DATA_DIR: other, ...(await ledgerEnvironment(other)) };
      const elsewhere = { ...environment, env };
      const found = await call(generate(office), elsewhere);
      expect(found).toMatchObject({ owned: false, inHistory: true, reportId: String(sandbox.reports[0]?.id) });
      expect(await call(combined(office), elsewhere)).toMatchObject({
        inHistory: true,
        body: { summary: expect.anything() },
      });
      expect(sandbox.reports).toHaveLength(1);
      clock.advance(181 * DAY_MS);
      expect(await call(generate(office), elsewhere)).toMatchObject({ owned: false, inHistory: false });
      expect(sandbox.reports).toHaveLength(2);
    });
  });

  long('V2-6 that is stored is fetched free when it is asked for in one call', async () => {
    await withOffice({ historyLagMs: 3_600_000 }, async (office) => {
      const { sandbox, environment } = office;
      await call(generate(office), environment);
      const reportId = String(sandbox.reports[0]?.id);
      for (const request of [combined(office), inForm(combined(office), 'html'), combined(office)]) {
        const opened = await call(request, environment);
        expect(opened).toMatchObject({ owned: true, inHistory: false, reportId, body: { summary: expect.anything() } });
        expect(callInWords(opened)).toMatchObject({ code: 'REPORT_OWNED', text: expect.stringContaining(reportId) });
      }
      expect(sandbox.requests.get('creditReportFetch')).toBe(1);
      expect(await call(inForm(generate(office), 'html'), environment)).toMatchObject({ owned: true, unitsCharged: 0 });
      expect(sandbox.reports).toHaveLength(1);
      expect(await call({ ...combined(office), fresh: true }, environment)).toMatchObject({
        owned: false,
        reportId: null,
      });
      expect(sandbox.reports).toHaveLength(2);
    });
  });

  long('V2-6 that is stored without its ID is not generated again before the history lists it', async () => {
    const clock = new ManualClock();
    await withOffice({ clock, historyLagMs: 60_000 }, async (office) => {
      const { sandbox, environment } = office;
      await call(combined(office), environment);
      const refused = await refusal(call(generate(office), environment));
      expect(refused).toMatchObject({
        code: 'REPORT_WITHOUT_ID',
        exit: 6,
        hint: expect.stringContaining('kybatch call v2 creditReportCombined'),
      });
      clock.advance(60_001);
      expect(await call(generate(office), environment)).toMatchObject({ inHistory: true });
      expect(sandbox.reports).toHaveLength(1);
    });
  });

  test.each([
    [500, { code: 'HISTORY_NOT_READABLE', exit: 6 }],
    [401, { code: 'UNAUTHENTICATED', exit: 5 }],
  ] as const)('V2-6 is not generated if the history cannot be read (%j)', async (fault, error) => {
    await withOffice({}, async (office) => {
      const { sandbox, environment } = office;
      sandbox.script({ operation: 'creditReportHistory' }, fault);
      expect(await refusal(call(generate(office), environment))).toMatchObject(error);
      expect(sandbox.reports).toEqual([]);
      expect(await call({ ...generate(office), fresh: true }, environment)).toMatchObject({
        owned: false,
        inHistory: false,
      });
      expect(sandbox.requests.get('creditReportHistory')).toBe(1);
    });
  });

  long('is bought once', async () => {
    await withOffice({}, async (office) => {
      const { sandbox, environment } = office;
      expect(await call(generate(office), environment)).toMatchObject({ owned: false, unitsCharged: null });
      expect(await call(generate(office), environment)).toMatchObject({ owned: true, unitsCharged: 0 });
      // Without a format, JSON was requested.
      expect(await call(inForm(generate(office), 'json'), environment)).toMatchObject({ owned: true });
      expect(sandbox.reports).toMatchObject([{ format: 'json' }]);
    });
  });
});

long('operations lists the operations with their parameters', () => {
  const search = operations('v1').find(({ operation }) => operation === 'searchKyb');
  expect(search).toMatchObject({ method: 'POST', path: '/kyb/search', scopes: ['company:read'] });
  expect(search?.parameters[0]).toMatchObject({ name: 'location', required: true, type: 'string' });
  const generate = operations('v2').find(({ operation }) => operation === 'creditReportGenerate');
  expect(generate).toMatchObject({ method: null, path: null });
  expect(generate?.parameters.at(-1)).toMatchObject({ name: 'format', required: false, type: 'json | html' });
});
