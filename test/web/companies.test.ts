import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CompanyView } from '../../src/app/portfolio/company.js';
import type { RowsView } from '../../src/app/portfolio/rows.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { withOffice } from '../app/support.js';
import { long } from '../helpers/long.js';
import { type Page, withPage } from './page.js';

/** A page over the bought companies. */
const onCompanies = (stages: readonly string[], use: (page: Page, companies: readonly Company[]) => Promise<void>) =>
  withOffice({}, async ({ folder, run, companies: whole }) => {
    const companies = whole(3);
    await run(companies, stages);
    await withPage({ dataDir: join(folder, 'data') }, (page) => use(page, companies));
  });

test('companies are found, filtered and opened', () =>
  onCompanies(['record', 'financials', 'credit-report'], async ({ get, json }, [first]) => {
    const { v1Id = '', v2Id = '' } = first ?? {};
    expect(await json<RowsView>('/companies')).toMatchObject({ total: 3, facets: { outcome: [{ count: 3 }] } });
    const found = await get(`/companies?q=${v1Id}`);
    expect(found.text).toContain(`href="/companies/v1/${v1Id}"`);
    expect(found.text.match(/<tr>/g)).toHaveLength(2);
    expect(await get('/companies?outcome=failed')).toMatchObject({ status: 200 });
    const csv = await get('/companies?format=csv');
    expect(csv.text.trim().split('\n')).toHaveLength(4);
    // A list of rows reads no figures, so it says nothing about them.
    expect(csv.text).not.toMatch(/turnover/i);

    const { status, text } = await get(`/companies/v1/${v1Id}`);
    expect(status).toBe(200);
    // Bars, lines and the graph are drawn, every chart names its currency, and a missing value is not shown as none.
    expect(text.match(/<svg class="chart"/g)?.length).toBeGreaterThanOrEqual(2);
    expect(text).toMatch(/aria-label="Turnover and profit, [A-Z]{3}"/);
    expect(text).toContain('not returned');
    expect(text).not.toMatch(/beneficial owner(?! is implied)/);
    expect(text).not.toMatch(/undefined|NaN|\[object/);
    expect(text).not.toMatch(/[\w.]+@[\w.]+\.[a-z]{2,}/);
    const view = await json<CompanyView>(`/companies/v2/${v2Id}`);
    expect(view).toMatchObject({ name: first?.name, ids: { v1: v1Id } });
    // The full record documents a VAT number, but no address.
    const fact = (wanted: string) => view.facts.find(({ name }) => name === wanted);
    expect(fact('legal_form')?.state).not.toBe('not_bought');
    expect(fact('address')).toMatchObject({ state: 'not_bought', value: null });
    const [answer] = view.answers as unknown as readonly Record<string, unknown>[];
    expect(answer).toMatchObject({ fetched_at: expect.stringMatching(/^\d{4}-/), raw_sha256: expect.any(String) });
    expect(await get('/companies/v1/none')).toMatchObject({ status: 404 });
    expect(await get('/changes')).toMatchObject({ status: 200 });
  }));

long('the ownership graph leads to the pages of listed companies', () =>
  withOffice({}, async ({ folder, run, companies }) => {
    // Neighbours in the registry may be of one group.
    const all = companies(200);
    const isNear = (one: Company, other: Company) =>
      one !== other && Math.floor(one.index / 12) === Math.floor(other.index / 12);
    const listed = all.filter((one) => all.some((other) => isNear(one, other))).slice(0, 24);
    await run(listed);
    await withPage({ dataDir: join(folder, 'data') }, async ({ get, json }) => {
      for (const { v1Id } of listed) {
        const path = `/companies/v1/${v1Id}`;
        const { listed_nodes } = await json<{ listed_nodes: Record<string, { space: string; id: string }> }>(path);
        const [other] = Object.values(listed_nodes).map(({ space, id }) => `/companies/${space}/${id}`);
        if (other === undefined || other === path) continue;
        expect((await get(path)).text).toMatch(new RegExp(`<g [^>]*><a href="${other}"><rect`));
        return expect(await get(other)).toMatchObject({ status: 200 });
      }
      throw new Error('no company is linked with another one of the list');
    });
  }),
);

test('text from the list and the address is escaped', () =>
  onCompanies(['record'], async ({ get }) => {
    for (const path of [
      '/companies?q=%3Cscript%3E',
      '/companies?outcome=%22%3E%3Cscript%3E',
      '/companies/v1/%3Cscript%3E',
    ])
      expect((await get(path)).text).not.toMatch(/<script>/);
  }));
