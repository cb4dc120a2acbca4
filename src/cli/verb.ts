import type { ArgumentsCamelCase, Argv } from 'yargs';
import type { ExitCode } from '../domain/exit-codes.js';
import type { CommonArgs } from './common-flags.js';
import { type DeclaredCommand, declaredBy } from './declared.js';
import type { Io } from './terminal/io.js';

export type { CommonArgs };

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
  /** `before`: the words before it. */
  readonly declare: (before?: string) => DeclaredCommand;
  readonly add: (
    yargs: Argv<CommonArgs>,
    io: Io,
    done: (code: ExitCode) => void,
    as?: { readonly name?: string | undefined; readonly forHelp?: boolean | undefined },
  ) => Argv<CommonArgs>;
}

/** `name`: what it is called by, where that is not its own word. */
export function register<Args extends CommonArgs>(verb: Verb<Args>): Registration {
  const [word = ''] = verb.command.split(' ');
  const { subcommands = [] } = verb;
  const add: Registration['add'] = (yargs, io, done, { name = word, forHelp = false } = {}) => {
    const behind = verb.command.slice(word.length);
    return yargs.command({
      // What is missing is told in our words: yargs says how many it has counted.
      command: name + (forHelp ? behind : behind.replaceAll('<', '[').replaceAll('>', ']')),
      describe: verb.describe,
      builder: (nested: Argv<CommonArgs>) => {
        for (const subcommand of subcommands) subcommand.add(nested, io, done, { forHelp });
        return verb.builder(nested);
      },
      handler: async (args) => done(await verb.run(args as ArgumentsCamelCase<Args>, io)),
    }) as Argv<CommonArgs>;
  };
  const declare: Registration['declare'] = (before = '') => {
    const below = subcommands.map((subcommand) => subcommand.declare(`${before}${word} `));
    return declaredBy(verb, verb.builder, before, below);
  };
  return { hasSubcommands: verb.subcommands !== undefined, declare, add };
}
