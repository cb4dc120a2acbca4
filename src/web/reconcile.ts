// The reconciliation service for OpenRefine and others: the Reconciliation API 0.2 of the W3C community group.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { company, companyProperties, companyValues, UNLISTED } from '../app/portfolio/company.js';
import {
  companyOfKey,
  keyOfCompany,
  LOOK_UP_FIELDS,
  type LookedUpCompany,
  type LookUpQuery,
  lookUp,
} from '../app/portfolio/look-up.js';
import { companiesLike } from '../app/portfolio/rows.js';
import type { UnitLimit } from '../app/provider/direct-calls.js';
import { KybatchError } from '../domain/errors.js';
import { fieldAgreements, gradeInWords } from '../domain/grade-order.js';
import { type Html, html } from '../util/html.js';
import { version } from '../util/packages.js';
import { isSameSecret, Refused, randomSecret } from './access.js';
import { facts } from './layout.js';
import { companyAddress } from './screens/companies.js';
import type { Site } from './site.js';

export interface ReconcileOptions {
  /** The units that queries may cost. Absent: they are answered from stored answers alone. */
  readonly unitLimit?: UnitLimit | undefined;
  /** Called after queries that cost something. */
  readonly onSpent?: ((units: number) => void) | undefined;
}

/** What the service answers. */
export type ReconcileAnswer =
  | { readonly json: unknown }
  | { readonly page: Html; readonly styleHash: string }
  | { readonly to: string };

export const RECONCILE_BODY_AT_MOST = 1024 * 1024;
const QUERIES_AT_MOST = 100;
const CANDIDATES = 10;

/** Clients bring no cookie. The secret in the address lets them in. */
export class ReconcileService {
  readonly #secret = randomSecret();

  constructor(
    private readonly origin: string,
    private readonly place: Pick<Site, 'options' | 'environment'>,
    private readonly options: ReconcileOptions,
  ) {}

  get address(): string {
    return `${this.origin}/reconcile/${this.#secret}`;
  }

  isAt({ pathname }: URL): boolean {
    return /^\/reconcile(?:\/|$)/.test(pathname);
  }

  /** The part of the address behind the secret, such as `/preview`. */
  pathOf({ pathname }: URL): string {
    const [, , secret = '', ...rest] = pathname.split('/');
    if (!isSameSecret(secret, this.#secret))
      throw new Refused(403, 'SECRET_REFUSED', 'This address has expired. kybatch ui prints a new one when it starts.');
    return rest
      .map((part) => `/${part}`)
      .join('')
      .replace(/\/$/, '');
  }

  /** `given`: the parameters of the address or of the form. */
  async answer(path: string, given: URLSearchParams): Promise<ReconcileAnswer> {
    const text = (name: string) => given.get(name) ?? '';
    switch (path) {
      case '': {
        const [queries, extension] = [given.get('queries'), given.get('extend')];
        if (queries !== null) return { json: await this.#reconcile(parsed(queryBatch, queries)) };
        if (extension !== null) return { json: await this.#extend(parsed(extensionQuery, extension)) };
        return { json: this.#manifest() };
      }
      case '/preview':
        return await this.#preview(text('id'));
      case '/view':
        return { to: companyAddress(placeOfKey(text('id'))) };
      case '/properties':
        return { json: { type: COMPANY.id, properties: companyProperties.map(({ id, name }) => ({ id, name })) } };
      case '/suggest/property':
        return { json: { result: [...LOOK_UP_FIELDS, ...companyProperties].filter(startsWith(text('prefix'))) } };
      case '/suggest/type':
        return { json: { result: [COMPANY].filter(startsWith(text('prefix'))) } };
      case '/suggest/entity':
        return { json: { result: await this.#suggest(text('prefix')) } };
      default:
        throw new Refused(404, 'PAGE_NOT_FOUND', 'There is nothing at this address.');
    }
  }

  #manifest() {
    const service = (service_path: string) => ({ service_url: this.address, service_path });
    return {
      versions: ['0.2'],
      name: this.place.options.sandbox === true ? 'kybatch (sandbox)' : 'kybatch',
      serviceVersion: version,
      // The same at every start, so that earlier matches stay valid.
      identifierSpace: 'urn:kybatch:company',
      schemaSpace: 'urn:kybatch:column',
      defaultTypes: [COMPANY],
      view: { url: `${this.address}/view?id={{id}}` },
      preview: { url: `${this.address}/preview?id={{id}}`, width: 400, height: 240 },
      suggest: {
        entity: service('/suggest/entity'),
        property: service('/suggest/property'),
        type: service('/suggest/type'),
      },
      extend: { propose_properties: service('/properties'), property_settings: [] },
    };
  }

  async #reconcile(batch: z.infer<typeof queryBatch>) {
    const { options, environment } = this.place;
    const asked = Object.entries(batch);
    const meant = asked.filter(([, { type }]) => isCompanyType(type));
    const queries = meant.map(([, query]) => fieldsOf(query));
    const { results, unitsSpent } = await lookUp(
      { ...options, queries, unitLimit: this.options.unitLimit },
      environment,
    );
    if (unitsSpent > 0) this.options.onSpent?.(unitsSpent);
    const found = new Map(meant.map(([name], at) => [name, results[at]?.candidates ?? []]));
    return Object.fromEntries(
      asked.map(([name, { limit = CANDIDATES }]) => {
        const candidates = (found.get(name) ?? []).slice(0, limit > 0 ? Math.ceil(limit) : CANDIDATES);
        return [name, { result: candidates.map(toCandidate) }];
      }),
    );
  }

  /** Values are texts, so that every digit stays. An empty list is "not returned". */
  async #extend({ ids, properties }: z.infer<typeof extensionQuery>) {
    const { options, environment } = this.place;
    const wanted = properties.map(({ id }) => id);
    const lines = new Map<string, object>();
    for (const key of ids) {
      const found = await companyValues({ ...options, ...placeOfKey(key) }, wanted, environment);
      const cells = [...found].map(([id, values]) => [id, values.map((one) => (one === null ? {} : { str: one }))]);
      lines.set(key, Object.fromEntries(cells));
    }
    const nameOf = (id: string) => companyProperties.find((property) => property.id === id)?.name ?? id;
    return { meta: wanted.map((id) => ({ id, name: nameOf(id) })), rows: Object.fromEntries(lines) };
  }

  async #preview(key: string): Promise<ReconcileAnswer> {
    const { options, environment } = this.place;
    const view = await company({ ...options, ...placeOfKey(key) }, environment).catch(unlessUnknown(undefined));
    const body =
      view === undefined
        ? html`<p>No list has this company yet, so nothing was bought about it.</p>`
        : html`<h1>${view.name ?? key}</h1>${facts([
            ...view.facts.map(({ name, value }) => [name.replaceAll('_', ' '), value] as const),
            ['lists', joinedWords(view.rows.map(({ portfolio }) => portfolio))],
          ])}`;
    const page = html`<!doctype html><html lang="en"><meta charset="utf-8"><title>${key}</title><style>${STYLE}</style>${body}</html>`;
    return { page, styleHash: STYLE_HASH };
  }

  async #suggest(search: string) {
    if (search.trim() === '') return [];
    const { options, environment } = this.place;
    const found = await companiesLike({ ...options, search }, environment).catch(unlessUnknown([]));
    return found.slice(0, CANDIDATES).map(({ space, id, name, country, registrationNumber }) => {
      const key = keyOfCompany(space, id);
      return {
        id: key,
        name: name ?? key,
        description: joinedWords([country, registrationNumber]),
        notable: [COMPANY],
      };
    });
  }
}

const COMPANY = { id: 'company', name: 'Company' } as const;

/** An unknown key is of a company that no list has. */
const placeOfKey = (key: string) => companyOfKey(key) ?? { space: 'none', id: key };

const startsWith =
  (prefix: string) =>
  ({ id, name }: { readonly id: string; readonly name: string }): boolean =>
    [id, name, ...name.split(' ')].some((text) => text.toLowerCase().startsWith(prefix.trim().toLowerCase()));

const value = z.union([z.string(), z.number(), z.boolean(), z.looseObject({ id: z.string() })]);

const queryBatch = z
  .record(
    z.string(),
    z
      .strictObject({
        query: z.string().optional(),
        type: z.union([z.string(), z.array(z.string())]).optional(),
        limit: z.number().optional(),
        properties: z.array(z.looseObject({ pid: z.string(), v: z.union([value, z.array(value)]) })).optional(),
        type_strict: z.enum(['any', 'should', 'all']).optional(),
      })
      .refine(({ query, properties = [] }) => query !== undefined || properties.length > 0, 'query or properties'),
  )
  .refine((batch) => Object.keys(batch).length <= QUERIES_AT_MOST, `at most ${QUERIES_AT_MOST} queries`);

const extensionQuery = z.looseObject({
  ids: z.array(z.string()).max(QUERIES_AT_MOST),
  properties: z.array(z.looseObject({ id: z.string() })),
});

type Query = z.infer<typeof queryBatch>[string];

function parsed<T>(schema: z.ZodType<T>, text: string): T {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Refused(400, 'QUERY_INVALID', 'the query is not JSON');
  }
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const [first] = read.error.issues;
  throw new Refused(400, 'QUERY_INVALID', `${first?.path.join('.') || 'the query'}: ${first?.message}`);
}

const isCompanyType = (type: Query['type']): boolean =>
  type === undefined || type.length === 0 || [type].flat().includes(COMPANY.id);

/** Of several values the first one counts. An entity counts by its name. */
function fieldsOf({ query, properties = [] }: Query): LookUpQuery {
  const given = [{ pid: 'name', v: query ?? '' }, ...properties].flatMap(({ pid, v }) => {
    const [first] = [v].flat();
    const text = typeof first === 'object' ? String(first.name ?? first.id) : String(first ?? '');
    return LOOK_UP_FIELDS.some(({ id }) => id === pid) && text.trim() !== '' ? [[pid, text.trim()] as const] : [];
  });
  // The first name is the text of the query.
  return Object.fromEntries(given.toReversed());
}

function toCandidate({ key, name, countryCode, registrationNumber, matchGrade, ...found }: LookedUpCompany) {
  const { score, match, nameSimilarity } = found;
  return {
    id: key,
    name: name ?? key,
    description: joinedWords([countryCode, registrationNumber, `grade ${matchGrade}`, gradeInWords(matchGrade)]),
    score,
    match,
    type: [COMPANY],
    features: [
      ...(nameSimilarity === null ? [] : [{ id: 'name_similarity', value: nameSimilarity }]),
      ...fieldAgreements(matchGrade).flatMap(({ field, agreement }) =>
        agreement === 'not_compared' ? [] : [{ id: `${field.toLowerCase()}_agrees`, value: agreement !== 'different' }],
      ),
    ],
  };
}

const joinedWords = (parts: readonly (string | null)[]): string => parts.filter(Boolean).join(' · ');

/** A company that no list has, or an empty folder, is an empty answer. */
const unlessUnknown =
  <T>(empty: T) =>
  (error: unknown): T => {
    if (error instanceof KybatchError && UNLISTED.includes(error.code)) return empty;
    throw error;
  };

const STYLE =
  'body{font:13px/1.4 system-ui,sans-serif;margin:8px}h1{font-size:15px;margin:0 0 6px}dl{display:grid;grid-template-columns:auto 1fr;gap:2px 10px;margin:0}dt{color:#555}dd{margin:0}';

/** Only this style is allowed on the card. */
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;
