import { readFileSync } from 'node:fs';
import { LineCounter, parseDocument } from 'yaml';
import { UsageError } from '../domain/errors.js';

/** The content of a YAML (or JSON) file. `shownAs` is what messages call it. */
export function readYaml(file: string, shownAs: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(readText(file, shownAs), { lineCounter, prettyErrors: false });
  const problems = [...document.errors, ...document.warnings].map(({ message, pos }) => {
    const { line, col } = lineCounter.linePos(pos[0]);
    return `${shownAs}: line ${line}, column ${col}: ${message}`;
  });
  if (problems.length > 0) throw new UsageError(problems.join('\n'), 'The file is not valid YAML.');
  try {
    return document.toJS();
  } catch (error) {
    // Aliases that would swell without end are refused only when they are resolved.
    throw new UsageError(`${shownAs}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readText(file: string, shownAs: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${shownAs}: cannot read the file (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}
