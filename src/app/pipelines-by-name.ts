import { pipelineNames } from '../config/find-pipeline.js';
import { here } from './surroundings.js';

/** What `--pipeline` takes beside the path of a file. */
export const pipelinesByName = ({ cwd } = here()): readonly string[] => pipelineNames(cwd);
