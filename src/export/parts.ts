import { readers } from '../readers/list.js';
import type { Reader } from '../readers/reader.js';
import { type Formats, formats } from './formats/list.js';

/** What exports are made with. */
export interface ExportParts {
  readonly readers: readonly Reader[];
  readonly formats: Formats;
}

export const ALL_PARTS: ExportParts = { readers, formats };
