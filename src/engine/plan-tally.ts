// Sums up what a run would do and cost.

import type { Operation } from '../api/operation.js';
import { addReveals, NO_REVEALS, type Reveals, unitsLeft } from '../domain/account-usage.js';
import { taxMayConfirm } from '../domain/decide.js';
import type { Subject } from '../domain/grade.js';
import type { RepairRule } from '../domain/numbers/parsed-number.js';
import { FIRST_ROWS, type InvalidReason } from '../domain/outcomes.js';
import { addCalls, addPurchases, countCalls, noPurchases, type Purchases } from '../domain/prices.js';
import type { Meter } from '../domain/provider.js';
import type { AllowanceRecord } from '../ledger/money/calls.js';
import { shortHash } from '../util/short-hash.js';
import { callsOfRow, type RemainingCost } from './row-cost.js';

export interface RunPlan {
  readonly rows: number;
  readonly valid: number;
  readonly invalid: number;
  /** The first invalid rows. */
  readonly invalidRows: readonly InvalidRow[];
  /** By reason, most frequent first, each with its first row. */
  readonly invalidReasons: readonly InvalidReason[];
  /** Rows without a country, by the country their numbers suggest. */
  readonly suggestedCountries: Readonly<Record<string, number>>;
  /** Rows whose registration number is repaired without a question, and the number of each repair. */
  readonly repaired: number;
  readonly repairs: Readonly<Partial<Record<RepairRule, number>>>;
  /**
   * Rows whose number counts only with an agreeing name, by reason: the repair could name another company, or the
   * register is missing.
   */
  readonly needName: number;
  readonly needNameReasons: Readonly<Record<string, number>>;
  /** Rows that need a person whatever is found, by reason. */
  readonly toPerson: number;
  readonly toPersonReasons: Readonly<Record<string, number>>;
  /** Rows with the same request as an earlier one. */
  readonly repeated: number;
  /** Rows without a call that may cost, or finished in the run of this input. */
  readonly owned: number;
  /** Rows whose company must be searched first. */
  readonly toSearch: number;
  /** Rows with a known company and data to buy. */
  readonly toBuy: number;
  readonly units: Range & {
    /** If the first search finds every company. */
    readonly likely: number;
  };
  readonly v2Calls: Range;
  readonly creditReportsAtMost: number;
  /** The same by kind of call, for prices. */
  readonly purchases: Readonly<Record<'atLeast' | 'likely' | 'atMost', Purchases>>;
  /** Stored reports that are bought again only if they have expired, which the run looks up. */
  readonly creditReportsAgainAtMost: number;
  /** People's data that may be revealed, if the pipeline asks for it. */
  readonly revealsAtMost: Reveals;
  readonly allowance: AllowanceView | null;
  readonly days: Range;
}

export interface Range {
  readonly atLeast: number;
  readonly atMost: number;
}

export interface InvalidRow {
  readonly row: number;
  readonly line: number;
  readonly code: string;
  readonly message: string;
}

export interface AllowanceView {
  readonly observedAt: number;
  /** Units left now, as reported. Null if not reported. */
  readonly unitsLeft: number | null;
  /** Free workspaces only. */
  readonly dailyLimit: number | null;
  readonly resetAt: number | null;
}

/** The cost of one row. */
export interface RowCost {
  /** The one call it must make and pay for in any case. Null if there is none. */
  readonly sure: Operation | null;
  readonly most: Purchases;
  /** If the first search finds its company. */
  readonly likely: Purchases;
  /** At most. */
  readonly reveals: Reveals;
}

const INVALID_SHOWN = 20;

/** Beyond this many different requests, repeats are not recognised, so that memory stays bounded. */
const REMEMBERED = 4_000_000;

export class PlanTally {
  rows = 0;
  #valid = 0;
  #invalid = 0;
  readonly #invalidRows: InvalidRow[] = [];
  readonly #invalidReasons = new Map<string, InvalidReason>();
  readonly #suggested: Record<string, number> = {};
  #repaired = 0;
  readonly #repairs: Partial<Record<RepairRule, number>> = {};
  #needName = 0;
  readonly #needNameReasons: Record<string, number> = {};
  #toPerson = 0;
  readonly #reasons: Record<string, number> = {};
  #repeated = 0;
  readonly #rowsBy = { owned: 0, toSearch: 0, toBuy: 0 };
  readonly #purchases = { atLeast: noPurchases(), likely: noPurchases(), atMost: noPurchases() };
  #reportsAgain = 0;
  #reveals: Reveals = NO_REVEALS;
  /** Numbers take a seventh of the memory of texts (docs/developers/performance.md, "Small things"). */
  readonly #met = new Set<number>();

  invalid(row: InvalidRow): void {
    this.rows += 1;
    this.#invalid += 1;
    if (this.#invalidRows.length < INVALID_SHOWN) this.#invalidRows.push(row);
    const alike = this.#invalidReasons.get(row.code);
    const { rows, firstRows, ...first } = alike ?? { ...row, rows: 0, firstRows: [] };
    this.#invalidReasons.set(row.code, {
      ...first,
      rows: rows + 1,
      firstRows: rows < FIRST_ROWS ? [...firstRows, row.row] : firstRows,
    });
  }

  /** `isDecided`: nothing is due for the row, or its company is known. So it asks no person. */
  valid(subject: Subject, isDecided: boolean): void {
    this.rows += 1;
    this.#valid += 1;
    const number = subject.registrationNumber;
    if (subject.countryFrom !== undefined)
      this.#suggested[subject.countryCode] = (this.#suggested[subject.countryCode] ?? 0) + 1;
    const doubt = personNeeded(subject);
    if (doubt !== undefined && isDecided) return;
    if (doubt !== undefined) {
      this.#toPerson += 1;
      this.#reasons[doubt] = (this.#reasons[doubt] ?? 0) + 1;
    } else if (
      number?.treatment === 'needs_name' ||
      subject.taxInNumber === true ||
      subject.countryFrom !== undefined
    ) {
      this.#needName += 1;
      const reason = kindOf(number?.reason ?? 'the row names no country; its numbers tell one');
      this.#needNameReasons[reason] = (this.#needNameReasons[reason] ?? 0) + 1;
    } else if (number !== undefined && number.repairs.length > 0) {
      this.#repaired += 1;
      for (const rule of new Set(number.repairs.map((repair) => repair.rule)))
        this.#repairs[rule] = (this.#repairs[rule] ?? 0) + 1;
    }
  }

  /** Was this asked before? Remembers it. */
  hasMet(question: string): boolean {
    const hash = shortHash(question);
    if (this.#met.has(hash)) return true;
    if (this.#met.size < REMEMBERED) this.#met.add(hash);
    return false;
  }

  repeated(): void {
    this.#repeated += 1;
    this.#rowsBy.owned += 1;
  }

  /** `reportsAtMost`: stored reports that may have expired. */
  owned(reportsAtMost = 0): void {
    this.#rowsBy.owned += 1;
    this.#purchases.atMost.reports += reportsAtMost;
    this.#reportsAgain += reportsAtMost;
  }

  /** `searched`: its company must be searched first. `reportsAgain`: stored reports that may have expired. */
  toBuy(searched: boolean, { sure, most, likely, reveals }: RowCost, reportsAgain: number): void {
    // Only free calls are missing: whether a report is ready, and its body.
    if (most.units + most.reports + countCalls(most) === 0) {
      this.owned(reportsAgain);
      return;
    }
    this.#rowsBy[searched ? 'toSearch' : 'toBuy'] += 1;
    if (sure !== null) addCalls(this.#purchases.atLeast, sure, 1);
    addPurchases(this.#purchases.likely, likely);
    addPurchases(this.#purchases.atMost, most);
    this.#purchases.atMost.reports += reportsAgain;
    this.#reportsAgain += reportsAgain;
    this.#reveals = addReveals(this.#reveals, reveals);
  }

  /** Rows that were not examined count at their maximum. */
  inFull(most: RemainingCost): void {
    addPurchases(this.#purchases.likely, most);
    addPurchases(this.#purchases.atMost, most);
    this.#reveals = addReveals(this.#reveals, most.reveals);
  }

  plan(allowance: AllowanceRecord | undefined, now: number): RunPlan {
    const view = allowance === undefined ? null : viewOf(allowance, now);
    const { atLeast, likely, atMost } = this.#purchases;
    return {
      rows: this.rows,
      valid: this.#valid,
      invalid: this.#invalid,
      invalidRows: this.#invalidRows,
      invalidReasons: [...this.#invalidReasons.values()].sort((a, b) => b.rows - a.rows || a.row - b.row),
      suggestedCountries: this.#suggested,
      repaired: this.#repaired,
      repairs: this.#repairs,
      needName: this.#needName,
      needNameReasons: this.#needNameReasons,
      toPerson: this.#toPerson,
      toPersonReasons: this.#reasons,
      repeated: this.#repeated,
      ...this.#rowsBy,
      units: { atLeast: atLeast.units, likely: likely.units, atMost: atMost.units },
      v2Calls: { atLeast: countCalls(atLeast), atMost: countCalls(atMost) },
      creditReportsAtMost: atMost.reports,
      purchases: this.#purchases,
      creditReportsAgainAtMost: this.#reportsAgain,
      revealsAtMost: this.#reveals,
      allowance: view,
      days: { atLeast: daysFor(atLeast.units, view), atMost: daysFor(atMost.units, view) },
    };
  }
}

/** Why the row needs a person whatever the searches find. */
export function personNeeded(subject: Subject): string | undefined {
  const { registrationNumber: number, vatNumber: vat, name, ticker, leads, countryFrom } = subject;
  if (taxMayConfirm(subject) && name !== undefined) return undefined;
  if (number?.treatment === 'review')
    return number.reason === undefined ? 'the number cannot be read' : kindOf(number.reason);
  if (countryFrom !== undefined && name === undefined)
    return 'neither country nor name is given: what the numbers tell of the country confirms nothing';
  if (number !== undefined) return undefined;
  if (vat?.treatment === 'review') return 'the VAT number cannot be read, and there is no registration number';
  if (vat !== undefined) return undefined;
  if (name !== undefined) return 'only a name is given: a name alone never confirms';
  if (ticker !== undefined) return 'only a ticker is given';
  return leads === undefined ? undefined : 'neither number nor name is given: other fields are a hint, never a match';
}

/** Reasons quote the number. Their common kind is the rest. */
const kindOf = (reason: string) => reason.replace(/"[^"]*"|\b[A-Z][A-Za-z]{1,2} \d+\b/g, '…');

/** The daily successes of a free workspace (V1-2), assumed without an observation. */
const FREE_PER_DAY = 3;

function daysFor(units: number, allowance: AllowanceView | null): number {
  if (units === 0) return 0;
  if (allowance !== null && allowance.dailyLimit === null) return 1;
  const perDay = Math.max(1, allowance?.dailyLimit ?? FREE_PER_DAY);
  const today = allowance?.unitsLeft ?? perDay;
  return units <= today ? 1 : 1 + Math.ceil((units - today) / perDay);
}

function viewOf(record: AllowanceRecord, now: number): AllowanceView {
  const renewed = record.resetAt !== null && now >= record.resetAt;
  return {
    observedAt: record.observedAt,
    unitsLeft: renewed ? (record.dailyLimit ?? record.remainingUnits) : unitsLeft(record),
    dailyLimit: record.dailyLimit,
    resetAt: record.resetAt,
  };
}

type Planned = Pick<RunPlan, 'toSearch' | 'toBuy' | 'v2Calls' | 'creditReportsAtMost'>;

/**
 * The most calls of these operations that a planned run can make, for counts by permission. It is a bound, because
 * later requests depend on answers not known yet. No operation is called more often than all calls that may cost
 * together. Null if one is repeated as often as needed, like asking whether a report is ready.
 */
export function callsAtMost(
  operations: readonly string[],
  plan: Planned,
  pipeline: Parameters<typeof callsOfRow>[0],
): number | null {
  const calls = callsOfRow(pipeline).filter(({ operation }) => operations.includes(operation.name));
  if (calls.some(({ operation }) => operation.meter === 'free')) return null;
  const most = (meter: Meter) =>
    calls.reduce((sum, call) => sum + (call.operation.meter === meter ? call.atMost : 0), 0);
  const moving = plan.toSearch + plan.toBuy;
  // A stored report may have expired, so there may be more reports than rows that buy.
  const reports = most('report') > 0 ? plan.creditReportsAtMost : 0;
  return reports + Math.min(moving * most('not_told'), plan.v2Calls.atMost);
}
