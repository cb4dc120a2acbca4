export interface Measured {
  readonly seconds: number;
  /** Of all threads: on a busy machine it says more than the clock. */
  readonly cpuSeconds: number;
  readonly rows: number;
  readonly peakMb: number;
}
