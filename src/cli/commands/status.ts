import type { CheckedPortfolio, CheckView, Trouble } from '../../app/monitoring/check.js';
import type { ContinueStep } from '../../app/run/next-step.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import { type Message, mapTexts, message } from '../../util/message-parts.js';
import { numberFlag, onlySandboxOption, type ProviderArgs, readDuration, type Verb } from '../command.js';
import { appEnvironment, type Io, printResult } from '../terminal/io.js';
import { givenFlags, notInSheet, placeFlags, suggestCommand, suggestionInWords } from '../terminal/suggestions.js';
import { count, durationInWords, moment, withPlace } from '../terminal/text.js';
import { pick } from '../terminal/view.js';
import { statusInWords, statusJson } from './runs.js';

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
        'FLAG_WITHOUT_CHECK',
        '--max-age, --max-drift, --portfolio and --sandbox are for --check',
        'Add --check, or leave them out.',
      );
    const { dataDir, run, json } = args;
    const { status } = await import('../../app/run/status.js');
    const view = await status({ dataDir, run }, appEnvironment(io));
    const suggest = (step: ContinueStep) =>
      suggestCommand(step, { dataDir, sandbox: view.sandbox, ...givenFlags(view.given) });
    const next = view.next === null ? undefined : suggest(view.next);
    const further = view.further.map(suggest);
    const place = placeFlags({ dataDir });
    const commands = { ...(next && { next: next.command }), further: further.map(({ command }) => command) };
    printResult(
      io,
      { json },
      () => ({ ...statusJson(view), ...commands }),
      () => [
        ...mapTexts(statusInWords(view, place), (text) => withPlace(text, place)),
        ...further.map(suggestionInWords),
        ...(next === undefined ? [] : [suggestionInWords(next)]),
      ],
    );
    return ExitCode.ok;
  },
};

async function check(
  { dataDir, run, maxAge, maxDrift, portfolio, sandbox, json }: StatusArgs,
  io: Io,
): Promise<ExitCode> {
  if (run !== undefined)
    throw new UsageError('CHECK_OF_ONE_RUN', '--check looks at lists, not at one run', 'Leave the run out.');
  const maxAgeMs = readDuration('--max-age', maxAge ?? DEFAULT_MAX_AGE);
  const { checkPortfolios } = await import('../../app/monitoring/check.js');
  const view = await checkPortfolios({ dataDir, maxAgeMs, maxDrift, portfolio, sandbox }, appEnvironment(io));
  const args = { dataDir };
  printResult(
    io,
    { json },
    () => checkJson(view, args),
    () => checkInWords(view, args),
  );
  return view.well ? ExitCode.ok : ExitCode.rowsOpen;
}

/** A night, and the hours that it may take longer than the one before. */
const DEFAULT_MAX_AGE = '26h';

interface CheckArgs {
  readonly dataDir: string | undefined;
}

/** One line for a monitor: all is well, or the troubles and the next command. */
function checkInWords(view: CheckView, args: CheckArgs): Message {
  const text = view.well ? wellInWords(view) : withPlace(troublesInWords(view, args), placeFlags(args));
  return message(view.well ? 'CHECK_WELL' : 'CHECK_NOT_WELL', oneLine(text));
}

function wellInWords({ lists, at }: CheckView): string {
  const oldest = Math.min(...lists.map(({ lastSuccessAt }) => lastSuccessAt ?? at));
  const which = lists.length === 1 ? (lists[0]?.name ?? '') : `${count(lists.length, 'list')}, the oldest`;
  return `OK: ${which}: up to date ${durationInWords(Math.max(0, at - oldest))} ago (${moment(oldest)}); nothing needs a person`;
}

function troublesInWords(view: CheckView, args: CheckArgs): string {
  const { lists, at } = view;
  const ofLists = lists
    .filter(({ troubles }) => troubles.length > 0)
    .map((list) => `${list.name}: ${list.troubles.map((trouble) => troubleInWords(trouble, list, at)).join(', ')}`);
  const beside = view.troubles.map((trouble) => troubleInWords(trouble, undefined, at));
  const command = wayOn(view, args);
  const { next = null } = firstToLead(view) ?? {};
  const others = next?.kind === 'review' ? notInSheet(next, args) : '';
  const text = [...ofLists, ...beside].join('; ').replace(/\.$/, '');
  return `NOT WELL: ${text}${command === undefined ? '' : `. ${command}${others}`}`;
}

function checkJson(view: CheckView, args: CheckArgs) {
  const troubleJson = (trouble: Trouble, list?: CheckedPortfolio) => ({
    kind: trouble.kind,
    count: 'count' in trouble ? trouble.count : undefined,
    code: 'code' in trouble ? trouble.code : undefined,
    message: withPlace(troubleInWords(trouble, list, view.at), placeFlags(args)),
  });
  return {
    ...pick(view, 'well', 'at'),
    portfolios: view.lists.map((list) => ({
      portfolio: list.name,
      lastSuccessAt: list.lastSuccessAt,
      troubles: list.troubles.map((trouble) => troubleJson(trouble, list)),
    })),
    troubles: view.troubles.map((trouble) => troubleJson(trouble)),
    next: wayOn(view, args),
  };
}

/** The next command. Undefined: waiting is right. */
function wayOn(view: CheckView, args: CheckArgs): string | undefined {
  const { well, troubles } = view;
  if (well) return undefined;
  const first = firstToLead(view);
  if (first !== undefined)
    return suggestCommand(first.next, { ...args, sandbox: first.sandbox, ...givenFlags(first.given) }).command;
  const kinds = troubles.map(({ kind }) => kind);
  if (kinds.includes('in_doubt')) return `kybatch doubt${placeFlags(args)}`;
  if (kinds.includes('no_lists')) return undefined;
  if (kinds.includes('no_list')) return `kybatch portfolios${placeFlags(args)}`;
  if (kinds.includes('drift')) return `kybatch usage${placeFlags(args)}`;
  if (kinds.includes('error') || kinds.includes('clock')) return `kybatch doctor${placeFlags(args)}`;
  // The message of a refusal says what to do.
  const told = view.lists.some((list) => list.troubles.some((one) => one.kind === 'refused' && one.message !== null));
  return told ? undefined : `kybatch status${placeFlags(args)}`;
}

/** The first list with a next step. */
const firstToLead = ({ lists }: CheckView) =>
  lists.flatMap(({ next, sandbox, given }) => (next === null ? [] : { next, sandbox, given }))[0];

function troubleInWords(trouble: Trouble, list: CheckedPortfolio | undefined, at: number): string {
  switch (trouble.kind) {
    case 'no_list':
      return 'there is no such list';
    case 'no_lists':
      return 'there is no list yet: `kybatch run <input>` makes one';
    case 'never':
      return 'no start has come to its end by itself';
    case 'too_old': {
      const last = list?.lastSuccessAt ?? at;
      if (last > at) return `last came to its end by itself at a time that has not come (${moment(last)})`;
      return `last came to its end by itself ${durationInWords(at - last)} ago (${moment(last)})`;
    }
    case 'refused':
      return `the last start was refused (${trouble.code}, ${moment(trouble.at)})${trouble.message === null ? '' : `: ${trouble.message}`}`;
    case 'interrupted':
      return 'the last start was interrupted before it was done';
    case 'died':
      return 'the last start has died before it was done';
    case 'stopped':
      return `the last start was stopped: ${trouble.stop.code}: ${trouble.stop.message} (${count(trouble.count, 'row')} left)`;
    case 'allowance': {
      const { until } = trouble;
      return `${waiting(trouble.count)} for the allowance, which is spent${until !== null && until > at ? ` (more at ${moment(until)})` : ''}: the next start goes on`;
    }
    case 'budget':
      return `${waiting(trouble.count)} for the next start: the limit of the last one does not reach for the next call`;
    case 'unanswered':
      return `${waiting(trouble.count)} for the next start: answers were lost or could not be read`;
    case 'waiting':
      return `${waiting(trouble.count)} for credit reports`;
    case 'outage': {
      const { api, operation, since } = trouble.outage;
      return `waits for ${api} ${operation}, which is down since ${moment(since)}`;
    }
    case 'failed':
      return `${count(trouble.count, 'row')} failed`;
    case 'needs_review':
      return `${count(trouble.count, 'row')} in question`;
    case 'invalid':
      return `${count(trouble.count, 'row')} invalid`;
    case 'scope':
      return `${count(trouble.count, 'row')} refused for want of a scope or a permission`;
    case 'ask_provider':
      return `${count(trouble.count, 'row')} to ask the provider about`;
    case 'in_doubt':
      return `${count(trouble.count, 'call')} in doubt`;
    case 'drift': {
      const { api, permission, units } = trouble;
      const what = permission === null ? count(units, 'unit') : `${count(units, 'use')} of ${permission}`;
      return `${api} counts ${what} more than this ledger does`;
    }
    case 'clock':
      return trouble.message;
    case 'error':
      return `${trouble.code}: ${trouble.message}`;
  }
}

const waiting = (rows: number): string => count(rows, 'row waits', 'rows wait');

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
