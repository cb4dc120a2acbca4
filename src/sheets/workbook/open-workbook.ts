import { UsageError } from '../../domain/errors.js';
import type { FileSource } from '../file-source.js';
import { aboveHeader } from '../pick-header.js';
import type { RecogniseHeader, Sheet, SheetOptions } from '../sheet.js';
import { severalSheets } from './choose-sheet.js';
import { readContents } from './contents.js';
import { findTable } from './find-table.js';
import { refuseOtherZips } from './kinds-of-zip.js';
import { readContext } from './read-context.js';
import { surveyRows } from './survey-rows.js';
import { sha256Of, withParts } from './with-parts.js';
import { workbookLines } from './workbook-lines.js';

/** Opens a workbook: finds the worksheet with the table and its header, and refuses what is no workbook of Excel's. */
export async function openWorkbook(
  source: FileSource,
  recognises: RecogniseHeader,
  options: SheetOptions,
): Promise<Sheet> {
  refuseTextOptions(source.shownAs, options);
  const sha256 = await sha256Of(source);
  return await withParts(source, options.now ?? (() => performance.now()), async (parts) => {
    refuseOtherZips(parts);
    const contents = await readContents(parts);
    const context = await readContext(parts, contents);
    const { worksheet, header, withData } = await findTable(parts, contents, context, recognises, options);
    const survey = await surveyRows(parts, worksheet, context, header);
    const { headers, groups, merged } = survey;
    return {
      path: source.shownAs,
      sha256,
      kind: 'xlsx',
      encoding: null,
      delimiter: null,
      sheet: worksheet.name,
      sheets: contents.worksheets.flatMap(({ name, hidden }) => (hidden ? [] : [name])),
      headers,
      groups,
      merged,
      headerLine: header.row,
      warnings: [...severalSheets(worksheet.name, withData), ...aboveHeader(header.above, 'row'), ...survey.warnings],
      lines: () => workbookLines(source, context, worksheet, headers, header.row),
    };
  });
}

function refuseTextOptions(path: string, { encoding, delimiter }: SheetOptions): void {
  const flag = encoding !== undefined ? '--encoding' : delimiter !== undefined ? '--delimiter' : undefined;
  if (flag !== undefined)
    throw new UsageError(`${path} is a workbook: ${flag} is for text and has no say in it`, `Leave ${flag} out.`);
}
