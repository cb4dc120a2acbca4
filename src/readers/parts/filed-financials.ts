import { type ExactJson, ExactNumber, type JsonObject, stringifyExact } from '../../util/exact-json.js';
import {
  type Cell,
  column,
  operationColumn,
  rawSha256,
  table,
  v1CompanyId,
  v2CompanyId,
  valueColumn,
  valueType,
} from '../table.js';
import { hasYear } from './glance.js';
import { eachItem, emptyOf, type ListOf, unreadItems } from './lists.js';
import type { BodyPath } from './open-answer.js';
import { extraOf, type Members, readFields, readValue } from './read-fields.js';

const groupFields = [column('id', 'id', ''), column('name', 'text', ''), column('order', 'integer', '')] as const;
const metricFields = [column('name', 'text', '')] as const;

export interface FiledFinancials {
  /** Number of periods. Null if none were named. */
  readonly periods: number | null;
  readonly years: Cell;
  /** Whether the values came, even if there are none. */
  readonly hasGroups: boolean;
  /** Metrics, groups and lists without a value, as they were sent. They have no row, because a row is a value. */
  readonly rest: Members;
}

interface Group {
  /** The periods of the statement, in the order sent. */
  readonly years: readonly ExactJson[];
  readonly cells: { readonly [Name in (typeof groupFields)[number]['name']]: Cell };
  readonly rest: Members;
  readonly position: string;
}

export function readFiledFinancials(object: JsonObject, of: ListOf, path: BodyPath): FiledFinancials {
  const valueless: ExactJson[] = [];
  const years = path.at('years').list(object.years);
  const use = (item: JsonObject, position: string, at: BodyPath) => {
    const { cells, rest } = readFields(item, groupFields, at, ['list']);
    const left: ExactJson[] = [];
    let metrics = 0;
    const list = eachItem(item.list, at.at('list'), (metric, metricPosition, metricAt) => {
      const periods = readMetric(metric, { cells, rest, position, years: years ?? [] }, metricPosition, of, metricAt);
      if (periods.length === 0) left.push(metric);
      else metrics += 1;
    });
    for (const item of list.odd) left.push(item);
    if (metrics === 0) valueless.push(item);
    else if (left.length > 0) valueless.push({ ...item, list: left });
  };
  const groups = eachItem(object.groups, path.at('groups'), use, { table: filedFinancialsTable });
  return {
    periods: years?.length ?? null,
    years: years === undefined ? null : stringifyExact(years),
    hasGroups: groups.count !== null,
    rest: [
      ...(years === undefined && object.years !== undefined ? [['years', object.years] as const] : []),
      ...emptyOf('groups', object.groups),
      ...unreadItems('groups', [...valueless, ...groups.odd]),
    ],
  };
}

/** Adds one row for each value. Returns the periods. */
function readMetric(metric: JsonObject, group: Group, position: string, of: ListOf, path: BodyPath): readonly string[] {
  const { cells, rest } = readFields(metric, metricFields, path, ['list', 'progress']);
  const values = path.at('list').object(metric.list) ?? {};
  const periods: string[] = [];
  const progressIn = progressByPeriod(metric.progress, Object.keys(values), group.years);
  for (const period of Object.keys(values).sort()) {
    const at = () => path.at('list').at(period);
    if (!hasYear(period)) {
      at().left('a date with a year', values[period] as ExactJson);
      continue;
    }
    const read = readValue(values[period] as ExactJson, at);
    if (read === undefined) continue;
    periods.push(period);
    path.out.add(filedFinancialsTable, {
      v1_company_id: of.v1,
      group_id: group.cells.id,
      group_name: group.cells.name,
      group_order: group.cells.order,
      metric: cells.name,
      period,
      value: read.value,
      value_type: read.value_type,
      v2_company_id: of.v2,
      operation: path.origin.operation,
      group_position: group.position,
      metric_position: position,
      progress: metric.progress === undefined ? null : stringifyExact(metric.progress),
      raw_sha256: path.origin.rawSha256,
      period_progress: progressIn.get(period) ?? null,
      extra: extraOf([...group.rest, ...rest]),
    });
  }
  return periods;
}

/**
 * The comparisons of a metric, by the later period of each pair of neighbours, in the order of `years`. The provider
 * documents no assignment, so a list of another length has none.
 */
function progressByPeriod(
  progress: ExactJson | undefined,
  periods: readonly string[],
  years: readonly ExactJson[],
): ReadonlyMap<string, string> {
  const sent = years.flatMap((year) => (typeof year === 'string' && periods.includes(year) ? [year] : []));
  const compared = sent.slice(1).map((period, index) => {
    const before = sent[index] as string;
    return period > before ? period : before;
  });
  const isInOrder = sent.length === periods.length && new Set(compared).size === compared.length;
  if (!Array.isArray(progress) || progress.length !== compared.length || !isInOrder) return new Map();
  return new Map(
    compared.flatMap((period, index) => {
      const value = progress[index];
      return value instanceof ExactNumber ? [[period, value.text] as const] : [];
    }),
  );
}

export const filedFinancialsTable = table({
  name: 'filed_financials',
  onePer: 'value',
  description:
    'Filed statements: one value for each metric and reporting period. If the record and the single module were bought from v1, the newer one is shown.',
  source: 'fullKyb /financial, financialKyb, v2 kybFinancial',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'group_position', 'metric_position', 'period'],
  keyAlwaysThere: false,
  knownBy: {
    columns: [
      ['group_id', 'metric', 'period'],
      ['group_name', 'metric', 'period'],
    ],
    origin: 'operation',
    // Display fields, and values derived from others, repeated in each row of the metric.
    besides: ['group_order', 'group_position', 'metric_position', 'progress', 'period_progress'],
    news: 'period',
  },
  columns: [
    v1CompanyId,
    column('group_id', 'id', 'The statement group', 'groups[].id'),
    column('group_name', 'text', 'Its name', 'groups[].name'),
    column('group_order', 'integer', 'Its place on display', 'groups[].order'),
    column('metric', 'text', 'Label of the metric. It differs between countries', 'groups[].list[].name'),
    column('period', 'text', 'Date of the reporting period, as sent', 'key of groups[].list[].list'),
    valueColumn,
    valueType,
    v2CompanyId,
    operationColumn,
    column('group_position', 'integer', 'Place of the group in the list, from 1', 'order of the list'),
    column('metric_position', 'integer', 'Place of the metric in its group, from 1', 'order of the list'),
    column(
      'progress',
      'json',
      'Comparison with earlier periods, as sent, for the whole metric',
      'groups[].list[].progress',
    ),
    rawSha256,
    column(
      'period_progress',
      'number',
      'The item of `progress` that compares this period with the one before it, by the order of the years. Empty unless there is one item less than periods',
      'groups[].list[].progress',
    ),
    column('extra', 'json', 'Further fields of the group and of the metric', 'everything else'),
  ],
});
