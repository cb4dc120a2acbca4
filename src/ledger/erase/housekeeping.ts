// The interface of erasing, pruning and moving data.

import type { ApiName, IdSpace } from '../../domain/provider.js';

export interface MovedProvider {
  readonly moved: readonly MovedApi[];
  /** Portfolios and runs that now belong to the new address. */
  readonly portfolios: number;
  readonly runs: number;
}

export interface MovedApi {
  readonly api: ApiName;
  readonly answers: number;
  /** The new address had stored data before. */
  readonly merged: boolean;
}

/** By operation: where an answer without a subject names companies, and the possible spaces of their IDs. */
export type ItemIds = Readonly<Record<string, NamedIds>>;

export interface NamedIds {
  /** Members of the listed items. */
  readonly items: Readonly<Record<string, readonly IdSpace[]>>;
  /** Paths of parameters, such as `filters.company_id`. */
  readonly params: Readonly<Record<string, readonly IdSpace[]>>;
}

/** What to erase: one company, or everything older than a time. */
export type EraseRequest =
  | {
      readonly kind: 'entity';
      /** Undefined: any ID space. */
      readonly space?: IdSpace | undefined;
      readonly id: string;
    }
  /** A company by its number in a country, as in searches and rows. */
  | {
      readonly kind: 'number';
      readonly countryCode: string;
      /** For countries that number by state. Undefined: any state. */
      readonly state?: string | undefined;
      readonly registrationNumber: string;
    }
  | { readonly kind: 'before'; readonly at: number };

export interface PruneReport {
  /** Finished, or stopped while their input was read. */
  readonly runs: readonly string[];
  readonly rows: number;
  readonly portfolios: readonly string[];
  /** Old enough, but waiting for a person. */
  readonly waiting: readonly string[];
  readonly unfinished: readonly string[];
  /** Free calls of deleted runs that no answer needs. */
  readonly calls: number;
  /** Deleted change records, counted by answer. */
  readonly changes: number;
  /** Answers that a newer one to the same request has replaced. */
  readonly answers: number;
  /** Deleted watch events, and watch calls without an event that is still stored. */
  readonly watchEvents: number;
  readonly watchLooks: number;
  readonly bodies: number;
  readonly bytes: number;
}

export interface EraseDone extends EraseReport {
  /** Null: no page of the file has it any more. Else why the file could not be rewritten. */
  readonly notRewritten: string | null;
}

export interface EraseReport {
  /** Runs with data of it. */
  readonly runs: readonly string[];
  readonly runsRemoved: readonly string[];
  readonly rows: number;
  readonly answers: number;
  readonly bodies: number;
  readonly candidates: number;
  readonly questions: number;
  readonly decisions: number;
  /** Deleted change records, counted by answer. */
  readonly changes: number;
  /** The erased IDs and numbers, as text. */
  readonly identifiers: readonly string[];
  /** Lines that named it in the newest file of their portfolio. */
  readonly stillListed: readonly ListedLine[];
  /** Portfolios with rows that used deleted answers, and their number: the next run buys them again. */
  readonly boughtAgain: readonly { readonly portfolio: string; readonly rows: number }[];
}

export interface ListedLine {
  readonly portfolio: string;
  readonly row: number;
  readonly line: number;
  readonly inputId: string | null;
}

export interface EraseProof {
  readonly searched: readonly string[];
  /** Identifiers too short or too common to search for. */
  readonly notSearched: readonly string[];
  /** How often they occur in the bytes of the file, also inside longer texts. */
  readonly timesInFile: number;
  /** Where other records still name them. */
  readonly mentions: readonly Mention[];
}

export interface Mention {
  readonly identifiers: readonly string[];
  /** `answer to fullKyb`, or the name of a table. */
  readonly where: string;
  readonly run: string | null;
  readonly row: number | null;
  /** The argument of `erase --entity` that removes it. Null if only its age can. */
  readonly entity: string | null;
}
