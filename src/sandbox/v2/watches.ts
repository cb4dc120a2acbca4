import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import type { Clock } from '../../util/clock.js';
import type { ChangeEntry, Entry, Journal } from '../journal.js';
import { type Json, write } from '../json.js';
import type { Company, Registry } from '../registry/types.js';
import { isObject } from '../validate.js';

const watchableFields = [
  'name',
  'vat_number',
  'company_address_street',
  'company_website',
  'company_phone',
  'company_email',
  'company_fax',
] as const;
/** Names that appear in the document's examples only. */
export const acceptedFields: readonly string[] = [...watchableFields, 'company_status', 'shareholder_name'];

export interface Watch {
  readonly id: string;
  readonly at: number;
  /** Null: the account's field set. */
  readonly fields: readonly string[] | null;
}

export interface Notification {
  /** The watch covered this field, so that the change stands in the history. */
  readonly recorded: boolean;
  /** The status the callback answered; undefined when nothing was posted or nobody answered. */
  readonly status?: number | undefined;
}

/** Watched companies, their changes, and the address that is told about them. */
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

  /** A change in the register, which both APIs show from now on: recorded and posted when company and field are watched. */
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
    return { recorded: true, status: await post(this.#callback, write(body)) };
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

/** One attempt: retries are not shown in the document. */
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
