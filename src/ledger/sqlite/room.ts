import { LedgerError } from '../../domain/errors.js';
import { hintFor } from '../../domain/system-failure.js';
import { freeBytes } from '../../util/free-space.js';

/**
 * Room for answers that are under way. A call that is sent when the disk is nearly full is paid for and cannot be
 * written down: on a disk of 24 MB that was seen for 49 calls of 64 in flight. So the last of it is kept for those.
 */
export class Room {
  readonly #path: string;
  readonly #free: (path: string) => number | undefined;
  #asked = 0;
  #none: LedgerError | undefined;

  constructor(path: string, free = freeBytes) {
    this.#path = path;
    this.#free = free;
  }

  /** Throws once there is too little; from then on always, so that those under way come home and none sets out. */
  mustBeThere(): void {
    if (this.#none !== undefined) throw this.#none;
    this.#asked += 1;
    if (this.#asked % LOOK_EVERY !== 1) return;
    const free = this.#free(this.#path);
    if (free === undefined || free >= KEPT_BYTES) return;
    this.#none = new LedgerError(undefined, this.#path, {
      message: `the disk of the ledger ${this.#path} is nearly full: what is left was kept for calls under way`,
      code: 'DISK_FULL',
      hint: hintFor('DISK_FULL'),
    });
    throw this.#none;
  }
}

/** A look costs a few microseconds; a hundred answers do not fill what is kept. */
const LOOK_EVERY = 16;
const KEPT_BYTES = 8 * 1024 * 1024;
