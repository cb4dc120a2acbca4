import type { StopSignals } from '../../app/provider/direct-calls.js';
import type { ProspectProposal, ProspectView } from '../../app/provider/prospect.js';
import { ExitCode, KybatchError } from '../../domain/errors.js';
import { PAGES_AT_MOST } from '../../domain/provider.js';
import { stringifyExact } from '../../util/exact-json.js';
import { type Message, type MessageCode, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { pick, verbatim } from '../../util/view-json.js';
import { count, listed, withCommas } from '../../util/words.js';
import {
  type ArgsOf,
  numberFlag,
  plainFormatOption,
  readPlainFormats,
  register,
  sandboxOption,
  switchFlag,
  textFlag,
} from '../command.js';
import { appEnvironment, askYesNo, type Io, printResultAndWords, untilDrained } from '../terminal/io.js';
import { lookFlags } from '../terminal/suggestions.js';
import { shellWord } from '../terminal/text.js';
import { block, labelLines, view } from '../terminal/view.js';

const flags = {
  out: textFlag('The list to write, with its tables in NAME.tables (default: name of the filters)'),
  format: plainFormatOption,
  pages: numberFlag('--pages', 'At most N pages, 1 to 10 (default: 10)'),
  'per-page': numberFlag('--per-page', 'Companies a page (default: 25)'),
  profiles: {
    type: 'boolean',
    default: true,
    describe: 'Buy number and country, one call each (default). --no-profiles: never',
  },
  'include-contacts': { type: 'boolean', describe: 'Phone numbers in the table, too' },
  rebuy: switchFlag('Ask again even if the answers are stored'),
  force: switchFlag('Overwrite the file, even if it was changed or comes from elsewhere'),
  yes: switchFlag('Spend without asking'),
  sandbox: sandboxOption,
} as const;

type ProspectArgs = ArgsOf<typeof flags> & { readonly filters: string };

export const prospectCommand = register({
  command: 'prospect <filters>',
  describe: 'Find companies by filters, and write them as a list for run',
  builder: (yargs) =>
    yargs
      .positional('filters', { type: 'string', demandOption: true, describe: 'The filters, as YAML' })
      .options(flags),
  run: (args, io) => {
    const again = message(
      'PROSPECT_STOPPED',
      `Nothing was written. Bought answers are stored. Continue: ${sameCommand(args)}`,
    );
    return untilDrained(io, again, async (stoppable) => {
      const found = await find(args, stoppable, io).catch((error: unknown) => {
        throw withNextCommand(error, again.text);
      });
      const plan = `kybatch plan ${shellWord(found.written?.input ?? '')}${lookFlags(args)}`;
      printResultAndWords(io, foundJson(found, plan), foundInWords(found, plan));
      return found.failure === null ? ExitCode.ok : ExitCode.rowsOpen;
    });
  },
});

async function find(args: ProspectArgs, stoppable: StopSignals, io: Io): Promise<ProspectView> {
  const { yes, sandbox } = args;
  const asked = {
    ...pick(args, 'filters', 'out', 'pages', 'perPage', 'profiles', 'includeContacts', 'force'),
    fresh: args.rebuy,
    ...pick(args, 'yes', 'sandbox', 'dataDir'),
    formats: readPlainFormats(args.format),
  };
  const agree = async (proposal: ProspectProposal) => {
    const asks = !yes && !sandbox && io.ask !== undefined;
    io.say(prospectingInWords(proposal), asks ? 'alert' : 'stderr');
    return !asks || (await askYesNo(`Make ${callsInWords(proposal)}?`, io.ask));
  };
  const onPage = (page: number) => io.say(message('PAGE_READ', `Page ${page} read.`));
  const canAsk = yes || sandbox || io.ask !== undefined;
  const { prospect } = await import('../../app/provider/prospect.js');
  return await prospect({ ...asked, ...stoppable, onPage, agree: canAsk ? agree : undefined }, appEnvironment(io));
}

function withNextCommand(error: unknown, again: string): unknown {
  const canContinue: readonly ExitCode[] = [ExitCode.allowance, ExitCode.credentials, ExitCode.unavailable];
  if (!(error instanceof KybatchError) || !canContinue.includes(error.exit)) return error;
  const { message, code, hint, exit } = error;
  return new KybatchError(message, { code, hint: [hint, again].join('\n').trim(), exit, cause: error });
}

const sameCommand = (args: ProspectArgs): string =>
  listed(
    [
      `kybatch prospect ${shellWord(args.filters)}`,
      args.out !== undefined && `--out ${shellWord(args.out)}`,
      args.format !== undefined && `--format ${shellWord(args.format)}`,
      args.pages !== undefined && `--pages ${args.pages}`,
      args.perPage !== undefined && `--per-page ${args.perPage}`,
      !args.profiles && '--no-profiles',
      args.includeContacts && '--include-contacts',
      args.force && '--force',
      args.yes && '--yes',
    ],
    ' ',
  ) + lookFlags(args);

function prospectingInWords(proposal: ProspectProposal): Message {
  const { filters, names, pages, perPage } = proposal;
  const width = Math.max(...Object.keys(filters).map((key) => key.length));
  const calls = callsInWords(proposal);
  return block(
    'PROSPECT_PLANNED',
    'Filters (a company must fit all):',
    Object.entries(filters).map(([key, value]) => {
      const resolved = names
        .filter(({ filter }) => filter === key)
        .map(({ name, id }) => `${id} is ${sanitizeText(name, 80)}`);
      return `  ${key.padEnd(width)}  ${stringifyExact(value)}${resolved.length === 0 ? '' : `  (${resolved.join(', ')})`}`;
    }),
    '',
    labelLines([
      ['Cost', `${calls} (stored answers are free)`],
      ['Pages', `${pages} (--pages, at most 10), ${count(perPage, 'company', 'companies')} each (--per-page)`],
    ]),
  );
}

const callsInWords = ({ pages, profilesAtMost }: ProspectProposal): string =>
  `at most ${count(pages, 'call')} of prospecting${profilesAtMost === 0 ? '' : ` and ${withCommas(profilesAtMost)} of companyProfile`}`;

function foundInWords(found: ProspectView, plan: string): readonly Message[] {
  const { prospects, pages, answers, written, repeated, failure } = found;
  return view(
    message(
      'PROSPECTS_FOUND',
      `✓ ${count(prospects, 'company', 'companies')} found on ${count(pages, 'page')}: ${count(answers.sent, 'call')}${answers.owned === 0 ? '' : `, ${count(answers.owned, 'answer')} reused`}.`,
    ),
    found.isPart && partInWords(found),
    found.notes.map((note) => message('PROSPECT_NOTE', `Note: ${sanitizeText(note)}.`)),
    repeated > 0 &&
      message(
        'PROSPECTS_REPEATED',
        `${count(repeated, 'company was', 'companies were')} on several pages and ${repeated === 1 ? 'is' : 'are'} listed once.`,
      ),
    prospects > 0 &&
      message(
        'PROSPECTS_WITH_NUMBER',
        `${withCommas(found.withNumber)} of ${withCommas(prospects)} have a registration number.`,
      ),
    Object.entries(PROFILES).map(([profile, words]) => {
      const companies = found.profiles[profile] ?? 0;
      return (
        companies > 0 &&
        message(`PROFILES_${profile.toUpperCase()}` as MessageCode, `  ${withCommas(companies)} ${words}`)
      );
    }),
    failure && message('PROFILE_FAILED_FIRST', `  First failure: ${sanitizeText(failure.message, 300)}`, 'failed'),
    written === null
      ? message('NO_PROSPECTS', 'No company fits. Nothing was written.')
      : [
          message('INPUT_WRITTEN', `  List      ${written.input}`),
          message('TABLES_WRITTEN', `  Tables    ${written.tables}`),
          message('PLAN_NEXT', `\nWhat their data would cost: ${plan}`),
        ],
  );
}

/** V2-20: a part must not look like the whole. */
function partInWords({ pages, totalPages, totalCompanies, prospects }: ProspectView): Message {
  const all = totalCompanies === null ? 'more' : `${withCommas(totalCompanies)} companies`;
  const inPages = totalPages === null ? '' : ` in ${withCommas(totalPages)} pages`;
  return message(
    'PROSPECTS_PARTIAL',
    `! Not all companies: the provider has ${all}${inPages}, and kybatch read ${withCommas(prospects)}. ${pages < PAGES_AT_MOST ? 'Use --pages (up to 10)' : 'It gives at most 10 pages. Narrow the filters,'} or --per-page.`,
    'attention',
  );
}

const PROFILES: Readonly<Record<string, string>> = {
  other_name: 'without: the profile has another name and was not used',
  no_name: 'without: there is no name to compare',
  not_available: 'without: the provider has no profile for them',
  failed: 'without: the profile call failed (the same command tries again)',
  not_asked: 'without: profiles were not requested',
};

const foundJson = ({ proposal, written, answers, ...found }: ProspectView, plan: string) => ({
  filters: verbatim(proposal.filters),
  names: proposal.names,
  ...pick(found, 'prospects', 'withNumber', 'profiles', 'pages'),
  perPage: proposal.perPage,
  ...pick(found, 'totalCompanies', 'totalPages', 'isPart', 'repeated', 'notes'),
  ...answers,
  input: written?.input ?? null,
  tables: written?.tables ?? null,
  next: written === null ? undefined : plan,
});
