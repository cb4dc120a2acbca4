import { type Registration, register } from './verb.js';

/** Loaded on demand: schemas of fifty operations and a whole provider need not be built to print a version. */
export const verbs: Readonly<Record<string, () => Promise<Registration>>> = {
  run: async () => register((await import('./verbs/run.js')).runVerb),
  plan: async () => register((await import('./verbs/plan.js')).planVerb),
  resume: async () => register((await import('./verbs/resume.js')).resumeVerb),
  work: async () => register((await import('./verbs/work.js')).workVerb),
  retry: async () => register((await import('./verbs/retry.js')).retryVerb),
  runs: async () => register((await import('./verbs/runs.js')).runsVerb),
  portfolios: async () => register((await import('./verbs/portfolios.js')).portfoliosVerb),
  status: async () => register((await import('./verbs/status.js')).statusVerb),
  changes: async () => register((await import('./verbs/changes.js')).changesVerb),
  usage: async () => register((await import('./verbs/usage.js')).usageVerb),
  review: async () => register((await import('./verbs/review.js')).reviewVerb),
  doubt: async () => register((await import('./verbs/doubt.js')).doubtVerb),
  watch: async () => register((await import('./verbs/watch.js')).watchVerb),
  export: async () => register((await import('./verbs/export.js')).exportVerb),
  prune: async () => register((await import('./verbs/prune.js')).pruneVerb),
  purge: async () => register((await import('./verbs/purge.js')).purgeVerb),
  prospect: async () => register((await import('./verbs/prospect.js')).prospectVerb),
  vocab: async () => register((await import('./verbs/vocab.js')).vocabVerb),
  call: async () => register((await import('./verbs/call.js')).callVerb),
  doctor: async () => register((await import('./verbs/doctor.js')).doctorVerb),
  migrate: async () => register((await import('./verbs/migrate.js')).migrateVerb),
  ledger: async () => register((await import('./verbs/ledger.js')).ledgerVerb),
  completion: async () => register((await import('./verbs/completion.js')).completionVerb),
  sandbox: async () => register((await import('./verbs/sandbox.js')).sandboxVerb),
};
