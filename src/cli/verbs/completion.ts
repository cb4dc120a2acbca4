import { basename } from 'node:path';
import { UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { INSTALL, SCRIPTS, SHELLS, type Shell } from '../completion/scripts.js';
import { printResult } from '../terminal/print-result.js';
import type { CommonArgs, Verb } from '../verb.js';

interface CompletionArgs extends CommonArgs {
  readonly shell: Shell | undefined;
}

export const completionVerb: Verb<CompletionArgs> = {
  command: 'completion [shell]',
  describe: 'Print the script that completes commands, flags, files and run IDs in a shell',
  builder: (yargs) =>
    yargs
      .positional('shell', { choices: SHELLS, describe: 'Which (default: that of $SHELL)' })
      .example('source <($0 completion bash)', 'in this bash alone')
      .epilogue(
        `In every new shell:\n${SHELLS.map((shell) => `  ${shell.padEnd(6)}${INSTALL[shell]}`).join('\n')}\nRun IDs are read from the ledger of the data directory; nothing is written.`,
      ),
  async run(args, io) {
    const shell = args.shell ?? guessed(io.env.SHELL);
    printResult(
      io,
      args,
      () => ({ shell, script: SCRIPTS[shell] }),
      () => `${SCRIPTS[shell]}# In every new shell: ${INSTALL[shell]}\n`,
    );
    return ExitCode.ok;
  },
};

function guessed(path: string | undefined): Shell {
  const name = basename(path ?? '');
  const shell = SHELLS.find((known) => known === name);
  if (shell !== undefined) return shell;
  throw new UsageError(
    name === '' ? '$SHELL does not say which shell this is' : `there is no completion for ${name}`,
    `Name one of: ${SHELLS.join(', ')}. For example: kybatch completion bash`,
  );
}
