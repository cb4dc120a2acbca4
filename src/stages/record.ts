import { z } from 'zod';
import { v1Operations } from '../api/v1/operations.js';
import { choice, integerWithin, section, uniqueList, yesOrNo } from '../domain/options.js';
import { buyModules, callsOf, type Module } from './modules.js';
import { type StageOptions, stage } from './stage.js';

const { fullKyb, liteKyb, officersKyb, shareholdersKyb, groupFullKyb, financialKyb } = v1Operations;

const full: Module = {
  operation: fullKyb,
  identity: 'lite',
  parts: ['lite', 'financial'],
  lists: ['officers', 'group_structures_full'],
};
export const recordModules: Readonly<Record<RecordModule, Module>> = {
  lite: { operation: liteKyb, identity: 'whole' },
  officers: { operation: officersKyb, lists: ['data'] },
  shareholders: { operation: shareholdersKyb },
  group: { operation: groupFullKyb, tree: 'data' },
  financial: { operation: financialKyb, tells: ['years', 'groups'] },
};

/** The lists of a full record have no envelope, so only the separate lists show whether they are complete (V1-26). */
const modulesOf = ({ modules: wanted, allPages }: RecordOptions): readonly Module[] => {
  if (wanted !== 'full') return wanted.map((name) => recordModules[name]);
  return allPages ? [full, recordModules.officers, recordModules.shareholders] : [full];
};

const pagesOf = ({ allPages, pagesAtMost }: RecordOptions): number => (allPages ? pagesAtMost : 1);

/** Pages of one list. Each costs (V1-7). */
export const pagesAtMost = (what: string) =>
  integerWithin(1, 1000)
    .default(10)
    .describe(`The most pages of a list to buy, 1 to 1000. ${what}. If there are more, \`errors\` has PAGES_LEFT`);

/** In the order of the requests: the company's identity comes first. */
const MODULES = ['lite', 'officers', 'shareholders', 'group', 'financial'] as const;

/** The order in the file does not matter. */
export const inOrder = <Name extends string>(all: readonly Name[], wanted: readonly Name[]): readonly Name[] =>
  all.filter((name) => wanted.includes(name));

export const recordOptions: StageOptions<RecordOptions> = {
  key: 'record',
  schema: section({
    modules: z
      .union(
        [z.literal('full'), uniqueList(choice(MODULES))],
        `must be full, or a list of some of ${MODULES.join(', ')}`,
      )
      .default('full')
      .describe(
        '`full` buys everything in one call, for one unit, and needs a key with all three scopes. A list buys single modules, one unit for each module and page. With `full` or `lite`, kybatch compares the number again',
      ),
    all_pages: yesOrNo()
      .optional()
      .describe(
        'Buy every page of officers and shareholders, 50 lines each. The default is `true` for a list of modules. With `full`, `true` buys these two lists too, because the full record may not be complete',
      ),
    pages_at_most: pagesAtMost('Each costs a unit'),
  })
    .transform(
      (file): RecordOptions => ({
        modules: file.modules === 'full' ? 'full' : inOrder(MODULES, file.modules),
        allPages: file.all_pages ?? file.modules !== 'full',
        pagesAtMost: file.pages_at_most,
      }),
    )
    .prefault({})
    .describe('The parts of the record to buy'),
  decisive: ({ modules, allPages, pagesAtMost: most }) =>
    modules === 'full' && !allPages ? undefined : { modules, pages: allPages ? most : 1 },
};

export const recordStage = stage({
  name: 'record',
  summary: 'The record of the company, or some of its modules (v1). kybatch compares it with the confirmed company',
  space: 'v1',
  comparesCandidate: true,
  ages: [fullKyb],
  calls: callsOf([full], 1),
  options: recordOptions,
  configure: (options) => {
    const wanted = modulesOf(options);
    return { ages: wanted.map(({ operation }) => operation), calls: callsOf(wanted, pagesOf(options)) };
  },
  run: (company, context) => {
    const { options } = context;
    const asking = { stage: 'record', space: 'v1', pagesAtMost: pagesOf(options) } as const;
    return buyModules(modulesOf(options), asking, company, context);
  },
});

export type RecordModule = (typeof MODULES)[number];

export interface RecordOptions {
  readonly modules: 'full' | readonly RecordModule[];
  readonly allPages: boolean;
  readonly pagesAtMost: number;
}
