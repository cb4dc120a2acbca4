import type { ExactJson } from '../util/exact-json.js';
import { stringifyExact } from '../util/exact-json-write.js';
import { glanceAt } from './parts/at-a-glance.js';
import { BodyPath, idOf, isObject, type JsonObject, memberOf } from './parts/body-path.js';
import { removeContacts } from './parts/contacts.js';
import { tryParse } from './parts/open-answer.js';
import { extraOf, type Members, nested, readFields } from './parts/read-fields.js';
import { NOWHERE, readReportRecord } from './parts/report-record.js';
import { type ListItem, originOf, type RawAnswer, type Reader, type ReaderOutput } from './reader.js';
import { type Cell, column, timestamp } from './table.js';
import { creditReportRemarksTable, creditReportsTable, reportSummaryFields } from './tables/credit-reports.js';

/** A credit report → its line and its remarks. Sections beyond the summary are opaque and kept (V2-7). */
export const creditReportReader = {
  name: 'credit-report',
  space: 'report',
  operations: ['creditReportGenerate', 'creditReportFetch'],
  lists: { operations: ['creditReportHistory'], items: historyItems },
  tables: [creditReportsTable, creditReportRemarksTable],
  glance: (out) =>
    glanceAt(out, creditReportsTable, {
      credit_risk: 'common_value',
      credit_risk_words: 'common_description',
      credit_limit: 'credit_limit_value',
      credit_limit_currency: 'credit_limit_currency',
      fetched_at: 'fetched_at',
    }),
  read(subject, out) {
    const fetched = subject.answers.find(({ operation }) => operation === 'creditReportFetch');
    const opened = fetched && openReport(fetched, out);
    const record = readReportRecord(subject, out);
    const body = readBody(subject.id, opened, out);
    if (Object.values(body.cells).some((cell) => cell !== null)) {
      out.noteCame(creditReportsTable);
      out.noteCame(creditReportRemarksTable);
    }
    out.add(creditReportsTable, {
      credit_report_id: subject.id,
      credit_source_id: record.sourceId,
      ...record.cells,
      // The document equates the two: the body can be fetched once the status is `finish`.
      status: fetched === undefined ? record.cells.status : 'finish',
      ...body.cells,
      raw_sha256: fetched?.rawSha256 ?? null,
      fetched_at: fetched === undefined ? null : timestamp(fetched.fetchedAt),
      format: opened?.format ?? null,
      recorded_status: record.cells.status,
      extra: extraOf([...body.rest, ...record.rest]),
    });
  },
} as const satisfies Reader;

interface OpenedReport {
  readonly format: 'json' | 'html';
  readonly body: ExactJson;
  readonly path: BodyPath;
}

/** A report that is neither JSON nor HTML is an issue, and empty. */
function openReport(answer: RawAnswer, out: ReaderOutput): OpenedReport {
  const path = new BodyPath(answer, out);
  const body = tryParse(answer.body);
  if (body !== undefined) {
    if (!out.includeContacts) removeContacts(body);
    return { format: 'json', body, path };
  }
  if (answer.body.toString('latin1', 0, 64).trimStart().startsWith('<')) return { format: 'html', body: {}, path };
  path.unexpected('JSON or HTML', answer.body.toString('utf8', 0, 60));
  return { format: 'json', body: {}, path };
}

const riskFields = [
  column('pod', 'number', ''),
  column('commonValue', 'scalar', ''),
  column('commonDescription', 'text', ''),
] as const;
const limitFields = [column('value', 'scalar', ''), column('currency', 'text', '')] as const;

function readBody(id: string, opened: OpenedReport | undefined, out: ReaderOutput) {
  const path = opened?.path ?? new BodyPath(NOWHERE, out);
  const object = path.object(opened?.body) ?? {};
  const summaryAt = path.at('summary');
  const summary = summaryAt.object(object.summary) ?? {};
  const remarks = readRemarks(id, summary, summaryAt);
  const main = readFields(summary, reportSummaryFields, summaryAt, [
    ...readApart(summary, 'overall_credit_risk'),
    ...remarks,
  ]);
  const riskAt = summaryAt.at('overall_credit_risk');
  const risk = riskAt.object(summary.overall_credit_risk) ?? {};
  const graded = readFields(risk, riskFields, riskAt, readApart(risk, 'creditLimit'));
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
  const sections = Object.entries(object).filter(([key]) => !readApart(object, 'summary').includes(key));
  const odd = opened !== undefined && !isObject(opened.body) ? opened.body : null;
  const rest: Members = [
    ...(odd === null ? [] : [['body', odd] as const]),
    ...nested('summary', [
      ...main.rest,
      ...nested('overall_credit_risk', [...graded.rest, ...nested('creditLimit', limit.rest)]),
    ]),
    ...sections,
  ];
  return { cells, rest };
}

/** A part that is read on its own; in another form, or with nothing in it, it stays where it is, for `extra`. */
const readApart = (object: JsonObject, part: string): readonly string[] => {
  const value = memberOf(object, part);
  return isObject(value) && Object.keys(value).length > 0 ? [part] : [];
};

const POSITIVE = 'what_we_like_about_this_company';
/** The name of the list of cautions is not shown. */
const CAUTION = /caution|concern|dislike|(?:not|dont)_like/;

/** Emits the remarks and returns the members they came from. A list without any has no line: `extra` keeps it. */
function readRemarks(id: string, summary: JsonObject, path: BodyPath): readonly string[] {
  const lists = Object.entries(summary).flatMap(([key, value]) => {
    const kind = key === POSITIVE ? 'positive' : CAUTION.test(key) ? 'caution' : undefined;
    return kind !== undefined && Array.isArray(value) && value.length > 0 ? [{ key, kind, value }] : [];
  });
  lists.sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0));
  const positions = { positive: 0, caution: 0 };
  for (const { key, kind, value } of lists) {
    for (const [index, item] of value.entries()) {
      if (typeof item !== 'string') path.at(key).at(index).unexpected('text', item);
      path.out.add(creditReportRemarksTable, {
        credit_report_id: id,
        kind,
        position: String(++positions[kind as keyof typeof positions]),
        text: typeof item === 'string' || item === null ? item : stringifyExact(item),
        extra: typeof item === 'string' ? null : extraOf([['item', item]]),
      });
    }
  }
  return lists.map(({ key }) => key);
}

/** The records on a page of the history. */
function historyItems(answer: RawAnswer): readonly ListItem[] {
  const body = tryParse(answer.body);
  const items = isObject(body) && Array.isArray(body.data) ? body.data : [];
  return items.flatMap((value, index) => {
    const id = isObject(value) ? idOf(value.id) : undefined;
    return id === undefined ? [] : [{ id, value, origin: originOf(answer), pointer: `/data/${index}` }];
  });
}
