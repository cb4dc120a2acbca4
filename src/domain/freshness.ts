// Is an answer fresh? The door, the plan and the decision about due companies ask here.

/** The last moment at which an answer is fresh. */
export const freshUntil = (fetchedAt: number, freshMs: number): number => fetchedAt + freshMs;

/** An answer from exactly that moment is still fresh. */
export const isOver = (until: number, now: number): boolean => until < now;

/** The oldest answer that can be reused. Infinity: none, because the operation is always asked again. */
export const reusableSince = (now: number, freshMs: number): number =>
  freshMs === 0 ? Number.POSITIVE_INFINITY : now - freshMs;
