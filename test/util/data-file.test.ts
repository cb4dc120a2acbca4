import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { copyAssets } from '../../.ci/copy-assets.js';
import { dataFile } from '../../src/util/yaml.js';

const SRC = resolve(import.meta.dirname, '../../src');
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => /\/data\/.*\.yaml$/.test(file));

describe('data files', () => {
  test('a build has each of them as JSON, with unchanged content', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kybatch-assets-'));
    try {
      copyAssets(folder);
      for (const file of files) {
        const json: unknown = JSON.parse(readFileSync(join(folder, file.replace(/yaml$/, 'json')), 'utf8'));
        expect(json, file).toEqual(parse(readFileSync(join(SRC, file), 'utf8')));
      }
      expect(files.length).toBeGreaterThan(3);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('are read at the first call, once, and frozen', () => {
    const continents = dataFile('sandbox/vocabularies', z.object({ continents: z.array(z.string()) }));
    expect(continents()).toBe(continents());
    expect(continents().continents).toContain('Europe');
    expect(Object.isFrozen(continents().continents)).toBe(true);
    expect(dataFile('sandbox/missing', z.unknown())).toThrow(/missing/);
  });

  test('must fit their schema', () => {
    expect(dataFile('sandbox/vocabularies', z.strictObject({ continents: z.array(z.string()) }))).toThrow(z.ZodError);
    expect(dataFile('sandbox/vocabularies', z.object({ continents: z.array(z.int()) }))).toThrow(z.ZodError);
  });
});
