import { ColumnsUnclearError } from './columns-unclear.js';
import type { ColumnMap } from './map-columns.js';
import type { AskColumns } from './types.js';

type Settled = Pick<ColumnMap, 'fields' | 'without'>;

/** Has somebody say which column is meant, one question after the other; without anybody to ask the file is refused. */
export async function askAboutColumns(
  path: string,
  { fields: decided, without: excluded, doubts }: ColumnMap,
  ask: AskColumns | undefined,
): Promise<Settled> {
  const fields = new Map(decided);
  const without = new Set(excluded);
  if (doubts.length > 0 && ask === undefined) throw new ColumnsUnclearError(path, doubts);
  for (const doubt of doubts) {
    const choice = await ask?.(doubt);
    if (choice === undefined) throw new ColumnsUnclearError(path, doubts);
    if (choice !== null) {
      // A column that was taken for something else, for want of anything better, is this now.
      for (const [field, { source }] of fields) if (source === choice.source) fields.delete(field);
      fields.set(doubt.field, { source: choice.source, decidedBy: 'answer' });
    } else {
      fields.delete(doubt.field);
      without.add(doubt.field);
    }
  }
  return { fields, without };
}
