import type { Connection } from './driver.js';

/** Beyond 2^53 numbers are not told apart: what is numbered after it would be paid for, and not found again. */
const LAST_NUMBER = 9_000_000_000_000_000;
const NUMBERED = ['calls', 'decisions', 'environments', 'errors', 'held_decisions', 'starts'];

/** The first number of a record that nobody can have given out. */
export function impossibleNumber(database: Connection): string | undefined {
  const there = new Set(
    database.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all(),
  );
  const isBeyond = (numbers: string) =>
    database.prepare(`SELECT 1 FROM (${numbers}) WHERE number NOT BETWEEN 0 AND ${LAST_NUMBER}`).get() !== undefined;
  if (there.has('sqlite_sequence') && isBeyond('SELECT seq AS number FROM sqlite_sequence'))
    return 'the last number in sqlite_sequence was never given out';
  const table = NUMBERED.filter((name) => there.has(name)).find(
    (name) => isBeyond(`SELECT max(id) AS number FROM ${name}`) || isBeyond(`SELECT min(id) AS number FROM ${name}`),
  );
  return table && `a number in ${table}.id was never given out`;
}
