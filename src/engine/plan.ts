// Plans a run without calls: adds up what its rows will cost.

import { addReveals, NO_REVEALS, type Reveals, unitsLeft } from '../domain/account-usage.js';
import type { Subject } from '../domain/candidate-grade.js';
import type { RepairRule } from '../domain/numbers/number-text.js';
import { FIRST_ROWS, type InvalidReason } from '../domain/outcomes.js';
import { addPurchases, countCalls, noPurchases, type Purchases } from '../domain/prices.js';
import { canBeConfirmed, readSearchSubject } from '../domain/search-subject.js';
import type { Ledger } from '../ledger/ledger.js';
import type { AllowanceRecord } from '../ledger/money/calls.js';
import type { ComparedRow, DueReason } from '../ledger/portfolio/portfolios.js';
import type { RowRecord } from '../ledger/rows/runs.js';
import { sanitizeText } from '../util/sanitize-text.js';
import {
  maximumCostOfRows,
  OWNED,
  type RemainingCost,
  type RowCost,
  type RowCostOptions,
  RowCosts,
} from './row-cost.js';

export interface PlanOptions extends RowCostOptions {
  readonly rows: AsyncIterable<PlannedRow>;
  /** How many due rows are examined. The others count at their maximum. Absent: all. */
  readonly examineAtMost?: number | undefined;
}

/** A row, as it would begin. */
export interface PlannedRow extends Omit<ComparedRow, 'isKnown' | 'standing'> {
  /** Null: nothing is due for it. */
  readonly due: DueRow | null;
}

interface DueRow {
  /** Null: the portfolio is not known yet. */
  readonly reason: DueReason | null;
  /** Undefined if the ledger has lost it. Then it counts at its maximum. */
  readonly record: () => Promise<RowRecord | undefined>;
}

export async function planRun(options: PlanOptions): Promise<RunPlan> {
  const { ledger, environments, now, pipeline, examineAtMost = Number.POSITIVE_INFINITY } = options;
  const tally = new PlanTally();
  const costs = new RowCosts(options);
  let examined = 0;
  let unexamined = 0;
  for await (const { row, line, fields, problem, due } of options.rows) {
    if (due !== null && due.reason !== null) tally.due(due.reason);
    const record = due === null || examined === examineAtMost ? undefined : await due.record();
    if (record !== undefined) examined += 1;
    else if (due !== null && problem === null) {
      unexamined += 1;
      continue;
    }
    const reading = problem === null ? readSearchSubject(record?.fields ?? fields) : { ok: false as const, ...problem };
    if (!reading.ok) {
      tally.invalid({ row, line, code: reading.code, message: sanitizeText(reading.message) });
      continue;
    }
    const { enquiry } = reading;
    const doubt = personNeeded(enquiry.subject);
    const isKnown = record === undefined || record.ids.length > 0;
    const isDecided = isKnown || (doubt !== undefined && (await costs.isDecided(enquiry)));
    const cost = record === undefined ? OWNED : await costs.of(record, enquiry);
    if (cost.asksPerson) tally.valid(enquiry.subject, doubt ?? 'the stored answers confirm no company', false);
    else tally.valid(enquiry.subject, doubt, isDecided);
    tally.add(cost, row, due === null);
  }
  tally.addUnexamined(maximumCostOfRows(unexamined, pipeline));
  const allowance = environments.v1 === null ? undefined : await ledger?.calls.allowance(environments.v1);
  return tally.plan(allowance === undefined ? null : viewOf(allowance, now));
}

export const maximumCost = ({ v2Calls, purchases, revealsAtMost, held }: RunPlan): RemainingCost => ({
  ...purchases.atMost,
  v2Calls: v2Calls.atMost,
  reveals: revealsAtMost,
  held,
});

/** So that the beginning is not delayed, rows beyond this number count at their maximum. */
export const MAX_EXAMINED_ROWS = 20_000;

const BATCH = 1000;

/** The rows of a run that an attempt would process. Rows beyond the most that are examined are only counted. */
export async function* rowsOfRun(
  runId: string,
  outcome: 'pending' | 'failed',
  { runs }: Pick<Ledger, 'runs'>,
): AsyncGenerator<PlannedRow> {
  let [examined, last] = [0, 0];
  while (examined < MAX_EXAMINED_ROWS) {
    const batch = await runs.rowsThatAre(outcome, runId, last, BATCH);
    if (batch.length === 0) break;
    for (const record of batch) yield { ...UNEXAMINED, due: { reason: null, record: async () => record } };
    examined += batch.length;
    last = batch.at(-1)?.row ?? last;
  }
  // Other workers may have finished some rows meanwhile.
  for (let left = (await runs.wanted(outcome, runId)) - examined; left > 0; left -= 1) yield UNEXAMINED;
}

const UNEXAMINED: PlannedRow = {
  row: 0,
  line: 0,
  fields: {},
  problem: null,
  due: { reason: null, record: async () => undefined },
};

export const newRow = (row: number, fields: RowRecord['fields']): RowRecord => ({
  row,
  line: 0,
  values: [],
  fields,
  ids: [],
  confirmedBefore: [],
  stagesBefore: {},
  outcome: 'pending',
  hold: null,
  holdReason: null,
  nextAt: null,
  stage: null,
  stages: {},
  matchGrade: null,
  matchedOn: null,
  unitsCharged: 0,
  begun: false,
  notBefore: null,
  fetched: {},
  errorCode: null,
  errorMessage: null,
  updatedAt: 0,
});

export interface RunPlan {
  readonly rows: number;
  readonly valid: number;
  readonly invalid: number;
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
  /** Why rows are due. Empty if the portfolio is not known yet. */
  readonly due: Readonly<Partial<Record<DueReason, number>>>;
  readonly repeated: number;
  readonly repeatedRows: readonly number[];
  /** Rows without a call that may cost, or finished in the run of this input. */
  readonly owned: number;
  /** The part of them for which nothing is due. */
  readonly upToDate: number;
  /** The part of them that stays on hold for an unknown charge. */
  readonly held: number;
  readonly toSearch: number;
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

const INVALID_SHOWN = 20;

class PlanTally {
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
  readonly #toPersonReasons: Record<string, number> = {};
  readonly #due: Partial<Record<DueReason, number>> = {};
  readonly #rowsBy = { owned: 0, repeated: 0, toSearch: 0, toBuy: 0 };
  #upToDate = 0;
  #held = 0;
  readonly #repeatedRows: number[] = [];
  readonly #purchases = { atLeast: noPurchases(), likely: noPurchases(), atMost: noPurchases() };
  #reportsAgain = 0;
  #reveals: Reveals = NO_REVEALS;

  invalid(row: InvalidRow): void {
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

  due(reason: DueReason): void {
    addOne(this.#due, reason);
  }

  /** `doubt`: why it needs a person. `isDecided`: nothing is due for it, or its company is known. So it needs none. */
  valid(subject: Subject, doubt: string | undefined, isDecided: boolean): void {
    this.#valid += 1;
    const number = subject.registrationNumber;
    if (subject.countryFrom !== undefined) addOne(this.#suggested, subject.countryCode);
    if (doubt !== undefined) {
      if (isDecided) return;
      this.#toPerson += 1;
      addOne(this.#toPersonReasons, doubt);
    } else if (
      number?.treatment === 'needs_name' ||
      subject.taxInNumber === true ||
      subject.countryFrom !== undefined
    ) {
      this.#needName += 1;
      addOne(this.#needNameReasons, kindOf(number?.reason ?? 'the row has no country, but its numbers name one'));
    } else if (number !== undefined && number.repairs.length > 0) {
      this.#repaired += 1;
      for (const rule of new Set(number.repairs.map((repair) => repair.rule))) addOne(this.#repairs, rule);
    }
  }

  add(
    { kind, atLeast, likely, atMost, reveals, reportsAgain, isHeld }: RowCost,
    row: number,
    isUpToDate: boolean,
  ): void {
    this.#rowsBy[kind] += 1;
    if (isUpToDate) this.#upToDate += 1;
    else if (isHeld) this.#held += 1;
    if (kind === 'repeated' && this.#repeatedRows.length < FIRST_ROWS) this.#repeatedRows.push(row);
    addPurchases(this.#purchases.atLeast, atLeast);
    addPurchases(this.#purchases.likely, likely);
    addPurchases(this.#purchases.atMost, atMost);
    this.#reportsAgain += reportsAgain;
    this.#reveals = addReveals(this.#reveals, reveals);
  }

  /** Rows that were not examined count at their maximum. */
  addUnexamined(most: RemainingCost): void {
    addPurchases(this.#purchases.likely, most);
    addPurchases(this.#purchases.atMost, most);
    this.#reveals = addReveals(this.#reveals, most.reveals);
  }

  plan(allowance: AllowanceView | null): RunPlan {
    const { atLeast, likely, atMost } = this.#purchases;
    const { repeated, owned, ...others } = this.#rowsBy;
    return {
      rows: this.#valid + this.#invalid,
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
      toPersonReasons: this.#toPersonReasons,
      due: this.#due,
      repeated,
      repeatedRows: this.#repeatedRows,
      owned: owned + repeated,
      upToDate: this.#upToDate,
      held: this.#held,
      ...others,
      units: { atLeast: atLeast.units, likely: likely.units, atMost: atMost.units },
      v2Calls: { atLeast: countCalls(atLeast), atMost: countCalls(atMost) },
      creditReportsAtMost: atMost.reports,
      purchases: this.#purchases,
      creditReportsAgainAtMost: this.#reportsAgain,
      revealsAtMost: this.#reveals,
      allowance,
      days: { atLeast: daysFor(atLeast.units, allowance), atMost: daysFor(atMost.units, allowance) },
    };
  }
}

function addOne<Key extends string>(counts: Partial<Record<Key, number>>, key: Key): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** Why the row needs a person whatever the searches find. */
function personNeeded(subject: Subject): string | undefined {
  if (canBeConfirmed(subject)) return undefined;
  const { registrationNumber: number, vatNumber: vat, name, ticker, leads, countryFrom, taxInNumber } = subject;
  if (number?.treatment === 'review')
    return number.reason === undefined ? 'the number cannot be read' : kindOf(number.reason);
  if (countryFrom !== undefined && name === undefined)
    return 'neither country nor name is given: a number alone does not confirm then';
  if (taxInNumber === true && name === undefined) return 'a tax number confirms only beside a name';
  if (vat?.treatment === 'review') return 'the VAT number cannot be read, and there is no registration number';
  if (name !== undefined) return 'only a name is given: a name alone never confirms';
  if (ticker !== undefined) return 'only a ticker is given';
  return leads === undefined ? undefined : 'neither number nor name is given: other fields are a hint, never a match';
}

/** Reasons quote the number: before a colon, as the subject, or as a sign in it. Their common kind is the rest. */
const kindOf = (reason: string) =>
  reason
    .replace(/^"[^"]*": /, '')
    .replace(/, "[^"]*"$/, '')
    .replace(/ has "[^"]*"/, ' has a sign')
    .replace(/(?<=court) "[^"]*"/, '')
    .replace(/"[^"]*"/g, 'the value')
    .replace(/\b[A-Z][A-Za-z]{1,2} \d+\b/g, 'the number');

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
