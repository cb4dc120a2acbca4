import type { ExactJson } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import { column } from '../table.js';
import { filedFinancialsTable } from '../tables/filed-financials.js';
import type { BodyPath, JsonObject } from './body-path.js';
import { eachItem, type ListOf } from './lists.js';
import { extraOf, readFields } from './read-fields.js';
import { readValue } from './value.js';

const groupFields = [column('id', 'id', ''), column('name', 'text', ''), column('order', 'integer', '')] as const;
const metricFields = [column('name', 'text', '')] as const;

/** Filed statements, in the order they were sent. Returns how many periods came; null if none were named. */
export function readFiledFinancials(object: JsonObject, of: ListOf, path: BodyPath): number | null {
  eachItem(object.groups, { offset: 0 }, path.at('groups'), (group, groupPosition, at) => {
    const { cells, rest } = readFields(group, groupFields, at, ['list']);
    eachItem(group.list, { offset: 0 }, at.at('list'), (metric, metricPosition, metricAt) => {
      const read = readFields(metric, metricFields, metricAt, ['list', 'progress']);
      const values = metricAt.at('list').object(metric.list) ?? {};
      for (const period of Object.keys(values).sort()) {
        path.out.add(filedFinancialsTable, {
          v1_company_id: of.v1,
          group_id: cells.id,
          group_name: cells.name,
          group_order: cells.order,
          metric: read.cells.name,
          period,
          ...readValue(values[period] as ExactJson, () => metricAt.at('list').at(period)),
          v2_company_id: of.v2,
          operation: path.origin.operation,
          group_position: groupPosition,
          metric_position: metricPosition,
          progress: metric.progress === undefined ? null : stringifyExact(metric.progress),
          raw_sha256: path.origin.rawSha256,
          extra: extraOf([...rest, ...read.rest]),
        });
      }
    });
  });
  return path.at('years').list(object.years)?.length ?? null;
}
