import { expect, test } from 'vitest';
import { checkPostgresServer, openPostgresLedger } from '../../src/ledger/db/postgres/ledger.js';
import { withPooler } from './pooler.js';
import { withPostgres } from './server.js';
import { withWire } from './wire.js';

const open = (ledgerUrl: string) =>
  openPostgresLedger({ dataDir: 'nowhere', ledgerUrl, now: Date.now(), access: 'write' });

test('a transaction pooler is refused before any query to the ledger', () =>
  withPostgres((direct) =>
    withPooler(direct, async (url) => {
      const refused = { code: 'LEDGER_BEHIND_POOLER', exit: 2 };
      await expect(open(url)).rejects.toMatchObject(refused);
      await expect(checkPostgresServer(url, Date.now)).rejects.toMatchObject(refused);
    }),
  ));

test('without a pooler, no second connection is opened to find that out', () =>
  withPostgres((direct) =>
    withWire(direct, async ({ url, sent }) => {
      await checkPostgresServer(url, Date.now);
      expect(sent.get('')).toBe(1);
    }),
  ));
