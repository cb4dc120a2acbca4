import type { OpenFormats } from '../outputs.js';
import type { Target } from './format.js';
import type { Formats } from './list.js';

/** The formats of the options, begun, for the length of `use`. */
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
