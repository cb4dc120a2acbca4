import type { GoOnStep } from '../../app/next-step.js';
import { checkNights } from '../../app/night/check.js';
import { status } from '../../app/status.js';
import { UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { readDuration } from '../duration-flag.js';
import { numberFlag } from '../number-flag.js';
import { onlySandboxOption, type ProviderArgs } from '../provider-flags.js';
import { checkInWords, checkToJson } from '../terminal/check-words.js';
import { givenFlags, placeFlags, suggestCommand } from '../terminal/commands.js';
import type { Io } from '../terminal/io.js';
import { statusInWords, statusToJson } from '../terminal/status-words.js';
import { withPlace } from '../terminal/text.js';
import type { Verb } from '../verb.js';

interface StatusArgs extends ProviderArgs {
  readonly run: string | undefined;
  readonly check: boolean;
  readonly maxAge?: string | undefined;
  readonly portfolio: string | undefined;
  readonly maxDrift?: number | undefined;
}

export const statusVerb: Verb<StatusArgs> = {
  command: 'status [run]',
  describe: 'One run: counts, stages, units, speed, and what it waits for; also while it is at work',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest that was begun)' })
      .option('check', {
        type: 'boolean',
        default: false,
        describe: 'For monitors: one line, exit code 0 all is well, 3 it is not',
      })
      .option('max-age', {
        type: 'string',
        requiresArg: true,
        describe: 'With --check: how long ago a start may have come to its end by itself (default: 26h)',
      })
      .option('portfolio', {
        type: 'string',
        requiresArg: true,
        describe: 'With --check: this list alone, by its name or the path of its file',
      })
      .option(
        'max-drift',
        numberFlag('--max-drift', 'With --check: units that others may use of the account in a week (default: 0)'),
      )
      .option('sandbox', { ...onlySandboxOption, describe: 'With --check: only lists of the simulated provider' })
      .example('$0 status', 'the newest run')
      .example('$0 status --check --max-age 26h', 'for a monitor: do the nights go well?')
      .epilogue(
        '--check: well is when every list had a start within --max-age that finished its run or found nothing due, and nothing needs a person: no row is failed, invalid or in question, no call in doubt that a row still waits for, no outage, no damage, and the provider has counted no more than we have in the last week.',
      ),
  async run(args, io) {
    if (args.check) return await check(args, io);
    if (args.maxAge !== undefined || args.portfolio !== undefined || args.maxDrift !== undefined || args.sandbox)
      throw new UsageError(
        '--max-age, --max-drift, --portfolio and --sandbox are for --check',
        'Add --check, or leave them out.',
      );
    const { dataDir, run, json } = args;
    const view = await status({ dataDir, run }, aroundOf(io));
    const suggest = (step: GoOnStep) =>
      suggestCommand(step, { dataDir, sandbox: view.sandbox, ...givenFlags(view.given) });
    const next = view.next === null ? undefined : suggest(view.next);
    const further = view.further.map(suggest);
    if (json) {
      const commands = { ...(next && { next: next.command }), further: further.map(({ command }) => command) };
      io.stdout(`${JSON.stringify({ ...statusToJson(view), ...commands })}\n`);
      return ExitCode.ok;
    }
    const place = placeFlags({ dataDir });
    io.stdout(withPlace(statusInWords(view, place), place));
    for (const { words, command } of [...further, ...(next === undefined ? [] : [next])])
      io.stdout(`${words}: ${command}\n`);
    return ExitCode.ok;
  },
};

async function check(
  { dataDir, run, maxAge, maxDrift, portfolio, sandbox, json }: StatusArgs,
  io: Io,
): Promise<ExitCode> {
  if (run !== undefined) throw new UsageError('--check looks at lists, not at one run', 'Leave the run out.');
  const maxAgeMs = readDuration('--max-age', maxAge ?? DEFAULT_MAX_AGE);
  const view = await checkNights({ dataDir, maxAgeMs, maxDrift, portfolio, sandbox }, aroundOf(io));
  const args = { dataDir };
  io.stdout(json ? `${JSON.stringify(checkToJson(view, args))}\n` : checkInWords(view, args));
  return view.well ? ExitCode.ok : ExitCode.rowsOpen;
}

/** A night, and the hours that it may take longer than the one before. */
const DEFAULT_MAX_AGE = '26h';
