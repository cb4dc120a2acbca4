import { z } from 'zod';
import type { Operation } from '../../operation.js';
import { longInteger, nonEmpty } from '../../params.js';
import { id, list, nullable, record, scalar, text } from '../../schema.js';
import { v2List } from '../fields.js';

const FLAT = [
  'seniority',
  'department',
  'activity-type',
  'company-type',
  'company-status',
  'legal-form',
  'states',
  'currency',
] as const;
const TREES = ['industry-focus', 'isic', 'nace', 'sic', 'country', 'region', 'technology'] as const;

const trees: ReadonlySet<string> = new Set(TREES);

export type VocabularyName = (typeof FLAT)[number] | (typeof TREES)[number];

/** All fifteen. */
export const VOCABULARY_NAMES: readonly VocabularyName[] = [...FLAT, ...TREES];

/** It has levels, which `parent` leads down. */
export const isTree = (name: VocabularyName): boolean => trees.has(name);

export const nomenclatureItem = record({
  id: nullable(id),
  parents: nullable(scalar),
  name: nullable(text),
  has_children: nullable(z.boolean()),
  active: nullable(z.boolean()),
});

const params = z
  .strictObject({
    name: z.enum([...FLAT, ...TREES]).describe('Vocabulary'),
    country_code: z
      .string()
      .regex(/^[A-Za-z]{2,3}$/, { error: 'expected a country code' })
      .optional()
      .describe('Country of the sic vocabulary; the accepted codes are not documented'),
    country: z.enum(['US', 'CA']).optional().describe('Country of the states vocabulary'),
    parent: z
      .union([z.int().nonnegative(), longInteger, nonEmpty])
      .transform(String)
      .optional()
      .describe('Descend one level below this item; trees only'),
  })
  .refine((value) => (value.name === 'sic') === (value.country_code !== undefined), {
    path: ['country_code'],
    error: 'required for sic, and taken by no other vocabulary',
  })
  .refine((value) => (value.name === 'states') === (value.country !== undefined), {
    path: ['country'],
    error: 'required for states, and taken by no other vocabulary',
  })
  .refine((value) => value.parent === undefined || trees.has(value.name), {
    path: ['parent'],
    error: `only trees have levels: ${TREES.join(', ')}`,
  });

export const nomenclature = {
  nomenclature: {
    ...v2List,
    meter: 'free',
    keep: { days: 365 },
    name: 'nomenclature',
    summary: 'A controlled vocabulary, whose IDs are used in filters',
    route: { method: 'GET', path: '/nomenclatures/{name}{/country_code}' },
    params,
    body: list(nomenclatureItem),
  },
} as const satisfies Readonly<Record<string, Operation>>;
