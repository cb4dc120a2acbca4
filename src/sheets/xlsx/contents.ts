// The worksheets of a workbook, and the texts and formats that they share.

import { posix } from 'node:path';
import { builtInLook, type CellContext, lookOf, type NumberLook } from './cell-value.js';
import { readSharedStrings } from './shared-strings.js';
import { isOn, prefixed, readXml } from './xml.js';
import { damagedWorkbook, type ZipParts } from './zip-parts.js';

export interface Worksheet {
  readonly name: string;
  /** The name of its part in the archive. */
  readonly part: string;
  readonly hidden: boolean;
}

/** The worksheets of a workbook, and the parts with their texts and formats. */
export interface Contents {
  readonly worksheets: readonly Worksheet[];
  /** Days are counted from 1904, as on old Macs. */
  readonly from1904: boolean;
  readonly sharedStrings: string | undefined;
  readonly styles: string | undefined;
}

/** A limit, because each sheet is searched for a table. */
const MOST_SHEETS = 1_000;

export async function readContents(parts: ZipParts): Promise<Contents> {
  const workbook = await workbookPart(parts);
  const relations = await readRelations(parts, workbook);
  const ofKind = (kind: string) => [...relations.values()].find(({ type }) => type.endsWith(`/${kind}`))?.target;
  const worksheets: Worksheet[] = [];
  let from1904 = false;
  await readXml(parts, workbook, {
    open(name, attributes) {
      if (name === 'workbookPr') from1904 = isOn(attributes.date1904);
      if (name !== 'sheet') return;
      const relation = relations.get(prefixed(attributes, 'id') ?? '');
      // Sheets of charts and dialogues have no table.
      if (relation === undefined || !relation.type.endsWith('/worksheet')) return;
      if (worksheets.some(({ part }) => part === relation.target))
        throw damagedWorkbook(parts.shownAs, `two of its sheets are the same part, ${relation.target}`);
      if (worksheets.length >= MOST_SHEETS)
        throw damagedWorkbook(parts.shownAs, `it has more than ${MOST_SHEETS} sheets`);
      const hidden = (attributes.state ?? 'visible') !== 'visible';
      worksheets.push({ name: attributes.name ?? '', part: relation.target, hidden });
    },
  });
  return { worksheets, from1904, sharedStrings: ofKind('sharedStrings'), styles: ofKind('styles') };
}

async function workbookPart(parts: ZipParts): Promise<string> {
  if (!parts.has('_rels/.rels') && parts.has('xl/workbook.xml')) return 'xl/workbook.xml';
  const roots = await readRelations(parts, '');
  const root = [...roots.values()].find(({ type }) => type.endsWith('/officeDocument'));
  if (root === undefined) throw damagedWorkbook(parts.shownAs, 'it does not say which of its parts is the workbook');
  return root.target;
}

interface Relation {
  readonly type: string;
  readonly target: string;
}

/** The relations of a part. `Target` is relative to the part's folder, unless it begins with a slash. */
async function readRelations(parts: ZipParts, part: string): Promise<Map<string, Relation>> {
  const folder = posix.dirname(part);
  const relations = new Map<string, Relation>();
  const name = posix.join(folder, '_rels', `${posix.basename(part)}.rels`);
  if (!parts.has(name)) return relations;
  await readXml(parts, name, {
    open(element, { Id, Type, Target }) {
      if (element !== 'Relationship' || Id === undefined || Type === undefined || Target === undefined) return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target);
      relations.set(Id, { type: Type, target });
    },
  });
  return relations;
}

/** The texts and formats that the cells refer to. */
export async function readContext(parts: ZipParts, contents: Contents): Promise<CellContext> {
  const strings = await readSharedStrings(parts, contents.sharedStrings);
  const styles = await readStyles(parts, contents.styles);
  return { shownAs: parts.shownAs, strings, styles, from1904: contents.from1904 };
}

/** How each cell style shows numbers, by style number. */
async function readStyles(parts: ZipParts, part: string | undefined): Promise<readonly NumberLook[]> {
  if (part === undefined || !parts.has(part)) return [];
  const formats = new Map<number, NumberLook>();
  const formatIds: number[] = [];
  let inCells = false;
  await readXml(parts, part, {
    open(name, attributes) {
      if (name === 'cellXfs') inCells = true;
      else if (name === 'numFmt') formats.set(Number(attributes.numFmtId), lookOf(attributes.formatCode ?? ''));
      else if (name === 'xf' && inCells) formatIds.push(Number(attributes.numFmtId ?? 0));
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return formatIds.map((id) => formats.get(id) ?? builtInLook(id));
}
