// The first sheet of the results workbook: what a reader wants to know before the rows.

import { OUTCOME_WORDS, ROW_OUTCOMES } from '../domain/outcomes.js';
import type { RunSnapshot } from '../ledger/answers/snapshot.js';
import type { SheetCell } from '../sheets/xlsx/write-sheet.js';
import type { SheetChart } from '../sheets/xlsx/write-workbook.js';
import type { SummarySheet } from './formats/format.js';
import { SUMMARY_FILLS as fills } from './formats/xlsx.js';
import type { ReportTally } from './report.js';

const figure = (value: number): SheetCell => ({ text: String(value), as: 'amount' });

export async function summarySheet({ run, progress, charged }: RunSnapshot, tally: ReportTally): Promise<SummarySheet> {
  const lines: (readonly SheetCell[])[] = [];
  const charts: SheetChart[] = [];
  const section = (title: string, ...rest: readonly string[]) => {
    if (lines.length > 0) lines.push([]);
    lines.push([title, ...rest].map((text) => ({ text, fill: fills.section })));
  };
  const counted = (title: string, counts: readonly (readonly [name: string, companies: number])[]) => {
    if (counts.length === 0) return;
    section(title, 'companies');
    // The header of the sheet is line 1.
    const from = lines.length + 2;
    for (const [name, companies] of counts) lines.push([name, figure(companies)]);
    const [names, values] = [counts.map(([name]) => name), counts.map(([, companies]) => companies)];
    charts.push({ title, from, to: from + counts.length - 1, names, values });
  };
  lines.push(['List', run.inputPath], ['Run', run.id], ['Pipeline', run.pipelineName]);
  section('Rows');
  const shown = ROW_OUTCOMES.filter((outcome) => progress.byOutcome[outcome] > 0);
  const from = lines.length + 2;
  for (const outcome of shown) lines.push([OUTCOME_WORDS[outcome], figure(progress.byOutcome[outcome])]);
  charts.push({
    title: 'Rows by outcome',
    from,
    to: from + shown.length - 1,
    names: shown.map((outcome) => OUTCOME_WORDS[outcome]),
    values: shown.map((outcome) => progress.byOutcome[outcome]),
  });
  section('Spent by this run');
  const reports = (await charged()).reduce((sum, { meter, calls }) => sum + (meter === 'report' ? calls : 0), 0);
  lines.push(['units', figure(progress.unitsCharged)]);
  if (reports > 0) lines.push(['credit reports', figure(reports)]);
  if (progress.unknownCalls > 0) lines.push(['calls with unknown charge', figure(progress.unknownCalls)]);
  if (tally.troubled.length > 0) {
    section('Companies to look at first', 'row', 'status, as sent');
    for (const { name, row, status, hasEnded } of tally.troubled)
      lines.push([
        { text: name, fill: hasEnded ? fills.ended : fills.troubled },
        { text: String(row), as: 'count' },
        status,
      ]);
    if (tally.troubledInAll > tally.troubled.length)
      lines.push([`and ${tally.troubledInAll - tally.troubled.length} more in the sheet Results`]);
  }
  counted(
    'Credit risk, as sent',
    [...tally.risks].sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  if (tally.exposures.size > 0) {
    section('Sum of credit limits', 'amount');
    for (const [currency, sum] of [...tally.exposures].sort(([a], [b]) => (a < b ? -1 : 1)))
      lines.push([currency, { text: sum, as: 'amount' }]);
  }
  counted(
    'Year of the newest turnover',
    [...tally.years].sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return { lines, charts };
}
