import { stat } from 'node:fs/promises';
import { asPlaceError, UsageError } from '../domain/errors.js';
import { writeWhole } from '../util/whole-file.js';

/** The sheet appears only when complete, for whoever the umask lets read it, and never over one that may hold decisions. */
export async function saveSheet(path: string, text: string, overwrite: boolean): Promise<void> {
  if (!overwrite && (await exists(path))) {
    throw new UsageError(
      `${path} is there already, and may hold decisions`,
      'Apply it first, name another file with --out, or use --force.',
    );
  }
  try {
    await writeWhole(path, text);
  } catch (error) {
    throw asPlaceError(error, path);
  }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
