import type { PortfolioView } from '../../app/portfolio/portfolios.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, mapTexts, message } from '../../util/message-parts.js';
import { onlySandboxOption, type ProviderArgs, type Verb } from '../command.js';
import { appEnvironment, printResult } from '../terminal/io.js';
import { amountsInWords, REASONS } from '../terminal/run-words.js';
import { placeFlags } from '../terminal/suggestions.js';
import { count, iso, moment, withCommas, withPlace } from '../terminal/text.js';

export const portfoliosVerb: Verb<ProviderArgs> = {
  command: 'portfolios',
  describe: 'List the portfolios: members, oldest answer, what is due and what it costs',
  builder: (yargs) => yargs.option('sandbox', onlySandboxOption).example('$0 portfolios --json', 'for scripts'),
  async run({ dataDir, sandbox, json }, io) {
    const { portfolios } = await import('../../app/portfolio/portfolios.js');
    const views = await portfolios({ dataDir, sandbox }, appEnvironment(io));
    printResult(
      io,
      { json },
      () => ({ portfolios: views.map(portfolioToJson) }),
      () => mapTexts([portfoliosInWords(views)], (text) => withPlace(text, placeFlags({ dataDir }))),
    );
    return ExitCode.ok;
  },
};

function portfoliosInWords(views: readonly PortfolioView[]): Message {
  if (views.length === 0)
    return message('NO_PORTFOLIO_YET', 'There is no portfolio yet: `kybatch run <input.csv>` makes one.');
  return message('PORTFOLIOS', views.map((view) => portfolioInWords(view).join('\n')).join('\n\n'));
}

function portfolioInWords(view: PortfolioView): readonly string[] {
  const open = (['no_match', 'needs_review', 'failed', 'invalid', 'pending'] as const).filter(
    (outcome) => view.outcomes[outcome] > 0,
  );
  return [
    view.name,
    ...(view.input === view.name ? [] : [`  list: ${view.input}`]),
    `  ${count(view.members, 'member')}: ${withCommas(view.outcomes.complete)} complete${open.map((outcome) => `, ${withCommas(view.outcomes[outcome])} ${outcome}`).join('')}`,
    `  ${dueInWords(view)}`,
    `  oldest answer: ${view.oldestFetchedAt === null ? 'none' : moment(view.oldestFetchedAt)}; looked at last: ${moment(view.seenAt)}; last success: ${view.lastSuccessAt === null ? 'none' : moment(view.lastSuccessAt)}`,
    ...(view.lastRun === null
      ? []
      : [
          `  last run: ${view.lastRun.id}, ${view.lastRun.finishedAt === null ? 'not finished' : `${view.lastRun.state} ${moment(view.lastRun.finishedAt)}`}`,
        ]),
  ];
}

function dueInWords({ due, costs, nextDueAt }: PortfolioView): string {
  const reasons = Object.entries(due).map(
    ([reason, rows]) => `${withCommas(rows)} ${REASONS[reason as keyof typeof REASONS]}`,
  );
  if (reasons.length > 0) return `due: ${reasons.join(', ')}; at most ${amountsInWords(costs)}`;
  return `nothing is due${nextDueAt === null ? '' : `; next: ${moment(nextDueAt)}`}`;
}

const portfolioToJson = (view: PortfolioView) => ({
  portfolio: view.name,
  input: view.input,
  providers: view.providers,
  seen_at: iso(view.seenAt),
  last_success_at: iso(view.lastSuccessAt),
  members: view.members,
  outcomes: view.outcomes,
  oldest_fetched_at: iso(view.oldestFetchedAt),
  due: view.due,
  units_at_most: view.costs.units,
  credit_reports_at_most: view.costs.reports,
  next_due_at: iso(view.nextDueAt),
  last_run: view.lastRun && {
    run: view.lastRun.id,
    state: view.lastRun.state,
    finished_at: iso(view.lastRun.finishedAt),
  },
});
