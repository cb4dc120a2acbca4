/** Requests of the parent to a server process, and its replies. */
export type Ask = { readonly type: 'cpu' } | { readonly type: 'size'; readonly bytes: number };

export type Told =
  | { readonly type: 'ready'; readonly origin: string; readonly keys?: { readonly v1: string; readonly v2: string } }
  /** Processor time of the process so far, user and system. */
  | { readonly type: 'cpu'; readonly microseconds: number }
  | { readonly type: 'sized' };

export function tell(told: Told): void {
  process.send?.(told);
}

export function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
