// The state of the simulated provider: bodies, permissions, revealed contacts, reports and watches.

import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import type { Clock } from '../util/clock.js';
import type { Account, ChangeEntry, Charge, Entry, Journal, ReportEntry } from './account.js';
import { type Json, writeJson } from './json.js';
import type { Settings } from './options.js';
import { draw } from './random.js';
import type { Registry } from './registry/index.js';
import type { Company } from './registry/types.js';
import { type Body, isObject, V2Failure } from './requests.js';

/** All state that the handlers of both APIs use. */
export interface ProviderState {
  readonly settings: Settings;
  readonly registry: Registry;
  readonly account: Account;
  readonly bodies: Bodies;
  readonly permissions: Permissions;
  readonly contacts: Contacts;
  readonly reports: Reports;
  readonly watches: Watches;
  /** Session IDs of the MCP server. */
  readonly mcpSessions: Set<string>;
  /** Aborts when the sandbox closes, so that no wait outlives it. */
  readonly closing: AbortSignal;
  v2BaseUrl(): string;
}

/**
 * Writes bodies about one company. With `prepared`, a body is rendered once per kind of company and split at every
 * mention of its identity. Other companies of that kind get the same bytes with their own identity. One figure is
 * replaced as well, because no two companies have the same accounts.
 */
export class Bodies {
  readonly #templates = new Map<string, readonly Piece[]>();

  constructor(
    private readonly registry: Registry,
    private readonly prepared: boolean,
  ) {}

  write(variant: string, company: Company, render: () => Json): Body {
    if (!this.prepared) return writeJson(render());
    const kind = `${variant}|${company.countryCode}|${this.#traits(company)}`;
    let template = this.#templates.get(kind);
    if (!template) {
      template = cut(writeJson(render()), company);
      this.#templates.set(kind, template);
    }
    return fill(template, company);
  }

  /** Traits that a prepared body must share: how IDs are written, which values are null or empty, which contradict. */
  #traits(company: Company): string {
    const { stringId, identityMismatch, noAccounts, large } = this.registry.traits(company);
    const present = identity.map((name) => company[name] !== null);
    return [stringId, identityMismatch, noAccounts, large, ...present].map((trait) => (trait ? '+' : '-')).join('');
  }
}

const identity = ['v1Id', 'v2Id', 'sourceId', 'name', 'registrationNumber', 'vatNumber'] as const;
type Identity = (typeof identity)[number];

/** Fixed bytes, or the place of a part of the identity or of a figure. */
type Piece = Buffer | Identity | 'figure';

function cut(text: string, company: Company): readonly Piece[] {
  const tokens = new Map<string, Identity>();
  for (const name of identity) {
    const token = inner(company[name]);
    if (token.length >= 4 && !tokens.has(token)) tokens.set(token, name);
  }
  const longestFirst = [...tokens.keys()].sort((a, b) => b.length - a.length).map(escapePattern);
  const named =
    longestFirst.length === 0
      ? [text]
      : text.split(new RegExp(`((?<![A-Za-z0-9])(?:${longestFirst.join('|')})(?![A-Za-z0-9]))`));
  if (named.length > 1) return named.map((part) => tokens.get(part) ?? Buffer.from(part));
  const figure = /(?<=:)\d{6,}/.exec(text);
  if (figure === null) return [Buffer.from(text)];
  const after = figure.index + figure[0].length;
  return [Buffer.from(text.slice(0, figure.index)), 'figure', Buffer.from(text.slice(after))];
}

function fill(template: readonly Piece[], company: Company): Buffer {
  const parts = new Map<Piece, Buffer>([['figure', Buffer.from(String(1_000_000 + company.index))]]);
  for (const name of identity) parts.set(name, Buffer.from(inner(company[name])));
  const pieces = template.map((piece) => (typeof piece === 'string' ? (parts.get(piece) ?? nothing) : piece));
  return Buffer.concat(pieces);
}

const nothing = Buffer.alloc(0);

/** The value as it appears between the quotes. */
function inner(value: string | null): string {
  return value === null ? '' : JSON.stringify(value).slice(1, -1);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

export interface Permission {
  readonly codename: string;
  readonly name: string;
  readonly module: string;
  readonly moduleName: string;
}

const permission = (codename: string, name: string, module: string, moduleName: string): Permission => ({
  codename,
  name,
  module,
  moduleName,
});

export const permissions = {
  kybSearch: permission('kyb_search', 'KYB search', 'kyb', 'KYB'),
  kybDetails: permission('kyb_details', 'KYB details', 'kyb', 'KYB'),
  kybFinancials: permission('kyb_financials', 'KYB filed financials', 'kyb', 'KYB'),
  kybPersons: permission('kyb_officers_search', 'KYB search by person', 'kyb', 'KYB'),
  prospecting: permission('prospecting', 'Prospecting', 'prospecting', 'Prospecting'),
  companies: permission('companies', 'Company lookup', 'companies', 'Companies'),
  employees: permission('employees', 'Employees', 'employees', 'Employees'),
  watch: permission('companies_watch', 'Company watch', 'watch', 'Watch'),
  enrichCompany: permission('enrichment_company', 'Company enrichment', 'enrichment', 'Enrichment'),
  enrichPerson: permission('enrichment_person', 'Person enrichment', 'enrichment', 'Enrichment'),
  autocomplete: permission('autocomplete', 'Autocomplete', 'autocomplete', 'Autocomplete'),
  financials: permission('financial', 'Flat financials', 'financial', 'Financials'),
  insights: permission('digital_insights', 'Digital insights', 'insights', 'Digital insights'),
  ownership: permission('ownership', 'Ownership', 'ownership', 'Ownership'),
  creditReport: permission('credit_report', 'Credit report', 'credit_report', 'Credit report'),
} as const;

const app = { app: 'platform_api', app_name: 'Company Data Platform API' };
const usualDaily = 1_000_000;
const usualPlan = 10_000_000;
const dayMs = 86_400_000;

/** Counts of every permission, by UTC day and for the plan, computed from the charges. */
export class Permissions {
  readonly #settings: Settings;
  readonly #daily = new Map<string, { day: number; used: number }>();
  readonly #plan = new Map<string, number>();

  constructor(settings: Settings, past: readonly Charge[]) {
    this.#settings = settings;
    for (const charge of past) {
      if (charge.permission !== undefined) this.#count(charge.permission, charge.at);
    }
  }

  /** The limit that refuses this permission, if any. */
  refusal(wanted: Permission): V2Failure | undefined {
    const limits = this.#limits(wanted.codename);
    if (this.#usedToday(wanted.codename) >= limits.daily)
      return refused(wanted, 'limits.daily', 'The daily limit is reached.');
    if ((this.#plan.get(wanted.codename) ?? 0) >= limits.plan)
      return refused(wanted, 'limit', 'The limit of the plan is reached.');
    return undefined;
  }

  count(used: Permission): void {
    this.#count(used.codename, this.#settings.clock.now());
  }

  metrics(): Json {
    return Object.values(permissions).map(({ codename, name }) => {
      const limits = this.#limits(codename);
      return {
        name,
        codename,
        metrics: [
          {
            name: `${name} per day`,
            codename: `${codename}.daily`,
            used: this.#usedToday(codename),
            total: limits.daily,
          },
          {
            name: `${name} in the plan`,
            codename: `${codename}.plan`,
            used: this.#plan.get(codename) ?? 0,
            total: limits.plan,
          },
        ],
      };
    });
  }

  #limits(codename: string): { daily: number; plan: number } {
    const set = this.#settings.v2Limits[codename];
    return { daily: set?.daily ?? usualDaily, plan: set?.plan ?? usualPlan };
  }

  #usedToday(codename: string): number {
    const entry = this.#daily.get(codename);
    return entry && entry.day === Math.floor(this.#settings.clock.now() / dayMs) ? entry.used : 0;
  }

  #count(codename: string, at: number): void {
    const day = Math.floor(at / dayMs);
    const entry = this.#daily.get(codename);
    if (entry?.day === day) entry.used += 1;
    else this.#daily.set(codename, { day, used: 1 });
    this.#plan.set(codename, (this.#plan.get(codename) ?? 0) + 1);
  }
}

function refused(wanted: Permission, guard: 'limits.daily' | 'limit', message: string): V2Failure {
  return new V2Failure('limit', {
    access: {
      permission: wanted.codename,
      permission_name: wanted.name,
      module: wanted.module,
      module_name: wanted.moduleName,
      ...app,
    },
    error_guard: guard,
    message_guard: message,
  });
}

/** Revealed e-mail addresses and telephone numbers, each with its time. */
export class Contacts {
  readonly #reveals: { readonly at: number; readonly email: number; readonly phone: number }[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly journal: Journal,
  ) {
    for (const entry of journal.past) {
      if (entry.type === 'contacts') this.#reveals.push(entry);
    }
  }

  reveal(email: boolean, phone: boolean): void {
    if (!email && !phone) return;
    const reveal = { at: this.clock.now(), email: email ? 1 : 0, phone: phone ? 1 : 0 };
    this.journal.append({ type: 'contacts', ...reveal });
    this.#reveals.push(reveal);
  }

  between(from: number, to: number): { email_count: number; phone_count: number } {
    const inside = this.#reveals.filter((reveal) => reveal.at >= from && reveal.at <= to);
    return {
      email_count: inside.reduce((sum, reveal) => sum + reveal.email, 0),
      phone_count: inside.reduce((sum, reveal) => sum + reveal.phone, 0),
    };
  }
}

const firstId = 700_001;
const validMs = 30 * 86_400_000;

/** Generated reports. A report is `processing` until its time on the sandbox's clock, then `finish` permanently. */
export class Reports {
  readonly #reports: ReportEntry[] = [];

  constructor(
    private readonly settings: Settings,
    private readonly journal: Journal,
  ) {
    for (const entry of journal.past) {
      if (entry.type === 'report') this.#reports.push(entry.report);
    }
  }

  generate(company: Company, country: string, format: 'json' | 'html'): ReportEntry {
    const createdAt = this.settings.clock.now();
    const report: ReportEntry = {
      id: firstId + this.#reports.length,
      sourceId: company.sourceId,
      name: company.name,
      registrationNumber: company.registrationNumber,
      country,
      format,
      createdAt,
      readyAt: createdAt + this.#delayMs(company),
    };
    this.journal.append({ type: 'report', report });
    this.#reports.push(report);
    return report;
  }

  all(): readonly ReportEntry[] {
    return this.#reports;
  }

  byId(id: string): ReportEntry | undefined {
    return /^\d{1,15}$/.test(id) ? this.#reports[Number(id) - firstId] : undefined;
  }

  ready(report: ReportEntry): boolean {
    return this.settings.clock.now() >= report.readyAt;
  }

  record(report: ReportEntry): { readonly [key: string]: Json } {
    return {
      id: report.id,
      name: report.name,
      source_id: report.sourceId,
      expired: this.settings.clock.now() - report.createdAt > validMs,
      date_created: new Date(report.createdAt).toISOString(),
      status: this.ready(report) ? 'finish' : 'processing',
      registration_number: report.registrationNumber,
    };
  }

  /** Newest first. */
  history(search: string): readonly ReportEntry[] {
    const wanted = search.toLowerCase();
    const fits = (text: string | null) => text?.toLowerCase().includes(wanted) ?? false;
    return this.#reports
      .filter((report) => this.#isListed(report))
      .filter((report) => fits(report.name) || fits(report.sourceId) || fits(report.registrationNumber))
      .reverse();
  }

  /** The document does not say whether the history lists a report at once, when it is finished, or later. */
  #isListed(report: ReportEntry): boolean {
    const { clock, historyLagMs } = this.settings;
    return historyLagMs === undefined || clock.now() >= report.readyAt + historyLagMs;
  }

  #delayMs(company: Company): number {
    const delay = this.settings.reportDelayMs;
    const point = draw(this.settings.seed, 'report', company.sourceId);
    if (typeof delay === 'number') return delay;
    if (typeof delay === 'function') return delay(company.index);
    if (delay) return Math.round(delay.min + point * (delay.max - delay.min));
    return point < 0.4 ? 0 : Math.round(((point - 0.4) / 0.6) * 180_000);
  }
}

const watchableFields = [
  'name',
  'vat_number',
  'company_address_street',
  'company_website',
  'company_phone',
  'company_email',
  'company_fax',
] as const;

/** Includes names that appear only in the document's examples. */
export const acceptedFields: readonly string[] = [...watchableFields, 'company_status', 'shareholder_name'];

export interface Watch {
  readonly id: string;
  readonly at: number;
  /** Null: the account's field set. */
  readonly fields: readonly string[] | null;
}

export interface Notification {
  /** The watch covered this field, so the history shows the change. */
  readonly recorded: boolean;
  /** The callback's status. Undefined if nothing was posted, or if the connection failed. */
  readonly status?: number | undefined;
}

/** Watched companies, their changes, and the callback address. */
export class Watches {
  readonly #watches = new Map<string, Watch>();
  readonly #changes: ChangeEntry[] = [];
  #fields: readonly string[] = watchableFields;
  #callback: string | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly registry: Registry,
    private readonly journal: Journal,
  ) {
    for (const entry of journal.past) this.#apply(entry);
  }

  get fields(): readonly string[] {
    return this.#fields;
  }

  get callback(): string | undefined {
    return this.#callback;
  }

  add(id: string, fields: readonly string[] | null): void {
    this.#record({ type: 'watch', id, at: this.clock.now(), fields });
  }

  remove(id: string): boolean {
    const watched = this.#watches.has(id);
    if (watched) this.#record({ type: 'unwatch', id });
    return watched;
  }

  setFields(fields: readonly string[]): void {
    this.#record({ type: 'fields', fields });
  }

  setCallback(callback: string): void {
    this.#record({ type: 'callback', callback });
  }

  list(): readonly Watch[] {
    return [...this.#watches.values()];
  }

  fieldsOf(watch: Watch): readonly string[] {
    return watch.fields ?? this.#fields;
  }

  changes(companyId: string): readonly ChangeEntry[] {
    return this.#changes.filter((change) => change.companyId === companyId);
  }

  /** Changes the register, which both APIs show from now on. A watched change is recorded and posted. */
  async change(company: Company, field: string, newValue: string | null): Promise<Notification> {
    const watch = this.#watches.get(company.v2Id);
    const oldValue = this.#currentValue(company, field);
    const at = this.clock.now();
    const change = { companyId: company.v2Id, at, field, oldValue, newValue };
    if (!watch || !this.fieldsOf(watch).includes(field)) {
      this.#record({ type: 'change', change: { ...change, unwatched: true } });
      return { recorded: false };
    }
    this.#record({ type: 'change', change });
    if (this.#callback === undefined) return { recorded: true };
    const body: Json = {
      company_data: {
        id: company.v2Id,
        name: company.name,
        registration_number: company.registrationNumber,
        country_code: company.countryCode,
        date: new Date(at).toISOString(),
      },
      field,
      status: 'UPDATE',
      new_value: newValue,
      old_value: oldValue,
    };
    return { recorded: true, status: await post(this.#callback, writeJson(body)) };
  }

  #currentValue(company: Company, field: string): string | null {
    if (field === 'name') return company.name;
    if (field === 'vat_number') return company.vatNumber;
    if (field === 'company_status') return company.status;
    const { street, website, phone, email, fax } = this.registry.facts(company);
    if (field === 'company_address_street') return street;
    if (field === 'company_website') return website;
    if (field === 'company_phone') return phone[0] ?? null;
    if (field === 'company_email') return email;
    if (field === 'company_fax') return fax;
    const [first] = this.registry.v1.shareholders(company);
    return field === 'shareholder_name' && isObject(first) && typeof first.name === 'string' ? first.name : null;
  }

  #record(entry: Entry): void {
    this.journal.append(entry);
    this.#apply(entry);
  }

  #apply(entry: Entry): void {
    if (entry.type === 'watch') this.#watches.set(entry.id, { id: entry.id, at: entry.at, fields: entry.fields });
    else if (entry.type === 'unwatch') this.#watches.delete(entry.id);
    else if (entry.type === 'fields') this.#fields = entry.fields;
    else if (entry.type === 'callback') this.#callback = entry.callback;
    else if (entry.type === 'change') this.#change(entry.change);
  }

  #change(change: ChangeEntry): void {
    const company = this.registry.byV2Id(change.companyId);
    if (company) this.registry.change(company, change.field, change.newValue);
    if (change.unwatched !== true) this.#changes.push(change);
  }
}

/** Posts once, because the document shows no retries. */
function post(address: string, body: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const send = address.startsWith('https:') ? requestTls : request;
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    const outgoing = send(address, { method: 'POST', headers, timeout: 10_000, agent: false }, (answer) => {
      answer.resume();
      answer.on('close', () => resolve(answer.statusCode));
    });
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.on('error', () => resolve(undefined));
    outgoing.end(body);
  });
}
