import { cpSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { usage } from '../../src/app/admin/usage.js';
import type { AppEnvironment } from '../../src/app/environment.js';
import { checkPortfolios } from '../../src/app/monitoring/check.js';
import { listUnknownCharges } from '../../src/app/review/unknown-charges.js';
import { resume, retry } from '../../src/app/run/continue-run.js';
import { run } from '../../src/app/run/run.js';
import { systemClock } from '../../src/util/clock.js';
import { aRecord, type Job, withJob } from '../cli/here.js';
import { json, withServer } from '../helpers/http-server.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { refusal } from './support.js';

const JOB = { input: 'in.csv', pipeline: './p.yaml', yes: true };

const environment = ({ cwd, env }: Job, more: Readonly<Record<string, string>> = {}): AppEnvironment => ({
  cwd,
  env: { ...env, ...more },
  clock: systemClock,
});

/** A request that must fail: it names no company. */
const isCheck = (url: string, body: string) => body === '{}' || url.includes('/kyb/0/');

interface Page {
  readonly status: number;
  readonly body: string;
}

/** A proxy before the sandbox that may answer in its place. */
async function withGateway(
  job: Job,
  meet: (url: string, body: string) => Page | undefined,
  use: (place: AppEnvironment) => Promise<void>,
): Promise<void> {
  const target = new URL(job.env.KYBATCH_V1_BASE_URL ?? '').origin;
  const gateway = async (request: IncomingMessage, response: ServerResponse, body: string) => {
    const { method = 'GET', url = '/', headers } = request;
    const page = meet(url, body);
    if (page !== undefined) return void response.writeHead(page.status).end(page.body);
    const init = {
      method,
      headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
    };
    const reply = await fetch(`${target}${url}`, body === '' ? init : { ...init, body });
    response.writeHead(reply.status, Object.fromEntries([...reply.headers].filter(([name]) => name.startsWith('x-'))));
    response.end(await reply.text());
  };
  await withServer(gateway, async ({ origin }) => {
    const through = (url = '') => url.replace(target, origin);
    const { KYBATCH_V1_BASE_URL: v1, KYBATCH_V2_BASE_URL: v2 } = job.env;
    await use(environment(job, { KYBATCH_V1_BASE_URL: through(v1), KYBATCH_V2_BASE_URL: through(v2) }));
  });
}

describe('V1-8 before the first paid call an attempt checks the scopes of the keys free of charge', () => {
  long.each([
    ['company:read', ['company:read'], /fullKyb.* company:read, ownership:read, financials:read.*record/],
    ['everything but company:read', ['ownership:read', 'financials:read'], /searchKyb.* company:read/],
    ['everything but financials:read', ['company:read', 'ownership:read'], /financials:read/],
  ] as const)('V1-10 a key with %s buys no search for records that can never be bought', async (_, scopes, message) => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 20));
      const key = { KYBATCH_V1_API_KEY: job.sandbox.keys.v1Scopes([...scopes]) };
      const error = await refusal(run(JOB, environment(job, key)));
      expect(error).toMatchObject({ code: 'INSUFFICIENT_SCOPE', exit: 5, message: expect.stringMatching(message) });
      expect(error.hint?.includes('record.modules')).toBe(error.message.includes('fullKyb'));
      expect(job.sandbox.chargeLog).toEqual([]);
      // With a better key it continues.
      expect(await run(JOB, environment(job))).toMatchObject({ finished: true, outcomes: { complete: 20 } });
    });
  });

  test('a revoked key, a test key and a refused v2 token exit with 5 and begin nothing', async () => {
    await withJob({ pipeline: ['stages: [record, financials]'] }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      for (const [name, key] of [
        ['KYBATCH_V1_API_KEY', 'nobody-knows-this-key'],
        ['KYBATCH_V1_API_KEY', job.sandbox.keys.v1Test],
        ['KYBATCH_V2_API_KEY', 'nobody-knows-this-key'],
      ] as const)
        expect(await refusal(run(JOB, environment(job, { [name]: key })))).toMatchObject({ exit: 5 });
      expect(job.sandbox.chargeLog).toEqual([]);
    });
  });

  long(
    'V2-3 /metrics is read once at the beginning and once at the end, for the key and for the counters',
    async () => {
      await withJob({ pipeline: ['stages: [record, financials]'] }, async (job) => {
        job.writeCsv('in.csv', job.rows.slice(0, 2));
        const { requests } = job.sandbox;
        await run({ ...JOB, budget: 2 }, environment(job));
        expect(requests.get('metrics')).toBe(2);
        expect(await resume({ yes: true }, environment(job))).toMatchObject({ finished: true });
        expect(requests.get('metrics')).toBe(4);
      });
    },
  );

  long('resume and retry check too, but an attempt with nothing to buy does not', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 3));
      job.sandbox.script(aRecord, ['none', 400]);
      await run({ ...JOB, budget: 4 }, environment(job));
      const poor = { KYBATCH_V1_API_KEY: job.sandbox.keys.v1Scopes(['company:read']) };
      const before = job.sandbox.chargeLog.length;
      expect(await refusal(resume({ yes: true }, environment(job, poor)))).toMatchObject({ exit: 5 });
      await resume({ yes: true }, environment(job));
      expect(await refusal(retry({ yes: true }, environment(job, poor)))).toMatchObject({ exit: 5 });
      expect(await retry({ yes: true }, environment(job))).toMatchObject({ finished: true, outcomes: { complete: 3 } });
      expect(job.sandbox.chargeLog.length).toBeGreaterThan(before);
      const revoked = { KYBATCH_V1_API_KEY: 'canary-that-was-revoked' };
      const asked = job.sandbox.requests.get('searchKyb');
      job.writeCsv('in.csv', [...job.rows.slice(0, 3)].reverse());
      expect(await run(JOB, environment(job, revoked))).toMatchObject({
        outcomes: { complete: 3 },
        spent: { units: 0 },
      });
      expect(job.sandbox.requests.get('searchKyb')).toBe(asked);
    });
  });

  test('a wrong base URL is a usage error', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      const wrong = { KYBATCH_V1_BASE_URL: `${job.env.KYBATCH_V1_BASE_URL}/else` };
      expect(await refusal(run(JOB, environment(job, wrong)))).toMatchObject({ exit: 2 });
    });
  });

  test('X-8 V1-11 "no such route" in answer to a check is no refusal while another route is known', async () => {
    const pipeline = ['stages: [record, screening]', 'screening: {people_at_most: 1}'];
    await withJob({ pipeline }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 1));
      const checks: string[] = [];
      const strict = (url: string, body: string) => {
        if (!isCheck(url, body) || url.endsWith('/kyb/search')) return undefined;
        checks.push(url);
        return { status: 404, body: '{"error":{"code":"KYB_ROUTE_NOT_FOUND","message":"No."},"request_id":"r"}' };
      };
      await withGateway(job, strict, async (place) => {
        const { stopped, outcomes } = await run(JOB, place);
        expect({ stopped, outcomes }).toMatchObject({ stopped: null, outcomes: { complete: 1 } });
      });
      expect(checks.filter((path) => /\/kyb\/shareholders\/search\/(?:lite|full)$/.test(path))).toHaveLength(1);
    });
  });

  long.each([
    ['does not answer', 503],
    ['knows no such request', 404],
    ['asks for patience', 429],
    ['refuses odd requests for a reason of its own', 403],
  ])('a provider that %s is no refusal, and the run itself handles it', async (_, status) => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      job.sandbox.script(({ path }) => path.includes('/kyb/0/'), { status, code: 'SOMETHING_ELSE' });
      expect(await run(JOB, environment(job))).toMatchObject({ finished: true, outcomes: { complete: 2 } });
    });
  });

  long('X-1 a page of a proxy is no verdict on a key or a base URL that worked before', async () => {
    const pages = [
      { status: 302, body: '' },
      { status: 401, body: '<html>' },
      { status: 403, body: '<html>' },
      { status: 404, body: '{"message":"no Route matched"}' },
    ];
    await withJob({ pipeline: ['stages: [record, financials]', 'patience: 0'] }, async (job) => {
      let page: (typeof pages)[number] | undefined;
      let meets: 'what is asked first' | 'the rest' = 'what is asked first';
      const onTheWay = (url: string, body: string) => {
        // The free checks of each API at the beginning of an attempt.
        const isFirst = url.endsWith('/v2/metrics') || url.includes('/kyb/0/') || body === '{}';
        return isFirst === (meets === 'what is asked first') ? page : undefined;
      };
      await withGateway(job, onTheWay, async (place) => {
        job.writeCsv('in.csv', job.rows.slice(0, 1));
        // Nothing is known yet, so a refused key may well be wrong.
        page = { status: 302, body: '' };
        expect(await refusal(run(JOB, place))).toMatchObject({ code: 'HTTP_302', exit: 2 });
        page = { status: 401, body: '<html>' };
        expect(await refusal(run(JOB, place))).toMatchObject({ exit: 5 });
        // The provider itself accepted the key in this attempt.
        meets = 'the rest';
        for (page of pages.slice(2))
          expect((await run(JOB, place)).stopped, JSON.stringify(page)).toMatchObject({ exit: 6 });
        meets = 'what is asked first';
        page = undefined;
        expect(await run(JOB, place)).toMatchObject({ finished: true });
        for (const [index, met] of pages.entries()) {
          page = met;
          job.writeCsv('in.csv', job.rows.slice(0, index + 2));
          expect(await run(JOB, place), JSON.stringify(met)).toMatchObject({ finished: true });
        }
        // The provider's own answer is a verdict.
        page = { status: 401, body: '{"error":{"code":"UNAUTHENTICATED","message":"No."},"request_id":"r"}' };
        job.writeCsv('in.csv', job.rows.slice(0, pages.length + 2));
        expect(await refusal(run(JOB, place))).toMatchObject({ code: 'UNAUTHENTICATED', exit: 5 });
      });
    });
  });

  long('the run waits for a provider that is down, and no row fails', async () => {
    await withJob({ pipeline: ['stages: [record]', 'breaker: {failures: 5}', 'patience: 0'] }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 12));
      job.sandbox.setFaults({ rate503: 1 });
      const end = await run(JOB, environment(job));
      expect(end.stopped).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', exit: 6 });
    });
  });

  test('a charge for a check that must fail is recorded, and each check is sent once', async () => {
    const headers = { 'X-Service-Units': '1', 'X-Service-Remaining-Units': '99', 'Service-API-Version': 'v1' };
    let charged = 0;
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      charged += 1;
      const body = request.url?.endsWith('/search') ? [] : {};
      json(response, 200, body, { ...headers, 'X-Service-Remaining-Units': String(100 - charged) });
    };
    await withServer(answer, async ({ origin, requests }) => {
      await withJob({ pipeline: ['stages: [record]', 'search: {attempts: 1}'] }, async (job) => {
        job.writeCsv('in.csv', job.rows.slice(0, 2));
        const notes: string[] = [];
        const place = environment(job, { KYBATCH_V1_BASE_URL: origin });
        const end = await run(JOB, { ...place, onNote: ({ code }) => notes.push(code) });
        expect(end.outcomes).toMatchObject({ no_match: 2 });
        expect(requests.filter(({ url }) => url.includes('/kyb/0/'))).toHaveLength(1);
        expect(notes).toContain('KEY_CHECK_CHARGED');
        const { byDay } = await usage({}, place);
        expect(byDay.reduce((sum, { unitsCharged }) => sum + unitsCharged, 0)).toBe(charged);
      });
    });
  });

  // A killed process leaves the ledger as it is at that moment.
  test.skipIf(isOnPostgres)(
    'a process that dies during the checks is the last attempt, and no person has to decide',
    async () => {
      await withJob({ pipeline: ['stages: [record]', 'search: {attempts: 1}'] }, async (job) => {
        const killed = { dataDir: 'killed' };
        let copies = false;
        const copy = (url: string, body: string) => {
          if (!copies || !isCheck(url, body)) return undefined;
          // Node 24 does not copy over a link.
          rmSync(join(job.cwd, 'killed'), { recursive: true, force: true });
          cpSync(join(job.cwd, 'data'), join(job.cwd, 'killed'), { recursive: true, verbatimSymlinks: true });
          return undefined;
        };
        await withGateway(job, copy, async (place) => {
          job.writeCsv('in.csv', job.rows.slice(0, 2));
          await run({ ...JOB, budget: 2 }, place);
          rmSync(join(job.cwd, 'in.csv'));
          expect(await refusal(run(JOB, place))).toMatchObject({ exit: 2 });
          job.writeCsv('in.csv', job.rows.slice(0, 2));
          copies = true;
          const { run: id } = await run({ ...JOB, budget: 1 }, place);
          copies = false;
          const { calls } = await listUnknownCharges(killed, place);
          expect(calls).toEqual([]);
          expect(await checkPortfolios({ ...killed, maxAgeMs: 86_400_000 }, place)).toMatchObject({
            lists: [{ troubles: [{ kind: 'never' }, { kind: 'died' }], given: { budget: 1 } }],
            troubles: [],
          });
          await resume({ ...killed, run: id, yes: true }, place);
          const { byRun } = await usage(killed, place);
          expect(byRun.map(({ key }) => key)).toEqual([id, '(key check)']);
          // The other copy of the ledger has spent a unit.
          const check = { ...killed, maxAgeMs: 86_400_000, maxDrift: 1 };
          expect(await checkPortfolios(check, place)).toMatchObject({ well: true });
        });
      });
    },
  );

  test('V1-8 a check whose answer is lost is free: no unknown charge, and no unit of the limit', async () => {
    const answer = (request: IncomingMessage, response: ServerResponse, body: string) => {
      if (isCheck(request.url ?? '', body)) return void response.destroy();
      json(response, 200, [], units);
    };
    await withServer(answer, async ({ origin }) => {
      await withJob({ pipeline: ['stages: [record]', 'search: {attempts: 1}'] }, async (job) => {
        job.writeCsv('in.csv', job.rows.slice(0, 5));
        const place = environment(job, { KYBATCH_V1_BASE_URL: origin });
        const notes: string[] = [];
        const end = await run(
          { ...JOB, yes: undefined, budget: 4 },
          { ...place, onNote: ({ code }) => notes.push(code) },
        );
        expect(end.spent).toMatchObject({ units: 4, unknown: 0 });
        expect(notes).not.toContain('KEY_CHECK_CHARGED');
        expect((await listUnknownCharges({}, place)).calls).toEqual([]);
      });
    });
  });

  const units = { 'X-Service-Units': '1', 'Service-API-Version': 'v1' };
  const invalid = { error: { code: 'INVALID_REQUEST', message: 'No.' }, request_id: 'r' };
  test.each([
    ['answered and charged', (response: ServerResponse) => json(response, 200, {}, units)],
    ['refused and charged', (response: ServerResponse) => json(response, 400, invalid, units)],
  ])('X-8 a check that is %s is recorded and counted in the limit like any other call', async (_, met) => {
    let charged = 0;
    const answer = (request: IncomingMessage, response: ServerResponse, body: string) => {
      charged += 1;
      if (isCheck(request.url ?? '', body)) return void met(response);
      json(response, 200, [], { ...units, 'X-Service-Remaining-Units': String(100 - charged) });
    };
    await withServer(answer, async ({ origin }) => {
      await withJob({ pipeline: ['stages: [record]', 'search: {attempts: 1}'] }, async (job) => {
        job.writeCsv('in.csv', job.rows.slice(0, 5));
        const place = environment(job, { KYBATCH_V1_BASE_URL: origin });
        const { spent, parked } = await run({ ...JOB, yes: undefined, budget: 4 }, place);
        expect({ charged, spent: spent.units + spent.unknown }).toEqual({ charged: 4, spent: 4 });
        expect(parked.budget).toBeGreaterThan(0);
        const { byDay } = await usage({}, place);
        const booked = byDay.reduce((sum, { unitsCharged, unknown }) => sum + unitsCharged + unknown, 0);
        expect(booked).toBe(charged);
        // Its charge is known and nothing waits for it: only a lost one needs a person.
        expect((await listUnknownCharges({}, place)).calls.filter(({ charge }) => charge !== 'unknown')).toEqual([]);
      });
    });
  });
});
