// (a) kybatch, as `kybatch run` drives it: intents, settlement, compression, FULL durability.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { InputTable } from '../../../src/input/types.js';
import { connect } from '../../../src/ledger/db/sqlite/connection.js';
import type { RunRecord } from '../../../src/ledger/rows/runs.js';
import { readWork, startMeter, tellDone } from './work.js';

const work = readWork();
const built = async (file: string) => (await import(pathToFileURL(join(work.buildFolder, file)).href)) as never;
const { KybV1Client }: typeof import('../../../src/api/v1/client.js') = await built('api/v1/client.js');
const { PlatformV2Client }: typeof import('../../../src/api/v2/client.js') = await built('api/v2/client.js');
const { parseRoutes }: typeof import('../../../src/api/v2/routes.js') = await built('api/v2/routes.js');
const { loadPipeline }: typeof import('../../../src/config/pipeline.js') = await built('config/pipeline.js');
const { workOnRun }: typeof import('../../../src/engine/run.js') = await built('engine/run.js');
const { readInput }: typeof import('../../../src/input/read-input.js') = await built('input/read-input.js');
const { openLedger }: typeof import('../../../src/ledger/open-ledger.js') = await built('ledger/open-ledger.js');
const { systemClock }: typeof import('../../../src/util/clock.js') = await built('util/clock.js');

const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
const v1 = new KybV1Client({ baseUrl: `${work.origin}/api/v1`, apiKey: work.keys.v1 });
const routes = parseRoutes(readFileSync(work.routes, 'utf8'), work.routes);
const v2 = new PlatformV2Client({ baseUrl: `${work.origin}/api/v2`, apiKey: work.keys.v2, routes });
const ledger = await openLedger({ dataDir: folder, now: Date.now(), access: 'write' });
const pipeline = loadPipeline(work.pipeline, folder);
const settings = { pipeline, fresh: false, limit: null, providers: ['bench'] };
const run = await openRun(await readInput(work.input, {}));
const never = new AbortController().signal;
const meter = startMeter();
const end = await workOnRun({
  run,
  pipeline,
  budgetUnits: null,
  budgetReports: null,
  concurrency: work.concurrency,
  fresh: false,
  sources: {
    v1: { client: v1 as never, environment: 'bench' },
    v2: { client: v2 as never, environment: 'bench' },
  },
  ledger,
  clock: systemClock,
  drain: never,
  abort: never,
});
const used = meter();
await ledger.close();
await Promise.all([v1.close(), v2.close()]);
if (work.requests !== undefined) leaveRequests(work.requests);
if (work.anyOutcome !== true && end.progress.byOutcome.complete !== run.rowCount)
  throw new Error(`not all complete: ${JSON.stringify(end.progress)}`);
tellDone({ rows: run.rowCount, ...used, bytesOnDisk: statSync(join(folder, 'kybatch.db')).size });
rmSync(folder, { recursive: true });

/** Writes the requests to a file, in the order of sending. */
function leaveRequests(path: string): void {
  const database = connect(join(folder, 'kybatch.db'), { readonly: true });
  const sent = database
    .prepare(
      `SELECT row, api, operation, params FROM calls JOIN environments ON environments.id = environment_id
       WHERE charge <> 'owned' AND params IS NOT NULL ORDER BY calls.id`,
    )
    .all();
  database.close();
  writeFileSync(path, JSON.stringify(sent));
}

/** Builds from before portfolios read a file without one. */
async function openRun(table: InputTable): Promise<RunRecord> {
  const place = ['app/portfolio/open-list.js', 'app/portfolio.js'].find((file) =>
    existsSync(join(work.buildFolder, file)),
  );
  if (place === undefined) {
    type Before = (table: InputTable, given: typeof settings, runs: unknown, clock: unknown) => Promise<RunRecord>;
    const { openRun: before }: { openRun: Before } = await built('app/open-run.js');
    return await before(table, settings, ledger.runs, systemClock);
  }
  const { OpenList }: typeof import('../../../src/app/portfolio/open-list.js') = await built(place);
  const names = { v1: 'bench', v2: 'bench' };
  const list = await OpenList.open({ ...settings, table, portfolio: undefined }, names, ledger, Date.now());
  const { run: begun } = await list.begin();
  if (begun === null) throw new Error('nothing is due');
  return begun;
}
