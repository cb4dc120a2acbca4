import type { Argv } from 'yargs';

/** Flags every command takes. */
export interface CommonArgs {
  readonly dataDir: string | undefined;
  readonly json: boolean;
}

export const commonFlags = (of: Argv): Argv<CommonArgs> =>
  of
    .option('data-dir', {
      type: 'string',
      requiresArg: true,
      describe: 'Where the ledger and exports lie (default: data)',
    })
    .option('quiet', {
      alias: 'q',
      type: 'boolean',
      default: false,
      describe: 'Nothing on stderr but errors and questions',
    })
    .option('json', { type: 'boolean', default: false, describe: 'One JSON object on stdout, for scripts' })
    .help('help', 'Show this')
    .alias('help', 'h') as unknown as Argv<CommonArgs>;
