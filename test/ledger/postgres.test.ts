/** @module-tag long */

import { openLedger } from '../../src/ledger/open-ledger.js';
import { makeDatabase } from '../postgres/server.js';
import type { OpenLedger } from './contract/open.js';
import { describeLedger } from './contract.js';

/** For the contract: a separate database for each test. */
const openPostgres: OpenLedger = async (now) => {
  const { url, drop } = await makeDatabase();
  const open = () => openLedger({ dataDir: 'nowhere', ledgerUrl: url, now, access: 'write' });
  let ledger = await open();
  return {
    ledger,
    async reopen() {
      await ledger.close();
      ledger = await open();
      return ledger;
    },
    async remove() {
      await ledger.close();
      await drop();
    },
  };
};

describeLedger('a ledger in PostgreSQL', openPostgres);
