import type { StatusView } from '../../app/status.js';
import { iso } from './iso.js';
import { count, moment } from './text.js';

/** Who works on a run, where several can. */
export const workersInWords = ({ workers }: Pick<StatusView, 'workers'>): readonly string[] =>
  workers.map(
    ({ worker, leads, since, calls, underWay }) =>
      `Worker: ${worker === '' ? 'a process' : worker}${leads ? ' (leads)' : ''} since ${moment(since)}; ${count(calls, 'call')} sent, ${underWay} under way`,
  );

export const workersToJson = ({ workers }: Pick<StatusView, 'workers'>) =>
  workers.map(({ worker, leads, since, leaseUntil, calls, underWay }) => ({
    worker,
    leads,
    since: iso(since),
    lease_until: iso(leaseUntil),
    calls,
    calls_under_way: underWay,
  }));
