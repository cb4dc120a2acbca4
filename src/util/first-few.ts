/** So many lines say what is wrong; nobody reads twenty thousand. */
const FEW = 20;

/** Tells the first of many, each once, and how many more there are. What is not told is not worked out. */
export function firstFew<T>(items: readonly T[], tell: (item: T) => string, things: string): readonly string[] {
  const told = new Set<string>();
  let index = 0;
  while (index < items.length && told.size < FEW) told.add(tell(items[index++] as T));
  return [...told, ...(index < items.length ? [`… and ${items.length - index} more ${things}`] : [])];
}
