import { describe, expect, test } from 'vitest';
import { type CandidateFacts, gradeCandidate, type Subject } from '../../src/domain/candidate-grade.js';
import { entityKey } from '../../src/domain/entity-key.js';
import { recordProblem } from '../../src/domain/identity-mismatch.js';
import { decide, defaultMatchPolicy } from '../../src/domain/match-decision.js';
import { parseRegistrationNumber } from '../../src/domain/numbers/parse.js';
import { parseVatNumber } from '../../src/domain/numbers/vat.js';

const acme: CandidateFacts = {
  id: '9007199254740993',
  name: 'Acme Trading Limited',
  registration_number: '01234567',
  vat_number: 'GB220430231',
  country_code: 'GB',
  state: null,
  jurisdiction: 'England and Wales',
};

const british = (raw: string, rest: Partial<Subject> = {}): Subject => ({
  countryCode: 'GB',
  registrationNumber: parseRegistrationNumber(raw, 'GB'),
  ...rest,
});

describe('an Italian tax code as the number', () => {
  const bianchi: CandidateFacts = {
    ...acme,
    name: 'Bianchi Meccanica S.p.A.',
    registration_number: 'MI-2007060',
    vat_number: 'IT00743110157',
    country_code: 'IT',
    jurisdiction: null,
  };
  const decided = (raw: string, name: string, candidate: CandidateFacts) => {
    const subject: Subject = { countryCode: 'IT', name, registrationNumber: parseRegistrationNumber(raw, 'IT') };
    const decision = decide(subject, [{ candidate, graded: gradeCandidate(subject, candidate) }], defaultMatchPolicy);
    return decision.kind === 'confirmed' ? decision.matchedOn : decision.reason;
  };

  test.each([
    ['IT00743110157', 'Bianchi Meccanica SpA', {}, 'vat_number'],
    ['00743110157', 'Bianchi Meccanica SpA', {}, 'vat_number'],
    ['IT00743110157', 'Rossi Trasporti SpA', {}, 'name_conflict'],
    ['IT00743110157', 'Bianchi Meccanica SpA', { vat_number: 'IT01114601006' }, 'number_conflict'],
    ['IT00743110157', 'Bianchi Meccanica SpA', { registration_number: '01114601006' }, 'number_conflict'],
    ['IT00743110157', 'Bianchi Meccanica SpA', { registration_number: '00743110157' }, 'registration_number_repaired'],
  ] as const)('%s of %s, with %o: %s', (raw, name, other, result) => {
    expect(decided(raw, name, { ...bianchi, ...other })).toBe(result);
  });
});

describe('a German number without section and court', () => {
  const candidate: CandidateFacts = {
    ...{ id: '7', name: 'Krug Werkzeuge AG', registration_number: 'HRB 11083', vat_number: null, country_code: 'DE' },
    ...{ state: null, jurisdiction: 'Hamburg' },
  };
  const subject: Subject = {
    countryCode: 'DE',
    ...{ name: 'Krug Werkzeuge AG', city: 'Hamburg', registrationNumber: parseRegistrationNumber('11083', 'DE') },
  };
  const graded = (number: string) => gradeCandidate(subject, { ...candidate, registration_number: number });

  test('its digits distinguish namesakes', () => {
    expect([graded('HRB 11083').grade, graded('HRB 6376').grade]).toEqual(['BAZAA', 'FAZAA']);
  });

  test('never confirms', () => {
    const one = { candidate, graded: graded('HRB 11083') };
    expect(decide(subject, [one], defaultMatchPolicy)).toMatchObject({ reason: 'number_unreadable' });
  });
});

test.each([
  ['Krug Werkzeuge GmbH & Co. KG', 'legal_form_differs'],
  ['Krug Werkzeuge Holding GmbH & Co. KG', 'name_conflict'],
])('Krug Werkzeuge GmbH against %s: %s', (name, reason) => {
  const subject: Subject = {
    ...{ countryCode: 'DE', name: 'Krug Werkzeuge GmbH' },
    registrationNumber: parseRegistrationNumber('Köln HRB 12', 'DE'),
  };
  const candidate = { ...acme, name, registration_number: 'HRB 12', country_code: 'DE', jurisdiction: 'Köln' };
  const one = { candidate, graded: gradeCandidate(subject, candidate) };
  expect(decide(subject, [one], defaultMatchPolicy)).toMatchObject({ kind: 'needs_review', reason });
});

describe('grades', () => {
  test('everything agrees', () => {
    const subject = british('01234567', {
      name: 'ACME Trading Ltd',
      vatNumber: parseVatNumber('GB 220 4302 31', 'GB'),
      state: 'England',
    });
    expect(gradeCandidate(subject, acme)).toEqual({
      grade: 'AAAAA',
      matchedOn: 'registration_number',
      evidence: expect.objectContaining({ length: 4 }),
      nameScore: 100,
      needsName: false,
    });
  });

  test('X-6 a number confirms no company beside a name that is too long to compare', () => {
    const other = { ...acme, name: `Zulu Mining plc ${'x'.repeat(500)}` };
    const subject = british('01234567', { name: 'Acme Trading Ltd' });
    expect(gradeCandidate(subject, other)).toMatchObject({ nameScore: null, needsName: true });
    const graded = gradeCandidate(subject, other);
    expect(decide(subject, [{ candidate: other, graded }], defaultMatchPolicy).kind).toBe('needs_review');
  });

  test('a padded number is repaired, and the evidence says how', () => {
    const graded = gradeCandidate(british('1234567', { name: 'Acme Tradings Ltd' }), acme);
    expect(graded.grade).toBe('BBZAZ');
    expect(graded.matchedOn).toBe('registration_number_repaired');
    expect(graded.nameScore).toBe(96);
    expect(graded.evidence[0]).toContain('"01234567"');
  });

  test.each<[string, Subject, Partial<CandidateFacts>, string, string | null]>([
    ['another number', british('01234568', { name: 'Acme Trading' }), {}, 'FAZAZ', null],
    ['a candidate without number', british('01234567'), { registration_number: null }, 'ZZZAZ', null],
    ['another country', british('01234567'), { country_code: 'IE' }, 'AZZFZ', 'registration_number'],
    ['no country', british('01234567'), { country_code: null }, 'AZZZZ', 'registration_number'],
    ['another nation', british('01234567', { state: 'Scotland' }), {}, 'AZZAF', 'registration_number'],
    [
      'another VAT',
      british('01234567', { vatNumber: parseVatNumber('VAT No. 261338275', 'GB') }),
      {},
      'AZFAZ',
      'registration_number',
    ],
    [
      'no VAT number',
      british('01234567', { vatNumber: parseVatNumber('see invoice', 'GB') }),
      {},
      'AZZAZ',
      'registration_number',
    ],
    ['VAT alone', { countryCode: 'GB', vatNumber: parseVatNumber('220430231', 'GB') }, {}, 'ZZAAZ', 'vat_number'],
    [
      'another number, same VAT',
      british('01234568', { vatNumber: parseVatNumber('220430231', 'GB') }),
      {},
      'FZAAZ',
      null,
    ],
    ['name alone', { countryCode: 'GB', name: 'Acme Trading' }, {}, 'ZAZAZ', null],
  ])('%s', (_, subject, changes, grade, matchedOn) => {
    expect(gradeCandidate(subject, { ...acme, ...changes })).toMatchObject({ grade, matchedOn });
  });

  test('an equal HRB at another court is another company', () => {
    const subject: Subject = {
      countryCode: 'DE',
      registrationNumber: parseRegistrationNumber('München HRB 12345', 'DE'),
    };
    const munich = {
      ...acme,
      country_code: 'DE',
      registration_number: 'HRB 12345',
      state: 'München',
      jurisdiction: 'Amtsgericht München',
    };
    expect(gradeCandidate(subject, munich).grade.charAt(0)).toBe('A');
    const cologne = { ...munich, state: 'Köln', jurisdiction: 'Amtsgericht Köln' };
    expect(gradeCandidate(subject, cologne).grade.charAt(0)).toBe('F');
  });
});

describe('the place', () => {
  const place = (country: string, row: Partial<Subject>, candidate: Partial<CandidateFacts>) =>
    gradeCandidate(
      { countryCode: country, ...row },
      { ...acme, country_code: country, jurisdiction: null, ...candidate },
    ).grade.charAt(4);

  test.each([
    ['DE', 'Berlin', { jurisdiction: 'Amtsgericht Stuttgart' }, 'F'],
    ['DE', 'Hamburg', { state: 'Köln' }, 'F'],
    ['DE', 'Hamburg', { registration_number: 'Amtsgericht Köln HRB 12' }, 'F'],
    ['DE', 'Berlin', { jurisdiction: 'Amtsgericht Charlottenburg' }, 'A'],
    ['DE', 'Cologne', { city: 'Köln' }, 'A'],
    // A town without a court of its own.
    ['DE', 'Leverkusen', { state: 'Köln' }, 'Z'],
    ['DE', 'Leverkusen', { state: 'Köln', city: 'Leverkusen' }, 'A'],
    ['DE', 'Leverkusen', { state: 'Köln', city: 'Bergheim' }, 'F'],
    ['DE', 'Frankfurt', { state: 'Frankfurt am Main' }, 'Z'],
    ['DE', 'Hamburg', { state: 'Bayern' }, 'Z'],
    ['IT', 'Napoli', { state: 'Lombardia' }, 'Z'],
    ['IT', 'Napoli', { state: 'Lombardia', city: 'Milano' }, 'F'],
    ['IT', 'Milan', { city: 'Milano' }, 'A'],
    ['GB', 'London', { city: 'Greater London' }, 'Z'],
    ['US', 'Washington', { state: 'California' }, 'Z'],
    ['DE', '20095 Hamburg', { city: 'Hamburg' }, 'A'],
    ['DE', 'D-20095 Hamburg', { jurisdiction: 'Amtsgericht Hamburg' }, 'A'],
    ['DE', 'Hamburg', { city: '20095 Hamburg' }, 'A'],
    ['DE', '20095 Hamburg', { city: '20095 Bremen' }, 'F'],
    ['NL', '1012 AB Amsterdam', { city: 'Amsterdam' }, 'A'],
    ['SE', 'SE-111 22 Stockholm', { city: 'Stockholm' }, 'A'],
    ['GB', 'London, SW1A 1AA', { city: 'London' }, 'A'],
    ['CH', 'CH-9000 St. Gallen', { city: 'St. Gallen' }, 'A'],
    ['US', 'Dallas, TX 75201', { city: 'Dallas' }, 'A'],
    ['PL', 'Warszawa 00-950', { city: 'Warsaw' }, 'A'],
    ['DE', '20095', { city: 'Hamburg' }, 'F'],
  ] as const)('%s: %s and %o is %s', (country, city, candidate, letter) => {
    expect(place(country, { city }, candidate)).toBe(letter);
  });

  test('that differs leaves an equal number and name confirmed, and is shown', () => {
    const subject = british('01234567', { name: 'Acme Trading Ltd', city: 'Leeds' });
    const candidate = { ...acme, city: 'Bristol' };
    const graded = gradeCandidate(subject, candidate);
    expect(graded).toMatchObject({ grade: 'AAZAF', evidence: expect.objectContaining({ length: 3 }) });
    expect(decide(subject, [{ candidate, graded }], defaultMatchPolicy).kind).toBe('confirmed');
  });
});

describe('the record after the purchase', () => {
  test.each([
    [{ registration_number: '01234567', country_code: 'GB' }, undefined],
    [{ registration_number: '0123 4567', country_code: 'gb' }, undefined],
    [{ registration_number: '01234567', country_code: null }, undefined],
    [{ registration_number: '01234568', country_code: 'GB' }, 'has registration number'],
    [{ registration_number: '1234567', country_code: 'GB' }, 'has registration number'],
    [{ registration_number: null, country_code: 'GB' }, 'has no registration number'],
    [{ registration_number: '01234567', country_code: 'IE' }, 'is in IE'],
  ])('%j: %s', (record, expected) => {
    const problem = recordProblem(acme, record);
    if (expected === undefined) expect(problem).toBeUndefined();
    else expect(problem).toContain(expected);
    // The reader sees no ID of the provider.
    expect(problem ?? '').not.toContain(acme.id);
  });

  test('a candidate confirmed without a number has none to compare', () => {
    expect(recordProblem({ ...acme, registration_number: null }, { registration_number: '01234567' })).toBeUndefined();
  });
});

describe('entity keys', () => {
  const key = (raw: string, country: string, name?: string, state?: string) =>
    entityKey({
      countryCode: country,
      registrationNumber: parseRegistrationNumber(raw, country, state),
      ...(name === undefined ? {} : { name }),
    });

  test('a question has one key in any spelling', () => {
    expect(key(' 1234567', 'GB', 'ACME Ltd')).toBe(key('01234567', 'GB', 'Acme Limited'));
    expect(key('HRB 12345, Amtsgericht München', 'DE')).toBe(key('Munich HR B 12345', 'DE'));
    expect(key('73282932000074', 'FR')).toBe(key('732 829 320', 'FR'));
    expect(entityKey({ countryCode: 'GB', vatNumber: parseVatNumber('GB220430231', 'GB') })).toBe('GB|vat:220430231');
    expect(entityKey({ countryCode: 'GB', name: 'Acme Ltd', city: 'London' })).toBe(
      'GB|place:london|name:acme|form:limited',
    );
    expect(entityKey({ countryCode: 'US', ticker: 'aapl ' })).toBe('US|ticker:AAPL');
  });

  test('different questions have different keys', () => {
    const keys = [
      key('01234567', 'GB'),
      key('01234567', 'NL'),
      key('01234567', 'GB', 'Acme'),
      key('01234567', 'GB', 'Acme Ltd'),
      key('01234567', 'GB', 'Acme PLC'),
      key('01234567', 'GB', 'Zenith'),
      key('O1234567', 'GB'),
      key('München HRB 12345', 'DE'),
      key('Köln HRB 12345', 'DE'),
      key('2345678', 'US', undefined, 'DE'),
      key('2345678', 'US', undefined, 'NY'),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});
