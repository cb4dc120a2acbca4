import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';

/** A new module of the provider needs its operation, a stage file, a reader file, and a line for each in its list. */
vi.mock('../../src/api/v2/operations.js', async (original) => {
  const listed = await original<typeof import('../../src/api/v2/operations.js')>();
  const { licence } = await import('./licence-operation.js');
  return { v2Operations: { ...listed.v2Operations, ...licence } };
});
vi.mock('../../src/stages/list.js', async (original) => {
  const listed = await original<typeof import('../../src/stages/list.js')>();
  const { licenceStage } = await import('./licence-stage.js');
  return { stages: [...listed.stages, licenceStage] };
});
vi.mock('../../src/readers/list.js', async (original) => {
  const listed = await original<typeof import('../../src/readers/list.js')>();
  const { licenceReader } = await import('./licence-reader.js');
  return { ...listed, readers: [...listed.readers, licenceReader] };
});

import { erase, previewErase } from '../../src/app/admin/erase.js';
import { exportTables } from '../../src/app/run/export.js';
import { plan } from '../../src/app/run/plan.js';
import { run } from '../../src/app/run/run.js';
import { pipelineJsonSchema } from '../../src/config/pipeline-schema.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { systemClock } from '../../src/util/clock.js';
import { describePipeline } from '../docs/reference/pipeline.js';
import { describeTables } from '../docs/reference/tables.js';
import { lineOf, wholeCompanies, writeInput } from '../engine/support.js';
import { readTable } from '../export/support.js';
import { json, withServer } from '../helpers/http-server.js';
import { long } from '../helpers/long.js';

test('a stage in the list is in the pipeline file, its schema and its reference', () => {
  const schema = JSON.stringify(pipelineJsonSchema());
  expect(schema).toContain('"trade-licence"');
  expect(schema).toContain('The year that the licence is for');
  const reference = describePipeline();
  expect(reference).toMatch(/^\| \[`trade-licence`\]\(#trade-licence\) \| The licence to trade \(v2\)\. \|/m);
  expect(reference).toMatch(/^\| `trade_licence\.year` \| `2024` \|/m);
  expect(reference).toMatch(/^\| `licence` \| `90d` \|/m);
  expect(describeTables().get('licences')).toContain('One row per');
  expect(describeTables().get('rows')).toContain('`trade_licence_status`');
});

long('it is planned, bought, exported and purged like any other', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'kybatch-adding-'));
  const sandbox = await startSandbox({ size: 200_000, seed: 1 });
  try {
    const companies = wholeCompanies(sandbox, 3);
    await withLicences(sandbox, async (v2BaseUrl, asked) => {
      const lines = companies.map((company) => lineOf(company));
      writeInput(join(cwd, 'input.csv'), lines);
      writeFileSync(join(cwd, 'mine.yaml'), 'stages: [record, trade-licence]\ntrade_licence: {year: 2025}\n');
      const env = {
        KYBATCH_V1_BASE_URL: sandbox.v1BaseUrl,
        KYBATCH_V1_API_KEY: sandbox.keys.v1,
        KYBATCH_V2_BASE_URL: v2BaseUrl,
        KYBATCH_V2_API_KEY: sandbox.keys.v2,
      };
      const environment = { env, cwd, clock: systemClock };
      const job = { input: 'input.csv', pipeline: './mine.yaml' };
      const before = await plan(job, environment);
      // Two searches are allowed in each space, and each stage asks once.
      expect(before.units).toMatchObject({ atLeast: 3, atMost: 9 });
      expect(before.v2Calls).toEqual({ atLeast: 0, atMost: 9 });

      const end = await run({ ...job, yes: true }, environment);
      expect(end.outcomes).toMatchObject({ complete: 3 });
      expect(end.stages['trade-licence']).toEqual({ done: 3 });
      expect(asked).toHaveLength(3);
      expect((await plan(job, environment)).v2Calls).toEqual({ atLeast: 0, atMost: 0 });

      const { folder } = await exportTables({ run: end.run }, environment);
      const rows = readTable(folder, 'rows');
      expect(rows.map((row) => row.trade_licence_status)).toEqual(['done', 'done', 'done']);
      const licences = readTable(folder, 'licences');
      expect(licences).toHaveLength(3);
      expect(licences.every((row) => row.number === `L-${row.v2_company_id}-2025`)).toBe(true);
      expect(licences[0]?.extra).toBe('{"holder":"Ann"}');

      const request = { kind: 'entity', space: 'v2', id: licences[0]?.v2_company_id ?? '' } as const;
      expect((await previewErase({ request }, environment)).answers).toBeGreaterThanOrEqual(3);
      await erase({ request }, environment);
      const after = await exportTables({ run: end.run }, environment);
      expect(readTable(after.folder, 'licences')).toHaveLength(2);
    });
  } finally {
    await sandbox.close();
    rmSync(cwd, { recursive: true, force: true });
  }
});

/** The sandbox behind a server with one more module. */
async function withLicences(sandbox: Sandbox, use: (baseUrl: string, asked: string[]) => Promise<void>): Promise<void> {
  const asked: string[] = [];
  await withServer(
    async (request, response) => {
      const [, id, year] = /\/licence\/(\d+)\?year=(\d+)/.exec(request.url ?? '') ?? [];
      if (id !== undefined) {
        asked.push(id);
        return json(response, 200, { number: `L-${id}-${year}`, holder: 'Ann' });
      }
      const body = server.requests.at(-1)?.body ?? '';
      const answer = await fetch(`${new URL(sandbox.v2BaseUrl).origin}${request.url}`, {
        method: request.method ?? 'GET',
        headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
        ...(body === '' ? {} : { body }),
      });
      json(response, answer.status, await answer.text());
    },
    async (opened) => {
      server = opened;
      await use(`${opened.origin}${new URL(sandbox.v2BaseUrl).pathname}`, asked);
    },
  );
}
let server: { readonly requests: readonly { readonly body: string }[] };
