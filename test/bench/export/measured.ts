export interface Measured {
  readonly seconds: number;
  readonly rows: number;
  readonly peakMb: number;
}
