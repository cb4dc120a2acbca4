import { type Json, raw } from '../json.js';
import type { Random } from './random.js';

/** An amount as number text: many have trailing zeros that count, some are negative, a few have 25 digits. */
export function amountText(random: Random, magnitude: number): string {
  const dice = random.next();
  if (dice < 0.004) return `${random.between(1, 9)}${digits(random, 24)}`;
  const sign = dice > 0.86 ? '-' : '';
  const units = random.int(10 ** magnitude);
  if (dice < 0.35) return `${sign}${units}.00`;
  if (dice < 0.5) return `${sign}${units}.${random.int(10)}0`;
  return units === 0 ? '0' : `${sign}${units}`;
}

export function ratioText(random: Random): string {
  const sign = random.chance(0.15) ? '-' : '';
  return `${sign}${random.int(40)}.${String(random.int(10_000)).padStart(4, '0')}`;
}

/** A filed value: a number mostly, sometimes a string, sometimes null, which is not zero (V1-23). */
export function filedValue(random: Random, text: string): Json {
  const dice = random.next();
  if (dice < 0.08) return null;
  return dice < 0.3 ? text : raw(text);
}

function digits(random: Random, count: number): string {
  let text = '';
  for (let i = 0; i < count; i++) text += random.int(10);
  return text;
}
