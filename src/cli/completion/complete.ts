import type { AppEnvironment } from '../../app/environment.js';
import { type DeclaredCommand, type DeclaredFlag, FORMATS } from '../command.js';
import { commandAt, commands } from '../command-list.js';
import { FILES } from '../commands/completion.js';
import { appEnvironment, type Io } from '../terminal/io.js';

/**
 * The words that may follow, a line each. `words`: those between the program's name and the cursor. The last one may be
 * incomplete. An error gives no lines, because a message would end up in the user's command line.
 */
export async function complete(words: readonly string[], io: Io): Promise<string> {
  const { before, written, prefix } = splitLast(words);
  const found = await candidates(before, written, io).catch(() => []);
  const lines = found
    .filter(({ value }) => value === FILES || value.startsWith(written))
    .map((candidate) => (candidate.value === FILES ? candidate : { ...candidate, value: prefix + candidate.value }))
    // A line is one candidate, and a tab ends its value.
    .filter(({ value }) => !/[\n\t]/.test(value))
    .map(({ value, about = '' }) => `${value}${about === '' ? '' : `\t${about.replaceAll(/\s+/g, ' ')}`}\n`);
  return lines.join('');
}

/** bash splits `--flag=value` into three words, other shells hand it over as one. Both give the flag and its value. */
function splitLast(words: readonly string[]) {
  const last = words.at(-1) ?? '';
  const before = words.slice(0, -1).filter((word) => word !== '=');
  const [, flag, value = ''] = /^(--[\w-]+)=(.*)$/.exec(last) ?? [];
  if (flag !== undefined) return { before: [...before, flag], written: value, prefix: `${flag}=` };
  return { before, written: last === '=' ? '' : last, prefix: '' };
}

async function candidates(before: readonly string[], written: string, io: Io): Promise<readonly Candidate[]> {
  const at = commandAt(before);
  const load = Object.hasOwn(commands, before[at] ?? '') ? commands[before[at] ?? ''] : undefined;
  if (load === undefined) {
    if (before.at(-1) === '--data-dir') return [{ value: FILES }];
    return at < 0 ? Object.keys(commands).map((value) => ({ value })) : [];
  }
  const verb = (await load()).declare();
  const behind = [...before.slice(0, at), ...before.slice(at + 1)];
  const { command, plainWords, pending, dataDir } = readWords(verb, behind);
  const environment = { ...appEnvironment(io), onNote: undefined };
  const place = { dataDir, words: plainWords };
  if (pending !== undefined) return await valuesOf(pending.name, pending.choices, written, place, environment);
  if (written.startsWith('-')) return flagsOf(command, behind);
  const below = command.subcommands.map(({ path, describe }) => ({
    value: path.split(' ').at(-1) ?? '',
    about: describe,
  }));
  const word = command.words[plainWords.length] ?? command.words.findLast(({ many }) => many);
  if (word === undefined) return plainWords.length === 0 ? below : [];
  return [...below, ...(await valuesOf(word.name, word.choices, written, place, environment))];
}

interface ReadWords {
  readonly command: DeclaredCommand;
  readonly plainWords: readonly string[];
  readonly pending: DeclaredFlag | undefined;
  readonly dataDir: string | undefined;
}

function readWords(verb: DeclaredCommand, words: readonly string[]): ReadWords {
  let command = verb;
  let pending: DeclaredFlag | undefined;
  let dataDir: string | undefined;
  const plainWords: string[] = [];
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
      if (below === undefined) plainWords.push(word);
      else command = below;
    }
  }
  return { command, plainWords, pending, dataDir };
}

const flagsOf = ({ flags }: DeclaredCommand, words: readonly string[]): readonly Candidate[] =>
  flags
    .filter(({ name, many }) => many || !words.includes(`--${name}`))
    .map(({ name, describe }) => ({ value: `--${name}`, about: describe }));

interface Candidate {
  readonly value: string;
  readonly about?: string;
}

interface Place {
  readonly dataDir: string | undefined;
  readonly words: readonly string[];
}

/** The values of a flag or word of this name. A name means the same in every command. */
async function valuesOf(
  name: string,
  choices: readonly string[],
  written: string,
  { dataDir, words }: Place,
  environment: AppEnvironment,
): Promise<readonly Candidate[]> {
  if (choices.length > 0) return choices.map((value) => ({ value }));
  if (TAKES_FILES.has(name)) return [{ value: FILES }];
  const ofLedger = () => import('../../app/run/runs.js');
  const names = async () => (await ofLedger()).namesInLedger({ dataDir }, environment);
  switch (name) {
    case 'run':
    case 'which':
    case 'since':
      return (await names()).runs.map(({ id, input }) => ({ value: id, about: input }));
    case 'portfolio':
      return (await names()).portfolios.map((value) => ({ value }));
    case 'pipeline':
      return [...(await ofLedger()).namesOfPipelines(environment).map((value) => ({ value })), { value: FILES }];
    case 'format': {
      const before = written.slice(0, written.lastIndexOf(',') + 1);
      return FORMATS.filter((format) => !before.includes(format)).map((format) => ({ value: before + format }));
    }
    case 'operation': {
      const { operations } = await import('../../app/provider/operations.js');
      const [api] = words;
      if (api !== 'v1' && api !== 'v2') return [];
      return operations(api).map(({ operation, summary }) => ({ value: operation, about: summary }));
    }
    default:
      return [];
  }
}

const TAKES_FILES: ReadonlySet<string> = new Set(['input', 'file', 'filters', 'out', 'data-dir', 'params']);
