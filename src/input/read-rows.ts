import type { OnShare, Sheet } from '../sheets/sheet.js';
import { FillDown } from './fill-down.js';
import type { UnreadLeads } from './header-claims.js';
import { judgeRow } from './judge-row.js';
import { leftOutBy } from './not-a-company.js';
import { RemarksTally } from './remarks.js';
import type { InputRow, InputTable } from './types.js';

/** The rows of a sheet, and what was remarked when they were last read. */
export function rowsIn(
  sheet: Sheet,
  mapping: InputTable['mapping'],
  unread: UnreadLeads,
  country: string | null,
): Pick<InputTable, 'rows' | 'remarks'> {
  let latest = new RemarksTally();
  const rows: InputTable['rows'] = (onShare) => {
    latest = new RemarksTally();
    return readRows(sheet, mapping, unread, country, latest, onShare);
  };
  return { rows, remarks: () => latest.all() };
}

async function* readRows(
  sheet: Sheet,
  mapping: InputTable['mapping'],
  unread: UnreadLeads,
  country: string | null,
  remarks: RemarksTally,
  onShare: OnShare | undefined,
): AsyncGenerator<InputRow, void, undefined> {
  const leftOut = leftOutBy(sheet.headers, mapping);
  const fillDown = new FillDown(mapping, sheet.merged ?? []);
  let row = 0;
  for await (const line of sheet.lines(onShare)) {
    const kind = leftOut(line) ?? (fillDown.takesHeading(line) ? 'heading' : undefined);
    if (kind !== undefined) {
      remarks.leftOut(kind, line.line, line.cells);
      continue;
    }
    const read = fillDown.read(line);
    const judged = judgeRow(line, ++row, mapping, unread, read.country ?? country, read.cells);
    if (judged.problem === undefined) remarks.filled(read.filled, row, line.line);
    remarks.name(judged.fields.name ?? '', row, line.line);
    if (judged.emptied !== undefined) remarks.emptied(judged.emptied, row, line.line);
    // What makes its row invalid is told with the row.
    if (line.surplus !== undefined && judged.problem === undefined) remarks.surplus(line.line, line.surplus);
    yield judged;
  }
}
