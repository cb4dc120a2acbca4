import { UsageError } from '../domain/errors.js';
import { decoderFor } from './encoding.js';
import { type FileVersion, fileVersion, readChunks } from './inspect-file.js';
import { judgeRow, type RowRules } from './judge-row.js';
import { parseCells } from './parse-cells.js';
import { type RawRecord, RecordReader } from './record-reader.js';
import type { Dialect } from './scan-record.js';
import type { InputEncoding, InputRow } from './types.js';

export interface RowSource {
  readonly path: string;
  readonly version: FileVersion;
  readonly encoding: InputEncoding;
  readonly headerLine: number;
  readonly maxRecordBytes: number;
}

/** Every record behind the header that is not blank, once, in order. Memory holds a chunk, whatever the file's size. */
export async function* readRows(
  source: RowSource,
  rules: RowRules & Dialect,
): AsyncGenerator<InputRow, void, undefined> {
  await refuseChanged(source);
  let row = 0;
  for await (const records of readRecords(source, rules)) {
    const data = records.filter((record) => record.line > source.headerLine);
    const whole = data.filter((record) => record.problem === undefined);
    const cells = parseCells(
      whole.map((record) => record.text),
      rules.delimiter,
    );
    let next = 0;
    for (const record of data) {
      const judged = judgeRow(record, record.problem === undefined ? cells[next++] : undefined, row + 1, rules);
      if (judged === undefined) continue;
      row++;
      yield judged;
    }
  }
  await refuseChanged(source);
}

async function* readRecords(source: RowSource, rules: RowRules & Dialect): AsyncGenerator<RawRecord[]> {
  const { delimiter, bareCr, minCells } = rules;
  const { maxRecordBytes } = source;
  const reader = new RecordReader({ delimiter, bareCr, minCells, maxCells: rules.columns.length, maxRecordBytes });
  const decoder = decoderFor(source.encoding);
  for await (const chunk of readChunks(source.path)) yield reader.push(decoder.decode(chunk));
  yield reader.push(decoder.end(), true);
}

/** The hash and the header belong to the file as it was inspected: rows of another version must not be mixed in. */
async function refuseChanged({ path, version }: RowSource): Promise<void> {
  const now = await fileVersion(path);
  if (now.size === version.size && now.mtimeMs === version.mtimeMs) return;
  throw new UsageError(`${path} has changed since it was opened`, 'Start again when nothing writes to it any more.');
}
