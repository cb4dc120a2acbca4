// A sandbox in a process of its own: what it charges stands in its journal, whatever dies around it.
import { startSandbox } from '../../build/sandbox/index.js';

const sandbox = await startSandbox(JSON.parse(process.argv[2] ?? '{}'));

process.on('message', ({ allowance }) => {
  sandbox.setPlan('paid', allowance);
  process.send({ allowance });
});
process.on('disconnect', () => process.exit());
const { v1BaseUrl, v2BaseUrl, routesFile, keys } = sandbox;
process.send({ v1BaseUrl, v2BaseUrl, routesFile, keys: { v1: keys.v1, v2: keys.v2 } });
