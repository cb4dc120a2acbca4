import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type LoadedPipeline, loadPipeline } from '../../src/config/pipeline.js';
import { UsageError } from '../../src/domain/errors.js';

/** The pipelines that come with kybatch. */
export const SHIPPED = ['analyst', 'nightly', 'backfill', 'onboarding', 'credit', 'sales'] as const;

/** A working directory with these files, removed afterwards. */
export function withFiles<Result>(files: Readonly<Record<string, string>>, use: (cwd: string) => Result): Result {
  const cwd = mkdtempSync(join(tmpdir(), 'kybatch-pipeline-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), text);
    }
    return use(cwd);
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** Loads this text as `p.yaml`. */
export const load = (text: string): LoadedPipeline =>
  withFiles({ 'p.yaml': text }, (cwd) => loadPipeline('p.yaml', cwd));

/** A minimal file with these lines. */
export const loadWith = (lines: string): LoadedPipeline => load(`stages: [record]\n${lines}\n`);

export function refusal(act: () => unknown): UsageError {
  try {
    act();
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error('expected a refusal');
}

/** The problems of this file: the code of the error, and the key of each. */
export function problemsOf(text: string): readonly { readonly code: string; readonly key: string | undefined }[] {
  const { code, message } = refusal(() => load(text));
  const [, ...lines] = message.split('\n');
  return (lines.length === 0 ? [message] : lines).map((line) => ({
    code,
    key: /^(?:line +\d+)? {2,}(?!\(file\))(\S+) {2,}/.exec(line)?.[1],
  }));
}

/** The problems of a minimal file with these lines. */
export const problemsWith = (lines: string) => problemsOf(`stages: [record]\n${lines}\n`);
