import type { PermissionUse } from '../../domain/permission-use.js';
import { outsideText } from '../../util/outside-text.js';
import type { BodyOf } from '../operation.js';
import { readable } from '../schema.js';
import { asExtra, countOf, unread } from './counts.js';
import { metric, type metrics, permission } from './operations/metrics.js';

/** The counts of `/metrics`, one after the other. An account has some dozens; more than this is no account. */
export const permissionUseOf = (answer: BodyOf<(typeof metrics)['metrics']>): readonly PermissionUse[] =>
  readable(answer, permission)
    .flatMap((entry) => {
      const { codename, name, metrics: counts } = entry;
      const of = named(codename, name);
      const more = unread(entry, ['name', 'codename', 'metrics']);
      const permissionName = name == null || name === '' ? null : named(name);
      const read = readable(counts ?? [], metric);
      // One without a count is a permission all the same.
      if (read.length === 0) {
        const extra = asExtra({ ...more, ...(counts == null ? {} : { metrics: counts }) });
        return [{ permission: of, permissionName, metric: '', name: named(name, of), used: null, total: null, extra }];
      }
      return read.map((count) => {
        const others = unread(count, ['name', 'codename'], ['used', 'total']);
        return {
          permission: of,
          permissionName,
          metric: named(count.codename, count.name, of),
          name: named(count.name, name, of),
          used: countOf(count.used),
          total: countOf(count.total),
          extra: asExtra(Object.keys(more).length === 0 ? others : { ...others, permission: more }),
        };
      });
    })
    .slice(0, COUNTS_AT_MOST);

const COUNTS_AT_MOST = 1_000;

const named = (...names: readonly (string | null | undefined)[]): string =>
  outsideText(names.find((name) => name != null && name !== '') ?? 'unnamed', 200);
