import { parseBody, WireInteger } from './body.js';

/** Problems by field name; nested fields are written with dots. */
export type Problems = Map<string, string[]>;
export type Report = (message: string, field?: string) => void;

/** One parameter: how its text is read from a query, and what a value must be. */
export interface Field {
  readonly required: boolean;
  fromText(texts: readonly string[]): unknown;
  check(value: unknown, report: Report): void;
}

export type Shape = Readonly<Record<string, Field>>;
export type Values = Readonly<Record<string, unknown>>;

export function checkShape(shape: Shape, values: Values, problems: Problems = new Map()): Problems {
  const report = (name: string) => (message: string, field?: string) => {
    const path = field === undefined ? name : `${name}.${field}`;
    problems.set(path, [...(problems.get(path) ?? []), message]);
  };
  for (const name of Object.keys(values)) {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field) field.check(values[name], report(name));
    else report(name)('Unknown field.');
  }
  for (const name in shape) {
    if (shape[name]?.required && !Object.hasOwn(values, name)) report(name)('This field is required.');
  }
  return problems;
}

/** Query text to values. A name that the shape does not know is kept as text, so that the check can name it. */
export function readQuery(shape: Shape, query: URLSearchParams): Values {
  const values: Record<string, unknown> = Object.create(null);
  for (const name of new Set(query.keys())) {
    const texts = query.getAll(name);
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    values[name] = field ? field.fromText(texts) : texts;
  }
  return values;
}

const single = (texts: readonly string[]): unknown => (texts.length === 1 ? texts[0] : texts);

export interface TextRule {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  readonly oneOf?: readonly string[];
  readonly test?: (text: string) => boolean;
  readonly message?: string;
}

export function text(rule: TextRule = {}): Field {
  return {
    required: false,
    fromText: single,
    check(value, report) {
      if (typeof value !== 'string') return report('Must be a string.');
      const length = value.length < 500 && value.length > 3 ? value.length : [...value].length;
      if (length < (rule.min ?? 1)) report(`Must have at least ${rule.min ?? 1} character(s).`);
      else if (rule.max !== undefined && length > rule.max) report(`Must have at most ${rule.max} characters.`);
      else if (rule.pattern && !rule.pattern.test(value)) report(rule.message ?? `Must match ${rule.pattern.source}.`);
      else if (rule.oneOf && !rule.oneOf.includes(value)) report(`Must be one of ${rule.oneOf.join(', ')}.`);
      else if (rule.test && !rule.test(value)) report(rule.message ?? 'Is not valid.');
    },
  };
}

export function integer(rule: { readonly min?: number; readonly max?: number } = {}): Field {
  return {
    required: false,
    fromText(texts) {
      const only = single(texts);
      return typeof only === 'string' && /^-?\d+$/.test(only) ? parseBody(String(BigInt(only))) : only;
    },
    check(value, report) {
      if (value instanceof WireInteger) {
        if (rule.max !== undefined) report(`Must be at most ${rule.max}.`);
      } else if (typeof value !== 'number' || !Number.isInteger(value)) report('Must be an integer.');
      else if (rule.min !== undefined && value < rule.min) report(`Must be at least ${rule.min}.`);
      else if (rule.max !== undefined && value > rule.max) report(`Must be at most ${rule.max}.`);
    },
  };
}

export function decimal(): Field {
  return {
    required: false,
    fromText: (texts) => (texts.length === 1 ? Number(texts[0]) : texts),
    check(value, report) {
      const fine = value instanceof WireInteger || (typeof value === 'number' && Number.isFinite(value));
      if (!fine) report('Must be a number.');
    },
  };
}

export function flag(): Field {
  return {
    required: false,
    fromText(texts) {
      const only = single(texts);
      return only === 'true' ? true : only === 'false' ? false : only;
    },
    check(value, report) {
      if (typeof value !== 'boolean') report('Must be true or false.');
    },
  };
}

export function list(item: Field): Field {
  return {
    required: false,
    fromText: (texts) => texts.flatMap((entry) => entry.split(',')).map((entry) => item.fromText([entry])),
    check(value, report) {
      if (!Array.isArray(value)) return report('Must be a list.');
      for (const [index, entry] of value.entries()) {
        item.check(entry, (message, field) => report(message, field === undefined ? `${index}` : `${index}.${field}`));
      }
    },
  };
}

export function either(message: string, ...options: readonly Field[]): Field {
  return {
    required: false,
    fromText: (texts) => options[0]?.fromText(texts),
    check(value, report) {
      if (!options.some((option) => accepts(option, value))) report(message);
    },
  };
}

export function object(shape: Shape, rule?: (values: Values) => string | undefined): Field {
  return {
    required: false,
    fromText: single,
    check(value, report) {
      if (!isObject(value)) return report('Must be an object.');
      for (const [field, messages] of checkShape(shape, value)) {
        for (const message of messages) report(message, field);
      }
      const broken = rule?.(value);
      if (broken !== undefined) report(broken);
    },
  };
}

/** `gte`, `lte` or both, and nothing else. */
export function range(bound: Field): Field {
  return object({ gte: bound, lte: bound }, (values) =>
    values.gte === undefined && values.lte === undefined ? 'At least one of gte and lte is required.' : undefined,
  );
}

export const date = (): Field => text({ test: isDate, message: 'Must be a date of the form YYYY-MM-DD.' });

export const required = (field: Field): Field => ({ ...field, required: true });

export function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof WireInteger);
}

export function isDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

function accepts(field: Field, value: unknown): boolean {
  let fine = true;
  field.check(value, () => {
    fine = false;
  });
  return fine;
}
