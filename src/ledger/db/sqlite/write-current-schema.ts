import { writeFileSync } from 'node:fs';
import { connect } from './connection.js';
import { currentSchemaFile, schemaOfSteps } from './migrate.js';

// `npm run schema`: writes the schema that all migrations create, for new ledgers.
const database = connect(':memory:');
writeFileSync(currentSchemaFile, schemaOfSteps(database));
database.close();
