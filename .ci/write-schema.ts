import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipelineJsonSchema } from '../src/config/pipeline-schema.js';

/** Writes the schema for editors (`npm run schema`). Run it after a change of the pipeline file's keys. */
const target = resolve(import.meta.dirname, '../pipelines/pipeline.schema.json');
writeFileSync(target, `${JSON.stringify(pipelineJsonSchema(), null, 2)}\n`);
