import { describe, expect, test } from 'vitest';
import { ID_SPACES } from '../../../src/domain/provider.js';
import { begin, buy, call, candidate, collect, NOW, openRun, rowSettlement, useOf, withSnapshot } from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

const confirmed = (space: (typeof ID_SPACES)[number], id: string) => ({ space, id, grade: null, matchedOn: null });

export function describeSettledRows(open: OpenLedger): void {
  describe('finished rows', () => {
    test(
      'are stored with all their results, and stored again as if for the first time',
      onLedger(open, async (ledger, { reopen }) => {
        const run = await openRun(ledger, 2);
        const place = await begin(ledger, run);
        const bought = call(place, { runId: run, row: 1, stage: 'record' });
        await buy(ledger, bought);
        const question = {
          space: 'v1' as const,
          stage: null,
          environmentId: place.environmentId,
          entityKey: 'GB|number:1',
          candidateId: null,
          code: 'NAME_ONLY',
          message: 'only the name is known',
          answered: false,
          askedAt: NOW,
        };
        const error = {
          stage: 'record',
          class: 'fail_row',
          code: 'X',
          message: 'it failed',
          requestId: 'req_1',
          attempts: 3,
          at: NOW,
        };
        const state = {
          outcome: 'needs_review',
          stage: 'confirm',
          stages: { record: 'pending' },
          matchGrade: 'AAZAZ',
          matchedOn: 'registration_number',
          errorCode: 'NAME_ONLY',
          errorMessage: 'only the name is known',
          updatedAt: NOW + 1,
        } as const;
        await ledger.runs.settleRow(
          run,
          1,
          rowSettlement(state, {
            ids: [confirmed('v1', '5'), confirmed('v2', '6')],
            candidates: [
              { space: 'v1', seen: [candidate('5', { decision: 'confirmed' }), candidate('4')] },
              { space: 'credit', seen: [candidate('c')] },
            ],
            questions: [question],
            errors: [error],
            uses: [useOf(bought)],
          }),
        );
        const second = await reopen();
        expect(await second.runs.row(run, 1)).toMatchObject({ ...state, unitsCharged: 1 });
        const seen = () =>
          withSnapshot(second, run, async (snapshot) => {
            const candidates = await collect(snapshot.candidates());
            const errors = await collect(snapshot.errors());
            const calls = await collect(snapshot.calls());
            const questions = await second.review.questions([run]);
            return {
              candidates: candidates.map(({ row, space, position, id }) => [row, space, position, id].join(' ')),
              errors: errors.map(({ row, code, attempts }) => [row, code, attempts].join(' ')),
              calls: calls.map(({ charge }) => charge),
              questions: questions.map(({ code, open }) => `${code} ${open}`),
            };
          });
        expect(await seen()).toEqual({
          candidates: ['1 credit 1 c', '1 v1 1 5', '1 v1 2 4'],
          errors: ['1 X 3'],
          calls: ['charged', 'owned'],
          questions: ['NAME_ONLY true'],
        });
        const again = {
          ids: [confirmed('v2', '7')],
          candidates: [{ space: 'v1' as const, seen: [candidate('9')] }],
          questions: [{ ...question, code: 'NAME_CONFLICT' }],
          errors: [{ ...error, code: 'Y' }],
          uses: [useOf(bought)],
        };
        await second.runs.settleRow(run, 1, rowSettlement({ outcome: 'complete' }, again));
        const row = await second.runs.row(run, 1);
        expect(row).toMatchObject({ ...rowSettlement({ outcome: 'complete' }).checkpoint, unitsCharged: 1 });
        expect(row?.ids.map(({ space, id }) => `${space} ${id}`)).toEqual(['v2 7']);
        // Events stay. IDs and questions are replaced in the spaces that were processed.
        expect(await seen()).toEqual({
          candidates: ['1 credit 1 c', '1 v1 1 9'],
          errors: ['1 X 3', '1 Y 3'],
          calls: ['charged', 'owned', 'owned'],
          questions: ['NAME_CONFLICT false'],
        });
        expect(await second.runs.row(run, 2)).toMatchObject({ outcome: 'pending', ids: [] });
      }),
    );

    test(
      'V1-17 have IDs as text: leading zeros and more digits than a double holds survive',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const texts = ['9007199254740993123', '007', '1e5', '0x10', 'GB-X-00765e', ' ü'];
        const ids = ID_SPACES.map((space, index) => confirmed(space, texts[index] ?? ''));
        await ledger.runs.settleRow(run, 1, rowSettlement({}, { ids }));
        const found = (await ledger.runs.row(run, 1))?.ids ?? [];
        const inOrder = ID_SPACES.map((space) => found.find((id) => id.space === space));
        expect(inOrder).toEqual(ids.map((id) => ({ ...id, candidate: null })));
      }),
    );

    test(
      'have IDs with the facts of the search, if there was one',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const v1 = { space: 'v1', id: '5', grade: 'AAAAA', matchedOn: 'vat_number' } as const;
        const facts = { registrationNumber: '01', vatNumber: 'GB1', state: 'X', jurisdiction: 'Y' };
        await ledger.runs.settleRow(
          run,
          1,
          rowSettlement(
            {},
            {
              ids: [v1, confirmed('v2', '5')],
              candidates: [
                // A search may list a company twice.
                { space: 'v1', seen: [candidate('4'), candidate('5', facts), candidate('5', { name: 'Again' })] },
                { space: 'v2', seen: [candidate('4')] },
              ],
            },
          ),
        );
        const { ids } = (await ledger.runs.row(run, 1)) ?? { ids: [] };
        expect(ids).toHaveLength(2);
        expect(ids.find(({ space }) => space === 'v1')).toEqual({
          ...v1,
          candidate: {
            id: '5',
            name: 'Company 5',
            registration_number: '01',
            vat_number: 'GB1',
            country_code: 'GB',
            state: 'X',
            jurisdiction: 'Y',
          },
        });
        expect(ids.find(({ space }) => space === 'v2')).toMatchObject({ id: '5', candidate: null });
      }),
    );
  });
}
