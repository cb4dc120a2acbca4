export interface Measured {
  readonly seconds: number;
  /** Of all threads. On a busy machine it is more reliable than the clock. */
  readonly cpuSeconds: number;
  readonly rows: number;
  readonly peakMb: number;
}
