import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadPipeline } from '../../src/config/pipeline.js';
import { stages } from '../../src/stages/list.js';
import { long } from '../helpers/long.js';
import { load, loadWith, problemsWith, refusal, SHIPPED, withFiles } from './with-pipeline.js';

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

  test('an unknown name gets a suggestion and the list', () => {
    withFiles({ 'pipelines/mine.yaml': '', 'pipelines/notes.txt': '' }, (cwd) => {
      const error = refusal(() => loadPipeline('nigthly', cwd));
      expect(error.message).toBe('There is no pipeline named "nigthly". Did you mean nightly?');
      expect(error.hint).toContain('There are: analyst, backfill, credit, mine, nightly, onboarding, sales.');
    });
  });

  test.each([
    ['nowhere.yaml', 'nowhere.yaml cannot be read (ENOENT)'],
    ['./pipelines', 'pipelines cannot be read (EISDIR)'],
    ['', 'There is no pipeline named "".'],
    ['pipelines', 'There is no pipeline named "pipelines".'],
  ])('refuses %j', (given, message) => {
    withFiles({ 'pipelines/mine.yaml': '' }, (cwd) => {
      expect(refusal(() => loadPipeline(given, cwd)).message).toBe(message);
    });
  });
});

test('a file named pipelines in the working directory is no folder of pipelines', () => {
  withFiles({ pipelines: 'a note' }, (cwd) => {
    expect(loadPipeline('analyst', cwd).name).toBe('analyst');
    expect(refusal(() => loadPipeline('mine', cwd)).hint).toContain(
      'There are: analyst, backfill, credit, nightly, onboarding, sales.',
    );
  });
});

describe('problems', () => {
  test('are all reported at once, each with file, key and value', () => {
    const { message, hint } = refusal(() =>
      load('stages: [record, finacials]\nserach: {attempts: 3}\nsearch: {attempts: 9, ordre: [name]}\nattempts: 3\n'),
    );
    expect(message.split('\n').sort()).toEqual([
      'p.yaml: attempts: unknown key. Did you mean search.attempts or retry.attempts?',
      'p.yaml: search.attempts: must be a whole number from 1 to 5, got 9.',
      'p.yaml: search.ordre: unknown key. Did you mean order?',
      'p.yaml: serach: unknown key. Did you mean search?',
      `p.yaml: stages.1: must be one of ${stages.map(({ name }) => name).join(', ')}, got "finacials". Did you mean financials?`,
    ]);
    expect(hint).toBe('docs/pipelines.md lists every key with its default.');
  });

  test('a long value is shortened', () => {
    expect(problemsWith(`in_doubt: ${'x'.repeat(500)}`)[0]?.length).toBeLessThan(150);
  });

  test.each<[what: string, text: string, message: string]>([
    ['nothing', '', 'p.yaml: the file must hold keys of its own, got nothing'],
    ['comments alone', '# nothing yet\n', 'p.yaml: the file must hold keys of its own, got nothing'],
    ['a list', '- record', 'p.yaml: the file must hold keys of its own, got a list of 1'],
    ['a word', 'record', 'p.yaml: the file must hold keys of its own, got "record"'],
    ['a bad indent', 'stages: [record]\nsearch:\n  attempts: 2\n order: [name]\n', 'p.yaml: line 4, column 1: '],
    ['an open bracket', 'stages: [record\nconcurrency: 4\n', 'p.yaml: line 2, column 1: '],
    ['a key given twice', 'stages: [a]\nstages: [b]\n', 'p.yaml: line 2, column 1: Map keys must be unique'],
    ['two documents', 'stages: [record]\n---\nstages: [record]\n', 'p.yaml: line 2, column 1: '],
    ['a tag nobody knows', 'stages: !mine [record]\n', 'p.yaml: line 1, column 9: Unresolved tag: !mine'],
    ['an alias of nothing', 'stages: *all\n', 'p.yaml: '],
    ['an alias of itself', 'stages: &all [*all]\n', 'p.yaml: stages.0: '],
    ['an alias bomb', bomb(), 'p.yaml: '],
    ['a file without stages', 'concurrency: 4', 'p.yaml: stages: is missing; it must be a list'],
    ['no stage', 'stages: []', 'p.yaml: stages: must have at least one entry, got an empty list.'],
    ['a stage alone', 'stages: record', 'p.yaml: stages: must be a list, got "record".'],
    ['a stage twice', 'stages: [record, record]', 'p.yaml: stages: must not name anything twice, got a list of 2.'],
    ['an unknown stage', 'stages: [credit_report]', 'got "credit_report". Did you mean credit-report?'],
  ])('%s is refused', (_, text, message) => {
    expect(refusal(() => load(text)).message).toContain(message);
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
            expect(refusal(() => loadPipeline('p.yaml', cwd)).message).toMatch(/^p\.yaml: /);
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
    ['a higher budget', first.replace('5', '6')],
    ['another speed', `${first}concurrency: 3\nretry: {attempts: 2}\n`],
    ['a default spelled out', `${first}concurrency: 16\nretry: {base: 500ms}\n`],
    ['a fallback to nobody', `${first}search: {fallback: []}\n`],
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
