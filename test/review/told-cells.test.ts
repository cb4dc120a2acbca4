import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import { applySheet } from '../../src/review/apply.js';
import { openQuestions } from '../../src/review/questions.js';
import { loadSheet } from '../../src/review/read-sheet.js';
import { headingOf, type ReviewColumn } from '../../src/review/sheet-columns.js';
import { writeSheet } from '../../src/review/write-sheet.js';
import { long } from '../helpers/long.js';
import { sheetColumns } from '../helpers/review-sheet.js';
import { type Desk, withDesk } from './with-ledger.js';

type Line = Record<string, string>;

const ALPHA = { id: '1001', name: 'Alpha Holding GmbH', registrationNumber: '00123456' };
const BETA = { id: '1002', name: 'Beta Holding GmbH', registrationNumber: null };

/** Two questions, the first with two candidates, as `review export` writes them. */
async function exported({ ask, review }: Desk): Promise<Line[]> {
  await ask({ row: 1, key: 'one', candidates: [ALPHA, BETA] });
  const other = { id: '2001', name: 'Gamma AG', registrationNumber: '500510000' };
  await ask({ row: 9, key: 'two', candidates: [other] });
  return parse(writeSheet(await openQuestions(review)), { bom: true, columns: sheetColumns });
}

async function apply({ folder, review }: Desk, lines: readonly Line[]) {
  const path = join(folder, 'back.csv');
  writeFileSync(path, stringify([...lines], { header: true, bom: true }));
  return await applySheet(await loadSheet(path), review, 'anna', 1_000);
}

const swap = (one: Line | undefined, other: Line | undefined, columns: (name: string) => boolean): void => {
  if (one === undefined || other === undefined) throw new Error('there is no such line');
  for (const name of Object.keys(one).filter(columns)) [one[name], other[name]] = [other[name] ?? '', one[name] ?? ''];
};

const set = (line: Line | undefined, cells: Line): void => void Object.assign(line ?? {}, cells);

describe('a line with a decision is refused if its cells and keys mean different companies', () => {
  const moved: readonly [string, (lines: Line[]) => void, string, ReviewColumn?][] = [
    [
      'the visible cells were sorted without the tokens',
      ([first, second]) => swap(first, second, (name) => !['candidate_id', 'candidate', 'basis'].includes(name)),
      'CELL_DIFFERS',
      'candidate_name',
    ],
    [
      'the candidate alone was moved',
      ([first, second]) => swap(first, second, (name) => /^candidate_/.test(name)),
      'CELL_DIFFERS',
      'candidate_name',
    ],
    [
      'another number',
      ([first]) => set(first, { candidate_registration_number: '00123457' }),
      'CELL_DIFFERS',
      'candidate_registration_number',
    ],
    ['another ID', ([first]) => set(first, { candidate_id: '1002' }), 'CELL_DIFFERS', 'candidate_id'],
    [
      'no number any more',
      ([first]) => set(first, { candidate_registration_number: '' }),
      'CELL_DIFFERS',
      'candidate_registration_number',
    ],
    [
      'the input of another question',
      ([first, , third]) => swap(first, third, (name) => name.startsWith('input_')),
      'CELL_DIFFERS',
      'input_name',
    ],
    [
      'the basis of another question',
      ([first, , third]) => swap(first, third, (name) => name === 'basis'),
      'BASIS_DIFFERS',
    ],
    ['no basis', ([first]) => set(first, { basis: '' }), 'BASIS_MISSING'],
    ['no basis column', (lines) => void lines.map((line) => delete line.basis), 'BASIS_MISSING'],
  ];

  long.each(moved)('%s', (_, move, code, column) =>
    withDesk(async (desk) => {
      const lines = await exported(desk);
      move(lines);
      set(lines[0], { decision: 'confirm' });
      const applied = await apply(desk, lines);
      expect(applied).toMatchObject({ applied: 0, refused: [{ line: 2, code, next: { kind: 'export' } }] });
      expect(applied.refused[0]?.problem).toMatch(new RegExp(column === undefined ? '' : `^"${headingOf(column)}"`));
      expect(await desk.outcome(1)).toBe('needs_review');
    }),
  );

  test('also with none_of_these, but lines without a decision are not checked', () =>
    withDesk(async (desk) => {
      const lines = await exported(desk);
      swap(lines[0], lines[2], (name) => name.startsWith('input_'));
      set(lines[0], { decision: 'none_of_these' });
      expect(await apply(desk, lines)).toMatchObject({ applied: 0, blank: 2, refused: [{ line: 2 }] });
    }));
});

describe('a line counts', () => {
  const kept: readonly [string, (lines: Line[]) => Line[]][] = [
    ['when whole lines were sorted', (lines) => lines.toReversed()],
    [
      'when a spreadsheet has changed its cells',
      (lines) =>
        lines.map((line) => ({ ...line, candidate_registration_number: '123456', input_name: ' MÜLLER  & söhne' })),
    ],
    ['without deleted columns', (lines) => lines.map(({ candidate_name: _, candidate_id: __, ...line }) => line)],
    ['when a column was emptied', (lines) => lines.map((line) => ({ ...line, candidate_name: '' }))],
  ];

  long.each(kept)('%s', (_, change) =>
    withDesk(async (desk) => {
      const lines = await exported(desk);
      set(lines[0], { decision: 'confirm' });
      expect(await apply(desk, change(lines))).toMatchObject({ applied: 1, refused: [] });
      expect(await desk.remembered('one')).toMatchObject({ candidateId: '1001' });
    }),
  );

  test('if another row now has the question in another spelling', () =>
    withDesk(async (desk) => {
      const lines = await exported(desk);
      await desk.ask({ run: 'second', row: 1, key: 'one', candidates: [{ ...ALPHA, name: 'Alpha Holding' }], at: 6 });
      set(lines[0], { decision: 'confirm' });
      expect(await apply(desk, lines)).toMatchObject({ applied: 1, refused: [] });
    }));
});
