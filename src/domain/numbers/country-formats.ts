// Number formats of all countries, from their data files, and the checks of stdnum.

import { createRequire } from 'node:module';
import type { Validator } from 'stdnum';
import type { z } from 'zod';
import { dataSections } from '../../util/yaml.js';
import { subdivisionCode } from '../places/location-codes.js';
import { compact, NUMBER_WORDS, type ParsedNumber } from './number-text.js';

/** One kind of number of a country's register. Functions get the compact form, with only capitals and digits. */
export interface RegisterFormat {
  /** In words, for review questions: "8 digits". */
  readonly form: string;
  readonly shape: RegExp;
  /** Without a fixed width, the form does not show whether a digit after a separator belongs to the number. */
  readonly anyWidth?: true;
  /** The register's own spelling. Default: the compact form. */
  readonly spell?: (compact: string) => string;
  readonly also?: (compact: string) => readonly string[];
  readonly check?: (compact: string) => boolean;
  /** The full number, if the text may have lost leading zeros. */
  readonly pad?: (compact: string) => string | undefined;
  /** The number without zeros that its register does not write. */
  readonly unpad?: (compact: string) => string | undefined;
}

/** Another number that contains the registration number, or a prefix or suffix outside it. */
interface Rewrite {
  readonly rule: NonNullable<Section['rewrites']>[number]['rule'];
  readonly apply: (compact: string) => string | undefined;
}

export interface CountryNumbers {
  /** The country, or its state if the state numbers its companies in its own way. */
  readonly place: string;
  readonly formats: readonly RegisterFormat[];
  /** Words that people put before the number, as a pattern over capitals: "KVK". */
  readonly labels?: string;
  readonly rewrites?: readonly Rewrite[];
  /** Why this is another kind of number, in words. */
  readonly foreign?: (compact: string, text: string, state: string | undefined) => string | undefined;
}

type Country = Readonly<Record<string, Validator>>;

const require = createRequire(import.meta.url);
const countries = new Map<string, Country | undefined>();

/** Each country is loaded with its first number, because the whole package takes 0.2 s. */
function library(countryCode: string): Country | undefined {
  const known = countries.get(countryCode);
  if (known !== undefined || countries.has(countryCode)) return known;
  const loaded = load(countryCode);
  countries.set(countryCode, loaded);
  return loaded;
}

function load(countryCode: string): Country | undefined {
  if (!/^[A-Z]{2}$/.test(countryCode)) return undefined;
  try {
    return require(`stdnum/lib/cjs/${countryCode.toLowerCase()}/index.js`) as Country;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Whether the package accepts the number. Undefined if it does not have that kind of number. */
export function checkStdnum(countryCode: string, key: string, text: string): boolean | undefined {
  const validator = library(countryCode)?.[key];
  if (validator === undefined) return undefined;
  if (last?.validator !== validator || last.text !== text)
    last = { validator, text, isValid: validator.validate(text).isValid };
  return last.isValid;
}

/** In many countries one number is both the register's and the tax office's, so a row checks it twice in a row. */
let last: { readonly validator: Validator; readonly text: string; readonly isValid: boolean } | undefined;

function schemas(z: Zod) {
  const texts = z.union([z.string(), z.array(z.string())]).transform((given) => [given].flat());

  const format = z.strictObject({
    form: z.string(),
    /** The width of a number with digits only. Others have a `shape`. */
    digits: z.int().optional(),
    shape: z.string().optional(),
    any_width: z.literal(true).optional(),
    /** The register's own spelling: the first mask with a place for each character. */
    spell: texts.optional(),
    also: texts.optional(),
    /** A spelling implemented in code. */
    spelled_by: z.literal('firmenbuch').optional(),
    /** The check of the package stdnum: `siren`, or `CZ.ico` for another country's. */
    check: z.string().optional(),
    /**
     * How many digits a number has with its zeros, or which numbers may lack zeros and the length of their last group.
     */
    pad: z.union([z.int(), z.array(z.strictObject({ from: z.string(), to: z.int() }))]).optional(),
    unpad: z.strictObject({ from: z.string(), to: z.string() }).optional(),
  });

  const section = z.strictObject({
    /** Words that people put before the number, as patterns over capitals. */
    labels: texts.transform((words) => words.join('|')).optional(),
    /** The value of `<prefix>` in the patterns below. */
    prefixes: z.string().optional(),
    formats: z.array(format).optional(),
    states: z.record(z.string(), z.array(format)).optional(),
    /** Another number that contains the registration number. */
    rewrites: z
      .array(
        z.strictObject({
          rule: z.enum([
            'label',
            'tax_suffix',
            'century_prefix',
            'country_prefix',
            'siret_to_siren',
            'vat_to_number',
            'abn_to_acn',
          ]),
          from: z.string(),
          to: z.string().default('$1'),
          check_from: z.string().optional(),
          check_to: z.string().optional(),
        }),
      )
      .optional(),
    foreign: z
      .array(
        z.strictObject({
          like: z.string().optional(),
          written: z.string().optional(),
          check: z.string().optional(),
          state: z.string().optional(),
          unless_state: z.string().optional(),
          because: z.string(),
        }),
      )
      .optional(),
    vat: z
      .strictObject({
        check: z.string(),
        /** The national part, without country prefix and tax suffix. */
        shape: z.string().transform((source) => whole(source)),
        /** Before the national part. Default: the country's code. */
        prefix: z.string().optional(),
        suffix: z.string().optional(),
        spell: z.string().optional(),
      })
      .optional(),
  });

  return { section, format };
}

/** In the US and Canada several states have the same number, so the state is part of the identity. */
export const isNumberedByState = (countryCode: string): boolean => countryCode === 'US' || countryCode === 'CA';

type Zod = typeof z;
type Section = z.output<ReturnType<typeof schemas>['section']>;
type Format = z.output<ReturnType<typeof schemas>['format']>;

const sections = dataSections('domain/numbers', (z) => schemas(z).section);

export const vatRuleOf = (countryCode: string): Section['vat'] => sections(countryCode)?.vat;

/** Words before a VAT number, in all countries. A word may end in one for "number": `BTWNR`. */
export function vatLabels(): string {
  vatWords ??= `(?:${sections('VAT')?.labels})(?:${NUMBER_WORDS})?|${NUMBER_WORDS}`;
  return vatWords;
}

let vatWords: string | undefined;

/** The number formats of a country, or of a state with its own. Undefined if unknown. */
export function numberFormatsOf(countryCode: string, state: string | undefined): CountryNumbers | undefined {
  const found = sections(countryCode);
  if (found?.formats === undefined) return undefined;
  const needsState = found.states !== undefined && state !== undefined;
  const code = needsState ? subdivisionCode(countryCode, state) : undefined;
  const key = code === undefined ? countryCode : `${countryCode}-${code}`;
  const ofState = found.states?.[code ?? ''];
  const place = ofState === undefined ? countryCode : key;
  const known = compiled.get(key) ?? { ...compile(countryCode, found, ofState ?? found.formats), place };
  compiled.set(key, known);
  return known;
}

const compiled = new Map<string, CountryNumbers>();

function compile(country: string, given: Section, formats: readonly Format[]): Omit<CountryNumbers, 'place'> {
  const pattern = (source: string) => whole(source.replaceAll('<prefix>', `(?:${given.prefixes})`));
  return {
    formats: formats.map((one) => registerFormat(country, one, pattern)),
    ...(given.labels === undefined ? {} : { labels: given.labels.replaceAll('<place>', PLACE) }),
    rewrites: (given.rewrites ?? []).map((one) => rewriteOf(country, one, pattern)),
    foreign: foreignOf(country, given.foreign ?? [], pattern),
  };
}

/** The words of a place, each before a separator: "PARIS", "LE MANS", "AIX-EN-PROVENCE". */
const PLACE = "(?:[\\p{L}'’.]{2,}(?![\\p{L}\\d])[ -]*){1,5}";

type ToPattern = (source: string) => RegExp;

const whole: ToPattern = (source) => new RegExp(`^(?:${source})$`, 'u');

function registerFormat(country: string, given: Format, pattern: ToPattern): RegisterFormat {
  const { form, digits, shape = `\\d{${digits}}`, spell, also, check, pad, unpad } = given;
  return {
    form,
    shape: pattern(shape),
    ...(given.any_width === undefined ? {} : { anyWidth: true }),
    ...(spell === undefined ? {} : { spell: (text) => spelled(text, spell)[0] ?? text }),
    ...(also === undefined ? {} : { also: (text) => spelled(text, also) }),
    ...(given.spelled_by === undefined ? {} : FIRMENBUCH),
    ...(check === undefined ? {} : { check: (text) => hasCheck(country, check, text) ?? true }),
    ...(pad === undefined ? {} : { pad: padding(pad, pattern) }),
    ...(unpad === undefined ? {} : { unpad: replacing(pattern(unpad.from), unpad.to) }),
  };
}

/** The check letter is lower case, and FN before the number is optional. */
const FIRMENBUCH: Pick<RegisterFormat, 'spell' | 'also'> = {
  spell: (text) => `FN ${firmenbuch(text)}`,
  also: (text) => [firmenbuch(text), `FN${firmenbuch(text)}`],
};

const firmenbuch = (text: string) => text.replace(/^FN/, '').toLowerCase();

/** The number in each mask with a place for each of its characters: `######-####`, `## *`. */
export function spelled(text: string, masks: readonly string[]): readonly string[] {
  return masks.flatMap((mask) => {
    const places = mask.replaceAll(/[^#]/g, '').length;
    if (places !== text.length && !mask.endsWith('*')) return [];
    let at = 0;
    return [mask.replaceAll(/[#*]/g, (sign) => (sign === '*' ? text.slice(at) : text.charAt(at++)))];
  });
}

function hasCheck(country: string, check: string, text: string): boolean | undefined {
  const [key = '', other = country] = check.split('.').reverse();
  return checkStdnum(other, key, text);
}

function padding(pad: NonNullable<Format['pad']>, pattern: ToPattern) {
  const forms = typeof pad === 'number' ? [{ from: `(\\d{1,${pad - 1}})`, to: pad }] : pad;
  const rules = forms.map(({ from, to }) => ({ from: pattern(from), to }));
  return (text: string): string | undefined => {
    for (const { from, to } of rules) {
      const groups = from.exec(text)?.slice(1);
      if (groups !== undefined) return [...groups.slice(0, -1), groups.at(-1)?.padStart(to, '0')].join('');
    }
    return undefined;
  };
}

const replacing =
  (from: RegExp, to: string) =>
  (text: string): string | undefined =>
    from.test(text) ? text.replace(from, to) : undefined;

function rewriteOf(
  country: string,
  { rule, from, to, check_from, check_to }: NonNullable<Section['rewrites']>[number],
  pattern: ToPattern,
): Rewrite {
  const replace = replacing(pattern(from), to);
  const passes = (check: string | undefined, text: string) =>
    check === undefined || hasCheck(country, check, text) === true;
  return {
    rule,
    apply: (text) => {
      const after = replace(text);
      return after !== undefined && passes(check_from, text) && passes(check_to, after) ? after : undefined;
    },
  };
}

function foreignOf(
  country: string,
  kinds: NonNullable<Section['foreign']>,
  pattern: ToPattern,
): NonNullable<CountryNumbers['foreign']> {
  const rules = kinds.map(({ like = '.*', written = '.*', ...rest }) => ({
    ...rest,
    like: pattern(like),
    written: pattern(written),
  }));
  return (text, written, state) => {
    const isIn = (code: string) => state !== undefined && subdivisionCode(country, state) === code;
    return rules.find(
      (rule) =>
        rule.like.test(text) &&
        rule.written.test(written) &&
        (rule.check === undefined || hasCheck(country, rule.check, text) === true) &&
        (rule.state === undefined || isIn(rule.state)) &&
        (rule.unless_state === undefined || !isIn(rule.unless_state)),
    )?.because;
  };
}

/**
 * Whether a typing error in this number is always noticed: its check digit must fail for every number with one other
 * character or two neighbours swapped. Checks differ: mod 97 and the Scandinavian mod 11 catch all, Luhn misses 09 and
 * 90, Australia's misses every tenth wrong digit. So the number's own neighbours are tried instead of a list of
 * countries.
 */
export function checkDigitCatchesTypos(parsed: ParsedNumber, countryCode: string, state?: string): boolean {
  if (parsed.valid !== 'yes' || parsed.canonical === null) return false;
  const formats = numberFormatsOf(countryCode, state)?.formats ?? [];
  for (const neighbour of neighboursOf(compact(parsed.canonical))) {
    if (formats.some(({ shape, check }) => shape.test(neighbour) && check?.(neighbour) !== false)) return false;
  }
  return true;
}

function* neighboursOf(number: string): Iterable<string> {
  for (let place = 0; place < number.length; place++) {
    const [before, character, after] = [number.slice(0, place), number[place] ?? '', number.slice(place + 1)];
    for (const other of /\d/.test(character) ? DIGITS : LETTERS) {
      if (other !== character) yield `${before}${other}${after}`;
    }
    const next = after[0];
    if (next !== undefined && next !== character) yield `${before}${next}${character}${after.slice(1)}`;
  }
}

const DIGITS = '0123456789';
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
