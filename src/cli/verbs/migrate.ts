import { migrate } from '../../app/migrate.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { printResultAndWords } from '../terminal/print-result.js';
import type { CommonArgs, Verb } from '../verb.js';

interface MigrateArgs extends CommonArgs {
  readonly grant: string | undefined;
}

export const migrateVerb: Verb<MigrateArgs> = {
  command: 'migrate',
  describe: "Bring the ledger to this version's schema; spends nothing",
  builder: (yargs) =>
    yargs
      .option('grant', {
        type: 'string',
        requiresArg: true,
        describe: 'PostgreSQL: a role that is to work with the ledger and makes no tables',
      })
      .epilogue(
        'A ledger in PostgreSQL (KYBATCH_LEDGER_URL) is made and brought up to date by this command alone: it is the deploy step. In a file every command that writes does this by itself; commands that only look read an older ledger from a copy. Each step stands or falls as a whole: one that was broken off goes on where it was. Exit code: 0 up to date, 2 no ledger or one of a newer version, 75 in use.',
      ),
  async run({ dataDir, json, grant }, io) {
    const view = await migrate({ dataDir, grant }, aroundOf(io));
    const unchanged = view.madeJobs
      ? ' The tables of its jobs were made anew.'
      : grant === undefined
        ? ' Nothing was changed.'
        : '';
    const words =
      view.from === view.to
        ? `The ledger in ${view.ledger} is up to date (schema ${view.to}).${unchanged}\n`
        : view.from === 0
          ? `The ledger in ${view.ledger} was made (schema ${view.to}). Nothing was sent, nothing was spent.\n`
          : `The ledger in ${view.ledger} was brought from schema ${view.from} to ${view.to}. Nothing was sent, nothing was spent.\n`;
    const granted = grant === undefined ? '' : `The role ${grant} may work with it.\n`;
    printResultAndWords(
      io,
      { json },
      () => ({ ledger: view.ledger, data_dir: view.dataDir, from: view.from, to: view.to }),
      words + granted,
    );
    return ExitCode.ok;
  },
};
