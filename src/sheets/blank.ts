/** Zero-width characters, pasted along from web pages, are white space to a reader but not to `String.trim`. */
export function trimCell(cell: string): string {
  const trimmed = cell.trim();
  if (!isZeroWidth(trimmed.charCodeAt(0)) && !isZeroWidth(trimmed.charCodeAt(trimmed.length - 1))) return trimmed;
  let [from, to] = [0, trimmed.length];
  while (from < to && isGap(trimmed, from)) from++;
  while (to > from && isGap(trimmed, to - 1)) to--;
  return trimmed.slice(from, to);
}

export function isBlank(cell: string): boolean {
  return trimCell(cell) === '';
}

const isGap = (text: string, at: number): boolean => isZeroWidth(text.charCodeAt(at)) || text.charAt(at).trim() === '';

function isZeroWidth(code: number): boolean {
  return code === 0x200b || code === 0x2060;
}
