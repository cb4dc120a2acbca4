import { pipelineArgument } from '../config/find-pipeline.js';
import type { LoadedPipeline } from '../config/pipeline.js';
import { UsageError } from '../domain/errors.js';
import type { PortfolioStore } from '../ledger/portfolios.js';
import type { ListOptions, OpenList } from './portfolio.js';

/** Refuses an input that has lost too many of its members since it was last taken in. */
export async function mustHaveKeptRows(
  list: OpenList,
  options: ListOptions,
  portfolios: PortfolioStore,
): Promise<void> {
  const refusal = await rowsLost(list, options, portfolios);
  if (refusal !== undefined) throw refusal;
}

/**
 * A feed that broke off must not pass for a list that has shrunk: beyond the share that the pipeline allows, an input is
 * refused. It is measured by the members that can be worked on and are in no such row any more: a column that moved takes
 * them all, and so do IDs that were given anew, however many rows there are.
 */
export async function rowsLost(
  { known, file }: Pick<OpenList, 'known' | 'file'>,
  { table, pipeline, limit }: ListOptions,
  portfolios: PortfolioStore,
): Promise<UsageError | undefined> {
  const allowed = pipeline.guards.rowsLost;
  if (allowed === null || limit !== null || known === undefined || !file.laid) return undefined;
  const { now, before, kept } = await portfolios.usable(known.id);
  const lost = before - kept;
  if (lost * 100 <= allowed * before) return undefined;
  const share = Math.floor((lost / before) * 100);
  const usable = `${now} usable ${now === 1 ? 'row' : 'rows'}`;
  return new UsageError(
    `${table.path} has ${usable}; ${lost} of the ${before} members that can be worked on are not in it any more: ${share}% are lost, more than the ${allowed}% of guards.rows_lost`,
    `Nothing was spent or written. Send the file again if it was cut, or has other IDs by mistake: a member is known by its ID. If the list is really another, ${withoutGuard(pipeline)} for one run: that run is the measure from then on.`,
    'ROWS_LOST',
  );
}

/** A pipeline that was shipped is not edited: the next update would undo it, for everybody who uses it. */
const withoutGuard = (pipeline: LoadedPipeline): string =>
  pipelineArgument(pipeline) === pipeline.name
    ? `copy ${pipeline.file} into ./pipelines, where --pipeline ${pipeline.name} finds it first, and set guards.rows_lost to null there`
    : `set guards.rows_lost of ${pipeline.file} to null`;
