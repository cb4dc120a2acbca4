import type { GoOnStep } from '../../app/next-step.js';
import { REVIEW_SHEET } from '../../app/review-sheet.js';
import type { SpendingArgs } from '../spending-flags.js';
import { shellWord } from './text.js';

/** A step in words, and as a command line that can be pasted as it is. */
export interface Suggestion {
  readonly words: string;
  readonly command: string;
}

type CommandArgs = Pick<SpendingArgs, 'dataDir'> & Partial<SpendingArgs>;

/** `args`: the command line that led here, so that the next one goes on in the same way. */
export function suggestCommand(next: GoOnStep, args: CommandArgs): Suggestion {
  switch (next.kind) {
    case 'resume':
      return { words: 'Go on with', command: `kybatch resume ${next.run}${spendingFlags(args, next)}` };
    case 'retry':
      return { words: 'Try the failed rows again with', command: `kybatch retry ${next.run}${spendingFlags(args)}` };
    case 'review':
      return next.sheet === 'asks'
        ? {
            words: `Answer the open questions in ${REVIEW_SHEET}, and read them back with`,
            command: `kybatch review apply ${REVIEW_SHEET}${placeFlags(args)}`,
          }
        : {
            words: 'Answer the open questions with',
            command: `kybatch review export ${next.run}${next.sheet === 'other' ? ` --out review-${next.run}.csv` : ''}${placeFlags(args)}`,
          };
    case 'doubt':
      return {
        words: 'See what was lost, and say how it goes on, with',
        command: `kybatch doubt${placeFlags(args)}`,
      };
    case 'export':
      return { words: 'Go on with', command: `kybatch export ${next.run}${placeFlags(args)}${tableFlags(args)}` };
    case 'run': {
      const command = `kybatch run ${jobWords(next)}${next.fresh ? ' --fresh' : ''}${spendingFlags(args)}`;
      return { words: 'Start it again with', command };
    }
    case 'plan':
      return {
        words: 'See which rows are invalid, and why, with',
        command: `kybatch plan ${jobWords(next)}${args.sandbox ? ' --sandbox' : ''}${placeFlags(args)}`,
      };
  }
}

const jobWords = ({ input, pipeline, portfolio, limit }: Extract<GoOnStep, { kind: 'run' | 'plan' }>): string =>
  `${shellWord(input)}${pipeline === 'analyst' ? '' : flag('--pipeline', pipeline)}${flag('--portfolio', portfolio)}${flag('--limit', limit ?? undefined)}`;

/** Where the ledger is, for commands that spend nothing. */
export const placeFlags = ({ dataDir }: Pick<SpendingArgs, 'dataDir'>): string => flag('--data-dir', dataDir);

/** Buys one answer by hand; what reads it afterwards finds it. */
export const callAgain = (
  { api, operation, params }: { readonly api: string; readonly operation: string; readonly params: string | null },
  args: CommandArgs,
): string =>
  `kybatch call ${api} ${operation}${flag('--params', params ?? undefined)}${args.sandbox ? ' --sandbox' : ''}${placeFlags(args)}`;

const tableFlags = ({ out, format }: CommandArgs): string => flag('--out', out) + flag('--format', format);

function spendingFlags(args: CommandArgs, { budget, maxReports }: Enough = {}): string {
  return [
    args.sandbox ? ' --sandbox' : '',
    placeFlags(args),
    budgetFlags({ budget: budget ?? args.budget, maxReports: maxReports ?? args.maxReports }),
    flag('--concurrency', args.concurrency),
    args.yes ? ' --yes' : '',
  ].join('');
}

export const budgetFlags = ({ budget, maxReports }: Enough): string =>
  flag('--budget', budget) + flag('--max-reports', maxReports);

/** Budgets that are enough where those of `args` were not. */
interface Enough {
  readonly budget?: number | undefined;
  readonly maxReports?: number | undefined;
}

const flag = (name: string, value: string | number | undefined): string =>
  value === undefined ? '' : ` ${name} ${shellWord(String(value))}`;
