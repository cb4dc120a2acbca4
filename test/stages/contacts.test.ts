import { describe, expect, test } from 'vitest';
import { domainOf, ownDomainOf } from '../../src/domain/names/employer-match.js';
import { peopleReader } from '../../src/readers/people.js';
import { ReaderOutput } from '../../src/readers/reader.js';
import { type ContactsOptions, contactsOptions, contactsStage } from '../../src/stages/contacts.js';
import { configureStage, type Identified, type StageContext } from '../../src/stages/stage.js';
import { load, loadWith, problemsOf, problemsWith, refusal } from '../config/with-pipeline.js';
import { expectGolden } from '../helpers/golden.js';
import { type Asked, answer, company, NOW, scene } from './support.js';

const row = { name: 'Tulip Works B.V.', country: 'NL', registration_number: '12345678' };
const candidate = {
  id: '7',
  name: 'Tulip Works B.V.',
  registration_number: '12345678',
  vat_number: null,
  country_code: 'NL',
  state: null,
  jurisdiction: null,
};
const identity: Identified = { id: '7', candidate, matchedOn: 'registration_number', grade: 'AAZAZ' };
const profile = {
  id: '7',
  registration_number: '12345678',
  country_code: 'NL',
  name: 'Tulip Works B.V.',
  company_website: 'https://www.Tulip.nl/',
};
const person = (name: string, website: string | null = 'tulip.nl', employer: string | null = 'Tulip Works') => ({
  name,
  company: { name: employer, website },
});

const options = (file: object): ContactsOptions => contactsOptions.schema.parse(file);

async function run(file: object, answers: Readonly<Record<string, unknown>>, known = identity) {
  const world = scene({ answer: ({ operation }: Asked) => answer(answers[operation] ?? {}) });
  const context = { ...world.context, options: options(file) } as StageContext;
  const outcome = await contactsStage.run(company(row, { companies: known, employees: known }), context);
  return { ...world, outcome, names: world.asked.map(({ operation }) => operation) };
}

const origin = { rawSha256: 'a', row: 1, stage: 'contacts', fetchedAt: NOW, ids: {}, country: 'NL' };
const subject = { id: '7', ids: {}, row: 1, stage: 'contacts', country: 'NL', name: null };

const listed = (...people: readonly object[]) => ({ data: people, total_employees: people.length, total_pages: 1 });

describe('by domain', () => {
  test('the domain of the confirmed profile is asked for, and people of another domain are left out and noted', async () => {
    const people = listed(person('Ann Lee'), person('Bo Ek', 'http://other.nl'), person('Cy Orr', null));
    const { outcome, asked, errors } = await run(
      { details: true },
      { companyProfile: profile, enrichEmployeesSearch: people, enrichPerson: {} },
    );
    expect(outcome).toEqual({ kind: 'done', asOf: NOW });
    expect(asked.map(({ params }) => params)).toEqual([
      { id: '7' },
      { domain_list: ['tulip.nl'], per_page: 10, page: 1 },
      {
        first_name: 'Ann',
        last_name: 'Lee',
        company_name: 'Tulip Works',
        domain: 'tulip.nl',
        reveal_email: false,
        reveal_phone: false,
      },
      {
        first_name: 'Cy',
        last_name: 'Orr',
        company_name: 'Tulip Works',
        domain: 'tulip.nl',
        reveal_email: false,
        reveal_phone: false,
      },
    ]);
    expect(errors.map(({ code }) => code)).toEqual(['OTHER_COMPANY']);
  });

  test('V2-11 people are only searched by name on request, and no more is revealed than allowed', async () => {
    const answers = {
      companyProfile: profile,
      enrichEmployeesSearch: listed(person('Ann Lee'), person('Bo Ek')),
      enrichPerson: {},
    };
    expect((await run({}, answers)).names).toEqual(['companyProfile', 'enrichEmployeesSearch']);
    const { asked } = await run({ reveal: ['phone'], reveal_at_most: 1, details: true }, answers);
    expect(asked.slice(2).map(({ params }) => [params.reveal_email, params.reveal_phone])).toEqual([
      [false, true],
      [false, false],
    ]);
  });

  test('people of a company with another name are left out, and nothing of them is revealed', async () => {
    const people = listed(person('Ann Lee', 'tulip.nl', 'Meta Platforms Inc'), person('Bo Ek', null, null));
    const answers = { companyProfile: profile, enrichEmployeesSearch: people, enrichPerson: {} };
    const { asked, errors } = await run({ reveal: ['email'], reveal_at_most: 5 }, answers);
    expect(asked.slice(2).map(({ params }) => params.last_name)).toEqual(['Ek']);
    expect(errors.map(({ code }) => code)).toEqual(['OTHER_COMPANY']);
  });

  test.each([
    ['another person', { full_name: 'Not Asked For', company_name: 'Tulip Works' }, ['SOMEBODY_ELSE']],
    ['another company', { full_name: 'Ann Lee', company_name: 'Evil Corp' }, ['SOMEBODY_ELSE']],
    ['the person, with a second name', { full_name: 'LEE, Ann Maria', company_name: 'TULIP WORKS BV' }, []],
    ['an answer without a name', { gender: 'f' }, []],
  ])('details of %s', async (_, enrichPerson, codes) => {
    const answers = { companyProfile: profile, enrichEmployeesSearch: listed(person('Ann Lee')), enrichPerson };
    const { outcome, errors } = await run({ details: true }, answers);
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(errors.map(({ code }) => code)).toEqual(codes);
    const raw = { ...origin, params: { first_name: 'Ann', last_name: 'Lee', company_name: 'Tulip Works' } };
    const out = new ReaderOutput();
    const answered = { ...raw, operation: 'enrichPerson', body: Buffer.from(JSON.stringify(enrichPerson)) };
    peopleReader.read({ ...subject, answers: [answered] }, out);
    expect(out.rows.get('people') ?? []).toHaveLength(codes.length === 0 ? 1 : 0);
  });

  test('the table has no people of a company with another name than the profile', () => {
    const people = listed(person('Ann Lee', 'tulip.nl', 'Meta Platforms Inc'), person('Bo Ek'));
    const out = new ReaderOutput();
    const told = (operation: string, params: object, body: object) => ({
      ...origin,
      operation,
      params: { ...params },
      body: Buffer.from(JSON.stringify(body)),
    });
    const answers = [
      told('companyProfile', { id: '7' }, profile),
      told('enrichEmployeesSearch', { domain_list: ['tulip.nl'] }, people),
    ];
    peopleReader.read({ ...subject, answers }, out);
    expect(out.rows.get('people')?.map(({ name }) => name)).toEqual(['Bo Ek']);
  });

  test('a page on a shared platform gives no domain, and is named', async () => {
    const companyProfile = { ...profile, company_website: 'https://me:pw@www.facebook.com/tulip' };
    const { outcome } = await run({}, { companyProfile });
    expect(outcome).toMatchObject({
      error: { code: 'NO_DOMAIN', message: expect.stringContaining(': https://www.facebook.com/tulip ') },
    });
  });

  test.each([
    ['no website', { ...profile, company_website: null }, 'NO_DOMAIN'],
    ['a page on a platform', { ...profile, company_website: 'linkedin.com/company/tulip' }, 'NO_DOMAIN'],
    ['a website that is none', { ...profile, company_website: 'localhost' }, 'NO_DOMAIN'],
    ['the profile of another company', { ...profile, registration_number: '999' }, 'IDENTITY_MISMATCH'],
  ])('%s: no people are asked for', async (_, companyProfile, code) => {
    const { outcome, names } = await run({}, { companyProfile });
    expect(outcome).toMatchObject({ kind: 'not_available', error: { code } });
    expect(names).toEqual(['companyProfile']);
  });

  test('an empty list, and more people than wanted, are noted', async () => {
    const none = { companyProfile: profile, enrichEmployeesSearch: listed() };
    expect((await run({}, none)).outcome).toMatchObject({ kind: 'not_available', error: { code: 'NO_PEOPLE' } });
    const many = {
      ...none,
      enrichEmployeesSearch: { ...listed(person('Ann Lee'), person('Bo Ek')), total_employees: 9 },
    };
    const { errors } = await run({ people_at_most: 1 }, many);
    expect(errors).toMatchObject([{ code: 'PEOPLE_LEFT', message: expect.stringMatching(/^8 /) }]);
  });
});

describe('in the employees module', () => {
  test('details are only asked for if something is to be revealed, because they have no switch', async () => {
    const employeesSearch = listed({ id: 1, name: 'Ann', company_id: '7' }, { id: 2, name: 'Bo', company_id: '8' });
    const answers = { employeesSearch, employeeProfile: {} };
    const quiet = await run({ from: 'employees', job_title: ['Buyer'] }, answers);
    expect(quiet.asked.map(({ params }) => params)).toEqual([
      { filters: { company_id: '7', job_title: ['Buyer'] }, per_page: 10, page: 1 },
    ]);
    expect(quiet.errors.map(({ code }) => code)).toEqual(['OTHER_COMPANY']);
    const told = await run({ from: 'employees', reveal: ['email'], reveal_at_most: 5 }, answers);
    expect(told.asked.slice(1)).toEqual([{ api: 'v2', operation: 'employeeProfile', params: { id: '1' } }]);
  });

  test('seniority and department names become IDs of their vocabularies, and an unknown one fails the row', async () => {
    const nomenclature = [{ id: 31, name: 'Director' }];
    const answers = { nomenclature, employeesSearch: listed({ id: 1, name: 'Ann', company_id: '7' }) };
    const { outcome, asked } = await run({ from: 'employees', seniority: ['director'], department: [4] }, answers);
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(asked.map(({ params }) => params)).toEqual([
      { name: 'seniority' },
      { filters: { company_id: '7', seniority: [31], department: [4] }, per_page: 10, page: 1 },
    ]);
    const unknown = await run({ from: 'employees', department: ['Direktor'] }, answers);
    expect(unknown.outcome).toMatchObject({
      kind: 'failed',
      error: { code: 'UNKNOWN_NAME', message: expect.stringMatching(/^contacts\.department: .*"Direktor"/) },
    });
    expect(unknown.names).toEqual(['nomenclature']);
  });

  test('V2-18 without a confirmed space that shares its IDs the pipeline is refused', () => {
    const contacts = 'contacts: {from: employees}\n';
    for (const lines of [
      'stages: [contacts]\n',
      'stages: [contacts]\nids_shared: [v2, employees]\n',
      'stages: [record, contacts]\nids_shared: [v2, employees]\n',
    ])
      expect(problemsOf(`${lines}${contacts}`)).toEqual([{ code: 'PIPELINE_INVALID', key: 'ids_shared' }]);
    expect(load(`stages: [financials, contacts]\nids_shared: [v2, employees]\n${contacts}`).stages).toHaveLength(2);
  });
});

describe('options', () => {
  test('the plan counts the possible calls', () => {
    const calls = (file: object) =>
      configureStage(contactsStage, options(file)).calls.map(({ operation, atMost }) => `${operation.name} ${atMost}`);
    expect(calls({})).toEqual(['companyProfile 1', 'enrichEmployeesSearch 1']);
    expect(calls({ people_at_most: 60, reveal: ['email'], reveal_at_most: 3 })).toEqual([
      'companyProfile 1',
      'enrichEmployeesSearch 2',
      'enrichPerson 3',
    ]);
    expect(calls({ from: 'employees', reveal: ['email'], reveal_at_most: 30 })).toEqual([
      'employeesSearch 1',
      'employeeProfile 10',
    ]);
  });

  const REFUSED = [
    ['contacts: {reveal_at_most: 0}', 'contacts.reveal_at_most'],
    ['contacts: {reveal: [fax]}', 'contacts.reveal.0'],
    ['contacts: {from: employees, details: true}', 'contacts.details'],
    ['contacts: {department: [1]}', 'contacts.department'],
    ['contacts: {job_title: [Buyer]}', 'contacts.job_title'],
    ['contacts: {seniority: [3]}', 'contacts.seniority'],
    ['contacts: {people_at_most: 101}', 'contacts.people_at_most'],
  ] as const;

  test.each(REFUSED)('%s is refused', (text, key) => {
    expect(problemsWith(text)).toEqual([{ code: 'PIPELINE_INVALID', key }]);
  });

  test('each refusal shows the possible values', async () => {
    await expectGolden(
      'contacts-options',
      REFUSED.map(([text]) => [text, refusal(() => loadWith(text)).message]),
    );
  });
});

test.each([
  ['https://www.Tulip.nl/about?x=1', 'tulip.nl'],
  ['tulip.nl', 'tulip.nl'],
  ['HTTP://shop.tulip.co.uk:8080/', 'shop.tulip.co.uk'],
  ['localhost', undefined],
  ['10.0.0.1', undefined],
  ['not a website', undefined],
  ['', undefined],
])('the domain of %s is %s', (website, domain) => {
  expect(domainOf(website)).toBe(domain);
});

test.each([
  ['https://www.facebook.com/tulip', undefined],
  ['https://nl.linkedin.com/company/tulip/', undefined],
  ['tulip.wixsite.com/home', undefined],
  ['https://tulip.github.io', undefined],
  ['https://sites.google.com/view/tulip', undefined],
  ['https://www.facebook.com/', 'facebook.com'],
  ['https://notfacebook.com/tulip', 'notfacebook.com'],
  ['https://www.tulip.nl/about', 'tulip.nl'],
])('the domain that only %s uses is %s', (website, domain) => {
  expect(ownDomainOf(website)).toBe(domain);
});
