/** @module-tag long */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { routesFile } from '../../src/sandbox/requests.js';
import { withFolder } from '../helpers/cli.js';
import { json, withServer } from '../helpers/http-server.js';
import { everythingIn, isOnPostgres } from '../helpers/ledger-place.js';
import { here } from './here.js';

const V1_KEY = 'live_Zq74Xk29vB3mN8pR5tW1yA6cD0eFgH';
const V2_KEY = 'tok-9f8e7d6c5b4a39281706f5e4d3c2b1a0';

/** Both keys in every spelling, among codes that control a terminal or add a line. */
const ECHO = `\u001b[31m${V1_KEY}\u0007\n${V2_KEY.toUpperCase()}\u202e${encodeURIComponent(`${V1_KEY}/${V2_KEY}`)}\u0000\r\u009b2J`;
const LONG = `${'x'.repeat(480)}${V1_KEY} ${V2_KEY} ${ECHO}`;
const IN_HEADERS = `${V1_KEY} ${V2_KEY}`;

const company = { id: '77', name: 'Acme B.V.', registration_number: '12345678', vat_number: null, country_code: 'NL' };

const headers = {
  'X-Service-Request-Id': IN_HEADERS,
  'X-Request-Id': IN_HEADERS,
  'Service-API-Version': IN_HEADERS,
  'X-Service-Units': '1',
  'X-Service-Remaining-Units': '5000',
  'X-Quota-Daily-Limit': IN_HEADERS,
  'X-Quota-Daily-Reset': IN_HEADERS,
};

/** A key in the place of data, and in a field that no document names. */
const echoing = {
  ...company,
  id: '78',
  name: V1_KEY,
  registration_number: '87654321',
  note: `x ${V2_KEY.toUpperCase()}`,
};

type Answer = readonly [status: number, body: unknown];

const v1Error = (status: number, code: string): Answer => [
  status,
  { error: { code, message: LONG, status }, request_id: ECHO, documentation_url: `https://x/${V1_KEY}` },
];

/** The refusals of the record and the financials. */
const REFUSALS: Readonly<Record<string, { readonly v1: Answer; readonly v2: Answer }>> = {
  validation: { v1: v1Error(400, `BAD_${ECHO}`), v2: [400, { [ECHO]: [LONG, ECHO] }] },
  scope: { v1: v1Error(403, 'INSUFFICIENT_SCOPE'), v2: [400, { fields: [ECHO, LONG] }] },
  allowance: {
    v1: v1Error(429, 'ALLOWANCE_EXHAUSTED'),
    v2: [
      403,
      {
        access: { permission: ECHO, permission_name: ECHO, module: LONG, module_name: ECHO },
        error_guard: ECHO,
        message_guard: LONG,
      },
    ],
  },
  detail: { v1: [418, ECHO], v2: [418, { detail: LONG }] },
  stop: { v1: v1Error(401, 'UNAUTHENTICATED'), v2: [401, { detail: ECHO }] },
};

function provider(refusal: () => { readonly v1: Answer; readonly v2: Answer }) {
  return (request: IncomingMessage, response: ServerResponse) => {
    const url = request.url ?? '';
    const answer = ([status, body]: Answer) => json(response, status, body, headers);
    if (url.endsWith('/metrics')) return answer([200, []]);
    // The check of the key accepts this answer.
    if (url.includes('/kyb/0/')) return answer(v1Error(400, ECHO));
    if (url.endsWith('/kyb/search')) {
      const empty = request.headers['content-length'] === '2';
      return answer(empty ? v1Error(400, ECHO) : [200, [company, echoing]]);
    }
    return answer(url.startsWith('/v1/') ? refusal().v1 : refusal().v2);
  };
}

test('if the provider echoes both keys everywhere, none is in database, logs, exports or on the terminal', async () => {
  await withFolder(async (cwd) => {
    let kind = 'validation';
    await withServer(
      provider(() => REFUSALS[kind] ?? { v1: [500, ''], v2: [500, ''] }),
      async ({ origin }) => {
        const env = {
          KYBATCH_V1_BASE_URL: `${origin}/v1`,
          KYBATCH_V1_API_KEY: V1_KEY,
          KYBATCH_V2_BASE_URL: `${origin}/v2`,
          KYBATCH_V2_API_KEY: V2_KEY,
          KYBATCH_V2_ROUTES: routesFile,
        };
        writeFileSync(join(cwd, 'p.yaml'), 'stages: [record, financials]\nretry: {attempts: 1}\npatience: 0\n');
        let shown = '';
        const kybatch = async (...args: string[]) => {
          const { code, stdout, stderr } = await here(args, { cwd, env });
          shown += stdout + stderr;
          return code;
        };
        for (kind of Object.keys(REFUSALS)) {
          // A cell of the file must not control a terminal, either.
          const lines = ['name,country,registration_number,id', `Acme B.V.,NL,12345678,${kind}`];
          writeFileSync(
            join(cwd, `${kind}.csv`),
            `${lines.join('\n')}\nEvil,"\u009b31mXX\u202e\nkybatch: all is paid",1,2\n`,
          );
          await kybatch('plan', `${kind}.csv`, '--pipeline', './p.yaml');
          await kybatch('run', `${kind}.csv`, '--pipeline', './p.yaml', '--yes');
          await kybatch('status');
          await kybatch('status', '--json');
          await kybatch('call', 'v1', 'fullKyb', '--params', '{"id":"77"}');
          await kybatch('call', 'v2', 'financial', '--params', '{"id":"77"}', '--json');
        }
        for (const args of [
          ['doctor'],
          ['doctor', '--json'],
          ['usage'],
          ['usage', '--json'],
          ['runs'],
          ['export'],
          ['review', 'list'],
        ])
          await kybatch(...args);
        expect(shown).toContain('[key]');
        expectNoKey('the terminal', shown);
        expect(shown).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
        expect(shown).not.toMatch(/^\W*kybatch: all is paid/m);
        const files = readdirSync(cwd, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name));
        expect(files.some((file) => file.endsWith('kybatch.db'))).toBe(!isOnPostgres);
        expect(files.some((file) => file.endsWith('errors.csv'))).toBe(true);
        for (const file of files) expectNoKey(file, readFileSync(file, 'latin1'));
        expectNoKey('the ledger', await everythingIn(join(cwd, 'data')));
      },
    );
  });
});

/** Not even half of a key, in upper or lower case. */
function expectNoKey(where: string, text: string): void {
  const lower = text.toLowerCase();
  for (const key of [V1_KEY, V2_KEY])
    for (let at = 0; at + 12 <= key.length; at++)
      expect(lower.includes(key.toLowerCase().slice(at, at + 12)), `${where} holds part of a key`).toBe(false);
}
