import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { loadDataDir } from '../config/environment.js';
import { UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import type { Ledger, RowRef } from '../ledger/ledger.js';
import { openExistingLedger, openLedgerForReading } from '../ledger/sqlite/ledger.js';
import { applySheet } from '../review/apply.js';
import { loadSheet } from '../review/load-sheet.js';
import { openQuestions } from '../review/questions.js';
import { saveSheet } from '../review/save-sheet.js';
import { runSession } from '../review/session.js';
import { writeSheet } from '../review/sheet.js';
import { printable, questionInWords } from '../review/words.js';
import { findRun } from './find-run.js';
import type { Io } from './io.js';
import { decisionInWords, decisionToJson, questionToJson } from './review-views.js';
import { count } from './text.js';
import { type CommonArgs, register, type Verb } from './verb.js';

interface RunArgs extends CommonArgs {
  readonly run: string | undefined;
}

interface ByArgs extends CommonArgs {
  readonly by: string | undefined;
}

const runPositional = { type: 'string', describe: 'Only the questions of this run' } as const;
const byOption = { type: 'string', requiresArg: true, describe: 'Who decides (default: $USER)' } as const;

const listVerb: Verb<RunArgs> = {
  command: 'list [run]',
  describe: 'Show the open questions with their candidates',
  builder: (yargs) => yargs.positional('run', runPositional),
  run: (args, io) =>
    reading(args, io, async (ledger) => {
      const questions = await openQuestions(ledger, await knownRun(args.run, ledger));
      if (args.json) io.stdout(`${JSON.stringify({ questions: questions.map(questionToJson) })}\n`);
      else for (const question of questions) io.stdout(`${questionInWords(question)}\n`);
      io.stderr(`${count(questions.length, 'open question')}.\n`);
      if (questions.length > 0)
        io.stderr('Answer them with `kybatch review`, or in a spreadsheet: `kybatch review export`.\n');
      return ExitCode.ok;
    }),
};

interface ExportArgs extends RunArgs {
  readonly out: string | undefined;
  readonly force: boolean;
}

const exportVerb: Verb<ExportArgs> = {
  command: 'export [run]',
  describe: 'Write the open questions as a CSV for a spreadsheet',
  builder: (yargs) =>
    yargs
      .positional('run', runPositional)
      .option('out', { type: 'string', requiresArg: true, describe: 'Where to write it (default: review.csv)' })
      .option('force', { type: 'boolean', default: false, describe: 'Overwrite a file that is there' })
      .epilogue(
        'Fill in the column decision on the line of a candidate: confirm. For the question as a whole, on any of its lines: none_of_these or not_sure. Then `kybatch review apply` the file.',
      ),
  run: (args, io) =>
    reading(args, io, async (ledger) => {
      const questions = await openQuestions(ledger, await knownRun(args.run, ledger));
      const path = resolve(io.cwd, args.out ?? 'review.csv');
      await saveSheet(path, writeSheet(questions), args.force);
      if (args.json) io.stdout(`${JSON.stringify({ file: path, questions: questions.length })}\n`);
      io.stderr(`${count(questions.length, 'question')} in ${path}\n`);
      io.stderr(`Fill in decision, save as CSV, then: kybatch review apply ${args.out ?? 'review.csv'}\n`);
      return ExitCode.ok;
    }),
};

interface ApplyArgs extends ByArgs {
  readonly file: string;
}

const applyVerb: Verb<ApplyArgs> = {
  command: 'apply <file>',
  describe: 'Read the decisions back, however the spreadsheet saved them; bad lines are told, good ones count',
  builder: (yargs) =>
    yargs
      .positional('file', { type: 'string', demandOption: true, describe: 'The CSV' })
      .option('by', byOption)
      .epilogue('Exit code: 0 every line was taken, 3 some were refused. Applying a file again changes nothing.'),
  async run(args, io) {
    const lines = await loadSheet(resolve(io.cwd, args.file));
    return await writing(args, io, async (ledger) => {
      const { refused, released, ...counts } = await applySheet(lines, ledger, decider(args, io), io.clock.now());
      const next = await nextCommands(released, ledger);
      if (args.json) {
        io.stdout(`${JSON.stringify({ ...counts, refused, released_rows: released.length, next })}\n`);
      }
      for (const { line, problem } of refused) io.stderr(`${args.file}, line ${line}: ${printable(problem)}\n`);
      io.stderr(
        `${count(counts.applied, 'decision')} taken, ${counts.unchanged} known already, ${count(refused.length, 'line')} refused, ${counts.blank} left blank.\n`,
      );
      tellNext(released, next, io);
      return refused.length > 0 ? ExitCode.rowsOpen : ExitCode.ok;
    });
  },
};

const decisionsVerb: Verb = {
  command: 'decisions',
  describe: 'List what was decided, by whom and when',
  builder: (yargs) => yargs,
  run: (args, io) =>
    reading(args, io, async (ledger) => {
      const decisions = await ledger.decisions();
      if (args.json) io.stdout(`${JSON.stringify({ decisions: decisions.map(decisionToJson) })}\n`);
      else for (const decision of decisions) io.stdout(`${decisionInWords(decision)}\n`);
      io.stderr(`${count(decisions.length, 'decision')}.\n`);
      return ExitCode.ok;
    }),
};

interface WithdrawArgs extends ByArgs {
  readonly id: number;
}

const withdrawVerb: Verb<WithdrawArgs> = {
  command: 'withdraw <id>',
  describe: 'Take a decision back; rows that rest on it are decided again',
  builder: (yargs) =>
    yargs
      .positional('id', { type: 'number', demandOption: true, describe: 'As `kybatch review decisions` shows it' })
      .option('by', byOption),
  run: (args, io) =>
    writing(args, io, async (ledger) => {
      const rows = await ledger.withdrawDecision(args.id, decider(args, io), io.clock.now());
      if (rows === undefined) {
        throw new UsageError(`there is no decision ${args.id} in force`, '`kybatch review decisions` lists them.');
      }
      const next = await nextCommands(rows, ledger);
      if (args.json) io.stdout(`${JSON.stringify({ withdrawn: args.id, rows: rows.length, next })}\n`);
      io.stderr(`Decision ${args.id} is withdrawn; ${count(rows.length, 'row')} rested on it.\n`);
      tellNext(rows, next, io);
      return ExitCode.ok;
    }),
};

interface ReviewArgs extends ByArgs {
  readonly run?: string | undefined;
}

export const reviewVerb: Verb<ReviewArgs> = {
  command: 'review',
  describe: 'Answer the questions that only people can answer: on the terminal, or in a spreadsheet',
  subcommands: [
    register(listVerb),
    register(exportVerb),
    register(applyVerb),
    register(decisionsVerb),
    register(withdrawVerb),
  ],
  builder: (yargs) =>
    yargs
      .demandCommand(0)
      .option('by', byOption)
      .example('$0 review', 'one question at a time, on the terminal')
      .example('$0 review export && $0 review apply review.csv', 'in a spreadsheet')
      .epilogue('A decision is remembered for the company: no later file or run asks the same question again.'),
  async run(args, io) {
    const { keys } = io;
    if (!io.interactive || keys === undefined) {
      throw new UsageError(
        'there is no terminal to ask on',
        'Use `kybatch review export` and `kybatch review apply`, or `kybatch review list`.',
      );
    }
    return await writing(args, io, async (ledger) => {
      const questions = await openQuestions(ledger);
      const by = decider(args, io);
      const end = await runSession({
        questions,
        keys: questions.length === 0 ? none() : keys(),
        print: io.stderr,
        ledger,
        by,
        now: () => io.clock.now(),
      });
      io.stderr(`\n${count(end.decided, 'question')} answered by ${by}, ${end.left} left.\n`);
      tellNext(end.released, await nextCommands(end.released, ledger), io);
      return ExitCode.ok;
    });
  },
};

async function* none(): AsyncGenerator<string> {}

async function reading(args: CommonArgs, io: Io, use: (ledger: Ledger) => Promise<ExitCode>): Promise<ExitCode> {
  return await closing(openLedgerForReading(loadDataDir(io, args)), use);
}

async function writing(args: CommonArgs, io: Io, use: (ledger: Ledger) => Promise<ExitCode>): Promise<ExitCode> {
  return await closing(openExistingLedger(loadDataDir(io, args), io.clock.now()), use);
}

async function closing(ledger: Ledger, use: (ledger: Ledger) => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await use(ledger);
  } finally {
    await ledger.close();
  }
}

const knownRun = async (id: string | undefined, ledger: Ledger): Promise<string | undefined> =>
  id === undefined ? undefined : (await findRun(id, ledger))?.id;

function decider({ by }: ByArgs, { env }: Io): string {
  const named = [by, env.USER, env.LOGNAME, env.USERNAME].find((name) => name !== undefined && name.trim() !== '');
  return named?.trim() ?? userInfo().username;
}

/** The runs that have rows to go on with, as commands. */
async function nextCommands(rows: readonly RowRef[], ledger: Ledger): Promise<readonly string[]> {
  if (rows.length === 0) return [];
  const runs = [...new Set(rows.map(({ runId }) => runId))];
  const sandboxes = new Set(
    (await ledger.questions())
      .filter(({ environment }) => environment.startsWith('sandbox:'))
      .map(({ runId }) => runId),
  );
  return runs.map((runId) => `kybatch resume ${runId}${sandboxes.has(runId) ? ' --sandbox' : ''}`);
}

function tellNext(rows: readonly RowRef[], next: readonly string[], io: Io): void {
  if (next.length === 0) return;
  io.stderr(`${count(rows.length, 'row')} can go on with: ${next.join('; ')}\n`);
}
