// Runs a pipeline until it ends, or until it kills itself: at the given boundary, the given time round.
import { readFileSync } from 'node:fs';
import { KybV1Client } from '../../build/api/v1/client.js';
import { PlatformV2Client } from '../../build/api/v2/client.js';
import { parseRoutes } from '../../build/api/v2/routes.js';
import { OpenList } from '../../build/app/portfolio/open-list.js';
import { loadPipeline } from '../../build/config/pipeline.js';
import { workOnRun } from '../../build/engine/run.js';
import { readInput } from '../../build/input/read-input.js';
import { openLedger } from '../../build/ledger/open-ledger.js';
import { systemClock as clock } from '../../build/util/clock.js';

const job = JSON.parse(process.argv[2] ?? '{}');

function die() {
  process.kill(process.pid, 'SIGKILL');
  // The signal is delivered before the next instruction; this only tells the reader.
  for (;;);
}

/** Dies at `boundary`, when it is reached (by this operation, if one is named) for the `occurrence`th time. */
function mortal(ledger, { boundary, occurrence, operation }) {
  let left = occurrence;
  const reached = (name, call) => {
    if (name !== boundary || (operation !== undefined && call?.operation !== operation)) return;
    left -= 1;
    if (left === 0) die();
  };
  const { calls, runs } = ledger;
  // The meter is read inside the transaction, when the call is settled and its row, budget and answer are not.
  const watched = (intent) =>
    Object.defineProperty({ ...intent }, 'meter', {
      get() {
        reached('inside-settlement', intent);
        return intent.meter;
      },
    });
  return {
    ...ledger,
    calls: {
      ...calls,
      async intend(call, limits) {
        reached('before-intent', call);
        const intended = await calls.intend(call, limits);
        if (intended.kind === 'intent') reached('after-intent', call);
        return intended;
      },
      async settle(intent, settlement) {
        reached('after-answer', intent);
        const settled = await calls.settle(watched(intent), settlement);
        reached('after-settlement', intent);
        return settled;
      },
    },
    runs: {
      ...runs,
      async settleRow(...args) {
        reached('before-checkpoint');
        const settled = await runs.settleRow(...args);
        reached('after-checkpoint');
        return settled;
      },
    },
  };
}

// Also in a short life large bodies go through the second thread.
const opened = await openLedger({ dataDir: job.dataDir, now: clock.now(), access: 'write', packAlone: 0 });
const ledger = job.kill === null ? opened : mortal(opened, job.kill);
const loaded = loadPipeline(job.pipeline, process.cwd());
const report = { ...loaded.options['credit-report'], firstPollMs: 10, pollAtMostMs: 40, lookForMs: job.lookForMs };
const pipeline = {
  ...loaded,
  retry: { attempts: 8, baseMs: 1, capMs: 5 },
  inDoubtCap: 10,
  options: { ...loaded.options, 'credit-report': report },
};
const settings = { pipeline, fresh: false, limit: null, providers: ['v1', 'v2'] };
const names = { v1: 'v1', v2: 'v2' };
const list = await OpenList.open({ ...settings, table: await readInput(job.input) }, names, ledger, clock.now());
const begun = await list.begin();
const run = begun.run ?? (await ledger.portfolios.lastRun(begun.portfolio.id));
const routes = parseRoutes(readFileSync(job.routesFile, 'utf8'), job.routesFile);
const v1 = new KybV1Client({ baseUrl: job.v1BaseUrl, apiKey: job.v1Key });
const v2 = new PlatformV2Client({ baseUrl: job.v2BaseUrl, apiKey: job.v2Key, routes });
process.stdout.write('started\n');
const end = await workOnRun({
  run,
  pipeline,
  budgetUnits: null,
  budgetReports: null,
  concurrency: job.concurrency,
  fresh: false,
  ledger,
  clock,
  sources: { v1: { client: v1, environment: 'v1' }, v2: { client: v2, environment: 'v2' } },
  drain: new AbortController().signal,
  abort: new AbortController().signal,
});
await ledger.close();
await Promise.all([v1.close(), v2.close()]);
process.stdout.write(`${JSON.stringify({ finished: end.finished, outcomes: end.progress.byOutcome, run: run.id })}\n`);
