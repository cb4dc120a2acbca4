/** Companies that the provider watches for us, and what it says has changed. IDs are those of v2. */
export interface WatchStore {
  /** Members of these portfolios, and those among them of whom no v2 company is confirmed. */
  members(portfolioIds: readonly number[]): Promise<{ readonly listed: number; readonly without: number }>;
  /**
   * The provider's own list is the truth: what it has and we asked for is registered, what it lacks is not. Companies of
   * these portfolios that somebody else has registered are noted, as not ours. Returns those whose answer was lost.
   */
  reconcile(
    environmentId: number,
    listed: readonly string[],
    of: WatchWish,
    now: number,
  ): Promise<readonly Pick<WatchRecord, 'companyId' | 'fields'>[]>;
  /** Companies of these portfolios that are not registered, or with other fields, in the order of their IDs. */
  toAdd(environmentId: number, wish: WatchWish): Promise<readonly WatchToSettle[]>;
  /** What we registered, and nobody's list has any more. */
  toRemove(environmentId: number): Promise<readonly WatchToSettle[]>;
  /** Written before it is asked for: where the answer is lost, the list of the provider tells that it is ours. */
  asked(environmentId: number, companyId: string, fields: WatchWish['fields'], now: number): Promise<void>;
  registered(environmentId: number, companyId: string, now: number): Promise<void>;
  removed(environmentId: number, companyId: string): Promise<void>;
  /** Notes that callbacks named these, whichever provider they are watched at; returns how many watches that are. */
  hint(companyIds: readonly string[], now: number): Promise<number>;
  /**
   * Whose history is to be read: those that callbacks named first, then who was not read for longest. Who failed at the
   * last look comes after all others, so that a few that always fail keep nobody out.
   */
  toRead(environmentId: number, which: WhichToRead): Promise<readonly WatchToRead[]>;
  /** One page of a history. Returns how many of its events are new. */
  hear(page: HeardPage): Promise<number>;
  /** The history of a company has come, as it was at this moment. */
  read(environmentId: number, companyId: string, askedAt: number): Promise<void>;
  /** It was asked for in vain. */
  failed(environmentId: number, companyId: string, askedAt: number): Promise<void>;
  /** Members whose company has changed since become due; returns how many. What was marked before is not marked again. */
  markChanged(): Promise<number>;
  /** Events heard since belong to the run that was begun with them. */
  takenUp(runId: string, since: number): Promise<void>;
  /** Companies that the provider watches for us. */
  watched(environmentId: number): Promise<number>;
  list(): Promise<readonly WatchRecord[]>;
  /** The newest first, of these providers. */
  lastEvents(limit: number, of?: (environment: string) => boolean): Promise<readonly WatchEvent[]>;
}

export interface WatchWish {
  readonly portfolioIds: readonly number[];
  /** Null: those of the account. */
  readonly fields: readonly string[] | null;
}

export interface WatchToSettle {
  readonly companyId: string;
  /** The provider has it: of one that is to be added, with other fields. */
  readonly registered: boolean;
}

export interface WhichToRead {
  /** Only companies of these; null: all. */
  readonly portfolioIds: readonly number[] | null;
  /** Only those that callbacks named. */
  readonly hinted: boolean;
  /** Beside those, who was not read since. */
  readonly notSince: number;
}

export interface WatchToRead {
  readonly companyId: string;
  /** What changed before is known, or was no concern of ours. */
  readonly since: number;
  /** At the last look it was asked for in vain. */
  readonly hasFailed: boolean;
}

export interface HeardPage {
  readonly environmentId: number;
  readonly companyId: string;
  readonly events: readonly HeardEvent[];
  readonly heardAt: number;
  readonly rawSha256: string;
}

/** A change record, as it came. */
export interface HeardEvent {
  readonly eventType: string | null;
  readonly status: string | null;
  readonly message: string | null;
  readonly dateCreated: string | null;
  /** JSON; null: nothing else. */
  readonly extra: string | null;
}

export interface WatchRecord {
  readonly environment: string;
  readonly companyId: string;
  readonly fields: readonly string[] | null;
  readonly ours: boolean;
  /** Null: no answer has come. */
  readonly registeredAt: number | null;
  readonly readAt: number | null;
  readonly hintedAt: number | null;
  readonly events: number;
}

export interface WatchEvent extends HeardEvent {
  readonly id: number;
  readonly environment: string;
  readonly companyId: string;
  readonly heardAt: number;
  readonly runId: string | null;
  readonly rawSha256: string;
}
