// The files that users write: found by path or name, and read as YAML.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { UsageError } from '../domain/errors.js';
import { readSmallFile, UnreadableFile } from '../util/files.js';
import { didYouMean, firstFew } from '../util/message-parts.js';
import { type ParsedYaml, parseYaml, type YamlReading } from '../util/yaml.js';

interface PipelineLocation {
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
    `There are: ${known.join(', ')}. Give your own file by its path, such as ./mine.yaml, or by its name if it is in ./pipelines.`,
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

interface YamlContent extends Pick<ParsedYaml, 'lineOf'> {
  readonly content: unknown;
}

/** The content of a YAML or JSON file. `shownAs`: its name in messages. `reading`: what its numbers are for. */
export const readYaml = (file: string, shownAs: string, reading: YamlReading = {}): unknown =>
  readYamlLines(file, shownAs, reading).content;

/** The same with the lines of its keys. */
export const readYamlLines = (file: string, shownAs: string, reading: YamlReading = {}): YamlContent =>
  readYamlText(readText(file, shownAs), shownAs, reading);

/** The same for the text of such a file. */
export function readYamlText(text: string, shownAs: string, reading: YamlReading = {}): YamlContent {
  const { document, problems, lineOf } = parseYaml(text, reading);
  if (problems.length > 0) {
    const told = firstFew(problems, ({ line, message }) => `line ${line}  ${message}`, 'problems');
    throw new UsageError('YAML_INVALID', `${shownAs} is not valid YAML. Nothing was spent.\n${told.join('\n')}`);
  }
  try {
    return { content: document.toJS(), lineOf };
  } catch (error) {
    // Endlessly expanding aliases are refused only when they are resolved.
    throw new UsageError(
      'YAML_INVALID',
      `${shownAs} is not valid YAML: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function readText(file: string, shownAs: string): string {
  try {
    return readSmallFile(file);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    throw new UsageError('FILE_UNREADABLE', `${shownAs} ${error.message}`);
  }
}
