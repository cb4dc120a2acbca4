// The entry of the worker thread that packs bodies.

import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { type Batch, joinBodies, type PackedBatch, pack, splitBodies } from './bodies.js';

const YIELDING = 10;

// The main thread waits for the disk and must continue at once when it wakes. On Linux the priority is that of one
// thread. A lower priority cannot be taken back, so it is set only if it is not lower already.
if (process.platform === 'linux' && getPriority(0) < YIELDING) setPriority(0, YIELDING);

/** The worker thread: receives batches of bodies and returns them packed. */
parentPort?.on('message', (batch: Batch) => {
  const packed = splitBodies(batch).map((body) => pack(body));
  const { bytes, lengths } = joinBodies(packed.map((one) => one.bytes));
  const heads = packed.map(({ sha256, size, encoding }) => ({ sha256, size, encoding }));
  const reply: PackedBatch = { bytes, lengths, heads };
  parentPort?.postMessage(reply, [bytes.buffer]);
});
