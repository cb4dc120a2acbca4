import { parseArgs } from 'node:util';
import { openLedger } from '../../src/ledger/open-ledger.js';
import { begin, buy, call, intend, keyOf, settlement } from '../ledger/support.js';
import { makeDatabase } from '../postgres/server.js';
import { withWire } from '../postgres/wire.js';

/*
 * The cost of writing to a ledger in PostgreSQL: `npx tsx test/bench/postgres-writer.ts [--calls N]`. The server is on
 * this machine and does not wait for the disk. This leaves the program, the connection and PostgreSQL itself.
 */
const { values } = parseArgs({ options: { calls: { type: 'string', default: '2000' } } });
const CALLS = Number(values.calls);
const WARM = 300;

const { url, drop } = await makeDatabase();
const open = (ledgerUrl: string) => openLedger({ dataDir: 'nowhere', ledgerUrl, now: Date.now(), access: 'write' });

await withWire(url, async (wire) => {
  const ledger = await open(wire.url);
  const place = await begin(ledger);
  for (let i = 0; i < 10; i++) await buy(ledger, call(place, { requestKey: keyOf(`w${i}`) }));
  const counted = async (what: string, work: () => Promise<unknown>) => {
    wire.sent.clear();
    await work();
    const syncs = (wire.sent.get('S') ?? 0) + (wire.sent.get('Q') ?? 0);
    const all = [...wire.sent.values()].reduce((sum, count) => sum + count, 0);
    console.log(`${what}: ${syncs} statements in ${all} messages (${JSON.stringify(Object.fromEntries(wire.sent))})`);
  };
  const intent = await (async () => {
    let made: Awaited<ReturnType<typeof intend>> | undefined;
    await counted('intend', async () => {
      made = await intend(ledger, call(place, { requestKey: keyOf('one') }));
    });
    return made as Awaited<ReturnType<typeof intend>>;
  })();
  await counted('settle', () => ledger.calls.settle(intent, settlement({ body: Buffer.from('{"a":1}') })));
  await ledger.close();
});

const ledger = await open(url);
const place = await begin(ledger);
const one = (i: string) =>
  buy(ledger, call(place, { requestKey: keyOf(i) }), settlement({ body: Buffer.from(`{"i":"${i}"}`) }));
for (let i = 0; i < WARM; i++) await one(`warm ${i}`);
for (const abreast of [1, 8, 64]) {
  const cpu = process.cpuUsage();
  const begun = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < CALLS) await one(`${abreast} ${next++}`);
  };
  await Promise.all(Array.from({ length: abreast }, lane));
  const took = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `${abreast} abreast: ${Math.round((took * 1000) / CALLS)} µs for intend and settle, ${Math.round((user + system) / CALLS)} µs of them of this process`,
  );
}
await ledger.close();
await drop();
process.exit();
