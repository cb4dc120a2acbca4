import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import readWorkbook from 'read-excel-file/node';
import { expect } from 'vitest';
import { WorkbookWriter } from '../../src/sheets/xlsx/write-workbook.js';
import { here } from '../cli/here.js';
import { withFolder } from '../helpers/cli.js';
import { long } from '../helpers/long.js';

/**
 * The commands of the tutorials run in order in one folder. Each page shows what they print, a part of it, or nothing.
 * `KYBATCH_WRITE_DOCS=1 npx vitest run test/docs/transcripts.test.ts` writes the pages again.
 */
const TUTORIALS = ['docs/tutorial/first-run.md', 'docs/tutorial/review-in-a-spreadsheet.md'];
/** Before this command a person fills the workbook in. */
const APPLY = 'review apply review.xlsx';

const pathOf = (page: string): string => resolve(import.meta.dirname, '../..', page);

long('the transcripts in README and tutorials equal the output of kybatch', async () => {
  await withFolder(async (cwd) => {
    const first = new Map<string, string>();
    const print = async (command: string): Promise<string> => {
      if (command === APPLY) await confirmNames(join(cwd, 'review.xlsx'));
      let text = '';
      await here(command.split(' '), {
        cwd,
        columns: 80,
        env: { USER: 'ann' },
        answers: () => 'y',
        onOutput: (part) => {
          text += part;
        },
      });
      // The last line is for programs, and a person's terminal does not show it.
      const shown = plain(text)
        .replaceAll(cwd, '~')
        .replace(/^kybatch run=.*\n/m, '')
        .trimEnd();
      if (!first.has(command)) first.set(command, shown);
      return shown;
    };
    for (const page of TUTORIALS) await check(page, print);
    await check('README.md', async (command) => first.get(command) ?? `not in a tutorial: ${command}`);
  });
});

async function check(page: string, print: (command: string) => Promise<string>): Promise<void> {
  const text = readFileSync(pathOf(page), 'utf8');
  const pieces = text.split(/^(\$ npx kybatch .*\n)/m);
  let written = pieces[0] ?? '';
  for (let i = 1; i < pieces.length; i += 2) {
    const line = pieces[i] ?? '';
    const [after = ''] = pieces.slice(i + 1);
    const end = after.search(/^(?:```|\$ )/m);
    const told = after.slice(0, Math.max(end, 0)).trimEnd();
    const command = line.slice('$ npx kybatch '.length).replace(/ +#.*/, '').trim();
    const printed = await print(command);
    const isShown = told !== '';
    if (isShown && process.env.KYBATCH_WRITE_DOCS !== '1')
      expect(masked(told), `${page}: ${command}`).toBe(masked(shortened(printed, told)));
    written += `${line}${isShown ? `${shortened(printed, told)}\n` : ''}${after.slice(Math.max(end, 0))}`;
  }
  if (process.env.KYBATCH_WRITE_DOCS === '1' && written !== text) writeFileSync(pathOf(page), written);
}

/** The part that the page shows: from the line with the first label of the page to the line with the last. */
function shortened(printed: string, told: string): string {
  const lines = told.split('\n');
  const all = printed.split('\n');
  const from = all.findIndex((line) => labelOf(line) === labelOf(lines[0]));
  const to = all.findLastIndex((line) => labelOf(line) === labelOf(lines.at(-1)));
  return from < 0 || to < from ? printed : all.slice(from, to + 1).join('\n');
}

const labelOf = (line = ''): string => line.trim().split(/\s+/)[0] ?? '';

/** Replaces values that differ from run to run. */
const masked = (text: string): string =>
  text
    .replaceAll(/\b(?:\d{4}-\d\d-\d\d-)?[0-9a-f]{6}\b/g, 'RUN')
    .replaceAll(/\b\d{4}-\d\d-\d\d\b/g, 'DAY')
    .replaceAll(/\b\d\d:\d\d(?::\d\d)?\b/g, 'TIME')
    .replaceAll(/\b\d+ (?:ms|s|min)\b(?: \d+ s\b)?/g, 'N s')
    .replaceAll(/\d[\d.,]* (rows\/s|calls\/s)/g, 'N $1')
    .replaceAll(/ {2,}/g, '  ');

const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these control a terminal.
  text.replaceAll(/\u001b\[[?\d;]*[A-Za-z]/g, '');

/** Fills in the workbook as a person who confirms the first candidate if only the name is known. */
async function confirmNames(path: string): Promise<void> {
  const [sheet] = (await readWorkbook(path)) as unknown as readonly {
    readonly sheet: string;
    readonly data: readonly (readonly unknown[])[];
  }[];
  const [header = [], ...lines] = (sheet?.data ?? []).map((line) => line.map((cell) => String(cell ?? '')));
  const at = (name: string) => header.indexOf(name);
  const asked = new Set<string>();
  const filled = lines.map((line) => {
    const question = line[at('question')] ?? '';
    const isFirst = !asked.has(question);
    asked.add(question);
    const isMeant = isFirst && line.includes('NAME_ONLY');
    return isMeant ? line.with(at('decision'), 'confirm') : line;
  });
  rmSync(path);
  const workbook = new WorkbookWriter(path);
  workbook.begin({ name: sheet?.sheet ?? '', columns: header.map((name) => ({ header: name })) });
  workbook.write(filled);
  await workbook.finish();
}
