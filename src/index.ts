/** The library's public list. */
export { readAnswer } from './api/answer.js';
export {
  type AddressedCall,
  ApiClient,
  type CallOptions,
  type ClientOptions,
  type PreparedCall,
  type Reply,
} from './api/client.js';
export { ApiError, type ApiErrorDetails, type Limit } from './api/errors.js';
export type { Exchange } from './api/exchange.js';
export { McpClient, type McpClientOptions } from './api/mcp/client.js';
export type { Tool } from './api/mcp/tools.js';
export type { McpWireOptions } from './api/mcp/wire.js';
export type { ApiName, BodyOf, Keep, Operation, OperationSubject, ParamsOf, Route } from './api/operation.js';
export type { WireRequest } from './api/request.js';
export { type Id, idText } from './api/schema.js';
export type { ProxyOptions, TransportOptions } from './api/transport.js';
export { readAllowance, type V1Allowance, type V1Quota } from './api/v1/allowance.js';
export { KybV1Client } from './api/v1/client.js';
export { type V1OperationName, v1Operations } from './api/v1/operations.js';
export { PlatformV2Client, type V2ClientOptions } from './api/v2/client.js';
export { type V2OperationName, v2Operations } from './api/v2/operations.js';
export { parseRoutes, type Routes } from './api/v2/routes.js';
export { type BackupOptions, type BackupView, backup } from './app/backup-ledger.js';
export { type CallByHand, type CallView, call } from './app/call.js';
export { type ChangedItem, type ChangesOptions, type ChangesView, type ChangeView, changes } from './app/changes.js';
export { type CopyLedgerOptions, type CopyLedgerView, copyLedger } from './app/copy-ledger.js';
export type { DeciderOptions } from './app/decider.js';
export { type DoctorOptions, type DoctorView, doctor } from './app/doctor.js';
export type { V2Counts } from './app/doctor-permissions.js';
export {
  type Consent,
  type Contradiction,
  type DoubtProposal,
  type DoubtsOptions,
  type DoubtsView,
  type ListDoubtsOptions,
  listDoubts,
  type SettleDoubtsOptions,
  type SettledDoubtsView,
  settleDoubts,
} from './app/doubt.js';
export {
  type DropPortfolioOptions,
  type DropPortfolioView,
  type DroppedPortfolio,
  dropPortfolio,
} from './app/drop-portfolio.js';
export { type DropRunOptions, type DropRunView, dropRun } from './app/drop-run.js';
export type { ListenToSpending, SpendingEvent, StartedEvent } from './app/events.js';
export { type ExportTablesOptions, type ExportView, exportTables, type TableOptions } from './app/export.js';
export type { Finding } from './app/finding.js';
export type { GoOnOptions, GoOnProposal } from './app/go-on.js';
export { InDoubtError } from './app/in-doubt-error.js';
export { type MigrateView, migrate } from './app/migrate.js';
export { GoOnError, type GoOnStep, type NextStep, type ReviewSheets } from './app/next-step.js';
export { type CheckedList, type CheckOptions, type CheckView, checkNights, type Trouble } from './app/night/check.js';
export type { OperationView, ParameterView } from './app/operations.js';
export {
  type OwnedVocabulary,
  ownedVocabularies,
  type VocabTablesOptions,
  type VocabTablesView,
  writeVocabularies,
} from './app/owned-vocabularies.js';
export { ParkedError } from './app/parked-error.js';
export { type JobOptions, type PlanView, plan } from './app/plan.js';
export type { PlannedPermission } from './app/plan-permissions.js';
export { type PortfolioView, portfolios } from './app/portfolios.js';
export type { ProspectOptions, ProspectProposal } from './app/prospect/options.js';
export { type ProspectView, prospect } from './app/prospect/prospect.js';
export type { ProviderOptions } from './app/provider.js';
export { type PruneOptions, type PruneView, prune } from './app/prune.js';
export { type PreviewOptions, type PurgeOptions, type PurgeView, previewPurge, purge } from './app/purge.js';
export { type RawAnswerOptions, type RawAnswerView, rawAnswer } from './app/raw-answer.js';
export type { ReleasedRun } from './app/released-runs.js';
export { resume } from './app/resume.js';
export { retry } from './app/retry.js';
export {
  type AppliedView,
  applyAnswers,
  decisions,
  type ExportQuestionsOptions,
  exportQuestions,
  listQuestions,
  type QuestionsOptions,
  reviewSheets,
  type WithdrawnBatchView,
  withdrawBatch,
  withdrawDecision,
} from './app/review.js';
export { answerByRule, type RuleOptions, type RuleView } from './app/review-rule.js';
export type { RunEndView, StopView } from './app/run-end.js';
export type { RunStanding, RunView } from './app/run-view.js';
export { runs } from './app/runs.js';
export { type SampleOptions, type SampleView, sample } from './app/sample.js';
export { DeclinedError, type SaidAs, type SpendingOptions } from './app/spending.js';
export { type Proposal, type RunOptions, run } from './app/start.js';
export type { StartEnding } from './app/start-ending.js';
export type { LeftToPeople, Spent } from './app/start-tally.js';
export { type AtWorkView, type StatusOptions, type StatusView, status } from './app/status.js';
export { here, type PlaceOptions, type Surroundings } from './app/surroundings.js';
export { type ToolsOptions, tools } from './app/tools.js';
export { type UsageOptions, type UsageView, usage } from './app/usage.js';
export { type VocabOptions, type VocabView, vocab } from './app/vocab.js';
export type { WatchEnd } from './app/watch-end.js';
export { type WatchListOptions, type WatchListView, watchListed } from './app/watch-list.js';
export { type WatchListenOptions, type WatchListenView, watchListen } from './app/watch-listen.js';
export { type WatchPullOptions, type WatchPullView, watchPull } from './app/watch-pull.js';
export { type WatchSyncOptions, type WatchSyncView, watchSync } from './app/watch-sync.js';
export type { CallEvent } from './calls/events.js';
export type { ChangeKey, ChangeKind, FieldChange } from './domain/change.js';
export type { ContactCounts } from './domain/contact-counts.js';
export { type Charge, type ErrorClass, KybatchError, type StopReason, UsageError } from './domain/errors.js';
export { ExitCode } from './domain/exit-codes.js';
export type { IdSpace } from './domain/id-spaces.js';
export type { Meter } from './domain/meter.js';
export type { RowOutcome } from './domain/outcomes.js';
export type { PermissionUse } from './domain/permission-use.js';
export type { Reveals } from './domain/reveals.js';
export type { RunEvent } from './engine/events.js';
export type { MovedUse } from './engine/permissions.js';
export type { RunPlan } from './engine/plan.js';
export type { Amounts, Rest } from './engine/row-cost.js';
export type { ExportFolder, FoundExport } from './export/export-folders.js';
export type { ExportFormat } from './export/options.js';
export type { ExportedFile, ExportLack, ExportSummary } from './export/summary.js';
export type { OutageNote } from './ledger/calls.js';
export type { CallUnderWay, DoubtfulCall, DoubtVerdict } from './ledger/doubts.js';
export type { DamagedAnswer } from './ledger/health.js';
export type { PruneReport, PurgeProof, PurgeReport, PurgeRequest } from './ledger/housekeeping.js';
export type { DueReason } from './ledger/portfolios.js';
export type { RunActivity } from './ledger/reading.js';
export type { DecisionEntry } from './ledger/review.js';
export type { Progress } from './ledger/runs.js';
export type { Allowances, ContactUsage, PermissionUsage, UnknownCharge, UsageReport } from './ledger/usage.js';
export type { WatchEvent, WatchRecord } from './ledger/watches.js';
export type { Refusal } from './review/check-line.js';
export type { QuestionFilter } from './review/filter.js';
export type { Choice, Question } from './review/questions.js';
export type { LeftOut, Rule } from './review/rule.js';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox/index.js';
export { type Clock, ManualClock, systemClock } from './util/clock.js';
export { type ExactJson, ExactNumber, parseExact } from './util/exact-json.js';
export { stringifyExact } from './util/exact-json-write.js';
