/** Zero-width characters, pasted along from web pages, are white space to a reader but not to `String.trim`. */
export function trimCell(cell: string): string {
  const trimmed = cell.trim();
  if (!isZeroWidth(trimmed.charCodeAt(0)) && !isZeroWidth(trimmed.charCodeAt(trimmed.length - 1))) return trimmed;
  return trimmed.replace(/^[\s\u200b\u2060]+|[\s\u200b\u2060]+$/g, '');
}

export function isBlank(cell: string): boolean {
  return trimCell(cell) === '';
}

function isZeroWidth(code: number): boolean {
  return code === 0x200b || code === 0x2060;
}
