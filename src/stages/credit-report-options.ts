import { parseDuration } from '../domain/options/duration.js';
import { choice, duration, notBelow, section, yesOrNo } from '../domain/options/fields.js';
import type { StageOptions } from './stage.js';

export interface ReportOptions {
  readonly reuseExpired: boolean;
  readonly firstPollMs: number;
  readonly pollAtMostMs: number;
  readonly giveUpAfterMs: number;
  readonly lookForMs: number;
  readonly format: 'json';
}

const ms = (value: string | 0): number => parseDuration(String(value));

export const reportOptions: StageOptions<ReportOptions> = {
  key: 'report',
  schema: section({
    reuse_expired: yesOrNo()
      .default(false)
      .describe('Take a report from the history although it is marked expired, rather than generate a new one'),
    first_poll: duration({ least: '1ms', most: '1h' })
      .default('5s')
      .describe('How long after generating to ask for the first time'),
    poll_at_most: duration({ least: '1ms', most: '1h' })
      .default('30s')
      .describe('The waits between two asks grow up to this'),
    give_up_after: duration({ least: '1s', most: '7d' })
      .default('30m')
      .describe('When to stop waiting; generating may take three minutes, so stay well above (V2-6)'),
    look_for: duration({ least: '5m', most: '7d' })
      .default('15m')
      .describe(
        'How long after a generate call that failed or was lost its report is looked for in the history, before another is generated; generating may take three minutes, and a history may list it minutes after that (V2-17)',
      ),
    format: choice(['json']).default('json').describe('Form of the report; JSON is the only one that can be exported'),
  })
    .refine(notBelow('first_poll', 'poll_at_most'), {
      path: ['poll_at_most'],
      error: 'must not be shorter than report.first_poll',
    })
    .transform((file) => ({
      reuseExpired: file.reuse_expired,
      firstPollMs: ms(file.first_poll),
      pollAtMostMs: ms(file.poll_at_most),
      giveUpAfterMs: ms(file.give_up_after),
      lookForMs: ms(file.look_for),
      format: file.format,
    }))
    .prefault({})
    .describe('How credit reports are waited for; a waiting report holds nothing up'),
  decisive: ({ reuseExpired }) => ({ reuseExpired }),
};
