/** Where nobody waits any more, who does not answer within this is gone. */
const HURRIED_MS = 1000;

/** A timer that is shortened as soon as somebody has had enough. Returns what ends it. */
export function hurriedBy(
  giveUp: AbortSignal | undefined,
  ms: number,
  set: (ms: number) => NodeJS.Timeout,
): () => void {
  const hurriedMs = Math.min(HURRIED_MS, ms);
  let timer = set(giveUp?.aborted === true ? hurriedMs : ms);
  const hurry = () => {
    clearTimeout(timer);
    timer = set(hurriedMs);
  };
  giveUp?.addEventListener('abort', hurry, { once: true });
  return () => {
    clearTimeout(timer);
    giveUp?.removeEventListener('abort', hurry);
  };
}
