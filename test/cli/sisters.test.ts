import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { ledgerPath } from '../../src/ledger/db/sqlite/open.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { type EndJson, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json'];

long('an answer about one company does not apply to its sister with another legal form', async () => {
  await withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
    const [company] = rows.filter(({ name, country }) => country === 'GB' && / (Ltd|Limited)\.?$/i.test(name ?? ''));
    const name = company?.name?.replace(/ (Ltd|Limited)\.?$/i, '');
    const forms = ['Ltd', 'PLC'];
    writeCsv(
      'in.csv',
      forms.map((form) => ({ ...company, id: form, name: `${name} ${form}` })),
    );
    expect(jsonOf<EndJson>(await kybatch(RUN)).outcomes).toMatchObject({ complete: 1, needs_review: 1 });
    await kybatch(['review', 'export', '--out', 'asked.csv']);
    const asked = parse(readFileSync(join(cwd, 'asked.csv')), { bom: true, columns: true }) as Record<string, string>[];
    writeCsv(
      'answers.csv',
      asked.map((line) => ({ ...line, decision: 'none_of_these' })),
    );
    expect((await kybatch(['review', 'apply', 'answers.csv'])).code).toBe(0);
    const again = async () => jsonOf<EndJson>(await kybatch([...RUN, '--rebuy'])).outcomes;
    expect(await again()).toMatchObject({ complete: 1, no_match: 1 });

    if (isOnPostgres) return;
    // Version 0.2 kept answers without the legal form. They stay in force for the form that the person saw.
    const inLedger = (...statements: readonly string[]) => {
      const database = connect(ledgerPath(join(cwd, 'data')));
      for (const statement of statements) database.exec(statement);
      database.close();
    };
    const asBefore = (table: string) =>
      `UPDATE ${table} SET entity_key = substr(entity_key, 1, instr(entity_key, '|form:') - 1)`;
    inLedger(asBefore('decisions'), asBefore('questions'));
    expect(await again()).toMatchObject({ complete: 1, no_match: 1 });
    inLedger("UPDATE decisions SET summary = ''");
    expect(await again()).toMatchObject({ complete: 1, needs_review: 1 });
  });
});
