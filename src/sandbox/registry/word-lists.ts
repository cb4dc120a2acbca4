// Words of generated names and bodies.

import { z } from 'zod';
import { dataFile } from '../../util/yaml.js';
import { LANGUAGES } from './countries/number-formats.js';

/** Words of company names. A name is a first word, a trade and a qualifier, and can be split into them again. */
export interface Lexicon {
  readonly first: readonly string[];
  readonly trade: readonly string[];
  readonly qualifier: readonly string[];
  /** Words have two characters each, without spaces between them. */
  readonly joined: boolean;
}

const text = z.string().min(1);
const texts = z.array(text).min(1);
const halves = z.strictObject({ starts: z.array(z.string()).min(1), ends: z.array(z.string()).min(1) });

const cross = ({ starts, ends }: z.infer<typeof halves>, between = ''): string[] =>
  starts.flatMap((start) => ends.map((end) => (start === '' || end === '' ? start + end : `${start}${between}${end}`)));

const language = z.strictObject({
  joined: z.boolean().default(false),
  first: halves,
  trade: halves,
  qualifier: halves.optional(),
});

export const lexicons = dataFile(
  'sandbox/lexicons',
  z
    .strictObject({ qualifiers: halves, languages: z.record(z.enum(LANGUAGES), language) })
    .transform(({ qualifiers, languages }) => {
      const usual = cross(qualifiers, ' ');
      const lexicon = ({ joined, first, trade, qualifier }: z.infer<typeof language>): Lexicon => ({
        first: cross(first),
        trade: cross(trade),
        qualifier: qualifier === undefined ? usual : cross(qualifier),
        joined,
      });
      const made = LANGUAGES.map((name) => [name, lexicon(languages[name])]);
      return Object.fromEntries(made) as Readonly<Record<(typeof LANGUAGES)[number], Lexicon>>;
    }),
);

const families = ['income', 'balance', 'debt', 'capital', 'cash_flow', 'banking', 'people'] as const;

const indicators = z
  .strictObject({ money: z.record(z.enum(families), texts), ratios: texts, yoy: texts })
  .transform(({ money, ratios, yoy }) => {
    const { income, balance, debt, capital, cash_flow: cashFlow } = money;
    const main = [
      income.slice(1, 22),
      balance.slice(0, 30),
      debt.slice(0, 8),
      capital.slice(0, 9),
      cashFlow.slice(0, 12),
    ];
    return {
      money: families.flatMap((family) => money[family]),
      ratios,
      /** Year over year, for the main figures of each family. */
      yoy: [...new Set([...yoy, ...main.flat()])].map((name) => `${name}-Yoy`),
    };
  });

/** Words for the bodies of both APIs. */
export const bodyWords = dataFile(
  'sandbox/bodies',
  z.strictObject({
    streets: z.record(z.enum(LANGUAGES), texts),
    first_names: texts,
    last_names: texts,
    officer_roles: texts,
    jobs: texts,
    statements: z.array(z.strictObject({ name: text, ratios: z.boolean().default(false), metrics: texts })).min(1),
    indicators,
    credit_report: z.strictObject({ likes: texts, cautions: texts }),
  }),
);
