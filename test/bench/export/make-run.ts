import { requestKey } from '../../../src/calls/request-key.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { openLedger } from '../../../src/ledger/sqlite/ledger.js';

export const RUN = 'bench';

/** A data directory with one finished run. Returns how many values its bodies hold. */
export async function makeRun(
  dataDir: string,
  { companies, kind }: { readonly companies: number; readonly kind: 'flat' | 'record' },
): Promise<number> {
  const ledger = openLedger(dataDir, 1);
  await ledger.createRun({
    id: RUN,
    inputPath: 'bench.csv',
    inputSha256: 'x',
    pipelineName: 'bench',
    pipelineSha256: 'x',
    settings: '{}',
    columns: ['name'],
    createdAt: 1,
  });
  const api = kind === 'flat' ? 'v2' : 'v1';
  const environmentId = await ledger.environment(api, 'bench');
  let values = 0;
  for (let first = 0; first < companies; first += BATCH) {
    const indexes = Array.from({ length: Math.min(BATCH, companies - first) }, (_, i) => first + i);
    await ledger.addRows(
      RUN,
      indexes.map((index) => ({ row: index + 1, line: index + 2, values: [`Company ${index}`], fields: {} })),
    );
    const written = indexes.map((index) => {
      const { body, count } = kind === 'flat' ? flatBody(index) : recordBody(index);
      values += count;
      return buy(ledger, environmentId, kind === 'flat' ? 'financial' : 'fullKyb', index, body);
    });
    await Promise.all(written);
  }
  await ledger.openRun(RUN, companies);
  await ledger.close();
  return values;
}

const BATCH = 500;
const INDICATORS = Array.from({ length: 238 }, (_, i) => `Indicator-Of-Kind-${i % 17}-No-${i}`);
export const VALUES_PER_COMPANY = INDICATORS.length * 3;

export const companyId = (index: number): string => String(200_000_000_000 + index * 7);

function flatBody(index: number): { body: string; count: number } {
  const year = (y: number) =>
    `"${2022 + y}":{${INDICATORS.map((name, i) => `"${name}":${figure(index * 1_009 + i * 31 + y)}`).join(',')}}`;
  return { body: `{${[0, 1, 2].map(year).join(',')}}`, count: VALUES_PER_COMPANY };
}

/** Amounts with and without decimals, trailing zeros, ratios, a few nulls, texts and long numbers. */
function figure(seed: number): string {
  const mixed = (seed * 2_654_435_761) % 4_294_967_296;
  if (mixed % 29 === 0) return 'null';
  if (mixed % 31 === 0) return '"52 weeks"';
  if (mixed % 97 === 0) return `${mixed}${mixed}123456789.10`;
  if (mixed % 3 === 0) return `-${mixed}`;
  return mixed % 3 === 1 ? `${mixed}.${String(mixed % 100).padStart(2, '0')}` : `${mixed % 1000}.${mixed % 10_000}`;
}

function recordBody(index: number): { body: string; count: number } {
  const officer = (i: number) =>
    `{"id":${index}${i},"first_name":"Ada","last_name":"Person ${i}","appointed_at":"2020-01-0${i + 1}","resigned_at":null,"work_status":"ACTIVE","date_of_birth_year":1970,"date_of_birth_month":null,"job_title":"Director","address_country":"GB","address_line_1":"1 High Street","address_locality":"Leeds","address_region":null,"address_postal_code":"LS1 1AA"}`;
  const holder = (i: number) =>
    `{"id":${index}${i},"name":"Holder ${i}","percentage":25.00,"quantity":100,"share_price":1.10,"share_type":"ORDINARY","share_value":"100 shares","currency":"GBP","status":null,"total_value":110.00}`;
  const list = (item: (i: number) => string, count: number) =>
    `[${Array.from({ length: count }, (_, i) => item(i)).join(',')}]`;
  const body = `{"lite":{"id":${index},"name":"Company ${index}","registration_number":"${String(index).padStart(8, '0')}","vat_number":null,"incorporation_date":"2001-02-03","status":"Active","country_code":"GB","legal_form":"PLC"},"officers":${list(officer, 4)},"shareholders":${list(holder, 3)},"group_structures_full":[],"financial":{"years":["2024-12-31"],"groups":[{"id":"1","name":"Summary","order":1,"list":[{"name":"Turnover","list":{"2024-12-31":${figure(index)}}}]}]}}`;
  return { body, count: 1 };
}

async function buy(
  ledger: Ledger,
  environmentId: number,
  operation: string,
  index: number,
  body: string,
): Promise<void> {
  const id = companyId(index);
  const intent = await ledger.intend({
    environmentId,
    runId: RUN,
    row: index + 1,
    stage: 'bench',
    operation,
    requestKey: requestKey(operation, { id }),
    attempt: 1,
    startedAt: 1,
  });
  await ledger.settle(intent, {
    settledAt: 2,
    durationMs: 1,
    httpStatus: 200,
    errorClass: null,
    errorCode: null,
    requestId: null,
    charge: 'charged',
    unitsCharged: null,
    remainingUnits: null,
    body: Buffer.from(body),
    answer: { params: JSON.stringify({ id }) },
  });
}
