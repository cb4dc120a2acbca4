import type { z } from 'zod';
import type { ApiName, IdSpace, Meter } from '../domain/provider.js';

export type { ApiName };

/** How long an answer is good for where the pipeline says nothing. `never`: it tells how things stand at this moment. */
export type Keep = 'never' | { readonly days: number };

/** Whose company, or which report, an answer is about: the parameter that holds its ID. */
export interface OperationSubject {
  readonly space: IdSpace;
  readonly param: string;
}
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Where a request goes. `rename` gives a parameter another name on the wire. */
export interface Route {
  readonly method: HttpMethod;
  /** Relative to the base address; `{name}` takes a parameter, `{/name}` a slash and a parameter that may be absent. */
  readonly path: string;
  readonly rename?: Readonly<Record<string, string>> | undefined;
  /** The body is the one list that is not in the path, bare; without it, it is an object with a member for each parameter. */
  readonly body?: 'list' | undefined;
}

/**
 * One operation of a provider's API, declared once: the clients, the `call` command, its listing and its
 * validation all read from here.
 */
export interface Operation<Params extends z.ZodType = z.ZodType, Body extends z.ZodType = z.ZodType> {
  readonly api: ApiName;
  /** The operationId of v1; the name of the routes list for v2; the name of a tool. */
  readonly name: string;
  readonly summary: string;
  /** Null where the provider does not publish method and path: then the routes file gives them. */
  readonly route: Route | null;
  /** Strict: what it lets through, the provider's document allows. */
  readonly params: Params;
  /** Loose: what the document shows, with unknown fields passing through. Numbers are `ExactNumber`s. */
  readonly body: Body;
  readonly meter: Meter;
  readonly keep: Keep;
  /** Null where the request names no company by an ID: searches, lists, vocabularies. */
  readonly subject: OperationSubject | null;
  /** The members of the items that it lists which hold IDs, and their spaces: who is in an answer about nobody in particular. */
  readonly itemIds?: Readonly<Record<string, IdSpace | readonly IdSpace[]>> | undefined;
  /** The parameters beside `subject` that may name a company by its ID, as paths, and their spaces. */
  readonly paramIds?: Readonly<Record<string, IdSpace>> | undefined;
  /** It reads one company by what identifies it: "not found" may be its answer. */
  readonly findsOne?: boolean | undefined;
  /** It takes `include_provenance`, which is one mode for a whole run (V1-25). */
  readonly provenance?: boolean | undefined;
  /** It may take longer than the rest: its deadline is this, or the client's own where that is later. */
  readonly deadlineMs?: number | undefined;
  /** v1: the scopes a key needs. */
  readonly scopes: readonly string[];
  /** The answer is paged: `page` and `per_page`, and the envelope's name for the number of pages. */
  readonly pages?: Paging | undefined;
  /** v2: a success may be an object whose only member is a list named `fields`, which elsewhere means a rule failure. */
  readonly answersFields?: boolean | undefined;
  /** The document shows no answer: any JSON value is one, and so is a body of no bytes. */
  readonly emptyBody?: boolean | undefined;
  /**
   * Its answers are long, and read in parts: they are not parsed when they arrive. A member of which this holds, with
   * the character that its value begins with, tells that the object is an answer.
   */
  readonly knownBy?: ((member: string, first: string) => boolean) | undefined;
  /** Of those, the member that is read on the way: where it cannot be parsed, the object is no answer. */
  readonly readsMember?: string | undefined;
  /** The answer may be a page of HTML, as it stands, where it was asked for: then its value is the text. */
  readonly htmlBody?: boolean | undefined;
}

export interface Paging {
  /** Null where the document shows no bound: then `per_page` is left to the provider. */
  readonly perPageAtMost: number | null;
  /** The last page that may be asked for, whatever the envelope says. */
  readonly pageAtMost?: number | undefined;
  readonly countField: 'total_pages' | 'pages';
}

export type ParamsOf<O extends Operation> = z.input<O['params']>;
export type BodyOf<O extends Operation> = z.output<O['body']>;

/** It asks about one company, by an ID or by what identifies it: v2 may refuse it for that company alone. */
export const asksAboutOneCompany = ({ subject, meter, pages }: Operation): boolean =>
  meter !== 'report' && (subject !== null || pages === undefined);

/**
 * It reads what one ID, or whatever identifies one company, stands for, so "not found" may be its answer. Reports are another matter: one that is generated
 * may exist behind any refusal (V2-17), and one that was generated must be there.
 */
export const readsOneRecord = ({ subject, meter, findsOne = false }: Operation): boolean =>
  findsOne || (subject !== null && subject.space !== 'report' && meter !== 'report');
