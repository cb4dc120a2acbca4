import type { Json } from '../json.js';
import type { Body } from '../messages.js';
import type { Company, Registry } from '../registry/types.js';
import { integer, required, type Shape, type Values } from '../validate.js';
import type { World } from '../world.js';
import { json, notFound, type V2Failure } from './errors.js';
import type { Permission } from './permissions.js';

/** An answer that is not plain JSON with status 200. */
export class Plain {
  constructor(
    readonly status: number,
    readonly body: Body,
    readonly headers: Readonly<Record<string, string>> = json,
  ) {}
}

export type Outcome = Json | Plain | V2Failure;

export interface V2Call {
  readonly world: World;
  readonly registry: Registry;
  /** Parameters from path, query and body, under their own names. */
  readonly values: Values;
  /** Charges the operation's permission now, once; otherwise a success is charged when it is answered. */
  charge(): void;
}

/** An operation without its address: that is either published or stands in the routes file. */
export interface V2Operation {
  /** Counted once per success; operations without one are free. */
  readonly permission?: Permission;
  readonly shape: Shape;
  /** A rule over several parameters, checked after each of them. */
  rule?(values: Values): V2Failure | undefined;
  answer(call: V2Call): Outcome | Promise<Outcome>;
}

export const companyId = { id: required(integer({ min: 1 })) };
export const paging = { page: integer({ min: 1 }), per_page: integer({ min: 1, max: 100 }) };

export function ofCompany(
  permission: Permission,
  variant: string,
  render: (registry: Registry, company: Company, values: Values) => Json,
  shape: Shape = {},
): V2Operation {
  return {
    permission,
    shape: { ...companyId, ...shape },
    answer({ world, registry, values }) {
      const company = registry.byV2Id(textOf(values.id));
      if (!company) return notFound();
      const { id: _id, ...rest } = values;
      return new Plain(
        200,
        world.bodies.write(`${variant}|${JSON.stringify(rest)}`, company, () => render(registry, company, values)),
      );
    },
  };
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly total: number;
  readonly pages: number;
}

export function pageOf<T>(items: readonly T[], values: Values, usual = 10): Page<T> {
  const page = numberOf(values.page, 1);
  const perPage = numberOf(values.per_page, usual);
  return {
    data: items.slice((page - 1) * perPage, page * perPage),
    total: items.length,
    pages: Math.ceil(items.length / perPage),
  };
}

export const numberOf = (value: unknown, usual: number): number => (typeof value === 'number' ? value : usual);
export const textOf = (value: unknown): string => (value === undefined ? '' : String(value));
export const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(textOf) : []);
export const optionalText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
