import type { Random } from '../registry/random.js';
import type { Company, Registry } from '../registry/types.js';

/** A row as an analyst would send it. */
export interface SampleInput {
  readonly id: string;
  readonly name: string;
  readonly country: string;
  readonly registration_number: string;
  readonly vat_number: string;
  readonly city: string;
  readonly segment: string;
}

export type Expected = 'confirmed' | 'needs_review' | 'no_match' | 'invalid';

/** The right answer for a row. The company is the one that the analyst meant. */
export interface SampleAnswer {
  readonly id: string;
  readonly damage: string;
  readonly expected: Expected;
  readonly reason: string;
  readonly v1_company_id: string;
  readonly v2_company_id: string;
  readonly registration_number: string;
}

export interface SampleRow {
  readonly input: SampleInput;
  readonly answer: SampleAnswer;
}

export type Change = Partial<Omit<SampleInput, 'id' | 'segment'>>;

export interface DamageContext {
  readonly registry: Registry;
  readonly company: Company;
  /** Never null here unless the damage asks for such companies. */
  readonly number: string;
  readonly random: Random;
}

/** One kind of damage: what it does to a clean row, and what a careful client must conclude. */
export interface Damage {
  readonly kind: string;
  readonly expected: Expected;
  readonly reason: string;
  /** Which companies it can happen to; ordinary ones (`isPlain`) unless told. */
  readonly eligible?: (registry: Registry, company: Company) => boolean;
  /** The changed fields; undefined when this company's data cannot show the damage. */
  readonly apply: (context: DamageContext) => Change | undefined;
}
