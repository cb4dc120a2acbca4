import type { PermissionUse } from '../../domain/permission-use.js';
import { outsideText } from '../../util/outside-text.js';
import type { BodyOf } from '../operation.js';
import { readable } from '../schema.js';
import { beside, countOf } from './counts.js';
import { metric, type metrics, permission } from './operations/metrics.js';

/** The counts of `/metrics`, one after the other. An account has some dozens; more than this is no account. */
export const permissionUseOf = (answer: BodyOf<(typeof metrics)['metrics']>): readonly PermissionUse[] =>
  readable(answer, permission)
    .flatMap(({ codename, name, metrics: counts }) =>
      readable(counts ?? [], metric).map((count) => {
        const of = named(codename, name);
        return {
          permission: of,
          metric: named(count.codename, count.name, of),
          name: named(count.name, name, of),
          used: countOf(count.used),
          total: countOf(count.total),
          extra: beside(count, ['name', 'codename'], ['used', 'total']),
        };
      }),
    )
    .slice(0, COUNTS_AT_MOST);

const COUNTS_AT_MOST = 1_000;

const named = (...names: readonly (string | null | undefined)[]): string =>
  outsideText(names.find((name) => name != null && name !== '') ?? 'unnamed', 200);
