import {
  answerQuestions,
  applyAnswers,
  decisions,
  exportQuestions,
  listQuestions,
  reviewSheets,
  withdrawDecision,
} from '../../app/review.js';
import { REVIEW_SHEET } from '../../app/review-sheet.js';
import { UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { printable, questionInWords } from '../../review/words.js';
import { aroundOf } from '../around.js';
import { readNumber } from '../number-flag.js';
import { placeFlags, suggestReview } from '../terminal/commands.js';
import {
  answeredInWords,
  appliedInWords,
  besideInWords,
  decisionInWords,
  decisionToJson,
  laterInWords,
  nextCommands,
  nextInWords,
  questionToJson,
  rowsOf,
  unseenInWords,
} from '../terminal/review-words.js';
import { count, shellWord } from '../terminal/text.js';
import { type CommonArgs, register, type Verb } from '../verb.js';

interface AskingArgs extends CommonArgs {
  readonly run: string | undefined;
  readonly portfolio: string | undefined;
}

interface ByArgs extends CommonArgs {
  readonly by: string | undefined;
}

const runPositional = { type: 'string', describe: 'Only the questions of this run' } as const;
const portfolioOption = {
  type: 'string',
  requiresArg: true,
  describe: 'Only the questions of this list, by its name or the path of its file',
} as const;
const byOption = { type: 'string', requiresArg: true, describe: 'Who decides (default: $USER)' } as const;

const listVerb: Verb<AskingArgs> = {
  command: 'list [run]',
  describe: 'Show the open questions with their candidates',
  builder: (yargs) => yargs.positional('run', runPositional).option('portfolio', portfolioOption),
  async run(args, io) {
    const { dataDir, run, portfolio, json } = args;
    const asking = { run, portfolio };
    const questions = await listQuestions({ dataDir, ...asking }, aroundOf(io));
    if (json) io.stdout(`${JSON.stringify({ questions: questions.map(questionToJson) })}\n`);
    else for (const question of questions) io.stdout(`${questionInWords(question)}\n`);
    io.stderr(`${count(questions.length, 'open question')}.\n${besideInWords(questions)}`);
    if (questions.length > 0) {
      const sheets = await reviewSheets({ dataDir, ...asking }, aroundOf(io));
      const { words, command } = suggestReview({ ...asking, sheets }, args);
      io.stderr(
        `On a terminal \`kybatch review${placeFlags(args)}\` asks them. In a spreadsheet, ${words.charAt(0).toLowerCase()}${words.slice(1)}: ${command}\n`,
      );
    }
    return ExitCode.ok;
  },
};

interface ExportArgs extends AskingArgs {
  readonly out: string | undefined;
  readonly force: boolean;
}

const exportVerb: Verb<ExportArgs> = {
  command: 'export [run]',
  describe: 'Write the open questions as a CSV for a spreadsheet',
  builder: (yargs) =>
    yargs
      .positional('run', runPositional)
      .option('portfolio', portfolioOption)
      .option('out', { type: 'string', requiresArg: true, describe: `Where to write it (default: ${REVIEW_SHEET})` })
      .option('force', { type: 'boolean', default: false, describe: 'Overwrite a file that is there' })
      .epilogue(
        'Fill in the column decision on the line of a candidate: confirm. For the question as a whole, on any of its lines: none_of_these or not_sure. Then `kybatch review apply` the file.',
      ),
  async run(args, io) {
    const { dataDir, run, portfolio, out, force } = args;
    const { file, questions } = await exportQuestions({ dataDir, run, portfolio, out, force }, aroundOf(io));
    if (args.json) io.stdout(`${JSON.stringify({ file, questions })}\n`);
    io.stderr(`${count(questions, 'question')} in ${file}\n`);
    const apply = `kybatch review apply ${shellWord(out ?? REVIEW_SHEET)}${placeFlags(args)}`;
    io.stderr(
      `In the column decision write confirm on the line of the right company; or, on any line of the question, none_of_these or not_sure. Save as CSV, then: ${apply}\n`,
    );
    return ExitCode.ok;
  },
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
    const { dataDir, file, by, json } = args;
    const { released, refused, ...counts } = await applyAnswers({ dataDir, file, by }, aroundOf(io));
    const place = placeFlags(args);
    if (json) {
      const { notSure, ...others } = counts;
      const rest = { refused, released_rows: rowsOf(released), next: nextCommands(released, args) };
      io.stdout(`${JSON.stringify({ ...others, not_sure: notSure, ...rest })}\n`);
    }
    for (const { line, problem } of refused) io.stderr(`${file}, line ${line}: ${printable(problem)}\n`);
    io.stderr(appliedInWords(counts, refused.length));
    if (counts.unseen > 0) io.stderr(unseenInWords(counts.unseen, place));
    if (counts.later > 0) io.stderr(laterInWords(counts.later));
    io.stderr(nextInWords(released, args));
    return refused.length > 0 ? ExitCode.rowsOpen : ExitCode.ok;
  },
};

const decisionsVerb: Verb = {
  command: 'decisions',
  describe: 'List what was decided, by whom and when',
  builder: (yargs) => yargs,
  async run({ dataDir, json }, io) {
    const entries = await decisions({ dataDir }, aroundOf(io));
    if (json) io.stdout(`${JSON.stringify({ decisions: entries.map(decisionToJson) })}\n`);
    else for (const entry of entries) io.stdout(`${decisionInWords(entry)}\n`);
    io.stderr(`${count(entries.length, 'decision')}.\n`);
    return ExitCode.ok;
  },
};

interface WithdrawArgs extends ByArgs {
  readonly id: number;
}

const withdrawVerb: Verb<WithdrawArgs> = {
  command: 'withdraw <id>',
  describe: 'Take a decision back; rows that rest on it are decided again',
  builder: (yargs) =>
    yargs
      .positional('id', {
        type: 'string',
        demandOption: true,
        describe: 'As `kybatch review decisions` shows it',
        coerce: (given: unknown) => readNumber('the number of the decision', given),
      })
      .option('by', byOption),
  async run(args, io) {
    const { dataDir, id, by, json } = args;
    const { released } = await withdrawDecision({ dataDir, id, by }, aroundOf(io));
    const rows = rowsOf(released);
    if (json) io.stdout(`${JSON.stringify({ withdrawn: id, rows, next: nextCommands(released, args) })}\n`);
    io.stderr(`Decision ${id} is withdrawn; ${count(rows, 'row')} rested on it.\n`);
    io.stderr(nextInWords(released, args));
    return ExitCode.ok;
  },
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
      const sheets = await reviewSheets({ dataDir: args.dataDir }, aroundOf(io));
      const { words, command } = suggestReview({ sheets }, args);
      throw new UsageError(
        'there is no terminal to ask on',
        sheets.open === 0 ? 'No question is open.' : `${words}: ${command}`,
      );
    }
    const { dataDir, by } = args;
    const view = await answerQuestions({ dataDir, by, keys, print: io.stderr }, aroundOf(io));
    io.stderr(`\n${answeredInWords(view)}`);
    io.stderr(nextInWords(view.released, args));
    return ExitCode.ok;
  },
};
