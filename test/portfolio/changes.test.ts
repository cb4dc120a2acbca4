import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldsOf, IMPORTANT_CHANGES, isImportant } from '../../src/domain/change.js';
import { flatFinancialsReader } from '../../src/readers/flat-financials.js';
import type { RawAnswer, Reader } from '../../src/readers/reader.js';
import { recordReader } from '../../src/readers/record.js';
import { answer } from '../readers/support.js';
import { applyChanges, changesBetween, changesFromParts, contentOf, stateFrom } from './apply-changes.js';

const important = new Set(IMPORTANT_CHANGES);

/** `table key column: old → new (kind)`. An important change has a mark. */
function told(reader: Reader, operation: string, old: unknown, now: unknown): readonly string[] {
  const text = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body));
  return changesBetween(reader, [answer(operation, text(old))], [answer(operation, text(now))])
    .flatMap(fieldsOf)
    .map((change) => {
      const { operation: _, ...key } = change.key;
      const values = change.column === null ? '' : ` ${change.column}: ${change.oldValue} → ${change.newValue}`;
      return `${isImportant(change, important) ? '! ' : ''}${change.table} ${Object.values(key).join(' ')}${values} (${change.kind})`;
    });
}

const record = (old: unknown, now: unknown) => told(recordReader, 'fullKyb', old, now);
const LITE = { id: 77, name: 'Acme', status: 'active' };

describe('changes in a new answer', () => {
  test('a field of the company, with both values', () => {
    expect(record({ lite: LITE }, { lite: { ...LITE, status: 'dissolved', vat_number: '' } })).toEqual([
      'companies 77 vat_number: null →  (added)',
      '! companies 77 status: active → dissolved (changed)',
    ]);
  });

  test('a new name, once: the profile’s delay with the new name is no change', () => {
    const full = (name: string) => answer('fullKyb', JSON.stringify({ lite: { ...LITE, name } }));
    const profile = (name: string, more = {}) => answer('liteKyb', JSON.stringify({ ...LITE, name, ...more }));
    const columns = (old: readonly RawAnswer[], now: readonly RawAnswer[]) =>
      changesBetween(recordReader, old, now)
        .flatMap(fieldsOf)
        .map(({ column }) => column);
    const [first, between] = [
      [full('Acme'), profile('Acme')],
      [full('Acme Two'), profile('Acme')],
    ];
    expect(columns(first, between)).toEqual(['name']);
    expect(columns(between, [full('Acme Two'), profile('Acme Two')])).toEqual([]);
    expect(columns(first, [full('Acme'), profile('Acme', { motto: 'onwards' })])).toEqual(['extra.motto']);
  });

  test('officers who came and went are found by ID, and a list in another order is unchanged', () => {
    const [ann, bob, eve] = [
      { id: 1, first_name: 'Ann', job_title: 'Director' },
      { id: 2, first_name: 'Bob' },
      { id: 3, first_name: 'Eve' },
    ];
    const before = { lite: LITE, officers: [ann, bob] };
    expect(record(before, { lite: LITE, officers: [bob, ann] })).toEqual([]);
    expect(record(before, { lite: LITE, officers: [eve, { ...ann, job_title: 'Chair' }] })).toEqual([
      '! officers 3 (added)',
      'officers 3 first_name: null → Eve (added)',
      'officers 1 job_title: Director → Chair (changed)',
      '! officers 2 (removed)',
      'officers 2 first_name: Bob → null (removed)',
    ]);
  });

  test('officers without an ID by name and appointment, and copies by their order', () => {
    const ann = { first_name: 'Ann', last_name: 'Lee', appointed_at: '2020-01-01', job_title: 'Director' };
    const copy = { ...ann, job_title: 'Secretary' };
    const officers = (...list: unknown[]) => ({ lite: LITE, officers: list });
    expect(record(officers(ann, copy), officers(copy, ann))).toEqual([]);
    expect(record(officers(ann, copy), officers(ann, { ...copy, job_title: 'Chair' }))).toEqual([
      'officers Ann Lee 2020-01-01 2 job_title: Secretary → Chair (changed)',
    ]);
    expect(record(officers(ann), officers({ ...ann, appointed_at: '2021-01-01' }))).toContain(
      '! officers Ann Lee 2021-01-01 (added)',
    );
  });

  test('a missing list is one change of the company, and no officer has left', () => {
    const officers = [{ id: 1, first_name: 'Ann' }];
    expect(record({ lite: LITE, officers }, { lite: LITE, officers: null })).toEqual([
      'companies 77 officers_returned: 1 → null (removed)',
    ]);
    expect(record({ lite: LITE, officers }, { lite: LITE, officers: [] })).toContain('! officers 1 (removed)');
    expect(record({ lite: LITE, officers }, {})).toEqual([]);
  });

  test('numbers as written: another spelling is shown, and never matters', () => {
    const shares = (percentage: string) =>
      `{"lite":{"id":77,"name":"A"},"shareholders":[{"id":5,"percentage":${percentage}}]}`;
    expect(record(shares('1.10'), shares('1.1'))).toEqual(['shareholders 5 percentage: 1.10 → 1.1 (respelled)']);
    expect(record(shares('1.10'), shares('11e-1'))).toEqual(['shareholders 5 percentage: 1.10 → 11e-1 (respelled)']);
    expect(record(shares('1.10'), shares('1.11'))).toEqual(['shareholders 5 percentage: 1.10 → 1.11 (changed)']);
    // Digits in a text are a text.
    expect(record({ lite: { ...LITE, vat_number: '010' } }, { lite: { ...LITE, vat_number: '10' } })).toEqual([
      'companies 77 vat_number: 010 → 10 (changed)',
    ]);
  });

  test('a new year is shown once, and its values one by one', () => {
    const years = (...years: string[]) => Object.fromEntries(years.map((year) => [year, { sales: 5 }]));
    expect(told(flatFinancialsReader, 'financial', years('2024'), years('2024', '2025'))).toEqual([
      '! flat_financials 2025 year: null → 2025 (added)',
      'flat_financials 2025 sales (added)',
      'flat_financials 2025 sales value: null → 5 (added)',
      'flat_financials 2025 sales value_type: null → number (added)',
    ]);
    // An answer without a value has withdrawn nothing.
    expect(told(flatFinancialsReader, 'financial', years('2024'), {})).toEqual([]);
  });

  test('fields without a column are compared by name, and long values by digest', () => {
    const [first, second] = record({ lite: LITE, note: [1.0] }, { lite: LITE, note: [2], long: 'x'.repeat(5000) });
    expect(first).toBe('companies 77 extra.note: [1] → [2] (changed)');
    expect(second).toMatch(/^companies 77 extra\.long: null → sha256:[0-9a-f]{64} \(added\)$/);
  });
});

const text = fc.option(fc.constantFrom('', 'a', 'b', '1', '1.0', 'ü'), { nil: null });
const number = fc.constantFrom('0', '-0', '1', '1.0', '1.10', '11e-1', '2');
const id = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined });
const list = (item: fc.Arbitrary<unknown>) => fc.option(fc.array(item, { maxLength: 4 }), { nil: null });
const bodies = fc
  .record({
    lite: fc.record({ name: text, status: text, note: text }, { requiredKeys: [] }),
    officers: list(fc.record({ id, first_name: text, last_name: text, appointed_at: text, note: text })),
    shareholders: list(
      fc.record({ id, name: text, share_type: text, percentage: number.map((digits) => `#${digits}#`) }),
    ),
    group_structures_full: list(fc.record({ source: text, target: text, title: text })),
    financial: fc.record({
      groups: list(
        fc.record({
          id,
          name: text,
          list: fc.array(fc.record({ name: text, list: fc.dictionary(fc.constantFrom('2024', '2025'), text) }), {
            maxLength: 2,
          }),
        }),
      ),
    }),
  })
  .map((body) => JSON.stringify(body).replaceAll(/"#([^#]+)#"/g, '$1'));

const MODULES = ['lite', 'officers', 'shareholders', 'group_structures_full', 'financial'];
/** Keeps digits as written, which JSON would not. */
const asText = (body: string) => body.replaceAll(/"percentage":([^,}]+)/g, '"percentage":"#$1#"');
const asNumbers = (body: string) => body.replaceAll(/"#([^#]+)#"/g, '$1');

const shuffled = (body: string, random: () => number): string => {
  const turn = (value: unknown): unknown => (Array.isArray(value) ? value.map(turn).sort(() => random() - 0.5) : value);
  const read = JSON.parse(asText(body)) as Record<string, unknown>;
  const { lite, financial, ...lists } = read;
  const turned = Object.fromEntries(Object.entries(lists).map(([name, value]) => [name, turn(value)]));
  return asNumbers(JSON.stringify({ lite, financial, ...turned }));
};

describe('for any two answers', { tags: 'long' }, () => {
  const full = (body: string) => [answer('fullKyb', body)];

  test('the changes, applied to the old lines, give the new ones', () => {
    fc.assert(
      fc.property(bodies, bodies, (old, now) => {
        const applied = applyChanges(
          recordReader,
          stateFrom(recordReader, full(old)),
          changesBetween(recordReader, full(old), full(now)),
        );
        expect(applied).toEqual(contentOf(recordReader, full(old), full(now)));
      }),
      { numRuns: 80 },
    );
  });

  test('equal parts of both bodies need not be read', () => {
    fc.assert(
      fc.property(bodies, bodies, fc.subarray(MODULES), (old, other, changed) => {
        const from = JSON.parse(asText(other)) as Record<string, unknown>;
        const parts = Object.fromEntries(changed.map((name) => [name, from[name]]));
        const now = asNumbers(JSON.stringify({ ...(JSON.parse(asText(old)) as object), ...parts }));
        const [before, after] = [answer('fullKyb', old), answer('fullKyb', now)];
        expect(changesFromParts(recordReader, before, after)).toEqual(changesBetween(recordReader, [before], [after]));
      }),
      { numRuns: 60 },
    );
  });

  test('an equal body, and equal lists in another order, are no change', () => {
    fc.assert(
      fc.property(bodies, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (body, random) => {
        expect(changesBetween(recordReader, full(body), full(body))).toEqual([]);
        const other = shuffled(body, () => random.next().value as number);
        expect(changesBetween(recordReader, full(body), full(other))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
