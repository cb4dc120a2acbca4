import { draw } from '../draw.js';
import type { Json } from '../json.js';
import { write } from '../json.js';
import type { Body } from '../messages.js';
import type { Company, SearchQuery } from '../registry/types.js';
import type { Route } from '../router.js';
import type { Shape, Values } from '../validate.js';
import type { World } from '../world.js';
import {
  detailQuery,
  noQuery,
  officersSearchBody,
  pagedQuery,
  searchBody,
  searchRule,
  shareholdersSearchBody,
} from './shapes.js';

export interface V1Operation extends Route {
  readonly scopes: readonly string[];
  readonly query: Shape;
  readonly body?: Shape;
  readonly rule?: (values: Values) => string | undefined;
  /** The 200 body; undefined when there is no record for the ID. */
  answer(world: World, params: Readonly<Record<string, string>>, values: Values, bodyText: string): Body | undefined;
}

const company = ['company:read'];
const ownership = ['ownership:read'];

export const v1Operations: readonly V1Operation[] = [
  {
    operation: 'searchKyb',
    method: 'POST',
    path: '/kyb/search',
    scopes: company,
    query: noQuery,
    body: searchBody,
    rule: searchRule,
    answer: search,
  },
  detail('liteKyb', '/kyb/{id}/lite', company, ({ registry }, subject, provenance) =>
    registry.v1.lite(subject, provenance),
  ),
  {
    ...detail('officersKyb', '/kyb/{id}/officers', company, ({ registry }, subject, provenance, values) =>
      pageOf(registry.v1.officers(subject, provenance), values),
    ),
    query: pagedQuery,
  },
  {
    operation: 'officersSearchKyb',
    method: 'POST',
    path: '/kyb/officers/search',
    scopes: company,
    query: noQuery,
    body: officersSearchBody,
    answer: ({ registry }, _params, values) =>
      write(registry.v1.officerSearch(values, values.include_provenance === true)),
  },
  {
    ...detail('shareholdersKyb', '/kyb/{id}/shareholders', ownership, ({ registry }, subject, provenance, values) => ({
      ...pageOf(registry.v1.shareholders(subject), values),
      source: provenance ? registry.v1.source(subject) : undefined,
    })),
    query: pagedQuery,
  },
  {
    operation: 'shareholdersSearchKyb',
    method: 'POST',
    path: '/kyb/shareholders/search/{view_mode}',
    scopes: ownership,
    query: noQuery,
    body: shareholdersSearchBody,
    answer({ registry }, params, values) {
      const mode = params.view_mode === 'full' ? 'full' : 'lite';
      return write(pageOf(registry.v1.shareholderSearch(values, mode, values.include_provenance === true), values));
    },
  },
  detail('groupLiteKyb', '/kyb/{id}/group-structures/lite', ownership, ({ registry }, subject, provenance) => ({
    data: registry.v1.groupLite(subject),
    source: provenance ? registry.v1.source(subject) : undefined,
  })),
  detail('groupFullKyb', '/kyb/{id}/group-structures/full', ownership, ({ registry }, subject, provenance) => ({
    data: registry.v1.groupFull(subject),
    source: provenance ? registry.v1.source(subject) : undefined,
  })),
  detail('financialKyb', '/kyb/{id}/financial', ['financials:read'], ({ registry }, subject, provenance) => ({
    ...registry.v1.financial(subject),
    source: provenance ? registry.v1.source(subject) : undefined,
  })),
  detail(
    'fullKyb',
    '/kyb/{id}/full',
    ['company:read', 'ownership:read', 'financials:read'],
    ({ registry }, subject, provenance) => registry.v1.full(subject, provenance),
  ),
];

type Render = (world: World, subject: Company, provenance: boolean, values: Values) => Json;

function detail(operation: string, path: string, scopes: readonly string[], render: Render): V1Operation {
  return {
    operation,
    method: 'GET',
    path,
    scopes,
    query: detailQuery,
    answer(world, params, values) {
      const subject = world.registry.byV1Id(params.id ?? '');
      if (!subject || !world.registry.hasRecord(subject)) return undefined;
      const provenance = values.include_provenance === true;
      const variant = `${operation}|${provenance}|${String(values.page ?? '')}|${String(values.per_page ?? '')}`;
      return world.bodies.write(variant, subject, () => render(world, subject, provenance, values));
    },
  };
}

function search(world: World, _params: unknown, values: Values, bodyText: string): string {
  const query = values as Readonly<Record<string, string | undefined>>;
  const wanted: SearchQuery = {
    location: query.location ?? '',
    name: query.name,
    registrationNumber: query.registration_number,
    vatNumber: query.vat_number,
    ticker: query.ticker,
    cityOrState: values.city_or_state as readonly string[] | undefined,
  };
  const { registry, settings } = world;
  const found = registry.knowsLocation(wanted.location) ? registry.search(wanted, settings.search) : [];
  const text = write(found.map((candidate) => registry.v1.candidate(candidate, values.include_provenance === true)));
  const asObject =
    settings.searchObjectShare > 0 && draw(settings.seed, 'object', bodyText) < settings.searchObjectShare;
  return asObject ? `{"data":${text}}` : text;
}

function pageOf(items: readonly Json[], values: Values): { readonly [key: string]: Json | undefined } {
  const page = typeof values.page === 'number' ? values.page : 1;
  const perPage = typeof values.per_page === 'number' ? values.per_page : 10;
  return {
    data: items.slice((page - 1) * perPage, page * perPage),
    total_pages: Math.ceil(items.length / perPage),
    total_results: items.length,
  };
}
