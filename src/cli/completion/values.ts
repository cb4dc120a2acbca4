import { namesInLedger } from '../../app/names-in-ledger.js';
import { pipelinesByName } from '../../app/pipelines-by-name.js';
import type { Surroundings } from '../../app/surroundings.js';
import { FORMATS } from '../table-flags.js';
import { FILES } from './scripts.js';

/** A word that may follow, and what it is. */
export interface Candidate {
  readonly value: string;
  readonly about?: string;
}

interface Place {
  readonly dataDir: string | undefined;
  /** Those that stand before it. */
  readonly words: readonly string[];
}

/** What a flag or a word of this name takes: a name means the same in every command. */
export async function valuesOf(
  name: string,
  choices: readonly string[],
  written: string,
  { dataDir, words }: Place,
  around: Surroundings,
): Promise<readonly Candidate[]> {
  if (choices.length > 0) return choices.map((value) => ({ value }));
  if (TAKES_FILES.has(name)) return [{ value: FILES }];
  switch (name) {
    case 'run':
    case 'which':
    case 'since':
      return (await namesInLedger({ dataDir }, around)).runs.map(({ id, input }) => ({ value: id, about: input }));
    case 'portfolio':
      return (await namesInLedger({ dataDir }, around)).portfolios.map((value) => ({ value }));
    case 'pipeline':
      return [...pipelinesByName(around).map((value) => ({ value })), { value: FILES }];
    case 'format': {
      const before = written.slice(0, written.lastIndexOf(',') + 1);
      return FORMATS.filter((format) => !before.includes(format)).map((format) => ({ value: before + format }));
    }
    case 'operation': {
      const { operations } = await import('../../app/operations.js');
      const [api] = words;
      if (api !== 'v1' && api !== 'v2') return [];
      return operations(api).map(({ operation, summary }) => ({ value: operation, about: summary }));
    }
    default:
      return [];
  }
}

const TAKES_FILES: ReadonlySet<string> = new Set(['input', 'file', 'filters', 'out', 'data-dir', 'params']);
