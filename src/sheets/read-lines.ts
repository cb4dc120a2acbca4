import { decoderFor } from './encoding.js';
import { chunksOf, type FileSource, refuseChanged } from './file-source.js';
import { judgeLine, type LineRules } from './judge-line.js';
import { parseCells } from './parse-cells.js';
import { type RawRecord, RecordReader } from './record-reader.js';
import type { Dialect } from './scan-record.js';
import type { NumberedLine, OnShare, SheetEncoding } from './sheet.js';

export interface LineSource {
  readonly file: FileSource;
  readonly encoding: SheetEncoding;
  readonly headerLine: number;
  readonly maxRecordBytes: number;
}

/** Every record behind the header that is not blank, once, in order. Memory holds a chunk, whatever the file's size. */
export async function* readLines(
  source: LineSource,
  rules: LineRules & Dialect,
  onShare?: OnShare,
): AsyncGenerator<NumberedLine, void, undefined> {
  await refuseChanged(source.file);
  for await (const records of readRecords(source, rules, onShare)) {
    const data = records.filter((record) => record.line > source.headerLine);
    for (const line of linesOf(data, rules)) yield line;
  }
  await refuseChanged(source.file);
}

function linesOf(records: readonly RawRecord[], rules: LineRules): NumberedLine[] {
  const whole = records.filter((record) => record.problem === undefined);
  const cells = parseCells(
    whole.map((record) => record.text),
    rules.delimiter,
  );
  const lines: NumberedLine[] = [];
  let next = 0;
  for (const record of records) {
    const line = judgeLine(record, record.problem === undefined ? cells[next++] : undefined, rules);
    if (line !== undefined) lines.push(line);
  }
  return lines;
}

async function* readRecords(
  source: LineSource,
  rules: LineRules & Dialect,
  onShare: OnShare = () => {},
): AsyncGenerator<RawRecord[]> {
  const { delimiter, bareCr, minCells } = rules;
  const { maxRecordBytes } = source;
  const reader = new RecordReader({ delimiter, bareCr, minCells, maxCells: rules.headers.length, maxRecordBytes });
  const decoder = decoderFor(source.encoding);
  let stored = 0;
  const count = (chunk: Buffer) => {
    stored += chunk.length;
    onShare(stored / source.file.version.size);
  };
  for await (const chunk of chunksOf(source.file, count)) yield reader.push(decoder.decode(chunk));
  yield reader.push(decoder.end(), true);
}
