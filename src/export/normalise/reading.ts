import { type ExactJson, ExactNumber } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import type { RowOf } from '../table.js';
import { type TableName, type Tables, tableNames } from '../tables/index.js';

export type JsonObject = { [key: string]: ExactJson };

/** A raw body of the run, as bought, and the request it answers. */
export interface Answer {
  readonly operation: string;
  /** The ID that was asked for: a company, or a report. */
  readonly id: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly body: ExactJson;
  readonly rawSha256: string;
  /** ISO timestamp. */
  readonly fetchedAt: string;
}

/** A place in a body whose form the document does not describe. */
export interface Issue {
  readonly operation: string;
  readonly rawSha256: string;
  readonly pointer: string;
  readonly expected: string;
  readonly seen: string;
}

/** What normalisers add to. */
export class Gathered {
  readonly rows = Object.fromEntries(tableNames.map((name) => [name, []])) as unknown as {
    [Name in TableName]: RowOf<Tables[Name]>[];
  };
  readonly issues: Issue[] = [];
}

/** A place in one answer: where an issue is noted, with its pointer. */
export class Place {
  constructor(
    readonly answer: Pick<Answer, 'operation' | 'rawSha256'>,
    readonly gathered: Gathered,
    readonly pointer: string = '',
  ) {}

  at(key: string | number): Place {
    const token = typeof key === 'number' ? String(key) : key.replaceAll('~', '~0').replaceAll('/', '~1');
    return new Place(this.answer, this.gathered, `${this.pointer}/${token}`);
  }

  unexpected(expected: string, value: ExactJson): void {
    const { operation, rawSha256 } = this.answer;
    this.gathered.issues.push({ operation, rawSha256, pointer: this.pointer, expected, seen: describe(value) });
  }

  /** The object that is expected here. Null and missing are "not returned", and no issue. */
  object(value: ExactJson | undefined): JsonObject | undefined {
    if (isObject(value)) return value;
    if (value !== undefined && value !== null) this.unexpected('an object', value);
    return undefined;
  }

  list(value: ExactJson | undefined): readonly ExactJson[] | undefined {
    if (Array.isArray(value)) return value;
    if (value !== undefined && value !== null) this.unexpected('a list', value);
    return undefined;
  }
}

export const isObject = (value: ExactJson | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

const LONGEST_SEEN = 80;

/** Scalars as they are, cut short; what is larger only by its kind. */
function describe(value: ExactJson): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isObject(value)) return `an object with ${Object.keys(value).length} member(s)`;
  const text = stringifyExact(value);
  return text.length <= LONGEST_SEEN ? text : `${text.slice(0, LONGEST_SEEN)}…`;
}
