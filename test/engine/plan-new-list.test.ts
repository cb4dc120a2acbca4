/** @module-tag long */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { expect, test } from 'vitest';
import { rowsOfFile } from '../../src/app/portfolio/open-list.js';
import { type LoadedPipeline, loadPipeline } from '../../src/config/pipeline.js';
import { planRun, type RunPlan } from '../../src/engine/plan.js';
import { readInput } from '../../src/input/read-input.js';
import type { InputTable } from '../../src/input/types.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { writeSample } from '../../src/sandbox/sample.js';
import { FALLBACKS, leadsFollowed } from '../../src/stages/identity/searches.js';
import { stages } from '../../src/stages/list.js';
import { findPlainCompany, lineOf, quickPipeline, withWorkshop } from './support.js';

const shipped = ['analyst', 'nightly', 'backfill', 'onboarding', 'credit', 'sales'];

const pipelines: readonly (readonly [string, LoadedPipeline])[] = [
  ...shipped.map((name) => [name, loadPipeline(name, process.cwd())] as const),
  ...stages.map(({ name }) => [`${name} alone`, quickPipeline({ stages: [name] })] as const),
  ['two modules of v2', quickPipeline({ stages: ['firmographics', 'insights'] })],
  ['provenance', quickPipeline({ provenance: true })],
  [
    'by VAT number and name, with every fallback',
    quickPipeline({
      search: { attempts: 3, order: ['vat_number', 'name'], furtherSpellings: true, fallback: [...FALLBACKS] },
    }),
  ],
  ['by name', quickPipeline({ search: { attempts: 1, order: ['name'], furtherSpellings: false, fallback: [] } })],
];

const HEADER = 'id,name,country,registration_number,vat_number,ticker,website';

/** Without stored answers the calculation takes a shortcut. Its result must equal that of the full one. */
test('a list has one plan with an empty ledger and with one that has other answers', async () => {
  await withWorkshop({}, async (workshop) => {
    const { sandbox, ledger, dataDir } = workshop;
    const path = join(dataDir, 'new.csv');
    writeFileSync(path, [HEADER, ...linesOf(sandbox), ''].join('\n'));
    await workshop.work(await workshop.open([lineOf(findPlainCompany(sandbox, () => true))]));
    expect((await ledger.reading.environments()).some(({ answers }) => answers > 0)).toBe(true);
    for (const [name, pipeline] of pipelines) {
      const leads = leadsFollowed(pipeline.search.fallback);
      const table = await readInput(path, { synonyms: pipeline.columns, leads });
      const planned = await planOf(table, pipeline, null);
      expect(planned.rows, name).toBe(planned.valid + planned.invalid);
      expect({ name, ...planned }).toEqual({ name, ...(await planOf(table, pipeline, ledger)) });
    }
  });
});

/** The ledger does not know this provider, so none of its answers count for these rows. */
const planOf = (table: InputTable, pipeline: LoadedPipeline, ledger: Ledger | null): Promise<RunPlan> =>
  planRun({
    rows: rowsOfFile({ table, limit: null }),
    pipeline,
    notBefore: 0,
    now: 0,
    ledger,
    environments: { v1: null, v2: null },
  });

/** Clean and damaged rows, some repeated, some with only one searchable field, some with none. */
function linesOf({ registry }: Sandbox): string[] {
  const sample = [...writeSample({ registry, rows: 60, dirty: true, seed: 3 })].map(({ input }) => input);
  const rows = sample.map(({ id, name, country, registration_number: number, vat_number: vat }) => [
    [id, name, country, number, vat, '', ''],
    [`${id}-2`, name, country, number, vat, '', ''],
    [`${id}-n`, name, country, '', '', '', ''],
    [`${id}-r`, '', country, number, '', '', ''],
    [`${id}-v`, '', country, '', vat, '', ''],
    [`${id}-l`, '', '1_44', number, '', '', ''],
    [`${id}-c`, name, '', number, vat, '', ''],
  ]);
  const odd = [
    ['t', '', 'US', '', '', 'ACME', ''],
    ['w', '', 'GB', '', '', '', 'example.com'],
    ['word', 'Acme', 'GB', 'pending court', '', '', ''],
    ['tax', 'Acme', 'BE', 'BE 1022.603.989', '', '', ''],
  ];
  return [...rows.flat(), ...odd].map((cells) => stringify([cells]).trimEnd());
}
