import { expect, test } from 'vitest';
import type { Operation } from '../../src/api/operation.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import { readers } from '../../src/readers/list.js';
import type { Reader } from '../../src/readers/reader.js';

const operations: readonly Operation[] = [...Object.values(v1Operations), ...Object.values(v2Operations)];
const read = (readers as readonly Reader[]).flatMap((reader) => [
  ...reader.operations,
  ...(reader.lists?.operations ?? []),
]);

/** Operations about one company or report whose answers fill no table. */
const NOT_READ: Readonly<Record<string, string>> = {
  watchHistory: 'no stage watches companies',
  creditReportCombined: 'its answer gives no report ID (V2-6), and the ID is the key of the table',
  watchAdd: 'says what was done, and nothing about the company',
  watchRemove: 'likewise',
  creditReportStatus: 'says whether the report is ready, and nothing about the company',
};

test('each operation about one subject is read by a reader or named as not read', () => {
  const about = operations.filter(({ subject }) => subject !== null).map(({ name }) => name);
  expect(about.filter((name) => !read.includes(name)).sort()).toEqual(Object.keys(NOT_READ).sort());
});

test('a reader reads only operations that exist', () => {
  const names = operations.map(({ name }) => name);
  expect(read.filter((name) => !names.includes(name))).toEqual([]);
});
