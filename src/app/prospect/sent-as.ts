import type { ItemForm } from '../../api/v2/filter-vocabularies.js';
import type { ResolvedItem } from '../../stages/vocabulary/resolve.js';
import { type ExactNumber, requestNumber } from '../../util/exact-json.js';

/** IDs in the form that a filter takes; `unfit`: one that has another. */
export function sentAs(
  form: Exclude<ItemForm, 'place'>,
  items: readonly ResolvedItem[],
): { readonly values: readonly (string | number | ExactNumber)[] } | { readonly unfit: string } {
  if (form === 'texts') return { values: items.map(({ id }) => id) };
  const values = items.map(({ id }) => wholeNumber(id) ?? id);
  const unfit = form === 'integers' ? values.find((value) => typeof value === 'string') : undefined;
  return unfit === undefined ? { values } : { unfit: String(unfit) };
}

/** `007` stays text; what is too large for JavaScript's numbers keeps its digits. */
const wholeNumber = (id: string): number | ExactNumber | undefined =>
  /^(?:0|[1-9]\d*)$/.test(id) ? requestNumber(id) : undefined;

interface Places {
  readonly parents?: readonly ResolvedItem[];
  readonly id?: readonly ResolvedItem[];
  /** Left to us: by its path where that is known, by its ID otherwise. */
  readonly either?: readonly ResolvedItem[];
}

/** "Parents used in the filter, id to go deeper": one is sent as it is, several as a list. */
export function sentAsPlace({ parents = [], id = [], either = [] }: Places): Readonly<Record<string, unknown>> {
  const pathOf = (item: ResolvedItem) => item.parents ?? (item.id.includes('_') ? item.id : undefined);
  const paths = [...parents.map((item) => item.parents ?? item.id), ...either.flatMap((item) => pathOf(item) ?? [])];
  const ids = [...id, ...either.filter((item) => pathOf(item) === undefined)].map((item) => item.id);
  return {
    ...(paths.length === 0 ? {} : { parents: oneOrList(paths) }),
    ...(ids.length === 0 ? {} : { id: oneOrList(ids.map((one) => wholeNumber(one) ?? one)) }),
  };
}

const oneOrList = <T>(values: readonly T[]): T | readonly T[] => (values.length === 1 ? (values[0] as T) : values);
