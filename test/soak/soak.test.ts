import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { environmentFor, withFolder } from '../helpers/cli.js';
import { withSandbox } from '../helpers/sandbox.js';
import { fillIn } from './analyst.js';
import { disagreements } from './books.js';
import { Dice, drawFeed, drawTrouble, type Feed, type Trouble } from './nights.js';
import { type Ended, Operator } from './operator.js';
import { Portfolio } from './portfolio.js';
import { TimeFile } from './time-file.js';

/** `npm run test:soak` uses ten years. */
const NIGHTS = Number(process.env.KYBATCH_SOAK_NIGHTS ?? 0);
const SEED = Number(process.env.KYBATCH_SOAK_SEED ?? 1);
/**
 * Companies at a time, of fifty that come and go. With these, ten years take less than ten minutes on two idle cores.
 */
const COMPANIES = 5;
const YEAR = 365;
const MONTH = 30;
const FORTNIGHT = 14;
const DAY = 86_400_000;
const HOUR = 3_600_000;
const START = Date.parse('2026-01-01T02:00:00Z');

const PIPELINE = `
stages: [record, financials, credit-report]
search: {attempts: 1}
freshness: {fullKyb: 7d, financial: 30d, searchKyb: 365d, kybSearch: 365d, creditReportSearch: 365d}
limits: {units: 40, credit_reports: 5}
concurrency: 4
patience: 30m
guards: {rows_lost: 30, failing_alike: 50}
`;
const FRESH_DAYS = { fullKyb: 7, financial: 30, searchKyb: 365, kybSearch: 365 };

/** The allowed exit codes of a night. */
const SETTLED = [0, 3];
const RESUMABLE = [4, 6];

test.runIf(NIGHTS > 0)(
  `${NIGHTS} nights: the ledger agrees with the provider's count, and no run is stuck`,
  { timeout: 3_600_000 },
  async () => {
    await withFolder(async (folder) => {
      const timeFile = join(folder, 'time');
      let heal: { at: number; now: () => void } | undefined;
      const clock = new TimeFile(timeFile, START, (now) => {
        if (heal === undefined || now < heal.at) return;
        const { now: healNow } = heal;
        heal = undefined;
        healNow();
      });
      await withSandbox(
        { clock, allowance: 1_000_000_000, reportDelayMs: { min: 0, max: 60_000 } },
        async ({ sandbox }) => {
          const cwd = join(folder, 'work');
          mkdirSync(cwd);
          writeFileSync(join(cwd, 'soak.yaml'), PIPELINE);
          const dice = new Dice(SEED);
          const portfolio = new Portfolio(cwd, sandbox, COMPANIES, dice);
          const operator = new Operator(timeFile, cwd);
          const env = environmentFor(sandbox);
          const began = performance.now();
          let now = START;
          const story: string[] = [];
          const order = async (
            args: readonly string[],
            killAfterMs: number | null = null,
            freeAfter: number | null = null,
          ) => {
            const ended = await operator.order({ args: [...args], env, now, freeAfter }, killAfterMs);
            if (ended !== undefined) now = Math.max(now, ended.now);
            story.push(
              `  ${args.join(' ')}: ${ended?.code ?? 'killed'}${ended === undefined ? '' : ` ${lastLine(ended)}`}`,
            );
            return ended;
          };
          const ail = ({ faults, forMs }: Trouble) => {
            sandbox.setFaults(faults);
            heal = forMs === null ? undefined : { at: now + forMs, now: () => sandbox.setFaults({}) };
          };
          try {
            for (let night = 1; night <= NIGHTS; night++) {
              now = START + night * DAY + (dice.roll() < 0.02 ? -5 * HOUR : 0);
              const feed = drawFeed(dice);
              const trouble = drawTrouble(dice);
              const revoked = dice.roll() < 0.01;
              const full = dice.roll() < 0.02;
              const killAfterMs = dice.roll() < 0.02 ? 5 + dice.upTo(120) : null;
              story.push(
                `night ${night}: file ${feed}, provider ${trouble.name}${revoked ? ', key revoked' : ''}${full ? ', disk full' : ''}`,
              );
              portfolio.deliver(feed);
              ail(trouble);
              if (revoked) sandbox.revoke(sandbox.keys.v1);
              const tables = dice.roll() < 0.2 ? [] : ['--no-export'];
              const ended = await order([...RUN, ...tables], killAfterMs, full ? dice.upTo(3) : null);
              if (revoked) sandbox.restore(sandbox.keys.v1);
              if (ended !== undefined)
                expect(allowed(feed, trouble, { revoked, full }), tell(story, ended)).toContain(ended.code);
              // In the morning an operator checks the run, or resumes it.
              const morning = dice.by(
                [
                  [0.05, ['resume', '--yes']],
                  [0.03, ['resume', '--failed', '--yes']],
                  [0.03, ['usage']],
                  [0.02, ['status']],
                  [0.02, ['doctor']],
                ],
                undefined,
              );
              if (morning !== undefined) await order(morning);
              if (night % FORTNIGHT === 0) await order(['review', 'export', '--out', 'review.csv', '--force']);
              if (night % FORTNIGHT === 5) await decide();
              if (night % MONTH === 0) await order(['prune', '--older-than', '90d', '--yes']);
              if (night % YEAR === 0 || night === NIGHTS) {
                await settleAll();
                expect(disagreements(join(cwd, 'data'), sandbox, FRESH_DAYS), story.slice(-40).join('\n')).toEqual([]);
                const done = `${operator.kills} kills, ${sandbox.chargeLog.length} charges, ${sandbox.reports.length} reports`;
                console.log(
                  `${night} nights (seed ${SEED}), ${done}: the books agree; ${inTime(night, performance.now() - began)}`,
                );
              }
            }
          } finally {
            await operator.close();
          }

          /** Later nights do not invalidate the sheet, and the waiting rows continue. */
          async function decide(): Promise<void> {
            if (!fillIn(join(cwd, 'review.csv'), dice)) return;
            const applied = await order(['review', 'apply', 'review.csv', '--json']);
            rmSync(join(cwd, 'review.csv'));
            expect(applied?.code, tell(story, applied)).toBe(0);
            const { next } = JSON.parse(applied?.stdout ?? '') as { next: string[] };
            for (const command of next) await order([...command.split(' ').slice(1), '--yes', '--no-export']);
          }

          /** Runs whose files have changed are resumed by name. */
          async function unfinished(): Promise<readonly string[]> {
            const { stdout = '{}' } = (await order(['runs', '--json'])) ?? {};
            const { runs } = JSON.parse(stdout) as { runs: { run: string; state: string }[] };
            return runs.filter(({ state }) => state !== 'finished').map(({ run, state }) => `${run} ${state}`);
          }

          async function pendingRows(): Promise<number | undefined> {
            const status = await order(['status', '--json']);
            return (JSON.parse(status?.stdout ?? '{}') as { outcomes?: Record<string, number> }).outcomes?.pending;
          }

          /** With a working provider, disk and file, every row is finished a few nights later. */
          async function settleAll(): Promise<void> {
            sandbox.setFaults({});
            heal = undefined;
            let ended: Ended | undefined;
            for (let tries = 0; tries < 6; tries++) {
              portfolio.deliver('same');
              ended = await order(RUN);
              // An operator decides unknown charges.
              await order(['charges', 'resend', '--yes']);
              if (ended !== undefined && SETTLED.includes(ended.code) && (await pendingRows()) === 0) break;
              now += DAY;
            }
            expect(SETTLED, tell(story, ended)).toContain(ended?.code);
            expect(await pendingRows(), tell(story, ended)).toBe(0);
            expect(readdirSync(join(cwd, 'data', 'exports')).length).toBeGreaterThan(0);
            // Limits cover one attempt, so a run may need several.
            for (let starts = 0; starts < 4; starts++)
              for (const open of await unfinished())
                await order(['resume', open.split(' ')[0] ?? '', '--yes', '--no-export']);
            // A run that was killed while it read a file that has changed since.
            now += 2 * DAY;
            await order(['prune', '--older-than', '1d', '--yes']);
            expect(await unfinished(), story.slice(-60).join('\n')).toEqual([]);
          }
        },
      );
    });
  },
);

const RUN = ['run', 'portfolio.csv', '--pipeline', './soak.yaml', '--yes'];

/** The duration, compared with the ten minutes that ten years may take on two idle cores. */
function inTime(nights: number, ms: number): string {
  const seconds = ms / 1000;
  const bound = (600 * nights) / (10 * YEAR);
  const off = Math.abs(bound - seconds).toFixed(0);
  return `${seconds.toFixed(0)} s, ${off} s ${seconds > bound ? 'OVER' : 'within'} the bound of ${bound.toFixed(0)} s`;
}

const lastLine = ({ stderr }: Ended): string => stderr.trim().split('\n').at(-1) ?? '';

const tell = (story: readonly string[], ended: Ended | undefined): string =>
  [...story.slice(-12), ended?.stderr ?? ''].join('\n');

function allowed(feed: Feed, trouble: Trouble, { revoked, full }: { revoked: boolean; full: boolean }): number[] {
  const broken = ['header only', 'rubbish', 'gone'].includes(feed);
  return [
    ...SETTLED,
    ...RESUMABLE,
    ...(broken || feed === 'half' ? [2] : []),
    ...(revoked ? [5] : []),
    ...(full ? [1] : []),
    ...(trouble.name === 'well' ? [] : [6]),
  ];
}
