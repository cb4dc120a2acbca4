import { z } from 'zod';
import { dataFile } from '../../../util/yaml.js';
import {
  around,
  type CheckName,
  checked,
  checks,
  commercialRegister,
  counted,
  derivedVats,
  digits,
  LANGUAGES,
  type NumberFormat,
  socialCredit,
  specialFormats,
  type VatRule,
} from './number-formats.js';

const namesOf = <Name extends string>(table: Readonly<Record<Name, unknown>>) => z.enum(Object.keys(table) as Name[]);

const text = z.string().min(1);
const texts = z.array(text).min(1);
const whole = z.int().nonnegative();
const ranges = { width: whole, low: whole, high: whole };
const writing = { prefix: z.string().default(''), suffix: z.string().default(''), spelling: text.optional() };

const kind = <Name extends string, Shape extends z.core.$ZodLooseShape>(name: Name, shape: Shape) =>
  z.strictObject({ kind: z.literal(name), ...shape });

const kinds = [
  kind('digits', { ...ranges, ...writing }),
  kind('checked', {
    ...ranges,
    ...writing,
    check: namesOf<CheckName>(checks),
    check_first: z.boolean().default(false),
  }),
  kind('counted', { first: whole, capacity: whole, width: whole.optional(), ...writing }),
  kind('court', { suffix: z.string().default('') }),
  kind('social_credit', { region: text, neighbour: text }),
  kind('special', { rule: namesOf(specialFormats) }),
] as const;

const number = z.discriminatedUnion('kind', kinds);

function formatOf(rule: z.output<typeof number>): NumberFormat {
  switch (rule.kind) {
    case 'digits':
      return digits(rule);
    case 'checked':
      return checked({ ...rule, checkFirst: rule.check_first });
    case 'counted':
      return counted(rule);
    case 'court':
      return commercialRegister(rule.suffix);
    case 'social_credit':
      return socialCredit(rule.region, rule.neighbour);
    case 'special':
      return specialFormats[rule.rule];
  }
}

const vat = z
  .discriminatedUnion('kind', [
    kind('around', { prefix: z.string().default(''), suffix: z.string().default('') }),
    kind('derived', { rule: namesOf(derivedVats) }),
    ...kinds,
  ])
  .transform((rule): VatRule => {
    if (rule.kind === 'around') return around(rule.prefix, rule.suffix);
    if (rule.kind === 'derived') return derivedVats[rule.rule];
    return { kind: 'own', format: formatOf(rule) };
  });

const register = z
  .strictObject({
    /** Companies per thousand of the whole registry. */
    share: whole,
    /** `CA` in `US-CA`, the court in Germany, a region or null elsewhere. */
    state: text.nullable().default(null),
    jurisdiction: text.nullable().default(null),
    number: number.transform(formatOf),
    /** If it differs from the country's. */
    vat: vat.optional(),
    legal_forms: texts.optional(),
    cities: texts,
  })
  .transform(({ legal_forms: legalForms, ...rest }) => ({ ...rest, ...(legalForms && { legalForms }) }));

const country = z
  .strictObject({
    code: z.string().length(2),
    name: text,
    continent: text,
    language: z.enum(LANGUAGES),
    currency: z.string().length(3),
    authority: text,
    dial: text,
    domain: text,
    /** Digits of a postal code. */
    postal: whole,
    legal_forms: texts,
    /** How analysts write the country. */
    aliases: texts,
    vat,
    registers: z.array(register).min(1),
  })
  .transform(({ legal_forms: legalForms, ...rest }) => ({ ...rest, legalForms }));

/** One register with its own numbers, of a country, a state or a court. */
export type Register = z.output<typeof register>;
export type Country = z.output<typeof country>;

/** The order affects the generated data. */
export const countries = dataFile('sandbox/countries', z.array(country));
