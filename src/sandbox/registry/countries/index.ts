import { z } from 'zod';
import { dataFile } from '../../../util/data-file.js';
import {
  around,
  type CheckName,
  type Country,
  checked,
  checks,
  commercialRegister,
  counted,
  derivedVats,
  digits,
  LANGUAGES,
  type NumberFormat,
  ownFormats,
  socialCredit,
  type VatRule,
} from './number-formats.js';

const namesOf = <Name extends string>(table: Readonly<Record<Name, unknown>>) => z.enum(Object.keys(table) as Name[]);

const text = z.string().min(1);
const texts = z.array(text).min(1);
const whole = z.int().nonnegative();
const ranges = { width: whole, low: whole, high: whole };
const writing = { prefix: z.string().default(''), suffix: z.string().default(''), spelling: text.optional() };

/** A kind of number with its settings, and what it makes of them. */
const kind = <Name extends string, Shape extends z.core.$ZodLooseShape>(name: Name, shape: Shape) =>
  z.strictObject({ kind: z.literal(name), ...shape });

const number = z
  .discriminatedUnion('kind', [
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
    z.strictObject({ kind: namesOf(ownFormats) }),
  ])
  .transform((rule): NumberFormat => {
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
      default:
        return ownFormats[rule.kind];
    }
  });

const vat = z.union([
  z
    .strictObject({ kind: z.literal('around'), prefix: z.string().default(''), suffix: z.string().default('') })
    .transform(({ prefix, suffix }): VatRule => around(prefix, suffix)),
  z.strictObject({ kind: namesOf(derivedVats) }).transform((rule): VatRule => derivedVats[rule.kind]),
  number.transform((format): VatRule => ({ kind: 'own', format })),
]);

const register = z
  .strictObject({
    share: whole,
    state: text.nullable().default(null),
    jurisdiction: text.nullable().default(null),
    number,
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
    postal: whole,
    legal_forms: texts,
    aliases: texts,
    vat,
    registers: z.array(register).min(1),
  })
  .transform(({ legal_forms: legalForms, ...rest }): Country => ({ ...rest, legalForms }));

/** The order is part of the generator. */
export const countries = dataFile('sandbox/countries', z.array(country));
