import { UsageError } from '../domain/errors.js';
import { changePath } from '../sandbox/control.js';
import { withProvider } from './provider.js';
import { here, type PlaceOptions } from './surroundings.js';

export interface SandboxChangeOptions extends PlaceOptions {
  /** Its v2 ID. */
  readonly company: string;
  /** As the watch names it, such as name or company_status. */
  readonly field: string;
  readonly value: string | null;
  /** Where a sandbox serves; without it, that of `--sandbox`, whose account lies beside the ledger. */
  readonly port?: number | undefined;
}

export interface SandboxChangeView {
  /** Company and field are watched: it stands in the history. */
  readonly recorded: boolean;
  /** What the callback answered; null: nothing was posted, or nobody answered. */
  readonly callbackStatus: number | null;
}

/** Changes a company of the simulated provider, so that there is something to be heard of, and bought again. */
export async function changeInSandbox(options: SandboxChangeOptions, around = here()): Promise<SandboxChangeView> {
  const { company, field, value, port, dataDir } = options;
  const ask = async (origin: string): Promise<SandboxChangeView> => {
    const answer = await fetch(`${origin}${changePath}`, {
      method: 'POST',
      body: JSON.stringify({ company, field, value }),
    }).catch(() => {
      throw new UsageError(`no sandbox serves at ${origin}`, '`kybatch sandbox --port N` starts one.');
    });
    const said = (await answer.json().catch(() => ({}))) as Readonly<Record<string, unknown>>;
    if (!answer.ok) throw new UsageError(String(said.detail ?? `the sandbox answered ${answer.status}`));
    const { recorded, callback_status: status } = said;
    return { recorded: recorded === true, callbackStatus: typeof status === 'number' ? status : null };
  };
  if (port !== undefined) return await ask(`http://127.0.0.1:${port}`);
  return await withProvider(
    { dataDir, sandbox: true },
    around,
    async ({ sandbox }) => await ask(`http://127.0.0.1:${sandbox?.port}`),
    { keepSandbox: true },
  );
}
