import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '../domain/errors.js';
import { makeFolder } from '../util/make-folder.js';

export const SUMMARY = 'summary.json';
export const DATA_PACKAGE = 'datapackage.json';

/**
 * A folder that appears only when it is complete. It grows beside its place under another name; an export that fails
 * or is killed leaves what was there before as it was.
 */
export class GrowingFolder {
  readonly path: string;
  readonly #target: string;

  constructor(target: string) {
    this.#target = target;
    const parent = dirname(target);
    makeFolder(parent);
    clearLeftovers(parent, basename(target));
    refuseStrangers(target);
    this.path = mkdtempSync(join(parent, `${prefixOf(basename(target))}${process.pid}-`));
  }

  /** Everything in it is on disk already. The two renames are one moment; a kill between them is mended by the next export. */
  appear(): void {
    syncFolder(this.path);
    const old = `${this.path}${OLD}`;
    const replaces = existsSync(this.#target);
    if (replaces) renameSync(this.#target, old);
    renameSync(this.path, this.#target);
    syncFolder(dirname(this.#target));
    if (replaces) rmSync(old, { recursive: true, force: true });
  }

  abandon(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

const OLD = '.old';
const prefixOf = (name: string) => `.${name}.tmp-`;

/** What killed exports left behind. A previous export that was on its way out goes back to its place. */
function clearLeftovers(parent: string, name: string): void {
  for (const entry of readdirSync(parent)) {
    if (!entry.startsWith(prefixOf(name))) continue;
    const processId = Number.parseInt(entry.slice(prefixOf(name).length), 10);
    if (processId !== process.pid && isAlive(processId)) continue;
    const path = join(parent, entry);
    if (entry.endsWith(OLD) && !existsSync(join(parent, name))) renameSync(path, join(parent, name));
    else if (processId !== process.pid) rmSync(path, { recursive: true, force: true });
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Only an export is replaced: a folder with anything else in it is somebody's. */
function refuseStrangers(target: string): void {
  if (!existsSync(target)) return;
  if (!statSync(target).isDirectory()) throw new UsageError(`${target} is a file, not a folder`);
  const ours = new Set([SUMMARY, DATA_PACKAGE, ...filesOfExport(target).map((path) => path.split('/')[0])]);
  const stranger = readdirSync(target).find((entry) => !ours.has(entry));
  if (stranger === undefined) return;
  throw new UsageError(
    `${target} holds something that is no export: ${stranger}`,
    'An export replaces its folder as a whole. Name another folder with --out.',
  );
}

/** What it says it is made of. */
export function filesOfExport(folder: string): readonly string[] {
  try {
    const summary = JSON.parse(readFileSync(join(folder, SUMMARY), 'utf8')) as { files?: { path?: string }[] };
    return (summary.files ?? []).flatMap(({ path }) => path ?? []);
  } catch {
    return [];
  }
}

function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
