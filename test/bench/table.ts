/** One line of a section's table: column titles and cells, in the order they are shown. Every row has the same columns. */
export type Row = Readonly<Record<string, string>>;

export interface Section {
  readonly title: string;
  run(): Promise<Row[]>;
}

export function formatTable(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  ')
      .trimEnd();
  return [
    line(columns),
    line(widths.map((width) => '-'.repeat(width))),
    ...rows.map((row) => line(columns.map((column) => row[column] ?? ''))),
  ].join('\n');
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
export const ratio = (value: number): string => value.toFixed(2);
