// Finds a pipeline file by path or name.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { UsageError } from '../domain/errors.js';
import { didYouMean } from '../util/message-parts.js';

export interface PipelineLocation {
  readonly name: string;
  /** Absolute path. */
  readonly file: string;
}

/** The same from `src/config` and from `dist/config`. */
const PACKAGED = resolve(import.meta.dirname, '../../pipelines');

/**
 * A path is used as it is. A bare name is looked up in the working directory's `pipelines`, then among the packaged
 * ones.
 */
export function findPipeline(nameOrFile: string, cwd: string): PipelineLocation {
  if (/[/\\]|\.(?:ya?ml|json)$/i.test(nameOrFile)) {
    const file = resolve(cwd, nameOrFile);
    return { name: basename(file, extname(file)), file };
  }
  const file = folders(cwd)
    .map((folder) => resolve(folder, `${nameOrFile}.yaml`))
    .find((path) => existsSync(path));
  if (file !== undefined) return { name: nameOrFile, file };
  const known = pipelineNames(cwd);
  throw new UsageError(
    'PIPELINE_NOT_FOUND',
    `There is no pipeline named ${JSON.stringify(nameOrFile)}.${didYouMean(nameOrFile, known)}`,
    `There are: ${known.join(', ')}. A file of your own is given by its path, such as ./mine.yaml, or by name when it lies in ./pipelines.`,
  );
}

/** The value of `--pipeline` that finds it again from any folder. */
export const pipelineArgument = ({ name, file }: PipelineLocation): string =>
  file === resolve(PACKAGED, `${name}.yaml`) ? name : file;

/** Every pipeline that can be given by name. */
export function pipelineNames(cwd: string): readonly string[] {
  const files = folders(cwd).flatMap((folder) => (isFolder(folder) ? readdirSync(folder) : []));
  const names = files.filter((file) => file.endsWith('.yaml')).map((file) => basename(file, '.yaml'));
  return [...new Set(names)].sort();
}

const folders = (cwd: string): readonly string[] => [resolve(cwd, 'pipelines'), PACKAGED];

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
