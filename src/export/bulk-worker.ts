import { parentPort, workerData } from 'node:worker_threads';
import { readers } from '../readers/list.js';
import type { SubjectAnswers } from '../readers/reader.js';
import { type BulkSetup, bulkRenderer } from './bulk-lines.js';
import { allFormats } from './formats/list.js';

/** The second thread of an export: answers in, rendered rows out, in order. */
const setup = workerData as BulkSetup;
const reader = readers.find(({ name }) => name === setup.reader);
if (reader === undefined) throw new TypeError(`there is no reader ${setup.reader}`);
const render = bulkRenderer(reader, allFormats, setup.options);

parentPort?.on('message', (subjects: readonly SubjectAnswers[]) => {
  // Buffers arrive as plain byte arrays.
  const asBuffer = ({ buffer, byteOffset, length }: Uint8Array) => Buffer.from(buffer, byteOffset, length);
  const lines = render(
    subjects.map((subject) => ({
      ...subject,
      answers: subject.answers.map((answer) => ({ ...answer, body: asBuffer(answer.body) })),
    })),
  );
  const moved = lines.tables.flat().map(({ bytes }) => bytes.buffer as ArrayBuffer);
  parentPort?.postMessage(lines, moved);
});
