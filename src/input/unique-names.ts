/** The headers as names of columns, unique whatever the case: databases downstream do not tell `Note` from `note`. */
export function uniqueNames(headers: readonly string[], warnings: string[]): string[] {
  const taken = new Set(headers.map((header) => header.trim().toLowerCase()));
  const seen = new Set<string>();
  /** The next number of a name that is there again: counted on, not from the start. */
  const next = new Map<string, number>();
  return headers.map((header, index) => {
    const wanted = header.trim() || `column_${index + 1}`;
    if (header.trim() !== '' && !seen.has(wanted.toLowerCase())) {
      seen.add(wanted.toLowerCase());
      return wanted;
    }
    let name = wanted;
    let count = next.get(wanted.toLowerCase()) ?? 2;
    for (; seen.has(name.toLowerCase()) || taken.has(name.toLowerCase()); count++) name = `${wanted}_${count}`;
    next.set(wanted.toLowerCase(), count);
    seen.add(name.toLowerCase());
    if (header.trim() !== '')
      warnings.push(`the header "${wanted}" appears again in column ${index + 1}: named ${name}`);
    return name;
  });
}
