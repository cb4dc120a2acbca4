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
export type { Exchange, WireRequest } from './api/http.js';
export { McpClient, type McpClientOptions } from './api/mcp/client.js';
export type { Tool } from './api/mcp/tools.js';
export type { McpWireOptions } from './api/mcp/wire.js';
export type { ApiName, BodyOf, Keep, Operation, OperationSubject, ParamsOf, Route } from './api/operation.js';
export { type Id, idText } from './api/schema.js';
export type { ProxyOptions, TransportOptions } from './api/transport.js';
export { readAllowance, type V1Allowance, type V1Quota } from './api/v1/allowance.js';
export { KybV1Client } from './api/v1/client.js';
export { type V1OperationName, v1Operations } from './api/v1/operations.js';
export { PlatformV2Client, type V2ClientOptions } from './api/v2/client.js';
export { type V2OperationName, v2Operations } from './api/v2/operations.js';
export { parseRoutes, type Routes } from './api/v2/routes.js';
export { type DoctorOptions, type DoctorView, doctor } from './app/admin/doctor.js';
export type { Finding } from './app/admin/doctor-ledger.js';
export type { V2Counts } from './app/admin/doctor-provider.js';
export { type EraseOptions, type EraseView, erase, type PreviewOptions, previewErase } from './app/admin/erase.js';
export {
  type BackupOptions,
  type BackupView,
  backup,
  type CopyLedgerOptions,
  type CopyLedgerView,
  copyLedger,
  type MigrateView,
  migrate,
} from './app/admin/ledger.js';
export {
  type DropPortfolioOptions,
  type DropPortfolioView,
  type DroppedPortfolio,
  dropPortfolio,
  type PruneOptions,
  type PruneView,
  prune,
} from './app/admin/prune.js';
export { type UsageOptions, type UsageView, usage } from './app/admin/usage.js';
export type { DeciderOptions } from './app/environment.js';
export { type AppEnvironment, type PlaceOptions, processEnvironment } from './app/environment.js';
export {
  type CheckedPortfolio,
  type CheckOptions,
  type CheckView,
  checkPortfolios,
  type Trouble,
} from './app/monitoring/check.js';
export {
  type ChangedItem,
  type ChangesOptions,
  type ChangesView,
  type ChangeView,
  changes,
  type RawAnswerOptions,
  type RawAnswerView,
  type RecentChangesOptions,
  type RecentChangesView,
  rawAnswer,
  recentChanges,
} from './app/portfolio/changes.js';
export { type CompanyOptions, type CompanyView, company } from './app/portfolio/company.js';
export { type PortfolioView, portfolios } from './app/portfolio/portfolios.js';
export { type ListedRow, type RowsOptions, type RowsView, rows } from './app/portfolio/rows.js';
export type { WatchEnd } from './app/portfolio/watch.js';
export {
  type WatchListOptions,
  type WatchListView,
  type WatchPullOptions,
  type WatchPullView,
  type WatchSyncOptions,
  type WatchSyncView,
  watchListed,
  watchPull,
  watchSync,
} from './app/portfolio/watch.js';
export { type WatchListenOptions, type WatchListenView, watchListen } from './app/portfolio/watch-listen.js';
export { type CallView, call, type DirectCallOptions, type ToolsOptions, tools } from './app/provider/call.js';
export { ParkedError, UnknownChargeError } from './app/provider/direct-calls.js';
export type { OperationView, ParameterView } from './app/provider/operations.js';
export type { PlannedPermission } from './app/provider/permissions.js';
export type { ProspectOptions, ProspectProposal } from './app/provider/prospect.js';
export { type ProspectView, prospect } from './app/provider/prospect.js';
export type { ProviderOptions } from './app/provider/provider.js';
export { type SampleOptions, type SampleView, sample } from './app/provider/sandbox.js';
export {
  ownedVocabularies,
  type StoredVocabulary,
  type VocabOptions,
  type VocabTablesOptions,
  type VocabTablesView,
  type VocabView,
  vocab,
  writeVocabularies,
} from './app/provider/vocabularies.js';
export {
  type AppliedView,
  answerByRule,
  applyAnswers,
  decisions,
  type ExportQuestionsOptions,
  exportQuestions,
  listQuestions,
  type QuestionsOptions,
  type RuleOptions,
  type RuleView,
  reviewSheets,
  type WithdrawnBatchView,
  withdrawBatch,
  withdrawDecision,
} from './app/review/review.js';
export {
  type ChargeProposal,
  type Consent,
  type Contradiction,
  type ListUnknownChargesOptions,
  listUnknownCharges,
  type RecordChargesOptions,
  type RecordedChargesView,
  recordCharges,
  type UnknownChargesOptions,
  type UnknownChargesView,
} from './app/review/unknown-charges.js';
export type { ContinueOptions, ContinueProposal } from './app/run/continue-run.js';
export { resume, retry } from './app/run/continue-run.js';
export { type ExportTablesOptions, type ExportView, exportTables, type TableOptions } from './app/run/export.js';
export { ContinueError, type ContinueStep, type NextStep, type ReviewSheets } from './app/run/next-step.js';
export { type JobOptions, type PlanView, plan } from './app/run/plan.js';
export type { ReleasedRun } from './app/run/progress.js';
export { type Proposal, type RunOptions, run } from './app/run/run.js';
export type { AttemptEnding, LeftToPeople, RunEndView, StopView } from './app/run/run-end.js';
export type { RunStanding, RunView } from './app/run/runs.js';
export { type DropRunOptions, type DropRunView, dropRun, runs } from './app/run/runs.js';
export type { ListenToSpending, SpendingEvent, StartedEvent } from './app/run/spending.js';
export { type CommandWording, DeclinedError, type SpendingOptions } from './app/run/spending.js';
export { type ProcessView, type StatusOptions, type StatusView, status } from './app/run/status.js';
export type { CallEvent } from './calls/options.js';
export type { ContactCounts, PermissionUse, Reveals } from './domain/account-usage.js';
export type { ChangeKey, ChangeKind, FieldChange } from './domain/change.js';
export { type Charge, type ErrorClass, ExitCode, KybatchError, type StopReason, UsageError } from './domain/errors.js';
export type { RowOutcome } from './domain/outcomes.js';
export type { Money, Prices, Purchases } from './domain/prices.js';
export type { IdSpace, Meter } from './domain/provider.js';
export type { RunEvent } from './engine/events.js';
export type { MovedUse } from './engine/permissions.js';
export type { RunPlan } from './engine/plan.js';
export type { Amounts, RemainingCost } from './engine/row-cost.js';
export type { ExportFolder, FoundExport } from './export/export-folders.js';
export type { ExportFormat } from './export/formats/format.js';
export type { ExportedFile, ExportLack, ExportSummary } from './export/summary.js';
export type { EraseProof, EraseReport, EraseRequest, PruneReport } from './ledger/erase/housekeeping.js';
export type { DamagedAnswer } from './ledger/health.js';
export type { OutageNote } from './ledger/money/calls.js';
export type {
  CallUnderWay,
  ChargeVerdict,
  UnknownCharge,
  UnknownChargeCall,
} from './ledger/money/unknown-charges.js';
export type { Allowances, ContactUsage, PermissionUsage, UsageReport } from './ledger/money/usage.js';
export type { DueReason } from './ledger/portfolio/portfolios.js';
export type { WatchEvent, WatchRecord } from './ledger/portfolio/watches.js';
export type { AttemptSpending as Spent, RunActivity } from './ledger/queries.js';
export type { DecisionEntry } from './ledger/review/review.js';
export type { Progress } from './ledger/rows/runs.js';
export type { Refusal } from './review/apply.js';
export type { LeftOut, Rule } from './review/bulk-answer.js';
export type { QuestionFilter } from './review/filter.js';
export type { Choice, Question } from './review/questions.js';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox/index.js';
export { type Clock, ManualClock, systemClock } from './util/clock.js';
export { type ExactJson, ExactNumber, parseExact, stringifyExact } from './util/exact-json.js';
