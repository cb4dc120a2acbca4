import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { runCli } from '../../src/cli/cli.js';
import type { Interrupt, Outside } from '../../src/cli/terminal/io.js';
import type { Keys } from '../../src/review/terminal.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { type SampleInput, writeSample } from '../../src/sandbox/sample.js';
import { type Clock, systemClock } from '../../src/util/clock.js';
import { environmentFor, type Finished, withFolder } from '../helpers/cli.js';
import { dataDirIn, ledgerEnvironment } from '../helpers/ledger-place.js';
import { type BenchOptions, withSandbox } from '../helpers/sandbox.js';

/** The exit of a command line, and the codes of all its messages. */
export interface Said extends Finished {
  readonly codes: readonly string[];
  /** The messages with this code, each on its own lines. For the numbers and names in them. */
  readonly textOf: (code: string) => string;
}

/** The printed number of rows by outcome, and all rows last. Golden files hold the words beside them. */
export const rowsCounted = ({ textOf }: Said): readonly number[] =>
  [...textOf('ROWS_COUNTED').matchAll(/^ +([\d,]+) {2}[a-z]/gm)].map(([, rows = '']) =>
    Number(rows.replaceAll(',', '')),
  );

export interface HereOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** A person at a terminal, with these answers. */
  readonly answers?: (question: string) => string | undefined;
  /** Receives all output as it is printed. */
  readonly onOutput?: (text: string) => void;
  /** Receives the code of each message as it is printed. */
  readonly onCode?: (code: string) => void;
  readonly keys?: readonly string[];
  readonly columns?: number;
  readonly interrupts?: Interrupts;
  /** Piped input. Without it, input is a terminal. */
  readonly stdin?: string | Uint8Array;
  /** Bytes left on the disk. */
  readonly freeBytes?: number | ((path: string) => number);
}

/** Runs the command line in this process, because a child would only take longer to start. */
export async function here(args: readonly string[], options: HereOptions): Promise<Said> {
  const {
    cwd,
    env = {},
    clock = systemClock,
    answers,
    keys,
    onOutput = () => {},
    onCode = () => {},
    columns = 100,
    interrupts = new Interrupts(),
    freeBytes,
    stdin,
  } = options;
  let stdout = '';
  let stderr = '';
  const codes: string[] = [];
  const texts: { readonly code: string; readonly text: string }[] = [];
  const io: Outside = {
    stdout: (text) => {
      stdout += text;
      onOutput(text);
    },
    stderr: (text) => {
      stderr += text;
      onOutput(text);
    },
    stdin: stdin === undefined ? undefined : () => Readable.from([Buffer.from(stdin)]),
    env: { ...env, ...(await ledgerEnvironment(dataDirIn(args, cwd, env))) },
    cwd,
    clock,
    interactive: answers !== undefined || keys !== undefined,
    columns,
    // Tests look for facts, which may have paths of any length beside them.
    pipeColumns: Number.POSITIVE_INFINITY,
    onMessage: ({ code, text }) => {
      codes.push(code);
      texts.push({ code, text });
      onCode(code);
    },
    ask: answers && (async (question) => answers(question)),
    keys: keys && (() => pressed(keys)),
    freeBytes: typeof freeBytes === 'number' ? () => freeBytes : freeBytes,
    onInterrupt: (listener) => interrupts.listen(listener),
  };
  const textOf = (wanted: string) => texts.flatMap(({ code, text }) => (code === wanted ? [text] : [])).join('\n');
  return { code: await runCli(args, io), signal: null, stdout, stderr, codes, textOf };
}

const pressed = (keys: readonly string[]): Keys => ({
  async *[Symbol.asyncIterator]() {
    yield* keys;
    return undefined;
  },
  drop: async () => {},
});

export class Interrupts {
  readonly #listeners = new Set<(signal: Interrupt) => void>();

  listen(listener: (signal: Interrupt) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  send(signal: Interrupt): void {
    for (const listener of [...this.#listeners]) listener(signal);
  }
}

export interface Job {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly sandbox: Sandbox;
  /** Clean rows of the sandbox's registry, with right answers. */
  readonly rows: readonly SampleInput[];
  readonly writeCsv: (name: string, rows: readonly object[]) => void;
  readonly kybatch: (args: readonly string[], options?: Partial<HereOptions>) => Promise<Said>;
}

export interface JobOptions extends BenchOptions {
  /** Lines of the pipeline file `p.yaml`. */
  readonly pipeline?: readonly string[];
}

/** Tests have no patience. */
const IMPATIENT = ['retry: {attempts: 2, base: 1ms, cap: 1ms}'];
const IMPATIENT_FOR_REPORTS = 'report: {first_poll: 1ms, poll_at_most: 5ms}';

/** A sandbox, a folder with a pipeline, and a command line that uses both. */
export async function withJob<T>(options: JobOptions, use: (job: Job) => Promise<T>): Promise<T> {
  const { pipeline = ['stages: [record]'], ...bench } = options;
  return await withFolder((cwd) =>
    withSandbox({ reportDelayMs: 0, ...bench }, async ({ sandbox }) => {
      const env = { ...environmentFor(sandbox), ...(await ledgerEnvironment(join(cwd, 'data'))) };
      const reports = pipeline.some((line) => line.includes('credit-report'));
      writeFileSync(
        join(cwd, 'p.yaml'),
        [...pipeline, ...IMPATIENT, ...(reports ? [IMPATIENT_FOR_REPORTS] : [])].join('\n'),
      );
      const rows = cleanRows(sandbox);
      return await use({
        cwd,
        env,
        sandbox,
        rows,
        writeCsv: (name, records) => writeFileSync(join(cwd, name), stringify([...records], { header: true })),
        kybatch: (args, more) =>
          here(args, { cwd, env, ...(bench.clock === undefined ? {} : { clock: bench.clock }), ...more }),
      });
    }),
  );
}

/** An unchanged registry depends only on its seed and size, and so do its rows. They are made once. */
function cleanRows({ registry }: Sandbox): readonly SampleInput[] {
  const { seed, size, revision } = registry;
  const make = () => [...writeSample({ registry, rows: 30, dirty: false })].map(({ input }) => input);
  if (revision !== 0) return make();
  const rows = rowsByRegistry.get(`${seed} ${size}`) ?? make();
  rowsByRegistry.set(`${seed} ${size}`, rows);
  return rows;
}

const rowsByRegistry = new Map<string, readonly SampleInput[]>();

/** The one JSON object that a command with --json prints. */
export function jsonOf<T>({ stdout }: Finished): T {
  if (stdout.trimEnd().includes('\n')) throw new Error(`more than one line on stdout: ${stdout}`);
  return JSON.parse(stdout) as T;
}

export interface EndJson {
  readonly run: string;
  readonly rows: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly units_charged: number;
  readonly finished: boolean;
  readonly next?: string;
  readonly stopped?: { readonly code: string };
  readonly parked: Readonly<Record<string, number>>;
  readonly this_start: Readonly<Record<'units_charged' | 'credit_reports' | 'unknown_calls', number>>;
}

/** A request for a record, unlike the check of the key, which names no company. */
export const aRecord = ({ operation, path }: { readonly operation: string | undefined; readonly path: string }) =>
  operation === 'fullKyb' && !path.includes('/kyb/0/');

/** The second request for a record gets no answer. Resolves when it is sent. */
export function hangsAtSecondRecord(sandbox: Sandbox, first: 'none' | 'lostAnswer' = 'none'): Promise<void> {
  let asked = 0;
  return new Promise((resolve) => {
    sandbox.script(
      (request) => {
        if (!aRecord(request)) return false;
        asked += 1;
        if (asked === 2) setImmediate(resolve);
        return true;
      },
      [first, 'hang'],
    );
  });
}
