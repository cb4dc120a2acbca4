/** @module-tag long */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/app/run/run.js';
import { lineOf, writeInput } from '../engine/support.js';
import { withOffice } from './support.js';

test.each(['started', 'call_settled', 'row_settled'])(
  'a listener that throws on %s breaks nothing and is noted',
  async (kind) => {
    await withOffice({}, async ({ folder, environment, companies }) => {
      const lines = companies(3).map((company) => lineOf(company));
      writeInput(join(folder, 'in.csv'), lines);
      writeFileSync(join(folder, 'p.yaml'), 'stages: [record]\n');
      const notes: string[] = [];
      const end = await run(
        {
          input: 'in.csv',
          pipeline: './p.yaml',
          yes: true,
          listen: (event) => {
            if (event.kind === kind) throw new Error('no ears');
          },
        },
        { ...environment, onNote: ({ code }) => notes.push(code) },
      );
      expect(end.outcomes).toMatchObject({ complete: 3 });
      // A ledger that is a file is new here.
      expect(notes.filter((code) => code !== 'LEDGER_BEGUN')).toEqual(['LISTENER_FAILED']);
    });
  },
);
