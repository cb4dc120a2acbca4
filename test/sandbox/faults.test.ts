import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { drawFault, drawLatencyMs } from '../../src/sandbox/faults.js';
import { type Fault, parseFaults, type Sandbox } from '../../src/sandbox/index.js';
import { long } from '../helpers/long.js';
import { numbered, v1, v2, withSandbox } from './support.js';

const search = { location: 'GB', name: 'limited' };
const lite = (sandbox: Sandbox) => v1(sandbox, `/kyb/${numbered(sandbox).v1Id}/lite`);

describe('faults before execution are free', () => {
  test.each<[string, Fault, number, string]>([
    ['a 429 that is no spent allowance', 429, 429, 'RATE_LIMITED'],
    ['502', 502, 502, 'DATA_SERVICE_UNAVAILABLE'],
    ['503', 503, 503, 'ACCOUNT_SERVICE_UNAVAILABLE'],
    ['the other 503', { status: 503, code: 'USAGE_LEDGER_UNAVAILABLE' }, 503, 'USAGE_LEDGER_UNAVAILABLE'],
    ['504', 504, 504, 'DATA_SERVICE_TIMEOUT'],
    ['401', 401, 401, 'UNAUTHENTICATED'],
    ['a spent allowance', { status: 429, code: 'ALLOWANCE_EXHAUSTED' }, 429, 'ALLOWANCE_EXHAUSTED'],
  ])('V1-12 %s', (_title, fault, status, code) =>
    withSandbox({}, async (sandbox) => {
      sandbox.script('liteKyb', [fault, 'none', fault]);
      const answers = [await lite(sandbox), await lite(sandbox), await lite(sandbox), await lite(sandbox)];
      expect(answers.map((answer) => answer.status)).toEqual([status, 200, status, 200]);
      expect(answers[0]?.body.error?.code).toBe(code);
      expect(sandbox.chargeLog).toHaveLength(2);
    }),
  );

  test('a reset before any byte', () =>
    withSandbox({}, async (sandbox) => {
      sandbox.script('liteKyb', 'resetBefore');
      await expect(lite(sandbox)).rejects.toThrow();
      expect(sandbox.chargeLog).toHaveLength(0);
    }));

  test('a request that is never answered', () =>
    withSandbox({}, async (sandbox) => {
      sandbox.script('searchKyb', 'hang');
      const options = {
        method: 'POST',
        headersTimeout: 50,
        body: JSON.stringify(search),
        headers: { authorization: `Bearer ${sandbox.keys.v1}`, 'content-type': 'application/json' },
      } as const;
      await expect(
        request(`${sandbox.v1BaseUrl}/kyb/search`, { ...options, signal: AbortSignal.timeout(50) }),
      ).rejects.toThrow();
      expect(sandbox.chargeLog).toHaveLength(0);
    }));

  test('V1-9 a redirect to another host, which must not get a key', () =>
    withSandbox({}, async (sandbox) => {
      sandbox.script('liteKyb', 'redirect');
      const answer = await lite(sandbox);
      expect([answer.status, answer.headers.location]).toEqual([302, `http://127.0.0.1:${sandbox.port}/elsewhere`]);
    }));

  test('an HTML error page, and any given answer', () =>
    withSandbox({}, async (sandbox) => {
      sandbox.script('liteKyb', ['htmlError', { reply: { status: 418, headers: { 'X-A': 'b' }, body: '{}' } }]);
      const page = await lite(sandbox);
      expect([page.status, page.headers['content-type']]).toEqual([502, 'text/html']);
      expect(await lite(sandbox)).toMatchObject({ status: 418, text: '{}', headers: { 'x-a': 'b' } });
    }));
});

describe('V2-17 v2 executes a request and answers with a failure', () => {
  const generate = (sandbox: Sandbox) => {
    const { sourceId, countryCode } = numbered(sandbox);
    return v2(sandbox, '/credit-report', { body: { source_id: sourceId, country: countryCode } });
  };

  test.each<[string, Fault, number, string]>([
    ['500 with a detail', { failAfterWork: 500 }, 500, '{"detail":"A server error occurred."}'],
    ['503 with a detail', { failAfterWork: 503 }, 503, '{"detail":"A server error occurred."}'],
    ['500 without a body', { failAfterWork: 500, text: '' }, 500, ''],
    ["502 with a gateway's page", { failAfterWork: 502, text: '<html>no</html>' }, 502, '<html>no</html>'],
  ])('%s: the report exists, is charged and is in the history', (_title, fault, status, text) =>
    withSandbox({}, async (sandbox) => {
      sandbox.script('creditReportGenerate', fault);
      expect(await generate(sandbox)).toMatchObject({ status, text });
      expect(sandbox.chargeLog).toMatchObject([{ operation: 'creditReportGenerate', units: 1, delivered: false }]);
      const { sourceId } = numbered(sandbox);
      expect(sandbox.reports).toMatchObject([{ sourceId }]);
      expect((await v2(sandbox, '/credit-report/history')).body).toMatchObject({ data: [{ source_id: sourceId }] });
    }),
  );

  test('a refused request did no work and stays refused', () =>
    withSandbox({}, async (sandbox) => {
      sandbox.script('creditReportGenerate', { failAfterWork: 500 });
      const answer = await v2(sandbox, '/credit-report', { body: { source_id: 'nobody', country: 'GB' } });
      expect(answer.status).toBe(400);
      expect(sandbox.reports).toEqual([]);
    }));

  long('as a rate it affects v2 in several forms, and never v1, whose failures are free', () =>
    withSandbox({ faults: parseFaults('failAfterWork=1') }, async (sandbox) => {
      const seen = new Set<string>();
      for (let count = 0; count < 40; count++) {
        const { status, text } = await v2(sandbox, '/metrics');
        seen.add(`${status} ${text === '' ? 'bare' : 'detail'}`);
      }
      expect([...seen].sort()).toEqual(['500 bare', '500 detail', '503 bare', '503 detail']);
      expect((await lite(sandbox)).status).toBe(200);
    }),
  );
});

describe('V1-5 faults after execution are charged', () => {
  test.each<[Fault]>([['lostAnswer'], ['resetMidBody']])(
    '%s breaks the connection and is logged as not delivered',
    (fault) =>
      withSandbox({}, async (sandbox) => {
        sandbox.script('liteKyb', fault);
        await expect(lite(sandbox)).rejects.toThrow();
        expect(sandbox.chargeLog).toMatchObject([{ operation: 'liteKyb', delivered: false }]);
        expect(sandbox.v1Remaining).toBe(999_999);
      }),
  );

  test('truncatedJson has complete framing and cut JSON', () =>
    withSandbox({}, async (sandbox) => {
      sandbox.script('liteKyb', 'truncatedJson');
      const { status, text } = await lite(sandbox);
      expect(status).toBe(200);
      expect(() => JSON.parse(text)).toThrow(SyntaxError);
      expect(sandbox.chargeLog).toMatchObject([{ delivered: false }]);
    }));

  long('wrongContentType, slowDrip and latency deliver the unchanged body', () =>
    withSandbox({}, async (sandbox) => {
      const plain = await lite(sandbox);
      sandbox.script('liteKyb', ['wrongContentType', 'slowDrip', { latencyMs: 30 }]);
      const wrong = await lite(sandbox);
      expect(wrong.headers['content-type']).toContain('text/html');
      const started = performance.now();
      const dripped = await lite(sandbox);
      expect(performance.now() - started).toBeGreaterThan(200);
      const late = await lite(sandbox);
      expect([wrong.text, dripped.text, late.text]).toEqual([plain.text, plain.text, plain.text]);
      expect(sandbox.chargeLog.map((charge) => charge.delivered)).toEqual([true, true, true, true]);
    }),
  );

  long('a gzip bomb is small when sent and huge unpacked, and without gzip the body is huge at once', () =>
    withSandbox({}, async (sandbox) => {
      const url = `${sandbox.v1BaseUrl}/kyb/${numbered(sandbox).v1Id}/lite`;
      const headers = { authorization: `Bearer ${sandbox.keys.v1}` };
      sandbox.script('liteKyb', ['gzipBomb', 'hugeBody']);
      const bomb = await request(url, { headers: { ...headers, 'accept-encoding': 'gzip' } });
      const packed = Buffer.from(await bomb.body.arrayBuffer());
      expect(packed.length).toBeLessThan(1_000_000);
      expect(() => gunzipSync(packed, { maxOutputLength: 64 * 1024 * 1024 })).toThrow(/larger than/);
      const flood = await request(url, { headers });
      let seen = 0;
      for await (const chunk of flood.body) {
        seen += (chunk as Buffer).length;
        if (seen > 8_000_000) break;
      }
      expect(seen).toBeGreaterThan(8_000_000);
    }),
  );

  test('V1-17 another body can replace the real one', () =>
    withSandbox({}, async (sandbox) => {
      sandbox.script('liteKyb', { rewrite: (body) => `{"wrapped":${body}}` });
      expect((await lite(sandbox)).body).toHaveProperty('wrapped');
    }));

  test('gzip answers need a request on both sides', () =>
    withSandbox({ gzip: true }, async (sandbox) => {
      const path = `/kyb/${numbered(sandbox).v1Id}/full`;
      expect((await v1(sandbox, path)).headers['content-encoding']).toBeUndefined();
      expect((await v1(sandbox, path, { headers: { 'accept-encoding': 'gzip' } })).headers['content-encoding']).toBe(
        'gzip',
      );
    }));
});

describe('faults from a seed', () => {
  test('a seed always draws its own faults, at about the requested rate', () => {
    const faults = { rate503: 0.1, lostAnswer: 0.05 };
    const drawn = (seed: number) => Array.from({ length: 4_000 }, (_, sequence) => drawFault(faults, seed, sequence));
    expect(drawn(7)).toEqual(drawn(7));
    expect(drawn(7)).not.toEqual(drawn(8));
    const lost = drawn(7).filter((fault) => fault === 'lostAnswer').length;
    const busy = drawn(7).filter(
      (fault) => typeof fault === 'object' && 'status' in fault && fault.status === 503,
    ).length;
    expect(lost).toBeGreaterThan(140);
    expect(lost).toBeLessThan(260);
    expect(busy).toBeGreaterThan(320);
    expect(busy).toBeLessThan(480);
  });

  test('latency has the requested median and tail', () => {
    const drawn = Array.from({ length: 5_000 }, (_, sequence) =>
      drawLatencyMs({ latency: { medianMs: 20, p99Ms: 200 } }, 3, sequence),
    ).sort((a, b) => a - b);
    expect(drawn[2_500]).toBeGreaterThan(17);
    expect(drawn[2_500]).toBeLessThan(23);
    expect(drawn[4_950]).toBeGreaterThan(140);
    expect(drawn[4_950]).toBeLessThan(290);
  });

  long('the charge log has every success, with any faults', () =>
    withSandbox(
      { faults: { ...parseFaults('nasty'), slowDrip: 0, latency: { medianMs: 0, p99Ms: 0 } } },
      async (sandbox) => {
        let whole = 0;
        for (let index = 0; index < 300; index++) {
          const answer = await v1(sandbox, '/kyb/search', { body: { location: 'GB', name: `x ${index}` } }).catch(
            () => undefined,
          );
          if (answer?.status === 200 && answer.headers['x-service-units'] === '1' && typeof answer.body === 'object')
            whole += 1;
        }
        const delivered = sandbox.chargeLog.filter((charge) => charge.delivered).length;
        expect(whole).toBe(delivered);
        expect(sandbox.chargeLog.length).toBeGreaterThan(delivered);
        expect(sandbox.v1Remaining).toBe(1_000_000 - sandbox.chargeLog.length);
      },
    ),
  );

  test('a line of faults is parsed, and an error in it is named', () => {
    expect(parseFaults('503=0.05, reset=0.01,lost=0.01,latency=20')).toEqual({
      rate503: 0.05,
      resetBefore: 0.01,
      lostAnswer: 0.01,
      latency: { medianMs: 20, p99Ms: 100 },
    });
    expect(parseFaults('mild,latency=1/2')).toMatchObject({ rate503: 0.01, latency: { medianMs: 1, p99Ms: 2 } });
    expect(parseFaults('none')).toEqual({});
    for (const text of ['wild', '500=0.1', 'reset=2', 'reset=', 'latency=x', 'toString', 'constructor=0.1']) {
      expect(() => parseFaults(text), text).toThrow(RangeError);
    }
  });
});
