import type { LoadedPipeline } from '../config/pipeline.js';
import { UsageError } from '../domain/errors.js';
import { sentence } from '../util/sentence.js';
import type { Finding } from './finding.js';
import { checkProvider, type Provider } from './provider.js';

export const DEFAULT_PIPELINE = 'analyst';

/** Whether a run would get as far as its first call: whoever names a pipeline wants to know, and the default is told of. */
export function checkPipeline(pipeline: LoadedPipeline, isNamed: boolean, provider: Provider): readonly Finding[] {
  const which = isNamed ? pipeline.name : `${pipeline.name}, the default,`;
  try {
    checkProvider(pipeline, provider);
    return [{ check: 'pipeline', state: 'ok', detail: `${which} has all it needs` }];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { message, hint = '', exit } = error;
    const detail = `${which} would be refused: ${sentence(message)} ${hint}`.trimEnd();
    if (isNamed) return [{ check: 'pipeline', state: 'fail', detail, exit }];
    // One without any provider is told of above.
    if (provider.v1 === null && provider.v2 === null) return [];
    const other = 'Where you use another, `kybatch doctor --pipeline NAME` checks that one.';
    return [{ check: 'pipeline', state: 'note', detail: `${detail} ${other}` }];
  }
}
