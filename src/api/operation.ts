// The declaration of an operation: route, parameters, answer, price and freshness.

import type { z } from 'zod';
import type { ApiName, IdSpace, Meter } from '../domain/provider.js';

export type { ApiName };

/** How long an answer is fresh if the pipeline does not say. `never`: it describes only the present moment. */
export type Keep = 'never' | { readonly days: number };

export interface OperationSubject {
  readonly space: IdSpace;
  readonly param: string;
}
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The route of a request. `rename` gives a parameter another name on the wire. */
export interface Route {
  readonly method: HttpMethod;
  /** Relative to the base URL. `{name}` is a parameter, `{/name}` a slash and an optional parameter. */
  readonly path: string;
  readonly rename?: Readonly<Record<string, string>> | undefined;
  /**
   * `list`: the body is the one list parameter that is not in the path. Default: an object with one member per
   * parameter.
   */
  readonly body?: 'list' | undefined;
}

/**
 * One operation of a provider's API. Clients, the `call` command, its listing and its validation all use this
 * declaration.
 */
export interface Operation<Params extends z.ZodType = z.ZodType, Body extends z.ZodType = z.ZodType> {
  readonly api: ApiName;
  /** The operationId of v1, the name in the routes list of v2, or the name of a tool. */
  readonly name: string;
  readonly summary: string;
  /** Null if the provider does not publish method and path. The routes file has them then. */
  readonly route: Route | null;
  /** Strict: it accepts only what the provider's document allows. */
  readonly params: Params;
  /** Loose: the documented fields, with unknown fields passing through. Numbers are `ExactNumber`s. */
  readonly body: Body;
  readonly meter: Meter;
  readonly keep: Keep;
  /** Null if the request names no company by ID: searches, lists, vocabularies. */
  readonly subject: OperationSubject | null;
  /** The fields of listed items that hold IDs, with their ID spaces: they find a company in an answer about many. */
  readonly itemIds?: Readonly<Record<string, IdSpace | readonly IdSpace[]>> | undefined;
  /** Parameters other than `subject` that may hold a company ID, as paths, with their ID spaces. */
  readonly paramIds?: Readonly<Record<string, IdSpace>> | undefined;
  /** It reads one company by its identifying fields, so "not found" may be its answer. */
  readonly findsOne?: boolean | undefined;
  /** It takes `include_provenance`, which is one mode for a whole run (V1-25). */
  readonly provenance?: boolean | undefined;
  /** A longer deadline than usual. The client's own holds if it is later. */
  readonly deadlineMs?: number | undefined;
  readonly scopes: readonly string[];
  /** The answer is paged: `page`, `per_page`, and the envelope's name for the page count. */
  readonly pages?: Paging | undefined;
  /** v2: a success may be an object with only a list named `fields`, which otherwise means a rule failure. */
  readonly answersFields?: boolean | undefined;
  /** The document shows no answer: any JSON value is one, and so is an empty body. */
  readonly emptyBody?: boolean | undefined;
  /**
   * Its answers are long and read in parts, so they are not parsed on arrival. A member that passes this test, with the
   * first character of its value, shows that the object is an answer.
   */
  readonly knownBy?: ((member: string, first: string) => boolean) | undefined;
  /** The member that the stages read: if it cannot be parsed, the object is no answer. */
  readonly readsMember?: string | undefined;
  /** The answer may be raw HTML if the request asked for it. Its value is the text then. */
  readonly htmlBody?: boolean | undefined;
}

export interface Paging {
  /** Null if the document shows no maximum. `per_page` is then left to the provider. */
  readonly perPageAtMost: number | null;
  /** The last page that may be asked for, whatever the envelope says. */
  readonly pageAtMost?: number | undefined;
  readonly countField: 'total_pages' | 'pages';
}

export const namedByKey = <const Table extends Readonly<Record<string, Omit<Operation, 'name'>>>>(table: Table) =>
  Object.fromEntries(Object.entries(table).map(([name, operation]) => [name, { ...operation, name }])) as {
    readonly [Name in keyof Table & string]: Table[Name] & { readonly name: Name };
  };

export type ParamsOf<O extends Operation> = z.input<O['params']>;
export type BodyOf<O extends Operation> = z.output<O['body']>;

/** It asks about one company, by an ID or by identifying fields: v2 may refuse it for that company alone. */
export const asksAboutOneCompany = ({ subject, meter, pages }: Operation): boolean =>
  meter !== 'report' && (subject !== null || pages === undefined);

/**
 * It reads the record of one ID or one set of identifying fields, so "not found" may be its answer. Reports are
 * excluded: a report may exist behind any refusal (V2-17), and a generated report must exist.
 */
export const readsOneRecord = ({ subject, meter, findsOne = false }: Operation): boolean =>
  findsOne || (subject !== null && subject.space !== 'report' && meter !== 'report');
