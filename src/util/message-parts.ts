/** Names what a message is about, for scripts and tests: it stays when the words change. */
export type MessageCode = Uppercase<string>;

/** One thing that is said to a person, on one line or a few. */
export interface Message {
  readonly code: MessageCode;
  readonly text: string;
  readonly state?: MessageState | undefined;
  /** Flags that change what it says, with their purpose. The page has a control instead. */
  readonly flags?: string | undefined;
}

/** What a message tells at a glance. A screen shows it in colour; the words say the same. */
export type MessageState = 'done' | 'attention' | 'failed' | 'detail';

export const message = (code: MessageCode, text: string, state?: MessageState): Message => ({ code, text, state });

export const mapTexts = (messages: readonly Message[], change: (text: string) => string): readonly Message[] =>
  messages.map(({ code, text, state }) => message(code, change(text), state));

/** The most likely candidate for a mistyped word. Undefined if none is near. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    // The difference in length is a lower bound of the distance.
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

/** ` Did you mean X?`, or an empty text. */
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

/** More problems than this are not read. */
const FEW = 20;

/** The first of many, each once, and the number of the rest. The others are not even worded. */
export function firstFew<T>(items: readonly T[], tell: (item: T) => string, things: string): readonly string[] {
  const told = new Set<string>();
  let index = 0;
  while (index < items.length && told.size < FEW) told.add(tell(items[index++] as T));
  return [...told, ...(index < items.length ? [`… and ${items.length - index} more ${things}`] : [])];
}

/** The text with one full stop at its end, unless it has its own mark. */
export function sentence(text: string): string {
  const said = text.trimEnd();
  return /[.!?…]$/.test(said) ? said : `${said}.`;
}

/** `--params '…'` for a shell: a quote inside, whatever its source, does not end it. */
export const paramsFlag = (params: Readonly<Record<string, unknown>>): string =>
  `--params '${JSON.stringify(params).replaceAll("'", '\\u0027')}'`;

/** "76.9 GB", "512 MB", "0.3 MB" */
export function bytesInWords(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toLocaleString('en-US', { maximumFractionDigits: 1 })} GB`;
  return `${(bytes / 1e6).toLocaleString('en-US', { maximumFractionDigits: bytes < 1e7 ? 1 : 0 })} MB`;
}
