// Serves the page on this machine: who may ask, which screen answers, and in which form.

import { once } from 'node:events';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify/sync';
import { recordWhileOpen } from '../app/page-thread.js';
import { countQuestions } from '../app/review/question-pages.js';
import type { UploadedFile } from '../app/run/preview.js';
import { asOpenError, ExitCode, KybatchError } from '../domain/errors.js';
import { escapeFormula } from '../export/formats/csv.js';
import { stringifyExact } from '../util/exact-json.js';
import { message } from '../util/message-parts.js';
import { withoutControls } from '../util/sanitize-text.js';
import { toJson, verbatim } from '../util/view-json.js';
import {
  type Access,
  LinkAccess,
  NamedAccess,
  NEW_LINK,
  type PageSession,
  Refused,
  type ReverseProxy,
} from './access.js';
import { frame, problemPage } from './layout.js';
import { RECONCILE_BODY_AT_MOST, type ReconcileOptions, ReconcileService } from './reconcile.js';
import { changesScreen } from './screens/changes.js';
import { companiesScreen } from './screens/companies.js';
import { companyScreen } from './screens/company.js';
import { decisionsScreen, ruleAction, ruleScreen, withdrawAction } from './screens/decisions.js';
import { planScreen, startAction, uploadAction } from './screens/plan.js';
import { portfoliosScreen } from './screens/portfolios.js';
import { answerAction, dismissAction, questionScreen, reviewScreen, undoAction } from './screens/review.js';
import { pauseAction, resumeAction, runFile, runScreen, runsScreen } from './screens/runs.js';
import { chargeAction, usageScreen } from './screens/usage.js';
import {
  type Action,
  type AnyScreen,
  type CsvLines,
  type Done,
  mayDo,
  type OfferedFile,
  type PageRequest,
  type Site,
  type User,
} from './site.js';

const screens: readonly AnyScreen[] = [
  ...[portfoliosScreen, planScreen, runsScreen, runScreen, companiesScreen, companyScreen, changesScreen, usageScreen],
  ...[reviewScreen, ruleScreen, questionScreen, decisionsScreen],
];

const actions: readonly Action[] = [
  ...[startAction, uploadAction, pauseAction, resumeAction, chargeAction],
  ...[answerAction, undoAction, dismissAction, ruleAction, withdrawAction],
];

export interface UiOptions extends Pick<Site, 'options' | 'environment'> {
  /** 0: a free one. */
  readonly port: number;
  /** The person who starts the page. Behind a proxy the role alone counts. */
  readonly user: User;
  /** People come through a reverse proxy, by the port or by this Unix socket. */
  readonly proxy?: (ReverseProxy & { readonly socket: string | undefined }) | undefined;
  /** Serves the reconciliation service too. */
  readonly reconcile?: ReconcileOptions | undefined;
  /** Called with the address to open, the port, and the address of the reconciliation service. */
  readonly onListening: (address: string, port: number, reconcile: string | undefined) => void;
  readonly signal: AbortSignal;
}

/** Serves the page until the signal. */
export async function serveUi(options: UiOptions): Promise<void> {
  const { port, user, proxy, reconcile, onListening, signal } = options;
  // A page would wait for ever for the standard input of its server.
  const place = {
    options: options.options,
    environment: { ...options.environment, stdin: undefined, keepsCounts: true },
  };
  const server = createServer(LIMITS);
  await listenOn(server, proxy?.socket ?? port);
  const taken = server.address();
  const ownPort = typeof taken === 'object' && taken !== null ? taken.port : 0;
  const link = new LinkAccess(ownPort, user);
  const access = proxy === undefined ? link : new NamedAccess(proxy, user.role);
  const service = reconcile && new ReconcileService(access.origins[0] ?? '', place, reconcile);
  server.on(
    'request',
    (request, response) => void new PageExchange(request, response, access, place, service).answer(),
  );
  await readAhead({ ...place, user });
  onListening(proxy === undefined ? link.link : proxy.publicUrl, ownPort, service?.address);
  const recording = user.role === 'look' ? undefined : recordWhileOpen(place.options, place.environment, signal);
  if (!signal.aborted) await once(signal, 'abort');
  await recording;
  server.close();
  server.closeAllConnections();
}

/** The first reading of a large ledger takes a second for each of these, so it is done before a person waits for it. */
async function readAhead(site: Site): Promise<void> {
  for (const path of ['/', '/review', '/companies'])
    await screens
      .find((screen) => screen.path === path)
      ?.open({ path, params: {}, query: new URLSearchParams(), pageSize: PAGE }, site)
      .catch(() => {});
}

const LIMITS = { requestTimeout: 30_000, headersTimeout: 5_000, maxHeaderSize: 16_384 };

/** `place`: a port of this machine, or a Unix socket. */
async function listenOn(server: Server, place: number | string): Promise<void> {
  if (typeof place === 'number') server.listen(place, '127.0.0.1');
  else server.listen(place);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw asOpenError(error, typeof place === 'number' ? `port ${place} of 127.0.0.1` : place);
  }
}

/** Nothing comes from another host, nothing is framed, and no script makes markup from text. */
const SECURITY_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Without a referrer the browser would send forms with the origin "null".
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cache-Control': 'no-store',
} as const;

const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*' } as const;

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'Content-Type',
} as const;

/** The card of a company is shown in a frame of a program on this machine. */
const inFrame = (styleHash: string) => ({
  'Content-Security-Policy': `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors http://127.0.0.1:* http://localhost:*`,
  'X-Frame-Options': '',
});

const ASSETS: Readonly<Record<string, string>> = {
  '/style.css': 'text/css; charset=utf-8',
  '/script.js': 'text/javascript; charset=utf-8',
};

const FORM_AT_MOST = 64 * 1024;
const UPLOAD_AT_MOST = 64 * 1024 * 1024;

/** One request and its answer. */
class PageExchange {
  readonly #url: URL;
  /** Known when the person is. */
  #site: Site | undefined;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly access: Access,
    private readonly place: Pick<Site, 'options' | 'environment'>,
    private readonly service: ReconcileService | undefined,
  ) {
    this.#url = URL.parse(request.url ?? '/', 'http://127.0.0.1') ?? new URL('http://127.0.0.1/');
  }

  async answer(): Promise<void> {
    try {
      await this.#answer();
    } catch (error) {
      this.#refuse(error);
    }
  }

  async #answer(): Promise<void> {
    const { method = 'GET' } = this.request;
    if (!this.access.hosts.includes(this.request.headers.host ?? ''))
      throw new Refused(421, 'HOST_REFUSED', 'This page is available at its own address only.');
    if (this.service?.isAt(this.#url)) return await this.#answerReconcile(this.service);
    const asset = ASSETS[this.#url.pathname];
    if (asset !== undefined && method !== 'POST') return this.#send(200, asset, assetText(this.#url.pathname));
    const token = this.#url.searchParams.get('token');
    if (token !== null && method === 'GET') return this.#enter(token);
    const session = this.access.session(this.request, this.#now);
    const site = { ...this.place, user: session.user };
    this.#site = site;
    if (method === 'POST') return await this.#act(session, site);
    if (method !== 'GET' && method !== 'HEAD') throw new Refused(405, 'METHOD_REFUSED', `${method} is not used here.`);
    const found = find([...screens, runFile], this.#url);
    if (found === undefined) throw notFound();
    const { one, request } = found;
    if ('file' in one) await this.#sendFile(await one.file(request, site));
    else await this.#show(one, request, session, site);
  }

  get #now(): number {
    return this.place.environment.clock.now();
  }

  /** The token becomes a cookie and leaves the address. */
  #enter(token: string): void {
    const cookie = this.access.open?.(token, this.#now);
    if (cookie === undefined)
      throw new Refused(403, 'TOKEN_REFUSED', 'The link was used before, or belongs to an earlier page.', NEW_LINK);
    this.#goTo('/', { 'Set-Cookie': cookie });
  }

  async #show(one: AnyScreen, request: PageRequest, session: PageSession, site: Site): Promise<void> {
    const isCsv = request.query.get('format') === 'csv' && !this.#accepts('application/json');
    const opened = await one.open(isCsv ? firstOfDownload(request) : request, site);
    if (this.#accepts('application/json')) return this.#json(200, await opened.json());
    if (isCsv && opened.csv !== undefined) return await this.#download(request, opened.csv());
    // A page that is read again leaves the message to the page that a person opens.
    const isPolled = this.request.headers['sec-fetch-dest'] === 'empty';
    const said = isPolled ? undefined : session.message;
    if (!isPolled) session.message = undefined;
    // The navigation stays as it is while a page is read again.
    const asked = { ...site.options, by: site.user.name };
    const questions = isPolled ? 0 : await countQuestions(asked, site.environment).catch(() => 0);
    const extras = { message: said, hasCsv: opened.csv !== undefined, questions };
    const page = frame(opened.page(), request, site, extras);
    this.#send(200, 'text/html; charset=utf-8', String(page));
  }

  /** All lines, page by page: memory holds one page of them. */
  async #download(request: PageRequest, pages: AsyncGenerator<CsvLines>): Promise<void> {
    const name = `${request.path.split('/').filter(Boolean).join('-') || 'portfolios'}.csv`;
    const first = await pages.next();
    this.response.writeHead(200, {
      ...SECURITY_HEADERS,
      'Content-Type': 'text/csv; charset=utf-8',
      ...asAttachment(name),
    });
    if (this.request.method === 'HEAD' || first.done) return void this.response.end();
    const texts = async function* () {
      yield csvText([first.value.header, ...first.value.lines]);
      for await (const { lines } of pages) yield csvText(lines);
    };
    await pipeline(texts, this.response);
  }

  async #sendFile(file: OfferedFile | undefined): Promise<void> {
    const found = file && statSync(file.path, { throwIfNoEntry: false });
    if (file === undefined || found?.isFile() !== true) throw notFound();
    const { path, name, policy } = file;
    this.response.writeHead(200, {
      ...SECURITY_HEADERS,
      'Content-Length': found.size,
      'Content-Type': policy === undefined ? 'application/octet-stream' : 'text/html; charset=utf-8',
      ...(policy === undefined ? asAttachment(name) : { 'Content-Security-Policy': policy }),
    });
    if (this.request.method === 'HEAD') return void this.response.end();
    await pipeline(createReadStream(path), this.response);
  }

  async #act(session: PageSession, site: Site): Promise<void> {
    const { origin } = this.request.headers;
    if (origin === undefined || !this.access.origins.includes(origin))
      throw new Refused(403, 'ORIGIN_REFUSED', 'Forms are accepted from this page only.');
    const atMost = this.#isUpload(true) ? UPLOAD_AT_MOST : FORM_AT_MOST;
    const found = find(actions, this.#url);
    if (found === undefined) throw notFound();
    const { one, request } = found;
    if (!mayDo(site.user.role, one.needs))
      throw new Refused(403, 'ROLE_REFUSED', `${site.user.name} may ${site.user.role} here, not ${one.needs}.`);
    const { form, file } = await this.#form(atMost);
    const { to = this.#pageOfForm, message: said } = await one.run(form, request, site, file).catch(whenBusy);
    if (this.#accepts('application/json')) return this.#json(200, { to, message: said });
    session.message = said;
    this.#goTo(to);
  }

  get #pageOfForm(): string {
    const { origin = '', pathname = '/', search = '' } = URL.parse(this.request.headers.referer ?? '') ?? {};
    return this.access.origins.includes(origin) ? `${pathname}${search}` : '/';
  }

  /** Any origin may ask the service, as its protocol wants. Its address is the secret, and no cookie counts. */
  async #answerReconcile(service: ReconcileService): Promise<void> {
    const { method } = this.request;
    try {
      const path = service.pathOf(this.#url);
      if (method === 'OPTIONS') return this.#send(204, 'text/plain', '', { ...ANY_ORIGIN, ...PREFLIGHT });
      if (method !== 'GET' && method !== 'HEAD' && method !== 'POST')
        throw new Refused(405, 'METHOD_REFUSED', `${method} is not used here.`);
      if (method === 'POST') this.#isUpload(false);
      const given = method === 'POST' ? (await this.#form(RECONCILE_BODY_AT_MOST)).form : this.#url.searchParams;
      const answer = await service.answer(path, given);
      if ('to' in answer) return this.#goTo(answer.to);
      if ('json' in answer) return this.#json(200, verbatim(answer.json), ANY_ORIGIN);
      this.#send(200, 'text/html; charset=utf-8', String(answer.page), inFrame(answer.styleHash));
    } catch (error) {
      const { status, code, text } = this.#noted(error);
      this.#json(status, { status: 'error', code, message: text }, ANY_ORIGIN);
    }
  }

  /** Whether the form may have a file. What is no form is refused. */
  #isUpload(mayUpload: boolean): boolean {
    const { 'content-type': type = '' } = this.request.headers;
    if (/^application\/x-www-form-urlencoded\b/i.test(type)) return false;
    if (mayUpload && /^multipart\/form-data\b/i.test(type)) return true;
    throw new Refused(415, 'FORM_REFUSED', 'Only the forms of browsers are accepted.');
  }

  /** The fields of a form, and the one file in it. */
  async #form(atMost: number): Promise<{ form: URLSearchParams; file: UploadedFile | undefined }> {
    const { 'content-type': type = '' } = this.request.headers;
    const body = new Uint8Array(await this.#body(atMost));
    const read = new Response(body, { headers: { 'Content-Type': type } }).formData();
    const all = [...(await read.catch(() => Promise.reject(new Refused(400, 'FORM_REFUSED', 'The form is damaged.'))))];
    const form = new URLSearchParams();
    for (const [name, value] of all) if (typeof value === 'string') form.append(name, value);
    const [sent] = all.flatMap(([, value]) => (typeof value === 'string' || value.name === '' ? [] : [value]));
    return { form, file: sent && { name: sent.name, bytes: Buffer.from(await sent.arrayBuffer()) } };
  }

  async #body(atMost: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of this.request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > atMost) throw new Refused(413, 'FORM_TOO_LARGE', 'The form is too large.');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  #accepts(type: string): boolean {
    const { accept = '' } = this.request.headers;
    return accept.includes(type) && !accept.includes('text/html');
  }

  #refuse(error: unknown): void {
    if (this.response.headersSent) {
      this.response.destroy();
      return;
    }
    const { status, code, text, hint } = this.#noted(error);
    if (this.#accepts('application/json')) this.#json(status, { error: { code, message: text, hint } });
    else
      this.#send(
        status,
        'text/html; charset=utf-8',
        String(problemPage({ status, code, text, hint, path: this.#url.pathname }, this.#site)),
      );
  }

  #noted(error: unknown) {
    const problem = told(error);
    // The address of the service is a secret.
    const place = this.#url.pathname.replace(/^\/reconcile\/.*/, '/reconcile');
    if (problem.status >= 500) this.place.environment.onNote?.(message('PAGE_FAILED', `${place}: ${problem.text}`));
    // The rest of a refused request is not read.
    if (!this.request.complete) this.response.setHeader('Connection', 'close');
    return problem;
  }

  #json(status: number, view: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.#send(status, 'application/json; charset=utf-8', `${stringifyExact(toJson(view))}\n`, headers);
  }

  #goTo(address: string, headers: Readonly<Record<string, string>> = {}): void {
    this.response.writeHead(303, { ...SECURITY_HEADERS, ...headers, Location: address }).end();
  }

  #send(status: number, type: string, text: string, headers: Readonly<Record<string, string>> = {}): void {
    const body = Buffer.from(text);
    const all = { ...SECURITY_HEADERS, ...headers, 'Content-Type': type, 'Content-Length': body.length };
    this.response.writeHead(status, Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')));
    this.response.end(this.request.method === 'HEAD' ? undefined : body);
  }
}

/** A download begins with the first line, whatever page is shown. */
function firstOfDownload(request: PageRequest): PageRequest {
  const query = new URLSearchParams(request.query);
  for (const name of ['from', 'before']) query.delete(name);
  return { ...request, query, pageSize: DOWNLOAD_PAGE };
}

const PAGE = 50;
const DOWNLOAD_PAGE = 200;

const asAttachment = (name: string) => ({
  'Content-Disposition': `attachment; filename="${name.replaceAll(/[^\w.-]/g, '_')}"`,
});

/** Spreadsheets open it, so no text runs as a formula. */
const csvText = (lines: readonly CsvLines['lines'][number][]): string =>
  stringify(
    lines.map((line) => line.map((cell) => (typeof cell === 'string' ? escapeFormula(withoutControls(cell)) : cell))),
  );

const assetText = (name: string): string => readFileSync(join(import.meta.dirname, 'static', name), 'utf8');

/** A change needs the ledger for itself. While a run has it, the person is told to try again. */
function whenBusy(error: unknown): Done {
  if (!(error instanceof KybatchError) || error.exit !== ExitCode.locked) throw error;
  const words = 'Nothing was changed: a run is using the ledger, or kybatch is recording answers. Try again soon.';
  return { message: message('LEDGER_BUSY', words, 'attention') };
}

const notFound = (): Refused => new Refused(404, 'PAGE_NOT_FOUND', 'There is no page at this address.');

/** The screen or form whose pattern fits the address. */
function find<One extends { readonly path: string }>(
  all: readonly One[],
  { pathname, searchParams: query }: URL,
): { readonly one: One; readonly request: PageRequest } | undefined {
  for (const one of all) {
    const found = new RegExp(`^${one.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]*)')}$`).exec(pathname);
    if (found === null) continue;
    const named = Object.entries(found.groups ?? {}).map(([name, part]) => [name, decoded(part)]);
    return { one, request: { path: pathname, params: Object.fromEntries(named), query, pageSize: PAGE } };
  }
  return undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw notFound();
  }
}

function told(error: unknown): { status: number; code: string; text: string; hint?: string | undefined } {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof Refused) return { status: error.status, code: error.code, text, hint: error.hint };
  if (!(error instanceof KybatchError)) return { status: 500, code: 'INTERNAL', text };
  const { code, hint, exit } = error;
  const isNotFound = /_NOT_FOUND$|^NO_\w+_YET$/.test(code);
  return { status: isNotFound ? 404 : (STATUSES[exit] ?? 500), code, text, hint };
}

const STATUSES: Readonly<Record<number, number>> = { [ExitCode.usage]: 400, [ExitCode.locked]: 409 };
