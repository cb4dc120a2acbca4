import { startPostgres } from './server.js';

/* A PostgreSQL to try things out with, for as long as this runs: `npm run postgres`. It forgets everything when it ends. */

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
// A signal may reach npm alone, and npm may be gone before it is passed on: who has no parent any more ends, too.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) stop();
}, 500);
