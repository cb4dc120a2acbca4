import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { writeMarked } from '../util/marked-part.js';
import { describePipeline, PIPELINE_REFERENCE } from './describe-pipeline.js';
import { pipelineJsonSchema } from './pipeline-schema.js';

/** Writes the schema for editors. Run it after a change of the pipeline file's keys. */
const target = resolve(import.meta.dirname, '../../pipelines/pipeline.schema.json');
writeFileSync(target, `${JSON.stringify(pipelineJsonSchema(), null, 2)}\n`);

/** Updates the reference in docs/pipelines.md: `npx tsx src/config/write-reference.ts`. */
writeMarked(new URL('../../docs/pipelines.md', import.meta.url), PIPELINE_REFERENCE, describePipeline());
