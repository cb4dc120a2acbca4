import { integerWithin, section } from '../../src/domain/options.js';
import { requireIdentified, stage, withoutAnswer } from '../../src/stages/stage.js';
import { licence } from './licence-operation.js';

/** The stage file of a made-up module. */
export const licenceStage = stage({
  name: 'trade-licence',
  summary: 'The licence to trade (v2)',
  space: 'v2',
  ages: [licence.licence],
  calls: [{ operation: licence.licence, atMost: 1 }],
  options: {
    key: 'trade_licence',
    schema: section({ year: integerWithin(1990, 2100).default(2024).describe('The year that the licence is for') })
      .prefault({})
      .describe('Which licence is asked for'),
    decisive: (options) => options,
  },
  async run(company, context) {
    const { year } = context.options;
    const outcome = await context.call(licence.licence, { id: requireIdentified(company, 'v2').id, year });
    return outcome.kind === 'answer' ? { kind: 'done' } : withoutAnswer(outcome);
  },
});
