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

/** The same for commands that only look. */
export const onlySandboxOption = {
  type: 'boolean',
  default: false,
  describe: 'Only what is of the simulated provider that ships with kybatch',
} as const;
