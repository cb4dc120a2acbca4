import { readAnswer } from '../../../src/api/answer.js';
import { permissionUseOf } from '../../../src/api/v2/operations/metrics-watch.js';
import { v2Operations } from '../../../src/api/v2/operations.js';
import { allowanceRows } from '../../../src/export/allowances-table.js';
import { watchEventRow } from '../../../src/export/run-rows.js';
import { notificationEvent, readNotification } from '../../../src/portfolio/watch/inbox.js';
import { readEvent } from '../../../src/portfolio/watch/sync.js';
import { prospectRow, readProspectPage } from '../../../src/readers/prospects.js';
import type { Row } from '../../../src/readers/table.js';
import { readVocabularyRows } from '../../../src/readers/vocabulary.js';
import type { ExactJson } from '../../../src/util/exact-json.js';
import { answer } from '../../readers/support.js';
import { NOTIFICATION } from './documented.js';

type Rows = readonly { readonly table: string; readonly row: Row }[];

const PLACE = {
  portfolio: '',
  row: 1,
  inputId: null,
  id: 1,
  companyId: '',
  heardAt: 0,
  runId: null,
  rawSha256: '',
  companyKey: null,
};

/** Tables that other code than the company readers makes from answers. */
export const otherTables: Readonly<Record<string, (body: Buffer) => Rows>> = {
  metrics: (body) => {
    const use = permissionUseOf(readAnswer(v2Operations.metrics, body));
    const told = {
      environment: '',
      operations: null,
      observedAt: 0,
      usedAtStart: null,
      callsAnswered: null,
      callsFailed: null,
    };
    return inTable(
      'allowances',
      allowanceRows({ environments: [], permissions: use.map((one) => ({ ...one, ...told })), contacts: [] }),
    );
  },
  metricsContacts: (body) => {
    const { email_count, phone_count } = JSON.parse(body.toString()) as Record<string, number>;
    const counts = { emailCount: email_count ?? null, phoneCount: phone_count ?? null, extra: null };
    const told = { environment: '', observedAt: 0, dateFrom: '', dateTo: '', ...counts };
    return inTable('allowances', allowanceRows({ environments: [], permissions: [], contacts: [told] }));
  },
  watchHistory: (body) => {
    const { data } = readAnswer(v2Operations.watchHistory, body) as unknown as { readonly data: readonly ExactJson[] };
    return inTable(
      'watch_events',
      data.flatMap(readEvent).map((event) => watchEventRow({ ...PLACE, ...event }, true)),
    );
  },
  [NOTIFICATION]: (body) => {
    const event = notificationEvent(readNotification(body)?.line ?? body.toString());
    return inTable(
      'watch_events',
      event.map((one) => watchEventRow({ ...PLACE, ...one }, true)),
    );
  },
  nomenclature: (body) =>
    inTable('vocabularies', readVocabularyRows(answer('nomenclature', body.toString(), { params: { name: 'nace' } }))),
  prospecting: (body) => {
    const { prospects } = readProspectPage(answer('prospecting', body.toString()), 1);
    return inTable(
      'prospects',
      prospects.map((one) => prospectRow(one, 1, 'not_asked', { isPart: false })),
    );
  },
};

/** Tables from an answer that a reader reads as well. */
export const besideReaders: Readonly<Record<string, (body: Buffer) => Rows>> = {
  companyProfile: (body) => {
    const { id, name } = JSON.parse(body.toString()) as { readonly id: string; readonly name: string };
    const page = answer('prospecting', JSON.stringify({ data: [{ id, name }] }));
    const seen = answer('companyProfile', body.toString());
    const rows = readProspectPage(page, 1).prospects.map((one) =>
      prospectRow(one, 1, seen, { isPart: false, includeContacts: true }),
    );
    // The table shows the name from prospecting, which agrees with the other field.
    return inTable(
      'prospects',
      rows.map(({ companies_id: _, name: __, ...row }) => row),
    );
  },
};

const inTable = (table: string, rows: readonly Row[]): Rows => rows.map((row) => ({ table, row }));
