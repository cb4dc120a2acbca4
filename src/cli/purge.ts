import { loadDataDir } from '../config/environment.js';
import { UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { type ExportPlace, findExports } from '../export/places.js';
import type { PurgeReport, PurgeRequest } from '../ledger/purge.js';
import { openExistingLedger } from '../ledger/sqlite/ledger.js';
import type { Io } from './io.js';
import { readRequest } from './purge-request.js';
import { countsInWords, isNothing, reportInWords, toJson } from './purge-words.js';
import { placeFlags } from './spending.js';
import type { CommonArgs, Verb } from './verb.js';

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
        describe: 'An ID as exported, of any ID space; v1:ID, v2:ID, source:ID, report:ID; or COUNTRY:NUMBER',
      })
      .option('before', { type: 'string', requiresArg: true, describe: 'YYYY-MM-DD (UTC): everything older' })
      .option('yes', { type: 'boolean', default: false, describe: 'Remove without asking' })
      .example('$0 purge --entity v1:10843262', 'one company, whichever runs it is in')
      .example('$0 purge --entity GB:00045590', 'the same by its number, and every row that gave this number')
      .example('$0 purge --before 2025-01-01 --yes', 'runs and answers from before that day, unattended')
      .epilogue(
        'It says what would go and asks; without a terminal it needs --yes. Rows stay in their runs without what they said, so that runs still add up; calls stay without their bodies. Afterwards the database file is searched for the IDs and numbers that went, and what still names them is listed with the command that removes it. Input files and exports are yours: purge names the exports that still hold what was removed. Exit code: 0 removed, 2 usage or nothing is known by that name, 75 in use, 130 not agreed to.',
      ),
  async run(args, io) {
    const request = readRequest(args.entity, args.before, io.clock.now());
    const dataDir = loadDataDir(io, args);
    const ledger = openExistingLedger(dataDir, io.clock.now());
    try {
      const preview = await ledger.previewPurge(request);
      const nothing = isNothing(preview);
      if (!nothing && !(await agreed(preview, args, io))) return ExitCode.interrupted;
      const report = nothing ? preview : await ledger.purge(request);
      const proof = request.kind === 'before' ? undefined : await ledger.searchEverywhere(report.identifiers);
      const exports = stillHolding(request, report, findExports(dataDir));
      if (args.json) io.stdout(`${JSON.stringify(toJson(report, proof, exports))}\n`);
      else io.stderr(reportInWords(report, proof, exports, `kybatch purge${placeFlags(args)} --entity`));
      return nothing && request.kind !== 'before' ? ExitCode.usage : ExitCode.ok;
    } finally {
      await ledger.close();
    }
  },
};

/** What is removed cannot be had back: nobody is taken by surprise. */
async function agreed(preview: PurgeReport, { yes }: PurgeArgs, io: Io): Promise<boolean> {
  if (yes) return true;
  const counts = countsInWords(preview);
  if (io.ask === undefined)
    throw new UsageError(
      `purge would remove ${counts} for good, and there is no terminal to ask on`,
      'Nothing was removed. Add --yes to remove it.',
    );
  const answer = await io.ask(`Remove ${counts} for good? [y/N] `);
  if (/^\s*y(?:es)?\s*$/i.test(answer ?? '')) return true;
  io.stderr('Nothing was removed.\n');
  return false;
}

/** Exports of the runs concerned; for a date, those made before it, too. */
const stillHolding = (request: PurgeRequest, report: PurgeReport, exports: readonly ExportPlace[]) =>
  exports.filter(
    ({ run, at }) => report.runs.includes(run) || (request.kind === 'before' && Date.parse(at) < request.at),
  );
