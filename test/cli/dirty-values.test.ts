import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { long } from '../helpers/long.js';
import { type EndJson, type Job, jsonOf, rowsCounted, withJob } from './here.js';

const P = ['--pipeline', 'p.yaml'];

const write = ({ cwd }: Job, lines: readonly string[]) => writeFileSync(join(cwd, 'list.csv'), `${lines.join('\n')}\n`);

async function run(job: Job, ...flags: readonly string[]) {
  const finished = await job.kybatch(['run', 'list.csv', ...P, '--json', ...flags]);
  const end = jsonOf<EndJson & { readonly files: string }>(finished);
  const table = (name: string) =>
    parse(readFileSync(join(end.files, `${name}.csv`)), { columns: true }) as Readonly<Record<string, string>>[];
  return { ...finished, end, table };
}

const companyOf = (job: Job, country: string) => {
  const { registry } = job.sandbox;
  for (let index = 0; index < registry.size; index++) {
    const company = registry.company(index);
    const { registrationNumber, vatNumber, countryCode } = company;
    if (countryCode === country && registrationNumber !== null && vatNumber !== null && registry.hasRecord(company))
      return company;
  }
  throw new Error(`no company of ${country}`);
};

test('a row is found by its values in any column, and the name has to agree', async () => {
  await withJob({}, async (job) => {
    const [german, british, american, danish] = ['DE', 'GB', 'US', 'DK'].map((country) => companyOf(job, country));
    if (german === undefined || british === undefined || american === undefined || danish === undefined)
      throw new Error();
    write(job, [
      'id,name,country,registration_number,vat_number',
      `by-vat,"${german.name}",,,${german.vatNumber}`,
      `by-prefix,"${british.name}",n/a,GB ${british.registrationNumber},-`,
      `no-name,TBC,,GB ${british.registrationNumber},`,
      `in-name,"${danish.name} (${danish.registrationNumber})",DK,unbekannt,`,
      `ein,"${american.name}",US,${american.vatNumber},`,
      'nobody,,GB,,',
      'Total,,,,',
      'id,name,country,registration_number,vat_number',
      '*** end of report ***,,,,',
    ]);
    const { code, end, table, textOf } = await run(job, '--yes');
    expect(code).toBe(3);
    const rows = table('rows');
    expect(rows.map((row) => [row.input_id, row.outcome, row.match_grade, row.matched_on])).toEqual([
      ['by-vat', 'complete', 'ZAABZ', 'vat_number'],
      ['by-prefix', 'complete', 'BAZBZ', 'registration_number_repaired'],
      ['no-name', 'needs_review', 'BZZBZ', ''],
      ['in-name', 'complete', 'BAZAZ', 'registration_number_repaired'],
      ['ein', 'needs_review', 'ZAAAZ', ''],
      ['nobody', 'invalid', '', ''],
    ]);
    expect(rows[2]).toMatchObject({ error_code: 'NAME_NEEDED' });
    expect(end.rows).toBe(6);
    expect(textOf('CELLS_EMPTIED')).toMatch(/: country "n\/a" in \w+ 2 \(\w+ 3\), vat_number "-" in \w+ 2 \(\w+ 3\), /);
    expect(textOf('LINES_LEFT_OUT')).toMatch(/ 3 .*: \w+ 8 \(.*"Total"\), \w+ 9 \(.*"id"\), \w+ 10 \(/);
    expect(textOf('NO_IDENTIFIER')).toMatch(/ 6 \(\w+ 7\)/);
    const evidence = JSON.stringify(table('candidates'));
    expect(evidence).toMatch(/; DE: .*? DE\b/);
    expect(evidence).toContain(`${danish.name} (${danish.registrationNumber})`);
  });
});

long('placeholders are not searched for, and plan lists them', async () => {
  await withJob({}, async (job) => {
    write(job, ['name,country,reg no,vat', 'n/a,GB,-,#N/A', 'TBC,GB,0,unknown', 'none,NA,n/a,']);
    const plan = jsonOf<Record<string, unknown>>(await job.kybatch(['plan', 'list.csv', ...P, '--json']));
    expect(plan).toMatchObject({ rows: 3, valid: 0, v1_units: { at_most: 0 } });
    expect(plan.taken_as_empty).toContainEqual({ field: 'name', text: 'TBC', cells: 1, row: 2, line: 3 });
    const { textOf } = await job.kybatch(['plan', 'list.csv', ...P]);
    expect(textOf('CELLS_EMPTIED')).toContain(' 8 ');
    expect(textOf('ALL_ROWS_INVALID')).toContain(' 3 ');
  });
});

long('a list with only invalid rows asks and spends nothing, and ends with 3', async () => {
  await withJob({}, async (job) => {
    write(job, ['name,country', 'Acme,', 'Beta,Atlantis', 'Gamma,']);
    const asked: string[] = [];
    for (const options of [{}, { answers: (question: string) => void asked.push(question) }]) {
      const said = await job.kybatch(['run', 'list.csv', ...P], options);
      const { code, textOf } = said;
      expect(code).toBe(3);
      expect(textOf('ALL_ROWS_INVALID')).toContain(' 3 ');
      expect(textOf('NO_COUNTRY')).toMatch(/ 2 {2}.* \w+ 1, 3\n.*--country CC/);
      expect(textOf('BAD_COUNTRY')).toMatch(/ 1 {2}.*"Atlantis" +\w+ 2 \(\w+ 3\)/);
      expect(rowsCounted(said)).toEqual([3, 3]);
    }
    expect(asked).toEqual([]);
    const { end } = await run(job, '--export');
    expect(end).toMatchObject({ outcomes: { invalid: 3 }, units_charged: 0 });
    expect(existsSync(join(job.cwd, 'data', 'exports', end.run, 'rows.csv'))).toBe(true);
  });
});

long('cells after the last column are kept in the tables', async () => {
  await withJob({}, async (job) => {
    const british = companyOf(job, 'GB');
    write(job, [
      'name,country,registration_number,note',
      `"${british.name}",GB,${british.registrationNumber},a, comment`,
      `Acme, Ltd,GB,${british.registrationNumber},x`,
    ]);
    const { table } = await run(job, '--yes');
    expect(table('rows').map(({ outcome, error_code, extra }) => [outcome, error_code, extra])).toEqual([
      ['complete', '', '{"surplus_cells":[" comment"]}'],
      ['invalid', 'RAGGED', '{"surplus_cells":["x"]}'],
    ]);
  });
});
