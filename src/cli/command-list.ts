import { type Registration, register } from './command.js';

/** All commands. Each is loaded when it is needed, so that others start quickly. */
export const commands: Readonly<Record<string, () => Promise<Registration>>> = {
  run: async () => register((await import('./commands/run.js')).runCommand),
  plan: async () => register((await import('./commands/plan.js')).planCommand),
  resume: async () => register((await import('./commands/resume.js')).resumeCommand),
  runs: async () => register((await import('./commands/runs.js')).runsCommand),
  portfolios: async () => register((await import('./commands/portfolios.js')).portfoliosCommand),
  status: async () => register((await import('./commands/status.js')).statusCommand),
  changes: async () => register((await import('./commands/changes.js')).changesCommand),
  usage: async () => register((await import('./commands/usage.js')).usageCommand),
  review: async () => register((await import('./commands/review.js')).reviewCommand),
  charges: async () => register((await import('./commands/charges.js')).chargesCommand),
  watch: async () => register((await import('./commands/watch.js')).watchCommand),
  export: async () => register((await import('./commands/export.js')).exportCommand),
  prune: async () => register((await import('./commands/prune.js')).pruneCommand),
  erase: async () => register((await import('./commands/erase.js')).eraseCommand),
  prospect: async () => register((await import('./commands/prospect.js')).prospectCommand),
  vocab: async () => register((await import('./commands/vocab.js')).vocabCommand),
  call: async () => register((await import('./commands/call.js')).callCommand),
  doctor: async () => register((await import('./commands/doctor.js')).doctorCommand),
  worker: async () => register((await import('./commands/worker.js')).workerCommand),
  ledger: async () => register((await import('./commands/ledger.js')).ledgerCommand),
  pipelines: async () => register((await import('./commands/pipelines.js')).pipelinesCommand),
  completion: async () => register((await import('./commands/completion.js')).completionCommand),
  sandbox: async () => register((await import('./commands/sandbox.js')).sandboxCommand),
};
