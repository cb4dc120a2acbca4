import { UsageError } from '../domain/errors.js';
import { here, type PlaceOptions, withLedger } from './surroundings.js';

export interface RawAnswerOptions extends PlaceOptions {
  /** SHA-256 of the body; its beginning is enough while no other begins so. */
  readonly sha256: string;
}

export interface RawAnswerView {
  readonly rawSha256: string;
  readonly body: Buffer;
}

/** A body as it was bought, to the byte. */
export function rawAnswer({ sha256, ...place }: RawAnswerOptions, around = here()): Promise<RawAnswerView> {
  if (!/^[0-9a-f]{8,64}$/.test(sha256))
    throw new UsageError(
      `${sha256} is no digest of a raw answer`,
      'It is the raw_sha256 of a table, or its first 8 digits or more.',
    );
  return withLedger('read', place, around, async ({ changes }) => {
    const [rawSha256, another] = await changes.digests(sha256);
    if (another !== undefined)
      throw new UsageError(`several raw answers begin with ${sha256}`, 'Give more of its digits.');
    const body = rawSha256 === undefined ? undefined : await changes.body(rawSha256);
    if (rawSha256 === undefined || body === undefined)
      throw new UsageError(
        `there is no raw answer ${sha256}`,
        'It was pruned or purged, or is damaged: `kybatch doctor --deep` says.',
      );
    return { rawSha256, body };
  });
}
