/** What is to go: one entity, or everything older than a time. */
export type PurgeRequest =
  | {
      readonly kind: 'entity';
      /** Of which ID space; undefined: of any. */
      readonly space?: IdSpace | undefined;
      readonly id: string;
    }
  /** A company by its number in a country, as a search returned it. */
  | { readonly kind: 'number'; readonly countryCode: string; readonly registrationNumber: string }
  | { readonly kind: 'before'; readonly at: number };

/** The four ID spaces (V2-4). */
export const ID_SPACES = ['v1', 'v2', 'source', 'report'] as const;
export type IdSpace = (typeof ID_SPACES)[number];

export interface PurgeReport {
  /** Runs that held something of it. */
  readonly runs: readonly string[];
  readonly runsRemoved: readonly string[];
  readonly rows: number;
  readonly answers: number;
  readonly bodies: number;
  readonly candidates: number;
  readonly decisions: number;
}
