import { type ExactJson, ExactNumber, parseExact } from './exact-json.js';

/**
 * Null, missing and empty mean that nothing was returned (V1-22): a value that is made of nothing else says nothing,
 * however deep it goes.
 */
export function saysNothing(value: ExactJson | undefined): boolean {
  // No recursion: a stranger decides how deep it is.
  const left: (ExactJson | undefined)[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (next === undefined || next === null || next === '') continue;
    if (typeof next !== 'object' || next instanceof ExactNumber) return false;
    for (const member of Object.values(next)) left.push(member);
  }
  return true;
}

/** The same of a body, without one of its members. A large one says something: it is not parsed to learn that. */
export function bodySaysNothing(body: Buffer, except?: string): boolean {
  if (body.length > NOTHING_AT_MOST) return false;
  try {
    const value = parseExact(body);
    if (except === undefined || typeof value !== 'object' || value === null) return saysNothing(value);
    return Object.entries(value).every(([name, member]) => name === except || saysNothing(member));
  } catch (error) {
    // Whatever else is wrong with it, it is not empty.
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

const NOTHING_AT_MOST = 16_384;
