import type { ArgumentsCamelCase, Argv } from 'yargs';
import type { ExitCode } from '../domain/exit-codes.js';
import type { Io } from './terminal/io.js';

/** Flags every command takes. */
export interface CommonArgs {
  readonly dataDir: string | undefined;
  readonly json: boolean;
}

/** One command: it parses, calls the library, and says how it ended. */
export interface Verb<Args extends CommonArgs = CommonArgs> {
  readonly command: string;
  readonly describe: string;
  readonly builder: (yargs: Argv<CommonArgs>) => Argv<Args>;
  readonly run: (args: ArgumentsCamelCase<Args>, io: Io) => Promise<ExitCode>;
  readonly subcommands?: readonly Registration[];
}

/** A verb whose argument type has been closed over, so that verbs of different arguments fit one list. */
export interface Registration {
  readonly hasSubcommands: boolean;
  /** `name`: what it is called by, where that is not its own word. */
  readonly add: (
    yargs: Argv<CommonArgs>,
    io: Io,
    done: (code: ExitCode) => void,
    name?: string | undefined,
  ) => Argv<CommonArgs>;
}

export function register<Args extends CommonArgs>(verb: Verb<Args>): Registration {
  const [word = ''] = verb.command.split(' ');
  const add: Registration['add'] = (yargs, io, done, name = word) =>
    yargs.command({
      command: name + verb.command.slice(word.length),
      describe: verb.describe,
      builder: (nested: Argv<CommonArgs>) => {
        for (const subcommand of verb.subcommands ?? []) subcommand.add(nested, io, done);
        return verb.builder(nested);
      },
      handler: async (args) => done(await verb.run(args as ArgumentsCamelCase<Args>, io)),
    }) as Argv<CommonArgs>;
  return { hasSubcommands: verb.subcommands !== undefined, add };
}
