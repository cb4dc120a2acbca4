/** @module-tag long */
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { memberKey } from '../../src/domain/entity-key.js';
import { leadsIn } from '../../src/domain/leads.js';
import { parseRegistrationNumber } from '../../src/domain/numbers/parse.js';
import { parseVatNumber } from '../../src/domain/numbers/vat.js';
import { resolveLocation } from '../../src/domain/places/resolve-location.js';
import type { InputFields } from '../../src/input/types.js';
import { fileRow } from '../../src/portfolio/file-rows.js';
import { createRegistry } from '../../src/sandbox/registry/index.js';
import { writeSample } from '../../src/sandbox/sample.js';
import { readAll } from '../input/read-all.js';

/** The row as it was read before numbers were also searched for outside their columns. */
function companyBefore({ country = '', state: given, ...fields }: InputFields): string | null {
  const place = resolveLocation(country, given);
  if (!place.ok) return null;
  const countryCode = place.countryCode ?? '';
  const state = place.state ?? given;
  const { name, registration_number: number, vat_number: vat, city, ticker } = fields;
  return memberKey({
    countryCode,
    ...(name === undefined ? {} : { name }),
    ...(state === undefined ? {} : { state }),
    ...(city === undefined ? {} : { city }),
    ...(ticker === undefined ? {} : { ticker }),
    ...(number === undefined ? {} : { registrationNumber: parseRegistrationNumber(number, countryCode, state) }),
    ...(vat === undefined ? {} : { vatNumber: parseVatNumber(vat, countryCode) }),
    ...(leadsIn(fields) === undefined ? {} : { leads: leadsIn(fields) ?? {} }),
  });
}

/** Lists are years old. A row's keys and content may not change if its meaning does not. */
test('rows that name their company keep their identity, clean and dirty', async () => {
  const registry = createRegistry({ seed: 7 });
  const sample = [
    ...writeSample({ registry, rows: 150, dirty: false }),
    ...writeSample({ registry, rows: 150, dirty: true }),
  ];
  const columns = ['name', 'country', 'registration_number', 'vat_number', 'city'] as const;
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = sample.map(({ input }) => columns.map((column) => quoted(input[column])).join(','));
  const { rows } = await readAll(`${columns.join(',')}\n${lines.join('\n')}\n`);
  expect(rows).toHaveLength(sample.length);
  let compared = 0;
  for (const [index, row] of rows.entries()) {
    const { input } = sample[index] ?? {};
    const written = columns.flatMap((column) => {
      const text = input?.[column].trim() ?? '';
      return text === '' ? [] : [[column, text] as const];
    });
    const { company, says, problem } = fileRow(row);
    if (problem !== null) continue;
    compared += 1;
    const asked = [...written].sort(([a], [b]) => (a < b ? -1 : 1));
    expect(company).toBe(companyBefore(Object.fromEntries(written)));
    expect(says).toBe(hash('sha256', JSON.stringify([null, asked])).slice(0, 32));
  }
  expect(compared).toBeGreaterThan(250);
});
