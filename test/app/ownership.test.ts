/** @module-tag long */
import { describe, expect, test } from 'vitest';
import type { Registry } from '../../src/sandbox/registry/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { findAnywhere } from '../../src/sandbox/v2/operation.js';
import { wholeCompanies } from '../engine/support.js';
import { DAY, decideAll, type Line, withNights } from './nights.js';

const PIPELINE = ['stages: [ownership]', 'freshness: {ownership: 7d, kybSearch: 365d}'];

const inputOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber ?? '',
});

interface Node {
  readonly id: string;
  readonly name: string;
  readonly registration_number: string | null;
  readonly selected: boolean;
  readonly children: readonly Node[];
}

/** The registry's data about a company, as in the tables. */
function truthOf(registry: Registry, company: Company) {
  const { shareholders, group_structure: tree } = JSON.parse(JSON.stringify(registry.v2.ownership(company))) as {
    shareholders: { id: string; name: string }[];
    group_structure: Node[];
  };
  const links: string[] = [];
  const walk = (node: Node, depth: number): void => {
    for (const child of node.children) {
      links.push([node.registration_number ?? node.id, child.registration_number ?? child.id, depth].join(' '));
      walk(child, depth + 1);
    }
  };
  for (const root of tree) {
    // A company alone in its tree has a row without a first end.
    if (root.children.length === 0) links.push(['', root.registration_number, 0].join(' '));
    walk(root, 1);
  }
  return { hasTree: tree.length > 0, holders: shareholders.map(({ id, name }) => `${id} ${name}`), links };
}

/** Removes the apostrophe that protects a cell from a spreadsheet. */
const plain = (cell: string): string => cell.replace(/^'/, '');

const linesOf = (lines: readonly Line[], { v2Id }: Company) =>
  lines.filter((line) => line.v2_company_id === v2Id && line.operation === 'ownership');

const anOwnership = ({ operation }: { readonly operation: string | undefined }) => operation === 'ownership';
const markingNobody = (body: string) => body.replaceAll(/"selected":\s*true/g, '"selected":false');

describe('ownership', () => {
  test('the tables have the data of the registry, for one call per company', () =>
    withNights(
      1,
      async ({ sandbox, writeCsv, night, table, kybatch }) => {
        const { registry } = sandbox;
        // The module returns the first company with the number in any country, so others have a question.
        const answered = ({ registrationNumber }: Company) =>
          findAnywhere(registry, { registrationNumber: registrationNumber ?? '' }, 'forgiving', 1)[0];
        const companies = wholeCompanies(sandbox, 40)
          .filter((one) => answered(one)?.index === one.index)
          .slice(0, 5);
        writeCsv('in.csv', companies.map(inputOf));
        const planned = await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']);
        // At most two searches and one answer.
        expect(JSON.parse(planned.stdout)).toMatchObject({ v2_calls: { at_least: 5, at_most: 15 } });
        await night();
        expect(sandbox.chargeLog.filter(({ operation }) => operation === 'ownership')).toHaveLength(5);
        const [shareholders, links, rows] = [table('shareholders'), table('group_links'), table('rows')];
        for (const [index, company] of companies.entries()) {
          const { hasTree, holders, links: truth } = truthOf(registry, company);
          const row = rows[index];
          if (holders.length === 0 && !hasTree) {
            expect(row).toMatchObject({ ownership_status: 'not_available', ownership_number: '' });
            continue;
          }
          // Without a tree nothing marks the company, so the row needs review, and nothing is shown until then.
          expect(row?.outcome, row?.error_message).toBe(hasTree ? 'complete' : 'needs_review');
          expect(row?.ownership_number).toBe(hasTree ? company.registrationNumber : '');
          expect(linesOf(shareholders, company).map(({ id, name = '' }) => `${id} ${plain(name)}`)).toEqual(
            hasTree ? holders : [],
          );
          expect(linesOf(links, company).map(({ source, target, depth }) => [source, target, depth].join(' '))).toEqual(
            truth,
          );
        }
        expect(rows.some(({ outcome }) => outcome === 'complete')).toBe(true);
        expect(links.length).toBeGreaterThan(1);
        expect((await night()).units).toBe(0);
      },
      PIPELINE,
    ));

  test('a review question about it holds nothing else, and the row is complete when it is answered', () =>
    withNights(
      1,
      async ({ sandbox, writeCsv, night, table, cwd, kybatch }) => {
        const australian = sandbox.registry.company(13505);
        writeCsv('in.csv', [inputOf(australian)]);
        const first = await night();
        expect(table('rows')[0]).toMatchObject({
          outcome: 'needs_review',
          error_code: 'IDENTITY_MISMATCH',
          match_grade: expect.stringMatching(/^A/),
          ownership_status: 'pending',
          record_status: 'done',
          firmographics_status: 'done',
        });
        // Two of v1, a lookup and a profile, a search and the ownership answer.
        expect(first.units).toBe(6);
        await decideAll({ kybatch, cwd }, 'none_of_these');
        expect((await night()).units).toBe(0);
        expect(table('rows')[0]).toMatchObject({
          outcome: 'complete',
          ownership_status: 'not_available',
          error_code: '',
        });
      },
      ['stages: [record, firmographics, ownership]', 'freshness: {ownership: 7d, kybSearch: 365d}'],
    ));

  test('V2-22 an equal number in another country needs review, and a refused answer is not shown', () =>
    withNights(
      1,
      async ({ sandbox, writeCsv, night, table, cwd, kybatch, clock }) => {
        const { registry } = sandbox;
        const [french, australian] = [registry.company(6449), registry.company(13505)];
        expect(french.registrationNumber).toBe(australian.registrationNumber);
        expect(french.countryCode).not.toBe(australian.countryCode);
        writeCsv('in.csv', [french, australian].map(inputOf));
        await night();
        expect(table('rows').map(({ outcome, ownership_number }) => [outcome, ownership_number])).toEqual([
          ['complete', french.registrationNumber],
          ['needs_review', ''],
        ]);
        expect(table('rows')[1]?.error_message).toContain(` FR (FR-${french.registrationNumber})`);
        const { holders } = truthOf(registry, french);
        const shown = () =>
          table('shareholders').map(({ v2_company_id, id, name = '' }) => `${v2_company_id} ${id} ${plain(name)}`);
        const frenchOnly = holders.map((holder) => `${french.v2Id} ${holder}`);
        expect(shown()).toEqual(frenchOnly);

        await decideAll({ kybatch, cwd }, 'none_of_these');
        const after = await night();
        expect(after.units).toBe(0);
        expect(table('rows')[1]).toMatchObject({ outcome: 'complete', ownership_status: 'not_available' });
        expect(table('errors').map(({ code }) => code)).toContain('REVIEWED');
        expect(shown()).toEqual(frenchOnly);

        // An answer refused for one row still belongs to the other and changes.
        await sandbox.changeCompany(french.v2Id, 'shareholder_name', 'Brand New Holder');
        clock.advance(8 * DAY);
        await night();
        expect(table('changes').map(({ new_value }) => new_value)).toContain('Brand New Holder');
      },
      PIPELINE,
    ));

  test('a change is reported, and an answer in review shows the previous one until a person accepts it', () =>
    withNights(
      1,
      async ({ sandbox, writeCsv, night, table, clock, kybatch, cwd }) => {
        const company = wholeCompanies(sandbox, 10).find((one) => {
          const { hasTree, holders } = truthOf(sandbox.registry, one);
          return hasTree && holders.length > 0;
        });
        if (company === undefined) throw new Error('no company with both');
        writeCsv('in.csv', [inputOf(company)]);
        await night();
        await sandbox.changeCompany(company.v2Id, 'shareholder_name', 'Brand New Holder');
        clock.advance(8 * DAY);
        await night();
        const told = () =>
          table('changes').map(({ table: of, column, new_value }) => [of, column, new_value].join(' '));
        expect(told()).toContain('shareholders name Brand New Holder');

        // Another name beside the country's number is a new name, not a question.
        await sandbox.changeCompany(company.v2Id, 'name', 'Something Else Entirely');
        clock.advance(8 * DAY);
        expect((await night()).code).toBe(0);
        expect(told()).toContain('group_links target_title Something Else Entirely');

        sandbox.script(anOwnership, [{ rewrite: markingNobody }]);
        await sandbox.changeCompany(company.v2Id, 'shareholder_name', 'Latest Holder');
        clock.advance(8 * DAY);
        expect((await night()).code).toBe(3);
        const holders = () => table('shareholders').map(({ name }) => name);
        expect(holders()).toContain('Brand New Holder');
        expect(told().join()).not.toContain('Latest Holder');
        await decideAll({ kybatch, cwd }, 'confirm');
        expect((await night()).code).toBe(0);
        expect(holders()).toContain('Latest Holder');
        expect(told()).toContain('shareholders name Latest Holder');

        // An answer accepted without a person is shown again after a withdrawal.
        expect((await kybatch(['review', 'withdraw', '1'])).code).toBe(0);
        expect(await night()).toMatchObject({ code: 3, units: 0 });
        expect(holders()).toContain('Brand New Holder');
      },
      PIPELINE,
    ));

  test('a foreign tree disappears when its acceptance is withdrawn', () =>
    withNights(
      1,
      async ({ sandbox, writeCsv, night, table, cwd, kybatch, clock }) => {
        const australian = sandbox.registry.company(13505);
        writeCsv('in.csv', [inputOf(australian)]);
        await night();
        await decideAll({ kybatch, cwd }, 'confirm');
        expect((await night()).code).toBe(0);
        const shown = () => [
          table('rows')[0]?.ownership_number,
          table('shareholders').length,
          table('group_links').length,
        ];
        const accepted = shown();
        expect(accepted).toEqual([australian.registrationNumber, expect.any(Number), expect.any(Number)]);
        expect(Number(accepted[1]) + Number(accepted[2])).toBeGreaterThan(0);

        expect((await kybatch(['review', 'withdraw', '1'])).code).toBe(0);
        expect(await night()).toMatchObject({ code: 3, units: 0 });
        expect(shown()).toEqual(['', 0, 0]);
        await decideAll({ kybatch, cwd }, 'confirm');
        expect(await night()).toMatchObject({ code: 0, units: 0 });
        expect(shown()).toEqual(accepted);

        // Another answer is another question: the accepted one is shown until it is answered.
        sandbox.script(anOwnership, [{ rewrite: markingNobody }]);
        clock.advance(8 * DAY);
        expect((await night()).code).toBe(3);
        expect(shown()).toEqual(accepted);
      },
      PIPELINE,
    ));
});
