import { expect, test } from 'vitest';
import { PlatformV2Client } from '../../../src/api/v2/client.js';
import { v2Operations } from '../../../src/api/v2/operations.js';
import { json, withServer } from '../../helpers/http-server.js';

const route = { method: 'POST', path: '/combined' } as const;

test('V2-6 generating and fetching in one call may take more than the documented three minutes', async () => {
  for (const operation of [v2Operations.creditReportCombined, v2Operations.creditReportGenerate])
    expect(operation.deadlineMs).toBeGreaterThan(240_000);
  let release = () => {};
  await withServer(
    (request, response) => {
      // Everything else hangs.
      if (request.url === '/combined') release = () => json(response, 200, { summary: null });
    },
    async ({ origin, requests }) => {
      const routes = { creditReportCombined: route };
      const client = new PlatformV2Client({ baseUrl: origin, apiKey: 'key', routes, deadlineMs: 40 });
      const combined = client.call('creditReportCombined', { source_id: '1', country: 'GB' });
      while (requests.length === 0) await new Promise((turn) => setImmediate(turn));
      // Begun later, and finished sooner.
      await expect(client.call('metrics', {})).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      release();
      expect((await combined).data).toEqual({ summary: null });
      await client.close();
    },
  );
});
