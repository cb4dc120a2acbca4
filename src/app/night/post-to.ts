import type { NotifyTarget } from '../../config/notify-schema.js';

/** Sends a summary by POST. Redirects are not followed, and what is answered is not read. Rejects where it is not taken. */
export async function postTo(
  { origin, rest }: Extract<NotifyTarget, { kind: 'webhook' }>,
  summary: string,
  signal: AbortSignal,
): Promise<void> {
  const { Client } = await import('undici');
  const client = new Client(origin);
  try {
    const { statusCode, body } = await client.request({
      method: 'POST',
      path: rest.reveal(),
      headers: { 'content-type': 'application/json' },
      body: summary,
      signal,
    });
    body.on('error', () => {});
    if (statusCode < 200 || statusCode > 299) throw new Error(`it answered ${statusCode}`);
  } finally {
    await client.destroy();
  }
}
