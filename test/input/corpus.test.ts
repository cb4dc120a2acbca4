import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readCorpus } from '../bench/input/corpus/read-corpus.js';
import { judge } from '../bench/input/judge.js';
import { look } from '../bench/input/look.js';
import { long } from '../helpers/long.js';

const corpus = readCorpus();

describe('lists as people make them', () => {
  long('are read as they are meant, or asked about', async () => {
    const failures: string[] = [];
    for (const { name, path, expected } of corpus) {
      const asItIs = await look(path);
      const answered = expected.answer && (await look(path, expected.answer));
      const { verdict, why } = judge(expected, { asItIs, answered });
      if (verdict !== 'right' && verdict !== 'asked') failures.push(`${name}: ${verdict}: ${why}`);
    }
    expect(failures).toEqual([]);
  });

  test('what must become of each file is told', () => {
    const [first] = corpus;
    const there = readdirSync(dirname(first?.path ?? '')).filter((name) => !/^(expected\.json|\..*)$/.test(name));
    expect(there.sort()).toEqual(corpus.map(({ name }) => name).sort());
  });
});
