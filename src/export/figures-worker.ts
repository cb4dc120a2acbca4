import { parentPort, workerData } from 'node:worker_threads';
import type { SnapshotAnswer } from '../ledger/snapshot.js';
import { type FiguresSetup, figuresRenderer } from './figures.js';

/** The second thread of an export: answers in, lines out, in the order they came. */
const render = figuresRenderer(workerData as FiguresSetup);

parentPort?.on('message', (answers: readonly SnapshotAnswer[]) => {
  // Buffers arrive as plain arrays of bytes.
  const figures = render(
    answers.map((answer) => ({
      ...answer,
      body: Buffer.from(answer.body.buffer, answer.body.byteOffset, answer.body.length),
    })),
  );
  const { csv, parquet } = figures.rendered;
  const moved = [csv, parquet].flatMap((rendered) =>
    rendered === undefined ? [] : [rendered.bytes.buffer as ArrayBuffer],
  );
  parentPort?.postMessage(figures, moved);
});
