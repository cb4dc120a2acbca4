import { type Registration, register } from './command.js';

/** Loaded on demand: schemas of fifty operations and a whole provider need not be built to print a version. */
export const verbs: Readonly<Record<string, () => Promise<Registration>>> = {
  run: async () => register((await import('./commands/run.js')).runVerb),
  plan: async () => register((await import('./commands/plan.js')).planVerb),
  resume: async () => register((await import('./commands/resume.js')).resumeVerb),
  work: async () => register((await import('./commands/work.js')).workVerb),
  retry: async () => register((await import('./commands/resume.js')).retryVerb),
  runs: async () => register((await import('./commands/runs.js')).runsVerb),
  portfolios: async () => register((await import('./commands/portfolios.js')).portfoliosVerb),
  status: async () => register((await import('./commands/status.js')).statusVerb),
  changes: async () => register((await import('./commands/changes.js')).changesVerb),
  usage: async () => register((await import('./commands/usage.js')).usageVerb),
  review: async () => register((await import('./commands/review.js')).reviewVerb),
  doubt: async () => register((await import('./commands/doubt.js')).doubtVerb),
  watch: async () => register((await import('./commands/watch.js')).watchVerb),
  export: async () => register((await import('./commands/export.js')).exportVerb),
  prune: async () => register((await import('./commands/prune.js')).pruneVerb),
  purge: async () => register((await import('./commands/purge.js')).purgeVerb),
  prospect: async () => register((await import('./commands/prospect.js')).prospectVerb),
  vocab: async () => register((await import('./commands/vocab.js')).vocabVerb),
  call: async () => register((await import('./commands/call.js')).callVerb),
  doctor: async () => register((await import('./commands/doctor.js')).doctorVerb),
  migrate: async () => register((await import('./commands/ledger.js')).migrateVerb),
  ledger: async () => register((await import('./commands/ledger.js')).ledgerVerb),
  completion: async () => register((await import('./commands/completion.js')).completionVerb),
  sandbox: async () => register((await import('./commands/sandbox.js')).sandboxVerb),
};
