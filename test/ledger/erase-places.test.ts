import { describe, expect, test } from 'vitest';
import { readSchema } from '../../src/ledger/db/database.js';
import { PLACES, TEXTS } from '../../src/ledger/erase/erase-company.js';

/** These have counts, times, settings and numbers of other records. */
const WITHOUT_COMPANIES = [
  'absences',
  'allowances',
  'clock_ahead',
  'closures',
  'contact_counts',
  'environments',
  'permission_use',
  'purges',
  'row_counts',
  'run_environments',
  'runs',
  'summed_calls',
];

describe('the places of a company in the ledger', () => {
  test('cover every table of the schema', () => {
    const tables = [...readSchema().matchAll(/^CREATE TABLE IF NOT EXISTS (\w+)/gm)].map(([, name]) => name);
    const erased = new Set([...PLACES, ...TEXTS].map(({ table }) => table));
    expect([...erased, ...WITHOUT_COMPANIES].sort()).toEqual(tables.sort());
  });
});
