import type { WatchListView } from '../../app/watch-list.js';
import type { WatchListenView } from '../../app/watch-listen.js';
import type { WatchPullView } from '../../app/watch-pull.js';
import type { WatchSyncView } from '../../app/watch-sync.js';
import { outsideText } from '../../util/outside-text.js';
import { iso } from './iso.js';
import { moment, textTable, withCommas } from './text.js';

/** What both talks end with. */
export type Talk = Pick<WatchSyncView, 'stopped' | 'interrupted' | 'left' | 'troubles'>;

/** Few are named: they are in the JSON. */
const NAMED_AT_MOST = 5;

export function syncedInWords(view: WatchSyncView): string {
  const { added, removed, changed, watched, members, without } = view;
  return [
    `${companies(added)} added, ${withCommas(removed)} removed, ${withCommas(changed)} with other fields; ${withCommas(watched)} watched now.\n`,
    without === 0
      ? ''
      : `${withCommas(without)} of ${withCommas(members)} members ${without === 1 ? 'has' : 'have'} no confirmed v2 company, and cannot be watched: a stage that asks v2 finds it.\n`,
    endInWords(view, 'to be added or removed'),
  ].join('');
}

export function pulledInWords(view: WatchPullView): string {
  const { read, events, due, cutShort, unknownHints } = view;
  return [
    `The histories of ${companies(read)} were read: ${withCommas(events)} new ${events === 1 ? 'event' : 'events'}; ${withCommas(due)} ${due === 1 ? 'member is' : 'members are'} due for it.\n`,
    cutShort === 0 ? '' : `${companies(cutShort)} had more pages of history than are read.\n`,
    unknownHints === 0 ? '' : `Callbacks named ${companies(unknownHints)} that nobody watches.\n`,
    endInWords(view, 'not asked about'),
  ].join('');
}

function endInWords({ stopped, interrupted, left, troubles }: Talk, what: string): string {
  return [
    ...troubles
      .slice(0, NAMED_AT_MOST)
      .map(({ companyId, message }) => `${companyId === '' ? 'The watch list' : `Company ${companyId}`}: ${message}\n`),
    troubles.length > NAMED_AT_MOST ? `and ${withCommas(troubles.length - NAMED_AT_MOST)} more like these.\n` : '',
    stopped === null ? '' : `Stopped: ${outsideText(stopped.message)}. ${stopped.hint ?? ''}\n`,
    interrupted ? 'Interrupted. ' : '',
    left === 0 ? '' : `${companies(left)} ${left === 1 ? 'is' : 'are'} still ${what}; the same command goes on.\n`,
  ].join('');
}

const companies = (number: number): string => `${withCommas(number)} ${number === 1 ? 'company' : 'companies'}`;

const endToJson = ({ stopped, interrupted, left, troubles }: Talk) => ({
  left,
  interrupted,
  stopped: stopped === null ? null : { code: stopped.code, message: stopped.message },
  troubles: troubles.map(({ companyId, message }) => ({ v2_company_id: companyId || null, message })),
});

export const syncedToJson = (view: WatchSyncView) => ({
  portfolios: view.portfolios,
  fields: view.fields,
  added: view.added,
  removed: view.removed,
  changed: view.changed,
  watched: view.watched,
  members: view.members,
  members_without_v2_company: view.without,
  ...endToJson(view),
});

export const pulledToJson = (view: WatchPullView) => ({
  companies_read: view.read,
  events: view.events,
  members_due: view.due,
  histories_cut_short: view.cutShort,
  unknown_hints: view.unknownHints,
  ...endToJson(view),
});

/** `place`: where the ledger is, as flags. */
export function listenedInWords({ taken, refused }: WatchListenView, place: string): string {
  const why = Object.entries(refused).flatMap(([reason, times]) =>
    times === 0 ? [] : [`${withCommas(times)} ${reason.replaceAll('_', ' ')}`],
  );
  const heard = `${withCommas(taken)} ${taken === 1 ? 'callback' : 'callbacks'} taken in`;
  return `${heard}; refused: ${why.length === 0 ? 'none' : why.join(', ')}. \`kybatch watch pull --hinted${place}\` looks into them.\n`;
}

export function listedInWords({ watches, events, waiting }: WatchListView, place: string): string {
  const listed = watches.map((watch) => [
    watch.companyId,
    watch.registeredAt === null ? 'not answered' : moment(watch.registeredAt),
    watch.readAt === null ? 'never' : moment(watch.readAt),
    watch.events,
    watch.fields?.join(' ') ?? "the account's",
    watch.ours ? '' : 'not ours',
  ]);
  const heard = events.map((event) => [
    moment(event.heardAt),
    event.companyId,
    outsideText(event.eventType ?? '', 60),
    outsideText(event.message ?? '', 120),
  ]);
  return [
    textTable(['v2 company', 'watched since', 'read', 'events', 'fields', ''], listed),
    heard.length === 0 ? '' : `\n${textTable(['heard', 'v2 company', 'event', 'message'], heard)}`,
    waiting === 0
      ? ''
      : `\nCallbacks have named ${companies(waiting)} since: \`kybatch watch pull --hinted${place}\`.\n`,
  ].join('');
}

export const listedToJson = ({ watches, events, waiting }: WatchListView) => ({
  watches: watches.map((watch) => ({
    provider: watch.environment,
    v2_company_id: watch.companyId,
    fields: watch.fields,
    ours: watch.ours,
    registered_at: iso(watch.registeredAt),
    read_at: iso(watch.readAt),
    events: watch.events,
  })),
  events: events.map((event) => ({
    v2_company_id: event.companyId,
    event_type: event.eventType,
    status: event.status,
    message: event.message,
    date_created: event.dateCreated,
    heard_at: iso(event.heardAt),
    run: event.runId,
    raw_sha256: event.rawSha256,
  })),
  hints_waiting: waiting,
});
