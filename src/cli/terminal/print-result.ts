import { stringifyExact } from '../../util/exact-json-write.js';
import type { Io } from './io.js';

/** What a command was asked for: one JSON object with --json, words without it; on stdout either way. */
export function printResult(io: Io, { json }: { readonly json: boolean }, toJson: () => unknown, words: () => string) {
  io.stdout(json ? `${stringifyExact(toJson())}\n` : words());
}

/** The same where the words say more than the object: with --json they are a note. */
export function printResultAndWords(io: Io, args: { readonly json: boolean }, toJson: () => unknown, words: string) {
  printResult(io, args, toJson, () => words);
  if (args.json) io.stderr(words);
}
