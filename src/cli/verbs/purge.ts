import { type PurgeView, purge } from '../../app/purge.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { ID_SPACES } from '../../domain/id-spaces.js';
import { aroundOf } from '../around.js';
import { readRequest } from '../purge-request.js';
import { agreedTo } from '../terminal/agreed.js';
import { placeFlags } from '../terminal/commands.js';
import {
  boughtAgainInWords,
  countsInWords,
  purgeInWords,
  purgeToJson,
  stillListedInWords,
} from '../terminal/purge-words.js';
import { shellWord } from '../terminal/text.js';
import type { CommonArgs, Verb } from '../verb.js';

type PurgeReport = PurgeView['report'];

interface PurgeArgs extends CommonArgs {
  readonly entity: string | undefined;
  readonly before: string | undefined;
  readonly yes: boolean;
}

export const purgeVerb: Verb<PurgeArgs> = {
  command: 'purge',
  describe: 'Remove an entity, or what is older than a date, from the ledger for good',
  builder: (yargs) =>
    yargs
      .option('entity', {
        type: 'string',
        requiresArg: true,
        describe: `An ID as exported, of any ID space; ${ID_SPACES.map((space) => `${space}:ID`).join(', ')}; or COUNTRY:NUMBER`,
      })
      .option('before', { type: 'string', requiresArg: true, describe: 'YYYY-MM-DD (UTC): everything older' })
      .option('yes', { type: 'boolean', default: false, describe: 'Remove without asking' })
      .example('$0 purge --entity v1:10843262', 'one company, whichever runs it is in')
      .example('$0 purge --entity GB:00045590', 'the same by its number, and every row that gave this number')
      .example('$0 purge --before 2025-01-01 --yes', 'runs and answers from before that day, unattended')
      .epilogue(
        'It says what would go and asks; without a terminal it needs --yes. Rows stay in their runs without what they said, so that runs still add up; calls stay without their bodies. Afterwards the database file is searched for the IDs and numbers that went, and what still names them is listed with the command that removes it. Input files and exports are yours: purge names the lines that are still in the newest file of a list, which the next run of it would buy again, with --before how many rows of which lists stand by what goes, and the exports that still hold what was removed, also when it is asked once more, each with the command that writes it again as it was made, where its run is still there. Where that fails (a full disk) it says what was removed and what is not proved, and the same command finishes it. Exit code: 0 removed, 1 removed and not proved, 2 usage or nothing is known by that name, 75 in use, 130 not agreed to.',
      ),
  async run(args, io) {
    const { dataDir } = args;
    const request = readRequest(args.entity, args.before, io.clock.now());
    const agree = (preview: PurgeReport) => {
      const counts = countsInWords(preview);
      const lines = [...stillListedInWords(preview), ...boughtAgainInWords(preview, 'stand by what goes')];
      if (!args.yes) for (const line of lines) io.alert(`${line}\n`);
      const what = `purge would remove ${counts} for good`;
      return agreedTo({ what, question: `Remove ${counts} for good?`, nothing: 'Nothing was removed.' }, args.yes, io);
    };
    const view = await purge({ dataDir, request, agree }, aroundOf(io));
    if (view.outcome === 'not_agreed') return ExitCode.interrupted;
    const words = purgeInWords(view, placeFlags(args), sameCommand(args));
    // Who names somebody that nobody knows has made a mistake, and is told so.
    const isUnknown = view.outcome === 'nothing_found' && request.kind !== 'before';
    if (args.json) io.stdout(`${JSON.stringify(purgeToJson(view))}\n`);
    else (isUnknown ? io.alert : io.stdout)(words);
    if (view.notProved.length > 0) return ExitCode.internal;
    return isUnknown ? ExitCode.usage : ExitCode.ok;
  },
};

const sameCommand = ({ entity, before, yes, ...args }: PurgeArgs): string =>
  `kybatch purge${entity === undefined ? ` --before ${before}` : ` --entity ${shellWord(entity)}`}${placeFlags(args)}${yes ? ' --yes' : ''}`;
