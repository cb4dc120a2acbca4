import { isFilled } from './column-content.js';
import type { SampledColumns } from './decide-columns.js';
import { textAt } from './join-cells.js';
import type { ColumnSource, InputField } from './types.js';

const SAMPLES = 3;

/** The first texts of a field that differ, put together where several columns make them up. */
export function samplesOf(sample: SampledColumns, source: ColumnSource, field: InputField): readonly string[] {
  const texts = new Set<string>();
  for (const row of (sample[0] ?? []).keys()) {
    const text = textAt(
      sample.map((cells) => cells[row] ?? ''),
      source,
      field,
    );
    if (isFilled(text)) texts.add(text);
    if (texts.size === SAMPLES) break;
  }
  return [...texts];
}
