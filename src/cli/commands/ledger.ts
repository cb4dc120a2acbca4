import type { BackupView, CopyLedgerView, MigrateView } from '../../app/admin/ledger.js';
import { ExitCode } from '../../domain/errors.js';
import { bytesInWords, type Message, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, withCommas } from '../../util/words.js';
import { register, switchFlag, textFlag } from '../command.js';
import { appEnvironment, printResult, printResultAndWords, TransientLine } from '../terminal/io.js';
import { shellWord } from '../terminal/text.js';
import { block, textTable, view } from '../terminal/view.js';

const copyCommand = register({
  command: 'copy',
  describe: 'Copy the ledger to PostgreSQL, or back to a file',
  builder: (yargs) =>
    yargs
      .option(
        'to',
        textFlag('postgres://user@host/database without a password, or a data directory (default: see below)'),
      )
      .option('from', textFlag('The ledger to copy, a folder or an address (default: see below)')),
  async run({ dataDir, from, to }, io) {
    const line = new TransientLine(io);
    let doing: string | undefined;
    try {
      const { copyLedger } = await import('../../app/admin/ledger.js');
      const copied = await copyLedger(
        {
          dataDir,
          from,
          to,
          onProgress: (progress) => {
            if (progress.doing !== doing) line.clear();
            doing = progress.doing;
            line.tell(() => progressInWords(progress));
          },
        },
        appEnvironment(io),
      );
      line.clear();
      printResultAndWords(io, copiedJson(copied), copiedInWords(copied));
      return copied.isWhole ? ExitCode.ok : ExitCode.internal;
    } finally {
      line.clear();
    }
  },
});

const backupCommand = register({
  command: 'backup <dir>',
  describe: 'Back up the ledger to a folder, also while a run works',
  builder: (yargs) =>
    yargs.positional('dir', {
      type: 'string',
      demandOption: true,
      describe: 'A folder without a ledger. kybatch makes it if it is missing',
    }),
  async run({ dataDir, dir }, io) {
    const line = new TransientLine(io);
    const onProgress = ({ done, of }: { readonly done: number; readonly of: number }) =>
      line.tell(() => `Copying: ${Math.floor((done / Math.max(1, of)) * 100)}%`);
    try {
      const { backup } = await import('../../app/admin/ledger.js');
      const written = await backup({ dataDir, to: dir, onProgress }, appEnvironment(io));
      line.clear();
      printResult(
        io,
        {
          ...pick(written, 'path', 'bytes', 'schema', 'calls', 'answers', 'decisions'),
          unitsCharged: written.units,
          verified: true,
          ms: written.ms,
        },
        backupInWords(written),
      );
      return ExitCode.ok;
    } finally {
      line.clear();
    }
  },
});

const providerMovedCommand = register({
  command: 'provider-moved',
  describe: 'Use the stored answers under a new base URL',
  builder: (yargs) =>
    yargs
      .option('from', { ...textFlag('The old base URL'), demandOption: true })
      .option('to', { ...textFlag('The new base URL'), demandOption: true })
      .option('unchecked', switchFlag('Move the answers although the new base URL does not answer')),
  async run({ dataDir, from, to, unchecked }, io) {
    const { providerMoved } = await import('../../app/admin/ledger.js');
    const { moved, portfolios, runs, ...urls } = await providerMoved(
      { dataDir, from, to, unchecked },
      appEnvironment(io),
    );
    const ofApi = moved.map(({ api, answers }) => `${count(answers, 'answer')} of ${api}`).join(', ');
    const words = `✓ Moved to ${urls.to}: ${ofApi}, ${count(portfolios, 'portfolio')}, ${count(runs, 'run')}.`;
    printResult(io, { ...pick(urls, 'from', 'to'), moved, portfolios, runs }, message('PROVIDER_MOVED', words, 'done'));
  },
});

type Progress = Parameters<NonNullable<import('../../app/admin/ledger.js').CopyLedgerOptions['onProgress']>>[0];

const DOING = { copying: 'Copying', comparing: 'Comparing' } as const;

const progressInWords = ({ doing, table, records, of }: Progress): string =>
  `${DOING[doing]}: ${table}, ${withCommas(records)} of ${withCommas(of)} records`;

function copiedInWords(copied: CopyLedgerView): readonly Message[] {
  const { tables, records, bytes, ms, from, to, isWhole, kind } = copied;
  const shown = tables.filter(({ records: of, isSame }) => of > 0 || !isSame);
  const lines = shown.map(({ name, records: of, isSame }) => [name, of, isSame ? 'yes' : 'NO'] as const);
  const empty = tables.length - shown.length;
  const table = `${textTable(['table', 'records', 'same'], lines)}${empty === 0 ? '' : `(${count(empty, 'more table')}, empty in both)\n`}`;
  if (!isWhole)
    return view(
      message(
        'COPY_NOT_THE_SAME',
        `${table}✗ The copy in ${to} differs from ${from}. One of them changed while it was copied. The copy cannot be used. Copy again.`,
        'failed',
      ),
    );
  return view(
    message(
      'LEDGER_COPIED',
      `${table}✓ ${count(records, 'record')}, ${bytesInWords(bytes)}, copied in ${(ms / 1000).toFixed(1)} s. Every table was read back and is the same.\n  from  ${from}\n  to    ${to}`,
    ),
    message('LEDGER_URL_NEXT', `\n${nextInWords(copied)}`),
    message(
      'LEDGER_LEFT',
      `! Do not use ${from} any more: with two ledgers everything is bought twice. ${kind === 'file' ? 'Disable it' : 'Move its kybatch.db away'} when the copy works.`,
      'attention',
    ),
  );
}

function nextInWords({ kind, to, isNamed }: CopyLedgerView): string {
  if (kind === 'file')
    return `Next: unset KYBATCH_LEDGER_URL (and KYBATCH_LEDGER_URL_FILE), also in .env, and use --data-dir ${shellWord(to)} in every command.`;
  if (isNamed) return 'KYBATCH_LEDGER_URL already names the copy. Keep it for every command.';
  return `Next: set KYBATCH_LEDGER_URL=${shellWord(to)} with its password for every command, or put it into a file and set KYBATCH_LEDGER_URL_FILE.`;
}

const copiedJson = (copied: CopyLedgerView) => ({
  ...pick(copied, 'from', 'to'),
  whole: copied.isWhole,
  ...pick(copied, 'records', 'bytes', 'ms'),
  tables: copied.tables.map(({ name, records, isSame }) => ({ name, records, same: isSame })),
});

const backupInWords = ({ path, folder, bytes, calls, units, answers }: BackupView): Message =>
  block(
    'BACKUP_WRITTEN',
    `✓ Backup written and verified: ${path} (${bytesInWords(bytes)})`,
    `  ${count(units, 'unit')} charged, ${count(answers, 'stored answer')}, ${count(calls, 'call')} (with reused answers)`,
    `  Look into it: kybatch runs --data-dir ${shellWord(folder)}`,
  );

const migrateCommand = register({
  command: 'migrate',
  describe: 'Create or update the tables of the ledger',
  builder: (yargs) =>
    yargs.option('grant', textFlag('PostgreSQL: a role that may use the ledger, but creates no tables')),
  async run({ dataDir, grant }, io) {
    const { migrate } = await import('../../app/admin/ledger.js');
    const migrated = await migrate({ dataDir, grant }, appEnvironment(io));
    const messages = view(
      migratedInWords(migrated, grant !== undefined),
      grant !== undefined && message('ROLE_GRANTED', `✓ The role ${grant} may use it.`, 'done'),
    );
    printResultAndWords(io, pick(migrated, 'ledger', 'dataDir', 'from', 'to'), messages);
  },
});

function migratedInWords({ ledger, from, to }: MigrateView, isGranted: boolean): Message {
  if (from === to) {
    const more = isGranted ? '' : ' Nothing was changed.';
    return message('LEDGER_UP_TO_DATE', `✓ The ledger in ${ledger} is up to date (schema ${to}).${more}`, 'done');
  }
  const [code, what] =
    from === 0
      ? (['LEDGER_MADE', `created (schema ${to})`] as const)
      : (['LEDGER_MIGRATED', `updated from schema ${from} to ${to}`] as const);
  return message(code, `✓ The ledger in ${ledger} was ${what}. Nothing was spent.`, 'done');
}

export const ledgerCommand = register({
  command: 'ledger',
  describe: 'Back up, copy or update the ledger',
  subcommands: [backupCommand, copyCommand, migrateCommand, providerMovedCommand],
});
