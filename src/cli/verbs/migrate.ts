import { migrate } from '../../app/migrate.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { printResultAndWords } from '../terminal/print-result.js';
import type { CommonArgs, Verb } from '../verb.js';

export const migrateVerb: Verb<CommonArgs> = {
  command: 'migrate',
  describe: "Bring the ledger to this version's schema; spends nothing",
  builder: (yargs) =>
    yargs.epilogue(
      'Every command that writes does this by itself; commands that only look read an older ledger from a copy. Each step stands or falls as a whole: one that was broken off goes on where it was. Exit code: 0 up to date, 2 no ledger or one of a newer version, 75 in use.',
    ),
  async run({ dataDir, json }, io) {
    const view = await migrate({ dataDir }, aroundOf(io));
    const words =
      view.from === view.to
        ? `The ledger in ${view.dataDir} is up to date (schema ${view.to}). Nothing was changed.\n`
        : `The ledger in ${view.dataDir} was brought from schema ${view.from} to ${view.to}. Nothing was sent, nothing was spent.\n`;
    printResultAndWords(io, { json }, () => ({ data_dir: view.dataDir, from: view.from, to: view.to }), words);
    return ExitCode.ok;
  },
};
