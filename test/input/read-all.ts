import { readInput } from '../../src/input/read-input.js';
import type { InputOptions, InputRow, InputTable } from '../../src/input/types.js';
import { collect, withFile } from '../sheets/with-file.js';

export async function readAll(
  content: string | Uint8Array,
  options: InputOptions = {},
): Promise<{ table: InputTable; rows: InputRow[] }> {
  return withFile(content, async (path) => {
    const table = await readInput(path, options);
    return { table, rows: await collect(table.rows()) };
  });
}
