import type { IdSpace } from '../../domain/id-spaces.js';
import type { GlanceEntry, Glances } from '../snapshot.js';
import { type Connection, connect, type Statement } from './driver.js';

/**
 * What readers tell of companies at a glance, for the lines of the list, which come in another order. A database without a
 * name: SQLite keeps what is too much for its cache in a file that nobody else can open and that is gone with the process, so
 * that a list of any length is joined in the same memory.
 */
export class GlanceStore {
  #database: Connection | undefined;
  #insert: Statement<[string, string, string, string], unknown> | undefined;
  #select: Statement<[string, string], { readonly reader: string; readonly cells: string }> | undefined;

  keep(reader: string, space: IdSpace, entries: readonly GlanceEntry[]): void {
    if (entries.length === 0) return;
    if (this.#database === undefined) this.#open();
    for (const { id, cells } of entries) this.#insert?.run(space, id, reader, cells);
  }

  of(ids: Readonly<Partial<Record<IdSpace, string>>>): Glances {
    const found: Record<string, string> = {};
    if (this.#select === undefined) return found;
    for (const [space, id] of Object.entries(ids))
      for (const { reader, cells } of this.#select.all(space, id)) found[reader] = cells;
    return found;
  }

  close(): void {
    this.#database?.close();
  }

  #open(): void {
    const database = connect('');
    // It is nobody's record: what is lost with the process is made again.
    database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
      CREATE TABLE glances (space TEXT, id TEXT, reader TEXT, cells TEXT, PRIMARY KEY (space, id, reader)) WITHOUT ROWID;
      BEGIN`);
    this.#insert = database.prepare('INSERT OR REPLACE INTO glances VALUES (?, ?, ?, ?)');
    this.#select = database.prepare('SELECT reader, cells FROM glances WHERE space = ? AND id = ?');
    this.#database = database;
  }
}
