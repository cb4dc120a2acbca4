import { writeFileSync } from 'node:fs';
import { connect } from './connection.js';
import { currentSchemaFile, schemaOfSteps } from './migrate.js';

// `npm run schema`: what the migrations make of an empty ledger, for new ones.
const database = connect(':memory:');
writeFileSync(currentSchemaFile, schemaOfSteps(database));
database.close();
