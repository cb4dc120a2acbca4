import type { InputField } from '../../../src/input/types.js';
import { here } from '../../cli/here.js';
import { withFolder } from '../../helpers/cli.js';

/** The result of `kybatch plan` for a file. */
export interface Planned {
  readonly code: number | null;
  readonly printed: string;
  /** The columns that it shows. Undefined if it shows none. */
  readonly columns: Readonly<Partial<Record<InputField, string>>> | undefined;
}

/** Runs the command as a user types it, with no stored answers. It spends nothing. */
export async function planned(path: string, flags: readonly string[] = []): Promise<Planned> {
  return await withFolder(async (cwd) => {
    const { code, stdout, stderr } = await here(['plan', path, '--sandbox', '--json', ...flags], { cwd });
    // The text for people may have more columns than the JSON.
    const words = await here(['plan', path, '--sandbox', ...flags], { cwd });
    return { code, printed: [stdout, stderr, words.stdout, words.stderr].join('\n'), columns: columnsIn(stdout) };
  });
}

function columnsIn(json: string): Planned['columns'] {
  if (!json.startsWith('{')) return undefined;
  const { columns } = JSON.parse(json) as { columns?: readonly { field: string | null; header: string }[] };
  const read = columns?.filter(({ field }) => field !== null && field !== undefined);
  return read && Object.fromEntries(read.map(({ field, header }) => [field, header]));
}
