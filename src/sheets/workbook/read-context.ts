import type { CellContext } from './cell-value.js';
import type { Contents } from './contents.js';
import { readSharedStrings } from './shared-strings.js';
import { readStyles } from './styles.js';
import type { ZipParts } from './zip-parts.js';

/** What the cells refer to. */
export async function readContext(parts: ZipParts, contents: Contents): Promise<CellContext> {
  const strings = await readSharedStrings(parts, contents.sharedStrings);
  const styles = await readStyles(parts, contents.styles);
  return { shownAs: parts.shownAs, strings, styles, from1904: contents.from1904 };
}
