import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { declaredNames, unreadableReason } from '../../src/api/answer.js';
import type { Operation } from '../../src/api/operation.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Error } from '../../src/api/v2/errors.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import { stages } from '../../src/stages/list.js';

/** A report is fetched by the ID from generating and looked for in the history: there an empty answer is not enough. */
const REPORTS: ReadonlySet<Operation> = new Set([v2Operations.creditReportGenerate, v2Operations.creditReportHistory]);

const asked: readonly Operation[] = [
  ...new Set<Operation>([
    ...stages.flatMap(({ calls }) => calls.map(({ operation }) => operation)),
    ...Object.values(v1Operations),
    v2Operations.kybOfficers,
    v2Operations.kybShareholders,
    v2Operations.companiesLookup,
    v2Operations.companyProfile,
    v2Operations.employeesSearch,
    v2Operations.enrichEmployeesSearch,
    v2Operations.prospecting,
    v2Operations.ownership,
  ]),
].filter((operation) => !REPORTS.has(operation) && declaredNames(operation.body).length > 0);

const problems = (operation: Operation, body: unknown) => {
  const bytes = Buffer.from(JSON.stringify(body));
  const exchange = { status: 200, headers: {}, body: bytes, durationMs: 1 };
  return [
    ...(unreadableReason(operation, bytes)?.problems ?? []),
    ...(operation.api === 'v2' ? (v2Error(exchange, operation, 0)?.problems ?? []) : []),
  ];
};

/** The other members of this profile are not published, so something must identify it (V1-25). */
const isKnownBy = (operation: Operation, name: string) => operation === v1Operations.liteKyb && name === 'id';

const NOTHING = fc.constantFrom(null, undefined);

describe('V1-22 null and missing are an answer that is paid for and not asked for again', () => {
  test.each(asked.map((operation) => [operation.name, operation] as const))('%s', (_, operation) => {
    const names = declaredNames(operation.body);
    const body = fc.record(
      Object.fromEntries(names.map((name) => [name, isKnownBy(operation, name) ? fc.constant(null) : NOTHING])),
    );
    fc.assert(
      fc.property(body, (answer) => {
        expect(problems(operation, answer)).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    { data: null, total_results: 0, total_pages: 0 },
    { total_results: 0, total_pages: 0 },
    { data: null },
    { data: [null], total_results: 1, total_pages: 1 },
    { data: [], total_results: '0', total_pages: '0' },
    { data: [{ first_name: 5, resigned_at: 2001, job_title: true }], total_results: 1, total_pages: 1 },
  ])('a list that came as %j', (body) => {
    expect(problems(v1Operations.officersKyb, body)).toEqual([]);
    expect(problems(v2Operations.kybOfficers, body)).toEqual([]);
  });

  test('values of another type than documented that do no harm', () => {
    const company = { id: '7', name: 'A', size: 50, founding_date: 2001, zip_code: 1000, registration_number: 12 };
    expect(problems(v2Operations.companyProfile, company)).toEqual([]);
    const node = { id: 1, registration_number: 12, name: 'A', selected: 'true', children: [] };
    expect(problems(v2Operations.ownership, { registration_number: 12, group_structure: [node] })).toEqual([]);
    expect(problems(v1Operations.groupFullKyb, { data: [node] })).toEqual([]);
  });
});

describe('X-1 a body that is no answer is still refused', () => {
  test.each<unknown>([
    { message: 'back soon' },
    { data: 'soon', total_pages: 1 },
    { data: {}, total_pages: 1 },
    { data: ['maintenance'], total_pages: 1 },
    { total_pages: {} },
    { total_pages: [] },
    'text',
    null,
  ])('a list that came as %j', (body) => {
    for (const operation of [
      v1Operations.officersKyb,
      v1Operations.shareholdersSearchKyb,
      v2Operations.kybShareholders,
    ])
      expect(problems(operation, body)).not.toEqual([]);
  });

  test.each([
    { status: 500, message: 'back soon' },
    { message: 'maintenance', contact: 'help@example.com' },
  ])('a profile that came as %j', (body) => {
    expect(problems(v1Operations.liteKyb, body)).not.toEqual([]);
    expect(problems(v2Operations.companyProfile, body)).not.toEqual([]);
  });

  test('V2-12 a history without its list, because missing entries would be bought', () => {
    expect(problems(v2Operations.creditReportHistory, { data: null, total_results: 0, pages: 0 })).not.toEqual([]);
  });
});
