import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText, ExactNumber, isEmptyBody, parseExact, stringifyExact } from '../../src/util/exact-json.js';
import { assertWholeJson, findMember, isEmptyObject, scanJson } from '../../src/util/json-scan.js';
import { anyCharacter } from '../helpers/any-text.js';
import { property } from '../helpers/long.js';

const digits = (min: number, max: number) => fc.stringMatching(new RegExp(`^[0-9]{${min},${max}}$`));
const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      fc.tuple(fc.integer({ min: 1, max: 9 }), digits(0, 40)).map(([first, rest]) => `${first}${rest}`),
    ),
    fc.option(digits(1, 20), { nil: undefined }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits(1, 3)), { nil: undefined }),
  )
  .map(
    ([sign, integer, fraction, exponent]) =>
      `${sign}${integer}${fraction === undefined ? '' : `.${fraction}`}${exponent?.join('') ?? ''}`,
  );

/** JSON text with any number tokens, and strings and keys that imitate the parser's marker. */
const jsonText = fc.letrec<{ value: string }>((tie) => {
  const string = fc
    .oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('\x7f', '\x7f1', '\x7f\x7f', '__proto__', '1.10'))
    .map((s) => JSON.stringify(s));
  return {
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      numberText,
      string,
      fc.constantFrom('true', 'false', 'null', '"\\u007f5"', '"\\u007F"'),
      fc.array(tie('value'), { maxLength: 5 }).map((items) => `[${items.join(' , ')}]`),
      fc
        .uniqueArray(fc.tuple(string, tie('value')), { maxLength: 5, selector: ([key]) => JSON.parse(key) as string })
        .map((members) => `{${members.map(([key, value]) => `${key} : ${value}`).join(',')}}`),
    ),
  };
}).value;

describe('parseExact', () => {
  test('V1-23 keeps every digit and trailing zero', () => {
    const parsed = parseExact(
      '{"a":1.10,"b":12345678901234567890.10,"c":9007199254740993,"d":-0.0,"e":1E+2,"f":250000.00}',
    );
    expect(Object.fromEntries(Object.entries(parsed as object).map(([key, value]) => [key, String(value)]))).toEqual({
      a: '1.10',
      b: '12345678901234567890.10',
      c: '9007199254740993',
      d: '-0.0',
      e: '1E+2',
      f: '250000.00',
    });
  });

  test('V1-23 any number text survives reading and writing', () => {
    fc.assert(
      fc.property(numberText, (text) => {
        const value = parseExact(`[${text}]`) as ExactNumber[];
        expect(value[0]).toBeInstanceOf(ExactNumber);
        expect(stringifyExact(value)).toBe(`[${text}]`);
      }),
    );
  });

  test('agrees with JSON.parse on everything except the digits', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const exact = parseExact(text);
        expect(JSON.stringify(roundNumbers(exact))).toBe(JSON.stringify(JSON.parse(text)));
        expect(stringifyExact(parseExact(stringifyExact(exact)))).toBe(stringifyExact(exact));
      }),
      { numRuns: 500 },
    );
  });

  property('refuses exactly the texts that JSON.parse refuses', 3_000, (numRuns) => {
    const pieces = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"a"',
        '1',
        '01',
        '-',
        '.5',
        '1.',
        '2e',
        'true',
        'nul',
        ' ',
        '"',
        '\\',
        '\x7f',
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('');
        expect(
          accepts(() => parseExact(text)),
          text,
        ).toBe(accepts(() => JSON.parse(text)));
      }),
      { numRuns },
    );
  });

  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '{"é":1,"\\u00e9":2}',
    '{"\x7f1":1,"\\u007f1":2}',
    '{"__proto__":1,"__proto__":2}',
    '[{"b":{"a":1},"c":[{"a":1},{"a":{"a":1,"b":2,"a":3}}]}]',
    `{${[...Array(300).keys()].map((key) => `"key-${key}":${key}`).join(',')},"key-150":0}`,
  ])('X-5 a repeated member in one object is refused by every reader: %s', (text) => {
    expect(() => parseExact(text)).toThrow(SyntaxError);
    expect(() => assertWholeJson(Buffer.from(text))).toThrow(SyntaxError);
    if (text.startsWith('{')) expect(() => scanJson(Buffer.from(text))).toThrow(SyntaxError);
  });

  test('X-5 the scanner and the parser refuse equal texts', () => {
    const broken = fc.tuple(
      jsonText,
      fc.nat(),
      fc.constantFrom('', '"', '1', ',', '}', ']', '\\', '0', 'Infinity', '\n'),
    );
    fc.assert(
      fc.property(broken, ([text, place, more]) => {
        const at = place % (text.length + 1);
        for (const bytes of [text, `${text.slice(0, at)}${more}${text.slice(at)}`, text.slice(0, at)].map((one) =>
          Buffer.from(one),
        ))
          expect(
            accepts(() => assertWholeJson(bytes)),
            bytes.toString(),
          ).toBe(accepts(() => parseExact(bytes)));
      }),
      { numRuns: 500 },
    );
  });

  test('X-6 the scanner takes no longer for colliding keys or depth than for others', () => {
    const keys = Buffer.from(`{${[...Array(100_000).keys()].map((key) => `"${key}":1`).join(',')}}`);
    const deep = Buffer.from(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);
    const plain = Buffer.from(`[${[...Array(99_000).keys()].join(',')}]`);
    // The best of three: a busy machine slows single rounds. Quadratic time would be thousands of times as long.
    const bestMs = (bytes: Buffer) =>
      Math.min(
        ...[1, 2, 3].map(() => {
          const began = performance.now();
          assertWholeJson(bytes);
          return performance.now() - began;
        }),
      );
    expect(Math.max(bestMs(keys), bestMs(deep)) / bestMs(plain)).toBeLessThan(100);
  });

  test('a string that looks like a number stays a string', () => {
    expect(parseExact('["1.10", "\x7f1", "\\u007f2", "\x7f\x7f"]')).toEqual(['1.10', '\x7f1', '\x7f2', '\x7f\x7f']);
  });

  test('__proto__, constructor and toString are data', () => {
    const parsed = parseExact('{"__proto__":{"polluted":1.0},"constructor":2,"toString":"x","\x7f":3}') as Record<
      string,
      unknown
    >;
    expect(Object.keys(parsed)).toEqual(['__proto__', 'constructor', 'toString', '\x7f']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(stringifyExact(parsed)).toBe('{"__proto__":{"polluted":1.0},"constructor":2,"toString":"x","\x7f":3}');
  });

  test('20,000 levels of children neither crash nor hang', () => {
    const depth = 20_000;
    const text = `${'{"id":1.0,"children":['.repeat(depth)}${']}'.repeat(depth)}`;
    expect(stringifyExact(parseExact(text))).toBe(text);
    expect(scanJson(Buffer.from(`{"data":${text}}`)).kind).toBe('object');
  });

  test('a byte order mark is skipped', () => {
    expect(parseExact('\uFEFF{"a":"b"}')).toEqual({ a: 'b' });
  });

  test('indents like JSON.stringify', () => {
    const text = '{"a":[1,2,{"b":[]}],"c":{},"d":"é\\n","e":null}';
    expect(stringifyExact(parseExact(text), 2)).toBe(JSON.stringify(JSON.parse(text), null, 2));
  });
});

describe('scanShell', () => {
  test('lists the members with their positions, without parsing them', () => {
    const bytes = Buffer.from(' {"lite" : {"id":1.10}, "officers":[1,"]}"],"é\\"":null} ');
    const shell = scanJson(bytes);
    if (shell.kind !== 'object') throw new Error('not an object');
    const texts = [...shell.members].map(([key, { start, end }]) => [key, bytes.subarray(start, end).toString()]);
    expect(texts).toEqual([
      ['lite', '{"id":1.10}'],
      ['officers', '[1,"]}"]'],
      ['é"', 'null'],
    ]);
  });

  test('finds the members of any JSON object', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const shell = scanJson(Buffer.from(text));
        const value: unknown = JSON.parse(text);
        if (shell.kind === 'array') expect(Array.isArray(value) && (value.length === 0) === shell.empty).toBe(true);
        else if (shell.kind === 'object')
          expect([...shell.members.keys()].sort()).toEqual(Object.keys(value as object).sort());
        else expect(typeof value !== 'object' || value === null).toBe(true);
      }),
    );
  });

  test.each(['', '{', '{"a":1', '{"a":[1,2}', '["x', '{"a" 1}', '{} x', '{1:2}'])('refuses %j', (text) => {
    expect(() => scanJson(Buffer.from(text))).toThrow(SyntaxError);
  });
});

describe('findMember', () => {
  test('finds a member without reading the rest', () => {
    const bytes = Buffer.from('{"lite":{"id":1.10},"officers":[{]}');
    const range = findMember(bytes, 'lite');
    expect(bytes.subarray(range?.start, range?.end).toString()).toBe('{"id":1.10}');
    expect(findMember(Buffer.from(' {"a":1} '), 'lite')).toBeUndefined();
  });

  test.each(['', '[1]', '{"lite":1},', '"x"', '{"a":[1,2', '{'])('refuses %j', (text) => {
    expect(() => findMember(Buffer.from(text), 'lite')).toThrow(SyntaxError);
  });
});

function roundNumbers(value: unknown): unknown {
  if (value instanceof ExactNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(roundNumbers);
  if (typeof value !== 'object' || value === null) return value;
  const copy = {};
  for (const [key, member] of Object.entries(value)) {
    Object.defineProperty(copy, key, {
      value: roundNumbers(member),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy;
}

function accepts(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

describe('isEmptyObject', () => {
  test.each(['{}', ' { } ', '\ufeff{\r\n\t}'])('%j is empty', (text) => {
    expect(isEmptyObject(Buffer.from(text))).toBe(true);
  });
  test.each(['', '{', '[]', 'null', '{"2024":{}}', '""'])('%j is not', (text) => {
    expect(isEmptyObject(Buffer.from(text))).toBe(false);
  });
});

test.each([
  ['{}', true],
  ['{"a:5": null, "t": "", "list": [{}, [], null]}', true],
  ['{"2024": {"figure": null}}', true],
  ['\ufeff{"a" : ""}', true],
  ['{"2024": {"figure": 0}}', false],
  ['{"a": {"b": [null, -1]}}', false],
  ['{"a": false}', false],
  ['[null, "x"]', false],
  ['{"a": "\\""}', false],
  ['{"a": null', false],
  ['{"a": null, "a": null}', false],
])('%s is empty: %s', (body, isEmpty) => {
  expect(isEmptyBody(Buffer.from(body))).toBe(isEmpty);
});

test.each([
  [{ toString: false }, '{"toString":false}'],
  [[{ toString: false }], '[{"toString":false}]'],
  ['a', 'a'],
  [true, 'true'],
  [new ExactNumber('1.10'), '1.10'],
])('X-6 any value has a text: %j', (value, text) => {
  expect(anyText(value)).toBe(text);
});
