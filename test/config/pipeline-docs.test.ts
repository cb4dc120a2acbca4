import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { describePipeline, PIPELINE_REFERENCE } from '../../src/config/describe-pipeline.js';
import { loadPipeline } from '../../src/config/pipeline.js';
import { DEFAULT_FRESHNESS, pipelineJsonSchema, pipelineKeys } from '../../src/config/pipeline-schema.js';
import { headerLookup } from '../../src/input/header-meaning.js';
import { INPUT_FIELDS } from '../../src/input/types.js';
import { stages } from '../../src/stages/list.js';
import { replaceMarked } from '../../src/util/marked-part.js';
import { loadWith, refusal, SHIPPED, withFiles } from './with-pipeline.js';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(resolve(root, path), 'utf8');
const REGENERATE =
  'Regenerate it: npx tsx src/config/write-reference.ts && npx biome format --write pipelines/pipeline.schema.json';

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

describe('docs/pipelines.md', () => {
  const text = read('docs/pipelines.md');
  const rows = new Map([...text.matchAll(/^\| `([^`]+)` \| (.*?) ?\|/gm)].map((row) => [row[1] ?? '', row[2] ?? '']));

  test('has the declared reference', () => {
    const written = replaceMarked(text, PIPELINE_REFERENCE, describePipeline());
    expect(text, 'Write it anew: npx tsx src/config/write-reference.ts').toBe(written);
  });

  test('lists every key and no removed key', () => {
    const keys = [...pipelineKeys().keys()];
    expect(keys.filter((key) => !rows.has(key))).toEqual([]);
    const named = [...Object.keys(DEFAULT_FRESHNESS), ...stages.map(({ name }) => name)];
    const others = new Set([...keys, ...named, ...SHIPPED]);
    expect([...rows.keys()].filter((key) => !others.has(key))).toEqual([]);
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

  test('shows refusals as they are printed', () => {
    const shown = /```\n(pipelines\/mine\.yaml: [\s\S]+?)\n```/.exec(text)?.[1]?.split('\n') ?? [];
    const mine = 'stages: [record, finacials]\nserach: {}\ndeadline: 10s\n';
    const printed = withFiles(
      { 'pipelines/mine.yaml': mine },
      (cwd) => refusal(() => loadPipeline('mine', cwd)).message,
    );
    expect(shown.sort()).toEqual(printed.split('\n').sort());
  });
});

function isSection(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
