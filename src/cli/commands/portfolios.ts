import type { DroppedPortfolio } from '../../app/admin/prune.js';
import type { PortfolioView } from '../../app/portfolio/portfolios.js';
import { ExitCode } from '../../domain/errors.js';
import { OUTCOME_WORDS } from '../../domain/outcomes.js';
import { type Message, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, listed, moment, shortRun } from '../../util/words.js';
import { onlySandboxOption, register, switchFlag } from '../command.js';
import { appEnvironment, confirmAction, printResult } from '../terminal/io.js';
import { amountsInWords, dueInWords, finishedInWords } from '../terminal/run-words.js';
import { countLines, labelLines } from '../terminal/view.js';
import { NOTHING_DELETED, WHAT_STAYS } from './runs.js';

const deleteCommand = register({
  command: 'delete <portfolio>',
  describe: 'Delete one portfolio with its runs',
  builder: (yargs) =>
    yargs
      .positional('portfolio', {
        type: 'string',
        demandOption: true,
        describe: 'Its name, or the path of its file',
      })
      .option('sandbox', onlySandboxOption)
      .option('yes', switchFlag('Delete without asking')),
  async run({ dataDir, portfolio, sandbox, yes }, io) {
    const agree = (portfolios: readonly DroppedPortfolio[]) => {
      const names = droppedInWords(portfolios);
      return confirmAction(
        { what: `portfolios delete would remove ${names}`, question: `Delete ${names}?`, nothing: NOTHING_DELETED },
        yes,
        io,
      );
    };
    const { dropPortfolio } = await import('../../app/admin/prune.js');
    const { dropped, lists } = await dropPortfolio({ dataDir, portfolio, sandbox, agree }, appEnvironment(io));
    if (!dropped) return ExitCode.interrupted;
    printResult(
      io,
      {
        dropped: lists.map((list) => ({
          portfolio: list.name,
          ...pick(list, 'providers', 'members', 'runs', 'toDo'),
          needsReview: list.inQuestion,
        })),
      },
      message('PORTFOLIO_DROPPED', `✓ Deleted: ${droppedInWords(lists)}. ${WHAT_STAYS}`, 'done'),
    );
  },
});

export const portfoliosCommand = register({
  command: 'portfolios',
  describe: 'List the portfolios: size, age, what is due and its cost',
  subcommands: [deleteCommand],
  builder: (yargs) => yargs.option('sandbox', onlySandboxOption),
  async run({ dataDir, sandbox }, io) {
    const { portfolios } = await import('../../app/portfolio/portfolios.js');
    const views = await portfolios({ dataDir, sandbox }, appEnvironment(io));
    printResult(io, { portfolios: views.map(portfolioJson) }, portfoliosInWords(views));
  },
});

function portfoliosInWords(views: readonly PortfolioView[]): Message {
  if (views.length === 0) return message('NO_PORTFOLIO_YET', 'No portfolios yet. `kybatch run FILE` creates one.');
  return message('PORTFOLIOS', views.map(portfolioInWords).join('\n\n'));
}

const SHOWN = ['complete', 'no_match', 'needs_review', 'failed', 'invalid', 'pending'] as const;

function portfolioInWords({ outcomes, oldestFetchedAt, lastSuccessAt, lastRun, ...view }: PortfolioView): string {
  const counts = SHOWN.map((outcome) => [outcomes[outcome], OUTCOME_WORDS[outcome]] as const);
  return [
    `${view.name}   ${count(view.members, 'row')}`,
    '',
    ...countLines(counts),
    '',
    ...labelLines([
      ['List', view.input !== view.name && view.input],
      ['Due', whatIsDue(view)],
      ['Answers', oldestFetchedAt !== null && `the oldest is of ${moment(oldestFetchedAt)}`],
      ['Last run', lastRun && `${shortRun(lastRun.id)}, ${endInWords(lastRun)}`],
      ['Checked', !isSameMinute(view.seenAt, lastRun) && `the list was last read ${moment(view.seenAt)}`],
      ['Success', !lastRun?.lacksTables && !isSameMinute(lastSuccessAt, lastRun) && successInWords(lastSuccessAt)],
    ]),
  ].join('\n');
}

const successInWords = (at: number | null): string =>
  at === null ? 'no run has finished yet' : `last ${moment(at)}: tables written, or nothing due`;

/** The end of the last run says it already. */
const isSameMinute = (at: number | null, lastRun: PortfolioView['lastRun']): boolean =>
  at !== null && typeof lastRun?.finishedAt === 'number' && moment(at) === moment(lastRun.finishedAt);

const endInWords = ({ state, finishedAt, lacksTables }: NonNullable<PortfolioView['lastRun']>): string => {
  if (finishedAt === null) return 'not finished';
  return state === 'finished' ? finishedInWords(finishedAt, lacksTables) : `${state} ${moment(finishedAt)}`;
};

function whatIsDue({ due, costs, nextDueAt }: Pick<PortfolioView, 'due' | 'costs' | 'nextDueAt'>): string {
  const reasons = dueInWords(due);
  if (reasons !== '') return `${reasons}. At most ${amountsInWords(costs)}`;
  return `nothing${nextDueAt === null ? '' : ` before ${moment(nextDueAt)}`}`;
}

export const portfolioJson = (view: PortfolioView) => ({
  portfolio: view.name,
  ...pick(view, 'input', 'providers', 'seenAt', 'lastSuccessAt', 'members', 'outcomes', 'oldestFetchedAt', 'due'),
  unitsAtMost: view.costs.units,
  creditReportsAtMost: view.costs.reports,
  nextDueAt: view.nextDueAt,
  lastRun: view.lastRun && { run: view.lastRun.id, ...pick(view.lastRun, 'state', 'finishedAt') },
});

/** "clients (30 members, 4 runs, 3 rows still to do)"; with their providers if several have one name. */
const droppedInWords = (lists: readonly DroppedPortfolio[]): string =>
  lists
    .map(({ name, providers, members, runs, toDo, inQuestion }) => {
      const counts = [
        count(members, 'row'),
        count(runs, 'run'),
        toDo > 0 && `${count(toDo, 'row')} to do`,
        inQuestion > 0 && count(inQuestion, 'row needs review', 'rows need review'),
      ];
      return `${name}${lists.length === 1 ? '' : ` of ${providers}`} (${listed(counts)})`;
    })
    .join(' and ');
