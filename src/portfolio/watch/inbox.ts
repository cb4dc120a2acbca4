import { readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../util/make-folder.js';

/**
 * Companies that callbacks have named and nobody has looked into yet: an empty file for each, called by its v2 ID. Whoever
 * receives callbacks needs no ledger, which a nightly run may hold for hours. A company that is named again is named once;
 * nothing else of a callback is kept, as anybody could have sent it.
 */
export class Inbox {
  readonly #folder: string;
  readonly #atMost: number;
  #waiting: number | undefined;

  constructor(dataDir: string, atMost = 100_000) {
    this.#folder = join(dataDir, 'watch');
    this.#atMost = atMost;
  }

  /** True: it is on disk. False: too many wait already. */
  async put(companyId: string): Promise<boolean> {
    if (!isId(companyId)) throw new RangeError('no ID of digits');
    makeFolder(this.#folder);
    // Counted anew only where it seems full: somebody else may have looked into them.
    if ((this.#waiting ?? Number.POSITIVE_INFINITY) >= this.#atMost) this.#waiting = this.waiting().length;
    if (this.#waiting !== undefined && this.#waiting >= this.#atMost) return false;
    await flushed(join(this.#folder, companyId), 'w');
    await flushed(this.#folder, 'r');
    this.#waiting = (this.#waiting ?? 0) + 1;
    return true;
  }

  waiting(): readonly string[] {
    try {
      const entries = readdirSync(this.#folder, { withFileTypes: true });
      return entries.filter((entry) => entry.isFile() && isId(entry.name)).map(({ name }) => name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  /**
   * They are noted elsewhere. One that is named once more at this very moment is not lost: its history is read after this.
   */
  remove(companyIds: readonly string[]): void {
    for (const id of companyIds) rmSync(join(this.#folder, id), { force: true });
  }
}

/** Nothing that leads out of the folder. */
export const isId = (text: string): boolean => /^\d{1,40}$/.test(text);

async function flushed(path: string, flags: 'w' | 'r'): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
