import { type LoadedPipeline, optionsOf, shortPath, stagesOf } from '../config/pipeline.js';
import { UsageError } from '../domain/errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { NamesWritten } from '../stages/stage.js';
import { resolveVocabulary } from '../stages/vocabulary/resolve.js';
import { withAskDoor } from './ask-door.js';
import type { Provider } from './provider.js';
import type { Surroundings } from './surroundings.js';
import type { Stoppable } from './watch-door.js';

type Named = Pick<LoadedPipeline, 'stages' | 'options' | 'file'>;

/** What the stages of a pipeline are told by names of a vocabulary. IDs are sent as they are. */
export const namesWritten = (pipeline: Pick<LoadedPipeline, 'stages' | 'options'>): readonly NamesWritten[] =>
  stagesOf(pipeline)
    .flatMap((stage) => stage.names?.(optionsOf(pipeline, stage)) ?? [])
    .filter(({ written }) => written.some((item) => typeof item === 'string'));

/**
 * Refuses a name that its vocabulary does not hold before the first paid call: otherwise every row fails with it, after
 * its searches were bought. Vocabularies are free, and kept for a year. Where the provider cannot be asked now the start
 * goes on, and the stage looks for itself.
 */
export async function mustKnowNames(
  pipeline: Named,
  correct: string,
  provider: Provider,
  stop: Stoppable,
  ledger: Ledger,
  around: Surroundings,
): Promise<void> {
  const written = namesWritten(pipeline);
  if (written.length === 0) return;
  const problems = await withAskDoor(provider, stop, ledger, around, async ({ ask }) => {
    const found: string[] = [];
    for (const { key, vocabulary, written: items } of written) {
      const resolved = await resolveVocabulary(vocabulary, items, ask);
      if (resolved.kind === 'refused') found.push(...resolved.problems.map(({ message }) => `${key}: ${message}`));
      else if (resolved.kind !== 'resolved') break;
    }
    return found;
  });
  if (problems.length === 0) return;
  const file = shortPath(pipeline.file, around.cwd);
  throw new UsageError(
    problems.map((problem) => `${file}: ${problem}`).join('\n'),
    `Nothing was spent. ${correct} \`kybatch vocab NAME --search TEXT\` finds names and IDs.`,
    'UNKNOWN_NAME',
  );
}
