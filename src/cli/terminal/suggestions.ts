import { type ContinueStep, type QuestionScope, REVIEW_SHEET, type ReviewSheets } from '../../app/run/next-step.js';
import type { AttemptOptions } from '../../app/run/progress.js';
import { type Message, type MessageCode, message } from '../../util/message-parts.js';
import type { SpendingArgs } from '../run-flags.js';
import { count, shellWord } from './text.js';

/** A step in words, and as a command line that can be pasted as it is. */
export interface Suggestion {
  readonly code: MessageCode;
  readonly words: string;
  readonly command: string;
}

export const suggestionInWords = ({ code, words, command }: Suggestion): Message =>
  message(code, `${words}: ${command}`);

type CommandArgs = Place & Partial<SpendingArgs>;

/** `args`: the command line that led here, so that the next one goes on in the same way. */
export function suggestCommand(next: ContinueStep, args: CommandArgs): Suggestion {
  switch (next.kind) {
    case 'resume':
      return { code: 'RESUME_NEXT', words: 'Go on with', command: `kybatch resume ${next.run}${spendingFlags(args)}` };
    case 'retry':
      return {
        code: 'RETRY_NEXT',
        words: 'Try the failed rows again with',
        command: `kybatch retry ${next.run}${spendingFlags(args)}`,
      };
    case 'review':
      return suggestReview(next, args);
    case 'doubt':
      return {
        code: 'DOUBT_NEXT',
        words: 'See what was lost, and say how it goes on, with',
        command: `kybatch doubt${placeFlags(args)}`,
      };
    case 'export':
      return {
        code: 'EXPORT_NEXT',
        words: 'Go on with',
        command: `kybatch export ${next.run}${placeFlags(args)}${tableFlags(args)}`,
      };
    case 'run': {
      const command = `kybatch run ${jobWords(next)}${next.fresh ? ' --fresh' : ''}${spendingFlags(args)}`;
      return { code: 'RUN_NEXT', words: 'Start it again with', command };
    }
    case 'plan':
      return {
        code: 'PLAN_NEXT',
        words: 'See which rows are invalid, and why, with',
        command: `kybatch plan ${jobWords(next)}${lookFlags(args)}`,
      };
  }
}

interface Questions extends QuestionScope {
  /** Without it nothing is in the way of an export. */
  readonly sheets?: ReviewSheets | undefined;
}

/** The sheet that asks the open questions already, or the command that writes one over nothing. */
export function suggestReview(questions: Questions, args: Place): Suggestion {
  const { asks = null } = questions.sheets ?? {};
  if (asks === null)
    return { code: 'REVIEW_NEXT', words: 'Answer the open questions with', command: writeSheet(questions, args) };
  return {
    code: 'REVIEW_APPLY_NEXT',
    words: `Answer the open questions in ${asks}${notInSheet(questions, args)}, and read them back with`,
    command: `kybatch review apply ${asks}${placeFlags(args)}`,
  };
}

/** What a sheet that is there already does not ask, in brackets behind it; empty where it asks all. */
export function notInSheet(questions: Questions, args: Place): string {
  const { asks = null, missing = 0 } = questions.sheets ?? {};
  if (asks === null || missing === 0) return '';
  const are = `${count(missing, 'open question')} ${missing === 1 ? 'is' : 'are'}`;
  return ` (${are} not in it: ${writeSheet(questions, args)} writes all that are open)`;
}

function writeSheet({ run, portfolio, sheets }: Questions, args: Place): string {
  const { free = REVIEW_SHEET } = sheets ?? {};
  return `kybatch review export${run === undefined ? '' : ` ${run}`}${flag('--portfolio', portfolio)}${free === REVIEW_SHEET ? '' : ` --out ${free}`}${placeFlags(args)}`;
}

type JobStep = Extract<ContinueStep, { kind: 'run' | 'plan' }>;

const jobWords = ({ input, pipeline, portfolio, limit, reading }: JobStep): string =>
  `${shellWord(input)}${pipeline === 'analyst' ? '' : flag('--pipeline', pipeline)}${flag('--portfolio', portfolio)}${flag('--limit', limit ?? undefined)}${readingFlags(reading)}`;

/** How the input is read, as it was said. */
const readingFlags = ({ map, country, encoding, delimiter, headerLine, sheet }: JobStep['reading'] = {}): string =>
  [
    ...(map ?? []).map((said) => flag('--map', said)),
    flag('--country', country),
    flag('--encoding', encoding),
    flag('--delimiter', delimiter),
    flag('--header-line', headerLine),
    flag('--sheet', sheet),
  ].join('');

/** Where the ledger is, as it was said. */
export type Place = Pick<SpendingArgs, 'dataDir'>;

/** The same as a flag, for commands that spend nothing. */
export const placeFlags = ({ dataDir }: Place): string => flag('--data-dir', dataDir);

/** And of which provider. */
export const lookFlags = (args: Place & Partial<Pick<SpendingArgs, 'sandbox'>>): string =>
  `${args.sandbox ? ' --sandbox' : ''}${placeFlags(args)}`;

/** Buys one answer by hand; what reads it afterwards finds it. */
export const callAgain = (
  { api, operation, params }: { readonly api: string; readonly operation: string; readonly params: string | null },
  args: CommandArgs,
): string => `kybatch call ${api} ${operation}${flag('--params', params ?? undefined)}${lookFlags(args)}`;

const tableFlags = ({ out, format, includeContacts }: CommandArgs): string =>
  flag('--out', out) + flag('--format', format) + (includeContacts ? ' --include-contacts' : '');

const exportFlag = ({ export: wanted }: CommandArgs): string =>
  wanted === undefined ? '' : wanted ? ' --export' : ' --no-export';

/** What a start was given, as the flags that say it. */
export const givenFlags = ({ formats, ...given }: AttemptOptions) => ({ ...given, format: formats?.join() });

function spendingFlags(args: CommandArgs): string {
  return [
    lookFlags(args),
    flag('--budget', args.budget),
    flag('--max-reports', args.maxReports),
    flag('--concurrency', args.concurrency),
    exportFlag(args),
    tableFlags(args),
    args.yes ? ' --yes' : '',
  ].join('');
}

const flag = (name: string, value: string | number | undefined): string =>
  value === undefined ? '' : ` ${name} ${shellWord(String(value))}`;
