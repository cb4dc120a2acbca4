import { parentPort, workerData } from 'node:worker_threads';
import { readers } from '../readers/list.js';
import type { Reader } from '../readers/reader.js';
import {
  type BulkLines,
  bulkRenderer,
  type ThreadAnswer,
  type ThreadQuestion,
  type ThreadSetup,
  unpackSubject,
} from './bulk-lines.js';
import { allFormats } from './formats/list.js';
import { openPartWriters, type PartWriter } from './part-writer.js';

/** The second thread of an export: answers in, rendered rows or the files of parts out, in order. */
const { place, options } = workerData as ThreadSetup;
const renderers = new Map<string, ReturnType<typeof bulkRenderer>>();
let writers: Awaited<ReturnType<typeof openPartWriters>> | undefined;
let part: PartWriter | undefined;
let last: Promise<void> = Promise.resolve();

parentPort?.on('message', (question: ThreadQuestion) => {
  last = last.then(async () => {
    const answer = await answerTo(question);
    const lines = question.kind === 'render' && 'result' in answer ? (answer.result as BulkLines).tables.flat() : [];
    parentPort?.postMessage(
      answer,
      lines.map(({ bytes }) => bytes.buffer as ArrayBuffer),
    );
  });
});

async function answerTo(question: ThreadQuestion): Promise<ThreadAnswer> {
  try {
    return { result: await work(question) };
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    return { error, code: 'code' in error ? error.code : undefined };
  }
}

async function work(question: ThreadQuestion): Promise<unknown> {
  switch (question.kind) {
    case 'render':
      return rendererOf(question.reader)(question.subjects.map(unpackSubject));
    case 'begin':
      if (place === undefined) throw new TypeError('there is no folder for parts');
      writers ??= await openPartWriters(place, options, readers);
      part = writers.begin(readerOf(question.reader), question.name);
      return undefined;
    case 'add':
      for (const subject of question.subjects) part?.add(unpackSubject(subject));
      return undefined;
    case 'finish':
      return await part?.finish(place?.folder ?? '');
    case 'close':
      writers?.close();
  }
  return undefined;
}

function rendererOf(name: string): ReturnType<typeof bulkRenderer> {
  const known = renderers.get(name) ?? bulkRenderer(readerOf(name), allFormats, options);
  renderers.set(name, known);
  return known;
}

function readerOf(name: string): Reader {
  const reader = readers.find((one) => one.name === name);
  if (reader === undefined) throw new TypeError(`there is no reader ${name}`);
  return reader;
}
