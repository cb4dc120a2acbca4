import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pack, unpack } from '../../src/ledger/sqlite/pack.js';
import { join, split } from '../../src/ledger/sqlite/pack-batch.js';

const { Packer } = (await import(
  pathToFileURL(resolve('dist/ledger/sqlite/packer.js')).href
)) as typeof import('../../src/ledger/sqlite/packer.js');

/** Text that shrinks, bytes that do not, and both sides of the size from which a body is compressed at all. */
const body = (index: number): Buffer => {
  const size = (index * 997) % 20_000;
  return index % 3 === 0 ? randomBytes(size) : Buffer.from(`{"figure":${index}},`.repeat(size / 10));
};

describe('packing', () => {
  test('V1-29 comes apart again, byte for byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 9_000 }), fc.nat(5), (bytes, times) => {
        const whole = Buffer.concat(Array.from({ length: times }, () => bytes));
        const { encoding, size, bytes: packed } = pack(whole);
        expect(size).toBe(whole.length);
        expect(unpack({ encoding, bytes: Buffer.from(packed) }).equals(whole)).toBe(true);
      }),
    );
  });

  test('a batch is cut where it was joined, in memory that may be larger', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), fc.nat(3_000), (parts, room) => {
        expect(split(join(parts, new Uint8Array(room))).map((part) => [...part])).toEqual(
          parts.map((part) => [...part]),
        );
      }),
    );
  });

  test('the second thread packs as the first does, and gives each its own', async () => {
    const packer = new Packer();
    const bodies = Array.from({ length: 600 }, (_, index) => body(index));
    const packed = await Promise.all(bodies.map((one) => packer.pack(one)));
    for (const [index, one] of bodies.entries()) {
      const { bytes, ...head } = pack(one);
      expect(packed[index]).toMatchObject(head);
      expect(Buffer.from(packed[index]?.bytes ?? []).equals(bytes)).toBe(true);
    }
    await packer.close();
    await expect(packer.pack(randomBytes(8_000))).rejects.toThrow('has ended');
  });
});
