import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultMatchPolicy } from '../../src/domain/match-decision.js';
import { chooseHint } from '../../src/stages/identity/fallback.js';
import { type IdentityPolicy, resolve } from '../../src/stages/identity/resolve.js';
import {
  autocompleteRequest,
  FALLBACKS,
  type Fallback,
  lookupRequest,
  registryRequest,
} from '../../src/stages/identity/searches.js';
import { type Asked, answer, company, enquiry, scene } from './support.js';

const policyWith = (fallback: readonly Fallback[]): IdentityPolicy => ({
  match: defaultMatchPolicy,
  search: { attempts: 2, order: ['registration_number', 'vat_number', 'name'], furtherSpellings: false, fallback },
});

const ROW = { name: 'Acme Widgets Ltd', country: 'GB', registration_number: '01234567', website: 'acme.example' };

/** The result of a search for a number: every number belongs to a company. */
const found = ({ params }: Asked, more: object) =>
  'registration_number' in params
    ? [
        {
          id: 'X',
          name: 'Acme Widgets Ltd',
          registration_number: params.registration_number,
          country_code: 'GB',
          ...more,
        },
      ]
    : [];

describe('for any hint', () => {
  const named = fc.record({
    name: fc.constantFrom('Acme Widgets Ltd', 'Somebody Else plc', null),
    registration_number: fc.oneof(
      fc.constantFrom('01234567', '0123 4567', '1234567', '01234568', 'SC234567', null, ''),
      fc.stringMatching(/^\d{1,9}$/),
      fc.string(),
    ),
    country_code: fc.constantFrom('GB', 'gb', 'FR', '', null),
  });
  const candidates = fc.record({
    name: fc.constantFrom('Acme Widgets Ltd', 'ACME WIDGETS LIMITED', 'Somebody Else plc', null),
    country_code: fc.constantFrom('GB', 'FR', null),
    vat_number: fc.constantFrom('GB123456789', 'GB987654321', null),
  });
  const rows = fc.record(
    {
      name: fc.constantFrom('Acme Widgets Ltd', 'Acme'),
      registration_number: fc.constantFrom('01234567', '1234567', '99999998'),
      vat_number: fc.constantFrom('GB123456789'),
      website: fc.constant('acme.example'),
      lei: fc.constant('5493006MHB84DD0ZWV18'),
    },
    { requiredKeys: ['website'] },
  );

  test("no company is confirmed against the row's own number, nor without a number or VAT number of the row", async () => {
    const steps = fc.shuffledSubarray([...FALLBACKS], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(rows, named, candidates, steps, async (row, hint, facts, fallback) => {
        let searches = 0;
        const { context } = scene({
          answer: (request) => {
            if (request.operation === 'companiesLookup')
              return answer({ data: [{ id: '1', ...hint }], total_pages: 1 });
            if (request.operation !== 'searchKyb') return answer({ id: '1', ...hint });
            searches += 1;
            // The row's own searches find nothing, so every result comes from the hint.
            return answer(searches > 2 || !('registration_number' in row) ? found(request, facts) : []);
          },
        });
        const outcome = await resolve('v1', company({ ...row, country: 'GB' }), policyWith(fallback), context);
        if (outcome.kind !== 'done') return;
        const grade = outcome.ids?.v1?.grade ?? '';
        expect(grade[0]).not.toBe('F');
        expect(grade[3]).toBe('A');
        expect('registration_number' in row || 'vat_number' in row).toBe(true);
        if (grade[0] === 'Z') expect(outcome.ids?.v1?.matchedOn).toBe('vat_number');
        expect(['registration_number', 'registration_number_repaired', 'vat_number']).toContain(
          outcome.ids?.v1?.matchedOn,
        );
      }),
      { numRuns: 300 },
    );
  });
});

describe('the request of a step', () => {
  test.each([
    [{ lei: '5493006MHB84DD0ZWV18', website: 'a.example' }, { lei_number: '5493006MHB84DD0ZWV18' }],
    [{ lei: '5493006MHB84DD0ZWV19', website: 'a.example' }, { website: 'a.example' }],
    [{ lei: '5493006MHB84DD0ZWV19', name: 'Acme' }, { lei_number: '5493006MHB84DD0ZWV19' }],
    [{ linkedin: 'linkedin.com/company/a', phone: '+44 123456' }, { url: 'linkedin.com/company/a' }],
    [{ phone: '+44 123456', registration_number: '01234567' }, { phone_number: '+44 123456' }],
    [{ registration_number: '1234567', name: 'Acme' }, { registration_number: '01234567' }],
    [{ vat_number: 'GB123456789', name: 'Acme' }, { vat_number: '123456789' }],
    [{ name: 'Acme' }, { name: 'Acme' }],
  ])('a lookup for %j uses the most specific value', (fields, params) => {
    expect(lookupRequest(enquiry({ ...fields, country: 'GB' }))?.params).toMatchObject({
      country_code: 'GB',
      per_page: 5,
    });
    expect(Object.keys(lookupRequest(enquiry({ ...fields, country: 'GB' }))?.params ?? {})).toHaveLength(3);
    expect(lookupRequest(enquiry({ ...fields, country: 'GB' }))?.params).toHaveProperty(Object.keys(params)[0] ?? '');
  });

  test('V2-10 the registry is asked with the state in the US, or not at all', () => {
    const number = { registration_number: '1234567' };
    expect(registryRequest(enquiry({ ...number, country: 'US' }))).toBeUndefined();
    expect(registryRequest(enquiry({ ...number, country: 'US', state: 'Delaware' }))?.params).toMatchObject({
      country_code: 'US',
      state: 'DE',
    });
    expect(registryRequest(enquiry({ name: 'Acme', country: 'GB' }))).toBeUndefined();
    expect(registryRequest(enquiry({ ...number, country: '1_44' }))).toBeUndefined();
  });

  test('V2-10 a country is only sent to autocomplete with a name, a number or a website', () => {
    expect(autocompleteRequest(enquiry({ country: 'GB', email: 'a@a.example' }))?.params).toEqual({
      email: 'a@a.example',
    });
    expect(autocompleteRequest(enquiry({ country: 'GB', email: 'a@a.example', name: 'Acme' }))?.params).toEqual({
      country_code: 'GB',
      name: 'Acme',
      email: 'a@a.example',
    });
    expect(autocompleteRequest(enquiry({ country: 'GB', registration_number: '01234567' }))?.params).toEqual({
      country_code: 'GB',
      registration_number: '01234567',
    });
    expect(autocompleteRequest(enquiry({ country: 'GB', ticker: 'ACME' }))).toBeUndefined();
  });
});

describe('of several named companies', () => {
  const request = { source: 'the website acme.example', forName: false, operation: 'companiesLookup' };
  const { subject } = enquiry(ROW);
  const one = { name: 'Acme Widgets Limited', registration_number: '1', country_code: 'GB' };
  const two = { name: 'Acme Holdings', registration_number: '2', country_code: 'GB' };

  test("the hit in the row's country counts, and among several the one with its name", () => {
    expect(chooseHint([{ ...two, country_code: 'FR' }, one], subject, request)).toMatchObject({
      registrationNumber: '1',
    });
    expect(chooseHint([two, one, one], subject, request)).toMatchObject({ registrationNumber: '1' });
  });

  test('none is used if that does not decide', () => {
    expect(chooseHint([two, { ...two, registration_number: '3' }], subject, request)).toBe(2);
    expect(chooseHint([one, { ...one, registration_number: '3' }], subject, request)).toBe(2);
    expect(chooseHint([{ ...one, registration_number: null }, {}], subject, request)).toBe(0);
  });
});

test('a company named for a name alone with another name is not worth a question', async () => {
  const { context } = scene({
    answer: (request) => {
      if (request.operation === 'companiesLookup')
        return answer({ data: [{ id: '1', name: 'Other', registration_number: '7654321', country_code: 'GB' }] });
      return answer('registration_number' in request.params ? found(request, { name: 'Other Trading plc' }) : []);
    },
  });
  const row = { name: 'Acme Widgets Ltd', country: 'GB' };
  expect(await resolve('v1', company(row), policyWith(['lookup']), context)).toMatchObject({ kind: 'no_match' });
});
