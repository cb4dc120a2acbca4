/** The candidate a mistyped word most likely meant; undefined if none is near. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    // So many letters have to come or go at the least.
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** The distance to each candidate takes quadratic time. */
const LONGEST_WORD = 100;

/** The nearest few, the nearest first. */
export function suggestSeveral(word: string, candidates: Iterable<string>, atMost: number): readonly string[] {
  const left = new Set(candidates);
  const found: string[] = [];
  for (let best = suggest(word, left); best !== undefined && found.length < atMost; best = suggest(word, left)) {
    found.push(best);
    left.delete(best);
  }
  return found;
}

/** ` Did you mean X?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const best = suggest(word, candidates);
  return best === undefined ? '' : ` Did you mean ${best}?`;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** So many lines say what is wrong; nobody reads twenty thousand. */
const FEW = 20;

/** Tells the first of many, each once, and how many more there are. What is not told is not worked out. */
export function firstFew<T>(items: readonly T[], tell: (item: T) => string, things: string): readonly string[] {
  const told = new Set<string>();
  let index = 0;
  while (index < items.length && told.size < FEW) told.add(tell(items[index++] as T));
  return [...told, ...(index < items.length ? [`… and ${items.length - index} more ${things}`] : [])];
}

/** A text that ends as a sentence does, with one mark: what others wrote may have its own. */
export function sentence(text: string): string {
  const said = text.trimEnd();
  return /[.!?…]$/.test(said) ? said : `${said}.`;
}

/** `--params '…'` as it can be pasted into a shell: a quote within it, from wherever it came, does not end it. */
export const paramsFlag = (params: Readonly<Record<string, unknown>>): string =>
  `--params '${JSON.stringify(params).replaceAll("'", '\\u0027')}'`;
