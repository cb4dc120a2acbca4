import { REVIEW_SHEET } from '../../app/next-step.js';
import {
  answerQuestions,
  applyAnswers,
  decisions,
  exportQuestions,
  listQuestions,
  reviewSheets,
} from '../../app/review.js';
import { UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { GRADES_IN_WORDS, type WhichArgs, whichOf, whichOptions } from '../review-flags.js';
import { placeFlags, suggestReview } from '../terminal/commands.js';
import { facetsToJson } from '../terminal/facet-words.js';
import { printResult, printResultAndWords } from '../terminal/print-result.js';
import {
  answeredInWords,
  appliedInWords,
  besideInWords,
  decisionInWords,
  decisionToJson,
  laterInWords,
  listInWords,
  nextCommands,
  nextInWords,
  questionToJson,
  refusalInWords,
  rowsOf,
  unseenInWords,
} from '../terminal/review-words.js';
import { count, shellWord } from '../terminal/text.js';
import { type CommonArgs, register, type Verb } from '../verb.js';
import { confirmVerb, rejectVerb } from './review-rule.js';
import { withdrawVerb } from './review-withdraw.js';

interface AskingArgs extends WhichArgs {
  readonly run: string | undefined;
}

interface ByArgs extends CommonArgs {
  readonly by: string | undefined;
}

const runPositional = { type: 'string', describe: 'Only the questions of this run' } as const;
const byOption = { type: 'string', requiresArg: true, describe: 'Who decides (default: $USER)' } as const;

const listVerb: Verb<AskingArgs> = {
  command: 'list [run]',
  describe: 'Show the open questions with their candidates, and how many there are of each kind',
  builder: (yargs) => yargs.positional('run', runPositional).options(whichOptions).epilogue(GRADES_IN_WORDS),
  async run(args, io) {
    const { dataDir, run } = args;
    const { limit, ...which } = { run, ...whichOf(args) };
    const questions = await listQuestions({ dataDir, ...which }, aroundOf(io));
    const shown = questions.slice(0, limit);
    const toJson = () => ({
      questions: shown.map(questionToJson),
      matching: questions.length,
      facets: facetsToJson(questions),
    });
    printResult(io, args, toJson, () => listInWords(shown, questions));
    io.stderr(besideInWords(questions));
    if (questions.length > 0) {
      const asking = { run, portfolio: which.portfolio };
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
  readonly delimiter: string | undefined;
  readonly force: boolean;
}

const exportVerb: Verb<ExportArgs> = {
  command: 'export [run]',
  describe: 'Write the open questions for a spreadsheet',
  builder: (yargs) =>
    yargs
      .positional('run', runPositional)
      .options(whichOptions)
      .option('out', {
        type: 'string',
        requiresArg: true,
        describe: `Where to write it: a .csv, or a .xlsx with a list to choose from (default: ${REVIEW_SHEET})`,
      })
      .option('delimiter', {
        type: 'string',
        requiresArg: true,
        describe: "Between the cells of a CSV, as ';' (default: a comma)",
      })
      .option('force', { type: 'boolean', default: false, describe: 'Overwrite a file that is there' })
      .epilogue(
        `Fill in the column decision on the line of a candidate: confirm. For the question as a whole, on any of its lines: none_of_these or not_sure. Then \`kybatch review apply\` the file. ${GRADES_IN_WORDS}`,
      ),
  async run(args, io) {
    const { dataDir, run, out, delimiter, force } = args;
    const options = { dataDir, run, ...whichOf(args), out, delimiter, force };
    const { file, questions } = await exportQuestions(options, aroundOf(io));
    printResultAndWords(io, args, () => ({ file, questions }), `${count(questions, 'question')} in ${file}\n`);
    const apply = `kybatch review apply ${shellWord(out ?? REVIEW_SHEET)}${placeFlags(args)}`;
    io.stderr(
      `In the column decision write confirm on the line of the right company; or, on any line of the question, none_of_these or not_sure. Save it, then: ${apply}\n`,
    );
    return ExitCode.ok;
  },
};

interface ApplyArgs extends ByArgs {
  readonly file: string;
  readonly sheet: string | undefined;
}

const applyVerb: Verb<ApplyArgs> = {
  command: 'apply <file>',
  describe: 'Read the decisions back, however the spreadsheet saved them; bad lines are told, good ones count',
  builder: (yargs) =>
    yargs
      .positional('file', {
        type: 'string',
        demandOption: true,
        describe: 'The CSV or workbook, also results.xlsx with its sheet Questions',
      })
      .option('sheet', {
        type: 'string',
        requiresArg: true,
        describe: 'The worksheet to read (default: the one with the columns of a review sheet)',
      })
      .option('by', byOption)
      .epilogue('Exit code: 0 every line was taken, 3 some were refused. Applying a file again changes nothing.'),
  async run(args, io) {
    const { dataDir, file, sheet, by } = args;
    const { released, refused, ...counts } = await applyAnswers({ dataDir, file, sheet, by }, aroundOf(io));
    const place = placeFlags(args);
    const toJson = () => {
      const { notSure, ...others } = counts;
      const rest = { refused, released_rows: rowsOf(released), next: nextCommands(released, args) };
      return { ...others, not_sure: notSure, ...rest };
    };
    for (const refusal of refused) io.alert(refusalInWords(file, refusal, args));
    const words = [
      appliedInWords(counts, refused.length),
      counts.unseen > 0 ? unseenInWords(counts.unseen, place) : '',
      counts.later > 0 ? laterInWords(counts.later) : '',
      nextInWords(released, args),
    ];
    printResultAndWords(io, args, toJson, words.join(''));
    return refused.length > 0 ? ExitCode.rowsOpen : ExitCode.ok;
  },
};

const decisionsVerb: Verb = {
  command: 'decisions',
  describe: 'List what was decided, by whom and when',
  builder: (yargs) => yargs,
  async run(args, io) {
    const entries = await decisions({ dataDir: args.dataDir }, aroundOf(io));
    const words = () =>
      `${entries.map((entry) => `${decisionInWords(entry)}\n`).join('')}${count(entries.length, 'decision')}.\n`;
    printResult(io, args, () => ({ decisions: entries.map(decisionToJson) }), words);
    return ExitCode.ok;
  },
};

interface ReviewArgs extends WhichArgs {
  readonly by: string | undefined;
}

export const reviewVerb: Verb<ReviewArgs> = {
  command: 'review',
  describe: 'Answer the questions that only people can answer: on the terminal, or in a spreadsheet',
  subcommands: [
    register(listVerb),
    register(exportVerb),
    register(applyVerb),
    register(confirmVerb),
    register(rejectVerb),
    register(decisionsVerb),
    register(withdrawVerb),
  ],
  builder: (yargs) =>
    yargs
      .demandCommand(0)
      .options(whichOptions)
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
    const screen = () => ({ rows: io.rows ?? 24, columns: io.columns });
    const view = await answerQuestions({ dataDir, by, ...whichOf(args), keys, print: io.alert, screen }, aroundOf(io));
    io.alert('\n');
    io.stdout(`${answeredInWords(view)}${nextInWords(view.released, args)}`);
    return view.interrupted ? ExitCode.interrupted : ExitCode.ok;
  },
};
