import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadPipeline } from '../../src/config/pipeline.js';
import { DEFAULT_FRESHNESS, pipelineJsonSchema, pipelineKeys } from '../../src/config/pipeline-schema.js';
import { headerLookup } from '../../src/input/header-meaning.js';
import { INPUT_FIELDS } from '../../src/input/types.js';
import { loadWith, SHIPPED } from './with-pipeline.js';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(resolve(root, path), 'utf8');
const REGENERATE = 'npm run schema writes it';

test('pipelines/pipeline.schema.json equals the schema', () => {
  expect(JSON.parse(read('pipelines/pipeline.schema.json')), REGENERATE).toEqual(pipelineJsonSchema());
});

test('every key has a description for editors', () => {
  const silent = [...pipelineKeys()].filter(([, node]) => !node.description).map(([key]) => key);
  expect(silent).toEqual([]);
});

test('columns name the fields that input knows', () => {
  const fields = [...pipelineKeys().keys()].flatMap((key) => /^columns\.(.+)$/.exec(key)?.[1] ?? []);
  expect(fields).toEqual([...INPUT_FIELDS]);
});

test('columns are synonyms in the form that input takes', () => {
  const { columns } = loadWith('columns: {name: [Mandantin]}');
  expect(headerLookup(columns).get('mandantin')).toMatchObject({ claims: [{ field: 'name', strength: 'pipeline' }] });
});

test.each(SHIPPED)('%s.yaml names the schema in its first line', (name) => {
  expect(read(`pipelines/${name}.yaml`).split('\n')[0]).toBe('# yaml-language-server: $schema=./pipeline.schema.json');
});

describe('docs/reference/pipeline.md', () => {
  const text = read('docs/reference/pipeline.md');
  const rows = new Map([...text.matchAll(/^\| `([^`]+)` \| (.*?) ?\|/gm)].map((row) => [row[1] ?? '', row[2] ?? '']));

  test('lists every key', () => {
    const sections = [...pipelineKeys().keys()].filter((key) => !rows.has(key));
    expect(sections.filter((key) => !text.includes(`\n### ${key}:\n`))).toEqual([]);
  });

  test.each([...pipelineKeys()].filter(([, node]) => node.default !== undefined && !isSection(node.default)))(
    'gives the default of %s',
    (key, node) => {
      expect(parse((rows.get(key) ?? '').replaceAll('`', ''))).toEqual(node.default);
    },
  );

  test.each(Object.entries(DEFAULT_FRESHNESS))('gives the freshness of %s', (operation, duration) => {
    expect(rows.get(operation)).toBe(`\`${duration}\``);
  });

  test.each(SHIPPED)('describes %s correctly', (name) => {
    const { stages, search, concurrency } = loadPipeline(name, root);
    expect(text).toMatch(
      new RegExp(
        `^\\| \`${name}\` \\| .+ \\| ${stages.join(', ')} \\| ${search.attempts} \\| ${concurrency} \\|$`,
        'm',
      ),
    );
  });
});

function isSection(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
