import { isFilled } from './column-content.js';
import type { SampledColumns } from './decide-columns.js';
import type { ColumnSource, InputField } from './types.js';
import { textsOf } from './what-fits.js';

const SAMPLES = 3;

/** The first texts of a field that differ, put together where several columns make them up. */
export function samplesOf(sample: SampledColumns, source: ColumnSource, field: InputField): readonly string[] {
  return [...new Set(textsOf(sample, source, field).filter(isFilled))].slice(0, SAMPLES);
}
