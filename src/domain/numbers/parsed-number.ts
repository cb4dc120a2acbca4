/**
 * How a number may be used, from least to most doubtful.
 *
 * - `as_written`: one of the register's own spellings.
 * - `automatic`: a repair that cannot name another company. One exact candidate confirms it.
 * - `derived`: taken from a longer number (SIRET → SIREN). It is confirmed and flagged.
 * - `needs_name`: the repaired number could name another company, so the name has to agree.
 * - `review`: a person decides.
 */
export type Treatment = 'as_written' | 'automatic' | 'derived' | 'needs_name' | 'review';

export interface Repair {
  readonly rule: RepairRule;
  readonly before: string;
  readonly after: string;
}

export type RepairRule =
  | 'spreadsheet_text'
  | 'full_width'
  | 'spaces'
  | 'case'
  | 'separators'
  | 'decimal_point'
  | 'scientific_notation'
  | 'label'
  | 'country_prefix'
  | 'tax_suffix'
  | 'century_prefix'
  | 'register_spelling'
  | 'siret_to_siren'
  | 'vat_to_number'
  | 'abn_to_acn'
  | 'zero_padding'
  | 'zeros_removed'
  | 'look_alike'
  | 'mark_left_out'
  | 'number_in_name';

export interface ParsedNumber {
  readonly raw: string;
  /** The register's own spelling, sent first. Null if the text has no number worth a search. */
  readonly canonical: string | null;
  /** Every spelling worth a search, canonical first. */
  readonly spellings: readonly string[];
  readonly repairs: readonly Repair[];
  readonly treatment: Treatment;
  /** Why a person or a name is needed, in words. */
  readonly reason?: string;
  /**
   * `yes` only if a check digit holds. Without one the form proves nothing. A failed checksum is evidence, not proof.
   */
  readonly valid: 'yes' | 'no' | 'unknown';
  /** A readable German number that lacks its court. Several courts may have issued it. */
  readonly lacksCourt?: true;
  /** The register, if the number alone does not identify a company: court (DE), state (US, CA). */
  readonly register?: string;
}

const ORDER: readonly Treatment[] = ['as_written', 'automatic', 'derived', 'needs_name', 'review'];

/** The more doubtful of the two. */
export function moreDoubtful(a: Treatment, b: Treatment): Treatment {
  return ORDER.indexOf(a) >= ORDER.indexOf(b) ? a : b;
}

const TREATMENTS: Partial<Record<RepairRule, Treatment>> = {
  siret_to_siren: 'derived',
  vat_to_number: 'derived',
  abn_to_acn: 'derived',
  zero_padding: 'needs_name',
  zeros_removed: 'needs_name',
  look_alike: 'review',
  mark_left_out: 'review',
  number_in_name: 'needs_name',
};

export const treatmentOf = (rule: RepairRule): Treatment => TREATMENTS[rule] ?? 'automatic';

const WORDS: Record<RepairRule, string> = {
  spreadsheet_text: 'removing the quotes a spreadsheet put around it',
  full_width: 'turning full-width characters into plain ones',
  spaces: 'removing spaces',
  case: 'ignoring case',
  separators: 'ignoring separators',
  decimal_point: 'removing a trailing ".0"',
  scientific_notation: 'writing out scientific notation',
  label: "removing the number's label",
  country_prefix: "setting the country's prefix right",
  tax_suffix: 'removing a tax suffix',
  century_prefix: 'removing the prefix "16"',
  register_spelling: "spelling the register's section as the register does",
  siret_to_siren: 'taking the SIREN out of the SIRET',
  vat_to_number: 'taking the registration number out of the VAT number',
  abn_to_acn: 'taking the ACN out of the ABN',
  zero_padding: 'padding with zeros',
  zeros_removed: 'removing leading zeros',
  look_alike: 'reading a letter as a digit',
  mark_left_out: 'leaving out a mark',
  number_in_name: 'taking it out of the name',
};

/** "padding with zeros to 8 characters" */
export function repairInWords(repair: Repair): string {
  if (repair.rule === 'number_in_name' && repair.before !== '') return `taking it out of the name "${repair.before}"`;
  return repair.rule === 'zero_padding' ? `padding with zeros to "${repair.after}"` : WORDS[repair.rule];
}
