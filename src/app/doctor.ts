import { loadPipeline } from '../config/pipeline.js';
import { ExitCode } from '../domain/exit-codes.js';
import { aheadInWords } from '../ledger/clock-ahead.js';
import type { DamagedAnswer, ServerHealth } from '../ledger/health.js';
import { checkMcp } from './doctor-mcp.js';
import type { V2Counts } from './doctor-permissions.js';
import { checkMonitoring, checkPipeline, DEFAULT_PIPELINE } from './doctor-pipeline.js';
import { checkContents, checkDataDir, checkSpace } from './doctor-place.js';
import { checkV1, checkV2 } from './doctor-provider.js';
import { lookAtLedger } from './doctor-server.js';
import type { Finding } from './finding.js';
import type { GuardFinding } from './guards.js';
import { keepChecks, keepCounts } from './keep-counts.js';
import { newLedger } from './new-ledger.js';
import { ownedElsewhere } from './owned-elsewhere.js';
import { clockOff } from './preflight.js';
import { type Provider, type ProviderOptions, withProvider } from './provider.js';
import { here, ledgerOf, type Surroundings, withLedger } from './surroundings.js';

export interface DoctorView {
  readonly findings: readonly Finding[];
  /** What v2 counts; null where it did not tell. */
  readonly v2: V2Counts;
  /** The server that holds the ledger; null where that is a file, or where it did not answer. */
  readonly server: ServerHealth | null;
  /** What the worst of them means for a script. */
  readonly exit: ExitCode;
}

export interface DoctorOptions extends ProviderOptions {
  /** Every stored answer is unpacked and compared with its digest, and every record is read, too. */
  readonly deep?: boolean | undefined;
  /** The pipeline that is to run, as `run` takes it: what it lacks is a failure. Without it the default is only told of. */
  readonly pipeline?: string | undefined;
  /** How an answer is bought again, for whoever reads the findings. */
  readonly callAgain?: ((answer: DamagedAnswer) => string) | undefined;
}

const callInWords = ({ operation, params }: DamagedAnswer): string => `call ${operation} with ${params}`;

/** Looks at configuration, keys (for 0 units), data directory, disk space and database. */
export function doctor(options: DoctorOptions = {}, around = here()): Promise<DoctorView> {
  return withProvider(options, around, async (provider) => {
    const place = ledgerOf(options, around);
    const { dataDir } = place;
    const { health, server, findings: ofLedger } = await lookAtLedger(place, around);
    const pipeline = loadPipeline(options.pipeline ?? DEFAULT_PIPELINE, around.cwd);
    const { findings: ofV1, costly } = await checkV1(provider, around.clock.now());
    const { findings: ofV2, ...v2 } = await checkV2(provider, pipeline, around.clock.now());
    const findings = [
      ...ofV1,
      ...(await keepChecks(costly, provider.names.v1, health, options, around)),
      ...ofV2,
      ...(await checkMcp(provider)),
      ...checkPipeline(pipeline, options.pipeline !== undefined, provider),
      ...checkMonitoring(pipeline, options.pipeline !== undefined, dataDir, around),
      checkDataDir(place),
      ...checkSpace(dataDir, around),
      ...ofLedger,
      ...clockOff(provider).map(refusing),
      ...(health.state === 'absent' ? await lostLedger(dataDir, provider) : []),
      ...(health.state === 'sound' ? await checkOwned(provider, options, around) : []),
      ...(options.deep ? await checkContents(place, health, around, options.callAgain ?? callInWords) : []),
      ...(await keepCounts(v2, provider.names.v2, health, options, around)),
    ];
    return { findings, v2, server, exit: worst(findings) };
  });
}

/** The clock guard refuses every start. */
const refusing = ({ guard, message, hint }: GuardFinding): Finding => ({
  check: `guard ${guard}`,
  state: 'fail',
  detail: `${message}. A run is refused. ${hint}`,
  exit: ExitCode.usage,
});

const lostLedger = async (dataDir: string, { names }: Provider): Promise<readonly Finding[]> =>
  (await newLedger({ dataDir, out: undefined }, names, null)).map(noteOfGuard);

/** At a terminal a person is asked about it; elsewhere a run is refused. */
const noteOfGuard = ({ guard, message, hint }: GuardFinding): Finding => ({
  check: `guard ${guard}`,
  state: 'note',
  detail: `${message}. A run that cannot ask is refused. ${hint}`,
});

/** Are answers owned under another name, or dated at a time that has not come? */
function checkOwned({ names }: Provider, options: DoctorOptions, around: Surroundings): Promise<readonly Finding[]> {
  return withLedger('read', options, around, async (ledger, dataDir) => {
    const note = (check: string, detail: string): Finding => ({ check, state: 'note', detail });
    const elsewhere = await ownedElsewhere(names, ledger);
    const ahead = await ledger.reading.clockAhead();
    const lost = await newLedger({ dataDir, out: undefined }, names, ledger);
    return [
      ...lost.map(noteOfGuard),
      ...elsewhere.map((detail) => note('owned answers', detail)),
      ...(ahead === null ? [] : [note('clock', aheadInWords(ahead, around.clock.now()))]),
    ];
  });
}

/** A refused key before a configuration fault, and both before a provider that does not answer. */
function worst(findings: readonly Finding[]): ExitCode {
  const exits = findings.filter(({ state }) => state === 'fail').map(({ exit }) => exit);
  const order = [ExitCode.credentials, ExitCode.usage, ExitCode.unavailable, ExitCode.internal];
  return order.find((exit) => exits.includes(exit)) ?? ExitCode.ok;
}
