import type { TableFormat } from '../../export/options.js';
import type { ProviderOptions } from '../provider.js';
import type { Stoppable } from '../watch-door.js';
import type { ResolvedFilters } from './resolve-filters.js';

export interface ProspectOptions extends ProviderOptions, Stoppable {
  /** The file with the filters. */
  readonly filters: string;
  /** The input file for `run`; the tables go beside it. The filters' own name, as .csv, without it. */
  readonly out?: string | undefined;
  readonly formats?: readonly TableFormat[] | undefined;
  /** 10 without it: no more can be had (V2-20). */
  readonly pages?: number | undefined;
  readonly perPage?: number | undefined;
  /** Number and country of each, one call each. */
  readonly profiles?: boolean | undefined;
  readonly fresh?: boolean | undefined;
  /** Phone numbers in the table. */
  readonly includeContacts?: boolean | undefined;
  /** Write over files that are there and are not ours. */
  readonly force?: boolean | undefined;
  /** Spending is agreed to. */
  readonly yes?: boolean | undefined;
  /** Asks somebody, once it is known what is asked for. */
  readonly agree?: ((proposal: ProspectProposal) => Promise<boolean>) | undefined;
  readonly onPage?: ((page: number) => void) | undefined;
}

/** What would be asked for, and how many calls that takes at the most. */
export interface ProspectProposal extends ResolvedFilters {
  readonly pages: number;
  readonly perPage: number;
  /** One for each company; 0: none is asked for. */
  readonly profilesAtMost: number;
}
