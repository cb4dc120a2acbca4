import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readCorpus } from '../bench/input/corpus/read-corpus.js';
import { judge } from '../bench/input/judge.js';
import { look } from '../bench/input/look.js';
import { long } from '../helpers/long.js';

const corpus = readCorpus();

describe('lists as people write them', () => {
  long('are read as intended, or asked about', async () => {
    const failures: string[] = [];
    for (const { name, path, expected } of corpus) {
      const asItIs = await look(path);
      const answered = expected.answer && (await look(path, expected.answer));
      const { verdict, why } = judge(expected, { asItIs, answered });
      if (verdict !== 'right' && verdict !== 'asked') failures.push(`${name}: ${verdict}: ${why}`);
    }
    expect(failures).toEqual([]);
  });

  test('the expected result of each file is defined', () => {
    const [first] = corpus;
    const there = readdirSync(dirname(first?.path ?? '')).filter((name) => !/^(expected\.json|\..*)$/.test(name));
    expect(there.sort()).toEqual(corpus.map(({ name }) => name).sort());
  });
});
