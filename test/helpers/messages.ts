import type { Message } from '../../src/util/message-parts.js';

/** The texts as a command prints them, each on its own lines. */
export const inLines = (messages: readonly Message[]): string => messages.map(({ text }) => `${text}\n`).join('');
