import type { ProspectProposal } from '../../app/prospect/options.js';
import { type ProspectView, prospect } from '../../app/prospect/prospect.js';
import type { Stoppable } from '../../app/watch-door.js';
import { KybatchError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { numberFlag } from '../number-flag.js';
import { type ProviderArgs, sandboxOption } from '../provider-flags.js';
import { plainFormatOption, readPlainFormats } from '../table-flags.js';
import { lookFlags } from '../terminal/commands.js';
import type { Io } from '../terminal/io.js';
import { printResultAndWords } from '../terminal/print-result.js';
import { callsInWords, foundInWords, foundToJson, prospectingInWords } from '../terminal/prospect-words.js';
import { saysYes } from '../terminal/says-yes.js';
import { shellWord } from '../terminal/text.js';
import { untilDrained } from '../until-drained.js';
import type { Verb } from '../verb.js';

interface ProspectArgs extends ProviderArgs {
  readonly filters: string;
  readonly out: string | undefined;
  readonly format: string | undefined;
  readonly pages: number | undefined;
  readonly perPage?: number | undefined;
  readonly profiles: boolean;
  readonly fresh: boolean;
  readonly force: boolean;
  readonly yes: boolean;
  readonly includeContacts?: boolean | undefined;
}

const yesOrNo = (describe: string) => ({ type: 'boolean', default: false, describe }) as const;

export const prospectVerb: Verb<ProspectArgs> = {
  command: 'prospect <filters>',
  describe: "Find companies by the provider's filters, and write them as an input file for `run`",
  builder: (yargs) =>
    yargs
      .positional('filters', { type: 'string', demandOption: true, describe: 'The filters, as YAML' })
      .option('out', {
        type: 'string',
        requiresArg: true,
        describe: 'The input file (default: the name of the filters, as .csv); tables go beside it, in <name>.tables',
      })
      .option('format', plainFormatOption)
      .option('pages', numberFlag('--pages', 'Pages at the most, 1 to 10 (default: 10, the provider gives no more)'))
      .option('per-page', numberFlag('--per-page', 'Companies a page (default: 25)'))
      .option('profiles', {
        type: 'boolean',
        default: true,
        describe: 'Number and country of each, one call each; --no-profiles leaves them out',
      })
      .option('include-contacts', { type: 'boolean', describe: 'Phone numbers in the table, too' })
      .option('fresh', yesOrNo('Ask anew although the answers are owned'))
      .option('force', yesOrNo('Write over a file that is there and is not of ours, or was changed since'))
      .option('yes', yesOrNo('Spend without asking'))
      .option('sandbox', sandboxOption)
      .example('$0 prospect filters.yaml --sandbox', 'try it on the simulated provider')
      .example('$0 prospect filters.yaml --pages 2 --no-profiles --yes', 'IDs and names of the first two pages')
      .epilogue(
        'Names of the vocabularies can be written instead of IDs (`kybatch vocab`). Exit code: 0 done, 2 usage, 3 done but profiles failed, 4 the allowance is spent, 5 the key is refused, 6 the provider is down, 129/130/143 interrupted. From 4 on nothing was written, what was bought is owned, and the same command goes on.',
      ),
  run: (args, io) => {
    const again = `Nothing was written; what was bought is owned. Go on with: ${sameCommand(args)}`;
    return untilDrained(io, again, async (stoppable) => {
      const view = await find(args, stoppable, io).catch((error: unknown) => {
        throw withWayOn(error, again);
      });
      const plan = `kybatch plan ${shellWord(view.written?.input ?? '')}${lookFlags(args)}`;
      printResultAndWords(io, args, () => foundToJson(view, { plan }), foundInWords(view, { plan }));
      return view.failure === null ? ExitCode.ok : ExitCode.rowsOpen;
    });
  },
};

function find(args: ProspectArgs, stoppable: Stoppable, io: Io): Promise<ProspectView> {
  const { filters, out, pages, perPage, profiles, includeContacts, fresh, force, yes, sandbox, dataDir } = args;
  const formats = readPlainFormats(args);
  const asked = {
    filters,
    out,
    formats,
    pages,
    perPage,
    profiles,
    includeContacts,
    fresh,
    force,
    yes,
    sandbox,
    dataDir,
  };
  const agree = async (proposal: ProspectProposal) => {
    const asks = !yes && !sandbox && io.ask !== undefined;
    (asks ? io.alert : io.stderr)(prospectingInWords(proposal));
    return !asks || (await saysYes(`Make ${callsInWords(proposal)}?`, io.ask));
  };
  const onPage = (page: number) => io.stderr(`Page ${page} is there.\n`);
  const canAsk = yes || sandbox || io.ask !== undefined;
  return prospect({ ...asked, ...stoppable, onPage, agree: canAsk ? agree : undefined }, aroundOf(io));
}

/** What stops it before its end can be gone on with. */
function withWayOn(error: unknown, again: string): unknown {
  const goesOn: readonly ExitCode[] = [ExitCode.allowance, ExitCode.credentials, ExitCode.unavailable];
  if (!(error instanceof KybatchError) || !goesOn.includes(error.exit)) return error;
  const { message, code, hint, exit } = error;
  return new KybatchError(message, { code, hint: [hint, again].join('\n').trim(), exit, cause: error });
}

const sameCommand = (args: ProspectArgs): string =>
  [
    `kybatch prospect ${shellWord(args.filters)}`,
    ...(args.out === undefined ? [] : [`--out ${shellWord(args.out)}`]),
    ...(args.format === undefined ? [] : [`--format ${shellWord(args.format)}`]),
    ...(args.pages === undefined ? [] : [`--pages ${args.pages}`]),
    ...(args.perPage === undefined ? [] : [`--per-page ${args.perPage}`]),
    ...(args.profiles ? [] : ['--no-profiles']),
    ...(args.includeContacts ? ['--include-contacts'] : []),
    ...(args.force ? ['--force'] : []),
    ...(args.yes ? ['--yes'] : []),
  ].join(' ') + lookFlags(args);
