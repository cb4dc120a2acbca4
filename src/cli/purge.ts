import { loadDataDir } from '../config/environment.js';
import { UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { type ExportPlace, findExports } from '../export/places.js';
import { ID_SPACES, type IdSpace, type PurgeReport, type PurgeRequest } from '../ledger/purge.js';
import { openExistingLedger } from '../ledger/sqlite/ledger.js';
import type { CommonArgs, Verb } from './verb.js';

interface PurgeArgs extends CommonArgs {
  readonly entity: string | undefined;
  readonly before: string | undefined;
}

export const purgeVerb: Verb<PurgeArgs> = {
  command: 'purge',
  describe: 'Remove an entity, or what is older than a date, from the ledger for good',
  builder: (yargs) =>
    yargs
      .option('entity', {
        type: 'string',
        requiresArg: true,
        describe: 'An ID as exported, of any ID space; v1:ID, v2:ID, source:ID, report:ID; or COUNTRY:NUMBER',
      })
      .option('before', { type: 'string', requiresArg: true, describe: 'YYYY-MM-DD (UTC): everything older' })
      .example('$0 purge --entity v1:10843262', 'one company, whichever runs it is in')
      .example('$0 purge --entity GB:00045590', 'the same by its registration number')
      .example('$0 purge --before 2025-01-01', 'runs and answers from before that day')
      .epilogue(
        'Rows stay in their runs without what they said, so that runs still add up; calls stay without their bodies. Input files and exports are yours: purge names the exports that still hold what was removed. Exit code: 0 removed, 2 nothing is known by that name, 75 in use.',
      ),
  async run(args, io) {
    const request = readRequest(args);
    const dataDir = loadDataDir(io, args);
    const ledger = openExistingLedger(dataDir, io.clock.now());
    try {
      const report = await ledger.purge(request);
      const exports = stillHolding(request, report, findExports(dataDir));
      if (args.json) io.stdout(`${JSON.stringify(toJson(report, exports))}\n`);
      else io.stderr(describe(report, exports));
      return isNothing(report) && request.kind !== 'before' ? ExitCode.usage : ExitCode.ok;
    } finally {
      await ledger.close();
    }
  },
};

function readRequest({ entity, before }: PurgeArgs): PurgeRequest {
  if ((entity === undefined) === (before === undefined))
    throw new UsageError('purge needs either --entity or --before', '`kybatch purge --help` shows examples.');
  if (before !== undefined) return { kind: 'before', at: readDay(before) };
  const [, prefix, rest] = /^([A-Za-z0-9]+):(.+)$/.exec(entity ?? '') ?? [];
  if (prefix === undefined || rest === undefined) return { kind: 'entity', id: (entity ?? '').trim() };
  if (ID_SPACES.includes(prefix as IdSpace)) return { kind: 'entity', space: prefix as IdSpace, id: rest };
  if (/^[A-Za-z]{2}$/.test(prefix))
    return { kind: 'number', countryCode: prefix.toUpperCase(), registrationNumber: rest };
  throw new UsageError(
    `--entity: ${prefix} is neither an ID space nor a country`,
    `ID spaces: ${ID_SPACES.join(', ')}.`,
  );
}

function readDay(text: string): number {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(at)) throw new UsageError(`--before: ${text} is no date`, 'YYYY-MM-DD, for example 2025-01-01.');
  return at;
}

/** Exports of the runs concerned; for a date, those made before it, too. */
const stillHolding = (request: PurgeRequest, report: PurgeReport, exports: readonly ExportPlace[]) =>
  exports.filter(
    ({ run, at }) => report.runs.includes(run) || (request.kind === 'before' && Date.parse(at) < request.at),
  );

const isNothing = ({ rows, answers, bodies, candidates, decisions }: PurgeReport) =>
  rows + answers + bodies + candidates + decisions === 0;

function describe(report: PurgeReport, exports: readonly ExportPlace[]): string {
  if (isNothing(report)) return 'Nothing was found, and nothing removed.\n';
  const { rows, answers, bodies, candidates, decisions, runs, runsRemoved } = report;
  const lines = [
    `Removed: ${rows} row(s), ${answers} answer(s), ${bodies} raw bodies, ${candidates} candidate(s), ${decisions} decision(s).`,
    ...(runsRemoved.length > 0 ? [`Runs removed: ${runsRemoved.join(', ')}`] : []),
    ...(runs.length > runsRemoved.length ? [`Runs concerned: ${runs.join(', ')}`] : []),
    'It is gone from the database file. Input files and copies of it are not known here.',
    ...(exports.length === 0 ? [] : ['These exports still hold it; delete them, or export again:']),
    ...exports.map(({ folder, run }) => `  ${folder}  (kybatch export ${run})`),
  ];
  return `${lines.join('\n')}\n`;
}

const toJson = (report: PurgeReport, exports: readonly ExportPlace[]) => ({
  runs: report.runs,
  runs_removed: report.runsRemoved,
  removed: {
    rows: report.rows,
    answers: report.answers,
    bodies: report.bodies,
    candidates: report.candidates,
    decisions: report.decisions,
  },
  exports_still_holding: exports.map(({ folder, run, at }) => ({ folder, run, exported_at: at })),
});
