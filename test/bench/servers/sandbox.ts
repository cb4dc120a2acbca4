import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Ask, cpuMicroseconds, tell } from './messages.js';

const [buildFolder = '', prepared, latencyMs = '0'] = process.argv.slice(2);
const built = pathToFileURL(join(buildFolder, 'sandbox', 'index.js')).href;
const { startSandbox } = (await import(built)) as typeof import('../../../src/sandbox/index.js');
const sandbox = await startSandbox({
  prepared: prepared === 'prepared',
  allowance: 1_000_000_000,
  faults: { latency: { medianMs: Number(latencyMs), p99Ms: Number(latencyMs) } },
  v2Limits: { financial: { daily: 1_000_000_000, plan: 1_000_000_000 } },
});

process.on('message', (ask: Ask) => {
  if (ask.type === 'cpu') tell({ type: 'cpu', microseconds: cpuMicroseconds() });
});
process.on('disconnect', () => process.exit());
tell({ type: 'ready', origin: `http://127.0.0.1:${sandbox.port}`, keys: sandbox.keys });
