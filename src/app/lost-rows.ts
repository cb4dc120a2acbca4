import { UsageError } from '../domain/errors.js';
import type { PortfolioStore } from '../ledger/portfolios.js';
import { type GuardOptions, isAccepted } from './guards.js';
import type { ListOptions, OpenList } from './portfolio.js';

/** Refuses an input that has lost too many of its rows since it was last taken in, or every one of its members. */
export async function mustHaveKeptRows(
  list: OpenList,
  options: ListOptions,
  portfolios: PortfolioStore,
  guards: GuardOptions,
): Promise<void> {
  if (isAccepted('rows_lost', guards)) return;
  const refusal = await rowsLost(list, options, portfolios);
  if (refusal !== undefined) throw refusal;
}

/**
 * A feed that broke off must not pass for a list that has shrunk: beyond the share that the pipeline allows, an input is
 * refused. It is measured against the members of the portfolio, by rows that can be worked on: a column that moved takes
 * them all. A list whose members come and go is none of that; but where not one of them is left, somebody has given new
 * IDs, or sent another file.
 */
export async function rowsLost(
  { known, file }: Pick<OpenList, 'known' | 'file'>,
  { table, pipeline, limit }: ListOptions,
  portfolios: PortfolioStore,
): Promise<UsageError | undefined> {
  const allowed = pipeline.guards.rowsLost;
  if (allowed === null || limit !== null || known === undefined || !file.laid) return undefined;
  const { now, before, kept } = await portfolios.usable(known.id);
  const lost = before - now;
  const isAnother = before > 0 && kept === 0;
  if (!isAnother && lost * 100 <= allowed * before) return undefined;
  const usable = `${now} usable ${now === 1 ? 'row' : 'rows'}`;
  const why = isAnother
    ? `none of the ${before} members that can be worked on is in it any more (guards.rows_lost)`
    : `the list has ${before} members that can be worked on: ${Math.floor((lost / before) * 100)}% are lost, more than the ${allowed}% of guards.rows_lost`;
  return new UsageError(
    `${table.path} has ${usable}; ${why}`,
    `Nothing was spent or written. Send the file again if it was cut, or has other IDs by mistake: a member is known by its ID. If the list is really another, --accept rows_lost lets one run pass, which is the measure from then on.`,
    'ROWS_LOST',
  );
}
