import type pg from 'pg';
import type { Judge } from './provider.js';

export interface MachineCall {
  readonly operation: string;
  readonly requestKey: string;
  readonly subjectId: string | null;
  readonly requestId: string | null;
  readonly meter: string;
  readonly charge: string | null;
  readonly units: number | null;
  readonly reconciled: string | null;
  readonly hasBody: boolean;
  readonly api: string;
}

export interface MachineBooks {
  readonly calls: readonly MachineCall[];
  readonly outcomes: Readonly<Record<string, number>>;
}

export interface Audit {
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

export async function readMachineBooks(database: pg.Pool): Promise<MachineBooks> {
  const calls = await database.query<MachineCall>(
    `SELECT operation, encode(request_key, 'hex') AS "requestKey", subject_id AS "subjectId", request_id AS "requestId",
       meter, charge, units_charged::int AS units, reconciled, raw_sha256 IS NOT NULL AS "hasBody", api
     FROM kybatch.calls JOIN kybatch.environments ON environments.id = environment_id ORDER BY calls.id`,
  );
  const outcomes = await database.query<{ outcome: string; count: number }>(
    'SELECT outcome, count(*)::int AS count FROM kybatch.rows GROUP BY 1',
  );
  return {
    calls: calls.rows,
    outcomes: Object.fromEntries(outcomes.rows.map(({ outcome, count }) => [outcome, count])),
  };
}

/** Compares the ledger with the provider's counts, call by call. */
export function auditMachines({ calls, outcomes }: MachineBooks, { charges, reports }: Judge, rows: number): Audit {
  const problems: string[] = [];
  const mustBeNone = (count: number, what: string, example: unknown = '') => {
    if (count > 0) problems.push(`${count} ${what}${example === '' ? '' : `, the first: ${JSON.stringify(example)}`}`);
  };
  const complete = outcomes.complete ?? 0;
  mustBeNone(rows - complete, `of ${rows} rows are not complete`, outcomes);

  const open = calls.filter(({ charge }) => charge === null);
  mustBeNone(open.length, 'calls were neither settled nor flagged', open[0]);

  const sent = calls.filter(({ charge }) => charge !== 'owned');
  const flagged = sent.filter(isFlagged);
  const settled = new Set(sent.filter((call) => call.charge === 'charged').flatMap(({ requestId }) => requestId ?? []));
  const reached = new Set(sent.filter((call) => call.hasBody).flatMap(({ requestId }) => requestId ?? []));

  // Every charge in the ledger was a charge of the provider.
  const v1 = charges.filter(({ api }) => api === 'v1');
  const known = new Set(v1.map(({ requestId }) => requestId));
  const invented = sent.filter(
    ({ api, charge, requestId }) => api === 'v1' && charge === 'charged' && requestId !== null && !known.has(requestId),
  );
  mustBeNone(invented.length, 'calls are charged in our books and not by the provider', invented[0]);

  // A charge that the ledger does not record as such is a flagged call.
  let lost = 0;
  for (const operation of new Set(charges.map((charge) => charge.operation))) {
    const counted = charges.filter((charge) => charge.operation === operation);
    const ours = sent.filter((call) => call.operation === operation);
    const paid = ours.filter(({ charge, reconciled }) => charge === 'charged' && reconciled === null).length;
    const doubtful = ours.filter(isFlagged).length;
    lost += Math.max(0, counted.length - paid);
    mustBeNone(counted.length - paid - doubtful, `calls of ${operation} were charged, and are not even flagged`);
    mustBeNone(paid - counted.length, `calls of ${operation} are charged in our books, and were not`);
  }

  // The same answer bought twice, although both were received.
  const bought = new Map<string, number>();
  for (const call of sent)
    if (call.charge === 'charged' && call.hasBody)
      bought.set(`${call.operation} ${call.requestKey}`, (bought.get(`${call.operation} ${call.requestKey}`) ?? 0) + 1);
  const twice = [...bought].filter(([, times]) => times > 1);
  mustBeNone(twice.length, 'answers were bought again although they had reached us', twice[0]);
  const byRequest = groupBy(v1, ({ operation, params }) => `${operation} ${params}`);
  const again = [...byRequest].filter(
    ([, same]) => same.filter(({ requestId }) => reached.has(requestId) && settled.has(requestId)).length > 1,
  );
  mustBeNone(again.length, 'requests were charged again although their answer had reached us', again[0]);

  const units = sent.reduce((sum, call) => sum + (call.units ?? 0), 0);
  const unknown = sent.filter(({ charge, meter }) => charge === 'unknown' && meter === 'unit').length;
  mustBeNone(units - v1.length, `units more in our books (${units}) than were charged (${v1.length})`);
  mustBeNone(v1.length - units - unknown, `units were charged (${v1.length}) beyond those we know or doubt (${units})`);

  const generated = groupBy(reports, (source) => source);
  const doubled = [...generated].filter(([, same]) => same.length > 1);
  mustBeNone(doubled.length, 'reports were generated twice', doubled[0] && callsOf(doubled[0][0], sent));
  const paidTwice = [...generated.keys()].filter(
    (source) => callsOf(source, sent).filter(({ charge, hasBody }) => charge === 'charged' && hasBody).length > 1,
  );
  mustBeNone(paidTwice.length, 'reports were generated again although they had reached us', paidTwice[0]);

  return {
    problems,
    figures: {
      rows,
      complete,
      'calls sent': sent.length,
      'charges of the provider': charges.length,
      'calls flagged': flagged.length,
      'charges that did not reach us': lost,
      'requests charged again': [...byRequest.values()].filter((same) => same.length > 1).length,
      'answers bought twice': twice.length + again.length,
      reports: reports.length,
      'reports generated twice': doubled.length,
    },
  };
}

const callsOf = (source: string, calls: readonly MachineCall[]): readonly MachineCall[] =>
  calls.filter(({ operation, subjectId }) => operation === 'creditReportGenerate' && subjectId === source);

const isFlagged = ({ charge, reconciled }: MachineCall): boolean => charge === 'unknown' || reconciled !== null;

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return groups;
}
