import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ItemChange } from '../../../src/domain/change.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { begin, buy, call, keyOf, NOW, type Place, refused, settlement } from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

const SUBJECT = { space: 'v1', id: '77' } as const;
const VERSION = 3;

const bought = async (ledger: Ledger, place: Place, body: string, request = 'record') => {
  const asked = call(place, { requestKey: keyOf(request), subject: SUBJECT });
  return (await buy(ledger, asked, settlement({ body: Buffer.from(body), answer: { params: `{"of":"${request}"}` } })))
    .id;
};

const change = (now: string): ItemChange => ({
  table: 'companies',
  key: { v1_company_id: '77' },
  kind: 'changed',
  fields: [{ column: 'name', old: 'a', new: now }],
});

export function describeChanges(open: OpenLedger): void {
  describe('answers that replace others', () => {
    test(
      'are listed with the one before until compared, and again for another reader version',
      onLedger(open, async (ledger) => {
        const { changes } = ledger;
        const place = await begin(ledger);
        const first = await bought(ledger, place, '1');
        expect(await changes.toCompare(VERSION, 10)).toEqual([]);
        await buy(ledger, call(place, { requestKey: keyOf('record'), subject: SUBJECT }), refused());
        const second = await bought(ledger, place, '2');
        const [answer, ...more] = await changes.toCompare(VERSION, 10);
        expect(more).toEqual([]);
        expect(answer).toMatchObject({ callId: second, replaces: first, ...SUBJECT, rawSha256: hash('sha256', '2') });
        expect(await changes.find(first)).toMatchObject({ replaces: null, rawSha256: hash('sha256', '1') });
        expect(await changes.waiting(VERSION)).toBe(1);
        if (answer === undefined) return;
        await changes.note([{ answer, items: [], oldRawSha256: hash('sha256', '1') }], VERSION, NOW);
        expect(await changes.toCompare(VERSION, 10)).toEqual([]);
        expect(await changes.toCompare(VERSION + 1, 10)).toEqual([answer]);
      }),
    );

    test(
      'are read beside the other answers of that time',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        const bodies = async (before: number) => {
          const of = await ledger.changes.find(first);
          if (of === undefined) throw new Error('the call is gone');
          const past = await ledger.changes.answersBefore(of, ['fullKyb'], before);
          return await Promise.all(past.map(async ({ rawSha256 }) => String(await ledger.changes.body(rawSha256))));
        };
        const first = await bought(ledger, place, 'a1');
        const other = await bought(ledger, place, 'b1', 'profile');
        const second = await bought(ledger, place, 'a2');
        await bought(ledger, place, 'b2', 'profile');
        expect(await bodies(other)).toEqual(['a1']);
        expect(await bodies(second)).toEqual(['a1', 'b1']);
        expect((await bodies(second + 1)).sort()).toEqual(['a2', 'b1']);
      }),
    );

    test(
      'are listed with all others to the same operation, in request order',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        const first = await bought(ledger, place, 'a1');
        const other = await bought(ledger, place, 'b1', 'profile');
        await buy(ledger, call(place, { requestKey: keyOf('record'), subject: SUBJECT }), refused());
        const second = await bought(ledger, place, 'a2');
        const of = await ledger.changes.find(second);
        if (of === undefined) throw new Error('the call is gone');
        const like = await ledger.changes.answersLike(of);
        expect(like.map(({ callId, replaces }) => [callId, replaces])).toEqual([
          [first, null],
          [other, null],
          [second, first],
        ]);
        expect(like.map(({ rawSha256 }) => rawSha256)).toEqual(['a1', 'b1', 'a2'].map((body) => hash('sha256', body)));
      }),
    );

    test(
      'an unchanged comparison keeps its number, and a different one gets a new number',
      onLedger(open, async (ledger) => {
        const { changes } = ledger;
        const place = await begin(ledger);
        await bought(ledger, place, '1');
        await bought(ledger, place, '2');
        const [answer] = await changes.toCompare(VERSION, 10);
        if (answer === undefined) throw new Error('there is nothing to compare');
        const note = async (items: readonly ItemChange[] | null, version: number) => {
          await changes.note([{ answer, items, oldRawSha256: hash('sha256', '1') }], version, NOW);
          return (await changes.list({ limit: 10 })).last;
        };
        const noted = await note([change('b')], VERSION);
        expect(await note([change('b')], VERSION + 1)).toBe(noted);
        expect(await note(null, VERSION + 2)).toBe(noted);
        expect(await note([change('c')], VERSION + 3)).toBeGreaterThan(noted);
        // A company without a row in the portfolio.
        expect((await changes.list({ limit: 10 })).changes).toEqual([]);
      }),
    );
  });
}
