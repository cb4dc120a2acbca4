import { VOCABULARY_NAMES, type VocabularyName } from './operations/nomenclature.js';

/** One vocabulary; some are another one in each country. */
export interface Vocabulary {
  readonly name: VocabularyName;
  /** Of `sic` and `states`. */
  readonly country?: string | undefined;
}

/** `sic (GB)` */
export const vocabularyLabel = ({ name, country }: Vocabulary): string =>
  country === undefined ? name : `${name} (${country})`;

/** What the operation is asked for one level of it; the first without a parent. */
export const vocabularyParams = ({ name, country }: Vocabulary, parent?: string): Readonly<Record<string, string>> => ({
  name,
  ...(country === undefined ? {} : { [COUNTRY_PARAMS[name] ?? 'country']: country }),
  ...(parent === undefined ? {} : { parent }),
});

/** What such parameters ask for. */
export function vocabularyOf(params: Readonly<Record<string, unknown>>): Vocabulary | undefined {
  const name = VOCABULARY_NAMES.find((known) => known === params.name);
  const country = params.country_code ?? params.country;
  return name && { name, ...(typeof country === 'string' ? { country } : {}) };
}

/** The parameter by which a vocabulary takes its country; undefined: it takes none. */
const COUNTRY_PARAMS: Readonly<Partial<Record<VocabularyName, string>>> = { sic: 'country_code', states: 'country' };

export const takesCountry = (name: VocabularyName): boolean => COUNTRY_PARAMS[name] !== undefined;
