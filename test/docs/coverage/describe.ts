import { operationsByApi } from '../../../src/api/all-operations.js';
import { askersOf } from './asked-by.js';
import { documented, NOTIFICATION } from './documented.js';
import { exampleOf, type Field } from './example.js';
import { whyNoColumn } from './on-purpose.js';
import { type Made, madeOf, placesOf } from './places.js';

export interface Coverage {
  readonly api: string;
  readonly operation: string;
  readonly askers: readonly string[];
  readonly fields: readonly FieldPlace[];
}

export interface FieldPlace {
  readonly path: string;
  /** `table.column`, the field's own column first. */
  readonly places: readonly string[];
  /** Why it has no column. */
  readonly why: string | undefined;
}

/** Every operation of both APIs: its callers, and the column of each documented field. */
export const coverage = (): readonly Coverage[] =>
  Object.entries(operationsByApi).flatMap(([api, operations]) =>
    [...Object.keys(operations), ...(api === 'v2' ? [NOTIFICATION] : [])].map((operation) => {
      const shape = documented[operation];
      const example = shape === undefined ? undefined : exampleOf(shape);
      const made = example === undefined ? undefined : madeOf(operation, example);
      return {
        api,
        operation,
        askers: askersOf(operation),
        fields: (example?.fields ?? []).map((field) => placeOf(operation, field, made)),
      };
    }),
  );

function placeOf(operation: string, field: Field, made: Made | undefined): FieldPlace {
  const places = made === undefined ? [] : placesOf(field, made);
  const columns = places.filter((place) => !place.endsWith('.extra'));
  const path = field.path;
  return {
    path,
    places: columns.length > 0 ? columns : places,
    why: columns.length > 0 ? undefined : whyNoColumn(operation, path),
  };
}

/** Fields without a column and without a reason. */
export const unexplained = (all: readonly Coverage[]): readonly string[] =>
  all.flatMap(({ operation, fields }) =>
    fields
      .filter(({ places, why }) => why === undefined && !places.some((place) => !place.endsWith('.extra')))
      .map(({ path }) => `${operation} ${path}`),
  );

export function inMarkdown(all: readonly Coverage[]): string {
  return [
    '# What is covered',
    '',
    'Every operation of both APIs, who asks for it, and what it fills. Written by `npm run docs`:',
    'the test gives each reader an answer with every field that the provider’s documents show, each with a value of its own, and looks where the values',
    'come to stand. It fails when this page and the code differ. Columns that hold what was asked for, such as `v1_company_id`, are not named. Everything can also be asked for with `kybatch call`; every answer is kept as it came.',
    '',
    '| API | operation | asked for by | fills |',
    '|---|---|---|---|',
    ...all.map(
      ({ api, operation, askers, fields }) =>
        `| ${api} | [\`${operation}\`](#${operation.toLowerCase().replaceAll(' ', '-')}) | ${askers.join(', ')} | ${tablesOf(fields)} |`,
    ),
    '',
    ...all.flatMap(described),
  ].join('\n');
}

function tablesOf(fields: readonly FieldPlace[]): string {
  const tables = [...new Set(fields.flatMap(({ places }) => places.map((place) => place.split('.')[0] ?? '')))];
  return tables.length === 0 ? 'no table: the raw answer' : tables.map((name) => `\`${name}\``).join(', ');
}

function described({ operation, fields }: Coverage): readonly string[] {
  const heading = [`## ${operation}`, ''];
  if (fields.length === 0) return [...heading, 'The document shows no fields of its answer.', ''];
  return [
    ...heading,
    '| field | stands in |',
    '|---|---|',
    ...fields.map(({ path, places, why }) => `| \`${path}\` | ${standsIn(places, why)} |`),
    '',
  ];
}

function standsIn(places: readonly string[], why: string | undefined): string {
  const columns = places.map((place) => `\`${place}\``).join(', ');
  return why === undefined ? columns : `${columns === '' ? '' : `${columns}: `}${why}`;
}
