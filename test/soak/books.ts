import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { ledgerPath } from '../../src/ledger/db/sqlite/open.js';
import type { Sandbox } from '../../src/sandbox/index.js';

interface CallRow {
  readonly id: number;
  readonly api: string;
  readonly operation: string;
  readonly request_key: string;
  readonly request_id: string | null;
  readonly meter: string;
  readonly error_code: string | null;
  readonly charge: string | null;
  readonly units_charged: number | null;
  readonly reconciled: string | null;
  readonly settled_at: number | null;
}

const DAY = 86_400_000;

/** The differences between the ledger and the provider's counts, in words. */
export function disagreements(
  dataDir: string,
  sandbox: Sandbox,
  freshDays: Readonly<Record<string, number>>,
): string[] {
  const calls = readCalls(dataDir);
  return [
    ...openIntents(calls),
    ...unknownToUs(calls, sandbox),
    ...unitsOff(calls, sandbox),
    ...boughtTwice(calls, freshDays),
    ...reportsTwice(sandbox),
  ];
}

function readCalls(dataDir: string): CallRow[] {
  const database = connect(ledgerPath(dataDir), { readonly: true });
  try {
    return database
      .prepare<[], CallRow>(
        `SELECT calls.*, api, hex(request_key) AS request_key FROM calls JOIN environments ON environments.id = environment_id ORDER BY calls.id`,
      )
      .all();
  } finally {
    database.close();
  }
}

const openIntents = (calls: readonly CallRow[]): string[] =>
  calls
    .filter(({ charge }) => charge === null)
    .map(({ id, operation }) => `call ${id} (${operation}) was never settled`);

const isFlagged = ({ charge, reconciled }: CallRow): boolean => charge === 'unknown' || reconciled !== null;

/** Every charge of the provider is a call recorded as charged, or a flagged one. v2 answers have no IDs. */
function unknownToUs(calls: readonly CallRow[], sandbox: Sandbox): string[] {
  const settled = calls.filter((call) => call.charge === 'charged' && call.reconciled === null);
  const flagged = calls.filter(isFlagged);
  const ids = new Set(settled.map((call) => call.request_id));
  const operations = new Set(sandbox.chargeLog.map(({ operation }) => operation));
  return [...operations].flatMap((name) => {
    const charges = sandbox.chargeLog.filter(({ operation }) => operation === name);
    const ours = settled.filter(({ operation }) => operation === name).length;
    const missing =
      charges[0]?.api === 'v1' ? charges.filter(({ requestId }) => !ids.has(requestId)).length : charges.length - ours;
    const doubtful = flagged.filter(({ operation }) => operation === name).length;
    const invented = ours - charges.length;
    return [
      ...(missing > doubtful ? [`${name}: charged ${missing} times without a word of ours, ${doubtful} flagged`] : []),
      ...(invented > 0 ? [`${name}: we count ${ours} charges, the provider ${charges.length}`] : []),
    ];
  });
}

/** Recorded units never exceed the charges, and with unknown charges never fall short. */
function unitsOff(calls: readonly CallRow[], sandbox: Sandbox): string[] {
  const charged = sandbox.chargeLog.filter(({ api }) => api === 'v1').length;
  const units = calls.reduce((sum, call) => sum + (call.units_charged ?? 0), 0);
  const doubtful = calls.filter((call) => call.charge === 'unknown' && call.meter === 'unit').length;
  if (units > charged) return [`we count ${units} units, the provider ${charged}`];
  if (units + doubtful < charged) return [`we count ${units} units and ${doubtful} in doubt, the provider ${charged}`];
  return [];
}

/** A stored answer that is readable and fresh is not bought again. */
function boughtTwice(calls: readonly CallRow[], freshDays: Readonly<Record<string, number>>): string[] {
  const last = new Map<string, number>();
  const twice: string[] = [];
  for (const { api, operation, request_key: key, error_code: code, charge, reconciled, settled_at: at } of calls) {
    if (charge !== 'charged' || code !== null || reconciled !== null || at === null) continue;
    const before = last.get(`${api} ${key}`);
    const days = freshDays[operation];
    if (before !== undefined && days !== undefined && at - before < days * DAY)
      twice.push(`${operation} was bought again after ${((at - before) / DAY).toFixed(1)} days`);
    last.set(`${api} ${key}`, at);
  }
  return twice;
}

/** No report is generated while an earlier one has not expired. */
function reportsTwice(sandbox: Sandbox): string[] {
  const last = new Map<string, number>();
  const twice: string[] = [];
  for (const { sourceId, createdAt } of [...sandbox.reports].sort((a, b) => a.createdAt - b.createdAt)) {
    const before = last.get(sourceId);
    if (before !== undefined && createdAt - before < 30 * DAY)
      twice.push(`a second report for ${sourceId} after ${((createdAt - before) / DAY).toFixed(1)} days`);
    last.set(sourceId, createdAt);
  }
  return twice;
}
