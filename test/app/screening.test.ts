import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Json, writeJson } from '../../src/sandbox/json.js';
import type { Registry } from '../../src/sandbox/registry/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { parseExact } from '../../src/util/exact-json.js';
import { findPlainCompany, wholeCompanies } from '../engine/support.js';
import { long } from '../helpers/long.js';
import { chargedAgain, chargesByOperation } from '../helpers/sandbox.js';
import { DAY, type Line, withNights } from './nights.js';

const inputOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber ?? '',
});

type Item = Readonly<Record<string, unknown>>;
const items = (value: Json) => parseExact(Buffer.from(writeJson(value))) as unknown as readonly Item[];
const text = (value: unknown): string => (value === null || value === undefined ? '' : String(value));
/** Removes the apostrophe that protects a cell from a spreadsheet. */
const plain = (cell: string | undefined): string => (cell ?? '').replace(/^'(?=[=+@-])/, '');

/** The officers of a company that are searched for, as in the requests. */
function officersOf(registry: Registry, company: Company): readonly Item[] {
  const people = items(registry.v1.officers(company, false)).filter(({ resigned_at }) => text(resigned_at) === '');
  const asked = people.map(({ first_name, last_name, date_of_birth_year }) => ({
    name: `${text(first_name)} ${text(last_name)}`.trim(),
    ...(text(date_of_birth_year) === '' ? {} : { date_of_birth_year: Number(text(date_of_birth_year)) }),
  }));
  return [...new Map(asked.map((one) => [JSON.stringify(one), one])).values()];
}

const FOUND = ['id', 'company_id', 'company_name', 'registration_number', 'full_name', 'officer_role', 'resigned_at'];
const cellsOf = (names: readonly string[], line: Item) => names.map((name) => plain(text(line[name])));

const appointmentsOf = (registry: Registry, company: Company, asked: readonly Item[]): readonly string[][] =>
  asked.flatMap((query) =>
    items(registry.v1.officerSearch(query, false)).map((found) => [
      text(query.name),
      text(query.date_of_birth_year),
      ...cellsOf(FOUND, found),
      String(text(found.company_id) === company.v1Id),
    ]),
  );

const linesOf = (lines: readonly Line[], { v1Id }: Company) =>
  lines.filter(({ v1_company_id }) => v1_company_id === v1Id);

const sorted = (lines: readonly (readonly string[])[]) => lines.map((line) => line.join('|')).sort();

describe('screening', () => {
  long("the tables have the registry's search results, and the stored record gives the names free", () =>
    withNights(
      1,
      async ({ sandbox, writeCsv, night, table, kybatch }) => {
        const { registry } = sandbox;
        const companies = wholeCompanies(sandbox, 1);
        writeCsv('in.csv', companies.map(inputOf));
        const planned = await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']);
        const { v1_units: units } = JSON.parse(planned.stdout) as { v1_units: { at_least: number; at_most: number } };
        const { units: spent, code } = await night();
        expect(code).toBe(0);
        expect(spent).toBeGreaterThanOrEqual(units.at_least);
        expect(spent).toBeLessThanOrEqual(units.at_most);
        const charges = chargesByOperation(sandbox.chargeLog);
        expect(charges).not.toHaveProperty('officersKyb');
        expect(charges).not.toHaveProperty('shareholdersKyb');
        const truth = companies.map((company) => ({ company, asked: officersOf(registry, company).slice(0, 2) }));
        for (const { company, asked } of truth) {
          const shown = linesOf(table('appointments'), company).map((line) => [
            plain(line.screened_name),
            text(line.screened_birth_year),
            ...cellsOf(FOUND, line),
            text(line.is_subject),
          ]);
          expect(sorted(shown)).toEqual(sorted(appointmentsOf(registry, company, asked)));
          const holders = [...new Set(items(registry.v1.shareholders(company)).map(({ name }) => text(name)))].slice(
            0,
            2,
          );
          const held = holders.flatMap((name) =>
            items(registry.v1.shareholderSearch({ name }, 'full', false))
              .slice(0, 50)
              .map((one) => [
                name,
                text(one.id),
                text(one.created),
                text((one.company as Item).id),
                text((one.company as Item).name),
              ]),
          );
          const holdings = linesOf(table('holdings'), company).map((line) => [
            plain(line.screened_name),
            text(line.id),
            text(line.created),
            text(line.company_id),
            plain(line.company_name),
          ]);
          expect(sorted(holdings)).toEqual(sorted(held.map((line) => line.map(plain))));
        }
        expect(table('appointments').some(({ is_subject }) => is_subject === 'true')).toBe(true);
        expect((await night()).units).toBe(0);
      },
      ['stages: [record, screening]', 'screening: {people_at_most: 2}'],
    ),
  );

  long.each(['null', '{}', '[null]'])('V1-22 a search that answers %s is paid for once and proves nothing', (answer) =>
    withNights(
      1,
      async ({ sandbox, writeCsv, night, table }) => {
        writeCsv('in.csv', wholeCompanies(sandbox, 1).map(inputOf));
        // The first is the check of the key.
        sandbox.script('officersSearchKyb', ['none', { rewrite: answer }]);
        expect((await night()).code).toBe(0);
        expect(chargesByOperation(sandbox.chargeLog)).toMatchObject({ officersSearchKyb: 1 });
        expect(table('appointments')).toEqual([]);
        expect(table('errors')).not.toEqual([]);
        expect((await night()).units).toBe(0);
      },
      ['stages: [record, screening]', 'screening: {people_at_most: 1, shareholders: false}'],
    ),
  );

  long('without a record the lists are asked for, and people beyond the limit are noted', () =>
    withNights(
      1,
      async ({ sandbox, writeCsv, night, table }) => {
        const company = wholeCompanies(sandbox, 30).find((one) => officersOf(sandbox.registry, one).length > 2);
        if (company === undefined) throw new Error('no company with three officers');
        writeCsv('in.csv', [inputOf(company)]);
        // Stopped between two searches: bought answers are stored, and the next attempt continues there.
        expect((await night('--max-units', '3')).code).toBe(4);
        await night();
        expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
        expect(chargesByOperation(sandbox.chargeLog)).toEqual({ searchKyb: 1, officersKyb: 1, officersSearchKyb: 2 });
        expect(table('rows')).toMatchObject([{ outcome: 'complete', screening_status: 'done' }]);
        expect(table('errors')).toMatchObject([{ code: 'PEOPLE_LEFT', stage: 'screening' }]);
        const left = String(officersOf(sandbox.registry, company).length - 2);
        const screened = table('screenings');
        expect(screened).toHaveLength(2);
        for (const { kind, people_left_out, hits, name } of screened) {
          expect({ kind, people_left_out }).toEqual({ kind: 'officer', people_left_out: left });
          expect(table('appointments').filter((line) => line.screened_name === name)).toHaveLength(Number(hits));
        }
        const elsewhere = table('appointments').filter(({ is_subject }) => is_subject !== 'true').length;
        expect(table('results')).toMatchObject([{ screening_hits: String(elsewhere) }]);
        expect(new Set(table('appointments').map(({ screened_name }) => screened_name)).size).toBeLessThanOrEqual(2);
      },
      ['stages: [screening]', 'screening: {shareholders: false, people_at_most: 2}'],
    ),
  );

  long('a list with a longer freshness than the searches does not age the stage, so nothing fresh is due', () =>
    withNights(
      1,
      async ({ sandbox, writeCsv, night, clock }) => {
        writeCsv('in.csv', wholeCompanies(sandbox, 1).map(inputOf));
        await night();
        clock.advance(40 * DAY);
        expect((await night()).units).toBeGreaterThan(0);
        expect(chargesByOperation(sandbox.chargeLog)).toMatchObject({ searchKyb: 1, officersKyb: 1 });
        clock.advance(DAY);
        expect(await night()).toMatchObject({ units: 0, end: { to_do: 0 } });
      },
      ['stages: [screening]', 'screening: {shareholders: false, people_at_most: 1}'],
    ),
  );

  long('results of earlier options are not shown: another API, fewer kinds, no people', () =>
    withNights(1, async ({ sandbox, cwd, writeCsv, night, table }) => {
      const { registry } = sandbox;
      const unofficered = findPlainCompany(
        sandbox,
        (one) =>
          registry.hasRecord(one) &&
          items(registry.v1.officers(one, false)).length === 0 &&
          items(registry.v1.shareholders(one)).length > 0,
      );
      const companies = [...wholeCompanies(sandbox, 1), unofficered];
      writeCsv('in.csv', companies.map(inputOf));
      const shown = async (options: string) => {
        writeFileSync(join(cwd, 'p.yaml'), `stages: [record, screening]\nscreening: {people_at_most: 1, ${options}}`);
        expect((await night()).code).toBe(0);
        const lines = [...table('appointments'), ...table('holdings')];
        return [...new Set(lines.map(({ operation }) => operation))].sort();
      };
      const both = ['officersSearchKyb', 'shareholdersSearchKyb'];
      expect(await shown('from: v1')).toEqual(both);
      expect(linesOf(table('holdings'), unofficered)).not.toEqual([]);
      expect(await shown('from: v2')).toEqual(['kybOfficersSearch']);
      expect(await shown('from: v1')).toEqual(both);
      expect(await shown('shareholders: false, current_only: false')).toEqual(['officersSearchKyb']);
      expect(table('errors').map(({ code }) => code)).toContain('NOBODY_TO_SCREEN');
    }),
  );

  test("an account without v1 screens by v2's lists and searches", () =>
    withNights(
      1,
      async ({ sandbox, writeCsv, night, table }) => {
        const { registry } = sandbox;
        const [company] = wholeCompanies(sandbox, 1);
        if (company === undefined) throw new Error('no company');
        writeCsv('in.csv', [inputOf(company)]);
        await night();
        const charges = chargesByOperation(sandbox.chargeLog);
        expect(Object.keys(charges).sort()).toEqual(['kybOfficers', 'kybOfficersSearch', 'kybSearch']);
        const lines = table('appointments');
        expect(lines.length).toBeGreaterThan(0);
        for (const line of lines) {
          expect(line).toMatchObject({
            v1_company_id: '',
            v2_company_id: company.v2Id,
            operation: 'kybOfficersSearch',
          });
          const found = items(
            registry.v2.officerSearch({
              name: line.screened_name,
              ...(line.screened_birth_year === '' ? {} : { date_of_birth_year: Number(line.screened_birth_year) }),
            }),
          );
          expect(cellsOf(FOUND, line)).toEqual(cellsOf(FOUND, found[Number(line.position) - 1] ?? {}));
          expect(line.is_subject).toBe(String(line.company_id === company.v2Id));
        }
      },
      ['stages: [screening]', 'screening: {from: v2, people_at_most: 3}'],
    ));

  test('every bought page is screened and none is bought twice, for any page size', () =>
    withNights(
      1,
      async ({ sandbox, writeCsv, night, table }) => {
        const { registry } = sandbox;
        const officers = (company: Company) => items(registry.v2.officers(company));
        const company = wholeCompanies(sandbox, 40).find((one) => officers(one).length > 2);
        if (company === undefined) throw new Error('no company');
        writeCsv('in.csv', [inputOf(company)]);
        await night();
        const names = officers(company).map(({ first_name, last_name }) => `${text(first_name)} ${text(last_name)}`);
        const { kybOfficers, kybOfficersSearch } = chargesByOperation(sandbox.chargeLog);
        expect(kybOfficers).toBe(Math.ceil(names.length / 2));
        expect(kybOfficersSearch).toBeGreaterThan(2);
        expect(new Set(table('appointments').map(({ screened_name }) => screened_name))).toEqual(new Set(names));
        expect(table('errors').filter(({ code }) => code === 'PEOPLE_LEFT')).toEqual([]);
        expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
      },
      [
        'stages: [registry, screening]',
        'registry: {modules: [lite, officers], per_page: 2}',
        'screening: {from: v2, people_at_most: 50}',
      ],
    ));
});
