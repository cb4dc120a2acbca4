import type { Firm } from './firms.js';

const ENGLISH: Readonly<Record<string, string>> = {
  GB: 'United Kingdom',
  US: 'United States',
  DE: 'Germany',
  NL: 'Netherlands',
  SE: 'Sweden',
  CA: 'Canada',
  IE: 'Ireland',
  FR: 'France',
  ES: 'Spain',
  IT: 'Italy',
  PL: 'Poland',
};

/** The country's English name. */
export function inEnglish({ country }: Firm): string {
  return ENGLISH[country] ?? country;
}
