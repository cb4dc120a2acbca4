// Legal forms in names.

import { barredWords, dataFile } from '../../util/data-file.js';
import { fuzzball } from '../../util/lazy-package.js';

/**
 * Names are compared without their legal forms, but different kinds (GmbH, GmbH & Co. KG) are still a reason to ask.
 */
const legalForms = dataFile('domain/legal-forms', (z) => {
  const words = barredWords(z);
  const wordSet = words.transform((list) => new Set(list));
  const byKind = z.record(z.string(), words);
  return z.strictObject({
    kinds: byKind.transform((kinds) => new Map(spellingsOf(kinds))),
    joined: byKind.transform(spellingsOf),
    same_in: z.record(z.string(), z.array(words)),
    translates: byKind,
    english_law: wordSet,
    leading: wordSet,
    mistyped: words,
  });
});

/** Each spelling with its kind. */
const spellingsOf = (kinds: Readonly<Record<string, readonly string[]>>): readonly (readonly [string, string])[] =>
  Object.entries(kinds).flatMap(([kind, spellings]) => spellings.map((spelling) => [spelling, kind] as const));

/** Whether the legal forms mean two companies: a form of one has no equivalent in the other. */
export function areDifferentForms(a: readonly string[], b: readonly string[], countryCode: string): boolean {
  const lacks = (kinds: readonly string[], others: readonly string[]) =>
    kinds.some((kind) => !others.some((other) => isSameForm(kind, other, countryCode)));
  return a.length > 0 && b.length > 0 && (lacks(a, b) || lacks(b, a));
}

function isSameForm(a: string, b: string, countryCode: string): boolean {
  const { same_in: sameIn, english_law: englishLaw, translates } = legalForms();
  if (a === b || sameIn[countryCode]?.some((group) => group.includes(a) && group.includes(b)) === true) return true;
  // Under English law an English form is not a translation, unless the other is in another script.
  if (englishLaw.has(countryCode) && !isJoined(a) && !isJoined(b)) return false;
  return translates[a]?.includes(b) === true || translates[b]?.includes(a) === true;
}

const isJoined = (kind: string): boolean => legalForms().joined.some(([, joined]) => joined === kind);

const LONGEST = 5;

export interface FormPlace {
  /** The words between `from` and `to` are the name without its legal forms. */
  readonly from: number;
  readonly to: number;
  /** The kind of each removed form, once. */
  readonly kinds: readonly string[];
}

/** Finds the legal forms of a name in plain words. A name that is only a form keeps it. */
export function findLegalForm(words: readonly string[]): FormPlace {
  let to = words.length;
  const kinds: string[] = [];
  let partners = false;
  for (;;) {
    const form = endingForm(words.slice(0, to));
    if (form === undefined || form.size === to) break;
    // "GmbH & Co. KG" is one form, and so is any other form with partners.
    if (partners) kinds.push(`${form.kind}${WITH_PARTNERS}${kinds.pop()}`);
    else kinds.push(form.kind);
    partners = PARTNERS.test(words.slice(to - form.size, to).join(' '));
    to -= form.size;
    // "Muster Gesellschft mbH": a typing error in the longer spelling of the form.
    if (to > 1 && form.kind === 'gmbh' && isMistyped(words[to - 1] ?? '', 'gesellschaft')) to -= 1;
  }
  const [first] = words;
  const leads = to > 1 && first !== undefined && legalForms().leading.has(first);
  if (leads) kinds.push(legalForms().kinds.get(first) ?? first);
  return { from: leads ? 1 : 0, to, kinds: [...new Set(kinds)] };
}

const PARTNERS = /^(?:and )?co(?:mpagnie)? ?(?:kg|kgaa|ohg)$/;
const WITH_PARTNERS = ' and co ';

/** "X GmbH & Co. KG": "X GmbH" is its partner. */
export const hasPartners = (kinds: readonly string[]): boolean => kinds.some((kind) => kind.includes(WITH_PARTNERS));

/** The longest known form at the end. */
function endingForm(words: readonly string[]): { readonly size: number; readonly kind: string } | undefined {
  const { kinds, mistyped } = legalForms();
  for (let size = Math.min(LONGEST, words.length); size > 0; size--) {
    const kind = kinds.get(words.slice(-size).join(' '));
    if (kind !== undefined) return { size, kind };
  }
  const meant = mistyped.find((form) => isMistyped(words.at(-1) ?? '', form));
  const kind = kinds.get(meant ?? '');
  return kind === undefined ? undefined : { size: 1, kind };
}

const isMistyped = (word: string, form: string) =>
  word.length > 2 && fuzzball().ratio(word, form, { full_process: false }) >= 85;

/** Removes the form of a name written without spaces. */
export function stripJoinedForm(text: string): { readonly text: string; readonly kind: string | undefined } {
  for (const [spelling, kind] of legalForms().joined) {
    const rest = text.endsWith(spelling)
      ? text.slice(0, -spelling.length)
      : text.startsWith(spelling)
        ? text.slice(spelling.length)
        : text;
    if (rest !== text && rest.trim() !== '') return { text: rest.trim(), kind };
  }
  return { text, kind: undefined };
}
