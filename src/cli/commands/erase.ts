import type { EraseOptions, EraseView } from '../../app/admin/erase.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import { compact } from '../../domain/numbers/number-text.js';
import { resolveLocation } from '../../domain/places/resolve-location.js';
import { ID_SPACES, type IdSpace } from '../../domain/provider.js';
import { parseDay } from '../../util/clock.js';
import { firstFew, type Message, type MessageCode, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { pick } from '../../util/view-json.js';
import { count, listed, rowInWords, shortRun } from '../../util/words.js';
import { register, switchFlag, textFlag } from '../command.js';
import { appEnvironment, confirmAction, printJson } from '../terminal/io.js';
import { shellWord } from '../terminal/text.js';
import { block, type ViewPart, view } from '../terminal/view.js';

type EraseReport = EraseView['report'];
type EraseArgs = Readonly<Record<'entity' | 'before', string | undefined>> & { readonly yes: boolean };

export const eraseCommand = register({
  command: 'erase',
  describe: 'Remove a company, or everything before a date, for good',
  builder: (yargs) =>
    yargs
      .option(
        'entity',
        textFlag(`COUNTRY:NUMBER, or an ID with its space: ${ID_SPACES.map((space) => `${space}:ID`).join(', ')}`),
      )
      .option('before', textFlag('Everything before this day, YYYY-MM-DD (UTC)'))
      .option('yes', switchFlag('Remove without asking')),
  async run(args, io) {
    const { dataDir } = args;
    const request = readRequest(args.entity, args.before, io.clock.now());
    const agree = (preview: EraseReport) => {
      const counts = countsInWords(preview);
      if (!args.yes)
        io.say(
          [
            ...stillListedInWords(preview),
            ...boughtAgainInWords(preview, 'uses the erased data', 'use the erased data'),
          ],
          'alert',
        );
      const what = `erase would remove ${counts}`;
      return confirmAction(
        {
          what,
          question: `Erase ${counts}? This cannot be undone.`,
          nothing: message('NOT_AGREED', 'Nothing was removed.'),
        },
        args.yes,
        io,
      );
    };
    const { erase } = await import('../../app/admin/erase.js');
    const erased = await erase({ dataDir, request, agree }, appEnvironment(io));
    if (erased.outcome === 'not_agreed') return ExitCode.interrupted;
    // An entity that the ledger does not know is a mistake of the caller.
    const isUnknown = erased.outcome === 'nothing_found' && request.kind !== 'before';
    if (io.json) printJson(io, eraseJson(erased));
    else io.say(eraseInWords(erased, args), isUnknown ? 'alert' : 'stdout');
    if (erased.notProved.length > 0) return ExitCode.internal;
    return isUnknown ? ExitCode.usage : ExitCode.ok;
  },
});

const sameCommand = ({ entity, before, yes }: EraseArgs): string =>
  `kybatch erase${entity === undefined ? ` --before ${before}` : ` --entity ${shellWord(entity)}`}${yes ? ' --yes' : ''}`;

type EraseRequest = EraseOptions['request'];

const EXAMPLES = 'Examples: `kybatch erase --help`';

/** The request in the flags. A flag that names nothing is refused: no request means "everything". */
function readRequest(entity: string | undefined, before: string | undefined, now: number): EraseRequest {
  const given: readonly unknown[] = [entity, before];
  if (given.some(Array.isArray))
    throw new UsageError('PURGE_TARGET_TWICE', 'erase takes one --entity or one --before', EXAMPLES);
  if ((entity === undefined) === (before === undefined))
    throw new UsageError('PURGE_TARGET_MISSING', '--entity or --before is missing', EXAMPLES);
  return before === undefined ? readEntity(entity ?? '') : { kind: 'before', at: readDay(before, now) };
}

function readEntity(text: string): EraseRequest {
  const [, prefix, rest = ''] = /^\s*([A-Za-z0-9]+(?:-[A-Za-z0-9]{1,3})?)\s*:(.*)$/s.exec(text) ?? [];
  const id = (prefix === undefined ? text : rest).trim();
  if (compact(id) === '')
    throw new UsageError('ENTITY_INVALID', `--entity: "${text}" names no company. Nothing was removed`, EXAMPLES);
  if (prefix === undefined) return { kind: 'entity', id };
  const space = spaceNamed(prefix.toLowerCase());
  if (space !== undefined) return { kind: 'entity', space, id };
  const place = /^[A-Za-z]{2}(?:-|$)/.test(prefix) ? resolveLocation(prefix) : undefined;
  if (place?.ok && place.countryCode !== null)
    return { kind: 'number', countryCode: place.countryCode, state: place.state, registrationNumber: id };
  throw new UsageError(
    'ENTITY_SPACE_UNKNOWN',
    `--entity: ${prefix} is neither an ID space nor a country`,
    `ID spaces: ${ID_SPACES.join(', ')}.`,
  );
}

/** `source` is what version 0.1 called the IDs that credit reports are found by. */
const spaceNamed = (name: string): IdSpace | undefined =>
  name === 'source' ? 'credit' : ID_SPACES.find((space) => space === name);

function readDay(text: string, now: number): number {
  const at = parseDay(text);
  if (at === undefined)
    throw new UsageError('DATE_INVALID', `--before: ${text} is not a date`, 'Use YYYY-MM-DD, for example 2025-01-01.');
  if (at > now)
    throw new UsageError(
      'DATE_IN_FUTURE',
      `--before: ${text} is in the future`,
      'That would erase everything. Use a day that has begun.',
    );
  return at;
}

type EraseProof = NonNullable<EraseView['proof']>;

/** "1 row, 3 answers, …" */
function countsInWords(report: EraseReport): string {
  const { bodies, changes, runs, runsRemoved } = report;
  const counts = listed([
    report.rows > 0 && count(report.rows, 'row'),
    report.answers > 0 && count(report.answers, 'answer'),
    bodies > 0 && count(bodies, 'response'),
    report.candidates > 0 && count(report.candidates, 'candidate'),
    report.questions > 0 && count(report.questions, 'question'),
    report.decisions > 0 && count(report.decisions, 'decision'),
    changes > 0 && count(changes, 'recorded change'),
    runsRemoved.length > 0 && count(runsRemoved.length, 'whole run'),
  ]);
  const named = runsRemoved.length > 0 ? runsRemoved : runs;
  return `${counts}${named.length === 0 ? '' : ` (${named.map(shortRun).join(', ')})`}`;
}

/** The list is the user's file, so `erase` cannot remove its lines. */
const stillListedInWords = ({ stillListed }: EraseReport): readonly Message[] =>
  firstFew(
    stillListed,
    ({ portfolio, row, line, inputId }) =>
      `! Still in the file of ${portfolio}: ${rowInWords(row, line)}${inputId === null ? '' : `, ID ${sanitizeText(inputId)}`}. Remove the row, or the next \`kybatch run\` buys the company again.`,
    'lines',
  ).map((text) => message('STILL_LISTED', text, 'attention'));

/** `uses`, `use`: the verb for one row and for several. */
const boughtAgainInWords = ({ boughtAgain }: EraseReport, uses: string, use: string): readonly Message[] =>
  firstFew(
    boughtAgain,
    ({ portfolio, rows }) =>
      `! ${count(rows, 'row')} of ${portfolio} ${rows === 1 ? uses : use}. The next \`kybatch run\` buys it again.`,
    'lists',
  ).map((text) => message('BOUGHT_AGAIN', text, 'attention'));

function eraseInWords(erased: EraseView, args: EraseArgs): readonly Message[] {
  const { outcome, report, proof, notProved, exports, exportsNotSearched, workbooks, shared } = erased;
  const isNothing = outcome === 'nothing_found';
  const isRewritten = notProved.length === 0;
  return view(
    isNothing
      ? message('NOTHING_TO_PURGE', 'Nothing was found. Nothing was removed.')
      : message('PURGED', `✓ Erased ${countsInWords(report)}.`, 'done'),
    proof !== undefined
      ? proofInWords(proof, { isNothing, searchedFile: isRewritten && !shared })
      : !isNothing &&
          isRewritten &&
          message('LEDGER_REWRITTEN', `The ${shared ? 'tables were' : 'ledger file was'} rewritten without it.`),
    notProved.map((what) => message('PURGE_NOT_PROVED', `✗ Not verified: ${what}.`, 'failed')),
    notProved.length > 0 &&
      message(
        'PURGE_AGAIN_NEXT',
        `! It is erased. Fix the problem, then repeat the command: ${sameCommand(args)}`,
        'attention',
      ),
    stillListedInWords(report),
    boughtAgainInWords(report, 'used it', 'used it'),
    message('FILES_NOT_SEARCHED', 'Not searched: your lists, review sheets, logs and copies of them.'),
    shared && message('MACHINES_NOT_SEARCHED', 'Not searched: exports on other machines. Run the command there, too.'),
    listedBelow(
      'EXPORTS_STILL_HOLDING',
      'These exports still contain it. Delete them, or export again:',
      exports.flatMap(exportLines),
    ),
    listedBelow(
      'EXPORTS_NOT_SEARCHED',
      'These exports may contain it. Delete them, or export again:',
      exportsNotSearched.flatMap(exportLines),
    ),
    listedBelow(
      'WORKBOOKS_NOT_SEARCHED',
      'These workbooks were edited and may contain it. Check or delete them:',
      workbooks.map(({ file }) => file),
    ),
  );
}

const listedBelow = (code: MessageCode, head: string, lines: readonly string[]): ViewPart =>
  lines.length > 0 &&
  block(
    code,
    head,
    lines.map((line) => `  ${line}`),
  );

/** A file that was not rewritten still has the bytes. */
function proofInWords(
  { searched, notSearched, timesInFile, mentions }: EraseProof,
  { isNothing, searchedFile }: { readonly isNothing: boolean; readonly searchedFile: boolean },
): ViewPart {
  const isGone = mentions.length === 0;
  return [
    (searched.length > 0 || !isGone) &&
      block(
        isGone ? 'PURGE_PROVED' : 'STILL_NAMED',
        searched.length > 0 &&
          `Searched the ledger${searchedFile ? ' file' : ''} and all stored answers for ${searched.join(', ')}:`,
        isGone && `  ${searchedFile ? goneInWords(timesInFile, isNothing) : 'no table and no answer contains it.'}`,
        !isGone && `  still found in ${count(mentions.length, 'place')}:`,
        mentions.slice(0, SHOWN).map((mention) => `  ${mentionInWords(mention)}`),
        mentions.length > SHOWN && `  and ${mentions.length - SHOWN} more (--json lists all)`,
      ),
    notSearched.length > 0 &&
      message('NOT_SEARCHED_AS_TEXT', `Not searched as text, because it is too short: ${notSearched.join(', ')}.`),
  ];
}

const SHOWN = 20;

const goneInWords = (timesInFile: number, isNothing: boolean) =>
  timesInFile === 0
    ? `it is ${isNothing ? 'not' : 'no longer'} in the ledger file.`
    : `no table and no answer contains it. ${count(timesInFile, 'longer text has', 'longer texts have')} the same characters inside.`;

function mentionInWords({ identifiers, where, run, row, entity }: EraseProof['mentions'][number]): string {
  const place = run === null ? '' : row === null ? ` (run ${run})` : ` (row ${row} of ${run})`;
  const remedy = entity === null ? 'only --before removes it' : `kybatch erase --entity ${shellWord(entity)}`;
  return `${where}${place}: ${identifiers.join(', ')}; ${remedy}`;
}

const eraseJson = ({ report, proof, notProved, exports, exportsNotSearched, workbooks }: EraseView) => ({
  ...pick(report, 'runs', 'runsRemoved'),
  removed: pick(report, 'rows', 'answers', 'bodies', 'candidates', 'questions', 'decisions', 'changes'),
  ...(proof && { ...pick(proof, 'searched', 'notSearched', 'timesInFile'), stillMentioned: proof.mentions }),
  notProved: notProved.length > 0 ? notProved : undefined,
  stillListed: report.stillListed.map(({ portfolio, row, line, inputId }) => ({ portfolio, row, line, id: inputId })),
  boughtAgain: report.boughtAgain,
  exportsStillHolding: exports.map(exportJson),
  exportsNotSearched: exportsNotSearched.length > 0 ? exportsNotSearched.map(exportJson) : undefined,
  workbooksNotSearched: workbooks.length > 0 ? workbooks.map(({ file }) => file) : undefined,
});

type Made = EraseView['exports'][number];

const exportJson = ({ folder, run, at }: Made) => ({ folder, run, exportedAt: at });

const exportLines = (made: Made): readonly string[] => [made.folder, `    ${exportAgain(made)}`];

/** The command that writes an export again, into the same folder and with the same options. */
function exportAgain({ run, folder, options, canBeWritten }: Made): string {
  if (!canBeWritten) return 'delete it: its run no longer exists';
  const { formats = [], delimiter = ',', bom, includeContacts, partitionBy } = options;
  return listed(
    [
      `kybatch export ${run} --out ${shellWord(folder)}`,
      formats.length > 0 && `--format ${formats.join()}`,
      delimiter !== ',' && `--delimiter ${delimiter === '\t' ? 'tab' : shellWord(delimiter)}`,
      bom && '--bom',
      includeContacts && '--include-contacts',
      partitionBy !== undefined && `--partition-by ${shellWord(partitionBy)}`,
    ],
    ' ',
  );
}
