import { type Pipeline, stagesTold } from '../config/pipeline.js';
import type { IdSpace } from '../domain/id-spaces.js';

/** What stages are told otherwise than in a run before. */
export interface ToldOtherwise {
  /** Stages that were done, and would be given other answers. */
  readonly stages: ReadonlySet<string>;
  /** ID spaces whose IDs were, or would be, another one's. */
  readonly spaces: readonly IdSpace[];
}

export const TOLD_THE_SAME: ToldOtherwise = { stages: new Set(), spaces: [] };

/**
 * `others`: what runs about the same list were told, the latest last. A stage that a run did not have is missing, or was done
 * by one of those: by the latest that had it.
 */
export function toldOtherwise(before: Pipeline, now: Pipeline, others: readonly Pipeline[] = []): ToldOtherwise {
  const told = new Map([...others, before].flatMap(stagesTold).map(({ stage, words }) => [stage.name, words]));
  const spaces = sharedOtherwise(before.idsShared, now.idsShared);
  const planned = stagesTold(now).filter(({ stage }) => told.has(stage.name));
  const otherwise = planned.filter(
    ({ stage, words }) => told.get(stage.name) !== words || spaces.includes(stage.space),
  );
  return { stages: new Set(otherwise.map(({ stage }) => stage.name)), spaces };
}

/** What v1 has confirmed stays: the others are held against it. */
function sharedOtherwise(before: readonly IdSpace[], now: readonly IdSpace[]): readonly IdSpace[] {
  const [were, are] = [new Set(before), new Set(now)];
  if (were.size === are.size && before.every((space) => are.has(space))) return [];
  return [...new Set([...were, ...are])].filter((space) => space !== 'v1');
}
