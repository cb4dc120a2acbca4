import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { parseFaults } from '../../src/sandbox/index.js';
import { ManualClock } from '../../src/util/clock.js';
import { long } from '../helpers/long.js';
import { companyWhere, numbered, v2, withSandbox } from './support.js';

const day = 86_400_000;

describe('credit reports', () => {
  test('V2-6 a report is processing until its time, then finish, and opening it again is free', () => {
    const clock = new ManualClock('2026-03-01T10:00:00Z');
    return withSandbox({ clock, reportDelayMs: 120_000 }, async (sandbox) => {
      const company = numbered(sandbox);
      const hits = (
        await v2(sandbox, '/credit-report/search', {
          body: { country: 'GB', registration_number: company.registrationNumber },
        })
      ).body;
      expect(hits[0]).toMatchObject({ id: company.sourceId, registration_number: company.registrationNumber });
      const made = (await v2(sandbox, '/credit-report', { body: { source_id: company.sourceId, country: 'GB' } })).body;
      expect(made).toMatchObject({
        source_id: company.sourceId,
        expired: false,
        status: 'processing',
        date_created: '2026-03-01T10:00:00.000Z',
      });
      expect(Number.isInteger(made.id)).toBe(true);
      expect((await v2(sandbox, `/credit-report/${made.id}/status`)).text).toBe('false');
      const early = await v2(sandbox, `/credit-report/body?id=${made.id}`);
      expect([early.status, Object.keys(early.body)]).toEqual([409, ['detail']]);
      clock.advance(120_000);
      expect((await v2(sandbox, `/credit-report/${made.id}/status`)).text).toBe('true');
      expect((await v2(sandbox, `/credit-report/body?id=${made.id}`)).body).toHaveProperty('summary');
      expect((await v2(sandbox, `/credit-report/body?id=${made.id}`)).status).toBe(200);
      expect(sandbox.chargeLog.map((charge) => [charge.operation, charge.permission])).toEqual([
        ['creditReportGenerate', 'credit_report'],
      ]);
      expect((await v2(sandbox, '/credit-report/1/status')).status).toBe(404);
    });
  });

  test('V2-6 generating may be slow, and the history may list a report late, but it is charged from the beginning', () => {
    const clock = new ManualClock('2026-03-01T10:00:00Z');
    const options = { clock, reportDelayMs: 60_000, generateMs: 45_000, historyLagMs: 12_000 };
    return withSandbox(options, async (sandbox) => {
      const body = { source_id: numbered(sandbox).sourceId, country: 'GB' };
      const listed = async () => (await v2(sandbox, '/credit-report/history')).body.total_results;
      const generating = v2(sandbox, '/credit-report', { body });
      while (sandbox.chargeLog.length === 0) await new Promise((turn) => setImmediate(turn));
      expect(await listed()).toBe(0);
      clock.advance(45_000);
      expect((await generating).body).toMatchObject({ status: 'processing' });
      clock.advance(15_000 + 11_999);
      expect(await listed()).toBe(0);
      clock.advance(1);
      expect(await listed()).toBe(1);
    });
  });

  test('V2-17 a share of the generate calls fails after generating, and no other call does', () =>
    withSandbox({ faults: parseFaults('failGenerate=1'), reportDelayMs: 0 }, async (sandbox) => {
      const body = { source_id: numbered(sandbox).sourceId, country: 'GB' };
      for (const path of ['/credit-report', '/credit-report/instant'])
        expect((await v2(sandbox, path, { body })).status).toBe(500);
      expect(sandbox.reports).toHaveLength(2);
      expect((await v2(sandbox, '/credit-report/history')).body).toMatchObject({ total_results: 2 });
    }));

  test('V2-6 the history is newest first, searchable, paged, and expires after thirty days', () => {
    const clock = new ManualClock('2026-03-01T10:00:00Z');
    return withSandbox({ clock, reportDelayMs: 0 }, async (sandbox) => {
      const one = numbered(sandbox);
      const two = companyWhere(
        sandbox,
        (other) => other.countryCode === 'DE' && sandbox.registry.hasCreditReport(other),
      );
      for (const company of [one, two, one]) {
        await v2(sandbox, '/credit-report', { body: { source_id: company.sourceId, country: company.countryCode } });
        clock.advance(20 * day);
      }
      const all = (await v2(sandbox, '/credit-report/history')).body;
      expect(all).toMatchObject({ total_results: 3, pages: 1 });
      expect((all.data ?? []).map((item) => [item.source_id, item.expired, item.status])).toEqual([
        [one.sourceId, false, 'finish'],
        [two.sourceId, true, 'finish'],
        [one.sourceId, true, 'finish'],
      ]);
      expect(Object.keys(all.data?.[0] ?? {}).sort()).toEqual([
        'date_created',
        'expired',
        'id',
        'name',
        'source_id',
        'status',
        'url',
      ]);
      expect((await v2(sandbox, `/credit-report/history?search=${one.sourceId}&per_page=1&page=2`)).body).toMatchObject(
        { total_results: 2, pages: 2 },
      );
    });
  });

  long('V2-6 delays are zero to three minutes, fixed for each company', () => {
    const clock = new ManualClock();
    return withSandbox({ clock }, async (sandbox) => {
      const some = Array.from({ length: 80 }, (_, index) => sandbox.registry.company(index))
        .filter(sandbox.registry.hasCreditReport)
        .slice(0, 60);
      for (const company of [...some, ...some]) {
        await v2(sandbox, '/credit-report', { body: { source_id: company.sourceId, country: company.countryCode } });
      }
      const delays = sandbox.reports.map((report) => report.readyAt - report.createdAt);
      expect(delays.slice(60)).toEqual(delays.slice(0, 60));
      expect(Math.min(...delays)).toBe(0);
      expect(Math.max(...delays)).toBeGreaterThan(60_000);
      expect(Math.max(...delays)).toBeLessThanOrEqual(180_000);
    });
  });

  test('V2-6 the combined call waits on the clock and returns the body, html as html', () => {
    const clock = new ManualClock();
    return withSandbox({ clock, reportDelayMs: 60_000 }, async (sandbox) => {
      const { sourceId, countryCode } = numbered(sandbox);
      const pending = v2(sandbox, '/credit-report/instant', {
        body: { source_id: sourceId, country: countryCode, format: 'html' },
      });
      while (sandbox.reports.length === 0) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(60_000);
      const answer = await pending;
      const answeredAt = clock.now();
      expect(answer.headers['content-type']).toContain('text/html');
      expect(sandbox.chargeLog).toMatchObject([
        { operation: 'creditReportCombined', at: answeredAt - 60_000, delivered: true },
      ]);
    });
  });
});

describe('watch', () => {
  test('V2-13, V2-16 a change to a watched field is posted once as UPDATE, and the history lists it as UPDATED', async () => {
    const posts: unknown[] = [];
    const hook = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += String(chunk);
      });
      request.on('end', () => {
        posts.push(JSON.parse(text));
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', () => resolve()));
    try {
      await withSandbox({ clock: new ManualClock('2026-03-01T10:00:00Z') }, async (sandbox) => {
        const { v2Id, registrationNumber } = numbered(sandbox);
        const callback = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/secret`;
        await v2(sandbox, '/companies/watch/callback', { method: 'PUT', body: { callback } });
        expect((await v2(sandbox, '/companies/watch/callback')).body).toEqual({ callback });
        expect(await sandbox.changeCompany(v2Id, 'name', 'Nobody looks')).toEqual({ recorded: false });
        expect(
          (await v2(sandbox, `/companies/${v2Id}/watch`, { method: 'POST', body: { fields: ['name'] } })).status,
        ).toBe(201);
        expect(await sandbox.changeCompany(v2Id, 'vat_number', 'X')).toEqual({ recorded: false });
        expect(await sandbox.changeCompany(v2Id, 'name', 'New Name')).toEqual({ recorded: true, status: 204 });
        expect(posts).toEqual([
          {
            company_data: {
              id: v2Id,
              name: 'Nobody looks',
              registration_number: registrationNumber,
              country_code: 'GB',
              date: expect.any(String),
            },
            field: 'name',
            status: 'UPDATE',
            new_value: 'New Name',
            old_value: 'Nobody looks',
          },
        ]);
        const history = (await v2(sandbox, `/companies/${v2Id}/watch/history?from_date=2026-03-01&to_date=2026-03-01`))
          .body;
        expect(history).toMatchObject({
          total_results: 1,
          pages: 1,
          data: [{ status: 'UPDATED', event_type: 'company_name', date_created: '2026-03-01T10:00:00.000Z' }],
        });
        expect((await v2(sandbox, `/companies/${v2Id}/watch/history?from_date=2026-03-02`)).body.total_results).toBe(0);
        const watched = (await v2(sandbox, '/companies/watch')).body;
        expect(watched).toMatchObject({ total_results: 1, data: [{ id: v2Id, fields: ['name'] }] });
        expect((await v2(sandbox, `/companies/${v2Id}/watch`, { method: 'DELETE' })).status).toBe(200);
        expect((await v2(sandbox, `/companies/${v2Id}/watch`, { method: 'DELETE' })).status).toBe(404);
      });
    } finally {
      hook.close();
    }
  });

  test('V2-13 the field set grows and shrinks, accepts a bare list, and refuses unknown names', () =>
    withSandbox({}, async (sandbox) => {
      const before = (await v2(sandbox, '/companies/watch/fields')).body;
      expect(before).toHaveLength(7);
      expect((await v2(sandbox, '/companies/watch/fields', { body: ['company_status'] })).body).toHaveLength(8);
      expect(
        (await v2(sandbox, '/companies/watch/fields/remove', { body: { fields: ['company_status', 'name'] } })).body,
      ).toHaveLength(6);
      expect((await v2(sandbox, '/companies/watch/fields', { body: { fields: ['colour'] } })).body).toHaveProperty([
        'fields.0',
      ]);
      expect(
        (await v2(sandbox, '/companies/watch/callback', { method: 'PUT', body: { callback: 'ftp://x' } })).body,
      ).toHaveProperty('callback');
    }));
});
