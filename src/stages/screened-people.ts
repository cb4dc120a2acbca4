import { ExactNumber } from '../util/exact-json.js';
import { normalizeText } from '../util/text-limits.js';

/** Somebody to look for, as the searches take it. */
export interface ScreenedPerson {
  readonly name: string;
  readonly birthYear: number | null;
}

/** Those to look for, and how many have a name that no search takes: too short, too long, or none. */
export interface ScreenedPeople {
  readonly people: readonly ScreenedPerson[];
  readonly unsearchable: number;
}

/** Officers by their names, each once, in the order of the list. Who has resigned is told by v1 alone (V2-9). */
export function officersToScreen(items: readonly unknown[], currentOnly: boolean): ScreenedPeople {
  return once(
    items
      .filter(isObject)
      .filter((item) => !currentOnly || textOf(item.resigned_at) === '')
      .map((item) => ({
        name: nameOf(`${textOf(item.first_name)} ${textOf(item.last_name)}`),
        birthYear: yearOf(item.date_of_birth_year),
      })),
  );
}

/** Shareholders likewise, people and companies alike: the list does not tell them apart. */
export function holdersToScreen(items: readonly unknown[]): ScreenedPeople {
  return once(items.filter(isObject).map((item) => ({ name: nameOf(textOf(item.name)), birthYear: null })));
}

const isObject = (item: unknown): item is Readonly<Record<string, unknown>> =>
  typeof item === 'object' && item !== null && !Array.isArray(item);

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** As the searches take it (V1-20, V2-10); undefined where that is too little, or too much. */
function nameOf(text: string): string | undefined {
  const name = text.replace(/\s+/gu, ' ').trim();
  return [...name].length >= 2 && name.length <= 500 ? name : undefined;
}

function yearOf(value: unknown): number | null {
  const year = Number(value instanceof ExactNumber ? value.text : value === null || value === '' ? Number.NaN : value);
  return Number.isInteger(year) && year >= 1000 && year <= 9999 ? year : null;
}

function once(
  listed: readonly { readonly name: string | undefined; readonly birthYear: number | null }[],
): ScreenedPeople {
  const known = new Map<string, ScreenedPerson>();
  let unsearchable = 0;
  for (const { name, birthYear } of listed) {
    if (name === undefined) {
      unsearchable += 1;
      continue;
    }
    const key = `${normalizeText(name, 'NFKC').toLowerCase()} ${birthYear ?? ''}`;
    if (!known.has(key)) known.set(key, { name, birthYear });
  }
  return { people: [...known.values()], unsearchable };
}
