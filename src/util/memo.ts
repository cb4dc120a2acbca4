/**
 * A bounded cache by text, for values that repeat between rows: countries, courts, numbers. When it is full it is
 * emptied.
 */
export class Memo<Value> {
  readonly #known = new Map<string, Value>();
  readonly #atMost: number;

  constructor(atMost = 1_000) {
    this.#atMost = atMost;
  }

  getOrCompute(text: string, workOut: () => Value): Value {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const value = workOut();
    if (this.#known.size >= this.#atMost) this.#known.clear();
    this.#known.set(text, value);
    return value;
  }
}
