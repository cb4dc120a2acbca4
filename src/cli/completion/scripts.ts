/** The word behind which the scripts ask what may follow: one line each, with a tab before what it is. */
export const COMPLETE = '__complete';

/** Instead of a line: names of files may follow. */
export const FILES = ':files';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** How to have it in every new shell. */
export const INSTALL: Readonly<Record<Shell, string>> = {
  bash: "echo 'source <(kybatch completion bash)' >> ~/.bashrc",
  zsh: "echo 'source <(kybatch completion zsh)' >> ~/.zshrc",
  fish: 'kybatch completion fish > ~/.config/fish/completions/kybatch.fish',
};

/** They hand the words over and show what comes back: what can be said is known to the program alone. */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
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
