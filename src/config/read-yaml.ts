import { UsageError } from '../domain/errors.js';
import { readSmallFile, UnreadableFile } from '../util/files.js';
import { firstFew } from '../util/message-parts.js';
import { type ParsedYaml, parseYaml, type YamlReading } from '../util/parse-yaml.js';

export interface YamlContent extends Pick<ParsedYaml, 'lineOf'> {
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
    return readSmallFile(file, { pipe: true });
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    throw new UsageError('FILE_UNREADABLE', `${shownAs} ${error.message}`);
  }
}
