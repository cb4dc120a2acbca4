import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { type Batch, joinBodies, type PackedBatch, pack, splitBodies } from './bodies.js';

const YIELDING = 10;

// The first thread waits for the disk; when it wakes it is to go on at once. On Linux this is about a thread alone. A
// process may always yield, and may not take that back: where it yields more already, nothing is asked for.
if (process.platform === 'linux' && getPriority(0) < YIELDING) setPriority(0, YIELDING);

/** The ledger's second thread: bodies in, packed bodies out, batch by batch. */
parentPort?.on('message', (batch: Batch) => {
  const packed = splitBodies(batch).map((body) => pack(body));
  const { bytes, lengths } = joinBodies(packed.map((one) => one.bytes));
  const heads = packed.map(({ sha256, size, encoding }) => ({ sha256, size, encoding }));
  const reply: PackedBatch = { bytes, lengths, heads };
  parentPort?.postMessage(reply, [bytes.buffer]);
});
