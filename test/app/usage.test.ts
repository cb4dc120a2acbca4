import { expect, test } from 'vitest';
import { usage } from '../../src/app/admin/usage.js';
import { call } from '../../src/app/provider/call.js';
import { usageInWords, usageJson } from '../../src/cli/commands/usage.js';
import { toJson } from '../../src/util/view-json.js';
import { present } from '../engine/support.js';
import { inLines } from '../helpers/messages.js';
import { codesOf, refusal, withOffice } from './support.js';

test('units are shown by day, operation and run, with direct calls on their own line', async () => {
  await withOffice({}, async ({ sandbox, environment, companies, run, ledger }) => {
    await ledger(async () => {});
    expect(codesOf(usageInWords(await usage({}, environment)))).toEqual(['NO_CALL_YET']);
    const { id } = await run(companies(2));
    const params = { id: present(companies(1)[0]).v1Id };
    await call({ api: 'v1', operation: 'officersKyb', params }, environment);
    await call({ api: 'v1', operation: 'officersKyb', params }, environment);
    const view = await usage({}, environment);
    expect(view.byRun).toEqual([
      { key: id, api: 'v1', calls: 4, owned: 0, unitsCharged: 4, reports: 0, unknown: 0 },
      { key: '(by hand)', api: 'v1', calls: 1, owned: 1, unitsCharged: 1, reports: 0, unknown: 0 },
    ]);
    expect(view.byOperation.map(({ key, unitsCharged }) => [key, unitsCharged])).toEqual([
      ['fullKyb', 2],
      ['officersKyb', 1],
      ['searchKyb', 2],
    ]);
    expect(view.byDay).toMatchObject([{ api: 'v1', calls: 5, owned: 1, unitsCharged: 5 }]);
    expect(sandbox.chargeLog.reduce((sum, { units }) => sum + units, 0)).toBe(5);
    expect(codesOf(usageInWords(view))).toEqual([
      'USAGE_BY_DAY',
      'USAGE_BY_OPERATION',
      'USAGE_BY_RUN',
      'ALLOWANCE',
      'ALLOWANCE',
      'EVERY_CHARGE_KNOWN',
    ]);
    expect(view.environments[0]).toMatchObject({ driftUnits: 0, notCompared: null, unknownCalls: 0 });
    const [first] = view.environments;
    const told = (more: object) => inLines(usageInWords({ ...view, environments: [{ ...present(first), ...more }] }));
    expect(told({ unknownCalls: 2 })).toMatch(/ provider.* 2 calls /);
    expect(told({ unknownCalls: 1, driftUnits: 3 })).toMatch(/\b3 units more /);
    expect(told({ notCompared: 'renewed' })).not.toBe(told({}));
    expect(told({ notCompared: 'under_way', driftUnits: 2 })).toMatch(/\b2 units more/);
    expect(JSON.parse(JSON.stringify(view))).toEqual(view);
  });
});

test('calls with unknown charge are counted, and listed up to a limit', async () => {
  await withOffice({}, async ({ sandbox, environment, companies }) => {
    sandbox.script({ operation: 'liteKyb' }, ['lostAnswer', 'lostAnswer', 'lostAnswer']);
    for (const { v1Id } of companies(3))
      await refusal(call({ api: 'v1', operation: 'liteKyb', params: { id: v1Id } }, environment));
    const view = await usage({ unknownAtMost: 2 }, environment);
    expect(view.unknownCalls).toHaveLength(2);
    expect(view.environments).toMatchObject([{ api: 'v1', unknownCalls: 3 }]);
    // `charges` lists the calls.
    expect(codesOf(usageInWords(view)).at(-1)).toBe('CHARGES_UNKNOWN');
    expect(view.unknownCalls[0]).toMatchObject({ id: 3, operation: 'liteKyb', errorCode: 'CONNECTION_LOST' });
    expect(toJson(usageJson(await usage({}, environment)))).toMatchObject({
      unknown_calls: [{ call: 3 }, { call: 2 }, { call: 1 }],
      environments: [{ api: 'v1', unknown_calls: 3 }],
    });
  });
});

test('units that a lost call or another user may have used are shown at once', async () => {
  await withOffice({}, async ({ sandbox, environment, companies }) => {
    const ask = (index: number) => {
      const params = { id: present(companies(9)[index]).v1Id };
      return call({ api: 'v1', operation: 'liteKyb', params }, environment);
    };
    const told = async () => toJson(usageJson(await usage({}, environment)).environments);
    await ask(0);
    expect(await told()).toMatchObject([{ drift_units: 0, not_compared: null, unknown_calls: 0 }]);
    sandbox.script({ operation: 'liteKyb' }, ['lostAnswer']);
    await refusal(ask(1));
    expect(await told()).toMatchObject([{ drift_units: 0, not_compared: null, waits_for_call: 2, unknown_calls: 1 }]);
    const stranger = { authorization: `Bearer ${environment.env.KYBATCH_V1_API_KEY}` };
    for (const { v1Id } of companies(9).slice(5, 8))
      await fetch(`${environment.env.KYBATCH_V1_BASE_URL}/kyb/${v1Id}/lite`, { headers: stranger });
    await ask(2);
    expect(await told()).toMatchObject([
      { drift_units: 4, not_compared: null, waits_for_call: null, unknown_calls: 1 },
    ]);
  });
});
