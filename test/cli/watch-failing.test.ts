/** @module-tag long */
import { expect, test } from 'vitest';
import { type Job, jsonOf } from './here.js';
import { withWatched } from './with-watched.js';

const DAY = 86_400_000;
const PULL = ['watch', 'pull', '--json'];

interface PullJson {
  readonly companies_read: number;
  readonly events: number;
  readonly left: number;
  readonly stopped: { readonly code: string } | null;
  readonly troubles: readonly { readonly v2_company_id: string }[];
}

/** From now on the histories of these companies are refused. */
function deny({ sandbox }: Pick<Job, 'sandbox'>, ids: readonly string[]): void {
  const isDenied = ({ operation, path }: { operation: string | undefined; path: string }) =>
    operation === 'watchHistory' && ids.some((id) => path.includes(`/${id}/`));
  sandbox.script(
    isDenied,
    Array.from({ length: 200 }, () => 500),
  );
}

const namedIn = ({ troubles }: PullJson) => troubles.map(({ v2_company_id: id }) => id).sort();

test('a few failing histories do not stop the others, and are requested once a pull', () =>
  withWatched(20, async (job) => {
    const { kybatch, sandbox, clock, ids } = job;
    const ill = [...ids].sort().slice(0, 4);
    deny(job, ill);
    const asked = () => sandbox.requests.get('watchHistory') ?? 0;
    const calls: number[] = [];
    for (let night = 1; night <= 3; night++) {
      const before = asked();
      clock.advance(DAY);
      const pulled = await kybatch(PULL);
      const view = jsonOf<PullJson>(pulled);
      expect([pulled.code, view]).toMatchObject([3, { companies_read: 16, left: 0, stopped: null }]);
      expect(namedIn(view)).toEqual(ill);
      calls.push(asked() - before);
    }
    // The first time, kybatch does not know that a second try fails, too.
    expect(calls).toEqual([24, 20, 20]);
    sandbox.clearScript();
    clock.advance(DAY);
    expect(jsonOf(await kybatch(PULL))).toMatchObject({ companies_read: 20, troubles: [] });
  }));

test('if many fail in a row, the watch is considered down, and the next pull begins with the others', () =>
  withWatched(40, async (job) => {
    const { kybatch, sandbox, clock, ids } = job;
    const ill = [...ids].sort().slice(0, 13);
    deny(job, ill);
    const down = await kybatch(PULL);
    expect(down.code).toBe(6);
    expect(jsonOf<PullJson>(down).stopped).toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
    const pulls: PullJson[] = [];
    for (let night = 1; night <= 3; night++) {
      clock.advance(DAY);
      const pull = jsonOf<PullJson>(await kybatch(PULL));
      expect(pull.companies_read).toBe(27);
      expect(pull.left + pull.troubles.length).toBe(13);
      pulls.push(pull);
    }
    // The company that waited longest is tried next, so all of them get their turn.
    expect(new Set(pulls.flatMap(namedIn)).size).toBe(13);
    sandbox.clearScript();
  }));
