import { outsideText } from '../../util/outside-text.js';
import { type Metric, prometheusText, type Sample } from '../../util/prometheus.js';
import type { Figures, ListFigures, StartFigures } from './figures.js';

/** The figures as Prometheus reads them. Names of lists come from outside: they are labels, and nothing else. */
export function metricsText({ at, lists, callsInDoubt, unitsLeft, start }: Figures): string {
  return prometheusText([
    ofLists(lists, 'rows', 'Rows of the list by outcome.', ({ outcomes }) => counted('outcome', outcomes)),
    ofLists(lists, 'rows_due', 'Rows that were found to be due and are not done.', ({ due }) => [plain(due)]),
    ofLists(lists, 'rows_held', 'Rows that are due and cannot move, by what they wait for.', ({ held }) =>
      counted('reason', held),
    ),
    ofLists(
      lists,
      'oldest_answer_age_seconds',
      'Age of the oldest answer that the list stands by.',
      ({ oldestAnswerAt }) => maybe(oldestAnswerAt, (fetchedAt) => (at - fetchedAt) / 1000),
    ),
    ofLists(
      lists,
      'last_success_timestamp_seconds',
      'When a start on the list last came to its end by itself.',
      ({ lastSuccessAt }) => maybe(lastSuccessAt, (time) => time / 1000),
    ),
    one('calls_in_doubt', 'Calls that may have been charged, about which a person has still to say something.', [
      plain(callsInDoubt),
    ]),
    one(
      'units_left',
      'Units that the provider says are left, of the plan and of the day; of the start: of its budget.',
      [
        ...unitsLeft.map(({ api, of, units }) => ({ labels: { api, of }, value: units })),
        ...maybe(start?.budgetLeft ?? null, (units) => units, { api: 'v1', of: 'start' }),
      ],
    ),
    ...(start === null ? [] : ofStart(start)),
    one('written_timestamp_seconds', 'When these figures were written.', [plain(at / 1000)]),
  ]);
}

function ofStart({ list, atWork, spent, calls }: StartFigures): readonly Metric[] {
  const labels = list === null ? {} : { portfolio: label(list) };
  const figure = (name: string, help: string, value: number) => one(name, help, [{ labels, value }]);
  return [
    figure('start_at_work', 'Whether the start that wrote this is at work.', atWork ? 1 : 0),
    figure('start_units_spent', 'Units that this start has spent.', spent.units),
    figure('start_credit_reports', 'Credit reports that this start has bought.', spent.reports),
    figure('start_unknown_charges', 'Calls of this start whose charge nobody knows.', spent.unknown),
    one(
      'start_calls',
      'Calls of this start by operation, HTTP status (empty: none came) and class: ok, owned, under_way, or that of the error.',
      calls.map(({ api, operation, class: kind, httpStatus, count }) => ({
        labels: { ...labels, api, operation, class: kind, http: String(httpStatus ?? '') },
        value: count,
      })),
    ),
  ];
}

const one = (name: string, help: string, samples: readonly Sample[]): Metric => ({
  name: `kybatch_${name}`,
  help,
  samples,
});

const ofLists = (
  lists: readonly ListFigures[],
  name: string,
  help: string,
  samplesOf: (list: ListFigures) => readonly Sample[],
): Metric =>
  one(
    name,
    help,
    lists.flatMap((list) =>
      samplesOf(list).map(({ labels, value }) => ({ labels: { portfolio: label(list.name), ...labels }, value })),
    ),
  );

const plain = (value: number): Sample => ({ labels: {}, value });

const counted = (name: string, counts: Readonly<Record<string, number>>): readonly Sample[] =>
  Object.entries(counts).map(([key, value]) => ({ labels: { [name]: key }, value }));

const maybe = <T>(known: T | null, value: (known: T) => number, labels: Sample['labels'] = {}): readonly Sample[] =>
  known === null ? [] : [{ labels, value: value(known) }];

const label = (name: string): string => outsideText(name);
