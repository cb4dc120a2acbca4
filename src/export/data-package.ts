import type { ExportOptions, Resource } from './formats/format.js';
import type { ExportSummary } from './summary.js';

/** The Frictionless description of an export (Data Package 2.0). */
export function dataPackage(resources: readonly Resource[], summary: ExportSummary, options: ExportOptions) {
  const { run, partial, rows_not_settled: open, input, as_of } = summary;
  const remark = partial
    ? `Partial: the run is not finished, ${open} of ${input.rows} ${input.rows === 1 ? 'row' : 'rows'} to do. `
    : '';
  return describePackage(resources, options, {
    name: run,
    title: `Export of run ${run}${as_of === undefined ? '' : ` as of ${as_of.day}`}${partial ? ' (partial)' : ''}`,
    remark: as_of === undefined ? remark : `As of the end of ${as_of.day}, UTC. `,
    more: { partial, rows_not_settled: open, ...(as_of === undefined ? {} : { as_of: as_of.day }) },
    createdAt: summary.exported_at,
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
