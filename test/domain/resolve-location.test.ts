import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { LOCATION_PATTERN } from '../../src/domain/places/location-codes.js';
import { findCountry, resolveLocation } from '../../src/domain/places/resolve-location.js';
import { countriesIn } from '../../src/input/column-content.js';
import { countries } from '../../src/sandbox/registry/countries/index.js';
import { barredWords, dataFile } from '../../src/util/yaml.js';

const byCountry = z.record(z.string(), barredWords(z));
const names = dataFile('domain/countries', z.object({ exonyms: byCountry, endonyms: byCountry }));

describe('countries in many spellings', () => {
  test('every name of the synthetic registry and every endonym is read', () => {
    const known = [
      ...countries().flatMap(({ code, aliases }) => aliases.map((name) => [name, code])),
      ...Object.entries(names().exonyms).flatMap(([code, all]) => all.map((name) => [name, code])),
      ...Object.entries(names().endonyms).flatMap(([code, all]) => all.map((name) => [name, code])),
    ];
    const read = known.map(([name = '']) => resolveLocation(name)).map((place) => place.ok && place.countryCode);
    expect(read).toEqual(known.map(([, code]) => code));
  });

  test.each([
    ['GB', 'GB'],
    ['gb', 'GB'],
    [' DEU ', 'DE'],
    ['Deutschland', 'DE'],
    ['Allemagne', 'DE'],
    ['Alemania', 'DE'],
    ['Niemcy', 'DE'],
    ['Tyskland', 'DE'],
    ['ドイツ', 'DE'],
    ['アメリカ', 'US'],
    ['米国（USA）', 'US'],
    ['美國', 'US'],
    ['ロシア', 'RU'],
    ['韓国', 'KR'],
    ['澳大利亞', 'AU'],
    ['沙特', 'SA'],
    ['義大利', 'IT'],
    ['中国', 'CN'],
    ['España', 'ES'],
    ['espana', 'ES'],
    ['Österreich', 'AT'],
    ['Suomi', 'FI'],
    ['Česko', 'CZ'],
    ['Czech Republic', 'CZ'],
    ['Ελλάδα', 'GR'],
    ['Schweiz', 'CH'],
    ['Svizzera', 'CH'],
    ['Éire', 'IE'],
    ['Németország', 'DE'],
    ['Rakúsko', 'AT'],
    ['Elveția', 'CH'],
    ['Vokietija', 'DE'],
    ['Almanya', 'DE'],
    ['OLANDA', 'NL'],
    ['Rep. Ceca', 'CZ'],
    ['Rép. tchèque', 'CZ'],
    ['Bundesrep. Deutschland', 'DE'],
    ['ישראל', 'IL'],
    ['The Netherlands', 'NL'],
    ['Vereinigtes Königreich', 'GB'],
    ['Royaume-Uni', 'GB'],
    ['Vereinigte Staaten', 'US'],
    ['ＤＥ', 'DE'],
    ['Deutschland (DE)', 'DE'],
    ['Lëtzebuerg', 'LU'],
    ['États-Unis', 'US'],
    ['Magyarország', 'HU'],
    ['한국', 'KR'],
    ['BVI', 'VG'],
    ['Germany (West)', 'DE'],
    ['Ireland (Northern)', 'GB'],
    ['Ireland, Northern', 'GB'],
    ['Irland (Nord)', 'GB'],
    ['Guinea (Equatorial)', 'GQ'],
    ['Samoa (American)', 'AS'],
    ['Ireland (Dublin)', 'IE'],
    ['ROI', 'IE'],
    ['DE - Germany', 'DE'],
    ['Deutschland/Germany', 'DE'],
    ['Schweiz / Suisse / Svizzera', 'CH'],
    ['Scotland, UK', 'GB'],
    ['de_DE', 'DE'],
    ['Korea (Republic of)', 'KR'],
    ['Hong Kong (China)', 'HK'],
    ['Taiwan (China)', 'TW'],
    ['Taiwan, Province of China', 'TW'],
    ['Virgin Islands (U.S.)', 'VI'],
    ['Italy (TO)', 'IT'],
    ['UK (NI)', 'GB'],
    ['USA (GA)', 'US'],
    ['USA (Old Lyme)', 'US'],
    ['UK (England)', 'GB'],
    ['Germany (Essex Street)', 'DE'],
    ['DE Deutschland', 'DE'],
    ['DE-Deutschland', 'DE'],
    ['Austria-Österreich', 'AT'],
    ['Guinea-Bissau', 'GW'],
    ['Guinea-Bissau/GW', 'GW'],
    ['DK.', 'DK'],
    ['DEU.', 'DE'],
    ['CR', 'CR'],
    ['Česká rep.', 'CZ'],
    ['Slovak Rep.', 'SK'],
    ['Slovenská rep.', 'SK'],
    ['Dominican Rep.', 'DO'],
    ['Central African Rep.', 'CF'],
  ])('%s is %s', (text, code) => {
    expect(resolveLocation(text)).toMatchObject({ ok: true, location: code, countryCode: code });
  });

  test.each([
    ['UK', 'GB'],
    ['D', 'DE'],
    ['GER', 'DE'],
    ['SUI', 'CH'],
    ['Ned.', 'NL'],
    ['DEN', 'DK'],
    ['POR', 'PT'],
    ['GRE', 'GR'],
    ['CRO', 'HR'],
    ['SLO', 'SI'],
    ['BUL', 'BG'],
    ['LAT', 'LV'],
    ['EL', 'GR'],
    ['England', 'GB'],
    ['Scotland', 'GB'],
    ['Wales', 'GB'],
    ['Northern Ireland', 'GB'],
    ['Holland', 'NL'],
    ['USA', 'US'],
    ['U.S.', 'US'],
    ['U.S.A.', 'US'],
    ['America', 'US'],
    ['PR China', 'CN'],
    ['BRD', 'DE'],
    ['Oesterreich', 'AT'],
    ['Bundesrepublik Deutschland', 'DE'],
    ['VR China', 'CN'],
    ['Volksrepublik China', 'CN'],
    ['Ireland, Republic of', 'IE'],
    ['Rep. of Ireland', 'IE'],
    ['Netherlands, The', 'NL'],
    ['Czech Rep.', 'CZ'],
    ['G.B.', 'GB'],
    ['P.R.C.', 'CN'],
    ['UnitedKingdom', 'GB'],
    ['ČR', 'CZ'],
    ['Č.R.', 'CZ'],
    ['W.-Germany', 'DE'],
    ['276', 'DE'],
    ['040', 'AT'],
    ['826', 'GB'],
    ...Object.entries({ A: 'AT', B: 'BE', E: 'ES', F: 'FR', I: 'IT', L: 'LU', N: 'NO', P: 'PT', S: 'SE', s: 'SE' }),
  ])('V1-15 %s is an alias of %s', (text, code) => {
    expect(resolveLocation(text)).toEqual({ ok: true, location: code, countryCode: code });
  });

  test.each([
    ...['UK?', 'UK ?', '?UK', 'UK？', 'UK (?)', 'UK (tbc)', 'UK (TBA)', 'UK (not sure)', 'UK (maybe)', 'UK (formerly)'],
    ...['UK (old)', 'UK (ex IE)', 'UK (ex-IE)', 'UK (parent)', 'UK (HQ)', 'UK (früher)', 'DE (Muttergesellschaft)'],
    ...['352', '380', '250'],
    ...['DE (zu prüfen)', 'FR (à confirmer)', 'FR (siège)', 'FR (peut-être)', 'US (formerly CA)'],
  ])('%s is refused: the country is uncertain', (text) => {
    expect(resolveLocation(text)).toMatchObject({ ok: false });
  });

  test.each([
    ['GB/DK', 'GB and DK'],
    ['GB-DK', 'GB and DK'],
    ['GB (DK)', 'GB and DK'],
    ['UK-IE', 'GB and IE'],
    ['DE/AT', 'DE and AT'],
    ['DE/BE', 'DE and BE'],
    ['NL/BE', 'NL and BE'],
    ['BE-NL', 'BE and NL'],
    ['US/CA', 'US and CA'],
    ['GB (DE)', 'GB and DE'],
    ['Germany (AT)', 'DE and AT'],
    ['Germany, France', 'DE and FR'],
    ['Germany-France', 'DE and FR'],
    ['Austria/Germany', 'AT and DE'],
    ['China (Taiwan)', 'CN and TW'],
    ['China (Hong Kong)', 'CN and HK'],
    ['Georgia (US)', 'GE and US'],
  ])('%s is refused: it names %s', (text, both) => {
    expect(resolveLocation(text)).toMatchObject({
      ok: false,
      several: both.split(' and '),
    });
  });

  test.each(['', '  ', 'Atlantis', 'XX', 'US-ZZ', 'ZZ-CA', '44', '_1', '004', '999', '0276'])(
    '"%s" is refused with a reason',
    (text) => {
      const resolved = resolveLocation(text);
      expect(resolved.ok).toBe(false);
      if (!resolved.ok) expect(resolved.reason).not.toBe('');
    },
  );
});

describe('states and location IDs', () => {
  test.each([
    ['US', 'California', 'US-CA'],
    ['United States', 'ca', 'US-CA'],
    ['USA', 'US-DE', 'US-DE'],
    ['US', 'District of Columbia', 'US-DC'],
    ['CA', 'Québec', 'CA-QC'],
    ['Canada', 'ontario', 'CA-ON'],
    ['CN', 'Beijing', 'CN-BJ'],
    ['China', '上海市', 'CN-SH'],
    ['us-ca', undefined, 'US-CA'],
    ['CA-ON', undefined, 'CA-ON'],
    ['GB', 'Scotland', 'GB'],
    ['DE', 'Bayern', 'DE'],
    ['DE-BE', undefined, 'DE'],
    ['CH-GE', undefined, 'CH'],
    ['US-DE', undefined, 'US-DE'],
    ['US/NY', undefined, 'US-NY'],
  ])('V1-15 %s with state %s is %s', (country, state, location) => {
    expect(resolveLocation(country, state)).toMatchObject({ ok: true, location });
  });

  test.each(['GB-SCT', 'UK-SCT'])('V1-15 %s is sent as GB', (text) => {
    expect(resolveLocation(text)).toEqual({ ok: true, location: 'GB', countryCode: 'GB' });
  });

  test('an unknown state widens the search to the country', () => {
    expect(resolveLocation('US', 'Bavaria')).toEqual({ ok: true, location: 'US', countryCode: 'US' });
  });

  test('V1-15 location IDs of the provider pass through without a country', () => {
    expect(resolveLocation(' 1_44 ')).toEqual({ ok: true, location: '1_44', countryCode: null });
  });

  test('V1-15 every resolved location has a form that the API accepts', () => {
    const part = fc.oneof(fc.constantFrom('US', 'CA', 'CN', 'uk', 'GB-ENG', 'France', '1_2', 'DE-BY'), fc.string());
    fc.assert(
      fc.property(part, fc.option(part, { nil: undefined }), (country, state) => {
        const resolved = resolveLocation(country, state);
        if (resolved.ok) expect(resolved.location).toMatch(LOCATION_PATTERN);
      }),
    );
  });
});

test.each(['C', 'G', 'H', 'K', 'M', 'O', 'R', 'T', 'U', 'W', 'X', 'Y', 'Z'])(
  'an ambiguous letter is not a country: %s',
  (text) => {
    expect(resolveLocation(text)).toMatchObject({ ok: false });
  },
);

test.each(['A', 'N', '276'])('%s is a country only in a country column', (text) => {
  expect(findCountry(text)).toBeUndefined();
  expect(countriesIn([text])).toEqual([null]);
  expect(countriesIn([text], true)).not.toEqual([null]);
});
