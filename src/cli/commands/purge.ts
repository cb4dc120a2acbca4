import type { PurgeOptions, PurgeView } from '../../app/admin/purge.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import { compact } from '../../domain/numbers/number-text.js';
import { resolveLocation } from '../../domain/places/resolve-location.js';
import { ID_SPACES, type IdSpace } from '../../domain/provider.js';
import { firstFew, type Message, type MessageCode, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import type { CommonArgs, Verb } from '../command.js';
import { appEnvironment, confirmAction, printJson } from '../terminal/io.js';
import { placeFlags } from '../terminal/suggestions.js';
import { count, rowInWords, shellWord } from '../terminal/text.js';

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
      if (!args.yes) io.say(lines, 'alert');
      const what = `purge would remove ${counts} for good`;
      return confirmAction(
        { what, question: `Remove ${counts} for good?`, nothing: message('NOT_AGREED', 'Nothing was removed.') },
        args.yes,
        io,
      );
    };
    const { purge } = await import('../../app/admin/purge.js');
    const view = await purge({ dataDir, request, agree }, appEnvironment(io));
    if (view.outcome === 'not_agreed') return ExitCode.interrupted;
    const words = purgeInWords(view, placeFlags(args), sameCommand(args));
    // Who names somebody that nobody knows has made a mistake, and is told so.
    const isUnknown = view.outcome === 'nothing_found' && request.kind !== 'before';
    if (args.json) printJson(io, purgeToJson(view));
    else io.say(words, isUnknown ? 'alert' : 'stdout');
    if (view.notProved.length > 0) return ExitCode.internal;
    return isUnknown ? ExitCode.usage : ExitCode.ok;
  },
};

const sameCommand = ({ entity, before, yes, ...args }: PurgeArgs): string =>
  `kybatch purge${entity === undefined ? ` --before ${before}` : ` --entity ${shellWord(entity)}`}${placeFlags(args)}${yes ? ' --yes' : ''}`;

type PurgeRequest = PurgeOptions['request'];

const EXAMPLES = '`kybatch purge --help` shows examples.';

/** What the flags ask for. What names nothing is refused: there is no way to say "everything" here. */
function readRequest(entity: string | undefined, before: string | undefined, now: number): PurgeRequest {
  const given: readonly unknown[] = [entity, before];
  if (given.some(Array.isArray))
    throw new UsageError('PURGE_TARGET_TWICE', 'purge takes one --entity or one --before at a time', EXAMPLES);
  if ((entity === undefined) === (before === undefined))
    throw new UsageError('PURGE_TARGET_MISSING', 'purge needs either --entity or --before', EXAMPLES);
  return before === undefined ? readEntity(entity ?? '') : { kind: 'before', at: readDay(before, now) };
}

function readEntity(text: string): PurgeRequest {
  const [, prefix, rest = ''] = /^\s*([A-Za-z0-9]+(?:-[A-Za-z0-9]{1,3})?)\s*:(.*)$/s.exec(text) ?? [];
  const id = (prefix === undefined ? text : rest).trim();
  if (compact(id) === '')
    throw new UsageError('ENTITY_INVALID', `--entity: "${text}" names no entity, and nothing was removed`, EXAMPLES);
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
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // Some days that do not exist are read as days of the next month.
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text)
    throw new UsageError('DATE_INVALID', `--before: ${text} is no date`, 'YYYY-MM-DD, for example 2025-01-01.');
  if (at > now)
    throw new UsageError(
      'DATE_IN_FUTURE',
      `--before: ${text} is in the future`,
      'Everything there is would go; name a day that has begun.',
    );
  return at;
}

type PurgeProof = NonNullable<PurgeView['proof']>;

/** "1 row, 3 answers, …" */
function countsInWords({
  rows,
  answers,
  bodies,
  candidates,
  questions,
  decisions,
  changes,
  runs,
  runsRemoved,
}: PurgeView['report']) {
  const things = [
    count(rows, 'row'),
    count(answers, 'answer'),
    `${bodies} raw ${bodies === 1 ? 'body' : 'bodies'}`,
    count(candidates, 'candidate'),
    count(questions, 'question'),
    count(decisions, 'decision'),
    ...(changes === 0 ? [] : [count(changes, 'noted change')]),
  ];
  const whole = runsRemoved.length > 0 ? `, ${count(runsRemoved.length, 'whole run')}` : '';
  const named = runsRemoved.length > 0 ? runsRemoved : runs;
  return `${things.join(', ')}${whole}${named.length === 0 ? '' : ` (${named.join(', ')})`}`;
}

/** What purge cannot take away: the file is the user's. */
const stillListedInWords = ({ stillListed }: PurgeView['report']): readonly Message[] =>
  firstFew(
    stillListed,
    ({ portfolio, row, line, inputId }) =>
      `Still in the newest file of ${portfolio} (${rowInWords(row, line)}${inputId === null ? '' : `, id ${sanitizeText(inputId)}`}): the next \`kybatch run\` of that list buys it again, unless the line is taken out.`,
    'lines',
  ).map((text) => message('STILL_LISTED', text));

/** Before it goes, and when it has. */
const boughtAgainInWords = (
  { boughtAgain }: PurgeView['report'],
  stand: 'stand by what goes' | 'stood by it',
): readonly Message[] =>
  firstFew(
    boughtAgain,
    ({ portfolio, rows }) =>
      `${count(rows, 'row')} of ${portfolio} ${rows === 1 ? stand.replace('stand ', 'stands ') : stand}: the next \`kybatch run\` of that list buys it again.`,
    'lists',
  ).map((text) => message('BOUGHT_AGAIN', text));

/** `place` is the flag that names the data directory, if there is one; `same` the command that asked for it. */
function purgeInWords(
  { outcome, report, proof, notProved, exports, exportsNotSearched, workbooks, shared }: PurgeView,
  place: string,
  same: string,
): readonly Message[] {
  const nothing = outcome === 'nothing_found';
  const isRewritten = notProved.length === 0;
  const rewritten =
    nothing || !isRewritten
      ? []
      : [message('LEDGER_REWRITTEN', `The ${shared ? 'tables were' : 'database file was'} written anew without it.`)];
  return [
    nothing
      ? message('NOTHING_TO_PURGE', 'Nothing was found, and nothing removed.')
      : message('PURGED', `Removed: ${countsInWords(report)}.`),
    ...(proof === undefined
      ? rewritten
      : proofInWords(proof, { nothing, searchedFile: isRewritten && !shared }, `kybatch purge${place} --entity`)),
    ...notProved.map((what) => message('PURGE_NOT_PROVED', `Not proved: ${what}.`)),
    ...(notProved.length === 0
      ? []
      : [message('PURGE_AGAIN_NEXT', `It is removed. Mend that, and finish with the same command: ${same}`)]),
    ...stillListedInWords(report),
    ...boughtAgainInWords(report, 'stood by it'),
    message('FILES_NOT_SEARCHED', 'Input files, review sheets, logs and copies of them were not searched.'),
    ...(shared
      ? [
          message(
            'MACHINES_NOT_SEARCHED',
            'Exports of other machines were not looked for: call it there, too, or look into them.',
          ),
        ]
      : []),
    ...listedInWords(
      'EXPORTS_STILL_HOLDING',
      'These exports still hold it; delete them, or export again:',
      exports.map((made) => `${made.folder}  (${exportAgain(made, place)})`),
    ),
    ...listedInWords(
      'EXPORTS_NOT_SEARCHED',
      'These exports may hold it, which their text does not tell; look into them, delete them, or export again:',
      exportsNotSearched.map((made) => `${made.folder}  (${exportAgain(made, place)})`),
    ),
    ...listedInWords(
      'WORKBOOKS_NOT_SEARCHED',
      'These workbooks were kept because somebody had worked in them, and may hold it; look into them, or delete them:',
      workbooks.map(({ file }) => file),
    ),
  ];
}

const listedInWords = (code: MessageCode, head: string, things: readonly string[]): readonly Message[] =>
  things.length === 0 ? [] : [message(code, [head, ...things.map((thing) => `  ${thing}`)].join('\n'))];

/** `again` is a command line up to the entity. Bytes of a file that was not written anew say nothing yet. */
function proofInWords(
  { searched, notSearched, timesInFile, mentions }: PurgeProof,
  { nothing, searchedFile }: { readonly nothing: boolean; readonly searchedFile: boolean },
  again: string,
): readonly Message[] {
  const shown = mentions.slice(0, SHOWN);
  const lines = [
    ...(searched.length === 0
      ? []
      : [`Searched the database${searchedFile ? ' file' : ''}, answers unpacked, for ${searched.join(', ')}:`]),
    ...(searched.length > 0 && mentions.length === 0
      ? [`  ${searchedFile ? goneInWords(timesInFile, nothing) : 'no table and no answer names it.'}`]
      : []),
    ...(mentions.length === 0 ? [] : [`  still named in ${count(mentions.length, 'place')}:`]),
    ...shown.map((mention) => `  ${mentionInWords(mention, again)}`),
    ...(mentions.length > SHOWN ? [`  and ${mentions.length - SHOWN} more; --json lists all`] : []),
  ];
  return [
    ...(lines.length === 0 ? [] : [message(mentions.length === 0 ? 'PURGE_PROVED' : 'STILL_NAMED', lines.join('\n'))]),
    ...(notSearched.length === 0
      ? []
      : [
          message(
            'NOT_SEARCHED_AS_TEXT',
            `Not searched for as text, because it would be found in anything: ${notSearched.join(', ')}.`,
          ),
        ]),
  ];
}

const SHOWN = 20;

/** What was never there is not gone. */
const goneInWords = (timesInFile: number, nothing: boolean) =>
  timesInFile === 0
    ? `it is ${nothing ? 'not in' : 'gone from'} the database file.`
    : `no table and no answer names it; ${count(timesInFile, 'longer text')} in the file ${timesInFile === 1 ? 'has' : 'have'} the same characters inside.`;

function mentionInWords(
  { identifiers, where, run, row, entity }: PurgeProof['mentions'][number],
  again: string,
): string {
  const place = run === null ? '' : row === null ? ` (run ${run})` : ` (row ${row} of ${run})`;
  const remedy = entity === null ? 'only --before removes it' : `${again} ${shellWord(entity)}`;
  return `${where}${place}: ${identifiers.join(', ')}; ${remedy}`;
}

const purgeToJson = ({ report, proof, notProved, exports, exportsNotSearched, workbooks }: PurgeView) => ({
  runs: report.runs,
  runs_removed: report.runsRemoved,
  removed: {
    rows: report.rows,
    answers: report.answers,
    bodies: report.bodies,
    candidates: report.candidates,
    questions: report.questions,
    decisions: report.decisions,
    changes: report.changes,
  },
  ...(proof && {
    searched: proof.searched,
    not_searched: proof.notSearched,
    times_in_file: proof.timesInFile,
    still_mentioned: proof.mentions,
  }),
  ...(notProved.length === 0 ? {} : { not_proved: notProved }),
  still_listed: report.stillListed.map(({ portfolio, row, line, inputId }) => ({ portfolio, row, line, id: inputId })),
  bought_again: report.boughtAgain,
  exports_still_holding: exports.map(exportToJson),
  ...(exportsNotSearched.length === 0 ? {} : { exports_not_searched: exportsNotSearched.map(exportToJson) }),
  ...(workbooks.length === 0 ? {} : { workbooks_not_searched: workbooks.map(({ file }) => file) }),
});

type Made = PurgeView['exports'][number];

const exportToJson = ({ folder, run, at }: Made) => ({ folder, run, exported_at: at });

/** Into the same folder, as it was made. */
function exportAgain({ run, folder, options, canBeWritten }: Made, place: string): string {
  if (!canBeWritten) return 'its run is gone: delete it';
  const { formats = [], delimiter = ',', bom, includeContacts, partitionBy } = options;
  return [
    `kybatch export ${run}${place} --out ${shellWord(folder)}`,
    ...(formats.length === 0 ? [] : [`--format ${formats.join()}`]),
    ...(delimiter === ',' ? [] : [`--delimiter ${delimiter === '\t' ? 'tab' : shellWord(delimiter)}`]),
    ...(bom ? ['--bom'] : []),
    ...(includeContacts ? ['--include-contacts'] : []),
    ...(partitionBy === undefined ? [] : [`--partition-by ${shellWord(partitionBy)}`]),
  ].join(' ');
}
