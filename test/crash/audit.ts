import { expect } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.js';
import type { CallRow } from '../engine/support.js';
import { chargedAgain } from '../helpers/sandbox.js';
import type { Books } from './support.js';

/**
 * Compares the ledger with the provider's charges, call by call. With `asking`, rows may also need review, because a
 * group that is not returned may be a question.
 */
export function audit({ calls, outcomes }: Books, sandbox: Sandbox, rows: number, asking = false): void {
  const { complete = 0, needs_review = 0, ...others } = outcomes;
  expect(others).toEqual({});
  expect(complete + (asking ? needs_review : 0)).toBe(rows);
  expect(calls.filter((call) => call.charge === null)).toEqual([]);

  const log = sandbox.chargeLog.filter((charge) => charge.api === 'v1');
  const settled = new Map(
    calls
      .filter((call) => call.request_id !== null && call.charge === 'charged')
      .map((call) => [call.request_id, call]),
  );
  const charged = new Set(log.map((charge) => charge.requestId));
  expect([...settled.keys()].filter((id) => !charged.has(id ?? ''))).toEqual([]);
  // A charge that the ledger did not record as such is a flagged call, or was recorded from the remaining units.
  const unsettled = log.filter((charge) => !settled.has(charge.requestId));
  const flagged = calls.filter(isFlagged);
  for (const operation of new Set(unsettled.map((charge) => charge.operation))) {
    const ours = flagged.filter((call) => call.operation === operation).length;
    expect(unsettled.filter((charge) => charge.operation === operation).length).toBeLessThanOrEqual(ours);
  }

  // Only lost answers may be bought twice.
  const answered = new Set<string>();
  for (const call of calls.filter((other) => other.charge !== 'owned')) {
    if (call.charge === 'charged' && call.reconciled === null && call.units_charged === 1) {
      expect(answered.has(call.request_key), `${call.operation} was settled twice`).toBe(false);
      answered.add(call.request_key);
    }
  }
  expect(chargedAgain(log).length).toBeLessThanOrEqual(flagged.length);

  // The recorded units never exceed the charges, and together with the flagged ones never fall short of them.
  const units = calls.reduce((sum, call) => sum + (call.units_charged ?? 0), 0);
  const open = calls.filter((call) => call.charge === 'unknown' && call.meter === 'unit').length;
  expect(units).toBeLessThanOrEqual(log.length);
  expect(units + open).toBeGreaterThanOrEqual(log.length);

  const sources = sandbox.reports.map((report) => report.sourceId);
  expect(new Set(sources).size, 'a report was generated twice').toBe(sources.length);
  expect(sources).toHaveLength(rows);
  auditV2(calls, sandbox);
}

/** Every call that v2 counted is charged in the ledger, and every call that it did not count is not (V2-17). */
function auditV2(calls: readonly CallRow[], sandbox: Sandbox): void {
  const log = sandbox.chargeLog.filter((charge) => charge.api === 'v2');
  for (const operation of new Set(log.map((charge) => charge.operation))) {
    const counted = log.filter((charge) => charge.operation === operation).length;
    const ours = calls.filter((call) => call.operation === operation && call.charge !== 'owned');
    const charged = ours.filter(({ charge }) => charge === 'charged').length;
    const unknown = ours.filter(({ charge }) => charge === 'unknown').length;
    expect(charged, `${operation}: charged in our books`).toBeLessThanOrEqual(counted);
    expect(charged + unknown, `${operation}: charged or unknown in our books`).toBeGreaterThanOrEqual(counted);
  }
  for (const { sourceId } of sandbox.reports) {
    const ours = calls.filter((call) => call.operation === 'creditReportGenerate' && call.subject_id === sourceId);
    const charges = ours.map(({ charge }) => charge).filter((charge) => charge !== 'owned');
    expect(charges, `the report of ${sourceId} has no place in our books`).not.toEqual([]);
    expect(charges.filter((charge) => charge === 'charged').length).toBeLessThanOrEqual(1);
    expect(charges).not.toContain('free');
  }
}

export const isFlagged = (call: CallRow): boolean => call.charge === 'unknown' || call.reconciled !== null;
