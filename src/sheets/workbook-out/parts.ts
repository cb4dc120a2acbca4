import { xmlText } from './text.js';

/** The parts of an xlsx file that say which others there are. */

export interface NamedSheet {
  readonly name: string;
  /** Header and lines, `$A$1:$B$9`. */
  readonly range: string;
  /** Columns and rows that are printed on every page: `$A:$A`, `$1:$1`. */
  readonly printTitles: readonly string[];
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

export const CONTENT_TYPES = '[Content_Types].xml';

const each = (count: number, make: (number: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index + 1)).join('');

export const contentTypes = (sheets: number): string =>
  `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/>${each(sheets, (number) => `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${TYPE}.worksheet+xml"/>`)}</Types>`;

export const PACKAGE_RELATIONS = `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;

export const workbookRelations = (sheets: number): string =>
  `${XML}<Relationships xmlns="${PACKAGE}/relationships">${each(sheets, (number) => `<Relationship Id="rId${number}" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet${number}.xml"/>`)}<Relationship Id="rId${sheets + 1}" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`;

/** The filter of a sheet, and what of it is printed on each page, are names of the workbook. */
export function workbookXml(sheets: readonly NamedSheet[]): string {
  const tabs = sheets.map(
    ({ name }, index) => `<sheet name="${xmlText(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  );
  const names = sheets.flatMap(({ name, range, printTitles }, index) => {
    const sheet = `'${xmlText(name.replaceAll("'", "''"))}'!`;
    return [
      `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">${sheet}${range}</definedName>`,
      `<definedName name="_xlnm.Print_Titles" localSheetId="${index}">${printTitles.map((title) => `${sheet}${title}`).join(',')}</definedName>`,
    ];
  });
  return `${XML}<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${DOCUMENT}"><bookViews><workbookView activeTab="0"/></bookViews><sheets>${tabs.join('')}</sheets><definedNames>${names.join('')}</definedNames></workbook>`;
}
