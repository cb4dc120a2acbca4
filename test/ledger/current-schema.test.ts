import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { currentSchemaFile, schemaOfSteps } from '../../src/ledger/db/sqlite/migrate.js';

test('a new ledger has the schema of all migrations: `npm run schema` writes it', () => {
  const database = connect(':memory:');
  expect(readFileSync(currentSchemaFile, 'utf8')).toBe(schemaOfSteps(database));
  database.close();
});
