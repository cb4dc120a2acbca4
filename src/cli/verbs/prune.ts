import { prune } from '../../app/prune.js';
import { UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { DURATION_FORM, FINITE_DURATION, parseDuration } from '../../domain/options/duration.js';
import { aroundOf } from '../around.js';
import { agreedTo } from '../terminal/agreed.js';
import { placeFlags } from '../terminal/commands.js';
import { pruneCounts, pruneInWords, pruneToJson } from '../terminal/prune-words.js';
import type { CommonArgs, Verb } from '../verb.js';

interface PruneArgs extends CommonArgs {
  readonly olderThan?: string | undefined;
  readonly yes: boolean;
}

export const pruneVerb: Verb<PruneArgs> = {
  command: 'prune',
  describe: 'Remove exports, logs and finished runs that are older than said; never the newest answer to anything',
  builder: (yargs) =>
    yargs
      .option('older-than', { type: 'string', requiresArg: true, describe: 'An age, such as 90d' })
      .option('yes', { type: 'boolean', default: false, describe: 'Remove without asking' })
      .example('$0 prune --older-than 90d', 'says what would go, and asks')
      .example('$0 prune --older-than 365d --yes', 'unattended')
      .epilogue(
        'Unfinished runs stay, and those with open questions; runs that were stopped while their input was read go, nothing was spent on them. What is owned stays owned, so nothing is bought again because of it. Exports outside of the data directory are named, not removed. `kybatch purge` removes for good. Exit code: 0 done, 2 usage, 75 in use, 130 not agreed to.',
      ),
  async run(args, io) {
    const { dataDir, json, yes } = args;
    const view = await prune(
      {
        dataDir,
        olderThanMs: readAge(args.olderThan),
        agree: (preview) => {
          const counts = pruneCounts(preview);
          const what = `prune would remove ${counts}`;
          return agreedTo({ what, question: `Remove ${counts}?`, nothing: 'Nothing was removed.' }, yes, io);
        },
      },
      aroundOf(io),
    );
    if (view.outcome === 'not_agreed') return ExitCode.interrupted;
    if (json) io.stdout(`${JSON.stringify(pruneToJson(view))}\n`);
    else io.stderr(pruneInWords(view, placeFlags(args)));
    return ExitCode.ok;
  },
};

function readAge(text: string | undefined): number {
  if (typeof text !== 'string') throw new UsageError('prune needs one --older-than', 'For example --older-than 90d.');
  if (!FINITE_DURATION.test(text)) throw new UsageError(`--older-than: ${JSON.stringify(text)} ${DURATION_FORM}`);
  return parseDuration(text);
}
