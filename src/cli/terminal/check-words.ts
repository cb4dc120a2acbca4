import type { CheckedPortfolio, CheckView, Trouble } from '../../app/monitoring/check.js';
import { type ContinueStep, NEW_LEDGER } from '../../app/run/next-step.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, durationInWords, listed, moment, withCommas } from '../../util/words.js';
import { finishedInWords, outageInWords, stopInWords } from './run-words.js';
import { givenFlags, notInSheet, placeFlags, priceInWords, suggestCommand } from './suggestions.js';
import { shortened, withPlace } from './text.js';
import { shortCommand } from './view.js';

interface CheckArgs {
  readonly dataDir: string | undefined;
  readonly ignore?: string | undefined;
}

export function checkInWords(view: CheckView, args: CheckArgs): Message {
  const text = view.well ? wellInWords(view, args) : withPlace(troublesInWords(view, args), placeFlags(args));
  return message(view.well ? 'CHECK_WELL' : 'CHECK_NOT_WELL', oneLine(text));
}

function wellInWords({ lists, at }: CheckView, { ignore }: CheckArgs): string {
  const rest = ignore === undefined ? 'Nothing needs a person.' : `Not checked: ${ignore}.`;
  const finished = lists.flatMap(({ lastSuccessAt }) => lastSuccessAt ?? []);
  const all = lists.length === 1 ? (lists[0]?.name ?? '') : count(lists.length, 'list');
  if (finished.length === 0) return `OK ${all}: the first run is running. ${rest}`;
  const oldest = Math.min(...finished);
  const which = lists.length === 1 ? all : `${all}, the oldest`;
  const toDo = lists.reduce((sum, list) => sum + list.toDo, 0);
  const left = lists.reduce((sum, list) => sum + list.left, 0);
  const more = listed([toDo > 0 && `${count(toDo, 'row')} to do at the next run`, leftInWords(left)]);
  return `OK ${which}: last finished ${durationInWords(Math.max(0, at - oldest))} ago (${moment(oldest)})${more === '' ? '' : `, ${more}`}. ${rest}`;
}

function troublesInWords(view: CheckView, args: CheckArgs): string {
  const { lists, at } = view;
  const first = firstToLead(view);
  // The list that the command is about is the first.
  const ofLists = lists
    .filter(({ troubles }) => troubles.length > 0)
    .toSorted((a, b) => Number(b.name === first?.name) - Number(a.name === first?.name))
    .map((list) => `${list.name}: ${troublesOf(list, at).join(', ')}`);
  const isUnread = lists.length === 0 && view.troubles.some(({ kind }) => kind === 'error');
  const command = wayOn(view, args);
  const { next = null, afterDoctor = null } = first ?? {};
  // The command at the end follows what it is about. Every other trouble outside the lists names its own.
  const told = view.troubles.map((trouble) => {
    const words = troubleInWords(trouble, undefined, at);
    const own = COMMANDS[trouble.kind];
    const isLead = own !== undefined && command?.startsWith(own) === true;
    return { isLead, words: own === undefined || isLead ? words : `${words} (\`${own}\`)` };
  });
  const besides = (isLead: boolean) => told.flatMap((one) => (one.isLead === isLead ? one.words : []));
  const { asks = null, answered = 0 } = (next?.kind === 'review' ? next.sheets : undefined) ?? {};
  const others = next?.kind === 'review' ? notInSheet(next, args) : '';
  const [correct] = (first?.troubles ?? []).flatMap((trouble) =>
    trouble.kind !== 'refused' || trouble.exit !== ExitCode.usage
      ? []
      : trouble.code === NEW_LEDGER
        ? 'Restore the newest copy. If it is lost, see the cost'
        : next?.kind !== 'run'
          ? []
          : trouble.code === 'PIPELINE_NOT_FOUND'
            ? 'Correct --pipeline in your command, such as'
            : 'When the file is in order, run',
  );
  const before = correct ?? (asks !== null && answered === 0 ? `Fill in ${asks}, then` : 'Run');
  const remedy = remedyOf(first, args);
  const outside = besides(false);
  const text = [
    ...(first === undefined ? [...outside, ...ofLists] : [...ofLists, ...outside]),
    ...besides(true),
    ...(isUnread ? ['No list was checked'] : []),
  ]
    .join('. ')
    .replace(/\.$/, '');
  // When the cause is gone, only the next run ends the trouble.
  const after =
    first === undefined || afterDoctor === null ? '' : `, then: ${shortCommand(commandOf(afterDoctor, first, args))}`;
  if (command === undefined) return `ATTENTION ${text}.`;
  const shown = shortCommand(command);
  if (remedy !== '')
    return `ATTENTION ${text}. Check the address: ${shown}. If it is a typo, correct it. If it is right: ${remedy}${after}`;
  return `ATTENTION ${text}. ${before}: ${shown}${others}${after}`;
}

/** The commands that end a refusal for another base URL. Without them, the same command would be refused again. */
const remedyOf = (list: CheckedPortfolio | undefined, args: CheckArgs): string =>
  (list?.troubles ?? [])
    .flatMap((trouble) => (trouble.kind === 'refused' ? (trouble.message ?? '') : ''))
    .flatMap((text) =>
      [...text.matchAll(/`(kybatch ledger [^`]+)`/g)].map(([, command]) => `${command}${placeFlags(args)}`),
    )
    .join(' && ');

const troublesOf = (list: CheckedPortfolio, at: number): readonly string[] =>
  [...list.troubles.map((trouble) => troubleInWords(trouble, list, at)), leftInWords(list.left) || []].flat();

const leftInWords = (left: number): string | false =>
  left > 0 && `${count(left, 'company has', 'companies have')} left the file`;

export function checkJson(view: CheckView, args: CheckArgs) {
  const troubleJson = (trouble: Trouble, list?: CheckedPortfolio) => ({
    kind: trouble.kind,
    count: 'count' in trouble ? trouble.count : undefined,
    ...(trouble.kind === 'in_doubt' ? pick(trouble, 'toDecide', 'paidInVain') : {}),
    code: 'code' in trouble ? trouble.code : undefined,
    message: withPlace(withDetail(troubleInWords(trouble, list, view.at), trouble), placeFlags(args)),
  });
  return {
    ...pick(view, 'well', 'at'),
    portfolios: view.lists.map((list) => ({
      portfolio: list.name,
      lastSuccessAt: list.lastSuccessAt,
      toDo: list.toDo || undefined,
      left: list.left || undefined,
      troubles: list.troubles.map((trouble) => troubleJson(trouble, list)),
    })),
    troubles: view.troubles.map((trouble) => troubleJson(trouble)),
    next: wayOn(view, args),
  };
}

/** The next command. Undefined: waiting is right. */
function wayOn(view: CheckView, args: CheckArgs): string | undefined {
  if (view.well) return undefined;
  const first = firstToLead(view);
  if (first !== undefined) return commandOf(first.next, first, args);
  const lead = leadingKind(view);
  if (lead === 'no_lists') return undefined;
  return `${(lead === undefined ? undefined : COMMANDS[lead]) ?? 'kybatch status'}${placeFlags(args)}`;
}

/** Troubles outside the lists and their commands, the most important first. */
const COMMANDS: Readonly<Partial<Record<Trouble['kind'], string | undefined>>> = {
  error: 'kybatch doctor',
  in_doubt: 'kybatch charges',
  no_lists: undefined,
  no_list: 'kybatch portfolios',
  drift: 'kybatch usage',
  clock: 'kybatch doctor',
};

const leadingKind = ({ troubles }: CheckView): Trouble['kind'] | undefined =>
  (Object.keys(COMMANDS) as Trouble['kind'][]).find((kind) => troubles.some((trouble) => trouble.kind === kind));

const commandOf = (step: ContinueStep, { sandbox, given }: CheckedPortfolio, args: CheckArgs): string =>
  suggestCommand(step, { ...args, sandbox, ...givenFlags(given) }).command;

/** The first list with a next step. None before an error of the ledger or its place is corrected. */
const firstToLead = ({ lists, troubles }: CheckView) =>
  troubles.some(({ kind }) => kind === 'error')
    ? undefined
    : lists.flatMap((list) => (list.next === null ? [] : { ...list, next: list.next }))[0];

function troubleInWords(trouble: Trouble, list: CheckedPortfolio | undefined, at: number): string {
  switch (trouble.kind) {
    case 'no_list':
      return 'there is no such list';
    case 'no_lists':
      return 'there is no list yet: `kybatch run <input>` creates one';
    case 'never':
      return 'never finished';
    case 'tables':
      return finishedInWords(trouble.finishedAt, true);
    case 'too_old': {
      const last = list?.lastSuccessAt ?? at;
      if (last > at) return `last finished in the future (${moment(last)})`;
      return `last finished ${durationInWords(at - last)} ago (${moment(last)})`;
    }
    case 'refused':
      return `the last attempt was refused (${trouble.code}, ${moment(trouble.at)})${trouble.message === null ? '' : `: ${inShort(trouble.message)}`}`;
    case 'interrupted':
      return `${lastWorking(list)} was interrupted with ${count(trouble.count, 'row')} to do`;
    case 'died':
      return `${lastWorking(list)} was killed, or the disk was full when it ended, with ${count(trouble.count, 'row')} to do`;
    case 'stopped':
      return `${lastWorking(list)} stopped with ${count(trouble.count, 'row')} to do: ${stopInWords(trouble.stop)}`;
    case 'allowance': {
      const { until } = trouble;
      return `${count(trouble.count, 'row')} to do, the allowance is used up${until !== null && until > at ? ` until ${moment(until)}` : ''}${trouble.continues ? ', the next run continues' : ''}`;
    }
    case 'budget':
      return `${count(trouble.count, 'row')} to do, limit reached${trouble.continues ? ', the next run continues' : ''}`;
    case 'unit_price':
      return `${count(trouble.count, 'row')} to do, ${priceInWords(trouble.price)}`;
    case 'unanswered':
      return `${count(trouble.count, 'row')} to do, answers were lost${trouble.continues ? ', the next run asks again' : ''}`;
    case 'waiting':
      return `${waiting(trouble.count)} for credit reports`;
    case 'outage':
      return `${outageInWords(trouble.outage)} since ${moment(trouble.outage.since)}`;
    case 'failed':
      return `${count(trouble.count, 'row')} failed`;
    case 'needs_review':
      return `${count(trouble.count, 'row needs', 'rows need')} review`;
    case 'invalid':
      return `${count(trouble.count, 'row')} invalid`;
    case 'scope':
      return `${count(trouble.count, 'row')} on hold, the key lacks a scope or a permission`;
    case 'ask_provider':
      return `${count(trouble.count, 'row')} to ask the provider about`;
    case 'in_doubt': {
      const { toDecide, count: open, paidInVain } = trouble;
      const next = open - toDecide;
      const isAll = next === 0;
      const unknown = listed([
        open > 0 && `${count(open, 'call')} with unknown charge${isAll ? ' to decide about' : ''}`,
        !isAll && toDecide > 0 && `${withCommas(toDecide)} to decide about`,
        next > 0 && `${next < open ? `${withCommas(next)} that` : 'which'} the next run settles or repeats`,
      ]);
      const charged = paidInVain > 0 && `${count(paidInVain, 'call')} charged without an answer to decide about`;
      return [unknown, charged].filter(Boolean).join('. ');
    }
    case 'drift': {
      const { api, permission, units } = trouble;
      const what = permission === null ? count(units, 'unit') : `${count(units, 'use')} of ${permission}`;
      // Calls with unknown charge may hide more.
      return `${api} counts at least ${what} that ${units === 1 ? 'is' : 'are'} not in the ledger`;
    }
    case 'clock':
      return inShort(trouble.message);
    case 'error':
      return `${trouble.code}: ${inShort(trouble.message)}`;
  }
}

/** A refused attempt did not work on any row. */
const lastWorking = (list: CheckedPortfolio | undefined): string =>
  list?.troubles.some(({ kind }) => kind === 'refused') ? 'the attempt before it' : 'the last attempt';

/** The first sentence of a message, because a monitor shows one line. `--json` has the rest. */
const inShort = (text: string): string => shortened(/^.+?(?=\. |\.?$)/s.exec(text)?.[0] ?? text, LONGEST);

const LONGEST = 400;

/** With what `inShort` left out. */
function withDetail(words: string, trouble: Trouble): string {
  const whole = trouble.kind === 'stopped' ? trouble.stop.message : 'message' in trouble ? trouble.message : null;
  if (whole === null || words.includes(whole.replace(/\.$/, ''))) return words;
  const short = inShort(whole);
  return whole.startsWith(short) && words.endsWith(short) ? words + whole.slice(short.length) : `${words}. ${whole}`;
}

const waiting = (rows: number): string => count(rows, 'row waits', 'rows wait');

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
