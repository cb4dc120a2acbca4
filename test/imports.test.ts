import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { expect, test } from 'vitest';

/** The public list takes only types from these folders: the input and output of use cases. */
const TYPES_ONLY = ['calls', 'engine', 'export', 'review', 'ledger'];

/** Imports run one way. Each folder lists the folders that it may import, and no other is allowed. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  util: [],
  domain: ['util'],
  // Client and server must not share a misreading, so the sandbox reads the document independently.
  sandbox: ['util'],
  sheets: ['domain', 'util'],
  input: ['sheets', 'domain', 'util'],
  api: ['domain', 'util'],
  ledger: ['domain', 'util'],
  calls: ['api', 'ledger', 'domain', 'util'],
  stages: ['calls', 'api', 'domain', 'util'],
  // The schema of a pipeline file is assembled from the stages. It knows the tables whose changes can be named.
  config: ['stages', 'readers', 'api', 'domain', 'util'],
  engine: ['stages', 'calls', 'ledger', 'config', 'api', 'domain', 'util'],
  portfolio: ['stages', 'readers', 'calls', 'ledger', 'input', 'config', 'api', 'domain', 'util'],
  readers: ['api', 'domain', 'util'],
  export: ['stages', 'readers', 'ledger', 'sheets', 'domain', 'util'],
  review: ['ledger', 'sheets', 'domain', 'util'],
  app: [
    'engine',
    'portfolio',
    'export',
    'review',
    'stages',
    'readers',
    'calls',
    'ledger',
    'input',
    'sheets',
    'config',
    'sandbox',
    'api',
    'domain',
    'util',
  ],
  // `app` does the work of a command. Beside it, a command only uses messages, errors, and the sandbox, which is no use
  // case.
  // case.
  cli: ['app', 'review', 'sandbox', 'web', 'api', 'domain', 'util'],
  // The page shows views of `app` with the words and the JSON of the commands.
  web: ['app', 'cli', 'export', 'domain', 'util'],
  'index.ts': ['app', 'sandbox', 'api', 'domain', 'util', ...TYPES_ONLY],
};

const root = resolve(import.meta.dirname, '../src');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const roomOf = (path: string) => path.split(sep)[0] ?? '';

test('every source file is in a known folder', () => {
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => !(roomOf(file) in ALLOWED))).toEqual([]);
});

/** The imports of a file, including types and lazy imports, as paths below `src`. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const targets = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => match[1] ?? '');
  return targets.map((target) => relative(root, resolve(dirname(join(root, file)), target)).replace(/\.js$/, '.ts'));
}

test('imports run one way', () => {
  const offences = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => roomOf(target) !== roomOf(file) && !ALLOWED[roomOf(file)]?.includes(roomOf(target)))
      .map((target) => `${file} imports ${target}`),
  );
  expect(offences).toEqual([]);
});

test('the public list takes only types from code behind the use cases', () => {
  const text = readFileSync(join(root, 'index.ts'), 'utf8');
  const taken = [...text.matchAll(/^export (type )?\{[^}]*\} from '\.\/(\w+)/gm)];
  expect(taken.length).toBeGreaterThan(30);
  expect(taken.filter(([, type, room = '']) => type === undefined && TYPES_ONLY.includes(room))).toEqual([]);
});

test('the HTTP client is loaded only by commands that send, when they do', () => {
  const sends = /^(?:import|export) (?!type )[^;]*?from '[^']*(?:api\/(?:v[12]\/)?|\.\/)(?:client|transport)\.js'/m;
  const loading = files.filter((file) => roomOf(file) !== 'api' && sends.test(readFileSync(join(root, file), 'utf8')));
  expect(loading).toEqual(['index.ts']);
});

/** The files that a file loads at once, without types and lazy imports. */
const loadedBy: ReadonlyMap<string, readonly string[]> = new Map(
  files.map((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const targets = [...text.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)'/gm)];
    const paths = targets.map(([, target = '']) => relative(root, resolve(dirname(join(root, file)), target)));
    return [file, paths.map((path) => path.replace(/\.js$/, '.ts'))];
  }),
);

/** All files that are loaded with this one. */
function loadedWith(file: string): ReadonlySet<string> {
  const loaded = new Set([file]);
  for (const each of loaded) for (const target of loadedBy.get(each) ?? []) loaded.add(target);
  return loaded;
}

test('nothing that only some commands need is loaded before it is known which one is called', () => {
  const loaded = [...loadedWith(join('cli', 'main.ts'))].filter((file) => !['cli', 'util'].includes(roomOf(file)));
  expect(loaded.filter((file) => roomOf(file) !== 'domain').sort()).toEqual([
    join('api', 'errors.ts'),
    join('app', 'run', 'next-step.ts'),
  ]);
});

/** Packages that these files import outside of functions. */
const packagesOf = (loaded: Iterable<string>): readonly string[] => {
  const texts = [...loaded].map((file) => readFileSync(join(root, file), 'utf8'));
  const named = texts.flatMap((text) => [...text.matchAll(/^import (?!type )[^;]*?from '([^.'][^']*)'/gm)]);
  return [...new Set(named.map(([, name = '']) => name))].filter((name) => !name.startsWith('node:')).sort();
};

test('help and completion need no package but the parser, and no database', () => {
  const ofCommands = files.filter((file) => roomOf(file) === 'cli' && !file.endsWith('demo.ts'));
  const loaded = new Set(ofCommands.flatMap((file) => [...loadedWith(file)]));
  expect(packagesOf(loaded)).toEqual(['yargs']);
  expect([...loaded].filter((file) => file.startsWith(join('ledger', 'db')))).toEqual([]);
});

/** Files that a command loads, at once or when it runs. */
function loadedByCommand(name: string): ReadonlySet<string> {
  const file = join('cli', 'commands', name);
  const later = [...readFileSync(join(root, file), 'utf8').matchAll(/ import\('([^']+)'\)/g)];
  const useCases = later.map(([, target = '']) => relative(root, resolve(root, dirname(file), target)));
  return new Set(
    [file, ...useCases.map((path) => path.replace(/\.js$/, '.ts'))].flatMap((one) => [...loadedWith(one)]),
  );
}

test('code for sheets is loaded only to read lists, and code for workbooks only to read a workbook', () => {
  const loading = (...file: string[]) =>
    readdirSync(join(root, 'cli', 'commands')).filter((command) => loadedByCommand(command).has(join(...file)));
  expect(loading('sheets', 'open-sheet.ts')).toEqual(['mcp.ts', 'plan.ts', 'review.ts', 'run.ts', 'ui.ts']);
  expect(loading('sheets', 'xlsx', 'open-workbook.ts')).toEqual([]);
});

test('no file imports another in a circle', () => {
  const imports = new Map(files.map((file) => [file, importsOf(file)]));
  // A path that leads to no file would hide a cycle.
  expect([...imports.values()].flat().filter((target) => !files.includes(target))).toEqual([]);
  expect(circles(imports)).toEqual([]);
  const ring = { 'a.ts': ['b.ts'], 'b.ts': ['c.ts', 'd.ts'], 'c.ts': ['a.ts'], 'd.ts': ['d.ts'] };
  expect(circles(new Map(Object.entries(ring)))).toEqual(['a.ts → b.ts → c.ts → a.ts', 'd.ts → d.ts']);
});

/** Every cycle that a depth-first walk closes, each reported once. A file outside the map imports nothing. */
function circles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const left = new Set<string>();
  const path: string[] = [];
  const walk = (file: string) => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (path.includes(file) || left.has(file)) return;
    path.push(file);
    for (const target of imports.get(file) ?? []) walk(target);
    path.pop();
    left.add(file);
  };
  for (const file of imports.keys()) walk(file);
  return found;
}

/** SQL keywords in a statement, over any number of lines. DuckDB also accepts another order. */
const SQL =
  /better-sqlite3|\b(?:SELECT\s[^;]*?\sFROM\s|FROM\s[^;]*?\sSELECT\s|INSERT\s(?:OR\s\w+\s)?INTO\s|UPDATE\s[^;]*?\sSET\s|DELETE\sFROM\s|(?:CREATE|ALTER|DROP)\s(?:TEMP\s)?(?:TABLE|INDEX|VIEW)\s)/;
/** Beside the ledger's own SQL: DuckDB's statements for Parquet files, and the query that the demo shows. */
const DUCKDB = [
  join('export', 'formats', 'duckdb.ts'),
  join('export', 'formats', 'parquet.ts'),
  join('cli', 'demo.ts'),
];

test('the ledger’s SQL lives in the ledger', () => {
  const withSql = files.filter((file) => SQL.test(readFileSync(join(root, file), 'utf8')));
  expect(withSql.filter((file) => roomOf(file) !== 'ledger').sort()).toEqual(DUCKDB.toSorted());
});

test.each([
  'SELECT id FROM calls',
  'SELECT id,\n  units\nFROM calls\nWHERE id = ?',
  "FROM read_csv('x')\nSELECT a",
  'INSERT OR IGNORE INTO calls VALUES (?)',
  'UPDATE calls\n  SET units = 1',
  'DELETE FROM calls',
  'CREATE TEMP TABLE t (a)',
])('the pattern of SQL knows %j', (statement) => expect(SQL.test(statement)).toBe(true));

test('the exit code is set in cli/main.ts alone', () => {
  const exits = files.filter((file) => /process\.exit/.test(readFileSync(join(root, file), 'utf8')));
  expect(exits).toEqual([join('cli', 'main.ts')]);
});

/**
 * Names that may repeat. The two APIs each describe their records, and the ledger's use cases are named after their
 * SQL. Parts of every engine share a name.
 */
const TWINS = [join('api', 'v1', 'operations.ts'), ...['sqlite', 'postgres'].map((of) => join('ledger', 'db', of))];

test('an exported name means one thing', () => {
  const places = new Map<string, string[]>();
  for (const file of files) {
    // The sandbox is another program and uses the provider's words.
    if (roomOf(file) === 'sandbox' || TWINS.some((twin) => file.startsWith(twin))) continue;
    const text = readFileSync(join(root, file), 'utf8');
    const names = [...text.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm)];
    for (const name of new Set(names.map((match) => match[1] ?? '')))
      places.set(name, [...(places.get(name) ?? []), file]);
  }
  expect([...places].filter(([, declaring]) => declaring.length > 1)).toEqual([]);
});
