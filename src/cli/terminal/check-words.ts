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

const troubleInWords = (trouble: Trouble, list: CheckedPortfolio | undefined, at: number): string =>
  TROUBLES[trouble.kind](trouble as never, { list, at });

/** Some troubles have one of several kinds. */
type TroubleOf<Kind, One extends Trouble = Trouble> = One extends unknown
  ? Kind extends One['kind']
    ? One
    : never
  : never;

interface About {
  readonly list: CheckedPortfolio | undefined;
  readonly at: number;
}

const rowsToDo = ({ count: rows }: { readonly count: number }): string => `${count(rows, 'row')} to do`;
const ifContinues = ({ continues }: { readonly continues: boolean }, words: string): string =>
  continues ? `, the next run ${words}` : '';

const TROUBLES: { readonly [Kind in Trouble['kind']]: (trouble: TroubleOf<Kind>, about: About) => string } = {
  no_list: () => 'there is no such list',
  no_lists: () => 'there is no list yet: `kybatch run <input>` creates one',
  never: () => 'never finished',
  tables: ({ finishedAt }) => finishedInWords(finishedAt, true),
  too_old(_, { list, at }) {
    const last = list?.lastSuccessAt ?? at;
    if (last > at) return `last finished in the future (${moment(last)})`;
    return `last finished ${durationInWords(at - last)} ago (${moment(last)})`;
  },
  refused: ({ code, at, message: why }) =>
    `the last attempt was refused (${code}, ${moment(at)})${why === null ? '' : `: ${inShort(why)}`}`,
  interrupted: (trouble, { list }) => `${lastWorking(list)} was interrupted with ${rowsToDo(trouble)}`,
  died: (trouble, { list }) =>
    `${lastWorking(list)} was killed, or the disk was full when it ended, with ${rowsToDo(trouble)}`,
  stopped: (trouble, { list }) =>
    `${lastWorking(list)} stopped with ${rowsToDo(trouble)}: ${stopInWords(trouble.stop)}`,
  allowance(trouble, { at }) {
    const until = trouble.until !== null && trouble.until > at ? ` until ${moment(trouble.until)}` : '';
    return `${rowsToDo(trouble)}, the allowance is used up${until}${ifContinues(trouble, 'continues')}`;
  },
  budget: (trouble) => `${rowsToDo(trouble)}, limit reached${ifContinues(trouble, 'continues')}`,
  unit_price: (trouble) => `${rowsToDo(trouble)}, ${priceInWords(trouble.price)}`,
  unanswered: (trouble) => `${rowsToDo(trouble)}, answers were lost${ifContinues(trouble, 'asks again')}`,
  waiting: ({ count: rows }) => `${count(rows, 'row waits', 'rows wait')} for credit reports`,
  outage: ({ outage }) => `${outageInWords(outage)} since ${moment(outage.since)}`,
  failed: ({ count: rows }) => `${count(rows, 'row')} failed`,
  needs_review: ({ count: rows }) => `${count(rows, 'row needs', 'rows need')} review`,
  invalid: ({ count: rows }) => `${count(rows, 'row')} invalid`,
  scope: ({ count: rows }) => `${count(rows, 'row')} on hold, the key lacks a scope or a permission`,
  ask_provider: ({ count: rows }) => `${count(rows, 'row')} to ask the provider about`,
  in_doubt({ toDecide, count: open, paidInVain }) {
    const next = open - toDecide;
    const unknown = listed([
      open > 0 && `${count(open, 'call')} with unknown charge${next === 0 ? ' to decide about' : ''}`,
      next > 0 && toDecide > 0 && `${withCommas(toDecide)} to decide about`,
      next > 0 && `${next < open ? `${withCommas(next)} that` : 'which'} the next run settles or repeats`,
    ]);
    const charged = paidInVain > 0 && `${count(paidInVain, 'call')} charged without an answer to decide about`;
    return listed([unknown, charged], '. ');
  },
  drift({ api, permission, units }) {
    const what = permission === null ? count(units, 'unit') : `${count(units, 'use')} of ${permission}`;
    // Calls with unknown charge may hide more.
    return `${api} counts at least ${what} that ${units === 1 ? 'is' : 'are'} not in the ledger`;
  },
  clock: ({ message: why }) => inShort(why),
  error: ({ code, message: why }) => `${code}: ${inShort(why)}`,
};

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

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
