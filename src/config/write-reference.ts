import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { writeMarked } from '../util/marked-part.js';
import { describePipeline, PIPELINE_REFERENCE } from './describe-pipeline.js';
import { pipelineJsonSchema } from './pipeline-schema.js';

/** Writes the schema that editors read; run after a change of the pipeline file's keys. */
const target = resolve(import.meta.dirname, '../../pipelines/pipeline.schema.json');
writeFileSync(target, `${JSON.stringify(pipelineJsonSchema(), null, 2)}\n`);

/** Brings the reference in docs/pipelines.md up to date: `npx tsx src/config/write-reference.ts`. */
writeMarked(new URL('../../docs/pipelines.md', import.meta.url), PIPELINE_REFERENCE, describePipeline());
