import type { ExitCode } from '../domain/exit-codes.js';

/** A stored answer whose bytes are not what its digest says. */
export interface DamagedAnswer {
  readonly callId: number;
  readonly rawSha256: string;
  readonly api: string;
  readonly operation: string;
  /** JSON; null where the answer was never owned. */
  readonly params: string | null;
  readonly runId: string | null;
  readonly row: number | null;
  /** It is the newest answer to its request: tables are written from it. */
  readonly owned: boolean;
}

export type DatabaseHealth =
  /** With `note`: something shows that more was there. */
  | { readonly state: 'absent' | 'sound'; readonly note?: string | undefined }
  | { readonly state: 'no_driver'; readonly detail: string }
  /** It could not be looked at: that says nothing about the file. */
  | { readonly state: 'unusable'; readonly detail: string; readonly exit: ExitCode }
  | { readonly state: 'newer' | 'older'; readonly schema: number }
  | { readonly state: 'damaged'; readonly detail: string; readonly wayOut?: string };

/** Something the ledger keeps that cannot be read, or points to what is not there. */
export interface DamagedRecord {
  readonly what: string;
  readonly remedy: Remedy;
}

/**
 * What leads on. `ask_anew`: it is about an answer, which whoever needs it buys again; `drop_run`: it goes with its run;
 * `withdraw`: a decision that can be made again; `none_needed`: only `status` tells of it.
 */
export type Remedy =
  | { readonly kind: 'ask_anew' | 'restore' | 'none_needed' }
  | { readonly kind: 'drop_run'; readonly run: string }
  | { readonly kind: 'withdraw'; readonly decision: number };

export interface DeepHealth {
  readonly bodies: number;
  readonly damaged: readonly DamagedAnswer[];
  readonly records: readonly DamagedRecord[];
}

/** What a database on a server is found to be, for whoever is to work with it. */
export interface ServerHealth {
  /** Without its password. */
  readonly name: string;
  readonly version: string;
  readonly role: string;
  readonly roundTripMs: number;
  /** How much its clock is ahead of this machine's; less than 0: behind. Leases are compared across machines. */
  readonly clockAheadMs: number;
  readonly ledger: SchemaFound;
  readonly queue: SchemaFound & { readonly name: string };
  /** Of an earlier step: queues that pg-boss is to have, and has not. */
  readonly queuesMissing: readonly string[];
  /** May this role make what is missing or old (`kybatch migrate`)? */
  readonly mayMigrate: boolean;
  readonly rightsMissing: readonly MissingRight[];
  /** Of the limit that leaves the least: that of the server, of the database or of the role. */
  readonly connections: {
    readonly whose: 'server' | 'database' | 'role';
    readonly used: number;
    readonly most: number;
  };
  readonly isEncrypted: boolean;
  /** Whoever listens on the way listens on this machine. */
  readonly isLocal: boolean;
  /** A standby, or one that was told to take nothing. */
  readonly isReadOnly: boolean;
  /** Settings by which a commit may be lost that was told to be on disk. */
  readonly unsafeSettings: readonly string[];
}

/** Clocks that differ by more than this do not tell whether somebody is alive. */
export const SKEW_MS = 5000;

/** `has`: 0 where there is none; null where this role may not look. */
export interface SchemaFound {
  readonly has: number | null;
  readonly needs: number;
}

export interface MissingRight {
  /** `INSERT on kybatch.calls, kybatch.rows` */
  readonly what: string;
  /** The statement that grants it, for the owner. */
  readonly grant: string;
}
