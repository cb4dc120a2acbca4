import { startPostgres } from './server.js';

/* A PostgreSQL for experiments, as long as this runs: `npm run postgres`. Its data is removed at the end. */

const server = await startPostgres();
process.stdout.write(`PostgreSQL is up until you press Ctrl-C. In the other terminals:

  export KYBATCH_LEDGER_URL='${server.url('postgres')}'

`);
let isStopping = false;
const stop = () => {
  if (isStopping) return;
  isStopping = true;
  void server.stop().then(() => process.exit());
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
// A signal may reach npm alone, and npm may end before it passes it on. So a process without a parent ends, too.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) stop();
}, 500);
