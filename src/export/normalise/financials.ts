import type { ExactJson } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import { column } from '../table.js';
import { eachItem, type ListOf } from './people.js';
import { extraOf, readFields } from './read-fields.js';
import { type Answer, Gathered, isObject, type JsonObject, Place } from './reading.js';
import { readValue } from './value.js';

const groupFields = [column('id', 'id', ''), column('name', 'text', ''), column('order', 'integer', '')] as const;
const metricFields = [column('name', 'text', '')] as const;

/** Filed statements, in the order they were sent. Returns how many periods came; null if none were named. */
export function filedFinancials(object: JsonObject, of: ListOf, place: Place): number | null {
  eachItem(object.groups, { offset: 0 }, place.at('groups'), (group, groupPosition, at) => {
    const { cells, rest } = readFields(group, groupFields, at, ['list']);
    eachItem(group.list, { offset: 0 }, at.at('list'), (metric, metricPosition, metricAt) => {
      const read = readFields(metric, metricFields, metricAt, ['list', 'progress']);
      const values = metricAt.at('list').object(metric.list) ?? {};
      for (const period of Object.keys(values).sort()) {
        place.gathered.rows.filed_financials.push({
          v1_company_id: of.v1,
          group_id: cells.id,
          group_name: cells.name,
          group_order: cells.order,
          metric: read.cells.name,
          period,
          ...readValue(values[period] as ExactJson, () => metricAt.at('list').at(period)),
          v2_company_id: of.v2,
          operation: place.answer.operation,
          group_position: groupPosition,
          metric_position: metricPosition,
          progress: metric.progress === undefined ? null : stringifyExact(metric.progress),
          raw_sha256: place.answer.rawSha256,
          extra: extraOf([...rest, ...read.rest]),
        });
      }
    });
  });
  return place.at('years').list(object.years)?.length ?? null;
}

/** Flat financials: an object keyed by year; `{}` is an answer that says nothing (V2-2). Sorted by year and indicator. */
export function flatFinancials(answer: Answer, gathered: Gathered = new Gathered()): Gathered {
  const place = new Place(answer, gathered);
  const years = place.object(answer.body);
  for (const year of Object.keys(years ?? {}).sort()) {
    const at = place.at(year);
    const indicators = years?.[year] as ExactJson;
    if (!isObject(indicators)) {
      if (indicators !== null) at.unexpected('an object of indicators', indicators);
      continue;
    }
    for (const indicator of Object.keys(indicators).sort()) {
      const read = readValue(indicators[indicator] as ExactJson, () => at.at(indicator));
      gathered.rows.flat_financials.push({
        v2_company_id: answer.id,
        year,
        indicator,
        value: read.value,
        value_type: read.value_type,
      });
    }
  }
  return gathered;
}
