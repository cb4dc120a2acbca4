import { type ContinueStep, type QuestionScope, REVIEW_SHEET, type ReviewSheets } from '../../app/run/next-step.js';
import type { AttemptOptions } from '../../app/run/progress.js';
import type { RunEndView } from '../../app/run/run-end.js';
import type { Amounts, BarredRest, PriceAboveLimit } from '../../app/run/spending.js';
import type { Message, MessageCode } from '../../util/message-parts.js';
import { count, withCommas } from '../../util/words.js';
import type { SpendingArgs } from '../run-flags.js';
import { amountsInWords } from './run-words.js';
import { shellWord } from './text.js';
import { block, commandLine } from './view.js';

type Limits = RunEndView['limits'];

/** A step in words, and as a command line that can be pasted as it is. */
export interface Suggestion {
  readonly code: MessageCode;
  readonly words: string;
  readonly command: string;
}

export const suggestionInWords = ({ code, words, command }: Suggestion): Message =>
  block(code, `${words}:`, commandLine(command));

/** A review sheet has answers that are not recorded yet. */
export const hasNewAnswers = ({ code }: Suggestion): boolean => code === 'REVIEW_APPLY_NEXT';

export type CommandArgs = Place & Partial<SpendingArgs>;

/** `args`: the flags of the current command, which the suggested one repeats. */
export function suggestCommand(next: ContinueStep, args: CommandArgs): Suggestion {
  const suggest = (code: MessageCode, words: string, command: string) => ({
    code,
    words,
    command: `kybatch ${command}`,
  });
  switch (next.kind) {
    case 'resume':
      return suggest('RESUME_NEXT', 'Continue', `resume${ofRun(next)}${spendingFlags(args)}`);
    case 'retry':
      return suggest('RETRY_NEXT', 'Try the failed rows again', `resume --failed${ofRun(next)}${spendingFlags(args)}`);
    case 'review':
      return suggestReview(next, args);
    case 'doubt':
      return suggest('DOUBT_NEXT', 'See the calls with unknown charge', `charges${placeFlags(args)}`);
    case 'doctor':
      return suggest('DOCTOR_NEXT', 'Check the configuration', `doctor${lookFlags(args)}`);
    case 'export':
      return suggest('EXPORT_NEXT', 'Write the tables', `export ${next.run}${placeFlags(args)}${tableFlags(args)}`);
    case 'run': {
      const command = `run ${jobWords(next)}${next.fresh ? ' --rebuy' : ''}${spendingFlags(args)}`;
      return suggest('RUN_NEXT', 'Run it again', command);
    }
    case 'plan':
      return suggest('PLAN_NEXT', 'See the invalid rows', `plan ${jobWords(next)}${lookFlags(args)}`);
  }
}

/** Without a name, the command takes the newest run that it can continue. */
const ofRun = ({ run }: { readonly run: string }): string => (run === '' ? '' : ` ${run}`);

/** The command that continues a run with a higher limit, because the present one allows nothing more. */
export const suggestRaised = (run: string, rest: BarredRest, limits: Limits, args: CommandArgs): Suggestion =>
  suggestCommand(
    { kind: 'resume', run },
    {
      ...args,
      // One call at that price shows what a call costs now.
      maxUnits:
        rest.priceAboveLimit?.units ??
        (limits.units !== null && rest.units > limits.units ? rest.units : args.maxUnits),
      maxReports: limits.reports !== null && rest.reports > limits.reports ? rest.reports : args.maxReports,
    },
  );

/** More than the user has allowed so far, which is said before the command. */
export const raisedInWords = (toDo: number, rest: BarredRest, { command }: Suggestion): Message =>
  block(
    'LIMIT_TO_RAISE',
    rest.priceAboveLimit === null && ['The limits allow nothing more.', needInWords(toDo, rest)],
    'To raise the limit, if you want to spend that much:',
    commandLine(command),
  );

/** "a call cost 100 units last time, and the limit allows 20" */
export const priceInWords = ({ units, limit }: PriceAboveLimit): string =>
  `a call cost ${count(units, 'unit')} last time, and the limit allows ${withCommas(limit)}`;

/** "All rows together need up to 9 units." The rows were counted above. */
export const needInWords = (toDo: number, rest: Amounts): string =>
  `${toDo === 1 ? 'The row needs' : 'All rows to do together need'} up to ${amountsInWords(rest)}.`;

interface Questions extends QuestionScope {
  /** Absent: no review sheet exists that an export would overwrite. */
  readonly sheets?: ReviewSheets | undefined;
}

/** The existing sheet with the open questions, or the command that writes one without overwriting a file. */
export function suggestReview(questions: Questions, args: Place): Suggestion {
  const { asks = null, answered = 0 } = questions.sheets ?? {};
  if (asks === null)
    return { code: 'REVIEW_NEXT', words: 'Answer the questions in a sheet', command: writeSheet(questions, args) };
  const others = notInSheet(questions, args);
  return {
    code: answered > 0 ? 'REVIEW_APPLY_NEXT' : 'REVIEW_NEXT',
    words:
      answered > 0
        ? `${asks} has ${count(answered, 'new answer')}${others}. Record ${answered === 1 ? 'it' : 'them'}`
        : `${asks} waits for answers${others}. Fill it in, then`,
    command: `kybatch review apply ${asks}${placeFlags(args)}`,
  };
}

/** The workbook of the results has the open questions, too. */
export const suggestResults = (workbook: string): Suggestion => ({
  code: 'REVIEW_NEXT',
  words: 'Fill in the sheet "Questions" of results.xlsx, then',
  command: `kybatch review apply ${shellWord(workbook)}`,
});

/** The number of open questions that the existing sheet does not have, in brackets. Empty: it has all. */
export function notInSheet(questions: Questions, args: Place): string {
  const { asks = null, missing = 0 } = questions.sheets ?? {};
  if (asks === null || missing === 0) return '';
  const missingOnes = count(missing, 'open question is', 'open questions are');
  return ` (${missingOnes} not in it: \`${writeSheet(questions, args)}\` writes all)`;
}

/** The run or the list of which questions are asked. Empty: all. */
export const scopeFlags = ({ run, portfolio }: QuestionScope): string =>
  `${run === undefined ? '' : ` ${run}`}${flag('--portfolio', portfolio)}`;

function writeSheet({ run, portfolio, sheets }: Questions, args: Place): string {
  const { free = REVIEW_SHEET } = sheets ?? {};
  return `kybatch review export${scopeFlags({ run, portfolio })}${free === REVIEW_SHEET ? '' : ` --out ${free}`}${placeFlags(args)}`;
}

type JobStep = Extract<ContinueStep, { kind: 'run' | 'plan' }>;

const jobWords = ({ input, pipeline, portfolio, limit, reading }: JobStep): string =>
  `${shellWord(input)}${pipeline === 'analyst' ? '' : flag('--pipeline', pipeline)}${flag('--portfolio', portfolio)}${flag('--limit', limit ?? undefined)}${readingFlags(reading)}`;

const readingFlags = ({ map, country, encoding, delimiter, headerLine, sheet }: JobStep['reading'] = {}): string =>
  [
    ...(map ?? []).map((assignment) => flag('--map', assignment)),
    flag('--country', country),
    flag('--encoding', encoding),
    flag('--delimiter', delimiter),
    flag('--header-line', headerLine),
    flag('--sheet', sheet),
  ].join('');

export type Place = Pick<SpendingArgs, 'dataDir'>;

export const placeFlags = ({ dataDir }: Place): string => flag('--data-dir', dataDir);

export const lookFlags = (args: Place & Partial<Pick<SpendingArgs, 'sandbox'>>): string =>
  `${args.sandbox ? ' --sandbox' : ''}${placeFlags(args)}`;

export const callAgain = (
  { api, operation, params }: { readonly api: string; readonly operation: string; readonly params: string | null },
  args: CommandArgs,
): string => `kybatch call ${api} ${operation}${flag('--params', params ?? undefined)}${lookFlags(args)}`;

const tableFlags = ({ out, format, includeContacts }: CommandArgs): string =>
  flag('--out', out) + flag('--format', format) + (includeContacts ? ' --include-contacts' : '');

const exportFlag = ({ export: isWanted }: CommandArgs): string =>
  isWanted === undefined ? '' : isWanted ? ' --export' : ' --no-export';

export const givenFlags = ({ formats, budget, yes = false, ...given }: AttemptOptions) => ({
  ...given,
  yes,
  maxUnits: budget,
  format: formats?.join(),
});

function spendingFlags(args: CommandArgs): string {
  return [
    lookFlags(args),
    flag('--max-units', args.maxUnits),
    flag('--max-reports', args.maxReports),
    flag('--concurrency', args.concurrency),
    exportFlag(args),
    tableFlags(args),
    args.yes ? ' --yes' : '',
  ].join('');
}

const flag = (name: string, value: string | number | undefined): string =>
  value === undefined ? '' : ` ${name} ${shellWord(String(value))}`;
