import { aroundOf } from '../around.js';
import type { DeclaredCommand, DeclaredFlag } from '../declared.js';
import type { Io } from '../terminal/io.js';
import { verbs } from '../verb-list.js';
import { FILES } from './scripts.js';
import { type Candidate, valuesOf } from './values.js';

/**
 * What may follow, a line each. `words`: those behind the program's name up to the cursor, the last of them as far as it
 * is written. Nothing is told but what fits; trouble is no reason to say anything in the middle of somebody's line.
 */
export async function complete(words: readonly string[], io: Io): Promise<string> {
  const { before, written, prefix } = cut(words);
  const found = await candidates(before, written, io).catch(() => []);
  const lines = found
    .filter(({ value }) => value === FILES || value.startsWith(written))
    .map((one) => (one.value === FILES ? one : { ...one, value: prefix + one.value }))
    // A line is one candidate, and a tab ends its value.
    .filter(({ value }) => !/[\n\t]/.test(value))
    .map(({ value, about = '' }) => `${value}${about === '' ? '' : `\t${about.replaceAll(/\s+/g, ' ')}`}\n`);
  return lines.join('');
}

/** bash hands `--flag=value` over as three words, others as one: either is a flag and what is written of its value. */
function cut(words: readonly string[]) {
  const last = words.at(-1) ?? '';
  const before = words.slice(0, -1).filter((word) => word !== '=');
  const [, flag, value = ''] = /^(--[\w-]+)=(.*)$/.exec(last) ?? [];
  if (flag !== undefined) return { before: [...before, flag], written: value, prefix: `${flag}=` };
  return { before, written: last === '=' ? '' : last, prefix: '' };
}

async function candidates(before: readonly string[], written: string, io: Io): Promise<readonly Candidate[]> {
  const at = before.findIndex((word, index) => !word.startsWith('-') && before[index - 1] !== '--data-dir');
  const load = Object.hasOwn(verbs, before[at] ?? '') ? verbs[before[at] ?? ''] : undefined;
  if (load === undefined) {
    if (before.at(-1) === '--data-dir') return [{ value: FILES }];
    return at < 0 ? Object.keys(verbs).map((value) => ({ value })) : [];
  }
  const verb = (await load()).declare();
  const behind = [...before.slice(0, at), ...before.slice(at + 1)];
  const { command, said, pending, dataDir } = follow(verb, behind);
  const around = { ...aroundOf(io), onNote: undefined };
  const place = { dataDir, words: said };
  if (pending !== undefined) return await valuesOf(pending.name, pending.choices, written, place, around);
  if (written.startsWith('-')) return flagsOf(command, behind);
  const below = command.subcommands.map(({ path, describe }) => ({
    value: path.split(' ').at(-1) ?? '',
    about: describe,
  }));
  const word = command.words[said.length] ?? command.words.findLast(({ many }) => many);
  if (word === undefined) return said.length === 0 ? below : [];
  return [...below, ...(await valuesOf(word.name, word.choices, written, place, around))];
}

interface Followed {
  readonly command: DeclaredCommand;
  /** Words that are no flags, and name no command. */
  readonly said: readonly string[];
  /** A flag whose value is to come. */
  readonly pending: DeclaredFlag | undefined;
  readonly dataDir: string | undefined;
}

function follow(verb: DeclaredCommand, words: readonly string[]): Followed {
  let command = verb;
  let pending: DeclaredFlag | undefined;
  let dataDir: string | undefined;
  const said: string[] = [];
  for (const word of words) {
    if (pending !== undefined) {
      if (pending.name === 'data-dir') dataDir = word;
      pending = undefined;
    } else if (word.startsWith('-')) {
      const flag = [...command.flags, ...verb.flags].find(({ name, aliases }) =>
        [`--${name}`, ...aliases.map((alias) => `-${alias}`)].includes(word),
      );
      if (flag?.takesValue) pending = flag;
    } else {
      const below: DeclaredCommand | undefined = command.subcommands.find(
        ({ path }) => path.split(' ').at(-1) === word,
      );
      if (below === undefined) said.push(word);
      else command = below;
    }
  }
  return { command, said, pending, dataDir };
}

/** Those that are not said yet. */
const flagsOf = ({ flags }: DeclaredCommand, words: readonly string[]): readonly Candidate[] =>
  flags
    .filter(({ name, many }) => many || !words.includes(`--${name}`))
    .map(({ name, describe }) => ({ value: `--${name}`, about: describe }));
