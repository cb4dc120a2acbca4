import type { Column, Table } from '../readers/table.js';
import type { ExportOptions, FileFacts, Format } from './formats/format.js';

export interface Resource {
  readonly table: Table;
  readonly columns: readonly Column[];
  readonly format: Format;
  readonly files: readonly FileFacts[];
}

export interface PackageFacts {
  readonly run: string;
  readonly exportedAt: string;
  readonly partial: boolean;
  readonly rows: number;
  readonly rowsNotSettled: number;
  readonly asOf: string | undefined;
  readonly options: ExportOptions;
}

/** The Frictionless description of an export (Data Package 2.0). */
export function dataPackage(resources: readonly Resource[], facts: PackageFacts) {
  const { partial, rowsNotSettled, exportedAt, asOf, options } = facts;
  return describePackage(resources, options, {
    name: facts.run,
    title: `Export of run ${facts.run}${asOf === undefined ? '' : ` as of ${asOf}`}${partial ? ' (partial)' : ''}`,
    remark: asOf === undefined ? partialInWords(facts) : `As of the end of ${asOf}, UTC. `,
    more: { partial, rows_not_settled: rowsNotSettled, ...(asOf === undefined ? {} : { as_of: asOf }) },
    createdAt: exportedAt,
  });
}

export interface PackageHead {
  readonly name: string;
  readonly title: string;
  /** Text before the common description. Empty, or ending with a space. */
  readonly remark: string;
  readonly more: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
}

export const describePackage = (resources: readonly Resource[], options: ExportOptions, head: PackageHead) => ({
  $schema: 'https://datapackage.org/profiles/2.0/datapackage.json',
  name: `kybatch-${head.name.toLowerCase().replace(/[^-a-z0-9._/]/g, '-')}`,
  title: head.title,
  description: `${head.remark}${DESCRIPTION}${options.csv.defuse === false ? '' : DEFUSED}`,
  ...head.more,
  created: head.createdAt,
  version: options.version,
  resources: resources.filter(({ files }) => files.length > 0).map((resource) => describeResource(resource, options)),
});

const DESCRIPTION =
  'Numbers have the provider’s own digits. An empty field means that nothing was returned. It never means no.';

const DEFUSED = ' Text that a spreadsheet would run as a formula has an apostrophe in front (CSV only).';

const partialInWords = ({ partial, rows, rowsNotSettled }: PackageFacts): string =>
  partial
    ? `Partial: the run is not finished, ${rowsNotSettled} of ${rows} ${rows === 1 ? 'row' : 'rows'} to do. `
    : '';

function describeResource({ table, columns, format, files }: Resource, options: ExportOptions) {
  const [first] = files;
  const { name, properties } = format.resource(table, columns, options);
  return {
    name,
    path: files.length === 1 && first !== undefined ? first.path : files.map(({ path }) => path),
    title: table.name,
    description: `One row per ${table.onePer}. ${table.description}`,
    ...(files.length === 1 && first !== undefined ? { bytes: first.bytes, hash: `sha256:${first.sha256}` } : {}),
    ...properties,
  };
}
