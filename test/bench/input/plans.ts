import type { InputField } from '../../../src/input/types.js';
import { here } from '../../cli/here.js';
import { withFolder } from '../../helpers/cli.js';

/** What `kybatch plan` says of a file. */
export interface Planned {
  readonly code: number | null;
  readonly printed: string;
  /** The columns that it shows; undefined where it shows none. */
  readonly columns: Readonly<Partial<Record<InputField, string>>> | undefined;
}

/** The command as a user types it, with nothing owned; nothing is spent. */
export async function planned(path: string, flags: readonly string[] = []): Promise<Planned> {
  return await withFolder(async (cwd) => {
    const { code, stdout, stderr } = await here(['plan', path, '--sandbox', '--json', ...flags], { cwd });
    // For people it may say more than for programs.
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
