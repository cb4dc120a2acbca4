import { writeMarked } from '../util/marked-part.js';
import { describePipeline, PIPELINE_REFERENCE } from './describe-pipeline.js';

/** Brings the reference in docs/pipelines.md up to date: `npx tsx src/config/write-reference.ts`. */
writeMarked(new URL('../../docs/pipelines.md', import.meta.url), PIPELINE_REFERENCE, describePipeline());
