import type { ExportPlace } from '../export/places.js';
import type { Mention, PurgeProof, PurgeReport } from '../ledger/purge.js';
import { count, shellWord } from './text.js';

export const isNothing = ({ rows, answers, bodies, candidates, questions, decisions }: PurgeReport): boolean =>
  rows + answers + bodies + candidates + questions + decisions === 0;

/** "1 row, 3 answers, …" */
export function countsInWords({
  rows,
  answers,
  bodies,
  candidates,
  questions,
  decisions,
  runs,
  runsRemoved,
}: PurgeReport) {
  const things = [
    count(rows, 'row'),
    count(answers, 'answer'),
    `${bodies} raw ${bodies === 1 ? 'body' : 'bodies'}`,
    count(candidates, 'candidate'),
    count(questions, 'question'),
    count(decisions, 'decision'),
  ];
  const whole = runsRemoved.length > 0 ? `, ${count(runsRemoved.length, 'whole run')}` : '';
  return `${things.join(', ')}${whole}${runs.length === 0 ? '' : ` (${runs.join(', ')})`}`;
}

/** `again` is a command line up to the entity. */
export function reportInWords(
  report: PurgeReport,
  proof: PurgeProof | undefined,
  exports: readonly ExportPlace[],
  again: string,
): string {
  const rewritten = isNothing(report) ? [] : ['The database file was written anew without it.'];
  const lines = [
    isNothing(report) ? 'Nothing was found, and nothing removed.' : `Removed: ${countsInWords(report)}.`,
    ...(proof === undefined ? rewritten : proofInWords(proof, again)),
    'Input files, logs and copies of them were not searched.',
    ...(exports.length === 0 ? [] : ['These exports still hold it; delete them, or export again:']),
    ...exports.map(({ folder, run }) => `  ${folder}  (kybatch export ${run})`),
  ];
  return `${lines.join('\n')}\n`;
}

function proofInWords({ searched, notSearched, timesInFile, mentions }: PurgeProof, again: string): readonly string[] {
  const shown = mentions.slice(0, SHOWN);
  return [
    ...(searched.length === 0 ? [] : [`Searched the database file, answers unpacked, for ${searched.join(', ')}:`]),
    ...(searched.length > 0 && mentions.length === 0 ? [`  ${goneInWords(timesInFile)}`] : []),
    ...(mentions.length === 0 ? [] : [`  still named in ${count(mentions.length, 'place')} of other companies:`]),
    ...shown.map((mention) => `  ${mentionInWords(mention, again)}`),
    ...(mentions.length > SHOWN ? [`  and ${mentions.length - SHOWN} more; --json lists all`] : []),
    ...(notSearched.length === 0
      ? []
      : [`Not searched for as text, because it would be found in anything: ${notSearched.join(', ')}.`]),
  ];
}

const SHOWN = 20;

const goneInWords = (timesInFile: number) =>
  timesInFile === 0
    ? 'it is gone from the database file.'
    : `no table and no answer names it; ${count(timesInFile, 'longer text')} in the file ${timesInFile === 1 ? 'has' : 'have'} the same characters inside.`;

function mentionInWords({ identifiers, where, run, row, entity }: Mention, again: string): string {
  const place = run === null ? '' : row === null ? ` (run ${run})` : ` (row ${row} of ${run})`;
  const remedy = entity === null ? 'only --before removes it' : `${again} ${shellWord(entity)}`;
  return `${where}${place}: ${identifiers.join(', ')}; ${remedy}`;
}

export const toJson = (report: PurgeReport, proof: PurgeProof | undefined, exports: readonly ExportPlace[]) => ({
  runs: report.runs,
  runs_removed: report.runsRemoved,
  removed: {
    rows: report.rows,
    answers: report.answers,
    bodies: report.bodies,
    candidates: report.candidates,
    questions: report.questions,
    decisions: report.decisions,
  },
  ...(proof && {
    searched: proof.searched,
    not_searched: proof.notSearched,
    times_in_file: proof.timesInFile,
    still_mentioned: proof.mentions,
  }),
  exports_still_holding: exports.map(({ folder, run, at }) => ({ folder, run, exported_at: at })),
});
