/** A link of a group, as the table `group_links` has it. */
export interface GroupLink {
  readonly source: string;
  readonly target: string;
  readonly title: string;
  readonly targetTitle: string;
}

/**
 * The links of a group as a tree, one company a line. A company that several others link to stands once with all that is
 * below it, and once more by its name alone: links need not be a tree, and may go round in a circle.
 */
export function groupTreeInWords(links: readonly GroupLink[], isSubject: (name: string) => boolean): string {
  const names = new Map(
    links.flatMap(({ source, title, target, targetTitle }) => [
      [source, title] as const,
      [target, targetTitle] as const,
    ]),
  );
  const below = new Map<string, string[]>();
  for (const { source, target } of links) {
    const children = below.get(source);
    if (children === undefined) below.set(source, [target]);
    else if (!children.includes(target)) children.push(target);
  }
  const children = new Set(links.map(({ target }) => target));
  const drawn = new Set<string>();
  const lines: string[] = [];
  const pending: Branch[] = [];
  const push = (companies: readonly string[], indent: string) => {
    for (const [index, company] of [...companies.entries()].reverse())
      pending.push({ company, indent, isLast: index === companies.length - 1 });
  };
  const draw = (root: string) => {
    pending.push({ company: root, indent: null, isLast: true });
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { company, indent, isLast } = next;
      const name = names.get(company) || company;
      const again = drawn.has(company) && below.has(company) ? ' (above)' : '';
      const mark = isSubject(name) ? '  ← asked about' : '';
      lines.push(`${indent === null ? '' : `${indent}${isLast ? '└─ ' : '├─ '}`}${name}${again}${mark}`);
      if (drawn.has(company)) continue;
      drawn.add(company);
      push(below.get(company) ?? [], indent === null ? '' : `${indent}${isLast ? '   ' : '│  '}`);
    }
  };
  for (const company of names.keys()) if (!children.has(company)) draw(company);
  // Who is left is in a circle.
  for (const company of names.keys()) if (!drawn.has(company)) draw(company);
  return lines.map((line) => `${line}\n`).join('');
}

interface Branch {
  readonly company: string;
  /** Null: a root. */
  readonly indent: string | null;
  readonly isLast: boolean;
}
