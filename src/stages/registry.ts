import type { z } from 'zod';
import { v2Operations } from '../api/v2/operations.js';
import { choice, inCamelCase, integerWithin, section, uniqueList, yesOrNo } from '../domain/options.js';
import { buyModules, callsOf, type Module } from './modules.js';
import { inOrder, pagesAtMost } from './record.js';
import { type Params, type Stage, type StageContext, stage } from './stage.js';

const MODULES = ['lite', 'officers', 'shareholders', 'financial'] as const;
type RegistryModule = (typeof MODULES)[number];

export const registryModules: Readonly<Record<RegistryModule, Module>> = {
  lite: { operation: v2Operations.kybLite, identity: 'whole' },
  officers: { operation: v2Operations.kybOfficers, lists: ['data'] },
  shareholders: { operation: v2Operations.kybShareholders, sharedId: 'data' },
  financial: { operation: v2Operations.kybFinancial, tells: ['years', 'groups'] },
};

const schema = section({
  modules: uniqueList(choice(MODULES))
    .default([...MODULES])
    .describe('The modules to buy. With `lite`, kybatch compares the number again'),
  all_pages: yesOrNo().default(true).describe('Buy every page of officers and shareholders, not only the first'),
  pages_at_most: pagesAtMost('The price of a page is not published'),
  per_page: integerWithin(1, 1000)
    .nullable()
    .default(null)
    .describe('Lines of a page, 1 to 1000. `null` leaves it to the provider'),
})
  .transform((file) => ({ ...inCamelCase(file), modules: inOrder(MODULES, file.modules) }))
  .prefault({})
  .describe('Registry data of v2');

type RegistryOptions = z.output<typeof schema>;

const wanted = ({ modules: names }: RegistryOptions): readonly Module[] => names.map((name) => registryModules[name]);
const pagesOf = ({ allPages, pagesAtMost: most }: RegistryOptions): number => (allPages ? most : 1);
const DEFAULTS = schema.parse(undefined);

/** The parameters of v2's lists, so that other stages ask the same and reuse the answers. */
export const registryListParams = ({ optionsOf }: Pick<StageContext, 'optionsOf'>): Params =>
  listParams((optionsOf(registryStage) as RegistryOptions | undefined) ?? DEFAULTS);

const listParams = ({ perPage }: RegistryOptions): Params => (perPage === null ? {} : { per_page: perPage });

/** Registry data from v2, for accounts without v1 or in addition to it. */
export const registryStage: Stage = stage({
  name: 'registry',
  summary: 'Profile, officers, shareholders and filed statements from registries (v2)',
  space: 'v2',
  comparesCandidate: true,
  ages: wanted(DEFAULTS).map(({ operation }) => operation),
  calls: callsOf(wanted(DEFAULTS), pagesOf(DEFAULTS)),
  options: { key: 'registry', schema, decisive: (options) => options },
  configure: (options) => ({
    ages: wanted(options).map(({ operation }) => operation),
    calls: callsOf(wanted(options), pagesOf(options)),
  }),
  run: (company, context) => {
    const { options } = context;
    const asking = { stage: 'registry', space: 'v2', pagesAtMost: pagesOf(options) } as const;
    return buyModules(wanted(options), { ...asking, listParams: listParams(options) }, company, context);
  },
});
