/** Where what was bought is kept. */
export interface LedgerPlace {
  readonly dataDir: string;
  /** Without it: SQLite in the data directory. */
  readonly ledgerUrl?: string | undefined;
}

export interface LedgerOptions extends LedgerPlace {
  readonly now: number;
  /** For whoever has it open for days; without it, time stands still. */
  readonly clock?: (() => number) | undefined;
  /**
   * - `write`: for the one process that works here; created where there is none, and brought up to date.
   * - `existing`: the same, for commands that have nothing to do where there is none.
   * - `note`: for a look that leaves a note: the ledger is whole and of this version, and nothing else in it is touched.
   * - `read`: for commands that only look; it may be in use meanwhile.
   */
  readonly access: 'write' | 'existing' | 'note' | 'read';
  /** Told about things that are odd and not wrong. */
  readonly onNote?: ((note: string) => void) | undefined;
  /** How many large bodies are packed on the first thread before a second one is started. */
  readonly packAlone?: number;
  /** Pages the file may have: SQLite then says that the disk is full. */
  readonly pagesAtMost?: number;
  /** For so long a database on a server may be away before whoever needs it gives up. */
  readonly patienceMs?: number;
  /** Whoever waits for it gives up when this is aborted. */
  readonly giveUp?: AbortSignal | undefined;
  /** Bytes left where a file is; without it the file system is asked. */
  readonly freeBytes?: (path: string) => number | undefined;
}

export interface Migrated {
  /** The schema that the ledger had, and has. */
  readonly from: number;
  readonly to: number;
  /** The tables from which work is handed out were made, or made anew. */
  readonly madeJobs: boolean;
}

/** A copy of a ledger in a file, as it was when the copying began. */
export interface BackedUp {
  readonly path: string;
  readonly bytes: number;
  readonly schema: number;
  readonly calls: number;
  readonly units: number;
  readonly answers: number;
  readonly decisions: number;
}

/** In pages. */
export interface BackupProgress {
  readonly done: number;
  readonly of: number;
}
