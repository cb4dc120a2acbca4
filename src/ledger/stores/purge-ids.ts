import type { IdSpace } from '../../domain/id-spaces.js';

export interface SpacedId {
  readonly space: IdSpace;
  readonly id: string;
}

/** The IDs of one entity. Each stands with its space: the same digits in another space are another company. */
export class EntityIds {
  readonly #ids = new Map<string, SpacedId>();

  get size(): number {
    return this.#ids.size;
  }

  add({ space, id }: SpacedId): void {
    this.#ids.set(`${space}:${id}`, { space, id });
  }

  has({ space, id }: SpacedId): boolean {
    return this.#ids.has(`${space}:${id}`);
  }

  texts(): readonly string[] {
    return [...this.#ids.values()].map(({ id }) => id);
  }

  /** As `AMONG_IDS` takes them. */
  json(): string {
    return json([...this.#ids.values()].map(({ space, id }) => `${space.padEnd(WIDTH)}${id}`));
  }
}

export interface RowKey {
  readonly run_id: string;
  readonly row: number;
}

/** As `AMONG_ROWS` takes them. */
export const rowsJson = (rows: readonly RowKey[]): string =>
  json(rows.map(({ run_id, row }) => `${String(row).padStart(WIDTH)}${run_id}`));

export const json = (values: Iterable<string | number>): string => JSON.stringify([...values]);

/** A pair comes as one text, which every engine can take apart: its first part has this width. */
const WIDTH = 20;
const FIRST = `substr(value, 1, ${WIDTH})`;
const SECOND = `substr(value, ${WIDTH + 1})`;

/** Behind `(space, id)`, whatever a table calls the two. */
export const AMONG_IDS = `IN (SELECT rtrim(${FIRST}), ${SECOND} FROM json_each(@ids))`;
export const AMONG_ROWS = `(run_id, row) IN (SELECT ${SECOND}, CAST(${FIRST} AS BIGINT) FROM json_each(@rows))`;

/** The ownership module has companies by their number alone: the same one stands for others in other countries (V2-22). */
export const isOneCompanys = (space: IdSpace): boolean => space !== 'ownership';
export const ONE_COMPANYS = "space <> 'ownership'";
