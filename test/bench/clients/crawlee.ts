// (d) Crawlee's HttpCrawler with its storage on disk. It is installed into its own folder, named by argument.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callsOf, readWork, startMeter, tellDone } from './work.js';

interface CrawlContext {
  readonly request: { readonly uniqueKey: string; readonly userData: { row: number; call: number } };
  readonly body: Buffer | string;
}
interface CrawleeModule {
  readonly Configuration: new (options: object) => object;
  readonly HttpCrawler: new (
    options: object,
    configuration: object,
  ) => { run(requests: object[]): Promise<unknown>; addRequests(requests: object[]): Promise<unknown> };
  readonly KeyValueStore: {
    open(
      name: string,
      options: object,
    ): Promise<{ setValue(key: string, value: unknown, options: object): Promise<void> }>;
  };
  readonly log: { setLevel(level: number): void };
}

const work = readWork();
const crawlee = createRequire(join(process.argv[3] ?? '', 'package.json'))('@crawlee/http') as CrawleeModule;
const { Configuration, HttpCrawler, KeyValueStore, log } = crawlee;
log.setLevel(1);
const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
const configuration = new Configuration({
  storageClientOptions: { localDataDirectory: folder },
  persistStorage: true,
  purgeOnStart: false,
});
const store = await KeyValueStore.open('answers', { config: configuration });

const requestOf = (row: number, call: number) => {
  const one = callsOf(work, work.rows[row] as (typeof work.rows)[number])[call];
  if (one === undefined) throw new RangeError('no such call');
  return {
    url: `${work.origin}${one.path}`,
    method: one.method,
    headers: one.headers,
    ...(one.body === null ? {} : { payload: one.body }),
    uniqueKey: `${row}-${call}`,
    userData: { row, call },
  };
};
let done = 0;
const crawler = new HttpCrawler(
  {
    minConcurrency: work.concurrency,
    maxConcurrency: work.concurrency,
    additionalMimeTypes: ['application/json'],
    useSessionPool: false,
    async requestHandler({ request, body }: CrawlContext) {
      const { row, call } = request.userData;
      await store.setValue(request.uniqueKey, body, { contentType: 'application/json' });
      if (call < 3) await crawler.addRequests([requestOf(row, call + 1)]);
      else done += 1;
    },
  },
  configuration,
);
const meter = startMeter();
await crawler.run(work.rows.map((_, row) => requestOf(row, 0)));
const used = meter();
if (done !== work.rows.length) throw new Error(`Crawlee finished ${done} of ${work.rows.length} rows`);
let bytesOnDisk = 0;
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
  bytesOnDisk += statSync(join(folder, name)).size;
tellDone({ rows: done, ...used, bytesOnDisk });
rmSync(folder, { recursive: true });
