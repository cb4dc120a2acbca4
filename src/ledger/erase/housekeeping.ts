import type { ApiName, IdSpace } from '../../domain/provider.js';

export interface Housekeeping {
  /** Removes data for good, and keeps in mind that it did until `purgeProved`. */
  purge(request: PurgeRequest, itemIds: ItemIds): Promise<PurgeDone>;
  /** Finishes a purge that has removed and was broken off since; undefined if there is none. */
  goOnPurge(request: PurgeRequest): Promise<PurgeDone | undefined>;
  purgeProved(request: PurgeRequest): Promise<void>;
  /** What `purge` would remove; nothing is changed. */
  previewPurge(request: PurgeRequest, itemIds: ItemIds): Promise<PurgeReport>;
  /** Finished runs that came to rest before, and answers from before that were replaced; never the newest of its kind. */
  prune(before: number): Promise<PruneReport>;
  /** What `prune` would remove; nothing is changed. */
  previewPrune(before: number): Promise<PruneReport>;
  /** Takes one run away, finished or not; its calls stay in the books, and what they bought stays owned. */
  dropRun(runId: string): Promise<void>;
  /** Forgets a whole list, its members and its runs, in the same way. */
  dropPortfolio(portfolioId: number): Promise<void>;
  /** Files all that one base URL has sold under another. Refused while anybody works. */
  moveProvider(from: string, to: string): Promise<MovedProvider>;
  /** Where identifiers still stand, in whatever is kept. */
  searchEverywhere(identifiers: readonly string[]): Promise<PurgeProof>;
  /** Resolves when everything asked for so far is on disk. */
  flush(): Promise<void>;
}

export interface MovedProvider {
  readonly moved: readonly MovedApi[];
  /** Portfolios and runs that are of the new address now. */
  readonly lists: number;
  readonly runs: number;
}

export interface MovedApi {
  readonly api: ApiName;
  readonly answers: number;
  /** Something was stored from the new address before. */
  readonly merged: boolean;
}

/** By operation: where an answer about nobody in particular names companies, and in which spaces their IDs may be. */
export type ItemIds = Readonly<Record<string, NamedIds>>;

export interface NamedIds {
  /** The members of the items that it lists. */
  readonly items: Readonly<Record<string, readonly IdSpace[]>>;
  /** Its parameters, as paths: `filters.company_id`. */
  readonly params: Readonly<Record<string, readonly IdSpace[]>>;
}

/** What is to go: one entity, or everything older than a time. */
export type PurgeRequest =
  | {
      readonly kind: 'entity';
      /** Of which ID space; undefined: of any. */
      readonly space?: IdSpace | undefined;
      readonly id: string;
    }
  /** A company by its number in a country: what searches returned, and what rows said. */
  | {
      readonly kind: 'number';
      readonly countryCode: string;
      /** Where every state numbers its companies on its own; undefined: whichever. */
      readonly state?: string | undefined;
      readonly registrationNumber: string;
    }
  | { readonly kind: 'before'; readonly at: number };

export interface PruneReport {
  /** Finished, or stopped while their input was read. */
  readonly runs: readonly string[];
  readonly rows: number;
  /** Lists of which neither a member nor a run is left. */
  readonly portfolios: readonly string[];
  /** Old enough, but they wait for a person. */
  readonly waiting: readonly string[];
  readonly unfinished: readonly string[];
  /** Calls of runs that are gone, which cost nothing and are nobody's answer. */
  readonly calls: number;
  /** Answers whose differences from the one before are not kept any longer. */
  readonly changes: number;
  /** Answers that a newer one to the same request has replaced. */
  readonly answers: number;
  /** What the provider's watch told, and looks at it that brought nothing that is still told. */
  readonly watchEvents: number;
  readonly watchLooks: number;
  readonly bodies: number;
  /** Of those bodies, as they are stored. */
  readonly bytes: number;
}

export interface PurgeDone extends PurgeReport {
  /** Null: it is in no page of the file any more. Else why the file could not be written anew. */
  readonly notRewritten: string | null;
}

export interface PurgeReport {
  /** Runs that held something of it. */
  readonly runs: readonly string[];
  readonly runsRemoved: readonly string[];
  readonly rows: number;
  readonly answers: number;
  readonly bodies: number;
  readonly candidates: number;
  readonly questions: number;
  readonly decisions: number;
  /** Answers whose differences from the one before are told no more. */
  readonly changes: number;
  /** The IDs and numbers that go, as text. */
  readonly identifiers: readonly string[];
  /** Lines that named it in the newest file of their list. */
  readonly stillListed: readonly ListedLine[];
  /** Lists of which rows stood by what went, and how many: the next run of each buys it again. */
  readonly boughtAgain: readonly { readonly portfolio: string; readonly rows: number }[];
}

export interface ListedLine {
  readonly portfolio: string;
  readonly row: number;
  readonly line: number;
  /** The analyst's own. */
  readonly inputId: string | null;
}

/** What a search of the whole file found afterwards. */
export interface PurgeProof {
  readonly searched: readonly string[];
  /** Identifiers that would be found in anything: too short, or a plain word. */
  readonly notSearched: readonly string[];
  /** How often they stand in the bytes of the file, be it inside a longer text. */
  readonly timesInFile: number;
  /** Where something else still names them. */
  readonly mentions: readonly Mention[];
}

export interface Mention {
  readonly identifiers: readonly string[];
  /** `answer to fullKyb`, or the name of a table. */
  readonly where: string;
  readonly run: string | null;
  readonly row: number | null;
  /** What `purge --entity` takes to remove it; null if only its age can. */
  readonly entity: string | null;
}
