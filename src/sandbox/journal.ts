import { closeSync, fstatSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../util/make-folder.js';
import { UnreadableFile } from '../util/small-file.js';

/** One change of the provider's state, as it stands in the journal. */
export type Entry =
  | { readonly type: 'start'; readonly at: number }
  | { readonly type: 'charge'; readonly charge: ChargeEntry }
  | { readonly type: 'undelivered'; readonly requestId: string }
  | { readonly type: 'unlock'; readonly at: number }
  | { readonly type: 'contacts'; readonly at: number; readonly email: number; readonly phone: number }
  | { readonly type: 'report'; readonly report: ReportEntry }
  | { readonly type: 'watch'; readonly id: string; readonly at: number; readonly fields: readonly string[] | null }
  | { readonly type: 'unwatch'; readonly id: string }
  | { readonly type: 'fields'; readonly fields: readonly string[] }
  | { readonly type: 'callback'; readonly callback: string }
  | { readonly type: 'change'; readonly change: ChangeEntry };

export interface ChargeEntry {
  readonly at: number;
  readonly api: 'v1' | 'v2';
  readonly operation: string;
  /** A short hash of the key, never the key. */
  readonly key: string;
  readonly requestId: string;
  readonly units: number;
  readonly permission?: string | undefined;
  /** Parameters as JSON with sorted names. */
  readonly params: string;
}

export interface ReportEntry {
  readonly id: number;
  readonly sourceId: string;
  readonly name: string;
  readonly registrationNumber: string | null;
  readonly country: string;
  readonly format: 'json' | 'html';
  readonly createdAt: number;
  readonly readyAt: number;
}

export interface ChangeEntry {
  readonly companyId: string;
  readonly at: number;
  readonly field: string;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  /** Nobody watched: it is in the register, and in no history. */
  readonly unwatched?: true | undefined;
}

/** Appends synchronously: what the sandbox charged survives a process killed in the next instant. */
export class Journal {
  readonly #descriptor: number | undefined;
  readonly past: readonly Entry[];

  constructor(path: string | undefined) {
    if (path === undefined) {
      this.past = [];
      return;
    }
    this.past = isThere(path) ? readEntries(path) : [];
    makeFolder(dirname(path));
    this.#descriptor = openSync(path, 'a', 0o600);
    if (fstatSync(this.#descriptor).size > 0) writeSync(this.#descriptor, '\n');
  }

  append(entry: Entry): void {
    if (this.#descriptor !== undefined) writeSync(this.#descriptor, `${JSON.stringify(entry)}\n`);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}

/** Whoever opens a pipe is kept waiting until somebody is at its other end. */
function isThere(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) throw new UnreadableFile(`${path} is not a regular file`);
  return found !== undefined;
}

/** A line cut short by a crash is the last of its process; it was never acted on by anyone, so it is passed over. */
function readEntries(path: string): readonly Entry[] {
  const entries: Entry[] = [];
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue;
    try {
      entries.push(JSON.parse(line) as Entry);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return entries;
}
