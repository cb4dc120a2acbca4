import { v1Operations } from '../api/v1/operations.js';
import { buyModules, callsOf, type Module } from './modules.js';
import { type RecordModule, type RecordOptions, recordOptions } from './record-options.js';
import { stage } from './stage.js';

const { fullKyb, liteKyb, officersKyb, shareholdersKyb, groupFullKyb, financialKyb } = v1Operations;

const full: Module = { operation: fullKyb, identity: 'lite' };
const modules: Readonly<Record<RecordModule, Module>> = {
  lite: { operation: liteKyb, identity: 'whole' },
  officers: { operation: officersKyb },
  shareholders: { operation: shareholdersKyb },
  group: { operation: groupFullKyb, tree: 'data' },
  financial: { operation: financialKyb, tells: ['years', 'groups'] },
};

/** The lists of a full record have no envelope, so whether they are complete is not known: those by themselves tell (V1-26). */
const modulesOf = ({ modules: wanted, allPages }: RecordOptions): readonly Module[] => {
  if (wanted !== 'full') return wanted.map((name) => modules[name]);
  return allPages ? [full, modules.officers, modules.shareholders] : [full];
};

const pagesOf = ({ allPages, pagesAtMost }: RecordOptions): number => (allPages ? pagesAtMost : 1);

/** Buys the record of the confirmed company, whole or in parts, and compares its own number once more. */
export const recordStage = stage({
  name: 'record',
  summary:
    'The full record of the company (v1), or the modules of it that are named, compared once more with what was confirmed',
  space: 'v1',
  comparesCandidate: true,
  ages: [fullKyb],
  calls: callsOf([full], 1),
  options: recordOptions,
  fitted: (options) => {
    const wanted = modulesOf(options);
    return { ages: wanted.map(({ operation }) => operation), calls: callsOf(wanted, pagesOf(options)) };
  },
  run: (company, context) => {
    const { options } = context;
    const asking = { stage: 'record', space: 'v1', pagesAtMost: pagesOf(options) } as const;
    return buyModules(modulesOf(options), asking, company, context);
  },
});
