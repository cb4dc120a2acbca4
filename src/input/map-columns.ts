import { UsageError } from '../domain/errors.js';
import { LEADS, type Lead } from '../domain/leads.js';
import { SYNONYMS } from './synonyms.js';
import { INPUT_FIELDS, type InputField, type InputOptions } from './types.js';

export interface ColumnMap {
  readonly columns: readonly string[];
  readonly mapping: Readonly<Partial<Record<InputField, number>>>;
  readonly warnings: readonly string[];
}

/** Lower = closer: where two columns claim a field, the closer one gets it. */
type Claim = { readonly field: InputField; readonly rank: 0 | 1 | 2 };
export type HeaderLookup = ReadonlyMap<string, Claim>;

/** Gives each field its column. Two columns of the very same name that claim one field are refused: no choice is right. */
export function mapColumns(headers: readonly string[], lookup: HeaderLookup): ColumnMap {
  const warnings: string[] = [];
  const mapping: Partial<Record<InputField, number>> = {};
  const claims = headers.map((header) => claimOf(header, lookup));
  for (const field of INPUT_FIELDS) {
    const claimants = claims.flatMap((claim, index) => (claim?.field === field ? [{ index, rank: claim.rank }] : []));
    const best = claimants.sort((a, b) => a.rank - b.rank || a.index - b.index)[0];
    if (best === undefined) continue;
    mapping[field] = best.index;
    const chosen = headers[best.index] ?? '';
    const twin = claimants.find(({ index }) => index !== best.index && sameName(headers[index] ?? '', chosen));
    if (twin !== undefined) {
      throw new UsageError(
        `the header "${chosen.trim()}" appears twice, in columns ${best.index + 1} and ${twin.index + 1}`,
        `Both would be read as ${field}: rename or remove one.`,
      );
    }
    for (const { index } of claimants) {
      if (index === best.index) continue;
      warnings.push(
        `column "${headers[index]?.trim()}" is carried through only: "${chosen.trim()}" is taken as ${field} already`,
      );
    }
  }
  return { columns: uniqueNames(headers, warnings), mapping, warnings };
}

/** Every header we know, by its folded form. A lead that nobody follows has none: its column is like any other. */
export function headerLookup(extra: InputOptions['synonyms'] = {}, leads: readonly Lead[] = []): HeaderLookup {
  const unread = new Set<InputField>(LEADS.filter((lead) => !leads.includes(lead)));
  const fields = INPUT_FIELDS.filter((field) => !unread.has(field));
  const lookup = new Map<string, Claim>();
  for (const field of fields) for (const word of SYNONYMS[field]) lookup.set(fold(word), { field, rank: 2 });
  for (const field of fields) lookup.set(fold(field), { field, rank: 0 });
  const given = new Map<string, InputField>();
  for (const field of fields) {
    for (const word of extra[field] ?? []) {
      const key = fold(word);
      const other = given.get(key);
      if (other !== undefined && other !== field) {
        throw new UsageError(
          `the header synonym "${word}" is given for both ${other} and ${field}`,
          'Keep one of them.',
        );
      }
      given.set(key, field);
      if (key !== fold(field)) lookup.set(key, { field, rank: 1 });
    }
  }
  return lookup;
}

/** Columns of leads that nobody follows: a row that has nothing else is told what would follow them. */
export function unreadLeads(
  headers: readonly string[],
  mapping: ColumnMap['mapping'],
  { synonyms, leads = [] }: InputOptions,
): UnreadLeads {
  const lookup = headerLookup(synonyms, LEADS);
  const taken = new Set(Object.values(mapping));
  const unread = LEADS.filter((lead) => !leads.includes(lead)).flatMap((lead) => {
    const index = headers.findIndex((header, at) => !taken.has(at) && claimOf(header, lookup)?.field === lead);
    return index === -1 ? [] : [[lead, index] as const];
  });
  return Object.fromEntries(unread);
}

export type UnreadLeads = Readonly<Partial<Record<Lead, number>>>;

export function claimOf(header: string, lookup: HeaderLookup): Claim | undefined {
  const whole = fold(header);
  if (whole === '') return undefined;
  return lookup.get(whole) ?? lookup.get(fold(header.replace(/\([^)]*\)|\[[^\]]*\]/g, '')));
}

/** Case, accents, spaces and punctuation gone: `Reg. No.` and `reg_no` are the same. */
export function fold(header: string): string {
  return header
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[łøßæœ]/g, (letter) => UNDECOMPOSED[letter] ?? letter)
    .replace(/[^\p{L}\p{N}]/gu, '');
}

const UNDECOMPOSED: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', ß: 'ss', æ: 'ae', œ: 'oe' };

function sameName(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}

/** Unique whatever the case: databases downstream do not tell `Note` from `note`. */
function uniqueNames(headers: readonly string[], warnings: string[]): string[] {
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
