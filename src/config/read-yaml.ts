import { UsageError } from '../domain/errors.js';
import { readSmallFile, UnreadableFile } from '../util/files.js';
import { firstFew } from '../util/message-parts.js';
import { parseYaml, type YamlReading } from '../util/parse-yaml.js';

/** The content of a YAML or JSON file. `shownAs`: its name in messages. `reading`: what its numbers are for. */
export function readYaml(file: string, shownAs: string, reading: YamlReading = {}): unknown {
  return readYamlText(readText(file, shownAs), shownAs, reading);
}

/** The same for the text of such a file. */
export function readYamlText(text: string, shownAs: string, reading: YamlReading = {}): unknown {
  const { document, problems } = parseYaml(text, reading);
  if (problems.length > 0) {
    const told = firstFew(
      problems,
      ({ line, col, message }) => `${shownAs}: line ${line}, column ${col}: ${message}`,
      'problems',
    );
    throw new UsageError('YAML_INVALID', told.join('\n'), 'The file is not valid YAML.');
  }
  try {
    return document.toJS();
  } catch (error) {
    // Endlessly expanding aliases are refused only when they are resolved.
    throw new UsageError('YAML_INVALID', `${shownAs}: ${error instanceof Error ? error.message : String(error)}`);
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
