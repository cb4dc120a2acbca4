import type { Operation } from '../api/operation.js';
import { searchesOf } from '../stages/identity/space-search.js';
import { stages } from '../stages/list.js';
import { configureStage, type Stage } from '../stages/stage.js';
import type { Marks } from '../util/marked-part.js';
import { DEFAULT_FRESHNESS, pipelineKeys } from './pipeline-schema.js';

/** The marks around the reference in `docs/pipelines.md`. */
export const PIPELINE_REFERENCE: Marks = {
  start: '<!-- reference: written by `npx tsx src/config/write-reference.ts` -->',
  end: '<!-- end of reference -->',
};

/** The reference of stages, keys and freshness, from their declarations. */
export const describePipeline = (): string =>
  [
    '## Stages',
    '',
    'What can be bought for each confirmed company. Each needs the company confirmed in its own ID space first.',
    '',
    '| stage | buys | ID space | asks for, at most as often a row |',
    '|---|---|---|---|',
    ...stages.map((stage) => describeStage(configureStage(stage, undefined))),
    '',
    '## Every key',
    '',
    '`stages` must be there; everything else may be left out.',
    '',
    '| key | default | meaning |',
    '|---|---|---|',
    ...[...pipelineKeys()].map(
      ([key, { default: standard, description = '' }]) => `| \`${key}\` | ${shown(standard)} | ${description}. |`,
    ),
    '',
    '## Freshness',
    '',
    'An answer younger than this is used again and costs nothing, in any later row, file or run.',
    '',
    '| operation | default |',
    '|---|---|',
    ...Object.entries(DEFAULT_FRESHNESS).map(([operation, freshness]) => `| \`${operation}\` | \`${freshness}\` |`),
    '',
  ].join('\n');

function describeStage({ name, summary, space, calls }: Stage): string {
  const asked = searchesOf(space)
    .map((search) => `${described(search)} (as \`search.attempts\` says)`)
    .concat(calls.map(({ operation, atMost }) => `${described(operation)}${atMost === 1 ? '' : ` (${atMost})`}`));
  return `| \`${name}\` | ${summary} | ${space} | ${asked.join(', ')} |`;
}

const described = ({ name, meter }: Operation): string => `\`${name}\`: ${METERS[meter]}`;

const METERS = { unit: '1 unit', report: '1 report', not_told: 'price not told', free: 'free' } as const;

function shown(standard: unknown): string {
  if (standard === undefined || (typeof standard === 'object' && standard !== null && !Array.isArray(standard)))
    return '';
  return `\`${Array.isArray(standard) ? `[${standard.join(', ')}]` : String(standard)}\``;
}
