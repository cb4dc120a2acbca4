/** @module-tag long */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Company } from '../../src/sandbox/registry/types.js';
import { findAnywhere } from '../../src/sandbox/v2/operation.js';
import { wholeCompanies } from '../engine/support.js';
import { bytesOf, inLedger } from '../helpers/ledger-place.js';
import { DAY, type Nights, withNights } from './nights.js';

const inputOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber ?? '',
});

/** Companies with shareholders that the ownership module answers without a question. */
function ownedCompanies({ sandbox }: Nights): readonly Company[] {
  const { registry } = sandbox;
  return wholeCompanies(sandbox, 60).filter(
    (one) =>
      findAnywhere(registry, { registrationNumber: one.registrationNumber ?? '' }, 'forgiving', 1)[0]?.index ===
        one.index && (one.registrationNumber ?? '').length > 5,
  );
}

/** The remaining requests and answers of the ownership module. */
async function ofOwnership(cwd: string) {
  const all = async (sql: string) => (await inLedger<{ one: string }>(join(cwd, 'data'), sql)).map(({ one }) => one);
  return {
    answers: await all("SELECT params AS one FROM calls WHERE operation = 'ownership' AND raw_sha256 IS NOT NULL"),
    companies: await all("SELECT id AS one FROM member_companies WHERE space = 'ownership'"),
  };
}

const PIPELINE = ['stages: [record, ownership]', 'freshness: {fullKyb: 5d, ownership: 5d}'];

describe('purge --entity after a run that failed before the ownership stage', () => {
  test.each(['number', 'v1', 'v2'] as const)('by %s it removes the answers of earlier runs', (by) =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, kybatch, clock, cwd } = nights;
        const [gone, stays] = ownedCompanies(nights);
        if (gone === undefined || stays === undefined) throw new Error('two companies');
        writeCsv('in.csv', [gone, stays].map(inputOf));
        expect(await night()).toMatchObject({ code: 0 });
        clock.advance(7 * DAY);
        sandbox.script(({ path }) => path.includes(`/kyb/${gone.v1Id}/`), [400]);
        expect(await night()).toMatchObject({ end: { outcomes: { complete: 1, failed: 1 } } });

        const entity = {
          number: `${gone.countryCode}:${gone.registrationNumber}`,
          v1: `v1:${gone.v1Id}`,
          v2: `v2:${gone.v2Id}`,
        };
        const purged = await kybatch(['erase', '--entity', entity[by], '--yes']);
        expect(purged.code).toBe(0);
        expect(purged.codes).toContain('PURGE_PROVED');
        const { answers, companies } = await ofOwnership(cwd);
        expect(companies).toEqual([stays.registrationNumber]);
        expect(new Set(answers)).toEqual(new Set([JSON.stringify({ registration_number: stays.registrationNumber })]));
        expect(await bytesOf(join(cwd, 'data'))).not.toContain(gone.registrationNumber ?? '');
      },
      PIPELINE,
    ),
  );
});

test('a direct answer of the ownership module is removed with the number', () =>
  withNights(
    1,
    async (nights) => {
      const { kybatch, cwd } = nights;
      const [byHand] = ownedCompanies(nights);
      if (byHand === undefined) throw new Error('a company');
      const number = byHand.registrationNumber ?? '';
      await kybatch(['call', 'v2', 'ownership', '--params', JSON.stringify({ registration_number: number })]);
      expect((await ofOwnership(cwd)).answers).toHaveLength(1);
      const { code, codes } = await kybatch(['erase', '--entity', `${byHand.countryCode}:${number}`, '--yes']);
      expect(code).toBe(0);
      expect(codes).toContain('PURGE_PROVED');
      expect((await ofOwnership(cwd)).answers).toEqual([]);
    },
    PIPELINE,
  ));
