/** @module-tag long */
import { expect, test } from 'vitest';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { type EndJson, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json'];

test('X-2 a provider under another base URL counts as another, and nothing is bought there without consent', async () => {
  await withJob({}, async ({ rows, writeCsv, kybatch, env, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 2));
    const first = await kybatch(RUN);
    expect(first.codes).not.toContain('OWNED_ELSEWHERE');
    const v1 = sandbox.v1BaseUrl;
    const other = v1.replace('127.0.0.1', 'localhost');
    const renamed = { env: { ...env, KYBATCH_V1_BASE_URL: other } };
    const told = new RegExp(` v1: 4 .* ${v1}, 0 .* ${other}\\..* KYBATCH_V1_BASE_URL to ${v1}\\. `);
    const plan = ['plan', 'in.csv', '--pipeline', './p.yaml'];
    expect((await kybatch(plan, renamed)).textOf('OWNED_ELSEWHERE')).toMatch(told);
    // The next night would be refused, so this is more than a note.
    const checked = await kybatch(['doctor'], renamed);
    expect(checked.code).toBe(2);
    expect(checked.codes).toContain('GUARD_NEW_PROVIDER_FAIL');
    expect(checked.textOf('DOCTOR_PROBLEMS')).toContain(`--from ${v1} --to ${other}`);
    const paid = sandbox.chargeLog.length;
    expect((await kybatch(RUN, renamed)).code).toBe(2);
    expect(sandbox.chargeLog).toHaveLength(paid);
    const again = await kybatch([...RUN, '--accept', 'new_provider'], renamed);
    expect(again.textOf('OWNED_ELSEWHERE')).toMatch(told);
    expect(jsonOf<EndJson>(again)).toMatchObject({ outcomes: { complete: 2 } });
    expect(sandbox.chargeLog).toHaveLength(paid + 4);
    // An equal number of answers is stored there now, so kybatch prints no note and buys nothing.
    const both = await kybatch(['doctor'], renamed);
    expect(both.codes.filter((code) => /^OWNED_ELSEWHERE$|^GUARD_/.test(code))).toEqual([]);
  });
});

test('X-2 a direct call gives this note, too, and the sandbox gives none', async () => {
  await withJob({}, async ({ rows, writeCsv, kybatch, env, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    await kybatch(RUN);
    const renamed = { env: { ...env, KYBATCH_V1_BASE_URL: sandbox.v1BaseUrl.replace('127.0.0.1', 'localhost') } };
    const search = ['call', 'v1', 'searchKyb', '--params', '{"location":"GB","name":"Acme"}'];
    expect((await kybatch(search, renamed)).textOf('OWNED_ELSEWHERE')).toContain(' v1: 2 ');
    expect((await kybatch(['plan', 'in.csv', '--sandbox'])).codes).not.toContain('OWNED_ELSEWHERE');
  });
});

// In a shared ledger, a run that was created seconds ago may still begin elsewhere.
test.skipIf(isOnPostgres).each([
  ['run', RUN],
  ['resume', ['resume', '--yes', '--json']],
])('a list that was refused for a typo in the base URL stays one list after the correction and %s', (_, corrected) =>
  withJob({}, async ({ rows, writeCsv, kybatch, env, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 2));
    const typo = { env: { ...env, KYBATCH_V1_BASE_URL: `${sandbox.v1BaseUrl}1` } };
    expect((await kybatch(RUN, typo)).code).toBe(2);
    expect((await kybatch(corrected)).code).toBe(0);
    expect((await kybatch(RUN)).codes).toContain('NOTHING_DUE');
    const { portfolios } = jsonOf<{ portfolios: object[] }>(await kybatch(['portfolios', '--json']));
    expect(portfolios).toHaveLength(1);
  }),
);
