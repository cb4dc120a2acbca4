// Stores notifications of the provider's watch until a run reads them.

import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { idText } from '../../api/schema.js';
import { isPlainObject } from '../../api/v2/fields.js';
import type { ReceivedEvent } from '../../ledger/portfolio/watches.js';
import { ExactNumber, parseExact, stringifyExact } from '../../util/exact-json.js';
import { filesIn, makeFolder, writeFlushed } from '../../util/files.js';

/**
 * Companies that callbacks named and that are not read yet: a file for each, named by its v2 ID, with one line per
 * notification. The receiver needs no ledger, which a nightly run may hold for hours. A company named again stays one
 * file, and a notification that comes again stays one line.
 */
export class Inbox {
  readonly #folder: string;
  readonly #writing = new Map<string, Promise<'kept' | 'repeated' | 'full'>>();
  #waiting: number | undefined;
  #countedAt = 0;

  constructor(
    dataDir: string,
    private readonly atMost = MOST_WAITING,
  ) {
    this.#folder = join(dataDir, 'watch');
  }

  /** `kept` or `repeated`: it is on disk. `full`: too many are waiting. `told`: the notification, on one line. */
  async put(companyId: string, told = ''): Promise<'kept' | 'repeated' | 'full'> {
    if (!isId(companyId)) throw new RangeError('no ID of digits');
    const key = `${companyId} ${told}`;
    const before = this.#writing.get(key);
    if (before !== undefined) {
      const kept = await before;
      return kept === 'kept' ? 'repeated' : kept;
    }
    const writing = this.#put(companyId, told).finally(() => this.#writing.delete(key));
    this.#writing.set(key, writing);
    return await writing;
  }

  async #put(companyId: string, told: string): Promise<'kept' | 'repeated' | 'full'> {
    makeFolder(this.#folder);
    const path = join(this.#folder, companyId);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined && this.#hasNoRoom()) return 'full';
    const isRepeated = size !== undefined && told !== '' && this.told(companyId).split('\n').includes(told);
    const isFull = (size ?? 0) + told.length > BYTES_AT_MOST;
    await writeFlushed(path, 'a', told === '' || isFull || isRepeated ? '' : `${told}\n`);
    await writeFlushed(this.#folder, 'r');
    if (size === undefined && this.#waiting !== undefined) this.#waiting += 1;
    return isRepeated ? 'repeated' : 'kept';
  }

  /** Counted again if it seems full, because another process may have read them, but not for each callback. */
  #hasNoRoom(): boolean {
    const isOld = performance.now() - this.#countedAt >= RECOUNT_AFTER_MS;
    if (this.#waiting === undefined || (this.#waiting >= this.atMost && isOld)) {
      this.#waiting = this.waiting().length;
      this.#countedAt = performance.now();
    }
    return this.#waiting >= this.atMost;
  }

  waiting(): readonly string[] {
    return filesIn(this.#folder).filter(isId);
  }

  told(companyId: string): string {
    try {
      return readFileSync(join(this.#folder, companyId), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    }
  }

  /**
   * They are recorded elsewhere. A company named again at this moment is not lost, because its history is read
   * afterwards.
   */
  remove(companyIds: readonly string[]): void {
    for (const id of companyIds) rmSync(join(this.#folder, id), { force: true });
    this.#waiting = undefined;
  }
}

/** Only digits, so that no path leads out of the folder. */
export const isId = (text: string): boolean => /^\d{1,40}$/.test(text);

/** Further ones are dropped: the change history has them too. A file takes 4 KB of the disk. */
const MOST_WAITING = 10_000;
const RECOUNT_AFTER_MS = 10_000;

/** Per company. Anyone who knows the address can send more: they name the company but are not stored. */
const BYTES_AT_MOST = 128 * 1024;

export interface Notification {
  readonly companyId: string;
  readonly line: string;
}

/** Undefined if it is no change notification. It is not signed, so it only suggests a look at the company (V2-13). */
export function readNotification(body: Buffer): Notification | undefined {
  try {
    const said = parseExact(body);
    const company = isPlainObject(said) ? said.company_data : undefined;
    const id = isPlainObject(company) ? company.id : undefined;
    const companyId = typeof id === 'string' || id instanceof ExactNumber ? idText(id) : '';
    return isId(companyId) ? { companyId, line: stringifyExact(said) } : undefined;
  } catch {
    return undefined;
  }
}

/** A notification as an event. `extra` marks that it does not come from the history. */
export function notificationEvent(line: string): ReceivedEvent[] {
  try {
    const said = parseExact(line);
    if (!isPlainObject(said)) return [];
    const { field, status, ...rest } = said;
    const odd = Object.entries({ field, status }).filter(
      ([, value]) => value !== undefined && typeof value !== 'string',
    );
    const notification = { ...rest, ...Object.fromEntries(odd) };
    return [
      {
        eventType: typeof field === 'string' ? field : null,
        status: typeof status === 'string' ? status : null,
        message: null,
        dateCreated: null,
        extra: stringifyExact({ notification }),
      },
    ];
  } catch {
    // Half a line of a process that died. Its company is read anyway.
    return [];
  }
}
