import countries from 'i18n-iso-countries';
import { date, either, flag, integer, list, range, required, type Shape, text, type Values } from '../validate.js';

const locationPattern = /^(?:[A-Z]{2}|(?:US|CA|CN)-[A-Z0-9]{2,3}|\d+(?:_\d+)+)$/;
const alpha2 = text({ pattern: /^[A-Z]{2}$/ });
const nomenclatureId = either('Must be an integer or a non-empty string.', integer(), text());

const page = { page: integer({ min: 1 }), per_page: integer({ min: 1, max: 50 }) };
const provenance = { include_provenance: flag() };

export const searchBody: Shape = {
  location: required({
    ...text(),
    check(value, report) {
      if (typeof value !== 'string' || !locationPattern.test(value))
        report('Must be an ISO country code, a US/CA/CN state code or a location identifier.');
      else if (/^[A-Z]{2}$/.test(value) && countries.alpha2ToAlpha3(value) === undefined)
        report(`"${value}" is not an ISO 3166-1 country code.`);
    },
  }),
  name: text(),
  registration_number: text(),
  vat_number: text(),
  ticker: text(),
  city_or_state: list(text()),
  ...provenance,
};

export function searchRule(values: Values): string | undefined {
  const given = ['name', 'registration_number', 'vat_number', 'ticker'].some((name) => values[name] !== undefined);
  return given ? undefined : 'At least one of name, registration_number, vat_number, ticker is required.';
}

export const officersSearchBody: Shape = {
  name: required(text({ min: 2, max: 500 })),
  date_of_birth_year: integer({ min: 1000, max: 9999 }),
  country_code: alpha2,
  status: text({ oneOf: ['C', 'P'] }),
  appointment_date: range(date()),
  resignation_date: range(date()),
  company_name: text(),
  company_reg_number: text(),
  company_status: list(nomenclatureId),
  company_countries: list(nomenclatureId),
  ...provenance,
};

export const shareholdersSearchBody: Shape = {
  name: required(text({ min: 2, max: 500 })),
  company_name: text(),
  registration_number: text(),
  vat_number: text(),
  location_countries: list(alpha2),
  percentage: range(integer({ min: 1, max: 100 })),
  ...page,
  ...provenance,
};

export const detailQuery: Shape = provenance;
export const pagedQuery: Shape = { ...page, ...provenance };
export const noQuery: Shape = {};
