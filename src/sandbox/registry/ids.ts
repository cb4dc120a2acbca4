import { type Json, raw } from '../json.js';
import { hash, Permutation } from './random.js';

/**
 * The ID spaces of the provider, each a bijection of the index. Their ranges are disjoint:
 *
 * | space | numbers from | beyond 2^53 | written as |
 * |---|---|---|---|
 * | v1 company | 10^7 | 9.1 × 10^18, one in four | JSON integer or string |
 * | v2 company | 2 × 10^11 | 5.5 × 10^18, one in sixteen | string of digits |
 * | report source | 5 × 10^11 | | string; letters and dashes for two in three |
 */
export interface Ids {
  v1(index: number): string;
  v2(index: number): string;
  source(index: number, countryCode: string): string;
  ofV1(id: string): number | undefined;
  ofV2(id: string): number | undefined;
  ofSource(id: string): number | undefined;
}

const V1_LARGE = 9_100_000_000_000_000_000n;
const V1_STEP = 1_000_003n;
const V2_LARGE = 5_500_000_000_000_000_001n;

export function createIds(seed: number, size: number): Ids {
  const v1 = new Permutation(size, hash(seed, 41));
  const v2 = new Permutation(size, hash(seed, 42));
  const source = new Permutation(size, hash(seed, 43));
  return {
    v1: (index) => v1Text(v1.forward(index)),
    v2: (index) => {
      const position = v2.forward(index);
      return position % 16 === 5 ? v2Large(position) : String(200_000_000_000 + position * 11);
    },
    source: (index, countryCode) => {
      const position = source.forward(index);
      if (position % 3 === 0) return String(500_000_000_000 + position);
      return `${countryCode}-X-${position.toString(36).padStart(6, '0')}`;
    },
    ofV1: (id) => existing(id, v1Position(id), size, v1Text, (position) => v1.backward(position)),
    ofV2: (id) => {
      if (!/^[1-9]\d{0,18}$/.test(id)) return undefined;
      const value = BigInt(id);
      const position = value >= V2_LARGE ? Number(value - V2_LARGE) : (Number(value) - 200_000_000_000) / 11;
      if (!Number.isInteger(position) || position < 0 || position >= size) return undefined;
      return (position % 16 === 5) === value >= V2_LARGE ? v2.backward(position) : undefined;
    },
    ofSource: (id) => {
      const coded = /^[A-Z]{2}-X-([0-9a-z]{6,7})$/.exec(id)?.[1];
      const position = coded === undefined ? sourceNumber(id) : Number.parseInt(coded, 36);
      if (!(position >= 0 && position < size)) return undefined;
      return (position % 3 === 0) === (coded === undefined) ? source.backward(position) : undefined;
    },
  };
}

/** A v1 ID as it goes on the wire: most as integers, some as strings (V1-17). */
export function v1Wire(id: string): Json {
  return isStringId(id) ? id : raw(id);
}

/** Text decides the form, so that an ID looks the same in every body. */
export function isStringId(id: string): boolean {
  return id.charCodeAt(id.length - 1) % 4 === 1;
}

export function isBeyond2To53(id: string): boolean {
  return id.length > 16;
}

function v1Text(position: number): string {
  if (position % 4 === 1) return `91${String(position * 1_000_003).padStart(17, '0')}`;
  return String(10_000_000 + position * 7);
}

/** The text of V2_LARGE + position, without a detour over BigInt; v1's likewise. */
function v2Large(position: number): string {
  return `55${String(position + 1).padStart(17, '0')}`;
}

function v1Position(id: string): number {
  if (!/^[1-9]\d{0,18}$/.test(id)) return Number.NaN;
  const value = BigInt(id);
  return value >= V1_LARGE ? Number((value - V1_LARGE) / V1_STEP) : (Number(id) - 10_000_000) / 7;
}

function sourceNumber(id: string): number {
  return /^\d{12,13}$/.test(id) ? Number(id) - 500_000_000_000 : Number.NaN;
}

function existing(
  id: string,
  position: number,
  size: number,
  encode: (position: number) => string,
  backward: (position: number) => number,
): number | undefined {
  if (!Number.isInteger(position) || position < 0 || position >= size) return undefined;
  return encode(position) === id ? backward(position) : undefined;
}
