import { noteOf } from '../nothing-returned.js';
import type { StageError } from '../stage.js';
import type { Found } from './candidates.js';
import type { Search } from './searches.js';
import type { SpaceSearch } from './space-search.js';

/** Why the candidates that were seen do not settle it: "no" would be a guess, and for some doubts "yes" as well. */
export interface SearchDoubt {
  readonly code: string;
  /** As the end of "nobody was found, but …". */
  readonly words: string;
  readonly rulesOutYes: boolean;
}

export const UNREADABLE_CANDIDATE = 'UNREADABLE_CANDIDATE';
const CANDIDATES_NOT_RETURNED = 'CANDIDATES_NOT_RETURNED';
export const CANDIDATES_UNSEEN = 'CANDIDATES_UNSEEN';

/** What is left in doubt by the searches of a row in one space. */
export class SearchDoubts {
  readonly #how: SpaceSearch;
  #unreadable = 0;
  #unseen = 0;
  #unseenByName = 0;
  #withoutVat = 0;
  #notReturned = 0;

  constructor(how: SpaceSearch) {
    this.#how = how;
  }

  /** A name finds many, and confirms nobody: those of them that are not seen decide nothing. */
  note({ candidates, unreadable, unseen = 0, notReturned }: Found, search: Search): void {
    this.#unreadable += unreadable;
    if (notReturned === true) this.#notReturned += 1;
    if (search.name === undefined) this.#unseen = Math.max(this.#unseen, unseen);
    else this.#unseenByName = Math.max(this.#unseenByName, unseen);
    if (this.#how.tellsNoVat === true && search.vat_number !== undefined) this.#withoutVat += candidates.length;
  }

  all(): readonly SearchDoubt[] {
    const several = (count: number, one: string, many: string) => (count === 1 ? one : `${count} ${many}`);
    return [
      ...when(this.#unreadable, {
        code: UNREADABLE_CANDIDATE,
        words: `${several(this.#unreadable, 'one candidate', 'candidates')} could not be read`,
        rulesOutYes: false,
      }),
      ...when(this.#notReturned, {
        code: CANDIDATES_NOT_RETURNED,
        words: 'a search was answered without its list of candidates',
        rulesOutYes: false,
      }),
      ...when(this.#unseen, {
        code: CANDIDATES_UNSEEN,
        words: `${several(this.#unseen, 'at least one more was', 'or more were')} not seen, beyond the first page`,
        rulesOutYes: true,
      }),
      ...when(this.#withoutVat, {
        code: 'VAT_ONLY',
        words: 'what was found by the VAT number does not tell its own',
        rulesOutYes: false,
      }),
    ];
  }

  /** What changes nothing about the row, and a person should know. */
  errors(): readonly StageError[] {
    const { name } = this.#how.operation;
    const unseen = Math.max(this.#unseen, this.#unseenByName);
    return [
      ...when(
        this.#unreadable,
        noteOf(
          UNREADABLE_CANDIDATE,
          `${name} brought ${this.#unreadable === 1 ? 'a candidate' : `${this.#unreadable} candidates`} that cannot be read; the others were used, and the answer is kept as it came`,
        ),
      ),
      ...when(
        this.#notReturned,
        noteOf(
          CANDIDATES_NOT_RETURNED,
          `${name} was answered without its list of candidates: nothing is said about them`,
        ),
      ),
      ...when(
        unseen,
        noteOf(CANDIDATES_UNSEEN, `${name} counts at least ${unseen} more than it brought: the candidates are a part`),
      ),
    ];
  }
}

const when = <T>(count: number, said: T): readonly T[] => (count > 0 ? [said] : []);
