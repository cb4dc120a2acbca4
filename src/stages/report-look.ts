import type { ReportOptions } from './credit-report-options.js';

export type NextLook =
  /** The history is to be seen as it was at this time or later. */
  { readonly look: number } | { readonly waitUntil: number };

/**
 * A call for a report failed, at `endedAt`. The provider may still be at work on it, and list it late: it is looked for,
 * with growing waits, until nothing can come of it any more (V2-17). Only a look after that lets another be generated.
 */
export function nextLook(endedAt: number, looked: number, now: number, options: ReportOptions): NextLook {
  const last = endedAt + options.lookForMs + 1;
  if (now >= last) return { look: last };
  const first = endedAt + options.firstPollMs;
  if (now < first) return { waitUntil: Math.min(last, first) };
  // Rows that look at about the same time share a look.
  if (looked <= endedAt) return { look: Math.max(endedAt + 1, now - options.firstPollMs) };
  return { waitUntil: Math.min(last, now + pauseAfter(now - endedAt, options)) };
}

/** The waits grow with the time already waited, so that nobody is asked for a slow report a hundred times. */
export const pauseAfter = (waited: number, { firstPollMs, pollAtMostMs }: ReportOptions): number =>
  Math.min(pollAtMostMs, Math.max(firstPollMs, Math.round(waited / 4)));
