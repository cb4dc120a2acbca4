import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { createRegistry } from '../../src/sandbox/registry/index.js';
import { damages, type SampleRow, writeSample, writeSampleFiles } from '../../src/sandbox/sample.js';
import { long } from '../helpers/long.js';

const registry = createRegistry({ seed: 7 });
const rows = [...writeSample({ registry, rows: 400, dirty: true })];
const byDamage = group(rows);

function group(items: readonly SampleRow[]): Map<string, SampleRow[]> {
  const groups = new Map<string, SampleRow[]>();
  for (const item of items) groups.set(item.answer.damage, [...(groups.get(item.answer.damage) ?? []), item]);
  return groups;
}

const search = ({ input }: SampleRow, fields: { registrationNumber?: string; vatNumber?: string; name?: string }) =>
  registry.search({ location: input.country, ...fields }, 'exact');

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sample-'));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('rows', () => {
  test('a short dirty sample has rows of every outcome', () => {
    const expected = [...writeSample({ registry, rows: 40, dirty: true })].map(({ answer }) => answer.expected);
    expect(new Set(expected)).toEqual(new Set(['confirmed', 'needs_review', 'no_match', 'invalid']));
    expect(expected.filter((outcome) => outcome === 'needs_review').length).toBeGreaterThan(5);
  });

  long('a sample of one country has only its companies, with any damage', () => {
    const german = [...writeSample({ registry, rows: 60, dirty: true, country: 'DE' })];
    expect(new Set(german.map(({ answer }) => answer.damage)).size).toBeGreaterThan(3);
    for (const { answer } of german.filter(({ answer: { v1_company_id } }) => v1_company_id !== ''))
      expect(registry.byV1Id(answer.v1_company_id)?.countryCode).toBe('DE');
  });

  long('every row of a clean sample is exactly one company', () => {
    for (const row of writeSample({ registry, rows: 150, dirty: false })) {
      expect(row.answer).toMatchObject({ damage: 'clean', expected: 'confirmed' });
      const found = search(row, { registrationNumber: row.input.registration_number });
      expect(found.map(({ v1Id }) => v1Id)).toEqual([row.answer.v1_company_id]);
      expect(found[0]?.name).toBe(row.input.name);
      expect(row.answer.v2_company_id).toBe(found[0]?.v2Id);
    }
  });

  test('half of a dirty sample is damaged, with every kind of damage', () => {
    expect(rows.length).toBe(400);
    expect(byDamage.get('clean')?.length).toBe(200);
    expect([...byDamage.keys()].sort()).toEqual(['clean', ...damages.map(({ kind }) => kind)].sort());
    expect(new Set(rows.map(({ input }) => input.id)).size).toBe(400);
  });

  test('answers name the intended company, or none', () => {
    for (const { answer } of rows) {
      const meant = answer.expected === 'confirmed' || answer.expected === 'needs_review';
      const company = registry.byV1Id(answer.v1_company_id);
      expect(company !== undefined).toBe(meant);
      if (company === undefined) continue;
      expect(answer.registration_number).toBe(company.registrationNumber ?? '');
      expect(answer.v2_company_id).toBe(registry.inV2(company) ? company.v2Id : '');
    }
  });

  long('a seed always gives its own rows', () => {
    expect([...writeSample({ registry: createRegistry({ seed: 7 }), rows: 400, dirty: true })]).toEqual(rows);
  });
});

describe('damage', () => {
  const of = (kind: string) => byDamage.get(kind) ?? [];

  test('a decoy names another company', () => {
    for (const row of of('decoy')) {
      const [other] = search(row, { registrationNumber: row.input.registration_number });
      expect(other).toBeDefined();
      expect(other?.v1Id).not.toBe(row.answer.v1_company_id);
    }
  });

  test('a failed checksum, a wrong country and an invented company find no company', () => {
    for (const row of [...of('failed_checksum'), ...of('wrong_country'), ...of('no_such_company')]) {
      expect(search(row, { registrationNumber: row.input.registration_number })).toEqual([]);
    }
  });

  test('rows that end without a company find none by their name either', () => {
    for (const row of [...of('wrong_country'), ...of('no_such_company')]) {
      expect(registry.search({ location: row.input.country, name: row.input.name }, 'forgiving')).toEqual([]);
    }
  });

  test('a VAT number alone leads to one company', () => {
    for (const row of of('vat_only')) {
      expect(row.input.registration_number).toBe('');
      expect(search(row, { vatNumber: row.input.vat_number }).map(({ v1Id }) => v1Id)).toEqual([
        row.answer.v1_company_id,
      ]);
    }
  });

  test('repairable numbers keep every letter and digit', () => {
    const bare = (text: string) =>
      text
        .normalize('NFKC')
        .toUpperCase()
        .replace(/[^0-9A-Z]/g, '');
    for (const row of ['spaces', 'full_width', 'case', 'separators'].flatMap(of)) {
      expect(row.input.registration_number).not.toBe(row.answer.registration_number);
      expect(bare(row.input.registration_number)).toBe(bare(row.answer.registration_number));
    }
    for (const { input, answer } of of('scientific_full')) {
      expect(String(Number(input.registration_number))).toBe(answer.registration_number);
    }
    for (const { input, answer } of of('scientific_truncated')) {
      expect(String(Number(input.registration_number))).not.toBe(answer.registration_number);
    }
    for (const { input, answer } of of('siret'))
      expect(input.registration_number.slice(0, 9)).toBe(answer.registration_number);
    for (const { input, answer } of of('lost_zeros')) {
      expect(answer.registration_number).toBe(
        input.registration_number.padStart(answer.registration_number.length, '0'),
      );
    }
  });

  test('invalid rows lack a field that a search needs', () => {
    for (const { input } of of('missing_identifiers')) {
      expect([input.name, input.registration_number, input.vat_number]).toEqual(['', '', '']);
    }
    for (const { input } of of('missing_country')) expect(input.country).toBe('');
    for (const { input } of of('unknown_country')) expect(registry.knowsLocation(input.country)).toBe(false);
  });

  test('a mismatch shows in the record, a missing record is missing', () => {
    const company = (row: SampleRow) => {
      const found = registry.byV1Id(row.answer.v1_company_id);
      if (found === undefined) throw new Error(row.answer.id);
      return found;
    };
    for (const row of of('record_mismatch')) expect(registry.traits(company(row)).identityMismatch).toBe(true);
    for (const row of of('no_record')) expect(registry.hasRecord(company(row))).toBe(false);
    for (const row of of('dissolved')) expect(registry.statusId(company(row))).toBe(108);
  });
});

describe('files', () => {
  long('rows and answers are side by side, and no part file is left', async () => {
    await withFolder(async (folder) => {
      const out = join(folder, 'sample.csv');
      const files = await writeSampleFiles({ registry, rows: 1_100, dirty: false, out });
      expect(files).toEqual({ input: out, answers: join(folder, 'sample.answers.csv') });
      expect((await readdir(folder)).sort()).toEqual(['sample.answers.csv', 'sample.csv']);
      const inputs = parse(await readFile(files.input), { columns: true }) as Record<string, string>[];
      const answers = parse(await readFile(files.answers), { columns: true }) as Record<string, string>[];
      expect(inputs.length).toBe(1_100);
      expect(answers.map(({ id }) => id)).toEqual(inputs.map(({ id }) => id));
      expect(Object.keys(inputs[0] ?? {})).toEqual([
        'id',
        'name',
        'country',
        'registration_number',
        'vat_number',
        'city',
        'segment',
      ]);
    });
  });

  long('as a spreadsheet saves it: BOM or windows-1252, semicolons, CRLF, other headers', async () => {
    await withFolder(async (folder) => {
      const utf8 = await writeSampleFiles({ registry, rows: 40, dirty: true, out: join(folder, 'a.csv'), excel: true });
      const text = await readFile(utf8.input, 'utf8');
      expect(text.startsWith('\ufeffId;Company Name;Country;Reg. No.;VAT No.;City;Segment\r\n')).toBe(true);
      expect(parse(text, { bom: true, delimiter: ';', columns: true }).length).toBe(40);
      const ansi = await writeSampleFiles({
        registry,
        rows: 80,
        dirty: true,
        out: join(folder, 'b.csv'),
        excel: 'windows-1252',
      });
      const bytes = await readFile(ansi.input);
      expect(new TextDecoder('windows-1252').decode(bytes)).toMatch(/[éäöü]/);
      expect(parse(bytes.toString('latin1'), { delimiter: ';', columns: true }).length).toBe(80);
    });
  });

  test('a folder that does not exist is an error, not a file', async () => {
    await withFolder(async (folder) => {
      const out = join(folder, 'nowhere', 'sample.csv');
      await expect(writeSampleFiles({ registry, rows: 1, dirty: false, out })).rejects.toThrow(/ENOENT/);
    });
  });
});
