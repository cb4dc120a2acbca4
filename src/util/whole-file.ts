import { open, rename, rm } from 'node:fs/promises';

/** A file that appears only when it is complete, for its owner only unless told otherwise. What was there before stays until then. */
export async function writeWhole(path: string, text: string, mode = 0o600): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  try {
    const handle = await open(part, 'w', mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}
