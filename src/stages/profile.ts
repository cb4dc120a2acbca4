import { v1Operations } from '../api/v1/operations.js';
import { v2Operations } from '../api/v2/operations.js';
import { choice, section } from '../domain/options.js';
import { buyModules, callsOf, type Module } from './modules.js';
import { stage } from './stage.js';

interface ProfileOptions {
  readonly from: 'v1' | 'v2';
}

const profiles: Readonly<Record<ProfileOptions['from'], Module>> = {
  v1: { operation: v1Operations.liteKyb, identity: 'whole' },
  v2: { operation: v2Operations.kybLite, identity: 'whole' },
};

/** Address, website and other fields of a profile that the full record does not have: it lists eight fields (V1-26). */
export const profileStage = stage({
  name: 'profile',
  summary: 'Address and website (v1 or v2). kybatch compares them with the confirmed company',
  space: 'v1',
  comparesCandidate: true,
  ages: [profiles.v1.operation],
  calls: callsOf([profiles.v1], 1),
  options: {
    key: 'profile',
    schema: section({
      from: choice(['v1', 'v2']).default('v1').describe('The API of the profile. v1 costs a unit'),
    })
      .prefault({})
      .describe('The source of the profile'),
    decisive: (options: ProfileOptions) => options,
  },
  configure: ({ from }) => ({
    space: from,
    ages: [profiles[from].operation],
    calls: callsOf([profiles[from]], 1),
  }),
  run: (company, context) => {
    const { from } = context.options;
    return buyModules([profiles[from]], { stage: 'profile', space: from, pagesAtMost: 1 }, company, context);
  },
});
