import { type ExactJson, ExactNumber } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import { type Cell, column } from '../table.js';
import { reportRecordFields, reportSummaryFields } from '../tables/figures.js';
import { extraOf, type Members, readFields } from './read-fields.js';
import { type Answer, Gathered, isObject, type JsonObject, Place } from './reading.js';

/** What the generate call or the history says about a report, and where it says it. */
export interface ReportRecord {
  readonly object: JsonObject;
  readonly answer: Pick<Answer, 'operation' | 'rawSha256'>;
  readonly pointer: string;
}

export interface Report {
  readonly id: string;
  readonly sourceId: string | null;
  readonly record: ReportRecord | undefined;
  /** The fetched body; undefined while the report is not there. */
  readonly fetched: (Omit<Answer, 'body'> & { readonly body: ExactJson | 'html' }) | undefined;
}

/** A credit report → its line and its remarks. Sections beyond the summary are opaque and kept (V2-7). */
export function creditReport(report: Report, gathered: Gathered = new Gathered()): Gathered {
  const record = readRecord(report.record, gathered);
  const body = readBody(report, gathered);
  const { fetched } = report;
  gathered.rows.credit_reports.push({
    credit_report_id: report.id,
    credit_source_id: report.sourceId ?? record.sourceId,
    ...record.cells,
    // The document equates the two: the body can be fetched once the status is `finish`.
    status: fetched === undefined ? record.cells.status : 'finish',
    ...body.cells,
    raw_sha256: fetched?.rawSha256 ?? null,
    fetched_at: fetched?.fetchedAt ?? null,
    format: fetched === undefined ? null : fetched.body === 'html' ? 'html' : 'json',
    recorded_status: record.cells.status,
    extra: extraOf([...body.rest, ...record.rest]),
  });
  return gathered;
}

function readRecord(record: ReportRecord | undefined, gathered: Gathered) {
  const place = record && new Place(record.answer, gathered, record.pointer);
  const object = record?.object ?? {};
  const { cells, rest } = readFields(object, reportRecordFields, place ?? nowhere(gathered), ['id', 'source_id']);
  const own = object.source_id;
  const sourceId = typeof own === 'string' ? own : own instanceof ExactNumber ? own.text : null;
  return { cells, rest, sourceId };
}

const riskFields = [
  column('pod', 'number', ''),
  column('commonValue', 'scalar', ''),
  column('commonDescription', 'text', ''),
] as const;
const limitFields = [column('value', 'scalar', ''), column('currency', 'text', '')] as const;

function readBody({ id, fetched }: Report, gathered: Gathered) {
  const place = fetched === undefined ? nowhere(gathered) : new Place(fetched, gathered);
  const object = fetched === undefined || fetched.body === 'html' ? {} : (place.object(fetched.body) ?? {});
  const summaryAt = place.at('summary');
  const summary = summaryAt.object(object.summary) ?? {};
  const remarks = readRemarks(id, summary, summaryAt);
  const main = readFields(summary, reportSummaryFields, summaryAt, ['overall_credit_risk', ...remarks]);
  const riskAt = summaryAt.at('overall_credit_risk');
  const risk = riskAt.object(summary.overall_credit_risk) ?? {};
  const graded = readFields(risk, riskFields, riskAt, ['creditLimit']);
  const limitAt = riskAt.at('creditLimit');
  const limit = readFields(limitAt.object(risk.creditLimit) ?? {}, limitFields, limitAt);
  const cells = {
    ...main.cells,
    pod: graded.cells.pod,
    common_value: graded.cells.commonValue,
    common_description: graded.cells.commonDescription,
    credit_limit_value: limit.cells.value,
    credit_limit_currency: limit.cells.currency,
  } satisfies Record<string, Cell>;
  const sections = Object.entries(object).filter(([key, value]) => key !== 'summary' || !isObject(value));
  const rest: Members = [
    ...wrap('summary', [
      ...main.rest,
      ...wrap('overall_credit_risk', [...graded.rest, ...wrap('creditLimit', limit.rest)]),
    ]),
    ...sections,
  ];
  return { cells, rest };
}

const wrap = (name: string, rest: Members): Members => (rest.length === 0 ? [] : [[name, Object.fromEntries(rest)]]);

const POSITIVE = 'what_we_like_about_this_company';
/** The name of the list of cautions is not shown. */
const CAUTION = /caution|concern|dislike|(?:not|dont)_like/;

/** Emits the remarks and returns the members they came from. */
function readRemarks(id: string, summary: JsonObject, place: Place): readonly string[] {
  const lists = Object.entries(summary).flatMap(([key, value]) => {
    const kind = key === POSITIVE ? 'positive' : CAUTION.test(key) ? 'caution' : undefined;
    return kind !== undefined && Array.isArray(value) ? [{ key, kind, value }] : [];
  });
  lists.sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0));
  const positions = { positive: 0, caution: 0 };
  for (const { key, kind, value } of lists) {
    for (const [index, item] of value.entries()) {
      if (typeof item !== 'string') place.at(key).at(index).unexpected('text', item);
      place.gathered.rows.credit_report_remarks.push({
        credit_report_id: id,
        kind,
        position: String(++positions[kind as keyof typeof positions]),
        text: typeof item === 'string' || item === null ? item : stringifyExact(item),
      });
    }
  }
  return lists.map(({ key }) => key);
}

const nowhere = (gathered: Gathered) => new Place({ operation: '', rawSha256: '' }, gathered);

/** The records in a history answer, by report ID. */
export function readHistory(
  answer: Pick<Answer, 'operation' | 'rawSha256' | 'body'>,
): ReadonlyMap<string, ReportRecord> {
  const records = new Map<string, ReportRecord>();
  const items = isObject(answer.body) && Array.isArray(answer.body.data) ? answer.body.data : [];
  for (const [index, item] of items.entries()) {
    if (!isObject(item)) continue;
    const id = item.id instanceof ExactNumber ? item.id.text : item.id;
    if (typeof id === 'string') records.set(id, { object: item, answer, pointer: `/data/${index}` });
  }
  return records;
}
