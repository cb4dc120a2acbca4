// (c) A typical script: p-limit, fetch, one file per answer.
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { callsOf, readWork, startMeter, tellDone } from './work.js';

const work = readWork();
const folder = await mkdtemp(join(tmpdir(), 'kybatch-bench-'));
const limit = pLimit(work.concurrency);
const meter = startMeter();
await Promise.all(
  work.rows.map((row, index) =>
    limit(async () => {
      const own = join(folder, String(index));
      await mkdir(own);
      for (const [call, { method, path, headers, body }] of callsOf(work, row).entries()) {
        const answer = await fetch(`${work.origin}${path}`, { method, headers, body });
        if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
        await writeFile(join(own, `${call}.json`), JSON.stringify(await answer.json()));
      }
    }),
  ),
);
const used = meter();
let bytesOnDisk = 0;
for (const name of await readdir(folder, { recursive: true })) bytesOnDisk += (await stat(join(folder, name))).size;
tellDone({ rows: work.rows.length, ...used, bytesOnDisk });
await rm(folder, { recursive: true });
