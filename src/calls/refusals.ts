import type { ApiError } from '../api/errors.js';
import { concernsOne, type Operation } from '../api/operation.js';

/**
 * What v2 has refused in this start. It does not say whether a refusal is about the operation or about one company. It is
 * the company's own once the operation has answered another request that was begun after it, or has refused nobody else
 * by the end and was answered before, in this start or of late: until then its row waits, for the permission may be
 * missing, or have been withdrawn with it, and the next one will be refused, too.
 */
export class Refusals {
  readonly #open = new Map<string, Refused>();
  readonly #own = new Map<string, Refused>();
  /** Rows whose refusal has turned out to be their own after they were parked for it. */
  readonly #decided: number[] = [];
  /** Operations that were answered in this start. */
  readonly #answered = new Set<Operation>();

  /** Returns how many requests of the operation are refused, with no answer since. */
  note(operation: Operation, requestKey: string, error: ApiError, lastBegun: number): number {
    this.#open.set(requestKey, { operation, error, lastBegun, rows: [] });
    let count = 0;
    for (const refused of this.#open.values()) if (refused.operation === operation) count += 1;
    return count;
  }

  noteOwn(operation: Operation, requestKey: string, error: ApiError): void {
    this.#own.set(requestKey, { operation, error, lastBegun: 0, rows: [] });
  }

  /** `begun` is the number of the call that was answered: one that was under way before says nothing. */
  answered(operation: Operation, begun: number): void {
    this.#answered.add(operation);
    for (const [requestKey, refused] of this.#open) {
      // v1 names the scope: that is about no company.
      if (refused.operation !== operation || operation.api === 'v1' || begun <= refused.lastBegun) continue;
      this.#open.delete(requestKey);
      this.#isOwn(requestKey, refused);
    }
  }

  /**
   * Nobody is left who could be answered: a refusal of v2 that stands alone is the company's own, if anything shows that
   * the operation may be used. v1 names the scope.
   */
  async concludeAlone(wasAnsweredOfLate: (operation: Operation) => Promise<boolean>): Promise<boolean> {
    const decided = this.#decided.length;
    for (const [requestKey, refused] of [...this.#open]) {
      const { operation } = refused;
      const others = [...this.#open.values()].filter((other) => other.operation === operation);
      if (operation.api === 'v1' || others.length > 1) continue;
      if (!this.#answered.has(operation) && !(await wasAnsweredOfLate(operation))) continue;
      this.#open.delete(requestKey);
      this.#isOwn(requestKey, refused);
    }
    return this.#decided.length > decided;
  }

  #isOwn(requestKey: string, refused: Refused): void {
    if (!concernsOne(refused.operation)) return;
    this.#own.set(requestKey, refused);
    this.#decided.push(...refused.rows);
  }

  /** What was refused in this start is not asked for again in it. */
  of(requestKey: string): { readonly isOwn: boolean; readonly error: ApiError } | undefined {
    const own = this.#own.get(requestKey);
    if (own !== undefined) return { isOwn: true, error: own.error };
    const open = this.#open.get(requestKey);
    return open && { isOwn: false, error: open.error };
  }

  /** The row is parked for this request, and is told when it is decided. */
  awaits(row: number, requestKey: string): void {
    const own = this.#own.get(requestKey);
    if (own !== undefined) this.#decided.push(row);
    (own ?? this.#open.get(requestKey))?.rows.push(row);
  }

  /** The row was parked for this request in this start: what was met stands among its errors. */
  isTold(row: number, requestKey: string): boolean {
    return this.#own.get(requestKey)?.rows.includes(row) === true;
  }

  /** The next row that was parked and can be taken up again; `isFree` where it has come home. */
  takeDecided(isFree: (row: number) => boolean): number | undefined {
    const index = this.#decided.findIndex(isFree);
    return index === -1 ? undefined : this.#decided.splice(index, 1)[0];
  }
}

interface Refused {
  readonly operation: Operation;
  readonly error: ApiError;
  /** The last call that had been begun when it was refused. */
  readonly lastBegun: number;
  readonly rows: number[];
}
