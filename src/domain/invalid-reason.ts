/** Rows that are invalid alike, with the first of them. */
export interface InvalidReason {
  readonly code: string;
  readonly rows: number;
  readonly row: number;
  readonly line: number;
  readonly message: string;
}
