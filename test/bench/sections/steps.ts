import { setMaxListeners } from 'node:events';
import { readAnswer, unreadableReason } from '../../../src/api/answer.js';
import { v1Operations } from '../../../src/api/v1/operations.js';
import { writeJson } from '../../../src/sandbox/json.js';
import { createRegistry } from '../../../src/sandbox/registry/index.js';
import { redact, Secret } from '../../../src/util/secret.js';
import { interleaved, median, microseconds } from '../measure.js';
import { type Row, ratio } from '../table.js';

const registry = createRegistry({ seed: 1 });
const found = Buffer.from(writeJson([registry.v1.candidate(registry.company(1), false)]));
const KEYS = ['bench_v1_0123456789abcdef0123456789', 'bench_v2_fedcba98765432100123456789'];
const line =
  '{"level":"info","event":"call","operation":"fullKyb","row":1204,"code":null,"request":"8f3b1c2d","ms":41} '.repeat(
    3,
  );
const AT_ONCE = 64;

export const title = 'what a step saves that every call goes through, alone and warm';

interface Step {
  readonly name: string;
  readonly now: () => unknown;
  readonly plain: () => unknown;
}

export async function run(): Promise<Row[]> {
  const steps = [parsedOnce(), keysInBlocks(), oneListener()];
  const cases = steps.flatMap(({ now, plain }) => [now, plain]);
  for (const step of cases) microseconds(step, 200);
  const measured = await interleaved(
    cases.map((step) => () => microseconds(step, 200)),
    7,
  );
  const medians = measured.map(median);
  return steps.map(({ name }, index) => {
    const [now = Number.NaN, plain = Number.NaN] = medians.slice(2 * index, 2 * index + 2);
    return { step: name, µs: now.toFixed(2), 'without it': plain.toFixed(2), ratio: ratio(now / plain) };
  });
}

/** `lately` in src/api/answer.ts. */
function parsedOnce(): Step {
  const { searchKyb } = v1Operations;
  const lookAndRead = (read: (body: Buffer) => Buffer) => () => {
    const body = Buffer.from(found);
    unreadableReason(searchKyb, body);
    return readAnswer(searchKyb, read(body));
  };
  return {
    name: `an answer of ${found.length} bytes is looked at as it comes, and read: parsed once`,
    now: lookAndRead((body) => body),
    // New bytes, which are not in the cache.
    plain: lookAndRead((body) => Buffer.from(body)),
  };
}

/** src/util/secret.ts. */
function keysInBlocks(): Step {
  const pieces = new Set<string>();
  for (const key of KEYS) {
    new Secret(key);
    for (let at = 0; at + 12 <= key.length; at++) pieces.add(key.slice(at, at + 12));
  }
  const everyPlace = (text: string): boolean => {
    const lower = text.toLowerCase();
    for (let at = 0; at + 12 <= lower.length; at++) if (pieces.has(lower.slice(at, at + 12))) return true;
    return false;
  };
  let count = 0;
  return {
    name: `keys are looked for in a line of ${line.length} characters: in blocks of six first`,
    now: () => redact(`${line}${count++}`),
    plain: () => everyPlace(`${line}${count++}`),
  };
}

/** `#endedBy` in src/api/transport.ts: calls begin and end, with the most calls in flight. */
function oneListener(): Step {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const underWay = new Set<() => void>();
  const listening: (() => void)[] = [];
  return {
    name: `a call is ended by a signal, ${AT_ONCE} in flight: one listener for all`,
    now: () => {
      const end = () => {};
      underWay.add(end);
      if (underWay.size > AT_ONCE) for (const first of underWay) return underWay.delete(first);
      return true;
    },
    plain: () => {
      const end = () => {};
      signal.addEventListener('abort', end, { once: true });
      if (listening.push(end) > AT_ONCE) signal.removeEventListener('abort', listening.shift() as () => void);
    },
  };
}
