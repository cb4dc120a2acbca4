import { UsageError } from '../domain/errors.js';
import { didYouMean } from '../util/suggest.js';
import { checkFolder } from './folder.js';
import { formats as allFormats, type Formats } from './formats/list.js';
import type { ExportOptions } from './options.js';

/** Whether an export could be made there and so: found out before it is needed. Leaves nothing behind. */
export async function checkExport(
  { folder, formats }: Pick<ExportOptions, 'folder' | 'formats'>,
  known: Formats = allFormats,
): Promise<void> {
  const names = Object.keys(known);
  for (const name of formats as readonly string[]) {
    if (!names.includes(name))
      throw new UsageError(`there is no format ${name}.${didYouMean(name, names)}`, `There is: ${names.join(', ')}.`);
  }
  if (formats.length === 0) throw new UsageError('no format is named', `There is: ${names.join(', ')}.`);
  checkFolder(folder);
  for (const name of formats) await known[name].check?.();
}
