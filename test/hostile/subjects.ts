import { retryAfterMs } from '../../src/api/http.js';
import { gradeCandidate } from '../../src/domain/candidate-grade.js';
import { entityKey } from '../../src/domain/entity-key.js';
import { readIdentityMismatch } from '../../src/domain/identity-mismatch.js';
import { comparableLead, LEADS, leadsIn } from '../../src/domain/leads.js';
import { mayBeSamePerson, ownDomainOf, worksElsewhere } from '../../src/domain/names/employer-match.js';
import { hasLegalForm, nameSimilarity, normaliseName } from '../../src/domain/names/similarity.js';
import { comparableNumber, matchNumber, readNumberWithCountry } from '../../src/domain/numbers/compare.js';
import { readGermanEntry } from '../../src/domain/numbers/german.js';
import { isWrittenDate } from '../../src/domain/numbers/number-text.js';
import { parseRegistrationNumber } from '../../src/domain/numbers/parse.js';
import { compareVat, parseVatNumber } from '../../src/domain/numbers/vat.js';
import { resolveLocation } from '../../src/domain/places/resolve-location.js';
import { suggestCountry } from '../../src/domain/places/suggest-country.js';
import { readNumberInName, readSearchSubject } from '../../src/domain/search-subject.js';
import { nameKey } from '../../src/domain/vocabulary.js';
import { stateOfStatus } from '../../src/export/company-at-a-glance.js';
import { escapeFormula } from '../../src/export/formats/csv.js';
import { contentOf } from '../../src/input/column-content.js';
import { headerLookup, meaningOf } from '../../src/input/header-meaning.js';
import { nonCompanyLineDetector } from '../../src/input/non-company-lines.js';
import { validateRow } from '../../src/input/validate-row.js';
import { isSamePerson } from '../../src/ledger/review/second-person.js';
import { isSameCell } from '../../src/review/compare-cells.js';
import { spreadsheetText } from '../../src/review/write-sheet.js';
import { trimCell } from '../../src/sheets/sheet.js';
import { lookOf, numberText } from '../../src/sheets/xlsx/cell-value.js';
import { fitsDecimal, plainDecimal } from '../../src/util/exact-json.js';
import { suggest } from '../../src/util/message-parts.js';
import { isContactName, sanitizeText, withoutEmails } from '../../src/util/sanitize-text.js';

const candidate = {
  id: '1',
  name: 'Acme Holdings Limited',
  registration_number: '01234567',
  vat_number: 'GB123456789',
  country_code: 'GB',
  state: 'London',
  jurisdiction: null,
};
const lookup = headerLookup({}, LEADS);
const mapping = { name: 0, country: 1, registration_number: 2, vat_number: 3, city: 4, website: 5, email: 6 } as const;
const everyCell = (text: string) => Array.from({ length: 8 }, () => text);

/** A candidate with this text in every field. */
const gradeIn = (countryCode: string) => (text: string) =>
  gradeCandidate(
    {
      name: 'Acme Ltd',
      countryCode,
      state: 'Berlin',
      registrationNumber: parseRegistrationNumber('HRB 1576', countryCode),
      vatNumber: parseVatNumber('DE136695976', countryCode),
    },
    {
      id: text,
      name: text,
      registration_number: text,
      vat_number: text,
      country_code: text,
      state: text,
      jurisdiction: text,
    },
  );

/** Every rule that reads outside text. */
export const SUBJECTS: Readonly<Record<string, (text: string) => unknown>> = {
  'registration number, GB': (text) => parseRegistrationNumber(text, 'GB'),
  'registration number, DE': (text) => parseRegistrationNumber(text, 'DE', text),
  'registration number, FR': (text) => parseRegistrationNumber(text, 'FR'),
  'registration number, US': (text) => parseRegistrationNumber(text, 'US', text),
  'registration number, no country': (text) => parseRegistrationNumber(text, ''),
  'German entry': readGermanEntry,
  'comparable number': (text) => comparableNumber(text, 'DE'),
  'qualified number': (text) => readNumberWithCountry(text, '01234567', 'GB'),
  'number that was named': matchNumber({ countryCode: 'DE', number: 'HRB 1576' }).matches,
  'VAT number': (text) => parseVatNumber(text, 'DE'),
  'VAT of a candidate': (text) => compareVat(parseVatNumber('DE136695976', 'DE'), text, 'DE'),
  ...Object.fromEntries(['GB', 'DE', 'US'].map((countryCode) => [`candidate of ${countryCode}`, gradeIn(countryCode)])),
  'row that says it everywhere': (text) => {
    const read = readSearchSubject({
      name: text,
      country: 'GB',
      registration_number: text,
      vat_number: text,
      city: text,
      state: text,
    });
    return read.ok && [gradeCandidate(read.enquiry.subject, candidate), entityKey(read.enquiry.subject)];
  },
  'row without a country': (text) => suggestCountry({ registration_number: text, vat_number: text, state: text }),
  'two long names': (text) => nameSimilarity(text, text.split('').reverse().join('')),
  'two nearly equal names': (text) => nameSimilarity(text, `${text.slice(1)}b`),
  'name for comparing': (text) => normaliseName(text, 'DE'),
  'legal form': hasLegalForm,
  'number in a name': (text) => readNumberInName(text, 'GB'),
  'names of a person': (text) => mayBeSamePerson(text, `${text.slice(2)} b`),
  employer: (text) => worksElsewhere({ name: text, website: text }, { name: 'Acme', website: 'acme.com' }),
  country: (text) => resolveLocation(text, text),
  date: isWrittenDate,
  website: ownDomainOf,
  leads: (text) => leadsIn({ lei: text, website: text, linkedin: text, phone: text, email: text }),
  'lead for comparing': (text) => LEADS.map((lead) => comparableLead(lead, text)),
  'key of a question': (text) => readIdentityMismatch(`record|${text}|[${text}]`),
  decimal: (text) => [plainDecimal(text), fitsDecimal(text, 38, 10), fitsDecimal(`0.${text}`, 38, 10)],
  'company state': stateOfStatus,
  'name of a vocabulary': nameKey,
  'name of a decider': (text) => isSamePerson(text, `${text}a`),
  header: (text) => meaningOf(text, lookup),
  'row of a list': (text) => validateRow({ line: 2, cells: everyCell(text) }, 1, mapping),
  'row with cells too many': (text) =>
    validateRow(
      { line: 2, cells: everyCell(text), surplus: [text, 'GB'], problem: { code: 'RAGGED', message: '' } },
      1,
      mapping,
    ),
  'line that is no company': (text) => {
    const leftOut = nonCompanyLineDetector(everyCell('Header'), mapping);
    return [
      leftOut({ line: 2, cells: everyCell(text) }),
      leftOut({ line: 2, cells: [text, '', '', '', '', '', '', ''] }),
    ];
  },
  column: (text) => contentOf([text, text]),
  'cell of a sheet': trimCell,
  'cell that came back': (text) => [isSameCell(text, `${text}1`), isSameCell(text, 'Acme'), isSameCell('Acme?', text)],
  'cell for a spreadsheet': spreadsheetText,
  'cell of an export': (text) => [escapeFormula(text), escapeFormula(`-${text}`)],
  'number format': lookOf,
  'number of a workbook': (text) => [numberText(text), numberText(`0.${text}`)],
  'e-mail addresses in a text': withoutEmails,
  'name of a member': isContactName,
  message: (text) => sanitizeText(text),
  'mistyped word': (text) => suggest(text, ['registration_number', `${text}a`]),
  'time to wait': (text) => retryAfterMs({ 'retry-after': text }, 0),
};
