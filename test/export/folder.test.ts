import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AtomicFolder, checkFolder } from '../../src/export/atomic-folder.js';
import { withFolder } from '../helpers/cli.js';

/** The files of an export, and the summary that lists them. */
function writeExport(folder: string, paths: readonly string[] = ['rows.csv', 'calls.csv']): void {
  const growing = new AtomicFolder(folder);
  try {
    for (const path of paths) {
      mkdirSync(dirname(join(growing.path, path)), { recursive: true });
      writeFileSync(join(growing.path, path), 'table');
    }
    const files = paths.map((path) => ({ path, sha256: 'ab' }));
    const summary = { run: 'r', exported_at: '2026-01-31', versions: { kybatch: '0.0.0' }, files };
    writeFileSync(join(growing.path, 'datapackage.json'), '{}');
    writeFileSync(join(growing.path, 'summary.json'), JSON.stringify(summary));
    growing.publish();
  } catch (error) {
    growing.discard();
    throw error;
  }
}

const withExport = (use: (folder: string) => void, paths?: readonly string[]) =>
  withFolder(async (cwd) => {
    writeExport(join(cwd, 'out'), paths);
    use(join(cwd, 'out'));
  });

/** A process that does not exist. */
const DEAD = 2 ** 22 + 1;

const notFree = (stranger: string) =>
  expect.objectContaining({ code: 'OUT_NOT_FREE', message: expect.stringContaining(`: ${stranger}`) });

describe('replacing an export', () => {
  test('system files do not matter and stay as they were', async () => {
    const litter = ['.DS_Store', '._rows.csv', 'Thumbs.db', 'desktop.ini', '~$rows.csv', '.~lock.rows.csv#'];
    await withExport((folder) => {
      for (const name of litter) writeFileSync(join(folder, name), name);
      checkFolder(folder);
      writeExport(folder, ['rows.csv']);
      for (const name of litter) expect(readFileSync(join(folder, name), 'utf8')).toBe(name);
      expect(readdirSync(folder).sort()).toEqual([...litter, 'datapackage.json', 'rows.csv', 'summary.json'].sort());
      expect(readdirSync(dirname(folder))).toEqual(['out']);
    });
  });

  test('files inside partition folders are checked one by one', async () => {
    const parts = ['companies/country=GB/part-0.parquet', 'companies/country=FR/part-0.parquet'];
    await withExport((folder) => {
      const country = join(folder, 'companies', 'country=GB');
      writeFileSync(join(country, '.DS_Store'), 'litter');
      writeExport(folder);
      expect(readdirSync(folder, { recursive: true, encoding: 'utf8' })).not.toContain('companies/country=FR');
      expect(readFileSync(join(country, '.DS_Store'), 'utf8')).toBe('litter');
      writeExport(folder, parts);
      writeFileSync(join(country, 'mine.parquet'), 'mine');
      expect(() => writeExport(folder)).toThrow(notFree('companies/country=GB/mine.parquet'));
      expect(readdirSync(country).sort()).toEqual(['.DS_Store', 'mine.parquet', 'part-0.parquet']);
    }, parts);
  });

  test.each<[string, (folder: string) => void, string]>([
    ['a file beside the tables', (folder) => writeFileSync(join(folder, 'notes.txt'), 'mine'), 'notes.txt'],
    ['a folder', (folder) => mkdirSync(join(folder, 'archive')), 'archive'],
    [
      'a folder in the place of a table',
      (folder) => {
        rmSync(join(folder, 'rows.csv'));
        mkdirSync(join(folder, 'rows.csv'));
        writeFileSync(join(folder, 'rows.csv', 'mine'), 'mine');
      },
      'rows.csv/mine',
    ],
    ['a link', (folder) => symlinkSync('/etc', join(folder, 'etc')), 'etc'],
    [
      'a table in a format it did not write',
      (folder) => writeFileSync(join(folder, 'rows.parquet'), 'mine'),
      'rows.parquet',
    ],
    ['another program’s summary', (folder) => writeFileSync(join(folder, 'summary.json'), '{"files":[]}'), ''],
    [
      'a summary that lists files outside',
      (folder) => {
        const path = join(folder, 'summary.json');
        const summary = JSON.parse(readFileSync(path, 'utf8')) as { files: object[] };
        summary.files.push({ path: '../mine.txt', sha256: '' });
        writeFileSync(path, JSON.stringify(summary));
        writeFileSync(join(folder, '..', 'mine.txt'), 'mine');
      },
      '',
    ],
  ])('%s is refused by name, and everything stays as it was', async (_, put, stranger) => {
    await withExport((folder) => {
      put(folder);
      const before = readdirSync(dirname(folder), { recursive: true }).sort();
      expect(() => writeExport(folder)).toThrow(notFree(stranger));
      expect(refused(folder)).toMatchObject({ exit: 2 });
      expect(readdirSync(dirname(folder), { recursive: true }).sort()).toEqual(before);
    });
  });

  test('a folder with only a foreign summary.json is foreign', async () => {
    await withFolder(async (cwd) => {
      const folder = join(cwd, 'out');
      mkdirSync(folder);
      writeFileSync(join(folder, 'summary.json'), '{"total": 3}');
      expect(() => new AtomicFolder(folder)).toThrow(notFree('summary.json'));
      rmSync(join(folder, 'summary.json'));
      new AtomicFolder(folder).discard();
    });
  });

  test('a file added while the tables are written is refused too', async () => {
    await withExport((folder) => {
      const growing = new AtomicFolder(folder);
      writeFileSync(join(folder, 'notes.txt'), 'mine');
      expect(() => growing.publish()).toThrow(notFree('notes.txt'));
      growing.discard();
      expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('mine');
      expect(existsSync(join(folder, 'rows.csv'))).toBe(true);
    });
  });

  test('a link is followed, and the folder it leads to is replaced', async () => {
    await withFolder(async (cwd) => {
      mkdirSync(join(cwd, 'real'));
      symlinkSync(join(cwd, 'real'), join(cwd, 'link'));
      writeExport(join(cwd, 'link'));
      writeExport(join(cwd, 'link'), ['rows.csv']);
      expect(readdirSync(join(cwd, 'real')).sort()).toEqual(['datapackage.json', 'rows.csv', 'summary.json']);
      symlinkSync(join(cwd, 'nowhere'), join(cwd, 'dangling'));
      expect(() => checkFolder(join(cwd, 'dangling'))).toThrow(expect.objectContaining({ code: 'OUT_IS_SYMLINK' }));
    });
  });
});

describe('remains of killed exports', () => {
  test('are removed, and an export that was being replaced is restored', async () => {
    await withExport((folder) => {
      const grown = renamed(new AtomicFolder(folder).path, folder, 'abc123');
      writeFileSync(join(grown, '.kybatch-growing'), basename(grown));
      writeFileSync(join(grown, 'rows.csv'), 'half');
      const old = renamed(folder, folder, 'def456.old');
      new AtomicFolder(folder).discard();
      expect([existsSync(grown), existsSync(old), existsSync(join(folder, 'rows.csv'))]).toEqual([false, false, true]);
      writeExport(folder);
    });
  });

  test('a replaced export that was not yet removed goes, with only its own files', async () => {
    await withExport((folder) => {
      const old = renamed(folder, folder, 'def456.old');
      writeFileSync(join(old, '.DS_Store'), 'litter');
      rmSync(join(old, 'calls.csv'));
      mkdirSync(folder);
      new AtomicFolder(folder).discard();
      expect(existsSync(old)).toBe(false);
      expect(readdirSync(folder)).toEqual(['.DS_Store']);
      writeExport(folder);
    });
  });

  test.each([`.out.tmp-${DEAD}-abc123`, `.out.tmp-${DEAD}-abc123.old`, '.out.tmp-backup', '.out.tmp-'])(
    '%s with foreign files is left alone',
    async (name) => {
      await withExport((folder) => {
        const theirs = join(dirname(folder), name);
        mkdirSync(theirs);
        writeFileSync(join(theirs, 'summary.json'), '{"mine": true}');
        writeFileSync(join(theirs, '.kybatch-growing'), 'another name');
        writeExport(folder);
        rmSync(folder, { recursive: true });
        writeExport(folder);
        expect(readdirSync(theirs).sort()).toEqual(['.kybatch-growing', 'summary.json']);
      });
    },
  );
});

describe('a place is checked by beginning an export there', () => {
  test('and leaves nothing behind', async () => {
    await withFolder(async (cwd) => {
      checkFolder(join(cwd, 'a', 'b', 'out'));
      expect(readdirSync(cwd)).toEqual([]);
    });
  });

  test('a file, a place below a file, a name that is too long and a file system’s root are usage errors', async () => {
    await withFolder(async (cwd) => {
      writeFileSync(join(cwd, 'file'), '');
      const places = [join(cwd, 'file'), join(cwd, 'file', 'out'), join(cwd, 'n'.repeat(250)), '/', '/proc', '/proc/x'];
      for (const place of places) expect(refused(place), place).toMatchObject({ exit: 2 });
    });
  });

  test.skipIf(process.getuid?.() === 0)('a folder without write permission is reported', async () => {
    await withFolder(async (cwd) => {
      mkdirSync(join(cwd, 'theirs'), { mode: 0o555 });
      expect(refused(join(cwd, 'theirs', 'out'))).toMatchObject({ exit: 2, code: 'NO_PERMISSION' });
    });
  });
});

function refused(folder: string): unknown {
  try {
    checkFolder(folder);
  } catch (error) {
    return error;
  }
  return undefined;
}

/** The state that a dead process would have left. */
function renamed(path: string, folder: string, end: string): string {
  const name = join(dirname(folder), `.${basename(folder)}.tmp-${DEAD}-${end}`);
  renameSync(path, name);
  return name;
}
