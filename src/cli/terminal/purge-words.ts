import type { PurgeView } from '../../app/purge.js';
import { firstFew } from '../../util/first-few.js';
import { outsideText } from '../../util/outside-text.js';
import { count, rowInWords, shellWord } from './text.js';

type PurgeProof = NonNullable<PurgeView['proof']>;

/** "1 row, 3 answers, …" */
export function countsInWords({
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
export const stillListedInWords = ({ stillListed }: PurgeView['report']): readonly string[] =>
  firstFew(
    stillListed,
    ({ portfolio, row, line, inputId }) =>
      `Still in the newest file of ${portfolio} (${rowInWords(row, line)}${inputId === null ? '' : `, id ${outsideText(inputId)}`}): the next \`kybatch run\` of that list buys it again, unless the line is taken out.`,
    'lines',
  );

/** Before it goes, and when it has. */
export const boughtAgainInWords = (
  { boughtAgain }: PurgeView['report'],
  stand: 'stand by what goes' | 'stood by it',
): readonly string[] =>
  firstFew(
    boughtAgain,
    ({ portfolio, rows }) =>
      `${count(rows, 'row')} of ${portfolio} ${rows === 1 ? stand.replace('stand ', 'stands ') : stand}: the next \`kybatch run\` of that list buys it again.`,
    'lists',
  );

/** `place` is the flag that names the data directory, if there is one; `same` the command that asked for it. */
export function purgeInWords(
  { outcome, report, proof, notProved, exports, exportsNotSearched, workbooks, shared }: PurgeView,
  place: string,
  same: string,
): string {
  const nothing = outcome === 'nothing_found';
  const isRewritten = notProved.length === 0;
  const rewritten =
    nothing || !isRewritten ? [] : [`The ${shared ? 'tables were' : 'database file was'} written anew without it.`];
  const lines = [
    nothing ? 'Nothing was found, and nothing removed.' : `Removed: ${countsInWords(report)}.`,
    ...(proof === undefined
      ? rewritten
      : proofInWords(proof, { nothing, searchedFile: isRewritten && !shared }, `kybatch purge${place} --entity`)),
    ...notProved.map((what) => `Not proved: ${what}.`),
    ...(notProved.length === 0 ? [] : [`It is removed. Mend that, and finish with the same command: ${same}`]),
    ...stillListedInWords(report),
    ...boughtAgainInWords(report, 'stood by it'),
    'Input files, review sheets, logs and copies of them were not searched.',
    ...(shared ? ['Exports of other machines were not looked for: call it there, too, or look into them.'] : []),
    ...(exports.length === 0 ? [] : ['These exports still hold it; delete them, or export again:']),
    ...exports.map((made) => `  ${made.folder}  (${exportAgain(made, place)})`),
    ...(exportsNotSearched.length === 0
      ? []
      : ['These exports may hold it, which their text does not tell; look into them, delete them, or export again:']),
    ...exportsNotSearched.map((made) => `  ${made.folder}  (${exportAgain(made, place)})`),
    ...(workbooks.length === 0
      ? []
      : [
          'These workbooks were kept because somebody had worked in them, and may hold it; look into them, or delete them:',
        ]),
    ...workbooks.map(({ file }) => `  ${file}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** `again` is a command line up to the entity. Bytes of a file that was not written anew say nothing yet. */
function proofInWords(
  { searched, notSearched, timesInFile, mentions }: PurgeProof,
  { nothing, searchedFile }: { readonly nothing: boolean; readonly searchedFile: boolean },
  again: string,
): readonly string[] {
  const shown = mentions.slice(0, SHOWN);
  return [
    ...(searched.length === 0
      ? []
      : [`Searched the database${searchedFile ? ' file' : ''}, answers unpacked, for ${searched.join(', ')}:`]),
    ...(searched.length > 0 && mentions.length === 0
      ? [`  ${searchedFile ? goneInWords(timesInFile, nothing) : 'no table and no answer names it.'}`]
      : []),
    ...(mentions.length === 0 ? [] : [`  still named in ${count(mentions.length, 'place')}:`]),
    ...shown.map((mention) => `  ${mentionInWords(mention, again)}`),
    ...(mentions.length > SHOWN ? [`  and ${mentions.length - SHOWN} more; --json lists all`] : []),
    ...(notSearched.length === 0
      ? []
      : [`Not searched for as text, because it would be found in anything: ${notSearched.join(', ')}.`]),
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

export const purgeToJson = ({ report, proof, notProved, exports, exportsNotSearched, workbooks }: PurgeView) => ({
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
