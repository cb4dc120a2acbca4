import type { RuleProposal, WithdrawnRowsView } from '../../app/review/review.js';
import { REVIEW_SHEET } from '../../app/run/next-step.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import { readGradePattern } from '../../domain/grade-order.js';
import { resolveLocation } from '../../domain/places/resolve-location.js';
import type { Rule } from '../../review/bulk-answer.js';
import { facetsOf } from '../../review/filter.js';
import { type Message, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, listed, shortRun, withCommas } from '../../util/words.js';
import { type ArgsOf, numberFlag, readNumber, register, switchFlag, textFlag } from '../command.js';
import { appEnvironment, confirmAction, type Io, printResult, printResultAndWords } from '../terminal/io.js';
import {
  answeredInWords,
  appliedInWords,
  decisionInWords,
  decisionJson,
  listInWords,
  nextCommands,
  nextInWords,
  openCount,
  otherPipelineInWords,
  questionJson,
  refusalInWords,
  rowsOf,
  ruleInWords,
  ruleProposalInWords,
  SIGNED_AS_USER,
  waysToAnswer,
} from '../terminal/review-words.js';
import type { Place } from '../terminal/suggestions.js';
import { shellWord } from '../terminal/text.js';
import { block, commandLine, marked, view, wrapped } from '../terminal/view.js';

const GRADES_IN_WORDS =
  'A grade has five letters: registration number, name, VAT number, country, place. From best to worst: A same, B similar or repaired, Z nothing to compare, F different. `?` stands for any letter.';

const whichOptions = {
  portfolio: textFlag('Only this list, by name or path'),
  reason: textFlag('Only these reasons, such as NAME_ONLY or NAME_ONLY,VAT_ONLY'),
  country: textFlag('Only this country, such as DE'),
  grade: textFlag("Only best candidates with this grade, such as 'A????'"),
  'min-grade': textFlag('Only best candidates with at least this grade'),
  limit: numberFlag('--limit', 'Only the first N questions'),
} as const;

function whichOf({ portfolio, reason, country, grade, minGrade, limit }: ArgsOf<typeof whichOptions>) {
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
  throw new UsageError('COUNTRY_INVALID', `--country: ${text} is not a known country`, 'Use an ISO code such as DE.');
}

const runPositional = { type: 'string', describe: 'Only the questions of this run' } as const;
const byOption = textFlag('Person who decides (default: $USER)');

const listCommand = register({
  command: 'list [run]',
  describe: 'List the open questions',
  builder: (yargs) =>
    yargs
      .positional('run', runPositional)
      .options(whichOptions)
      .option('all', switchFlag('Show every question, not the first five'))
      .option('full', switchFlag('Print all candidates with grade and evidence')),
  async run(args, io) {
    const { dataDir, run, full, all } = args;
    const { limit, ...which } = { run, ...whichOf(args) };
    const { listQuestions, reviewSheets } = await import('../../app/review/review.js');
    const questions = await listQuestions({ dataDir, ...which }, appEnvironment(io));
    const shown = questions.slice(0, limit);
    const asking = { run, portfolio: which.portfolio };
    const sheets = await reviewSheets({ dataDir, ...asking }, appEnvironment(io));
    printResult(
      io,
      { questions: shown.map(questionJson), matching: questions.length, facets: facetsOf(questions) },
      listInWords(questions, { full, limit: limit ?? (all ? questions.length : undefined), open: sheets.openInAll }),
    );
    io.say(otherPipelineInWords(questions));
    const { country, grade, minGrade } = args;
    const isFiltered = [country, grade, minGrade].some((part) => part !== undefined);
    const filter = Object.entries({ reason: args.reason, country, grade, 'min-grade': minGrade })
      .map(([name, value]) => (value === undefined ? '' : ` --${name} ${shellWord(String(value))}`))
      .join('');
    if (questions.length > 0) io.say(waysToAnswer(questions, { ...asking, sheets, isFiltered, filter }, args));
  },
});

const exportCommand = register({
  command: 'export [run]',
  describe: 'Write the open questions to a spreadsheet',
  builder: (yargs) =>
    yargs
      .positional('run', runPositional)
      .options(whichOptions)
      .option('out', textFlag(`File to write, .csv or .xlsx (default: ${REVIEW_SHEET})`))
      .option('delimiter', textFlag("Delimiter of a CSV, such as ';' (default: a comma)"))
      .option('force', switchFlag('Overwrite an existing file')),
  async run(args, io) {
    const { dataDir, run, out, delimiter, force } = args;
    const options = { dataDir, run, ...whichOf(args), out, delimiter, force };
    const { exportQuestions } = await import('../../app/review/review.js');
    const { file, questions, open } = await exportQuestions(options, appEnvironment(io));
    const all = run === undefined ? openCount(questions, open) : count(questions, 'open question');
    const which = questions < open && run !== undefined ? ` of run ${shortRun(run)}, ${withCommas(open)} in all,` : '';
    printResultAndWords(
      io,
      { file, questions },
      questions === 0
        ? message(
            'QUESTIONS_WRITTEN',
            `${open === 0 ? 'No open questions.' : 'No open question fits.'} ${file} has only headings.`,
          )
        : marked('QUESTIONS_WRITTEN', 'done', `${all}${which} written to ${file}`),
    );
    if (questions > 0)
      io.say(
        block(
          'REVIEW_APPLY_NEXT',
          '',
          'Fill in the column "decision":',
          '  confirm         on the line of the right company',
          '  none_of_these   on any line of the question',
          '  not_sure        on any line of the question',
          'Save the file, then:',
          commandLine(`kybatch review apply ${shellWord(out ?? REVIEW_SHEET)}`),
        ),
      );
  },
});

const applyCommand = register({
  command: 'apply <file>',
  describe: 'Read the decisions back from a spreadsheet',
  builder: (yargs) =>
    yargs
      .positional('file', {
        type: 'string',
        demandOption: true,
        describe: 'The CSV or workbook, also results.xlsx with its sheet Questions',
      })
      .option('sheet', textFlag('The worksheet to read (default: the one with the columns of a review sheet)'))
      .option('by', byOption),
  async run(args, io) {
    const { dataDir, file, sheet, by } = args;
    const { applyAnswers } = await import('../../app/review/review.js');
    const applied = await applyAnswers({ dataDir, file, sheet, by }, appEnvironment(io));
    const { released, refused, notSure, signedAs: _, ...counts } = applied;
    io.say(
      refused.map((refusal) => refusalInWords(file, refusal)),
      'alert',
    );
    printResultAndWords(
      io,
      { ...counts, notSure, refused, releasedRows: rowsOf(released), next: nextCommands(released, args) },
      appliedInWords(applied, args),
    );
    return refused.length > 0 ? ExitCode.rowsOpen : ExitCode.ok;
  },
});

const decisionsCommand = register({
  command: 'decisions',
  describe: 'List the decisions, with person and time',
  async run(args, io) {
    const { decisions } = await import('../../app/review/review.js');
    const entries = await decisions({ dataDir: args.dataDir }, appEnvironment(io));
    printResult(
      io,
      { decisions: entries.map(decisionJson) },
      block('DECISIONS', `${count(entries.length, 'decision')}`, entries.map(decisionInWords)),
    );
  },
});

const confirmCommand = register({
  command: 'confirm [run]',
  describe: 'Confirm the only candidate that reaches a grade, in many questions',
  builder: (yargs) => yargs.positional('run', runPositional).options(ruleOptions),
  async run(args, io) {
    if (args.minGrade === undefined)
      throw new UsageError('GRADE_MISSING', '--min-grade is missing', `Example: --min-grade AAZAZ. ${GRADES_IN_WORDS}`);
    const minGrade = readGrade('--min-grade', args.minGrade);
    // Without the filter, questions with a lower grade are counted as left out.
    return await answer({ verdict: 'confirm', minGrade }, { ...args, minGrade: undefined }, io);
  },
});

const rejectCommand = register({
  command: 'reject [run]',
  describe: 'Answer none_of_these to many questions without a candidate',
  builder: (yargs) => yargs.positional('run', runPositional).options(ruleOptions),
  run: (args, io) => answer({ verdict: 'none_of_these' }, args, io),
});

const withdrawCommand = register({
  command: 'withdraw [id]',
  describe: 'Withdraw a decision, or all decisions of one rule',
  builder: (yargs) =>
    yargs
      .positional('id', {
        type: 'string',
        describe: 'As `kybatch review decisions` shows it',
        coerce: (given: unknown) => (given === undefined ? undefined : readNumber('the number of the decision', given)),
      })
      .option('batch', textFlag('All decisions of one `review confirm` or `review reject`, such as R-0a1b2c3d'))
      .option('by', textFlag('Person who withdraws it (default: $USER)')),
  async run(args, io) {
    const { dataDir, id, batch, by } = args;
    if ((id === undefined) === (batch === undefined))
      throw new UsageError(
        'DECISION_MISSING',
        id === undefined ? 'the number of the decision is missing' : 'a decision and --batch exclude each other',
        `List decisions and batches: \`kybatch review decisions\``,
      );
    if (batch !== undefined) {
      const { withdrawBatch } = await import('../../app/review/review.js');
      const { decisions: withdrawn, ...rows } = await withdrawBatch({ dataDir, batch, by }, appEnvironment(io));
      const words = `✓ ${count(withdrawn.length, 'decision')} of batch ${batch} withdrawn.${usedBy(rows.rows, 'them')}`;
      printWithdrawn({ batch, withdrawn }, message('BATCH_WITHDRAWN', words, 'done'), rows, args, io);
    } else if (id !== undefined) {
      const { withdrawDecision } = await import('../../app/review/review.js');
      const rows = await withdrawDecision({ dataDir, id, by }, appEnvironment(io));
      const words = `✓ Decision ${id} withdrawn.${usedBy(rows.rows, 'it')}`;
      printWithdrawn({ withdrawn: id }, message('DECISION_WITHDRAWN', words, 'done'), rows, args, io);
    }
  },
});

/** A subcommand without such a flag refuses it. */
const local = <Flags extends object>(flags: Flags): Flags =>
  Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, global: false }])) as Flags;

export const reviewCommand = register({
  command: 'review',
  describe: 'Answer the review questions, on the terminal or in a spreadsheet',
  subcommands: [
    listCommand,
    exportCommand,
    applyCommand,
    confirmCommand,
    rejectCommand,
    decisionsCommand,
    withdrawCommand,
  ],
  builder: (yargs) => yargs.demandCommand(0).options(local({ ...whichOptions, by: byOption })),
  async run(args, io) {
    const { keys } = io;
    if (!io.interactive || keys === undefined) {
      const { reviewSheets } = await import('../../app/review/review.js');
      const sheets = await reviewSheets({ dataDir: args.dataDir }, appEnvironment(io));
      throw new UsageError(
        'NO_TERMINAL',
        '`kybatch review` needs a terminal',
        sheets.open === 0
          ? 'There are no open questions.'
          : `See the ${count(sheets.open, 'open question')} and how to answer: \`kybatch review list\``,
      );
    }
    const { dataDir, by } = args;
    const screen = () => ({ rows: io.rows ?? 24, columns: io.columns });
    const { answerQuestions } = await import('../../app/review/review.js');
    const answered = await answerQuestions(
      { dataDir, by, ...whichOf(args), keys, print: io.alert, screen, wrap: wrapped },
      appEnvironment(io),
    );
    io.alert('\n');
    io.say(
      view(
        answeredInWords(answered),
        answered.decided + answered.held > 0 && by === undefined && SIGNED_AS_USER,
        nextInWords(answered.released, args),
      ),
      'stdout',
    );
    return answered.interrupted ? ExitCode.interrupted : ExitCode.ok;
  },
});

const ruleOptions = {
  ...whichOptions,
  by: byOption,
  note: textFlag('Text kept with each decision'),
  all: switchFlag('Show every question, not only the first 20'),
  yes: switchFlag('Answer without asking'),
} as const;

type RuleArgs = ArgsOf<typeof ruleOptions> & { readonly run: string | undefined };

async function answer(rule: Rule, args: RuleArgs, io: Io): Promise<ExitCode> {
  const { dataDir, run, by } = args;
  if (args.reason === undefined)
    throw new UsageError(
      'REASON_MISSING',
      '--reason is missing',
      `Example: --reason LEGAL_FORM_DIFFERS. List the reasons: \`kybatch review list\``,
    );
  const which = whichOf(args);
  const agree = (proposal: RuleProposal) => agreed(rule, proposal, args, io);
  const note = listed([args.note, noteOf(rule, which.filter)], '; ');
  const { answerByRule } = await import('../../app/review/review.js');
  const answered = await answerByRule({ dataDir, run, by, ...which, rule, note, agree }, appEnvironment(io));
  if (answered.outcome === 'not_agreed') return ExitCode.interrupted;
  printResultAndWords(
    io,
    {
      ...pick(answered, 'batch', 'decided', 'held'),
      questions: answered.answers.map(({ question }) => question.id),
      leftOut: Object.fromEntries(answered.leftOut),
      releasedRows: rowsOf(answered.released),
      next: nextCommands(answered.released, args),
    },
    ruleInWords(answered, args, by !== undefined),
  );
  if (answered.outcome === 'nothing_fits')
    io.say(message('REVIEW_LIST_NEXT', `List the open questions: \`kybatch review list\``));
  return ExitCode.ok;
}

/** The rule in words. It is stored with each decision. */
function noteOf(rule: Rule, { reasons = [], countryCode, grade }: ReturnType<typeof whichOf>['filter']): string {
  const among = listed([
    `reason ${reasons.join(', ')}`,
    countryCode !== undefined && `country ${countryCode}`,
    grade !== undefined && `grade ${grade}`,
  ]);
  return rule.verdict === 'confirm'
    ? `rule: the only candidate with a grade of at least ${rule.minGrade}, ${among}`
    : `rule: no candidate, ${among}`;
}

function agreed(rule: Rule, proposal: RuleProposal, { all, yes }: RuleArgs, io: Io): Promise<boolean> {
  const questions = count(proposal.answers.length, 'question');
  const words = rule.verdict === 'confirm' ? 'confirm the only candidate with the grade in' : 'answer none_of_these to';
  io.say(ruleProposalInWords(proposal, all), yes ? 'stderr' : 'alert');
  const consent = {
    what: `this would ${words} ${questions}, as ${proposal.by}`,
    question: `As ${proposal.by}, ${words} ${questions}?`,
    nothing: message('NOT_AGREED', 'No decision was recorded.'),
  };
  return confirmAction(consent, yes, io);
}

const usedBy = (rows: number, what: string): string => (rows === 0 ? '' : ` ${count(rows, 'row')} used ${what}.`);

/** Rows that ask their question again do not continue by themselves. */
function printWithdrawn(
  withdrawn: object,
  words: Message,
  { rows, asking, released }: WithdrawnRowsView,
  args: Place,
  io: Io,
): void {
  const again = `${count(asking, 'row needs', 'rows need')} review again: kybatch review list`;
  printResultAndWords(
    io,
    { ...withdrawn, rows, asking, next: nextCommands(released, args) },
    view(words, asking > 0 && marked('ROWS_ASK_AGAIN', 'attention', again), nextInWords(released, args)),
  );
}
