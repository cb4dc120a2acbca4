// Runs a pipeline until it ends, or until it kills itself: at the given boundary, the given time round.
import { readFileSync } from 'node:fs';
import { KybV1Client } from '../../dist/api/v1/client.js';
import { PlatformV2Client } from '../../dist/api/v2/client.js';
import { parseRoutes } from '../../dist/api/v2/routes.js';
import { loadPipeline } from '../../dist/config/pipeline.js';
import { openRun, workOnRun } from '../../dist/engine/run.js';
import { readInput } from '../../dist/input/read-input.js';
import { openLedger } from '../../dist/ledger/sqlite/ledger.js';
import { Packer } from '../../dist/ledger/sqlite/packer.js';
import { systemClock as clock } from '../../dist/util/clock.js';

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
  return {
    ...ledger,
    async intend(intent) {
      reached('before-intent', intent);
      const written = await ledger.intend(intent);
      reached('after-intent', intent);
      return written;
    },
    async settle(intent, settlement) {
      reached('after-answer', intent);
      const written = ledger.settle(intent, settlement);
      reached('inside-settlement', intent);
      const settled = await written;
      reached('after-settlement', intent);
      return settled;
    },
    async checkpoint(runId, row, checkpoint) {
      reached('before-checkpoint');
      await ledger.checkpoint(runId, row, checkpoint);
      reached('after-checkpoint');
    },
  };
}

// Also in a short life large bodies go through the second thread.
const opened = openLedger(job.dataDir, clock.now(), new Packer(0));
const ledger = job.kill === null ? opened : mortal(opened, job.kill);
const loaded = loadPipeline('analyst', process.cwd());
const pipeline = {
  ...loaded,
  retry: { attempts: 8, baseMs: 1, capMs: 5 },
  inDoubtCap: 10,
  report: { ...loaded.report, firstPollMs: 10, pollAtMostMs: 40 },
};
const settings = { pipeline, budgetUnits: null, concurrency: job.concurrency, limit: null, fresh: false };
const run = await openRun(await readInput(job.input), settings, ledger, clock);
const routes = parseRoutes(readFileSync(job.routesFile, 'utf8'), job.routesFile);
const v1 = new KybV1Client({ baseUrl: job.v1BaseUrl, apiKey: job.v1Key });
const v2 = new PlatformV2Client({ baseUrl: job.v2BaseUrl, apiKey: job.v2Key, routes });
process.stdout.write('started\n');
const end = await workOnRun({
  ...settings,
  run,
  ledger,
  clock,
  providers: { v1: { client: v1, environment: 'v1' }, v2: { client: v2, environment: 'v2' } },
  drain: new AbortController().signal,
  abort: new AbortController().signal,
});
await ledger.close();
await Promise.all([v1.close(), v2.close()]);
process.stdout.write(`${JSON.stringify({ finished: end.finished, outcomes: end.progress.byOutcome, run: run.id })}\n`);
