import { createRequire } from 'node:module';
import type Database from 'better-sqlite3';
import { UsageError } from '../../domain/errors.js';

export type Connection = Database.Database;
export type Statement<Parameters extends unknown[], Row> = Database.Statement<Parameters, Row>;

/**
 * One driver under two names, and the only file that knows them: 12 aborts on Node 24.19 and later, 13 crashes on
 * Node 20 (docs/decisions.md). npm installs the one that fits the Node it runs on.
 */
export const driverFor = (nodeVersion: string): string =>
  Number.parseInt(nodeVersion, 10) < 22 ? 'better-sqlite3' : 'better-sqlite3-13';

let driver: typeof Database | undefined;

/** Opens a SQLite file. That the driver itself does not load is the user's to mend, and said in one sentence. */
export function connect(path: string, options?: Database.Options): Connection {
  driver ??= loadDriver(driverFor(process.versions.node));
  return new driver(path, options);
}

/** Tries it out: the binary is loaded with the first database, and a wrong one must not look like a damaged ledger. */
export function loadDriver(name: string, load: NodeJS.Require = createRequire(import.meta.url)): typeof Database {
  try {
    const loaded = load(name) as typeof Database;
    new loaded(':memory:').close();
    return loaded;
  } catch (error) {
    throw unusable(name, error);
  }
}

function unusable(name: string, cause: unknown): UsageError {
  const { version, platform, arch } = process;
  return new UsageError(
    `the SQLite driver ${name} does not load on Node ${version} (${platform}-${arch}): ${reasonOf(cause)}`,
    'Run `npm ci` again with the Node that runs kybatch. Node 22 and newer need nothing else; Node 20 needs a C++ compiler where no prebuilt binary can be downloaded.',
  );
}

/** The first sentence: what follows is a list of the places that were searched, or advice for other packages. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if ((cause as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return 'it is not installed';
  return cause.message.replace(/\s+/g, ' ').split('. ', 1).join('');
}
