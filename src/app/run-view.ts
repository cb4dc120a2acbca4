import type { Progress, RunRecord } from '../ledger/runs.js';

/** A run, for people and scripts. */
export type RunView = Pick<
  RunRecord,
  'id' | 'state' | 'inputPath' | 'pipelineName' | 'rowCount' | 'createdAt' | 'finishedAt'
>;

export interface RunStanding {
  readonly run: RunView;
  readonly progress: Progress;
}

export const viewOf = ({
  id,
  state,
  inputPath,
  pipelineName,
  rowCount,
  createdAt,
  finishedAt,
}: RunRecord): RunView => ({ id, state, inputPath, pipelineName, rowCount, createdAt, finishedAt });
