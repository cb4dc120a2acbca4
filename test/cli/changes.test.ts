import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { inLedger } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { aRecord, type EndJson, type Job, jsonOf, withJob } from './here.js';

const DAY = 86_400_000;
const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--no-export', '--concurrency', '1'];

interface ChangesJson {
  readonly changes: readonly Readonly<Record<string, string>>[];
  readonly next_since: string;
  readonly more: boolean;
}

interface Years extends Job {
  readonly clock: JumpingClock;
  readonly runs: readonly string[];
  readonly json: (...flags: string[]) => Promise<ChangesJson>;
}

/** Two companies: one was dissolved on 13 January. The other got a note, and a new officer on 21 January. */
async function withChanges(use: (years: Years) => Promise<void>): Promise<void> {
  const clock = new JumpingClock('2026-01-05T01:00:00Z');
  await withJob({ clock, pipeline: ['stages: [record]', 'freshness: {fullKyb: 7d}'] }, async (job) => {
    const { sandbox, writeCsv, rows, kybatch } = job;
    writeCsv('in.csv', rows.slice(0, 2));
    const runs: string[] = [];
    const night = async () => {
      runs.push(jsonOf<EndJson>(await kybatch(RUN)).run);
      clock.advance(8 * DAY);
    };
    await night();
    const status = (body: string) => body.replace(/"status":\s*"[^"]*"/, '"status":"dissolved"');
    const note = (body: string) => body.replace(/^\{/, '{"note":"a\\nb",');
    sandbox.script(aRecord, [{ rewrite: status }, { rewrite: note }]);
    await night();
    const officer = (body: string) =>
      body.replace(
        /"officers":\s*\[/,
        '"officers":[{"id":424242,"first_name":"Ann","last_name":"Lee","job_title":"Chair"},',
      );
    sandbox.script(aRecord, [{ rewrite: status }, { rewrite: (body) => note(officer(body)) }]);
    await night();
    const json = async (...flags: string[]) => jsonOf<ChangesJson>(await kybatch(['changes', '--json', ...flags]));
    await use({ ...job, clock, runs, json });
  });
}

test('for people: one block per company, important changes first, with commands for the raw answers', () =>
  withChanges(async ({ kybatch, json }) => {
    const { stdout, stderr, code, codes, textOf } = await kybatch(['changes']);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(codes).toEqual(['COMPANY_CHANGED', 'COMPANY_CHANGED', 'CHANGES_NOT_SHOWN']);
    expect(stdout).toMatch(
      /^.+: ID .+, \w+ [12] \(line [23]\), in\.csv\n {2}2026-01-13 {2}companies\.status: .+ → dissolved\n/m,
    );
    expect(stdout).toMatch(/ {2}2026-01-21 {2}officers: .*Ann Lee, job_title Chair\n/);
    expect(textOf('CHANGES_NOT_SHOWN')).toMatch(/^2 .*--all/);
    const all = (await kybatch(['changes', '--all'])).stdout;
    expect(all).toMatch(/companies\.extra\.note: .* → "a\\nb"/);
    expect(all).toMatch(/companies\.officers_returned: \d+ → \d+/);
    const [first] = (await json()).changes;
    const command =
      new RegExp(`kybatch (changes --raw ${first?.old_raw_sha256?.slice(0, 16)})`).exec(stdout)?.[1] ?? '';
    const raw = await kybatch(command.split(' '));
    expect(JSON.parse(raw.stdout)).toMatchObject({ lite: { status: first?.old_value } });
    expect(await kybatch(['changes', '--raw', '00000000'])).toMatchObject({ code: 2 });
  }));

long('the last line counts the changes that only --all shows', () => {
  const clock = new JumpingClock('2026-01-05T01:00:00Z');
  const pipeline = ['stages: [record]', 'freshness: {fullKyb: 7d}'];
  return withJob({ clock, pipeline }, async ({ sandbox, rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    writeCsv('other.csv', rows.slice(0, 1));
    const [, , ...flags] = RUN;
    const night = async () => {
      for (const file of ['in.csv', 'other.csv']) await kybatch(['run', file, ...flags]);
      clock.advance(8 * DAY);
    };
    await night();
    // One answer: two fields of the company that matter, two that do not.
    const says = (body: string) =>
      body
        .replace(/"name":\s*"[^"]*"/, '"name":"Named Anew"')
        .replace(/"status":\s*"[^"]*"/, '"status":"dissolved"')
        .replace(/^\{/, '{"note":"a","remark":"b",');
    sandbox.script(aRecord, [{ rewrite: says }]);
    await night();
    // Headings use the current name of the company. The change has its earlier name.
    const headings = (await kybatch(['changes', '--since', '2026-01-10'])).stdout.match(/^\S.*: ID .*$/gm);
    expect(headings).toEqual([expect.stringMatching(/^Named Anew: /), expect.stringMatching(/^Named Anew: /)]);
    const linesOf = async (...words: string[]) =>
      (await kybatch(['changes', ...words])).stdout.split('\n').filter((line) => /^ {2}\d{4}-/.test(line)).length;
    const lastLine = async (...words: string[]) =>
      (await kybatch(['changes', ...words])).stdout.trimEnd().split('\n').at(-1);
    const lastCode = async (...words: string[]) => (await kybatch(['changes', ...words])).codes.at(-1);
    for (const words of [[], ['in.csv'], ['--since', '2026-01-10']]) {
      const left = (await linesOf(...words, '--all')) - (await linesOf(...words));
      expect(left).toBe(words[0] === 'in.csv' ? 2 : 4);
      expect(await lastCode(...words)).toBe('CHANGES_NOT_SHOWN');
      expect(await lastLine(...words)).toMatch(new RegExp(`^${left} .*--all`));
    }
    expect(await lastLine('--all')).toMatch(/^ +after /);
    expect(await lastCode('--since', '2027-01-01')).toBe('NOTHING_CHANGED');
  });
});

long('for loaders: later changes only, and none twice', () =>
  withChanges(async ({ json, runs, kybatch, sandbox, rows, writeCsv, clock }) => {
    const all = await json();
    expect(all.changes.map(({ column, important }) => `${column} ${important}`)).toEqual(
      expect.arrayContaining(['status true', 'extra.note false', 'officers_returned false', 'null true']),
    );
    expect(all.more).toBe(false);
    expect(await json('--since', all.next_since)).toMatchObject({ changes: [], next_since: all.next_since });
    const first = all.changes.filter(({ run }) => run === runs[1]);
    const later = all.changes.filter(({ run }) => run === runs[2]);
    expect(first.length).toBeGreaterThan(0);
    expect((await json('--since', runs[2] ?? '')).changes).toEqual(later);
    expect((await json('--since', '2026-01-14')).changes).toEqual(later);
    expect(await json('--since', '2027-01-01')).toMatchObject({ changes: [], next_since: all.next_since });
    expect(await json('in.csv')).toEqual(all);
    writeCsv('in.csv', rows.slice(0, 2));
    sandbox.clearScript();
    await kybatch(RUN);
    clock.advance(DAY);
    const after = await json('--since', all.next_since);
    expect(after.changes.map(({ column }) => column)).toContain('status');
    expect(after.changes).toHaveLength((await json()).changes.length - all.changes.length);
  }),
);

long('a wrong date, run or portfolio is refused', () =>
  withChanges(async ({ kybatch }) => {
    for (const [refusal, ...words] of [
      ['DATE_INVALID', '--since', '2026-13-01'],
      ['RUN_NOT_FOUND', '--since', 'yesterday'],
      ['PORTFOLIO_NOT_FOUND', 'nothing'],
    ])
      expect(await kybatch(['changes', ...words])).toMatchObject({ code: 2, codes: [refusal] });
  }),
);

long('answers not compared yet are reported, and compared by the next run', () =>
  withChanges(async ({ kybatch, cwd, json }) => {
    const all = await json();
    for (const statement of 'DELETE FROM changes; UPDATE calls SET compared = 0'.split('; '))
      await inLedger(join(cwd, 'data'), statement);
    const waiting = await kybatch(['changes']);
    expect(waiting).toMatchObject({ code: 0, codes: ['CHANGES_NOT_COMPARED'] });
    expect(waiting.stdout).toMatch(/^4 /);
    expect(await json()).toMatchObject({ changes: [], not_compared: 4 });
    expect((await kybatch(['export'])).textOf('CHANGES_NOT_COMPARED')).toContain(' 4 ');
    await kybatch(RUN);
    const again = (await json()).changes;
    expect(again.slice(0, all.changes.length)).toEqual(all.changes);
  }),
);
