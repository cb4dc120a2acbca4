import { describe, expect, test } from 'vitest';
import { fieldsOf } from '../../src/domain/change.js';
import type { RawAnswer } from '../../src/readers/reader.js';
import { recordReader } from '../../src/readers/record.js';
import { companiesTable } from '../../src/readers/tables/companies.js';
import { officersTable } from '../../src/readers/tables/officers.js';
import { changesBetween } from '../portfolio/apply-changes.js';
import { answer, read } from './support.js';

const DAY = 86_400_000;
const officers = (...ids: (number | null)[]) => ids.map((id) => ({ id, last_name: `Officer ${id}` }));
const full = (fetchedAt: number, ...ids: (number | null)[]) =>
  answer('fullKyb', JSON.stringify({ lite: { id: 77, name: 'Acme' }, officers: officers(...ids) }), {
    fetchedAt,
    rawSha256: `full ${fetchedAt}`,
  });
const page = (fetchedAt: number, number: number, pages: number, ...ids: (number | null)[]) =>
  answer('officersKyb', JSON.stringify({ data: officers(...ids), total_pages: pages, total_results: 3 }), {
    fetchedAt,
    params: { page: number, per_page: 2 },
    rawSha256: `page ${number} ${fetchedAt}`,
  });

/** The lines as they are exported. */
const shown = (...answers: RawAnswer[]) =>
  read(recordReader, answers)
    .shownOf(officersTable)
    .map(({ operation, id }) => `${operation} ${id}`);

describe('V1-26 a list of the full record, and the same list by itself', () => {
  const pages = [page(2 * DAY, 1, 2, 1, 2), page(2 * DAY, 2, 2, 3)];
  const listed = ['officersKyb 1', 'officersKyb 2', 'officersKyb 3'];

  test('is shown once where the latter is whole, and counted as it is shown', () => {
    expect(shown(full(DAY, 1, 2), ...pages)).toEqual(listed);
    expect(shown(full(2 * DAY, 2, 1), ...pages)).toEqual(listed);
    const [company] = read(recordReader, [full(DAY, 1, 2), ...pages]).rowsOf(companiesTable);
    expect(company).toMatchObject({ officers_returned: '3', officers_total: '3' });
  });

  test.each([
    ['the record is newer', full(3 * DAY, 1, 2), pages],
    ['a page is missing', full(DAY, 1, 2), pages.slice(0, 1)],
    ['the record has somebody more', full(DAY, 1, 9), pages],
    ['the record has somebody twice', full(DAY, 1, 1), pages],
    ['the record has somebody without an ID', full(DAY, 1, null), pages],
  ])('is shown twice where %s', (_, record, list) => {
    expect(shown(record, ...list).filter((line) => line.startsWith('fullKyb'))).toHaveLength(2);
    expect(shown(record, ...list).filter((line) => line.startsWith('officersKyb'))).toEqual(
      listed.slice(0, list.length + 1),
    );
  });

  test('nobody comes or goes when one takes the place of the other', () => {
    const changes = (old: readonly RawAnswer[], now: readonly RawAnswer[]) =>
      changesBetween(recordReader, old, now)
        .flatMap(fieldsOf)
        .map(({ table, kind, column }) => `${table} ${kind} ${column}`);
    const both = [full(DAY, 1, 2), ...pages];
    // A new record: now it is newer than the list, and shown again.
    expect(changes(both, [full(3 * DAY, 1, 2), ...pages])).toEqual([]);
    // The list anew: it stands for both once more.
    const anew = [page(4 * DAY, 1, 2, 1, 2), page(4 * DAY, 2, 2, 3)];
    expect(changes([full(3 * DAY, 1, 2), ...pages], [full(3 * DAY, 1, 2), ...anew])).toEqual([]);
  });
});
