import { ASIAN } from './headers/asian.js';
import { EASTERN } from './headers/eastern.js';
import { SYSTEMS } from './headers/systems.js';
import { WESTERN } from './headers/western.js';
import type { InputField } from './types.js';

/** Headers seen in analysts' files that mean a field; those that come first are meant before those that come later. */
export const synonymsOf = (field: InputField): readonly string[] =>
  [WESTERN, SYSTEMS, EASTERN, ASIAN].flatMap((headers) => headers[field] ?? []);
