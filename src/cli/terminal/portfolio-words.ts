import type { PortfolioView } from '../../app/portfolios.js';
import { iso } from './iso.js';
import { amountsInWords, REASONS } from './spending-words.js';
import { count, moment, withCommas } from './text.js';

export function portfoliosInWords(views: readonly PortfolioView[]): string {
  if (views.length === 0) return 'There is no portfolio yet: `kybatch run <input.csv>` makes one.\n';
  return views.map((view) => `${portfolioInWords(view).join('\n')}\n`).join('\n');
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

export const portfolioToJson = (view: PortfolioView) => ({
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
