import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { currentSchemaFile, schemaOfSteps } from '../../src/ledger/db/sqlite/migrate.js';

test('a new ledger is what all migrations together make: `npm run schema` writes it', () => {
  const database = connect(':memory:');
  expect(readFileSync(currentSchemaFile, 'utf8')).toBe(schemaOfSteps(database));
  database.close();
});
