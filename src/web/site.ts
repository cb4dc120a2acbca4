// What a screen and a form are, for the server that serves them.

import type { AppEnvironment } from '../app/environment.js';
import type { ProviderOptions } from '../app/provider/provider.js';
import type { UploadedFile } from '../app/run/preview.js';
import { KybatchError } from '../domain/errors.js';
import type { Html } from '../util/html.js';
import type { Message } from '../util/message-parts.js';

/** What a user may do. Each includes those before it. */
export const ROLES = ['look', 'decide', 'spend'] as const;
export type Role = (typeof ROLES)[number];

export const mayDo = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);

export interface User {
  readonly name: string;
  readonly role: Role;
  /** A proxy has identified the person. Otherwise the name is what the command line says. */
  readonly isVerified: boolean;
}

/** The place that the page shows, and the person who looks. */
export interface Site {
  readonly options: ProviderOptions;
  readonly environment: AppEnvironment;
  readonly user: User;
}

export interface PageRequest {
  readonly path: string;
  /** The parts of the address that the pattern names, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The lines on one page of a list. A download reads longer pages. */
  readonly pageSize: number;
}

export interface PageContent {
  readonly title: string;
  readonly body: Html;
  /** Something on it changes by itself, so an open page is read again. */
  readonly isLive?: boolean;
}

type CsvCell = string | number | null | undefined;

/** The lines of a list, for a download as CSV. */
export interface CsvLines {
  readonly header: readonly string[];
  readonly lines: readonly (readonly CsvCell[])[];
}

/** The items of a view as lines: the name of each column, and its cell. */
export const csvOf =
  <View, Item>(items: (view: View) => readonly Item[], columns: Readonly<Record<string, (item: Item) => CsvCell>>) =>
  (view: View): CsvLines => ({
    header: Object.keys(columns),
    lines: items(view).map((item) => Object.values(columns).map((cell) => cell(item))),
  });

/** A view, and when it was read. */
export type Dated<View> = View & { readonly at: number };

/** One address. The view comes from `app/`. Its JSON is the twin of the page. */
export interface PageScreen<View extends object> {
  /** Such as `/runs/:run`. */
  readonly path: string;
  readonly load: (request: PageRequest, site: Site) => Promise<View>;
  readonly show: (view: Dated<View>, request: PageRequest, site: Site) => PageContent;
  /** The view before the first run made a ledger. Default: the page says that there is none. */
  readonly nothing?: View;
  /** The JSON twin, if it is not the view itself. */
  readonly json?: (view: View, site: Site) => object | Promise<object>;
  readonly csv?: (view: View) => CsvLines;
  /** What to exchange in the address to read the next page of a download. Default: by `page`, `pages` and `perPage`. */
  readonly nextPage?: (view: View) => Readonly<Record<string, string>> | null;
}

/** A file that a page offers. `policy`: it is shown under this policy. Otherwise it is saved. */
export interface OfferedFile {
  readonly path: string;
  readonly name: string;
  readonly policy?: string;
}

/** An address of files. */
export interface FileScreen {
  readonly path: string;
  readonly file: (request: PageRequest, site: Site) => Promise<OfferedFile | undefined>;
}

/** A form that changes something. */
export interface Action {
  readonly path: string;
  readonly needs: Exclude<Role, 'look'>;
  readonly run: (form: URLSearchParams, request: PageRequest, site: Site, file?: UploadedFile) => Promise<Done>;
}

/** The address to show next, with a message. Without an address: the page of the form. */
export interface Done {
  readonly to?: string;
  readonly message?: Message | undefined;
}

export type AnyScreen = ReturnType<typeof screen>;

/** A screen without the type of its view, so that all screens fit one list. `csv`: all pages of the list. */
export const screen = <View extends object>(of: PageScreen<View>) => {
  const { path, nothing, show, json, csv, nextPage = pageAfter } = of;
  const load = async (request: PageRequest, site: Site): Promise<Dated<View>> => {
    const view = await of.load(request, site).catch((error: unknown) => {
      if (nothing !== undefined && error instanceof KybatchError && error.code === 'NO_LEDGER_YET') return nothing;
      throw error;
    });
    return { ...view, at: site.environment.clock.now() };
  };
  return {
    path,
    async open(request: PageRequest, site: Site) {
      const view = await load(request, site);
      const pages = async function* (lines: NonNullable<typeof csv>) {
        for (let at = view, query = request.query; ; ) {
          yield lines(at);
          const change = nextPage(at);
          if (change === null) return;
          query = new URLSearchParams(query);
          for (const [name, value] of Object.entries(change)) query.set(name, value);
          at = await load({ ...request, query }, site);
        }
      };
      return {
        json: async (): Promise<unknown> => json?.(view, site) ?? view,
        page: () => show(view, request, site),
        csv: csv && (() => pages(csv)),
      };
    },
  };
};

/** For a view that is one page of a list. */
function pageAfter(view: unknown): Readonly<Record<string, string>> | null {
  const { page = 1, pages = 1, perPage = 0 } = view as { page?: number; pages?: number; perPage?: number };
  return page < pages ? { from: String(page * perPage) } : null;
}
