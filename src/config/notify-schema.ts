import { z } from 'zod';
import { choice, filledText, section, uniqueList } from '../domain/options.js';
import { isSafeUrl } from '../domain/urls.js';
import { Secret } from '../util/secret.js';

/** The reasons for a notification. */
const NOTIFY_REASONS = ['failed', 'important_change', 'invalid', 'members_left', 'questions', 'stopped'] as const;
export type NotifyReason = (typeof NOTIFY_REASONS)[number];

/** The recipient of the notification at the end of an attempt. */
export interface Notify {
  readonly on: readonly NotifyReason[];
  readonly to: NotifyTarget;
}

export type NotifyTarget =
  | { readonly kind: 'command'; readonly argv: readonly [string, ...string[]] }
  /** The part after the host is often a password, so it is never shown. */
  | { readonly kind: 'webhook'; readonly origin: string; readonly rest: Secret };

const URL_FORM = 'must be an https address, or http on a loopback address, without user name and password';
const ONE_OF_TWO = 'must name `command` or `webhook`, and not both';

export const notifySection = section({
  command: z
    .tuple([filledText()], z.string('must be a text'), 'must be a list: the program and its arguments')
    .optional()
    .describe(
      'A program and its arguments, as a list. It gets the summary on its standard input, and an environment without the keys. No shell runs it',
    ),
  webhook: z
    .string(URL_FORM)
    .refine(isWebhook, URL_FORM)
    .optional()
    .describe(
      'An address to which the summary is sent by POST: https, or http on a loopback address. kybatch follows no redirects',
    ),
  on: uniqueList(choice(NOTIFY_REASONS))
    .default([...NOTIFY_REASONS])
    .describe(
      'The reasons for a notification. `failed`: rows failed, or an error ended the attempt. `important_change`: an important change was found. `invalid`: new or changed rows are invalid. `members_left`: rows have left the list. `questions`: there are new review questions. `stopped`: a limit, the allowance, the provider or an interrupt ended the attempt',
    ),
}).refine(({ command, webhook }) => (command === undefined) !== (webhook === undefined), { error: ONE_OF_TWO });

function isWebhook(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return isSafeUrl(url) && url.username === '' && url.password === '';
}

export function toNotify({ command, webhook, on }: z.output<typeof notifySection>): Notify {
  if (command !== undefined) return { on, to: { kind: 'command', argv: command } };
  const { origin, pathname, search } = new URL(webhook ?? '');
  return { on, to: { kind: 'webhook', origin, rest: new Secret(pathname + search) } };
}
