import { hash, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinBodies, pack, splitBodies, unpack } from '../../src/ledger/answers/bodies.js';
import { look, withDataDir } from './sqlite-support.js';
import { begin, call, flush, intend, NOW, settlement } from './support.js';

/** Threads start from compiled files only: `test/helpers/build.ts` keeps them up to date. */
const built = async (file: string) => (await import(pathToFileURL(resolve('build/ledger', file)).href)) as never;
const { Packer }: typeof import('../../src/ledger/answers/bodies.js') = await built('answers/bodies.js');
const { openSqliteLedger }: typeof import('../../src/ledger/db/sqlite/ledger.js') = await built('db/sqlite/ledger.js');

/** Text that compresses, bytes that do not, and both sides of the size limit for compression. */
const body = (index: number): Buffer => {
  const size = (index * 997) % 20_000;
  return index % 3 === 0 ? randomBytes(size) : Buffer.from(`{"figure":${index}},`.repeat(size / 10));
};

describe('packing', () => {
  test('V1-29 is reversible, byte for byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 9_000 }), fc.nat(5), (bytes, times) => {
        const whole = Buffer.concat(Array.from({ length: times }, () => bytes));
        const { encoding, size, bytes: packed } = pack(whole);
        expect(size).toBe(whole.length);
        expect(unpack({ encoding, bytes: Buffer.from(packed) }).equals(whole)).toBe(true);
      }),
    );
  });

  test('a batch is cut where it was joined', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (parts) => {
        expect(splitBodies(joinBodies(parts)).map((part) => [...part])).toEqual(parts.map((part) => [...part]));
      }),
    );
  });

  test('the second thread packs like the first, and returns each its own body', async () => {
    const packer = new Packer();
    const bodies = Array.from({ length: 600 }, (_, index) => body(index));
    const packed = await Promise.all(bodies.map((one) => packer.pack(one)));
    for (const [index, one] of bodies.entries()) {
      const { bytes, ...head } = pack(one);
      expect(packed[index]).toMatchObject(head);
      expect(Buffer.from(packed[index]?.bytes ?? []).equals(bytes)).toBe(true);
    }
    await packer.close();
  });

  test('bodies of a dead thread, and later ones, are packed on the main thread', async () => {
    const packer = new Packer(0);
    const bodies = Array.from({ length: 20 }, () => randomBytes(8_000));
    const packed = bodies.map((one) => packer.pack(one));
    await packer.close();
    for (const [index, one] of bodies.entries()) expect((await packed[index])?.sha256).toBe(pack(one).sha256);
    expect((await packer.pack(body(1_000))).sha256).toHaveLength(64);
  });

  test('a flush waits for settlements whose bodies are being packed', async () => {
    await withDataDir(async (dataDir) => {
      const ledger = await openSqliteLedger({ dataDir, now: NOW, access: 'write' });
      const place = await begin(ledger);
      const { calls } = ledger;
      const bodies = Array.from({ length: 160 }, (_, index) => Buffer.from(`${index} `.repeat(3_000)));
      const keys = bodies.map((one) => hash('sha256', one));
      const intents = await Promise.all(keys.map((requestKey) => intend(ledger, call(place, { requestKey }))));
      const settled = intents.map((one, index) => calls.settle(one, settlement({ body: bodies[index] ?? null })));
      await flush(ledger);
      expect(look(dataDir, 'SELECT 1 FROM calls WHERE settled_at IS NULL')).toEqual([]);
      expect(new Set(await Promise.all(settled))).toEqual(new Set([true]));
      for (const [index, key] of keys.entries()) {
        expect((await calls.findAnswer(place.environmentId, key, 0))?.rawSha256).toBe(key);
        expect((await calls.readBody(key))?.equals(bodies[index] as Buffer)).toBe(true);
      }
      await ledger.close();
    });
  });
});
