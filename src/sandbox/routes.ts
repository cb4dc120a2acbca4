import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The routes file that goes with this sandbox; clients are given the same file. */
export const routesFile = fileURLToPath(new URL('./routes.yaml', import.meta.url));

export interface OpenRoute {
  readonly method: string;
  readonly path: string;
  /** Parameter name to name on the wire. */
  readonly rename?: Readonly<Record<string, string>>;
}

export function readRoutes(path: string = routesFile): Readonly<Record<string, OpenRoute>> {
  return parse(readFileSync(path, 'utf8')) as Record<string, OpenRoute>;
}
