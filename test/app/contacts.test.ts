import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { wholeCompanies } from '../engine/support.js';
import { long } from '../helpers/long.js';
import { chargesByOperation } from '../helpers/sandbox.js';
import { DAY, type Nights, withNights } from './nights.js';

const inputOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber ?? '',
});

/** Companies with a website and people, beginning with one that has at least two. */
const withPeople = (sandbox: Sandbox): readonly Company[] =>
  wholeCompanies(sandbox, 12)
    .filter((one) => sandbox.registry.facts(one).website !== null && sandbox.registry.v2.employees(one).length > 1)
    .slice(0, 2);

/** The parameters of each request that could reveal something. */
const revealing = ({ requestLog }: Sandbox): readonly string[] =>
  requestLog
    .filter(({ body }) => body.includes('reveal_'))
    .map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>)
    .map(({ reveal_email, reveal_phone }) => `${reveal_email} ${reveal_phone}`);

/** How many contacts the provider counts as revealed. */
async function revealed({ kybatch }: Nights): Promise<string> {
  const params = { date_from: '2020-01-01 00:00:00', date_to: '2030-01-01 00:00:00' };
  return (await kybatch(['call', 'v2', 'metricsContacts', '--params', JSON.stringify(params)])).stdout;
}

describe('contacts', () => {
  long('V2-11 people are found by domain as in the registry, and each request asks for no reveal', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, table, kybatch } = nights;
        const companies = withPeople(sandbox);
        writeCsv('in.csv', companies.map(inputOf));
        const planned = await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']);
        const { v2_calls: bounds } = JSON.parse(planned.stdout) as { v2_calls: { at_least: number; at_most: number } };
        const { code, units: spent } = await night();
        expect(code).toBe(0);
        expect(spent).toBeGreaterThanOrEqual(bounds.at_least);
        expect(spent).toBeLessThanOrEqual(bounds.at_most);
        // The profile that firmographics bought.
        expect(chargesByOperation(sandbox.chargeLog).companyProfile).toBe(companies.length);
        const people = table('people');
        for (const company of companies) {
          const truth = sandbox.registry.v2.employees(company);
          const lines = people.filter(({ companies_id }) => companies_id === company.v2Id);
          const listed = lines.filter(({ operation }) => operation === 'enrichEmployeesSearch');
          expect(listed.map(({ name, job_title }) => `${name} ${job_title}`)).toEqual(
            truth.map(({ fullName, jobTitle }) => `${fullName} ${jobTitle}`),
          );
          expect(listed.map(({ seniority_level }) => seniority_level)).toEqual(truth.map(({ seniority }) => seniority));
          const details = lines.filter(({ operation }) => operation === 'enrichPerson');
          expect(details.map(({ full_name }) => full_name)).toEqual(truth.map(({ fullName }) => fullName));
        }
        expect(Object.keys(people[0] ?? {})).not.toContain('email');
        expect(new Set(revealing(sandbox))).toEqual(new Set(['false false']));
        expect(await revealed(nights)).toMatch(/"email_count":\s*0/);
        expect((await night()).units).toBe(0);
      },
      ['stages: [firmographics, contacts]', 'contacts: {details: true, people_at_most: 40}'],
    ),
  );

  test('contacts are revealed for the pipeline’s number of people, and shown only with --include-contacts', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, table, kybatch } = nights;
        const companies = withPeople(sandbox).slice(0, 1);
        writeCsv('in.csv', companies.map(inputOf));
        await night();
        expect(revealing(sandbox)).toEqual(['true false']);
        const [first] = companies.flatMap((company) => sandbox.registry.v2.employees(company));
        expect(await revealed(nights)).toMatch(new RegExp(`"email_count":\\s*${first?.email === null ? 0 : 1}`));
        await kybatch(['export', '--out', 'tables', '--include-contacts']);
        const details = table('people').filter(({ operation }) => operation === 'enrichPerson');
        expect(details.map(({ email, phone }) => [email, phone])).toEqual([[first?.email ?? '', '']]);
      },
      ['stages: [contacts]', 'contacts: {reveal: [email], reveal_at_most: 1}'],
    ));

  long('a revealed contact is paid for once, after any change of the pipeline', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, clock, cwd } = nights;
        writeCsv('in.csv', withPeople(sandbox).slice(0, 1).map(inputOf));
        for (const reveal of ['[email]', '[email, phone]', '[]', '[phone]', '[email]', '[phone, email]']) {
          const text = `stages: [contacts]\ncontacts: {details: true, reveal: ${reveal}, reveal_at_most: 1, people_at_most: 1}\n`;
          writeFileSync(join(cwd, 'p.yaml'), text);
          await night();
        }
        expect(revealing(sandbox)).toEqual(['true false', 'false true']);
        // Requested again, it is one request per person, as planned.
        clock.advance(DAY);
        await night('--rebuy');
        expect(revealing(sandbox)).toEqual(['true false', 'false true', 'true true']);
      },
      ['stages: [contacts]'],
    ),
  );

  long('V2-18 the employees module is only asked by an ID that is declared to be a confirmed one', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, table } = nights;
        const companies = withPeople(sandbox);
        writeCsv('in.csv', companies.map(inputOf));
        await night();
        const charges = chargesByOperation(sandbox.chargeLog);
        expect(charges).not.toHaveProperty('employeeProfile');
        for (const company of companies) {
          const lines = table('people').filter(({ employees_company_id }) => employees_company_id === company.v2Id);
          expect(lines.map(({ employee_id, name }) => `${employee_id} ${name}`)).toEqual(
            sandbox.registry.v2.employees(company).map(({ id, fullName }) => `${id} ${fullName}`),
          );
        }
        expect(await revealed(nights)).toMatch(/"email_count":\s*0/);
        expect(table('rows').map(({ employees_company_id }) => employees_company_id)).toEqual(
          companies.map(({ v2Id }) => v2Id),
        );
      },
      [
        'stages: [financials, contacts]',
        'ids_shared: [v2, employees]',
        'contacts: {from: employees, people_at_most: 40}',
      ],
    ),
  );

  long('V2-18 people of another company are left out, and nothing of them is revealed', () =>
    withNights(
      1,
      async ({ sandbox, writeCsv, night, table }) => {
        writeCsv('in.csv', withPeople(sandbox).slice(0, 1).map(inputOf));
        const strange = (body: string) =>
          body.replaceAll(/"company_name":\s*"[^"]*"/g, '"company_name":"Quite Another Ltd"');
        sandbox.script('employeesSearch', [{ rewrite: strange }]);
        await night();
        expect(table('people')).toEqual([]);
        expect(table('errors').map(({ code }) => code)).toContain('OTHER_COMPANY');
        expect(sandbox.requests.get('employeeProfile')).toBeUndefined();
      },
      [
        'stages: [financials, contacts]',
        'ids_shared: [v2, employees]',
        'contacts: {from: employees, people_at_most: 5, reveal: [email], reveal_at_most: 5}',
      ],
    ),
  );
});
