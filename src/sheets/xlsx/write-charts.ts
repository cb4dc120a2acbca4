// Native charts of a worksheet, as the parts of a workbook.

import { xmlText } from './write-sheet.js';

/** A bar chart over cells of its own sheet. Lines are numbered from 1, with the header. */
export interface SheetChart {
  readonly title: string;
  /** The lines of the names (column A) and of the values (column B). */
  readonly from: number;
  readonly to: number;
  /** Shown before the cells are computed, and by programs that compute nothing. */
  readonly names: readonly string[];
  readonly values: readonly number[];
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const OFFICE = 'http://schemas.openxmlformats.org';
const RELATIONS = `${OFFICE}/officeDocument/2006/relationships`;
const CHART = `${OFFICE}/drawingml/2006/chart`;
const MAIN = `${OFFICE}/drawingml/2006/main`;
const TYPE = 'application/vnd.openxmlformats-officedocument';

/** Where charts stand: beside the lines, below each other. */
const [LEFT, RIGHT, TALL] = [4, 12, 16];

export interface ChartParts {
  /** Path and content of each part. */
  readonly parts: readonly (readonly [path: string, xml: string])[];
  /** The entries of `[Content_Types].xml`. */
  readonly types: string;
}

/** `sheet`: its number and name. A workbook has at most one sheet with charts. */
export function chartParts(
  charts: readonly SheetChart[],
  sheet: { readonly number: number; readonly name: string },
): ChartParts {
  const numbers = charts.map((_, at) => at + 1);
  const related = (list: readonly string[]) =>
    `${XML}<Relationships xmlns="${OFFICE}/package/2006/relationships">${list.join('')}</Relationships>`;
  const relation = (id: number, type: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;
  return {
    parts: [
      [
        `xl/worksheets/_rels/sheet${sheet.number}.xml.rels`,
        related([relation(1, 'drawing', '../drawings/drawing1.xml')]),
      ],
      ['xl/drawings/drawing1.xml', drawing(numbers)],
      [
        'xl/drawings/_rels/drawing1.xml.rels',
        related(numbers.map((id) => relation(id, 'chart', `../charts/chart${id}.xml`))),
      ],
      ...charts.map((chart, at) => [`xl/charts/chart${at + 1}.xml`, chartXml(chart, sheet.name)] as const),
    ],
    types: [
      `<Override PartName="/xl/drawings/drawing1.xml" ContentType="${TYPE}.drawing+xml"/>`,
      ...numbers.map(
        (id) => `<Override PartName="/xl/charts/chart${id}.xml" ContentType="${TYPE}.drawingml.chart+xml"/>`,
      ),
    ].join(''),
  };
}

const drawing = (numbers: readonly number[]): string =>
  `${XML}<xdr:wsDr xmlns:xdr="${OFFICE}/drawingml/2006/spreadsheetDrawing" xmlns:a="${MAIN}" xmlns:r="${RELATIONS}" xmlns:c="${CHART}">${numbers
    .map((id) => {
      const top = 1 + (id - 1) * (TALL + 1);
      const place = (name: string, column: number, row: number) =>
        `<xdr:${name}><xdr:col>${column}</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>${row}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:${name}>`;
      return `<xdr:twoCellAnchor>${place('from', LEFT, top)}${place('to', RIGHT, top + TALL)}<xdr:graphicFrame macro=""><xdr:nvGraphicFramePr><xdr:cNvPr id="${id + 1}" name="Chart ${id}"/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr><xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm><a:graphic><a:graphicData uri="${CHART}"><c:chart r:id="rId${id}"/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor>`;
    })
    .join('')}</xdr:wsDr>`;

function chartXml({ title, from, to, names, values }: SheetChart, sheet: string): string {
  const range = (column: string) => xmlText(`'${sheet.replaceAll("'", "''")}'!$${column}$${from}:$${column}$${to}`);
  const points = (list: readonly (string | number)[]) =>
    `<c:ptCount val="${list.length}"/>${list.map((value, at) => `<c:pt idx="${at}"><c:v>${xmlText(String(value))}</c:v></c:pt>`).join('')}`;
  const axis = (name: string, id: number, crosses: number, place: string, more: string) =>
    `<c:${name}><c:axId val="${id}"/><c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/><c:axPos val="${place}"/>${more}<c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/><c:crossAx val="${crosses}"/></c:${name}>`;
  return `${XML}<c:chartSpace xmlns:c="${CHART}" xmlns:a="${MAIN}" xmlns:r="${RELATIONS}"><c:roundedCorners val="0"/><c:chart><c:title><c:tx><c:rich><a:bodyPr/><a:p><a:pPr><a:defRPr sz="1200" b="0"/></a:pPr><a:r><a:rPr sz="1200" b="0"/><a:t>${xmlText(title)}</a:t></a:r></a:p></c:rich></c:tx><c:overlay val="0"/></c:title><c:autoTitleDeleted val="0"/><c:plotArea><c:layout/><c:barChart><c:barDir val="col"/><c:grouping val="clustered"/><c:varyColors val="0"/><c:ser><c:idx val="0"/><c:order val="0"/><c:spPr><a:solidFill><a:srgbClr val="2F5D9B"/></a:solidFill></c:spPr><c:invertIfNegative val="0"/><c:cat><c:strRef><c:f>${range('A')}</c:f><c:strCache>${points(names)}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:f>${range('B')}</c:f><c:numCache><c:formatCode>General</c:formatCode>${points(values)}</c:numCache></c:numRef></c:val></c:ser><c:gapWidth val="60"/><c:axId val="1"/><c:axId val="2"/></c:barChart>${axis('catAx', 1, 2, 'b', '')}${axis('valAx', 2, 1, 'l', '<c:majorGridlines/><c:numFmt formatCode="#,##0" sourceLinked="0"/>')}</c:plotArea><c:plotVisOnly val="1"/><c:dispBlanksAs val="gap"/></c:chart></c:chartSpace>`;
}
