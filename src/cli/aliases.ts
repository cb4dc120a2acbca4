/** Names of earlier versions. They work until 1.0, and no help shows them. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  doubt: ['charges'],
  migrate: ['ledger', 'migrate'],
  purge: ['erase'],
  retry: ['resume', '--failed'],
  work: ['worker'],
};

const FLAGS: Readonly<Record<string, string>> = { budget: 'max-units', fresh: 'rebuy' };

/** Flags of `prune` that have become commands. */
const PRUNED: Readonly<Record<string, string>> = { run: 'runs', portfolio: 'portfolios' };

/** The position of the command's word. Flags may stand before it, and one of the common flags takes a value. */
export const commandAt = (argv: readonly string[]): number =>
  argv.findIndex((given, index) => !given.startsWith('-') && argv[index - 1] !== '--data-dir');

/** The command line with today's names. */
export function withCurrentNames(argv: readonly string[]): readonly string[] {
  const at = commandAt(argv);
  const word = argv[at] ?? '';
  const renamed = argv.map((given) =>
    given.replace(/^(--(?:no-)?)(budget|fresh)(?==|$)/, (_, dashes: string, name: string) => dashes + FLAGS[name]),
  );
  const named = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
  if (named !== undefined) return [...renamed.slice(0, at), ...named, ...renamed.slice(at + 1)];
  return word === 'prune' ? pruneOfOne(renamed, at) : renamed;
}

/** `prune --run RUN` is `runs delete RUN`. */
function pruneOfOne(argv: readonly string[], at: number): readonly string[] {
  const flagAt = argv.findIndex((given) => /^--(?:run|portfolio)(?:=|$)/.test(given));
  const [name = '', ...value] = argv[flagAt]?.slice(2).split('=') ?? [];
  const given = value.length > 0 ? [value.join('=')] : argv.slice(flagAt + 1, flagAt + 2);
  if (flagAt < at || given.length === 0) return argv;
  const others = [...argv.slice(at + 1, flagAt), ...argv.slice(flagAt + (value.length > 0 ? 1 : 2))];
  return [...argv.slice(0, at), PRUNED[name] ?? '', 'delete', ...given, ...others];
}
