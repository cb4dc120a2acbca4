import { basename } from 'node:path';
import { UsageError } from '../../domain/errors.js';
import { message } from '../../util/message-parts.js';
import { COMPLETE, register } from '../command.js';
import { printResult } from '../terminal/io.js';

export const completionCommand = register({
  command: 'completion [shell]',
  describe: 'Print the completion script of a shell',
  builder: (yargs) => yargs.positional('shell', { choices: SHELLS, describe: 'The shell (default: from $SHELL)' }),
  async run(args, io) {
    const shell = args.shell ?? shellOf(io.env.SHELL);
    printResult(
      io,
      { shell, script: SCRIPTS[shell] },
      message('COMPLETION', `${SCRIPTS[shell]}# In every new shell: ${INSTALL[shell]}`),
    );
  },
});

function shellOf(path: string | undefined): Shell {
  const name = basename(path ?? '');
  const shell = SHELLS.find((known) => known === name);
  if (shell !== undefined) return shell;
  throw new UsageError(
    'SHELL_NOT_FOUND',
    name === '' ? '$SHELL names no shell' : `there is no completion for ${name}`,
    `Use one of: ${SHELLS.join(', ')}. Example: kybatch completion bash`,
  );
}

/** This line of the answer stands for the names of files. */
export const FILES = ':files';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const INSTALL: Readonly<Record<Shell, string>> = {
  bash: "echo 'source <(kybatch completion bash)' >> ~/.bashrc",
  zsh: "echo 'source <(kybatch completion zsh)' >> ~/.zshrc",
  fish: 'kybatch completion fish > ~/.config/fish/completions/kybatch.fish',
};

/** A script asks kybatch for the candidates, because only kybatch knows its commands and flags. */
const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `_kybatch() {
  local value about files= current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS=$'\\t' read -r value about; do
    if [[ $value == ${FILES} ]]; then files=1; else COMPREPLY+=("$(printf '%q' "$value")"); fi
  done < <("\${COMP_WORDS[0]}" ${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$current")
  fi
}
complete -F _kybatch kybatch
`,
  zsh: `#compdef kybatch
_kybatch() {
  local value about
  local -a found
  local files=0
  while IFS=$'\\t' read -r value about; do
    if [[ $value == ${FILES} ]]; then files=1; else found+=("\${value//:/\\\\:}:$about"); fi
  done < <("\${words[1]}" ${COMPLETE} "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe kybatch found
  (( files )) && _files
}
if [[ "\${funcstack[1]}" == _kybatch ]]; then
  _kybatch "$@"
else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
  compdef _kybatch kybatch
fi
`,
  fish: `function __kybatch_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] ${COMPLETE} $words[2..-1] 2>/dev/null)
    if test "$line" = ${FILES}
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c kybatch -f -a '(__kybatch_complete)'
`,
};
