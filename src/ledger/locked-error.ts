/** Another process works in this data directory. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
  readonly hint = 'Wait for it to end, or use another --data-dir.';

  constructor(readonly dataDir: string) {
    super(`another process holds the data directory ${dataDir}`);
  }
}
