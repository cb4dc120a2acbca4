import { type FilterVocabulary, filterVocabularies } from '../../api/v2/filter-vocabularies.js';
import { nomenclature } from '../../api/v2/operations/nomenclature.js';
import { UsageError } from '../../domain/errors.js';
import { type ResolvedItem, resolveVocabulary, type WrittenItem } from '../../stages/vocabulary/resolve.js';
import type { AskVocabulary } from '../../stages/vocabulary/walk.js';
import type { ExactNumber } from '../../util/exact-json.js';
import { noAnswerError } from '../ask-door.js';
import type { WrittenFilters, WrittenPlace } from './filters-file.js';
import { sentAs, sentAsPlace } from './sent-as.js';

/** A name that was written, and what is sent for it. */
export interface NamedValue {
  readonly filter: string;
  readonly written: string;
  readonly name: string;
  readonly id: string;
}

export interface ResolvedFilters {
  /** As they are sent. */
  readonly filters: Readonly<Record<string, unknown>>;
  readonly names: readonly NamedValue[];
}

/** Names of vocabularies become IDs; everything else is as it was written. `file`: what messages call it. */
export async function resolveFilters(
  written: WrittenFilters,
  file: string,
  ask: AskVocabulary,
): Promise<ResolvedFilters> {
  const look = new Look(file, ask);
  const filters: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(written)) {
    const known = Object.hasOwn(filterVocabularies, key) ? filterVocabularies[key] : undefined;
    filters[key] = known === undefined ? value : await resolveFilter(key, value, known, look);
  }
  if (look.problems.length > 0)
    throw new UsageError(
      look.problems.join('\n'),
      'Nothing was bought. `kybatch vocab NAME --search TEXT` finds names and IDs.',
    );
  return { filters, names: look.names };
}

/** The file was checked: a filter of a vocabulary is a list, or a place. */
async function resolveFilter(key: string, value: unknown, known: FilterVocabulary, look: Look): Promise<unknown> {
  if (Array.isArray(value)) {
    const items = await look.up(key, key, value as readonly WrittenItem[], known);
    return known.form === 'place' ? sentAsPlace({ either: items }) : look.checked(key, sentAs(known.form, items));
  }
  const { parents, id } = value as WrittenPlace;
  return sentAsPlace({
    parents: await look.up(key, `${key}.parents`, parents ?? [], known),
    id: await look.up(key, `${key}.id`, id ?? [], known),
  });
}

/** Looks names up and gathers what came of it: everything that is wrong with a file is told at once. */
class Look {
  readonly names: NamedValue[] = [];
  readonly problems: string[] = [];

  constructor(
    private readonly file: string,
    private readonly ask: AskVocabulary,
  ) {}

  async up(
    filter: string,
    where: string,
    items: readonly WrittenItem[],
    { vocabulary }: FilterVocabulary,
  ): Promise<readonly ResolvedItem[]> {
    const resolved = await resolveVocabulary(vocabulary, items, this.ask);
    if (resolved.kind === 'refused') {
      this.problems.push(...resolved.problems.map(({ message }) => `${this.file}: ${where}: ${message}`));
      return [];
    }
    if (resolved.kind !== 'resolved') throw noAnswerError(resolved, nomenclature.nomenclature);
    for (const { written, name, id } of resolved.items)
      if (name !== null) this.names.push({ filter, written, name, id });
    return resolved.items;
  }

  /** IDs as they are sent; one that cannot be is a problem. */
  checked(where: string, sent: ReturnType<typeof sentAs>): readonly (string | number | ExactNumber)[] {
    if ('values' in sent) return sent.values;
    this.problems.push(`${this.file}: ${where}: this filter takes whole numbers, and ${sent.unfit} is none`);
    return [];
  }
}
