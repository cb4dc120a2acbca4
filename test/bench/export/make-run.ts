import { requestKey } from '../../../src/calls/request.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { openLedger } from '../../../src/ledger/open-ledger.js';
import type { Checkpoint } from '../../../src/ledger/rows/runs.js';
import { beginRun } from '../../helpers/begin-run.js';

export const RUN = 'bench';

export interface MadeRun {
  readonly companies: number;
  readonly kind: 'flat' | 'record';
  /** Every answer was bought again, with this body. */
  readonly again?: (body: string) => string;
}

/** A data directory with one finished run. Returns how many values its bodies hold. */
export async function makeRun(dataDir: string, { companies, kind, again }: MadeRun): Promise<number> {
  const ledger = await openLedger({ dataDir, now: 1, access: 'write' });
  const rows = Array.from({ length: companies }, (_, index) => ({ values: [`Company ${index}`], fields: {} }));
  await beginRun(ledger, { id: RUN, now: 1 }, rows);
  const shop = await openShop(ledger, kind, RUN);
  let values = 0;
  for (let first = 0; first < companies; first += BATCH) {
    const indexes = Array.from({ length: Math.min(BATCH, companies - first) }, (_, i) => first + i);
    const written = indexes.map((index) => {
      const { body, count } = kind === 'flat' ? flatBody(index) : recordBody(index);
      values += count;
      return buy(shop, index, body).then(() => settle(ledger, RUN, index, [shop.space]));
    });
    await Promise.all(written);
    if (again !== undefined)
      await Promise.all(
        indexes.map((index) => buy(shop, index, again((kind === 'flat' ? flatBody(index) : recordBody(index)).body))),
      );
  }
  await ledger.close();
  return values;
}

const BATCH = 500;
const INDICATORS = Array.from({ length: 238 }, (_, i) => `Indicator-Of-Kind-${i % 17}-No-${i}`);
export const VALUES_PER_COMPANY = INDICATORS.length * 3;

export const companyId = (index: number): string => String(200_000_000_000 + index * 7);

export function flatBody(index: number): { body: string; count: number } {
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

export function recordBody(index: number): { body: string; count: number } {
  const officer = (i: number) =>
    `{"id":${index}${i},"first_name":"Ada","last_name":"Person ${i}","appointed_at":"2020-01-0${i + 1}","resigned_at":null,"work_status":"ACTIVE","date_of_birth_year":1970,"date_of_birth_month":null,"job_title":"Director","address_country":"GB","address_line_1":"1 High Street","address_locality":"Leeds","address_region":null,"address_postal_code":"LS1 1AA"}`;
  const holder = (i: number) =>
    `{"id":${index}${i},"name":"Holder ${i}","percentage":25.00,"quantity":100,"share_price":1.10,"share_type":"ORDINARY","share_value":"100 shares","currency":"GBP","status":null,"total_value":110.00}`;
  const list = (item: (i: number) => string, count: number) =>
    `[${Array.from({ length: count }, (_, i) => item(i)).join(',')}]`;
  const body = `{"lite":{"id":${index},"name":"Company ${index}","registration_number":"${String(index).padStart(8, '0')}","vat_number":null,"incorporation_date":"2001-02-03","status":"Active","country_code":"GB","legal_form":"PLC"},"officers":${list(officer, 4)},"shareholders":${list(holder, 3)},"group_structures_full":[],"financial":{"years":["2024-12-31"],"groups":[{"id":"1","name":"Summary","order":1,"list":[{"name":"Turnover","list":{"2024-12-31":${figure(index)}}}]}]}}`;
  return { body, count: 1 };
}

interface Shop {
  readonly ledger: Ledger;
  readonly run: string;
  readonly space: 'v1' | 'v2';
  readonly operation: 'financial' | 'fullKyb';
  readonly environmentId: number;
  readonly attemptId: number;
}

export async function openShop(ledger: Ledger, kind: 'flat' | 'record', run: string): Promise<Shop> {
  const space = kind === 'flat' ? 'v2' : 'v1';
  const environmentId = await ledger.calls.environment(space, 'bench');
  await ledger.runs.useEnvironments(run, [{ api: space, environmentId }]);
  const attemptId = await ledger.calls.begin({ runId: run, begunAt: 1, leaseUntil: 2 });
  return { ledger, run, space, operation: kind === 'flat' ? 'financial' : 'fullKyb', environmentId, attemptId };
}

export async function buy(shop: Shop, index: number, body: string): Promise<void> {
  const { ledger, run, space, operation, environmentId, attemptId } = shop;
  const id = companyId(index);
  const intended = await ledger.calls.intend(
    {
      attemptId,
      environmentId,
      runId: run,
      row: index + 1,
      stage: 'bench',
      operation,
      // Any meter will do, because nothing is counted here.
      meter: 'not_told',
      requestKey: requestKey(operation, { id }),
      subject: { space, id },
      attempt: 1,
      reusableSince: Infinity,
      lookedSince: Infinity,
      lostAtMost: Infinity,
      startedAt: 1,
    },
    { units: null, reports: null },
  );
  if (intended.kind !== 'intent') throw new Error(`the call was not let through: ${intended.kind}`);
  await ledger.calls.settle(intended.intent, {
    settledAt: 2,
    durationMs: 1,
    httpStatus: 200,
    errorClass: null,
    errorCode: null,
    requestId: null,
    charge: 'charged',
    unitsCharged: null,
    remainingUnits: null,
    inDoubt: false,
    body: Buffer.from(body),
    answer: { params: JSON.stringify({ id }) },
    allowance: null,
  });
}

export async function settle(
  { runs }: Pick<Ledger, 'runs'>,
  run: string,
  index: number,
  spaces: readonly ('v1' | 'v2')[],
): Promise<void> {
  await runs.settleRow(run, index + 1, {
    checkpoint: COMPLETE,
    ids: spaces.map((space) => ({ space, id: companyId(index), grade: null, matchedOn: null })),
    candidates: [],
    questions: [],
    errors: [],
    uses: [],
    asked: [],
    ended: [],
    verdicts: [],
  });
}

const COMPLETE: Checkpoint = {
  outcome: 'complete',
  hold: null,
  holdReason: null,
  nextAt: null,
  stage: 'bench',
  stages: {},
  fetched: {},
  matchGrade: null,
  matchedOn: null,
  errorCode: null,
  errorMessage: null,
  updatedAt: 2,
};
