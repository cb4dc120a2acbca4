import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { LoadedPipeline } from '../config/pipeline.js';
import { KybatchError, UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { systemFailure } from '../domain/system-failure.js';
import { sentence } from '../util/sentence.js';
import { fileTarget } from './file-target.js';
import type { Finding } from './finding.js';
import { checkProvider, type Provider } from './provider.js';
import { pathIn, type Surroundings } from './surroundings.js';

export const DEFAULT_PIPELINE = 'analyst';

/** Whether a run would get as far as its first call: whoever names a pipeline wants to know, and the default is told of. */
export function checkPipeline(pipeline: LoadedPipeline, isNamed: boolean, provider: Provider): readonly Finding[] {
  const which = isNamed ? pipeline.name : `${pipeline.name}, the default,`;
  try {
    checkProvider(pipeline, provider);
    return [{ check: 'pipeline', state: 'ok', detail: `${which} has all it needs` }];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { message, hint = '', exit } = error;
    const detail = `${which} would be refused: ${sentence(message)} ${hint}`.trimEnd();
    if (isNamed) return [{ check: 'pipeline', state: 'fail', detail, exit }];
    // One without any provider is told of above.
    if (provider.v1 === null && provider.v2 === null) return [];
    const other = 'Where you use another, `kybatch doctor --pipeline NAME` checks that one.';
    return [{ check: 'pipeline', state: 'note', detail: `${detail} ${other}` }];
  }
}

/** Whether the figures can be written, and whoever is to be told can be: a run only warns of it, at night. */
export function checkMonitoring(
  { metrics, notify, file }: LoadedPipeline,
  isNamed: boolean,
  dataDir: string,
  around: Surroundings,
): readonly Finding[] {
  const look = (check: string, place: string, mustBeWell: () => string): Finding => {
    try {
      return { check, state: 'ok', detail: mustBeWell() };
    } catch (error) {
      const detail = `${place}: ${whyNot(error)}`;
      return isNamed ? { check, state: 'fail', detail, exit: ExitCode.usage } : { check, state: 'note', detail };
    }
  };
  // The address of a webhook is not tried: whoever listens would be told of nothing.
  const program = notify?.to.kind === 'command' ? notify.to.argv[0] : undefined;
  return [
    ...(metrics === null
      ? []
      : [look('metrics', metrics.file, () => mustBeWritable(metrics.file, file, dataDir, around))]),
    ...(program === undefined ? [] : [look('notify', program, () => mustBeProgram(program, around))]),
  ];
}

function whyNot(error: unknown): string {
  const failure = systemFailure(error);
  if (failure !== undefined) return `${sentence(failure.what)} ${failure.hint}`;
  if (!(error instanceof KybatchError)) throw error;
  return `${sentence(error.message)} ${error.hint ?? ''}`.trimEnd();
}

function mustBeWritable(named: string, pipelineFile: string, dataDir: string, around: Surroundings): string {
  const path = fileTarget(pathIn(around, named), dataDir, around, [pipelineFile], 'metrics.file');
  const folder = dirname(path);
  if (!isFolder(folder)) throw new UsageError(`the folder ${folder} is not there`, 'Make it, or name another file.');
  accessSync(folder, constants.W_OK | constants.X_OK);
  return `${path} can be written`;
}

/** As the system finds it: by its path, or in the folders of PATH. */
function mustBeProgram(program: string, around: Surroundings): string {
  const places = program.includes('/')
    ? [pathIn(around, program)]
    : (around.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program));
  const found = places.find(isProgram);
  if (found === undefined)
    throw new UsageError('there is no such program that this user may run', 'Name it with its path in notify.command.');
  return `${found} can be run`;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
