import type { BackupView } from '../../app/backup-ledger.js';
import type { CopyLedgerView } from '../../app/copy-ledger.js';
import { count, shellWord, textTable, withCommas } from './text.js';

type Progress = Parameters<NonNullable<import('../../app/copy-ledger.js').CopyLedgerOptions['onProgress']>>[0];

const DOING = { reading: 'Reading', copying: 'Copying', comparing: 'Comparing' } as const;

/** "Copying: calls, 120,000 of 300,000 records" */
export const progressInWords = ({ doing, table, records, of }: Progress): string =>
  `${DOING[doing]}: ${table}, ${withCommas(records)}${of === null ? '' : ` of ${withCommas(of)}`} records`;

export function copiedInWords(view: CopyLedgerView): string {
  const { tables, records, bytes, ms, from, to, broughtBefore, isWhole, kind } = view;
  const shown = tables.filter(({ records: of, isSame }) => of > 0 || !isSame);
  const lines = shown.map(({ name, records: of, isSame }) => [name, of, isSame ? 'yes' : 'NO'] as const);
  const empty = tables.length - shown.length;
  const table = `${textTable(['table', 'records', 'same'], lines)}${empty === 0 ? '' : `(${count(empty, 'more table')}, empty in both)\n`}`;
  if (!isWhole)
    return `${table}The copy in ${to} is not the same as ${from}, and is not marked as whole: no other command works with it. Somebody has changed one of them meanwhile. Copy again with --anew.\n`;
  const before = broughtBefore === 0 ? '' : ` (${withCommas(broughtBefore)} of them were there from before)`;
  return [
    table,
    `${count(records, 'record')} with ${megabytes(bytes)} MB copied from ${from} to ${to}${before} in ${(ms / 1000).toFixed(1)} s, ${megabytes((bytes * 1000) / Math.max(1, ms))} MB/s. Every table was read back and is the same.\n`,
    nextInWords(view),
    `Do not use ${from} any more: two ledgers know nothing of each other, and buy everything twice. When all is well, ${kind === 'file' ? 'put it out of reach' : 'move its kybatch.db away'}.\n`,
  ].join('');
}

function nextInWords({ kind, to, isNamed }: CopyLedgerView): string {
  if (kind === 'file')
    return `Next: unset KYBATCH_LEDGER_URL (and KYBATCH_LEDGER_URL_FILE), also in .env, and give every command --data-dir ${shellWord(to)}\n`;
  return isNamed
    ? 'Next: nothing. KYBATCH_LEDGER_URL names the copy already; let it, for every command.\n'
    : `Next: export KYBATCH_LEDGER_URL=${shellWord(to)} for every command, with the password in it, or in a file that KYBATCH_LEDGER_URL_FILE names.\n`;
}

const megabytes = (bytes: number): string =>
  (bytes / 1e6).toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const copiedToJson = ({ from, to, tables, records, bytes, broughtBefore, isWhole, ms }: CopyLedgerView) => ({
  from,
  to,
  whole: isWhole,
  records,
  bytes,
  brought_before: broughtBefore,
  ms,
  tables: tables.map(({ name, records: of, isSame }) => ({ name, records: of, same: isSame })),
});

export const backupInWords = ({ path, folder, bytes, calls, units, answers }: BackupView): string =>
  [
    `Backup: ${path}, ${megabytes(bytes)} MB, read back and compared.`,
    `${count(calls, 'call')}, ${count(answers, 'stored answer')}, ${count(units, 'unit')} charged.`,
    `To look into it: kybatch runs --data-dir ${shellWord(folder)}`,
    '',
  ].join('\n');

export const backupToJson = ({ path, bytes, schema, calls, answers, decisions, units, ms }: BackupView) => ({
  path,
  bytes,
  schema,
  calls,
  answers,
  decisions,
  units_charged: units,
  verified: true,
  ms,
});
