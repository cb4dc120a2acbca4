import type { Vocabulary } from './vocabularies.js';

/**
 * How a filter takes the items of a vocabulary: their IDs as whole numbers, as text, as either, or as a place with the path
 * (`parents`) or the ID of the item.
 */
export type ItemForm = 'integers' | 'texts' | 'either' | 'place';

export interface FilterVocabulary {
  readonly vocabulary: Vocabulary;
  readonly form: ItemForm;
}

const SIC = ['gb', 'us', 'de', 'fr', 'it', 'nl', 'be', 'dk', 'ie', 'lu', 'no', 'se', 'sg', 'ca', 'mx', 'anz'];

/** The filters of prospecting whose values are items of a vocabulary. */
export const filterVocabularies: Readonly<Record<string, FilterVocabulary>> = {
  company_status: { vocabulary: { name: 'company-status' }, form: 'integers' },
  company_type: { vocabulary: { name: 'company-type' }, form: 'integers' },
  legal_form: { vocabulary: { name: 'legal-form' }, form: 'integers' },
  activity_type: { vocabulary: { name: 'activity-type' }, form: 'integers' },
  industry_focus: { vocabulary: { name: 'industry-focus' }, form: 'texts' },
  nace: { vocabulary: { name: 'nace' }, form: 'either' },
  isic: { vocabulary: { name: 'isic' }, form: 'either' },
  ...Object.fromEntries(
    SIC.map((code) => [
      `sic_code_${code}`,
      { vocabulary: { name: 'sic', country: code.toUpperCase() }, form: 'either' } satisfies FilterVocabulary,
    ]),
  ),
  location_countries: { vocabulary: { name: 'country' }, form: 'place' },
  location_regions: { vocabulary: { name: 'region' }, form: 'place' },
  // Whether these two are the IDs of the vocabulary or its names is not shown; that filters take IDs is.
  financial_currency: { vocabulary: { name: 'currency' }, form: 'texts' },
  insights_technologies: { vocabulary: { name: 'technology' }, form: 'texts' },
};
