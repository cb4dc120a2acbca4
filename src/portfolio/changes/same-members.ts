import { type MemberRange, scanShell } from '../../util/json-shell.js';

/**
 * Two bodies without the members that are the same in both, to the byte: most of a record is as it was, and need not be read
 * to find out what is not. `kept` stay in any case; where nothing must, one does: a body with nothing in it would say
 * something else.
 */
export function withoutSame(old: Buffer, now: Buffer, kept: readonly string[]): readonly [Buffer, Buffer] {
  const [before, after] = [membersOf(old), membersOf(now)];
  if (before === undefined || after === undefined) return [old, now];
  const same = [...after].flatMap(([name, range]) => {
    const other = before.get(name);
    return other !== undefined && isSame(old, other, now, range) ? [name] : [];
  });
  const dropped = new Set(kept.length > 0 ? same.filter((name) => !kept.includes(name)) : same.slice(1));
  return dropped.size === 0 ? [old, now] : [without(old, before, dropped), without(now, after, dropped)];
}

type Members = ReadonlyMap<string, MemberRange>;

/** Undefined for what is no object, or is not whole. */
function membersOf(body: Buffer): Members | undefined {
  try {
    const shell = scanShell(body);
    return shell.kind === 'object' ? shell.members : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isSame = (a: Buffer, { start, end }: MemberRange, b: Buffer, other: MemberRange): boolean =>
  end - start === other.end - other.start && a.compare(b, other.start, other.end, start, end) === 0;

function without(body: Buffer, members: Members, dropped: ReadonlySet<string>): Buffer {
  const left = [...members].filter(([name]) => !dropped.has(name));
  const parts = left.map(([name, { start, end }]) => `${JSON.stringify(name)}:${body.toString('utf8', start, end)}`);
  return Buffer.from(`{${parts.join(',')}}`);
}
