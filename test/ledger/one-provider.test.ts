import { expect, test } from 'vitest';
import { look, openAt, withDataDir, withLedger, writeOldLedger } from './sqlite-support.js';
import { begin, buy, call, doubtful, KEY, keyOf, NOW } from './support.js';

const URL_WITHOUT = 'https://provider.example/v1';

test('X-2 answers are found under any spelling of a base URL', async () => {
  await withLedger(async (ledger) => {
    const environmentId = await ledger.calls.environment('v1', 'https://Provider.example:443/v1/');
    const place = { ...(await begin(ledger)), environmentId };
    await buy(ledger, call(place));
    expect(await ledger.calls.environment('v1', URL_WITHOUT)).toBe(environmentId);
    expect(await ledger.calls.findEnvironment('v1', `${URL_WITHOUT}//`)).toBe(environmentId);
    // The other API at this address is another environment, and so is another path.
    expect(await ledger.calls.environment('v2', URL_WITHOUT)).not.toBe(environmentId);
    expect(await ledger.calls.environment('v1', `${URL_WITHOUT}/x`)).not.toBe(environmentId);
  });
});

const A = keyOf('asked under two spellings');
const B = keyOf('lost under one, answered under the other');

/** Three spellings of one provider, in a ledger that stored answers under each. */
const SPELT = `
  INSERT INTO environments VALUES (1, 'v1', '${URL_WITHOUT}/'), (2, 'v1', 'https://PROVIDER.example/v1'), (3, 'v2', '${URL_WITHOUT}'),
    (4, 'v1', '${URL_WITHOUT}'), (5, 'v1', 'sandbox:1');
  INSERT INTO runs VALUES ('r', 'in.csv', 's', 'p', 'p', '{}', '[]', 'open', 1, 1, NULL);
  INSERT INTO rows (run_id, row, line, input_values, fields, outcome) VALUES ('r', 1, 2, '[]', '{}', 'pending');
  INSERT INTO bodies VALUES (x'01', 'identity', 2, x'7b7d', ${NOW}), (x'02', 'identity', 2, x'5b5d', ${NOW});
  INSERT INTO calls (id, token, environment_id, run_id, operation, request_key, attempt, started_at, settled_at, charge, raw_sha256, params)
    VALUES (1, 't', 1, NULL, 'fullKyb', x'${A}', 1, ${NOW}, ${NOW}, 'charged', x'01', '{}'),
      (2, 't', 2, NULL, 'fullKyb', x'${A}', 1, ${NOW}, ${NOW}, 'charged', x'02', '{}'),
      (3, 't', 4, 'r', 'fullKyb', x'${KEY}', 1, ${NOW}, ${NOW}, 'charged', x'01', '{}'),
      (4, 't', 1, NULL, 'searchKyb', x'${B}', 1, ${NOW}, ${NOW}, 'unknown', NULL, NULL),
      (5, 't', 4, 'r', 'searchKyb', x'${B}', 1, ${NOW}, ${NOW}, 'charged', x'01', '{}'),
      (6, 't', 5, NULL, 'fullKyb', x'${A}', 1, ${NOW}, ${NOW}, 'charged', x'01', '{}');
  INSERT INTO answers VALUES (1, x'${A}', 1), (2, x'${A}', 2), (4, x'${KEY}', 3), (4, x'${B}', 5), (5, x'${A}', 6);
  INSERT INTO allowances (environment_id, observed_at, remaining_units, anchor_call_id, anchor_units, drift_units)
    VALUES (1, ${NOW - 9}, 90, 1, 90, 7), (4, ${NOW}, 70, 5, 70, 20), (5, ${NOW}, 5, 6, 5, 0);
  INSERT INTO questions VALUES ('r', 1, 'v1', 2, 'k', NULL, 'C', 'm', 0, ${NOW});
  INSERT INTO decisions (environment_id, entity_key, decision, decided_by, decided_at) VALUES (4, 'k', 'none_of_these', 'x', ${NOW});`;

test('X-2 a ledger with several spellings of one provider is merged into one', async () => {
  await withDataDir(async (dataDir) => {
    writeOldLedger(dataDir, SPELT);
    const ledger = await openAt(dataDir, 'existing');
    const id = (await ledger.calls.findEnvironment('v1', URL_WITHOUT)) ?? -1;
    expect((await ledger.calls.findAnswer(id, A, 0))?.callId).toBe(2);
    expect((await ledger.calls.findAnswer(id, KEY, 0))?.callId).toBe(3);
    expect((await ledger.calls.unknownCharges(doubtful(id, B))).lost).toBe(0);
    expect(await ledger.calls.allowance(id)).toMatchObject({ remainingUnits: 70, anchorCallId: null, driftUnits: 0 });
    expect(await ledger.runs.environmentName('r', 'v1')).toBe(URL_WITHOUT);
    expect(await ledger.review.decisionFor(id, { key: 'k' })).toMatchObject({ decision: 'none_of_these' });
    expect((await ledger.review.questions(['r']))[0]?.environmentId).toBe(id);
    await ledger.close();
    expect(look(dataDir, 'SELECT api, name FROM environments ORDER BY id')).toEqual([
      { api: 'v1', name: URL_WITHOUT },
      { api: 'v2', name: URL_WITHOUT },
      { api: 'v1', name: 'sandbox:1' },
    ]);
    expect(look(dataDir, 'SELECT count(*) AS owned FROM answers')).toEqual([{ owned: 4 }]);
    expect(look(dataDir, 'SELECT remaining_units FROM allowances WHERE anchor_units = 5')).toHaveLength(1);
    expect(look(dataDir, 'PRAGMA foreign_key_check')).toEqual([]);
    expect(look(dataDir, "SELECT name FROM sqlite_master WHERE name = 'spellings' OR name LIKE 'old_%'")).toEqual([]);
  });
});
