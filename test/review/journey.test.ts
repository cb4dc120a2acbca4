/** @module-tag long */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/cli.js';
import type { Outside } from '../../src/cli/terminal/io.js';
import { readIdentityMismatch } from '../../src/domain/identity-mismatch.js';
import type { RowRecord } from '../../src/ledger/rows/runs.js';
import { spreadsheetText } from '../../src/review/write-sheet.js';
import { createRegistry, type Registry } from '../../src/sandbox/registry/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { systemClock } from '../../src/util/clock.js';
import { withFolder } from '../helpers/cli.js';
import { isOnPostgres, ledgerEnvironment, openLedgerIn } from '../helpers/ledger-place.js';
import { sheetColumns } from '../helpers/review-sheet.js';

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly codes: readonly string[];
}

/** A command line in this process, as a person at a terminal (with keys) or a script (without). */
async function kybatch(cwd: string, argv: readonly string[], keys?: readonly string[]): Promise<Said> {
  let stdout = '';
  let stderr = '';
  const codes: string[] = [];
  const typing = () => ({
    async *[Symbol.asyncIterator]() {
      yield* keys ?? [];
      return undefined;
    },
    drop: async () => {},
  });
  const io: Outside = {
    stdout: (text) => {
      stdout += text;
    },
    stderr: (text) => {
      stderr += text;
    },
    env: { USER: 'anna', ...(await ledgerEnvironment(join(cwd, 'data'))) },
    cwd,
    clock: systemClock,
    interactive: keys !== undefined,
    columns: 100,
    pipeColumns: Number.POSITIVE_INFINITY,
    keys: keys === undefined ? undefined : typing,
    onMessage: ({ code }) => void codes.push(code),
    onInterrupt: () => () => {},
  };
  const code = await runCli(argv, io);
  return { code, stdout, stderr, codes };
}

const jsonOf = ({ stdout }: Said): object => JSON.parse(stdout) as object;

/** The registry that the embedded sandbox also serves. */
let registry: Registry;
const company = (fits: (company: Company) => boolean): Company => {
  for (let index = 0; ; index++) {
    const found = registry.company(index * 7);
    if (fits(found)) return found;
  }
};
const ordinary = (found: Company) =>
  found.countryCode === 'GB' &&
  found.registrationNumber !== null &&
  registry.hasRecord(found) &&
  registry.inV2(found) &&
  !registry.traits(found).identityMismatch &&
  !registry.traits(found).namesake;

beforeAll(() => {
  registry = createRegistry({ seed: 1 });
});

const csv = (...rows: readonly string[][]) => stringify([['name', 'country', 'registration_number'], ...rows]);

async function rowsOf(folder: string, run: string) {
  const ledger = await openLedgerIn({ dataDir: join(folder, 'data'), now: Date.now(), access: 'read' });
  try {
    const found: RowRecord[] = [];
    for (let row = 1; ; row++) {
      const record = await ledger.runs.row(run, row);
      if (record === undefined) return { rows: found, units: (await ledger.runs.progress(run)).unitsCharged };
      found.push(record);
    }
  } finally {
    await ledger.close();
  }
}

async function decisionsIn(folder: string) {
  const ledger = await openLedgerIn({ dataDir: join(folder, 'data'), now: Date.now(), access: 'read' });
  try {
    return await ledger.review.decisions();
  } finally {
    await ledger.close();
  }
}

async function run(folder: string, file: string): Promise<{ id: string; code: number }> {
  writeFileSync(join(folder, 'records.yaml'), 'stages: [record]\n');
  const said = await kybatch(folder, ['run', file, '--sandbox', '--yes', '--json', '--pipeline', './records.yaml']);
  const { run: id } = JSON.parse(said.stdout) as { run: string };
  return { id, code: said.code };
}

/** Fills in the decision of the first line with a cell that contains the text. */
function decide(folder: string, file: string, decisions: Readonly<Record<string, string>>): void {
  const path = join(folder, file);
  const lines = parse(readFileSync(path), { bom: true, columns: sheetColumns }) as Record<string, string>[];
  for (const [text, decision] of Object.entries(decisions)) {
    const line = lines.find((cells) => Object.values(cells).includes(text));
    if (line === undefined) throw new Error(`no line holds ${text}`);
    line.decision = decision;
  }
  writeFileSync(path, stringify(lines, { header: true, delimiter: ';', bom: true, record_delimiter: '\r\n' }));
}

describe('from a question to a complete row', () => {
  test('only decided rows continue, the search is not paid again, and no later file asks', () =>
    withFolder(async (folder) => {
      const nameless = company(ordinary);
      const other = company((found) => ordinary(found) && found.index > nameless.index + 1000);
      const third = company((found) => ordinary(found) && found.index > other.index + 1000);
      const asking = [
        [third.name, 'GB', nameless.registrationNumber ?? ''],
        [other.name, 'GB', ''],
        [third.name, 'GB', other.registrationNumber ?? ''],
      ];
      writeFileSync(join(folder, 'one.csv'), csv(...asking, [third.name, 'GB', third.registrationNumber ?? '']));
      const first = await run(folder, 'one.csv');
      expect(first.code).toBe(3);
      const before = await rowsOf(folder, first.id);
      expect(before.rows.map(({ errorCode, outcome }) => errorCode ?? outcome)).toEqual([
        'NAME_CONFLICT',
        'NAME_ONLY',
        'NAME_CONFLICT',
        'complete',
      ]);

      expect((await kybatch(folder, ['review', 'export', first.id])).code).toBe(0);
      decide(folder, 'review.csv', {
        [nameless.name]: 'confirm',
        [`${first.id}: 2`]: 'none of these',
        [`${first.id}: 3`]: 'maybe',
      });
      const applied = await kybatch(folder, ['review', 'apply', 'review.csv', '--json']);
      expect(applied.code).toBe(3);
      expect(applied.codes).toContain('LINE_REFUSED');
      expect(jsonOf(applied)).toMatchObject({
        applied: 2,
        unchanged: 0,
        refused: [{ code: 'DECISION_UNKNOWN' }],
        released_rows: 2,
        next: [`kybatch resume ${first.id} --sandbox --yes`],
      });

      const second = await run(folder, 'one.csv');
      expect(second.id).toBe(first.id);
      const after = await rowsOf(folder, first.id);
      expect(after.rows.map(({ outcome }) => outcome)).toEqual(['complete', 'no_match', 'needs_review', 'complete']);
      expect(after.rows[0]).toMatchObject({ matchedOn: 'review', ids: [{ space: 'v1', id: nameless.v1Id }] });
      expect(after.rows[1]).toMatchObject({ errorCode: 'REVIEWED' });
      expect(after.units - before.units).toBe(1);

      // Another file has the question about these companies in another spelling.
      writeFileSync(join(folder, 'two.csv'), csv([third.name.toUpperCase(), 'UK', nameless.registrationNumber ?? '']));
      const later = await run(folder, 'two.csv');
      expect(later.code).toBe(0);
      const { rows, units } = await rowsOf(folder, later.id);
      expect(rows).toMatchObject([{ outcome: 'complete', matchedOn: 'review' }]);
      expect(units).toBe(0);

      // After a withdrawal both rows that depend on it are asked about again.
      const withdrawn = await kybatch(folder, ['review', 'withdraw', '1', '--json']);
      expect(jsonOf(withdrawn)).toMatchObject({ withdrawn: 1, rows: 2 });
      const again = await kybatch(folder, ['review', 'apply', 'review.csv', '--json']);
      expect(jsonOf(again)).toMatchObject({ applied: 1, unchanged: 1, refused: [{}] });
      await kybatch(folder, ['review', 'withdraw', '3']);
      expect((await run(folder, 'two.csv')).code).toBe(3);
      expect((await rowsOf(folder, later.id)).rows).toMatchObject([{ outcome: 'needs_review', matchedOn: null }]);
    }));

  describe('two pipelines that search differently ask one question', () => {
    const byNumber = 'stages: [record]\nsearch: { attempts: 1, order: [registration_number] }\n';
    const byName = 'stages: [record]\nsearch: { attempts: 1, order: [name] }\n';
    const start = async (folder: string, pipeline: string) => {
      writeFileSync(join(folder, 'p.yaml'), pipeline);
      const said = await kybatch(folder, ['run', 'in.csv', '--sandbox', '--yes', '--json', '--pipeline', './p.yaml']);
      return JSON.parse(said.stdout) as { run: string; outcomes: Record<string, number>; units_charged: number };
    };

    test.each([
      ['the number first', byNumber, byName],
      ['the name first', byName, byNumber],
    ])('%s: the sheet exported in between decides both, for good', (_, first, second) =>
      withFolder(async (folder) => {
        const meant = company(ordinary);
        const named = company((found) => ordinary(found) && found.index > meant.index + 1000);
        writeFileSync(join(folder, 'in.csv'), csv([named.name, 'GB', meant.registrationNumber ?? '']));
        const chosen = first === byNumber ? meant : named;
        expect((await start(folder, first)).outcomes).toMatchObject({ needs_review: 1 });
        await kybatch(folder, ['review', 'export']);
        expect((await start(folder, second)).outcomes).toMatchObject({ needs_review: 1 });
        decide(folder, 'review.csv', { [spreadsheetText(chosen.v1Id)]: 'confirm' });
        const applied = await kybatch(folder, ['review', 'apply', 'review.csv', '--json']);
        expect(applied.code).toBe(0);
        expect(jsonOf(applied)).toMatchObject({ applied: 1, released_rows: 1 });
        const ends = [await start(folder, first), await start(folder, second)];
        for (const { run: id } of ends)
          expect((await rowsOf(folder, id)).rows).toMatchObject([
            { outcome: 'complete', matchedOn: 'review', ids: [{ space: 'v1', id: chosen.v1Id }] },
          ]);
      }),
    );
  });

  test('a record other than the match is a review question, asked once, and accepting it ends the row', () =>
    withFolder(async (folder) => {
      const odd = (from: number) =>
        company(
          (found) =>
            found.index > from &&
            found.countryCode === 'GB' &&
            registry.traits(found).identityMismatch &&
            registry.hasRecord(found),
        );
      const accepted = odd(0);
      const refused = odd(accepted.index);
      const row = (of: Company) => [of.name, 'GB', of.registrationNumber ?? ''];
      writeFileSync(join(folder, 'odd.csv'), csv(row(accepted), row(refused)));
      const first = await run(folder, 'odd.csv');
      const before = await rowsOf(folder, first.id);
      expect(before.rows.map(({ errorCode }) => errorCode)).toEqual(['IDENTITY_MISMATCH', 'IDENTITY_MISMATCH']);

      const session = await kybatch(folder, ['review', '--by', 'Bea'], ['1', 'n', 'q']);
      expect(session.codes).toContain('QUESTIONS_ANSWERED');
      const [second, confirmed] = await decisionsIn(folder);
      expect([confirmed?.decision, second?.decision]).toEqual(['confirm', 'none_of_these']);
      const number = readIdentityMismatch(confirmed?.entityKey ?? '')?.bought.registrationNumber ?? 'unknown';
      expect(number).not.toBe(accepted.registrationNumber);
      for (const one of [number, accepted.registrationNumber]) expect(session.stderr).toContain(one);
      // Only the acceptance has the number of the record.
      const { stdout: taken } = await kybatch(folder, ['review', 'decisions']);
      expect(taken.split(number)).toHaveLength(2);
      expect((await run(folder, 'odd.csv')).code).toBe(0);
      const after = await rowsOf(folder, first.id);
      expect(after.rows).toMatchObject([
        { outcome: 'complete', matchedOn: 'review', ids: [{ space: 'v1', id: accepted.v1Id }] },
        { outcome: 'no_match', errorCode: 'REVIEWED', ids: [] },
      ]);
      expect(after.units).toBe(before.units);
    }));

  test('V2-4 each ID space asks its own question and remembers the answer', () =>
    withFolder(async (folder) => {
      const unnumbered = company(
        (found) =>
          found.countryCode === 'GB' &&
          found.registrationNumber === null &&
          registry.hasRecord(found) &&
          registry.inV2(found) &&
          registry.hasCreditReport(found) &&
          !registry.traits(found).namesake,
      );
      writeFileSync(join(folder, 'all.csv'), csv([unnumbered.name, 'GB', '']));
      const everything =
        'stages: [record, financials, credit-report]\nreport: { first_poll: 50ms, poll_at_most: 200ms }\n';
      writeFileSync(join(folder, 'all.yaml'), everything);
      const all = (file: string) =>
        kybatch(folder, ['run', file, '--sandbox', '--yes', '--json', '--pipeline', './all.yaml']);
      const asked: string[] = [];
      for (let turn = 0; turn < 3; turn++) {
        expect((await all('all.csv')).code).toBe(3);
        const { stdout } = await kybatch(folder, ['review', 'list', '--json']);
        const { questions } = JSON.parse(stdout) as { questions: { about: string; candidates: { name: string }[] }[] };
        asked.push(...questions.map(({ about }) => about));
        const place = questions[0]?.candidates.findIndex(({ name }) => name === unnumbered.name) ?? -1;
        await kybatch(folder, ['review'], [...String(place + 1), '\r', 'q']);
      }
      // Figures do not delay the report, so both questions are asked together.
      expect(asked).toEqual(['v1', 'v2', 'credit', 'credit']);
      const { code, stdout } = await all('all.csv');
      expect(code).toBe(0);
      const { rows } = await rowsOf(folder, (JSON.parse(stdout) as { run: string }).run);
      expect(rows).toMatchObject([{ outcome: 'complete' }]);
      const ids = new Map(rows[0]?.ids.map(({ space, id }) => [space, id]));
      expect([ids.get('v2'), ids.get('credit')]).toEqual([unnumbered.v2Id, unnumbered.sourceId]);
    }));
});

// A ledger in a database is created before, by `kybatch ledger migrate`.
test.skipIf(isOnPostgres)(
  'without a run there is nothing to ask, with or without a terminal, and an unknown run is an error',
  () =>
    withFolder(async (folder) => {
      expect(await kybatch(folder, ['review'])).toMatchObject({
        code: 2,
        codes: ['NO_LEDGER_YET'],
      });
      expect(await kybatch(folder, ['review', 'list'])).toMatchObject({
        code: 2,
        codes: ['NO_LEDGER_YET'],
      });
    }),
);
