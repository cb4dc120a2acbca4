import type { RuleProposal, WithdrawnRowsView } from '../../app/review/review.js';
import { REVIEW_SHEET } from '../../app/run/next-step.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import { readGradePattern } from '../../domain/grade-order.js';
import { resolveLocation } from '../../domain/places/resolve-location.js';
import type { Rule } from '../../review/rule.js';
import { type Message, message } from '../../util/message-parts.js';
import { type CommonArgs, numberFlag, readNumber, register, type Verb } from '../command.js';
import { appEnvironment, confirmAction, type Io, printResult, printResultAndWords } from '../terminal/io.js';
import {
  answeredInWords,
  appliedInWords,
  besideInWords,
  decisionInWords,
  decisionToJson,
  facetsToJson,
  laterInWords,
  leftOutToJson,
  listInWords,
  nextCommands,
  nextInWords,
  questionToJson,
  refusalInWords,
  rowsOf,
  ruleInWords,
  ruleProposalInWords,
  unseenInWords,
} from '../terminal/review-words.js';
import { placeFlags, suggestReview } from '../terminal/suggestions.js';
import { count, shellWord } from '../terminal/text.js';

/** Which questions are meant. */
interface WhichArgs extends CommonArgs {
  readonly portfolio: string | undefined;
  readonly reason: string | undefined;
  readonly country: string | undefined;
  readonly grade: string | undefined;
  readonly minGrade?: string | undefined;
  readonly limit: number | undefined;
}

/** How grades are asked for, told in every help that takes one. */
const GRADES_IN_WORDS =
  'A grade has a letter each for registration number, name, VAT number, country and place: A same, B similar or repaired, Z nothing to compare, F different. From best to worst: A, B, Z, F; `?` stands for any.';

const whichOptions = {
  portfolio: {
    type: 'string',
    requiresArg: true,
    describe: 'Only the questions of this list, by its name or the path of its file',
  },
  reason: {
    type: 'string',
    requiresArg: true,
    describe:
      'Only those with this reason, as NAME_ONLY, or one of NAME_ONLY,VAT_ONLY; SECOND_PERSON: what waits for one',
  },
  country: { type: 'string', requiresArg: true, describe: 'Only those of this country, as DE' },
  grade: {
    type: 'string',
    requiresArg: true,
    describe: "Only those whose best candidate has this grade, as 'A????' (in quotes: shells take ? for files)",
  },
  'min-grade': {
    type: 'string',
    requiresArg: true,
    describe: 'Only those whose best candidate has at least this grade, letter by letter',
  },
  limit: numberFlag('--limit', 'The first of them, so many'),
} as const;

function whichOf({ portfolio, reason, country, grade, minGrade, limit }: WhichArgs) {
  if (limit !== undefined && limit < 1)
    throw new UsageError('FLAG_OUT_OF_RANGE', `--limit must be 1 or more, got ${limit}`);
  const filter = {
    reasons: reason?.split(',').map((code) => code.trim().toUpperCase()),
    countryCode: country === undefined ? undefined : readCountry(country),
    grade: grade === undefined ? undefined : readGrade('--grade', grade),
    minGrade: minGrade === undefined ? undefined : readGrade('--min-grade', minGrade),
  };
  return { portfolio, filter, limit };
}

function readGrade(flag: string, text: string): string {
  const pattern = readGradePattern(text);
  if (pattern === undefined)
    throw new UsageError(
      'GRADE_INVALID',
      `${flag} must be five letters of A, B, Z, F and ?, got ${text}`,
      GRADES_IN_WORDS,
    );
  return pattern;
}

function readCountry(text: string): string {
  const place = resolveLocation(text);
  if (place.ok && place.countryCode !== null) return place.countryCode;
  throw new UsageError(
    'COUNTRY_INVALID',
    `--country: ${text} is no country that is known by code or name`,
    'Give its code, as DE.',
  );
}

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
    const { listQuestions } = await import('../../app/review/review.js');
    const questions = await listQuestions({ dataDir, ...which }, appEnvironment(io));
    const shown = questions.slice(0, limit);
    const toJson = () => ({
      questions: shown.map(questionToJson),
      matching: questions.length,
      facets: facetsToJson(questions),
    });
    printResult(io, args, toJson, () => listInWords(shown, questions));
    io.say(besideInWords(questions));
    if (questions.length > 0) {
      const asking = { run, portfolio: which.portfolio };
      const { reviewSheets } = await import('../../app/review/review.js');
      const sheets = await reviewSheets({ dataDir, ...asking }, appEnvironment(io));
      const { words, command } = suggestReview({ ...asking, sheets }, args);
      io.say(
        message(
          'REVIEW_NEXT',
          `On a terminal \`kybatch review${placeFlags(args)}\` asks them. In a spreadsheet, ${words.charAt(0).toLowerCase()}${words.slice(1)}: ${command}`,
        ),
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
    const { exportQuestions } = await import('../../app/review/review.js');
    const { file, questions } = await exportQuestions(options, appEnvironment(io));
    printResultAndWords(
      io,
      args,
      () => ({ file, questions }),
      message('QUESTIONS_WRITTEN', `${count(questions, 'question')} in ${file}`),
    );
    const apply = `kybatch review apply ${shellWord(out ?? REVIEW_SHEET)}${placeFlags(args)}`;
    io.say(
      message(
        'REVIEW_APPLY_NEXT',
        `In the column decision write confirm on the line of the right company; or, on any line of the question, none_of_these or not_sure. Save it, then: ${apply}`,
      ),
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
    const { applyAnswers } = await import('../../app/review/review.js');
    const { released, refused, ...counts } = await applyAnswers({ dataDir, file, sheet, by }, appEnvironment(io));
    const place = placeFlags(args);
    const toJson = () => {
      const { notSure, ...others } = counts;
      const rest = { refused, released_rows: rowsOf(released), next: nextCommands(released, args) };
      return { ...others, not_sure: notSure, ...rest };
    };
    io.say(
      refused.map((refusal) => refusalInWords(file, refusal, args)),
      'alert',
    );
    const messages = [
      ...appliedInWords(counts, refused.length),
      ...(counts.unseen > 0 ? [unseenInWords(counts.unseen, place)] : []),
      ...(counts.later > 0 ? [laterInWords(counts.later)] : []),
      ...nextInWords(released, args),
    ];
    printResultAndWords(io, args, toJson, messages);
    return refused.length > 0 ? ExitCode.rowsOpen : ExitCode.ok;
  },
};

const decisionsVerb: Verb = {
  command: 'decisions',
  describe: 'List what was decided, by whom and when',
  builder: (yargs) => yargs,
  async run(args, io) {
    const { decisions } = await import('../../app/review/review.js');
    const entries = await decisions({ dataDir: args.dataDir }, appEnvironment(io));
    const words = () =>
      message('DECISIONS', [...entries.map(decisionInWords), `${count(entries.length, 'decision')}.`].join('\n'));
    printResult(io, args, () => ({ decisions: entries.map(decisionToJson) }), words);
    return ExitCode.ok;
  },
};

interface ReviewArgs extends WhichArgs {
  readonly by: string | undefined;
}

/** Of the session alone: a subcommand that takes no such flag says so, instead of passing it over. */
const sessionOptions = {
  portfolio: { ...whichOptions.portfolio, global: false },
  reason: { ...whichOptions.reason, global: false },
  country: { ...whichOptions.country, global: false },
  grade: { ...whichOptions.grade, global: false },
  'min-grade': { ...whichOptions['min-grade'], global: false },
  limit: { ...whichOptions.limit, global: false },
  by: { ...byOption, global: false },
} as const;

const confirmVerb: Verb<RuleArgs> = {
  command: 'confirm [run]',
  describe: 'Confirm the only candidate that reaches a grade, in every question of a reason: shows them, and asks once',
  builder: (yargs) =>
    yargs
      .positional('run', runPositional)
      .options(ruleOptions)
      .example('$0 review confirm --reason NAME_CONFLICT --min-grade AFZAZ --country DE', 'the number decides')
      .epilogue(
        `${GRADES_IN_WORDS} Each letter must be at least as good as that of --min-grade. Never confirmed so: one of several candidates that reach it, one with another number, one with another name unless the second letter is F, what was bought, and what somebody was not sure about. Each is one decision, with the rule as its note; \`kybatch review withdraw --batch\` takes all of them back.`,
      ),
  async run(args, io) {
    if (args.minGrade === undefined)
      throw new UsageError(
        'GRADE_MISSING',
        'from which grade on is not said',
        `Give --min-grade, as AAZAZ. ${GRADES_IN_WORDS}`,
      );
    const minGrade = readGrade('--min-grade', args.minGrade);
    // What has a lower grade is told as that, and not passed over.
    return await answer({ verdict: 'confirm', minGrade }, { ...args, minGrade: undefined }, io);
  },
};

const rejectVerb: Verb<RuleArgs> = {
  command: 'reject [run]',
  describe: 'Say none_of_these to every question of a reason that has no candidate at all: shows them, and asks once',
  builder: (yargs) =>
    yargs
      .positional('run', runPositional)
      .options(ruleOptions)
      .epilogue(
        'Each is one decision, with the rule as its note; `kybatch review withdraw --batch` takes all of them back.',
      ),
  run: (args, io) => answer({ verdict: 'none_of_these' }, args, io),
};

const withdrawVerb: Verb<WithdrawArgs> = {
  command: 'withdraw [id]',
  describe: 'Take a decision back, or all that one rule has decided; rows that rest on it are decided again',
  builder: (yargs) =>
    yargs
      .positional('id', {
        type: 'string',
        describe: 'As `kybatch review decisions` shows it',
        coerce: (given: unknown) => (given === undefined ? undefined : readNumber('the number of the decision', given)),
      })
      .option('batch', {
        type: 'string',
        requiresArg: true,
        describe: 'All that `review confirm` or `review reject` has decided at once, as R-0a1b2c3d',
      })
      .option('by', { type: 'string', requiresArg: true, describe: 'Who takes it back (default: $USER)' }),
  async run(args, io) {
    const { dataDir, id, batch, by } = args;
    if ((id === undefined) === (batch === undefined))
      throw new UsageError(
        'DECISION_MISSING',
        id === undefined ? 'which decision is not said' : 'either a decision or --batch is taken back, not both',
        `\`kybatch review decisions${placeFlags(args)}\` lists them with their numbers and batches.`,
      );
    if (batch !== undefined) {
      const { withdrawBatch } = await import('../../app/review/review.js');
      const { decisions: taken, ...resting } = await withdrawBatch({ dataDir, batch, by }, appEnvironment(io));
      const toJson = () => ({ batch, withdrawn: taken, ...restedOn(resting, args) });
      const words = `${count(taken.length, 'decision')} of batch ${batch} withdrawn; ${count(resting.rows, 'row')} rested on them.`;
      printResultAndWords(io, args, toJson, [message('BATCH_WITHDRAWN', words), ...restedInWords(resting, args)]);
      return ExitCode.ok;
    }
    if (id === undefined) return ExitCode.usage;
    const { withdrawDecision } = await import('../../app/review/review.js');
    const resting = await withdrawDecision({ dataDir, id, by }, appEnvironment(io));
    const words = message(
      'DECISION_WITHDRAWN',
      `Decision ${id} is withdrawn; ${count(resting.rows, 'row')} rested on it.`,
    );
    const toJson = () => ({ withdrawn: id, ...restedOn(resting, args) });
    printResultAndWords(io, args, toJson, [words, ...restedInWords(resting, args)]);
    return ExitCode.ok;
  },
};

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
      .options(sessionOptions)
      .example('$0 review', 'one question at a time, on the terminal')
      .example('$0 review export && $0 review apply review.csv', 'in a spreadsheet')
      .epilogue('A decision is remembered for the company: no later file or run asks the same question again.'),
  async run(args, io) {
    const { keys } = io;
    if (!io.interactive || keys === undefined) {
      const { reviewSheets } = await import('../../app/review/review.js');
      const sheets = await reviewSheets({ dataDir: args.dataDir }, appEnvironment(io));
      const { words, command } = suggestReview({ sheets }, args);
      throw new UsageError(
        'NO_TERMINAL',
        'there is no terminal to ask on',
        sheets.open === 0 ? 'No question is open.' : `${words}: ${command}`,
      );
    }
    const { dataDir, by } = args;
    const screen = () => ({ rows: io.rows ?? 24, columns: io.columns });
    const { answerQuestions } = await import('../../app/review/review.js');
    const view = await answerQuestions(
      { dataDir, by, ...whichOf(args), keys, print: io.alert, screen },
      appEnvironment(io),
    );
    io.alert('\n');
    io.say([answeredInWords(view), ...nextInWords(view.released, args)], 'stdout');
    return view.interrupted ? ExitCode.interrupted : ExitCode.ok;
  },
};

interface RuleArgs extends WhichArgs {
  readonly run: string | undefined;
  readonly by: string | undefined;
  readonly note: string | undefined;
  readonly all: boolean;
  readonly yes: boolean;
}

const ruleOptions = {
  ...whichOptions,
  by: { type: 'string', requiresArg: true, describe: 'Who decides (default: $USER)' },
  note: { type: 'string', requiresArg: true, describe: 'Kept with each decision, before the rule' },
  all: { type: 'boolean', default: false, describe: 'Show each question, not the first 20' },
  yes: { type: 'boolean', default: false, describe: 'Answer without asking' },
} as const;

async function answer(rule: Rule, args: RuleArgs, io: Io): Promise<ExitCode> {
  const { dataDir, run, by, all, yes } = args;
  if (args.reason === undefined)
    throw new UsageError(
      'REASON_MISSING',
      'which reason the rule is about is not said',
      `Give --reason CODE; \`kybatch review list${placeFlags(args)}\` counts the questions of each.`,
    );
  const which = whichOf(args);
  const agree = (proposal: RuleProposal) => agreed(rule, proposal, { all, yes }, io);
  const note = [args.note, noteOf(rule, which.filter)].filter(Boolean).join('; ');
  const { answerByRule } = await import('../../app/review/review.js');
  const view = await answerByRule({ dataDir, run, by, ...which, rule, note, agree }, appEnvironment(io));
  if (view.outcome === 'not_agreed') return ExitCode.interrupted;
  const toJson = () => ({
    batch: view.batch,
    decided: view.decided,
    held: view.held,
    questions: view.answers.map(({ question }) => question.id),
    left_out: leftOutToJson(view),
    released_rows: rowsOf(view.released),
    next: nextCommands(view.released, args),
  });
  printResultAndWords(io, args, toJson, ruleInWords(view, args));
  if (view.outcome === 'nothing_fits')
    io.say(message('REVIEW_LIST_NEXT', `\`kybatch review list${placeFlags(args)}\` shows what is open.`));
  return ExitCode.ok;
}

/** The rule as it is noted with each decision, and can be read without this program. */
function noteOf(rule: Rule, { reasons = [], countryCode, grade }: ReturnType<typeof whichOf>['filter']): string {
  const among = [
    `reason ${reasons.join(', ')}`,
    ...(countryCode === undefined ? [] : [`country ${countryCode}`]),
    ...(grade === undefined ? [] : [`grade ${grade}`]),
  ].join(', ');
  return rule.verdict === 'confirm'
    ? `rule: the only candidate, grade at least ${rule.minGrade}; ${among}`
    : `rule: no candidate; ${among}`;
}

function agreed(
  rule: Rule,
  proposal: RuleProposal,
  { all, yes }: Pick<RuleArgs, 'all' | 'yes'>,
  io: Io,
): Promise<boolean> {
  const questions = count(proposal.answers.length, 'question');
  const words = rule.verdict === 'confirm' ? 'confirm the only candidate of' : 'say none_of_these to';
  io.say(ruleProposalInWords(proposal, all), yes ? 'stderr' : 'alert');
  const consent = {
    what: `this would ${words} ${questions}, as ${proposal.by}`,
    question: `As ${proposal.by}, ${words} ${questions}?`,
    nothing: message('NOT_AGREED', 'Nothing was decided.'),
  };
  return confirmAction(consent, yes, io);
}

interface WithdrawArgs extends CommonArgs {
  readonly by: string | undefined;
  readonly id: number | undefined;
  readonly batch: string | undefined;
}

const restedOn = ({ rows, asking, released }: WithdrawnRowsView, args: CommonArgs) => ({
  rows,
  asking,
  next: nextCommands(released, args),
});

/** What waits for a person does not go on by itself. */
const restedInWords = ({ asking, released }: WithdrawnRowsView, args: CommonArgs): readonly Message[] => [
  ...(asking === 0
    ? []
    : [
        message(
          'ROWS_ASK_AGAIN',
          `${count(asking, 'row')} ${asking === 1 ? 'waits' : 'wait'} for an answer again: kybatch review list${placeFlags(args)}`,
        ),
      ]),
  ...nextInWords(released, args),
];
