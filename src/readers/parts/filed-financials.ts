import type { ExactJson } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import { type Cell, column } from '../table.js';
import { filedFinancialsTable } from '../tables/filed-financials.js';
import type { BodyPath, JsonObject } from './body-path.js';
import { eachItem, emptyOf, type ListOf, noted, oddOf } from './lists.js';
import { extraOf, type Members, readFields } from './read-fields.js';
import { readValue } from './value.js';

const groupFields = [column('id', 'id', ''), column('name', 'text', ''), column('order', 'integer', '')] as const;
const metricFields = [column('name', 'text', '')] as const;

export interface FiledFinancials {
  /** How many periods came; null if none were named. */
  readonly periods: number | null;
  /** Their list as it was sent, in its order. */
  readonly years: Cell;
  /** Whether the values came, be it none. */
  readonly hasGroups: boolean;
  /** Metrics and groups without a value, and lists of them that came empty, as they were sent: they have no line, for a line is a value. */
  readonly rest: Members;
}

interface Group {
  readonly cells: { readonly [Name in (typeof groupFields)[number]['name']]: Cell };
  readonly rest: Members;
  readonly position: string;
}

/** Filed statements, in the order they were sent. */
export function readFiledFinancials(object: JsonObject, of: ListOf, path: BodyPath): FiledFinancials {
  const valueless: ExactJson[] = [];
  const groups = eachItem(object.groups, { offset: 0 }, path.at('groups'), (item, position, at) => {
    const { cells, rest } = readFields(item, groupFields, at, ['list']);
    const left: ExactJson[] = [];
    let metrics = 0;
    const list = eachItem(item.list, { offset: 0 }, at.at('list'), (metric, metricPosition, metricAt) => {
      const periods = readMetric(metric, { cells, rest, position }, metricPosition, of, metricAt);
      if (periods.length === 0) left.push(metric);
      else metrics += 1;
    });
    for (const item of list.odd) left.push(item);
    if (metrics === 0) valueless.push(item);
    else if (left.length > 0) valueless.push({ ...item, list: left });
  });
  noted(groups, filedFinancialsTable, path);
  const years = path.at('years').list(object.years);
  return {
    periods: years?.length ?? null,
    years: years === undefined ? null : stringifyExact(years),
    hasGroups: groups.count !== null,
    rest: [
      ...(years === undefined && object.years !== undefined ? [['years', object.years] as const] : []),
      ...emptyOf('groups', object.groups),
      ...oddOf('groups', [...valueless, ...groups.odd]),
    ],
  };
}

/** One line for each value. Returns the periods. */
function readMetric(metric: JsonObject, group: Group, position: string, of: ListOf, path: BodyPath): readonly string[] {
  const { cells, rest } = readFields(metric, metricFields, path, ['list', 'progress']);
  const values = path.at('list').object(metric.list) ?? {};
  const periods: string[] = [];
  for (const period of Object.keys(values).sort()) {
    const read = readValue(values[period] as ExactJson, () => path.at('list').at(period));
    if (read === undefined) continue;
    periods.push(period);
    path.out.add(filedFinancialsTable, {
      v1_company_id: of.v1,
      group_id: group.cells.id,
      group_name: group.cells.name,
      group_order: group.cells.order,
      metric: cells.name,
      period,
      ...read,
      v2_company_id: of.v2,
      operation: path.origin.operation,
      group_position: group.position,
      metric_position: position,
      progress: metric.progress === undefined ? null : stringifyExact(metric.progress),
      raw_sha256: path.origin.rawSha256,
      extra: extraOf([...group.rest, ...rest]),
    });
  }
  return periods;
}
