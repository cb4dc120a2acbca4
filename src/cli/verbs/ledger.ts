import { backup } from '../../app/backup-ledger.js';
import { copyLedger } from '../../app/copy-ledger.js';
import { providerMoved } from '../../app/provider-moved.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { backupInWords, backupToJson, copiedInWords, copiedToJson, progressInWords } from '../terminal/copy-words.js';
import { PassingLine } from '../terminal/passing-line.js';
import { printResult, printResultAndWords } from '../terminal/print-result.js';
import { count } from '../terminal/text.js';
import { type CommonArgs, register, type Verb } from '../verb.js';

interface CopyArgs extends CommonArgs {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly anew: boolean;
}

const copyVerb: Verb<CopyArgs> = {
  command: 'copy',
  describe: 'Copy the ledger from a file to PostgreSQL, or back; spends nothing',
  builder: (yargs) =>
    yargs
      .option('to', {
        type: 'string',
        requiresArg: true,
        describe: 'postgres://user@host/database without a password, or a data directory (default: see below)',
      })
      .option('from', {
        type: 'string',
        requiresArg: true,
        describe: 'The ledger that is copied, named likewise (default: see below)',
      })
      .option('anew', {
        type: 'boolean',
        default: false,
        describe: 'Remove what a copy that was broken off has brought, and begin again',
      })
      .epilogue(
        'Without --from the ledger is copied that the environment names (KYBATCH_LEDGER_URL, else the data directory); without --to it is the target. A password is read from KYBATCH_LEDGER_URL or its _FILE, from PGPASSWORD or from ~/.pgpass, never from a flag. `kybatch migrate` makes the empty ledger in PostgreSQL first. A copy that was broken off goes on with the same command; until every table was read back and is the same, no other command works with it. docs/deploy/moving-a-ledger.md. Exit code: 0 whole, 1 not the same, 2 refused, 6 PostgreSQL is away, 75 one of the two is in use.',
      ),
  async run({ dataDir, json, from, to, anew }, io) {
    const line = new PassingLine(io);
    let doing: string | undefined;
    try {
      const view = await copyLedger(
        {
          dataDir,
          from,
          to,
          anew,
          onProgress: (progress) => {
            if (progress.doing !== doing) line.clear();
            doing = progress.doing;
            line.tell(() => progressInWords(progress));
          },
        },
        aroundOf(io),
      );
      line.clear();
      printResultAndWords(io, { json }, () => copiedToJson(view), copiedInWords(view));
      return view.isWhole ? ExitCode.ok : ExitCode.internal;
    } finally {
      line.clear();
    }
  },
};

interface BackupArgs extends CommonArgs {
  readonly dir: string;
}

const backupVerb: Verb<BackupArgs> = {
  command: 'backup <dir>',
  describe: 'Copy the ledger to a folder, also while a run works; spends nothing',
  builder: (yargs) =>
    yargs
      .positional('dir', {
        type: 'string',
        demandOption: true,
        describe: 'A folder without a ledger; it is made if it is missing',
      })
      .example('$0 ledger backup /backup/2026-11-17', 'a copy of today')
      .epilogue(
        'The copy is read back and compared before it gets its name, kybatch.db. To use it, give its folder as --data-dir, or copy it back. docs/deploy/backup.md. Exit code: 0 whole, 1 no room or not whole, 2 refused.',
      ),
  async run({ dataDir, json, dir }, io) {
    const line = new PassingLine(io);
    const onProgress = ({ done, of }: { readonly done: number; readonly of: number }) =>
      line.tell(() => `Copying: ${Math.floor((done / Math.max(1, of)) * 100)}%`);
    try {
      const view = await backup({ dataDir, to: dir, onProgress }, aroundOf(io));
      line.clear();
      printResult(
        io,
        { json },
        () => backupToJson(view),
        () => backupInWords(view),
      );
      return ExitCode.ok;
    } finally {
      line.clear();
    }
  },
};

interface MovedArgs extends CommonArgs {
  readonly from: string;
  readonly to: string;
}

const providerMovedVerb: Verb<MovedArgs> = {
  command: 'provider-moved',
  describe: 'File what is stored from one base URL under another; spends nothing',
  builder: (yargs) =>
    yargs
      .option('from', { type: 'string', requiresArg: true, demandOption: true, describe: 'The old base URL' })
      .option('to', { type: 'string', requiresArg: true, demandOption: true, describe: 'The new base URL' })
      .epilogue(
        'For a provider that has moved, or is spelt otherwise: nothing is bought again. Where both have an answer to the same request, the newer one is used. v1 and v2 are moved one by one. Exit code: 0 moved, 2 nothing is stored from there, 75 in use.',
      ),
  async run({ dataDir, json, from, to }, io) {
    const view = await providerMoved({ dataDir, from, to }, aroundOf(io));
    const { moved, lists, runs } = view;
    const ofApi = moved.map(({ api, answers }) => `${count(answers, 'answer')} of ${api}`).join(', ');
    const words = `Moved to ${view.to}: ${ofApi}; ${count(lists, 'portfolio')}, ${count(runs, 'run')}.\n`;
    printResult(
      io,
      { json },
      () => ({ from: view.from, to: view.to, moved, portfolios: lists, runs }),
      () => words,
    );
    return ExitCode.ok;
  },
};

export const ledgerVerb: Verb = {
  command: 'ledger',
  describe: 'The ledger itself: back it up, move it, file it under a new base URL',
  subcommands: [register(backupVerb), register(copyVerb), register(providerMovedVerb)],
  builder: (yargs) =>
    yargs
      .demandCommand(1, 'Name what to do: backup, copy or provider-moved.')
      .example('$0 ledger backup /backup/2026-11-17', 'a copy of a ledger in a file')
      .example('$0 ledger copy --to postgres://user@host/database', 'from the data directory to PostgreSQL')
      .example('$0 ledger copy --to data', 'back, where KYBATCH_LEDGER_URL names the database'),
  run: async () => ExitCode.ok,
};
