/** @module-tag long */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import type { Company } from '../../src/sandbox/registry/types.js';
import { jsonOf } from '../cli/here.js';
import { wholeCompanies } from '../engine/support.js';
import { sheetColumns } from '../helpers/review-sheet.js';
import { decideAll, type Line, type Nights, RUN, withNights } from './nights.js';

const ONBOARDING = ['stages: [record, ownership]'];

const inputOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber ?? '',
});

interface Listed {
  readonly question: string;
  readonly about: string;
  readonly asked_with?: string | null;
}

const listed = async ({ kybatch }: Nights): Promise<readonly string[]> => {
  const { questions } = jsonOf<{ questions: Listed[] }>(await kybatch(['review', 'list', '--json']));
  return questions.map(({ about, asked_with }) => `${about}${asked_with === undefined ? '' : ` of ${asked_with}`}`);
};

/** A run with a pipeline beside `p.yaml` that only asks the companies module. */
async function bySales({ cwd, kybatch }: Nights): Promise<number | null> {
  const own = readFileSync(join(cwd, 'p.yaml'), 'utf8');
  writeFileSync(join(cwd, 'sales.yaml'), own.replace(ONBOARDING[0] ?? '', 'stages: [firmographics]'));
  return (await kybatch(RUN.map((arg) => (arg === './p.yaml' ? './sales.yaml' : arg)))).code;
}

describe('a list that is run with two pipelines in turn', () => {
  test('keeps the question about a module that one of them lacks, and an answer counts with the other', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, table, kybatch, cwd } = nights;
        writeCsv('in.csv', [inputOf(sandbox.registry.company(13505))]);
        expect((await night()).code).toBe(3);
        await kybatch(['review', 'export', '--out', 'morning.csv']);
        expect(await bySales(nights)).toBe(0);
        expect(table('rows')[0]).toMatchObject({ outcome: 'complete', firmographics_status: 'done' });
        expect(await listed(nights)).toEqual(['ownership of p']);
        expect((await kybatch(['status'])).codes).toContain('REVIEW_NEXT');
        expect((await kybatch(['review', 'list'])).codes).toContain('OTHER_PIPELINE');

        const morning = join(cwd, 'morning.csv');
        const lines = parse(readFileSync(morning), { columns: sheetColumns, bom: true }) as Line[];
        writeFileSync(
          morning,
          stringify(
            lines.map((line) => ({ ...line, decision: 'none_of_these' })),
            { header: true },
          ),
        );
        const applied = await kybatch(['review', 'apply', 'morning.csv']);
        expect(applied).toMatchObject({
          code: 0,
          codes: expect.arrayContaining(['ANSWERS_APPLIED', 'OTHER_PIPELINE']),
          stdout: expect.stringMatching(/^1 /m),
        });
        expect(await listed(nights)).toEqual([]);
        expect(await night()).toMatchObject({ code: 0, units: 0 });
        expect(table('rows')[0]).toMatchObject({ outcome: 'complete', ownership_status: 'not_available' });
      },
      ONBOARDING,
    ));

  test('keeps the questions about the match in each module, after any order of pipelines', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, kybatch, cwd } = nights;
        const [company] = wholeCompanies(sandbox, 1);
        if (company === undefined) throw new Error('no company');
        writeCsv('in.csv', [{ ...inputOf(company), registration_number: '' }]);
        for (const turn of [1, 2]) {
          expect((await night()).code).toBe(3);
          expect((await listed(nights)).toSorted()).toEqual(turn === 1 ? ['v1'] : ['companies of sales', 'v1']);
          expect(await bySales(nights)).toBe(3);
          expect((await listed(nights)).toSorted()).toEqual(['companies', 'v1 of p']);
        }
        await decideAll({ kybatch, cwd }, 'none_of_these');
        expect(await bySales(nights)).toBe(0);
        expect(await night()).toMatchObject({ code: 0, units: 0, end: { outcomes: { no_match: 1 } } });
        expect(await listed(nights)).toEqual([]);
      },
      ONBOARDING,
    ));
});

test('a company has one key in each module, also if only the list names its court or state', () =>
  withNights(0, async ({ night, rows, writeCsv, cwd, table }) => {
    const ofRegisters = rows.filter(({ country = '' }) => country === 'DE' || country.startsWith('US-')).slice(0, 4);
    writeCsv('in.csv', ofRegisters);
    const keys = () => table('rows').map(({ company_key: key = '' }) => key);
    await night();
    const fromRecords = keys();
    writeFileSync(join(cwd, 'p.yaml'), 'stages: [firmographics]');
    await night('--portfolio', 'sales');
    expect(keys()).toEqual(fromRecords);
    expect(fromRecords.filter((key) => !/^(?:DE|US)-/.test(key))).toEqual([]);
    expect(table('firmographics').map(({ company_key: key }) => key)).toEqual(expect.arrayContaining(fromRecords));
  }));
