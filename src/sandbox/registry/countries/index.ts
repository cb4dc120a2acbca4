import { brazil, canada, unitedStates } from './americas.js';
import { australia, china, israel, japan, singapore } from './asia-pacific.js';
import { austria, germany, liechtenstein, switzerland } from './german-speaking.js';
import { ireland, unitedKingdom } from './islands.js';
import { denmark, finland, norway, sweden } from './nordic.js';
import { czechia, italy, poland, portugal, spain } from './southern-eastern.js';
import type { Country } from './types.js';
import { belgium, france, luxembourg, netherlands } from './western.js';

/** The order is part of the generator: append, or every company changes. */
export const countries: readonly Country[] = [
  unitedKingdom,
  germany,
  france,
  netherlands,
  belgium,
  sweden,
  norway,
  denmark,
  finland,
  ireland,
  spain,
  italy,
  poland,
  switzerland,
  unitedStates,
  canada,
  china,
  singapore,
  austria,
  portugal,
  czechia,
  luxembourg,
  australia,
  japan,
  israel,
  brazil,
  liechtenstein,
];
