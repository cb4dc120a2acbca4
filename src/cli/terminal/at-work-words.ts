import type { AtWorkView, StatusView } from '../../app/status.js';
import { count, durationInWords, moment } from './text.js';
import { workersInWords } from './worker-words.js';

/** What a process that has died had under way is booked by the next start. */
export function callsUnderWay({ activity, atWork, workers }: StatusView, place: string): string {
  if (activity.underWay === 0) return '';
  const calls = count(activity.underWay, 'call');
  return atWork?.alive === true || workers.length > 0
    ? `, ${calls} under way`
    : `; ${calls} ${activity.underWay === 1 ? 'was' : 'were'} lost with the process and may have been charged (\`kybatch doubt${place}\` lists ${activity.underWay === 1 ? 'it' : 'them'})`;
}

/** Whether somebody is at it, how fast, and what troubles it; or how the last one came to its end. */
export function atWorkInWords(view: StatusView): readonly string[] {
  const { run, atWork, at, workers } = view;
  if (atWork === null) return run.state === 'finished' ? [] : ['Process: none has begun yet'];
  const { alive, since, silent } = atWork;
  if (!alive && run.state === 'finished') return [];
  if (!alive) return [...endInWords(view, atWork), ...(workers.length === 0 ? [] : howItGoes(view, atWork))];
  return [
    `Process: at work for ${durationInWords(at - since)}, since ${moment(since)}; ${ofLate(atWork)}`,
    ...(silent ? ['         not heard of for more than half a minute: it is frozen, or the machine was'] : []),
    ...howItGoes(view, atWork),
  ];
}

const howItGoes = ({ at, workers }: StatusView, { failedCalls, outages }: AtWorkView): readonly string[] => [
  ...failedCalls.map(
    ({ code, count: calls }) =>
      `Trouble: ${count(calls, 'call')} failed with ${code} in the last minute, which may pass: what they were for is tried again as the pipeline says`,
  ),
  ...workersInWords({ workers }),
  ...outages.map((outage) => outageInWords(outage, at)),
];

const ofLate = ({ rowsPerSecond, msToGo }: AtWorkView): string =>
  `${rowsPerSecond.toFixed(1)} rows/s of late${msToGo === null ? '' : `, about ${durationInWords(msToGo)} to go`}`;

type Outage = AtWorkView['outages'][number];

function outageInWords({ row, api, operation, code, since, nextTryAt, givesUpAt }: Outage, at: number): string {
  const next = `next try ${nextTryAt <= at ? 'now' : `in ${durationInWords(nextTryAt - at)}`}`;
  return row === undefined
    ? `Outage: ${api} ${operation} does not answer (${code}) since ${moment(since)}, for ${durationInWords(at - since)}; ${next}, given up ${moment(givesUpAt)}. How long it lasts nobody knows`
    : `Waits: row ${row} is put off by ${api} ${operation} (${code}), while others are answered; ${next}, given up ${moment(givesUpAt)} at the latest`;
}

function endInWords({ workers, putOff }: StatusView, atWork: AtWorkView): readonly string[] {
  const { since, endedAt, lastHeardAt, ending } = atWork;
  const died = `died without a word; it was last heard of ${moment(lastHeardAt)}`;
  const ended = endedAt !== null ? `ended ${moment(endedAt)}` : ending === null ? died : 'was broken off';
  const isOne = workers.length === 1;
  // Who led and left has taken back what nobody had begun, but for what waits for its time.
  const doing =
    endedAt === null || putOff
      ? `${isOne ? 'goes' : 'go'} on with what was laid out, ${ofLate(atWork)}`
      : `${isOne ? 'brings home what it has' : 'bring home what they have'} begun`;
  const who =
    workers.length === 0 ? 'none is at work; the last one' : `${count(workers.length, 'worker')} ${doing}; who led`;
  const stopped = ending?.stopped ?? null;
  return [
    `Process: ${who} began ${moment(since)} and ${ended}${ending?.interrupted ? ', interrupted' : ''}`,
    ...(stopped === null ? [] : [`Stopped: ${stopped.code}: ${stopped.message}`]),
    ...(stopped?.hint === undefined ? [] : [`  ${stopped.hint}`]),
  ];
}

/** What the last start has done: rows that it has settled, and how long that took. */
export function speedInWords({ atWork }: StatusView): string {
  if (atWork === null || (atWork.calls === 0 && atWork.rows === 0)) return 'nothing settled yet';
  const { rows, calls, ms, alive } = atWork;
  const perSecond = (number: number) => (number / Math.max(1, ms / 1000)).toFixed(1);
  return `${count(rows, 'row')} settled by ${alive ? 'this' : 'the last'} start in ${durationInWords(ms)} (${perSecond(rows)} rows/s, ${perSecond(calls)} calls/s)`;
}
