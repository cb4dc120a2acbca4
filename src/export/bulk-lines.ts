import type { GlanceEntry } from '../ledger/snapshot.js';
import { readSubject } from '../readers/read-subject.js';
import type { Issue, Reader, SubjectAnswers } from '../readers/reader.js';
import { columnsOf, type Table } from '../readers/table.js';
import { isFor, type LineRenderer, type Lines } from './formats/format.js';
import type { Formats } from './formats/list.js';
import { glanceEntries } from './glance-entries.js';
import type { ExportOptions } from './options.js';

/** What some subjects gave, ready to be appended. */
export interface BulkLines {
  /** For each table of the reader, its rows in each format of the export. */
  readonly tables: readonly (readonly Lines[])[];
  readonly issues: readonly Issue[];
  readonly glances: readonly GlanceEntry[];
}

/** Makes lines from raw bodies. The same on every thread. */
export function bulkRenderer(
  reader: Reader,
  formats: Formats,
  options: ExportOptions,
): (subjects: readonly SubjectAnswers[]) => BulkLines {
  const renderers = reader.tables.map((table) => ({
    table,
    inFormats: options.formats
      .filter((name) => isFor(formats[name], table.name))
      .map((name) => rendererOf(table, formats, name, options)),
  }));
  return (subjects) => {
    const read = subjects.map((subject) => ({
      id: subject.id,
      country: subject.country,
      out: readSubject(reader, subject, options.includeContacts),
    }));
    const render = (table: Table, renderer: LineRenderer): Lines => {
      const texts = read.map(({ country, out }) => renderer.render(out.shownOf(table), country));
      const rows = read.reduce((sum, { out }) => sum + out.shownOf(table).length, 0);
      return { bytes: new TextEncoder().encode(texts.join('')), rows, longestLine: renderer.longestLine };
    };
    return {
      tables: renderers.map(({ table, inFormats }) => inFormats.map((renderer) => render(table, renderer))),
      issues: read.flatMap(({ out }) => out.issues),
      glances: read.flatMap(({ id, out }) => glanceEntries(reader, id, out)),
    };
  };
}

function rendererOf(table: Table, formats: Formats, name: keyof Formats, options: ExportOptions): LineRenderer {
  const renderer = formats[name].renderer?.(columnsOf(table, options.includeContacts), options);
  if (renderer === undefined) throw new TypeError(`${name} is made from rows, not from lines`);
  return renderer;
}
