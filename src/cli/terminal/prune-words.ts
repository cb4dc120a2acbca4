import type { DroppedPortfolio } from '../../app/drop-portfolio.js';
import type { PruneView } from '../../app/prune.js';
import { iso } from './iso.js';
import { count, withCommas } from './text.js';

/** "3 runs (1,200 rows), 10 replaced answers, 5 noted changes, 900 calls that cost nothing, 3 exports, 4 logs: 12.3 MB" */
export const pruneCounts = ({ report, exports, logs, bytes }: PruneView): string =>
  `${runCounts(report)}, ${count(report.answers, 'replaced answer')}, ${count(report.changes, 'noted change')}, ` +
  `${count(report.calls, 'call')} that cost nothing, ${watchCounts(report)}${count(exports.length, 'export')}, ${count(logs.length, 'log')}: ${megabytesOf(bytes)} MB`;

/** Rows that members stand by stay, whatever becomes of their run. */
const runCounts = ({ runs, rows, portfolios }: PruneView['report']): string =>
  `${count(runs.length, 'run')}${rows === 0 ? '' : ` (${count(rows, 'row')})`}` +
  (portfolios.length === 0 ? '' : `, ${count(portfolios.length, 'empty list')}`);

const watchCounts = ({ watchEvents, watchLooks }: PruneView['report']): string =>
  watchEvents + watchLooks === 0
    ? ''
    : `${count(watchEvents, 'event')} of the watch and ${count(watchLooks, 'look')} at it, `;

const megabytesOf = (bytes: number): string => withCommas(Math.round(bytes / 100_000) / 10);

export function pruneInWords(view: PruneView, place: string): string {
  const { outcome, report, elsewhere, workbooks, left, ledgerLeft } = view;
  const lines = [
    outcome === 'nothing_found' ? 'Nothing is that old, and nothing was removed.' : `Removed: ${pruneCounts(view)}.`,
    ...(outcome === 'nothing_found' ? [] : ['The newest answer to every request is still owned.']),
    ...(ledgerLeft === null
      ? []
      : [`Nothing went from the ledger: ${ledgerLeft}. Free some more, and repeat the command.`]),
    ...report.waiting.map((run) => `Run ${run} waits for a person, and stays: kybatch review list ${run}${place}`),
    ...left.map((folder) => `${folder} holds something that is no export: that was left`),
    ...elsewhere.map((folder) => `${folder} is an export outside of the data directory, and yours to remove`),
    ...workbooks.map((file) => `${file} is a workbook that somebody had worked in, and yours to remove`),
  ];
  return `${lines.join('\n')}\n`;
}

export const pruneToJson = ({
  before,
  report,
  exports,
  logs,
  bytes,
  elsewhere,
  workbooks,
  left,
  ledgerLeft,
}: PruneView) => ({
  before: iso(before),
  removed: {
    runs: report.runs,
    rows: report.rows,
    portfolios: report.portfolios,
    answers: report.answers,
    changes: report.changes,
    calls: report.calls,
    watch_events: report.watchEvents,
    watch_looks: report.watchLooks,
    bodies: report.bodies,
    exports,
    logs,
    bytes,
  },
  kept: { waiting_for_review: report.waiting, unfinished: report.unfinished },
  exports_elsewhere: elsewhere,
  workbooks_kept: workbooks,
  folders_left: left,
  ...(ledgerLeft === null ? {} : { ledger_not_pruned: ledgerLeft }),
});

/** "clients (30 members, 4 runs, 3 rows still to do)"; with their providers where several have one name. */
export const droppedListsInWords = (lists: readonly DroppedPortfolio[]): string =>
  lists
    .map((list) => `${list.name}${lists.length === 1 ? '' : ` of ${list.providers}`} (${whatGoes(list).join(', ')})`)
    .join(' and ');

const whatGoes = ({ members, runs, toDo, inQuestion }: DroppedPortfolio): readonly string[] => [
  count(members, 'member'),
  count(runs, 'run'),
  ...(toDo === 0 ? [] : [`${count(toDo, 'row')} still to do`]),
  ...(inQuestion === 0 ? [] : [`${count(inQuestion, 'row')} in question`]),
];

export const droppedListToJson = ({ name, providers, members, runs, toDo, inQuestion }: DroppedPortfolio) => ({
  portfolio: name,
  providers,
  members,
  runs,
  to_do: toDo,
  needs_review: inQuestion,
});
