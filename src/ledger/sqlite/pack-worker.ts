import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { pack } from './pack.js';
import { type Batch, join, type PackedBatch, split } from './pack-batch.js';

// The first thread waits for the disk; when it wakes it is to go on at once. On Linux this is about a thread alone.
if (process.platform === 'linux') setPriority(0, 10);

/** The ledger's second thread: bodies in, packed bodies out, batch by batch. */
parentPort?.on('message', (batch: Batch) => {
  const packed = split(batch).map((body) => pack(body));
  const { bytes, lengths } = join(
    packed.map((one) => one.bytes),
    undefined,
  );
  const heads = packed.map(({ sha256, size, encoding }) => ({ sha256, size, encoding }));
  const reply: PackedBatch = { bytes, lengths, heads, emptied: batch.bytes };
  parentPort?.postMessage(reply, [bytes.buffer, batch.bytes.buffer]);
});
