// The built command line in a process that can be killed, on a clock that jumps whenever all work waits.
import diagnostics from 'node:diagnostics_channel';
import { openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { runCli } from '../../build/cli/cli.js';

const [timeFile = '', cwd = ''] = process.argv.slice(2);
const file = openSync(timeFile, 'r+');

let onTheWire = 0;
diagnostics.subscribe('undici:request:create', () => (onTheWire += 1));
diagnostics.subscribe('undici:request:trailers', () => (onTheWire -= 1));
diagnostics.subscribe('undici:request:error', () => (onTheWire -= 1));

/** The ledger syncs its log beside the event loop. */
const isWriting = () => process.getActiveResourcesInfo().some((resource) => resource.startsWith('FSReq'));

/** Sleepers wake in order, as soon as no call and no write is under way. The provider reads the time from the file. */
const clock = {
  time: 0,
  sleepers: [],
  rolling: false,
  now: () => clock.time,
  set(time) {
    clock.time = time;
    writeSync(file, new Uint8Array(new Float64Array([time]).buffer), 0, 8, 0);
  },
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const sleeper = { at: clock.time + ms, wake: resolve };
      const onAbort = () => {
        clock.sleepers = clock.sleepers.filter((other) => other !== sleeper);
        reject(signal.reason);
      };
      sleeper.wake = () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      clock.sleepers.push(sleeper);
      if (!clock.rolling) void roll();
    });
  },
};

async function roll() {
  clock.rolling = true;
  while (clock.sleepers.length > 0) {
    await pause(1);
    if (onTheWire > 0 || isWriting()) continue;
    const next = clock.sleepers.reduce((first, other) => (other.at < first.at ? other : first), clock.sleepers[0]);
    if (next === undefined) break;
    clock.sleepers = clock.sleepers.filter((other) => other !== next);
    clock.set(Math.max(clock.time, next.at));
    next.wake();
  }
  clock.rolling = false;
}

process.on('message', async ({ args, env, now, freeAfter }) => {
  clock.set(now);
  let stdout = '';
  let stderr = '';
  let asked = 0;
  const code = await runCli(args, {
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
    env,
    cwd,
    clock,
    interactive: false,
    columns: 100,
    freeBytes: () => (freeAfter !== null && asked++ >= freeAfter ? 1_000_000 : 100_000_000_000),
    onInterrupt: () => () => {},
  });
  process.send({ code, stdout, stderr, now: clock.time });
});
process.send('ready');
