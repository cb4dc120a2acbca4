import { resolve } from 'node:path';
import type { Operation } from '../../../src/api/operation.js';
import { loadPipeline } from '../../../src/config/pipeline.js';
import { DEFAULT_FRESHNESS, pipelineKeys } from '../../../src/config/pipeline-schema.js';
import { searchesOf } from '../../../src/stages/identity/space-search.js';
import { stages } from '../../../src/stages/list.js';
import { configureStage, type Stage } from '../../../src/stages/stage.js';
import { asSentence, GENERATED, markdownTable, page } from './markdown.js';

const ROOT = resolve(import.meta.dirname, '../../..');

/** The pipelines that come with kybatch, each with its reader. */
const SHIPPED: Readonly<Record<string, string>> = {
  analyst: 'A person with a list, who waits for the result. The default.',
  nightly: 'A nightly job that keeps a portfolio up to date.',
  backfill: 'A large list, once, fast.',
  onboarding: 'An onboarding team: the company, its owners, other posts of its people.',
  credit: 'A credit desk: figures and at most 500 credit reports an attempt.',
  sales: 'A sales team: size, industry, website and people. v2 only.',
};

export const describePipeline = (): string =>
  page(
    '# Pipeline files',
    GENERATED,
    [
      'A pipeline says what to buy, how to search, and what an attempt may spend.',
      '`--pipeline NAME` looks for `pipelines/NAME.yaml` in the working directory, then among the shipped pipelines.',
      '`--pipeline ./mine.yaml` takes a file.',
    ].join(' '),
    '## Shipped pipelines',
    markdownTable(
      ['pipeline', 'for', 'stages', 'searches a row', 'calls at once'],
      Object.entries(SHIPPED).map(([name, reader]) => {
        const { stages: bought, search, concurrency } = loadPipeline(name, ROOT);
        return [`\`${name}\``, reader, bought.join(', '), String(search.attempts), String(concurrency)];
      }),
    ),
    [
      'To make your own, copy one into the folder `pipelines` of your working directory and change it.',
      'Copy `pipeline.schema.json` too: editors with YAML support then complete keys and mark mistakes.',
      'If a file has mistakes, kybatch lists all of them and spends nothing.',
    ].join(' '),
    '## Stages',
    'A stage is one kind of data. Before it buys, kybatch confirms the company in the ID space of the stage.',
    markdownTable(
      ['stage', 'buys', 'ID space'],
      stages.map(({ name, summary, space }) => [`[\`${name}\`](#${name})`, asSentence(summary), `\`${space}\``]),
    ),
    ...stages.flatMap((stage) => describeStage(configureStage(stage, undefined))),
    '## Keys',
    '`stages` is required. Every other key is optional. Durations are written as `500ms`, `5s`, `30m`, `12h` or `30d`.',
    ...sections(),
    '## When two files are the same pipeline',
    [
      '`kybatch run` continues an unfinished run if list and pipeline are the same. Otherwise it begins a new run, which takes over.',
      'These keys make another pipeline: `stages`, `search`, `match`, `freshness`, `provenance`, `ids_shared`, `columns`, and the options of its stages.',
      'Limits, speed, waiting times, comments and notifications do not. Stored answers stay in any case.',
    ].join(' '),
    '## Freshness',
    [
      'If an answer is younger than this, kybatch uses it again, free, in any later row, list or run.',
      'The key `freshness` changes the default: `freshness: {fullKyb: 30d}`.',
      '`0` asks every time. `forever` never asks again.',
      'Operations that are not listed describe one moment and are never reused.',
    ].join(' '),
    markdownTable(
      ['operation', 'default'],
      Object.entries(DEFAULT_FRESHNESS).map(([operation, freshness]) => [`\`${operation}\``, `\`${freshness}\``]),
    ),
  );

function describeStage({ name, calls, space }: Stage): readonly string[] {
  const searched = searchesOf(space).map((search) => [
    `\`${search.name}\``,
    METERS[search.meter],
    'as `search.attempts` says',
  ]);
  const called = calls.map(({ operation, atMost }: { readonly operation: Operation; readonly atMost: number }) => [
    `\`${operation.name}\``,
    METERS[operation.meter],
    String(atMost),
  ]);
  return [`### ${name}`, markdownTable(['call', 'price', 'at most a row'], [...searched, ...called])];
}

const METERS = { unit: '1 unit', report: '1 credit report', not_told: 'not published', free: 'free' } as const;

/** A heading for each section of the file. Keys outside of sections come first. */
function sections(): readonly string[] {
  const keys = [...pipelineKeys()];
  const tops = keys.filter(([key]) => !key.includes('.'));
  const below = (top: string) => keys.filter(([key]) => key.startsWith(`${top}.`));
  const single = tops.filter(([key]) => below(key).length === 0);
  return [
    keyTable(single),
    ...tops
      .filter(([key]) => below(key).length > 0)
      .flatMap(([key, { description = '' }]) => [`### ${key}:`, asSentence(description), keyTable(below(key))]),
  ];
}

type Keys = readonly (readonly [string, { readonly default?: unknown; readonly description?: string }])[];

const keyTable = (keys: Keys): string =>
  markdownTable(
    ['key', 'default', 'meaning'],
    keys.map(([key, { default: standard, description = '' }]) => [
      `\`${key}\``,
      shown(standard),
      asSentence(description),
    ]),
  );

function shown(standard: unknown): string {
  if (standard === undefined || (typeof standard === 'object' && standard !== null && !Array.isArray(standard)))
    return '';
  return `\`${Array.isArray(standard) ? `[${standard.join(', ')}]` : String(standard)}\``;
}
