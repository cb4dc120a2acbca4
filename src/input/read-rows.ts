import type { Sheet } from '../sheets/sheet.js';
import { judgeRow } from './judge-row.js';
import type { UnreadLeads } from './map-columns.js';
import { notACompany } from './not-a-company.js';
import { RemarksTally } from './remarks.js';
import type { InputRow, InputTable } from './types.js';

/** The rows of a sheet, and what was remarked when they were last read. */
export function rowsIn(
  sheet: Sheet,
  mapping: InputTable['mapping'],
  unread: UnreadLeads,
): Pick<InputTable, 'rows' | 'remarks'> {
  let latest = new RemarksTally();
  const rows = () => {
    latest = new RemarksTally();
    return readRows(sheet, mapping, unread, latest);
  };
  return { rows, remarks: () => latest.all() };
}

async function* readRows(
  sheet: Sheet,
  mapping: InputTable['mapping'],
  unread: UnreadLeads,
  remarks: RemarksTally,
): AsyncGenerator<InputRow, void, undefined> {
  let row = 0;
  for await (const line of sheet.lines()) {
    const kind = notACompany(line, sheet.headers, mapping);
    if (kind !== undefined) {
      remarks.leftOut(kind, line.line, line.cells);
      continue;
    }
    const judged = judgeRow(line, ++row, mapping, unread);
    if (judged.emptied !== undefined) remarks.emptied(judged.emptied, row, line.line);
    yield judged;
  }
}
