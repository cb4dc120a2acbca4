import type { SpendingOptions } from './spending.js';
import type { Surroundings } from './surroundings.js';

export type Listener = NonNullable<SpendingOptions['listen']>;

/** Nothing depends on who listens: one that fails is told of, and not called again. */
export function harmless({ listen }: SpendingOptions, { onNote }: Surroundings): Listener {
  let heard = listen;
  return (event) => {
    try {
      heard?.(event);
    } catch (error) {
      heard = undefined;
      onNote?.(
        `a listener failed, and is told nothing more: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
}
