import type { Progress, RunRecord } from '../ledger/runs.js';
import { looksFresh } from './stored-settings.js';

/** A run, for people and scripts. */
export interface RunView
  extends Pick<RunRecord, 'id' | 'state' | 'inputPath' | 'pipelineName' | 'rowCount' | 'createdAt' | 'finishedAt'> {
  /** Answers from before the run are not used. */
  readonly fresh: boolean;
  /** It brings a portfolio up to date: its rows go on in later runs. */
  readonly isOfPortfolio: boolean;
}

export interface RunStanding {
  readonly run: RunView;
  readonly progress: Progress;
}

export function viewOf(run: RunRecord): RunView {
  const { id, state, inputPath, pipelineName, rowCount, createdAt, finishedAt } = run;
  return {
    id,
    state,
    inputPath,
    pipelineName,
    rowCount,
    createdAt,
    finishedAt,
    fresh: looksFresh(run),
    isOfPortfolio: run.portfolioId !== null,
  };
}
