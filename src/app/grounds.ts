import type { Ledger } from '../ledger/ledger.js';
import type { GroundsOfRun, StageGround } from '../ledger/taken-back.js';
import { stages } from '../stages/list.js';
import { fitted } from '../stages/stage.js';
import { findSettings } from './stored-settings.js';

/** What rests on what in each run, with every stage: what another pipeline has settled for a row is in its run, too. */
export async function groundsOfRuns({ runs }: Pick<Ledger, 'runs'>): Promise<GroundsOfRun> {
  const pipelines = new Map((await runs.all()).map((run) => [run.id, findSettings(run)?.pipeline]));
  return (runId) => {
    const { options, idsShared = [] } = pipelines.get(runId) ?? {};
    const asTold = (stage: (typeof stages)[number]): StageGround => {
      const { name, space, finds = [], additional = false } = fitted(stage, options?.[stage.name]);
      return { name, space, finds, additional };
    };
    return { stages: stages.map(asTold), idsShared };
  };
}
