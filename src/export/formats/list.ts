import { UsageError } from '../../domain/errors.js';
import { didYouMean } from '../../util/message-parts.js';
import { checkFolder } from '../atomic-folder.js';
import type { OpenFormats } from '../outputs.js';
import { csv } from './csv.js';
import type { ExportFormat, ExportOptions, Format, Target } from './format.js';
import { bods, ftm } from './graph.js';
import { parquet } from './parquet.js';
import { xlsx } from './xlsx.js';

export type Formats = Readonly<Record<ExportFormat, Format>>;

export const allFormats: Formats = { csv, parquet, xlsx, ftm, bods };

export async function withFormats<T>(
  target: Target,
  known: Formats,
  use: (opened: OpenFormats) => Promise<T>,
): Promise<T> {
  const opened: OpenFormats[number][] = [];
  try {
    for (const name of target.options.formats)
      opened.push({ format: known[name], writer: await known[name].open(target) });
    return await use(opened);
  } finally {
    for (const { writer } of opened) writer.close();
  }
}

/** Checks in advance that an export can be written. Nothing is left behind. */
export async function checkExport(
  { folder, formats }: Pick<ExportOptions, 'folder' | 'formats'>,
  known: Formats = allFormats,
): Promise<void> {
  const names = Object.keys(known);
  for (const name of formats as readonly string[]) {
    if (!names.includes(name))
      throw new UsageError(
        'FORMAT_NOT_FOUND',
        `there is no format ${name}.${didYouMean(name, names)}`,
        `Use one of: ${names.join(', ')}.`,
      );
  }
  if (formats.length === 0)
    throw new UsageError('FORMAT_MISSING', 'no format is named', `Use one of: ${names.join(', ')}.`);
  checkFolder(folder);
  for (const name of formats) await known[name].check?.();
}
