// @module-tag long

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { cli, startCli, withFolder } from '../helpers/cli.js';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const RUN = ['--sandbox', '--yes', '--no-export', '--pipeline', 'backfill'];
const ROUNDS = 4;
/** Longer than the pause within which a key is dropped. */
const KEY_EVERY_MS = 900;

interface Given {
  readonly question: string;
  readonly by: string;
}

interface DecisionsJson {
  readonly decisions: readonly { readonly note: string | null; readonly decided_by: string }[];
}

interface QuestionJson {
  readonly question: string;
  readonly basis: string;
  readonly country_code: string | null;
  readonly candidates: readonly { readonly candidate: string }[];
}

test('two pages, a terminal review and a run lose no answer if any of them is killed', () =>
  withFolder(async (folder) => {
    await cli(['sandbox', 'sample', '--rows', '200', '--dirty', '--out', 'first.csv'], { cwd: folder });
    await cli(['sandbox', 'sample', '--rows', '900', '--country', 'GB', '--out', 'second.csv'], { cwd: folder });
    await cli(['run', 'first.csv', ...RUN], { cwd: folder });
    const { questions } = await readJson<{ questions: readonly QuestionJson[] }>(folder, ['review', 'list']);
    const forTerminal = questions.filter(({ country_code }) => country_code === 'DE');
    const forPages = questions.filter((one) => !forTerminal.includes(one));
    expect([forTerminal.length > ROUNDS, forPages.length >= 4 * ROUNDS]).toEqual([true, true]);

    const given: Given[] = [];
    let onTerminal = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = startCli(['run', 'second.csv', ...RUN], { cwd: folder });
      const pages = ['ann', 'ben'].map(async (by, place) => {
        const first = 4 * round + 2 * place;
        for (const question of await answerAndKill(folder, by, forPages.slice(first, first + 2)))
          given.push({ question, by });
      });
      await pages[0];
      run.child.kill('SIGKILL');
      onTerminal += await answerOnTerminal(folder);
      await Promise.all([...pages, run.finished]);
    }
    // Answers that still wait are recorded by the next run.
    expect((await cli(['run', 'second.csv', ...RUN], { cwd: folder })).code).toBe(0);
    expect(readdirSync(join(folder, 'data/answers'))).toEqual([]);
    const { decisions } = await readJson<DecisionsJson>(folder, ['review', 'decisions']);
    const recorded = decisions.map(({ note, decided_by }) => `${note} ${decided_by}`);
    expect(given).toHaveLength(4 * ROUNDS);
    const byOthers = recorded.filter((one) => !one.endsWith(' cleo'));
    expect(byOthers.sort()).toEqual(given.map(({ question, by }) => `${question} ${by}`).sort());
    expect(recorded.length - byOthers.length).toBeGreaterThanOrEqual(onTerminal);
    expect(onTerminal).toBeGreaterThan(0);
  }));

async function readJson<T>(folder: string, args: readonly string[]): Promise<T> {
  return JSON.parse((await cli([...args, '--json'], { cwd: folder })).stdout) as T;
}

/** Answers the questions on its own page, which is killed as soon as it has taken the last answer. */
async function answerAndKill(folder: string, by: string, questions: readonly QuestionJson[]): Promise<string[]> {
  const { child, finished } = startCli(['ui', '--sandbox', '--no-open', '--by', by], { cwd: folder });
  const link = String((await once(child.stdout ?? child, 'data'))[0]).trim();
  const entered = await fetch(link, { redirect: 'manual' });
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const { origin } = new URL(link);
  const taken: string[] = [];
  for (const { question } of questions) {
    const address = `${origin}/review/${question}`;
    const shown = await fetch(address, { headers: { cookie, accept: 'application/json' } });
    const { basis, candidates } = (await shown.json()) as QuestionJson;
    const answered = await fetch(`${address}/answer`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin },
      body: new URLSearchParams({
        choice: 'none_of_these',
        basis,
        shown: candidates.map(({ candidate }) => candidate).join(' '),
        note: question,
      }),
    });
    if (answered.headers.get('location') !== `/review/${question}`) taken.push(question);
  }
  child.kill('SIGKILL');
  await finished;
  return taken;
}

/** Answers a question on a terminal, and kills the command when it shows the next one. */
async function answerOnTerminal(folder: string): Promise<number> {
  for (;;) {
    const command = `exec ${process.execPath} ${MAIN} review --country DE --by cleo`;
    const terminal = spawn('script', ['-qfec', command, '/dev/null'], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, TERM: 'dumb' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const shown = await pressUntil(terminal, 2);
    // A page may have had the ledger for a moment.
    if (terminal.exitCode !== 75) return Math.max(0, shown - 1);
  }
}

/** Presses a key until this many questions were shown. Keys before the prompt are dropped. */
async function pressUntil(terminal: ChildProcess, questions: number): Promise<number> {
  const closed = once(terminal, 'close');
  const press = setInterval(() => terminal.stdin?.write('n'), KEY_EVERY_MS);
  let said = '';
  let shown = 0;
  terminal.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    shown = Math.max(0, ...[...said.matchAll(/\[(\d+) of \d+\]/g)].map(([, position]) => Number(position)));
    if (shown >= questions) killChildrenOf(terminal.pid ?? 0);
  });
  await closed;
  clearInterval(press);
  return shown;
}

function killChildrenOf(pid: number): void {
  for (const child of readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean))
    process.kill(Number(child), 'SIGKILL');
}
