import type { NumberFormat } from './format.js';
import type { VatRule } from './vat.js';

export type Language = 'en' | 'de' | 'fr' | 'es' | 'it' | 'nordic' | 'slavic' | 'cjk' | 'hebrew';

/** One register with its own numbers: a country's, a state's, or a court's. */
export interface Register {
  /** Companies per thousand of the whole registry. */
  readonly share: number;
  /** `CA` in `US-CA`, the court in Germany, a region or null elsewhere. */
  readonly state: string | null;
  readonly jurisdiction: string | null;
  readonly number: NumberFormat;
  /** Where it differs from the country's. */
  readonly vat?: VatRule;
  readonly legalForms?: readonly string[];
  readonly cities: readonly string[];
}

export interface Country {
  readonly code: string;
  readonly name: string;
  readonly continent: string;
  readonly language: Language;
  readonly currency: string;
  readonly authority: string;
  readonly dial: string;
  readonly domain: string;
  /** Digits of a postal code. */
  readonly postal: number;
  readonly legalForms: readonly string[];
  readonly vat: VatRule;
  readonly registers: readonly Register[];
  /** How analysts write the country. */
  readonly aliases: readonly string[];
}
