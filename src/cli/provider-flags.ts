import type { CommonArgs } from './verb.js';

/** The flags of every command that talks to a provider. */
export interface ProviderArgs extends CommonArgs {
  readonly sandbox: boolean;
}

export const sandboxOption = {
  type: 'boolean',
  default: false,
  describe: 'Use the simulated provider that ships with kybatch',
} as const;
