import { closeSync, fstatSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../util/make-folder.js';
import { UnreadableFile } from '../util/small-file.js';

const chargeEntry = z
  .object({
    at: z.number(),
    api: z.enum(['v1', 'v2', 'mcp']),
    operation: z.string(),
    /** A short hash of the key, never the key. */
    key: z.string(),
    requestId: z.string(),
    units: z.number(),
    permission: z.string().optional(),
    /** Parameters as JSON with sorted names. */
    params: z.string(),
  })
  .readonly();

const reportEntry = z
  .object({
    id: z.number(),
    sourceId: z.string(),
    name: z.string(),
    registrationNumber: z.string().nullable(),
    country: z.string(),
    format: z.enum(['json', 'html']),
    createdAt: z.number(),
    readyAt: z.number(),
  })
  .readonly();

const changeEntry = z
  .object({
    companyId: z.string(),
    at: z.number(),
    field: z.string(),
    oldValue: z.string().nullable(),
    newValue: z.string().nullable(),
    /** Nobody watched: it is in the register, and in no history. */
    unwatched: z.literal(true).optional(),
  })
  .readonly();

const texts = z.array(z.string()).readonly();

const entry = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('start'), at: z.number() }),
    z.object({ type: z.literal('charge'), charge: chargeEntry }),
    z.object({ type: z.literal('undelivered'), requestId: z.string() }),
    z.object({ type: z.literal('unlock'), at: z.number() }),
    z.object({ type: z.literal('contacts'), at: z.number(), email: z.number(), phone: z.number() }),
    z.object({ type: z.literal('report'), report: reportEntry }),
    z.object({ type: z.literal('watch'), id: z.string(), at: z.number(), fields: texts.nullable() }),
    z.object({ type: z.literal('unwatch'), id: z.string() }),
    z.object({ type: z.literal('fields'), fields: texts }),
    z.object({ type: z.literal('callback'), callback: z.string() }),
    z.object({ type: z.literal('change'), change: changeEntry }),
  ])
  .readonly();

/** One change of the provider's state, as it stands in the journal. */
export type Entry = z.infer<typeof entry>;
export type ChargeEntry = z.infer<typeof chargeEntry>;
export type ReportEntry = z.infer<typeof reportEntry>;
export type ChangeEntry = z.infer<typeof changeEntry>;

/** Appends synchronously: what the sandbox charged survives a process killed in the next instant. */
export class Journal {
  readonly #descriptor: number | undefined;
  readonly past: readonly Entry[];

  constructor(path: string | undefined) {
    if (path === undefined) {
      this.past = [];
      return;
    }
    this.past = isThere(path) ? readEntries(path) : [];
    makeFolder(dirname(path));
    this.#descriptor = openSync(path, 'a', 0o600);
    if (fstatSync(this.#descriptor).size > 0) writeSync(this.#descriptor, '\n');
  }

  append(entry: Entry): void {
    if (this.#descriptor !== undefined) writeSync(this.#descriptor, `${JSON.stringify(entry)}\n`);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}

/** Whoever opens a pipe is kept waiting until somebody is at its other end. */
function isThere(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) throw new UnreadableFile(`${path} is not a regular file`);
  return found !== undefined;
}

/** A line that is no entry is passed over: one cut short by a crash was never acted on by anyone. */
const readEntries = (path: string): readonly Entry[] => readFileSync(path, 'utf8').split('\n').flatMap(readLine);

function readLine(line: string): readonly Entry[] {
  try {
    const { success, data } = entry.safeParse(JSON.parse(line));
    return success ? [data] : [];
  } catch {
    return [];
  }
}
