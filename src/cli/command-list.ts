import type { Registration } from './command.js';

/** All commands. Each is loaded when it is needed, so that others start quickly. */
export const commands: Readonly<Record<string, () => Promise<Registration>>> = {
  plan: async () => (await import('./commands/plan.js')).planCommand,
  run: async () => (await import('./commands/run.js')).runCommand,
  resume: async () => (await import('./commands/resume.js')).resumeCommand,
  status: async () => (await import('./commands/status.js')).statusCommand,
  review: async () => (await import('./commands/review.js')).reviewCommand,
  ui: async () => (await import('./commands/ui.js')).uiCommand,
  export: async () => (await import('./commands/export.js')).exportCommand,
  report: async () => (await import('./commands/report.js')).reportCommand,
  portfolios: async () => (await import('./commands/portfolios.js')).portfoliosCommand,
  runs: async () => (await import('./commands/runs.js')).runsCommand,
  changes: async () => (await import('./commands/changes.js')).changesCommand,
  watch: async () => (await import('./commands/watch.js')).watchCommand,
  prospect: async () => (await import('./commands/prospect.js')).prospectCommand,
  usage: async () => (await import('./commands/usage.js')).usageCommand,
  charges: async () => (await import('./commands/charges.js')).chargesCommand,
  doctor: async () => (await import('./commands/doctor.js')).doctorCommand,
  pipelines: async () => (await import('./commands/pipelines.js')).pipelinesCommand,
  sandbox: async () => (await import('./commands/sandbox.js')).sandboxCommand,
  completion: async () => (await import('./commands/completion.js')).completionCommand,
  prune: async () => (await import('./commands/prune.js')).pruneCommand,
  erase: async () => (await import('./commands/erase.js')).eraseCommand,
  ledger: async () => (await import('./commands/ledger.js')).ledgerCommand,
  worker: async () => (await import('./commands/worker.js')).workerCommand,
  call: async () => (await import('./commands/call.js')).callCommand,
  mcp: async () => (await import('./commands/mcp.js')).mcpCommand,
  vocab: async () => (await import('./commands/vocab.js')).vocabCommand,
};

export const commandGroups = {
  Everyday: ['plan', 'run', 'resume', 'status', 'review', 'ui', 'export', 'report'],
  Lists: ['portfolios', 'runs', 'changes', 'watch', 'prospect'],
  Money: ['usage', 'charges'],
  'Set-up': ['doctor', 'pipelines', 'sandbox', 'mcp', 'completion'],
  Housekeeping: ['prune', 'erase', 'ledger', 'worker'],
  Provider: ['call', 'vocab'],
} as const;

export type CommandGroup = keyof typeof commandGroups;

/** Names of earlier versions. They work until 1.0, and no help shows them. */
const OLD_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  doubt: ['charges'],
  migrate: ['ledger', 'migrate'],
  purge: ['erase'],
  retry: ['resume', '--failed'],
  work: ['worker'],
};

const OLD_FLAGS: Readonly<Record<string, string>> = { budget: 'max-units', fresh: 'rebuy' };

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
    given.replace(/^(--(?:no-)?)(budget|fresh)(?==|$)/, (_, dashes: string, name: string) => dashes + OLD_FLAGS[name]),
  );
  const named = Object.hasOwn(OLD_COMMANDS, word) ? OLD_COMMANDS[word] : undefined;
  if (named !== undefined) return [...renamed.slice(0, at), ...named, ...renamed.slice(at + 1)];
  return word === 'prune' ? pruneOfOne(renamed, at) : renamed;
}

function pruneOfOne(argv: readonly string[], at: number): readonly string[] {
  const flagAt = argv.findIndex((given) => /^--(?:run|portfolio)(?:=|$)/.test(given));
  const [name = '', ...value] = argv[flagAt]?.slice(2).split('=') ?? [];
  const given = value.length > 0 ? [value.join('=')] : argv.slice(flagAt + 1, flagAt + 2);
  if (flagAt < at || given.length === 0) return argv;
  const others = [...argv.slice(at + 1, flagAt), ...argv.slice(flagAt + (value.length > 0 ? 1 : 2))];
  return [...argv.slice(0, at), PRUNED[name] ?? '', 'delete', ...given, ...others];
}
