import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadPipeline } from '../../src/config/pipeline.js';
import { pipelineNames } from '../../src/config/user-files.js';
import { expectGolden } from '../helpers/golden.js';
import { long } from '../helpers/long.js';
import { load, loadWith, problemsOf, refusal, SHIPPED, withFiles } from './with-pipeline.js';

const packaged = resolve(import.meta.dirname, '../../pipelines');
const elsewhere = resolve(packaged, '..', 'src');

describe('finding a pipeline', () => {
  test.each(SHIPPED)('%s is found from anywhere', (name) => {
    expect(loadPipeline(name, elsewhere)).toMatchObject({ name, file: join(packaged, `${name}.yaml`) });
  });

  test('every shipped file loads, has a description and differs from the others', () => {
    const files = readdirSync(packaged).filter((file) => file.endsWith('.yaml'));
    expect(files.sort()).toEqual(SHIPPED.map((name) => `${name}.yaml`).sort());
    const loaded = files.map((file) => loadPipeline(join(packaged, file), elsewhere));
    expect(new Set(loaded.map(({ sha256 }) => sha256)).size).toBe(SHIPPED.length);
    expect(loaded.map(({ description }) => description)).not.toContain('');
  });

  test('the working directory overrides the packaged pipelines', () => {
    withFiles({ 'pipelines/nightly.yaml': 'stages: [credit-report]' }, (cwd) => {
      expect(loadPipeline('nightly', cwd)).toMatchObject({
        stages: ['credit-report'],
        file: join(cwd, 'pipelines/nightly.yaml'),
      });
      expect(loadPipeline('analyst', cwd).file).toBe(join(packaged, 'analyst.yaml'));
    });
  });

  test.each(['mine.yaml', './mine.yaml', 'sub/mine.yml', 'mine.json'])('%s is a path', (path) => {
    const text = path.endsWith('json') ? '{"stages": ["record"]}' : 'stages: [record]';
    withFiles({ [path]: text }, (cwd) => {
      expect(loadPipeline(path, cwd)).toMatchObject({ name: 'mine', file: resolve(cwd, path) });
    });
  });

  const NAMES = ['analyst', 'backfill', 'credit', 'nightly', 'onboarding', 'sales'];
  test.each<[given: string, code: string, files: Readonly<Record<string, string>>, names: readonly string[]]>([
    ['nowhere.yaml', 'FILE_UNREADABLE', {}, NAMES],
    ['./pipelines', 'FILE_UNREADABLE', { 'pipelines/mine.yaml': '' }, ['mine', ...NAMES]],
    ['', 'PIPELINE_NOT_FOUND', {}, NAMES],
    ['pipelines', 'PIPELINE_NOT_FOUND', { 'pipelines/mine.yaml': '' }, ['mine', ...NAMES]],
    ['nigthly', 'PIPELINE_NOT_FOUND', { 'pipelines/mine.yaml': '', 'pipelines/notes.txt': '' }, ['mine', ...NAMES]],
    // A file named pipelines is no folder of pipelines.
    ['mine', 'PIPELINE_NOT_FOUND', { pipelines: 'a note' }, NAMES],
  ])('refuses %j', (given, code, files, names) => {
    withFiles(files, (cwd) => {
      expect(refusal(() => loadPipeline(given, cwd)).code).toBe(code);
      expect(pipelineNames(cwd)).toEqual(names.toSorted());
      expect(loadPipeline('analyst', cwd).name).toBe('analyst');
    });
  });

  test('an unknown name gets a suggestion and the list', async () => {
    const { message, hint } = withFiles({}, (cwd) => refusal(() => loadPipeline('nigthly', cwd)));
    await expectGolden('pipeline-not-found', [['nigthly', [message, hint].join('\n')]]);
  });
});

describe('problems', () => {
  test('a long value is shortened', () => {
    expect(refusal(() => loadWith(`in_doubt: ${'x'.repeat(500)}`)).message.length).toBeLessThan(200);
  });

  /** The code, and the key of the one problem, if it has one. */
  const REFUSED: readonly [what: string, text: string, code: string, key?: string][] = [
    ['nothing', '', 'PIPELINE_INVALID'],
    ['comments alone', '# nothing yet\n', 'PIPELINE_INVALID'],
    ['a list', '- record', 'PIPELINE_INVALID'],
    ['a word', 'record', 'PIPELINE_INVALID'],
    ['a bad indent', 'stages: [record]\nsearch:\n  attempts: 2\n order: [name]\n', 'YAML_INVALID'],
    ['an open bracket', 'stages: [record\nconcurrency: 4\n', 'YAML_INVALID'],
    ['a key given twice', 'stages: [a]\nstages: [b]\n', 'YAML_INVALID'],
    ['two documents', 'stages: [record]\n---\nstages: [record]\n', 'YAML_INVALID'],
    ['an unknown tag', 'stages: !mine [record]\n', 'YAML_INVALID'],
    ['an alias of nothing', 'stages: *all\n', 'YAML_INVALID'],
    ['an alias of itself', 'stages: &all [*all]\n', 'PIPELINE_INVALID', 'stages.0'],
    ['an alias bomb', bomb(), 'YAML_INVALID'],
    ['a file without stages', 'concurrency: 4', 'PIPELINE_INVALID', 'stages'],
    ['no stage', 'stages: []', 'PIPELINE_INVALID', 'stages'],
    ['a stage alone', 'stages: record', 'PIPELINE_INVALID', 'stages'],
    ['a stage twice', 'stages: [record, record]', 'PIPELINE_INVALID', 'stages'],
    ['an unknown stage', 'stages: [credit_report]', 'PIPELINE_INVALID', 'stages.0'],
    [
      'a file with several problems',
      'stages: [record, finacials]\nserach: {attempts: 3}\nsearch: {attempts: 9, ordre: [name]}\nattempts: 3\n',
      'PIPELINE_INVALID',
      'stages.1 serach search.attempts search.ordre attempts',
    ],
  ];

  test.each(REFUSED)('%s is refused', (_, text, code, keys) => {
    const problems = problemsOf(text);
    expect(problems[0]?.code).toBe(code);
    expect(problems.map(({ key }) => key ?? '').join(' ')).toBe(keys ?? '');
  });

  test('are explained, with file, key or line, and value', async () => {
    await expectGolden(
      'pipeline-files',
      REFUSED.map(([what, text]) => [what, refusal(() => load(text)).message]),
    );
  });

  long('any text is a pipeline or refused with the name of the file', () => {
    const line = fc.oneof(
      fc.constantFrom('stages: [record]', 'search:', '  attempts: 3', 'concurrency: 0', '- x', '__proto__: {}', '"'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 5 }), (lines) => {
        const text = lines.join('\n');
        withFiles({ 'p.yaml': text }, (cwd) => {
          try {
            loadPipeline('p.yaml', cwd);
          } catch {
            expect(refusal(() => loadPipeline('p.yaml', cwd)).message).toMatch(/\bp\.yaml\b/);
          }
        });
      }),
    );
  });
});

describe('sha256', () => {
  const first = 'stages: [record, financials]\nbudget: {units: 5}\nfreshness: {fullKyb: 1d, searchKyb: forever}\n';
  const { sha256 } = load(first);

  test.each([
    ['comments', `# mine\n${first}# end\n`],
    ['the description', `description: Mine\n${first}`],
    ['the order of keys', first.trim().split('\n').reverse().join('\n')],
    ['the order of stages', first.replace('record, financials', 'financials, record')],
    ['the order inside a map', first.replace('fullKyb: 1d, searchKyb: forever', 'searchKyb: forever, fullKyb: 1d')],
    ['another way to write a duration', first.replace('1d', '24h')],
    ['a higher limit', first.replace('5', '6')],
    ['another speed', `${first}concurrency: 3\nretry: {attempts: 2}\n`],
    ['a default spelled out', `${first}concurrency: 16\nretry: {base: 500ms}\n`],
    ['an empty fallback', `${first}search: {fallback: []}\n`],
    ['a BOM and Windows line ends', `\uFEFF${first.replaceAll('\n', '\r\n')}`],
    ['another file name', first],
  ])('%s make no other pipeline', (_, text) => {
    expect(withFiles({ 'q.yaml': text }, (cwd) => loadPipeline('./q.yaml', cwd).sha256)).toBe(sha256);
  });

  test.each([
    ['a stage', first.replace(', financials', '')],
    ['a freshness', first.replace('forever', '0')],
    ['the order of searches', `${first}search: {order: [name, vat_number, registration_number]}\n`],
    ['a fallback', `${first}search: {fallback: [lookup]}\n`],
    ['a header', `${first}columns: {name: [Firma]}\n`],
  ])('%s makes another pipeline', (_, text) => {
    expect(load(text).sha256).not.toBe(sha256);
  });
});

test('a pipeline is deeply frozen', () => {
  const pipeline = loadWith('permissions: {kyb: [kybSearch]}\ncolumns: {name: [Firma]}');
  const parts: unknown[] = [pipeline];
  for (const part of parts) {
    if (typeof part !== 'object' || part === null) continue;
    expect(Object.isFrozen(part)).toBe(true);
    parts.push(...Object.values(part));
  }
  expect(parts.length).toBeGreaterThan(40);
});

function bomb(): string {
  const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`);
  return ['a0: &a0 [x, x, x]', ...levels].join('\n');
}
