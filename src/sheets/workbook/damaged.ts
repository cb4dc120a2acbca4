import { UsageError } from '../../domain/errors.js';

/** A workbook that cannot be read to its end: nothing of it is taken, as what is missing might be companies. */
export const damagedWorkbook = (path: string, why: string): UsageError =>
  new UsageError(
    `${path}: this workbook is damaged: ${why}`,
    'Open it in Excel and save it again as .xlsx, or copy it once more from where it came from.',
  );
