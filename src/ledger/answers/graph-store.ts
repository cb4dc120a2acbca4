import { JoinedNodes, type NodeStore } from '../../domain/ownership-graph.js';
import { type Connection, connect, type Statement } from '../db/sqlite/connection.js';

export type GraphCells = Readonly<Record<string, string>>;

/** What makes the key of a node, the best first. A `match` is a company of the list. */
export const KEY_SOURCES = ['match', 'number', 'id', 'number_and_name', 'mention'] as const;

export interface GraphNodeFacts {
  readonly key: string;
  readonly keySource: (typeof KEY_SOURCES)[number];
  readonly kind: 'company' | 'person' | 'unknown';
  readonly cells: GraphCells;
}

export interface GraphRelation {
  readonly from: number;
  readonly to: number;
  readonly kind: 'shareholding' | 'directorship' | 'group_link';
  readonly operation: string;
  /** Lines that differ in it are two relations. Of the others the newest counts. */
  readonly place: string;
  readonly fetchedAt: number;
  readonly cells: GraphCells;
}

export interface KeyedRelation extends Pick<GraphRelation, 'kind' | 'operation' | 'fetchedAt' | 'cells'> {
  readonly fromKey: string;
  readonly toKey: string;
  /** Whether no line names a holder or parent of the first end. Null for a directorship. */
  readonly chainEnds: boolean | null;
}

/**
 * The companies and people of an export, and what links them. It is an unnamed SQLite database: overflow goes to a
 * private temporary file, so that a list of any length needs the same memory.
 */
export class GraphStore implements NodeStore<GraphNodeFacts> {
  readonly #nodes = new JoinedNodes<GraphNodeFacts>(this, mergeFacts);
  #opened: Opened | undefined;
  /** The last text that was read, by node. */
  #read: readonly [node: number, text: string] | undefined;

  add(identifiers: readonly string[], facts: GraphNodeFacts): number {
    return this.#nodes.add(identifiers, facts);
  }

  relate({ from, to, kind, operation, place, fetchedAt, cells }: GraphRelation): void {
    this.#open().relate.run(from, to, kind, operation, place, fetchedAt, JSON.stringify(cells));
  }

  /** Ordered by key. Call it when everything is added. */
  *entities(): Generator<GraphNodeFacts> {
    const { database } = this.#open();
    this.#finish(database);
    const all = database.prepare<[], { readonly key: string; readonly facts: string }>(ENTITIES);
    for (const { key, facts } of all.iterate()) {
      const { keySource, kind, cells } = JSON.parse(facts) as GraphNodeFacts;
      yield { key, keySource, kind, cells };
    }
  }

  /** Ordered by the second end. Call it after `entities`. */
  *relations(): Generator<KeyedRelation> {
    type Line = Omit<KeyedRelation, 'cells' | 'chainEnds'> & {
      readonly cells: string;
      readonly chainEnds: 0 | 1 | null;
    };
    for (const line of this.#open().database.prepare<[], Line>(RELATIONS).iterate())
      yield {
        fromKey: line.fromKey,
        toKey: line.toKey,
        kind: line.kind,
        operation: line.operation,
        fetchedAt: line.fetchedAt,
        chainEnds: line.chainEnds === null ? null : line.chainEnds === 1,
        cells: JSON.parse(line.cells) as GraphCells,
      };
  }

  close(): void {
    this.#opened?.database.close();
    this.#opened = undefined;
  }

  find(identifier: string): number | undefined {
    return this.#open().find.get(identifier);
  }

  identify(identifier: string, node: number): void {
    this.#open().identify.run(identifier, node);
  }

  facts(node: number): GraphNodeFacts {
    const text = this.#open().facts.get(node) ?? '';
    this.#read = [node, text];
    return JSON.parse(text) as GraphNodeFacts;
  }

  keep(node: number, facts: GraphNodeFacts): void {
    const text = JSON.stringify(facts);
    if (this.#read?.[0] !== node || this.#read[1] !== text) this.#open().keep.run(node, facts.key, text);
  }

  drop(node: number): void {
    this.#open().drop.run(node);
  }

  /** Relations lead to the joined nodes, and every key is unique. */
  #finish(database: Connection): void {
    database.exec(`CREATE INDEX IF NOT EXISTS relations_from ON relations (from_node);
      CREATE INDEX IF NOT EXISTS relations_to ON relations (to_node)`);
    const from = database.prepare('UPDATE relations SET from_node = ? WHERE from_node = ?');
    const to = database.prepare('UPDATE relations SET to_node = ? WHERE to_node = ?');
    for (const [node, root] of this.#nodes.joined()) {
      from.run(root, node);
      to.run(root, node);
    }
    database.exec(UNIQUE_KEYS);
  }

  #open(): Opened {
    if (this.#opened !== undefined) return this.#opened;
    const database = connect('');
    // Temporary data: no durability is needed.
    database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768;
      CREATE TABLE identifiers (identifier TEXT PRIMARY KEY, node INTEGER) WITHOUT ROWID;
      CREATE TABLE nodes (node INTEGER PRIMARY KEY, key TEXT, facts TEXT);
      CREATE TABLE relations (from_node INTEGER, to_node INTEGER, kind TEXT, operation TEXT, place TEXT, fetched_at INTEGER, cells TEXT);
      BEGIN`);
    this.#opened = {
      database,
      find: database.prepare<[string], number>('SELECT node FROM identifiers WHERE identifier = ?').pluck(),
      identify: database.prepare('INSERT OR REPLACE INTO identifiers VALUES (?, ?)'),
      facts: database.prepare<[number], string>('SELECT facts FROM nodes WHERE node = ?').pluck(),
      keep: database.prepare('INSERT OR REPLACE INTO nodes VALUES (?, ?, ?)'),
      drop: database.prepare('DELETE FROM nodes WHERE node = ?'),
      relate: database.prepare('INSERT INTO relations VALUES (?, ?, ?, ?, ?, ?, ?)'),
    };
    return this.#opened;
  }
}

interface Opened {
  readonly database: Connection;
  readonly find: Statement<[string], number>;
  readonly identify: Statement<[string, number], unknown>;
  readonly facts: Statement<[number], string>;
  readonly keep: Statement<[number, string, string], unknown>;
  readonly drop: Statement<[number], unknown>;
  readonly relate: Statement<[number, number, string, string, string, number, string], unknown>;
}

/** Two companies of the list stay two, whatever an answer says about one of them. Their rows tell their facts. */
function mergeFacts(first: GraphNodeFacts, next: GraphNodeFacts): GraphNodeFacts | undefined {
  const rank = KEY_SOURCES.indexOf(next.keySource) - KEY_SOURCES.indexOf(first.keySource);
  if (rank === 0 && next.keySource === 'match' && next.key !== first.key) return undefined;
  const best = rank < 0 || (rank === 0 && next.key < first.key) ? next : first;
  const cells = next.keySource === 'match' ? { ...first.cells, ...next.cells } : { ...next.cells, ...first.cells };
  return { key: best.key, keySource: best.keySource, kind: first.kind, cells };
}

/** Two records of the provider may have one registration number, and lists with equal positions. */
const UNIQUE_KEYS = `UPDATE nodes SET key = numbered.key || '.' || nth
  FROM (SELECT node, key, row_number() OVER (PARTITION BY key ORDER BY node) AS nth FROM nodes) AS numbered
  WHERE numbered.node = nodes.node AND nth > 1`;

const ENTITIES = 'SELECT key, facts FROM nodes ORDER BY key';

const RELATIONS = `SELECT source.key AS fromKey, target.key AS toKey, kind, operation, cells, max(fetched_at) AS fetchedAt,
    CASE WHEN kind <> 'directorship' THEN NOT EXISTS (SELECT 1 FROM relations AS above
      WHERE above.to_node = relations.from_node AND above.kind <> 'directorship' AND above.from_node <> above.to_node) END AS chainEnds
  FROM relations JOIN nodes AS source ON source.node = from_node JOIN nodes AS target ON target.node = to_node
  WHERE from_node <> to_node
  GROUP BY target.key, kind, source.key, operation, place ORDER BY target.key, kind, source.key, operation, place`;
