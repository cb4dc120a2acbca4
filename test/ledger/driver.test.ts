import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/domain/errors.js';
import { connect, driverFor, loadDriver } from '../../src/ledger/db/sqlite/connection.js';

test.each([
  ['20.20.2', 'better-sqlite3'],
  ['22.23.3', 'better-sqlite3-13'],
  ['24.22.0', 'better-sqlite3-13'],
  ['26.0.0', 'better-sqlite3-13'],
])('Node %s uses %s', (node, name) => {
  expect(driverFor(node)).toBe(name);
});

test('the driver of this Node opens a database', () => {
  const database = connect(':memory:');
  expect(database.prepare('SELECT 1 + 1').pluck().get()).toBe(2);
  database.close();
});

test('a driver that is not installed gives one sentence with a hint', () => {
  expectUsage(() => loadDriver('better-sqlite3-none'), 'better-sqlite3-none');
});

test('a binary of another platform or Node gives one sentence with a hint', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-driver-'));
  try {
    const home = join(folder, 'node_modules', 'better-sqlite3');
    mkdirSync(home, { recursive: true });
    // The real driver loads its binary when the first database is opened.
    writeFileSync(join(home, 'index.js'), "module.exports = class { constructor() { require('./wrong.node'); } };");
    writeFileSync(join(home, 'wrong.node'), 'not a binary of this machine');
    expectUsage(() => loadDriver('better-sqlite3', createRequire(join(folder, 'any.js'))), 'wrong.node');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('one file imports the driver', () => {
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(resolve(folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const importers = files.filter(
    (file) => file.endsWith('.ts') && /^import .* from 'better-sqlite3/m.test(readFileSync(resolve(file), 'utf8')),
  );
  expect(importers).toEqual([join('src', 'ledger', 'db', 'sqlite', 'connection.ts')]);
});

// npm reads `engines` from the lock file. With the published range, npm would compile version 12 on every Node, and 22
// and 24 do not need it.
test('the lock file binds each driver to its Nodes, and names no registry', () => {
  const text = readFileSync(resolve('package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, { engines?: { node: string } }> };
  expect(packages['node_modules/better-sqlite3']?.engines).toEqual({ node: '20.x' });
  expect(packages['node_modules/better-sqlite3-13']?.engines).toEqual({ node: '>=22' });
  expect(text).not.toContain('"resolved"');
});

function expectUsage(action: () => unknown, reason: string): void {
  let thrown: unknown;
  try {
    action();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(UsageError);
  const { code, message, hint } = thrown as UsageError;
  expect(code).toBe('DRIVER_NOT_LOADED');
  expect(message).toContain(process.version);
  expect(message).toContain(reason);
  expect(message).not.toContain('\n');
  expect(hint).toContain('npm ci');
}
