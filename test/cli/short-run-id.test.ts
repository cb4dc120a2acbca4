import { expect, test } from 'vitest';
import { type EndJson, type Job, jsonOf, withJob } from './here.js';

const run = async ({ kybatch }: Job, file: string): Promise<string> =>
  jsonOf<EndJson>(await kybatch(['run', file, '--pipeline', 'p.yaml', '--yes', '--json'])).run;

const COMMANDS = [
  ['status'],
  ['resume', '--yes'],
  ['retry', '--yes'],
  ['export'],
  ['review', 'list'],
  ['review', 'export'],
  ['changes', '--since'],
  ['doubt', 'list'],
] as const;

test('a run may be named by its first characters while they are its own, wherever a run is named', async () => {
  await withJob({}, async (job) => {
    const { rows, writeCsv, kybatch } = job;
    writeCsv('one.csv', rows.slice(0, 1));
    writeCsv('two.csv', rows.slice(1, 2));
    const ids = [await run(job, 'one.csv'), await run(job, 'two.csv')];
    const [first = '', second = ''] = ids;
    const same = [...first].findIndex((character, index) => character !== second[index]);
    const short = first.slice(0, same + 1);

    for (const words of COMMANDS)
      expect(await kybatch([...words, short]), words.join(' ')).toMatchObject({ code: 0, signal: null });
    expect(jsonOf(await kybatch(['status', short, '--json']))).toMatchObject({ run: first });

    const both = first.slice(0, same);
    for (const words of COMMANDS) {
      const refused = await kybatch([...words, both]);
      expect(refused, words.join(' ')).toMatchObject({ code: 2 });
      for (const id of ids) expect(refused.stderr).toContain(id);
    }
    expect(await kybatch(['prune', '--run', both, '--yes'])).toMatchObject({ code: 2 });

    // What goes is named in full.
    const dropped = await kybatch(['prune', '--run', short, '--yes']);
    expect(dropped).toMatchObject({ code: 0, stderr: expect.stringContaining(`Dropped run ${first}.`) });
    expect(jsonOf(await kybatch(['runs', '--json']))).toMatchObject({ runs: [{ run: second }] });
  });
});
