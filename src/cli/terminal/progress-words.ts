import type { LinePart } from './fit-line.js';
import { looksInWords } from './report-words.js';
import { count, durationInWords, withCommas } from './text.js';

/** How far a start has come. */
export interface Reached {
  readonly settled: number;
  readonly total: number;
  readonly rowsPerSecond: number;
  readonly units: number;
  readonly unitsLeft: number | null;
  readonly reports: number;
  /** Reports that are known to come, and those that may be lost. */
  readonly awaited: number;
  readonly looks: number;
  readonly lookUntil: number;
  readonly parked: number;
  readonly failed: number;
  readonly msToGo: number | null;
}

/** "120 of 400 rows, 14.2 rows/s, 240 units spent, 760 left, 12 reports awaited, 1 failed, about 20 s to go" */
export const progressParts = (reached: Reached): readonly LinePart[] => [
  {
    text: `${withCommas(reached.settled)} of ${count(reached.total, 'row')}`,
    short: `${withCommas(reached.settled)}/${withCommas(reached.total)}`,
    rank: 1,
  },
  { text: `${reached.rowsPerSecond.toFixed(1)} rows/s`, short: `${reached.rowsPerSecond.toFixed(1)}/s`, rank: 11 },
  { text: `${count(reached.units, 'unit')} spent`, short: count(reached.units, 'unit'), rank: 7 },
  ...(reached.unitsLeft === null ? [] : [{ text: `${withCommas(reached.unitsLeft)} left`, rank: 10 }]),
  ...(reached.reports === 0
    ? []
    : [
        {
          text: `${count(reached.reports, 'report')} bought`,
          short: `${withCommas(reached.reports)} bought`,
          rank: 9,
        },
      ]),
  ...(reached.awaited === 0
    ? []
    : [
        {
          text: `${count(reached.awaited, 'report')} awaited`,
          short: `${withCommas(reached.awaited)} awaited`,
          rank: 3,
        },
      ]),
  ...(reached.looks === 0
    ? []
    : [
        {
          text: looksInWords(reached.looks, reached.lookUntil),
          short: `${withCommas(reached.looks)} looked for`,
          rank: 4,
        },
      ]),
  ...(reached.parked === 0 ? [] : [{ text: `${withCommas(reached.parked)} parked`, rank: 8 }]),
  ...(reached.failed === 0 ? [] : [{ text: `${withCommas(reached.failed)} failed`, rank: 6 }]),
  ...(reached.msToGo === null
    ? []
    : [
        {
          text: `about ${durationInWords(reached.msToGo)} to go`,
          short: `${durationInWords(reached.msToGo)} to go`,
          rank: 2,
        },
      ]),
];
