import { renameSync, rmSync } from 'node:fs';
import type { RowsFile } from '../sandbox/sample.js';
import { WorkbookWriter } from '../sheets/write-workbook.js';

/** The rows of a sample as people keep them: a workbook with one sheet. It appears when it is complete. */
export function sampleWorkbook(path: string, headers: readonly string[]): RowsFile {
  const part = `${path}.${process.pid}.part`;
  const workbook = new WorkbookWriter(part, { mode: 0o666 });
  workbook.begin({ name: 'Companies', columns: headers.map((header) => ({ header })) });
  return {
    async write(records) {
      workbook.write(records.map((record) => Object.values(record).map(String)));
      await workbook.drain();
    },
    async close() {
      await workbook.finish();
    },
    async publish() {
      renameSync(part, path);
    },
    async discard() {
      workbook.abandon();
      rmSync(part, { force: true });
    },
  };
}
