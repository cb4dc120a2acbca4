import { choice, integerWithin, section, yesOrNo } from '../domain/options/fields.js';
import type { StageOptions } from './stage.js';

export interface ScreeningOptions {
  readonly from: 'v1' | 'v2';
  readonly officers: boolean;
  readonly shareholders: boolean;
  readonly peopleAtMost: number;
  readonly pagesAtMost: number;
  readonly currentOnly: boolean;
}

export const screeningOptions: StageOptions<ScreeningOptions> = {
  key: 'screening',
  schema: section({
    from: choice(['v1', 'v2'])
      .default('v1')
      .describe(
        'Whose lists and searches are used: v1 (a unit for each search) or v2, which searches by officers alone and does not tell who has resigned (V2-9)',
      ),
    officers: yesOrNo().default(true).describe('Look for the officers by name: `appointments`'),
    shareholders: yesOrNo()
      .default(true)
      .describe('Look for the shareholders by name: `holdings`; v1 only, v2 has no such search'),
    people_at_most: integerWithin(1, 50)
      .default(10)
      .describe(
        'How many officers, and how many shareholders, are looked for a company, 1 to 50, in the order of the list; each is a search. Who is left out is noted in `errors` (PEOPLE_LEFT)',
      ),
    pages_at_most: integerWithin(1, 20)
      .default(1)
      .describe('Pages of holdings that are asked for a shareholder, 1 to 20, of 50 each; every page costs a unit'),
    current_only: yesOrNo()
      .default(true)
      .describe('Pass over officers of whom a resignation was returned; `false` looks for them as well'),
  })
    .refine(({ officers, shareholders }) => officers || shareholders, {
      path: ['officers'],
      error: 'must not be false where screening.shareholders is: nobody would be looked for',
    })
    .refine(({ from, officers }) => from === 'v1' || officers, {
      path: ['officers'],
      error: 'must be true with screening.from: v2, which searches by officers alone',
    })
    .transform((file) => ({
      from: file.from,
      officers: file.officers,
      shareholders: file.shareholders && file.from === 'v1',
      peopleAtMost: file.people_at_most,
      pagesAtMost: file.pages_at_most,
      currentOnly: file.current_only,
    }))
    .prefault({})
    .describe('Who of a company is looked for elsewhere. What is found are candidates by name, never the same person'),
  decisive: (options) => options,
};
