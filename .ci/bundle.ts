import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type ChunkingContext, type Plugin, rolldown } from 'rolldown';
import { copyAssets } from './copy-assets.js';

/**
 * `npm run build` compiles `src` to `build`, one file for each source, which the tests load. This script bundles them
 * into `dist`, which users get. Node reads a few files sooner than a thousand.
 */
const BUILD = resolve(import.meta.dirname, '../build');
const DIST = resolve(import.meta.dirname, '../dist');

const COMMAND_LINE = /\/build\/cli\/(?!main|demo)/;

/** Files that are named from outside: the package's exports, its command, threads. */
const ENTRIES = [
  'index',
  'cli/main',
  'cli/demo',
  'export/bulk-worker',
  'ledger/answers/pack-worker',
  'app/page-thread',
];

/**
 * Files that commands share. Each takes the matching modules and all their imports, unless an earlier file has them.
 * Parsing an unused function costs little. An extra file costs more, and an unused package costs most.
 */
const SHARED: readonly (readonly [name: string, modules: RegExp])[] = [
  ['zod', /\/node_modules\/zod\//],
  ['cli', new RegExp(`${COMMAND_LINE.source}|/node_modules/`)],
  ['look', /\/build\/app\/(?:run\/(?:status|runs)|portfolio\/portfolios|admin\/usage|monitoring\/check)\.js$/],
  ['work', /\/build\/app\/run\/(?:run|continue-run|worker)\.js$/],
  ['rest', /\/build\/(?:app\/(?!provider\/sandbox|page-thread)|review\/|export\/(?!bulk-worker))/],
  ['clients', /\/build\/api\/(?:\w+\/)?client\.js$/],
  ['workbook', /\/build\/sheets\/xlsx\//],
  ['postgres', /\/build\/ledger\/db\/postgres\//],
  ['sandbox', /\/build\/(?:sandbox\/|app\/provider\/sandbox)/],
];

/**
 * Packages of many files that most commands load. zod has 95 files, of which 63 are translations, and yargs with its
 * dependencies has 50. Bundled, zod loads in a quarter of the time and yargs in two fifths. Other packages are loaded
 * from `node_modules`.
 */
const TAKEN_IN: ReadonlySet<string> = new Set(['zod', 'yargs']);

/** Files of these packages that cost much and have no use here. */
const REPLACED: Readonly<Record<string, string>> = {
  // Errors are in English, which zod imports by name.
  'zod/v4/locales/index.js': '',
  // Every letter of the help takes one column. Measuring that took a quarter of `--help`.
  'string-width/index.js': 'export default (text) => text.length;',
};

const isExternal = (id: string, importer?: string): boolean =>
  !/^[./]/.test(id) && !TAKEN_IN.has(id) && (isBuiltin(id) || importer?.includes('/node_modules/') !== true);

/** Modules that every command loads. Programs that import the package need no command parser. */
function isBase(id: string, context: ChunkingContext, under = new Set<string>()): boolean {
  if (COMMAND_LINE.test(id) || id.includes('/node_modules/') || under.has(id)) return false;
  under.add(id);
  const importers = context.getModuleInfo(id)?.importers ?? [];
  return importers.some((importer) => /\/build\/cli\/(?!demo)/.test(importer) || isBase(importer, context, under));
}

/**
 * A moved module still finds the data, migrations and threads beside its source. A lazily loaded module in a shared
 * file would get a file that only re-exports it. These files are removed.
 */
const places: Plugin = {
  name: 'places',
  load(id) {
    const replaced = Object.entries(REPLACED).find(([file]) => id.endsWith(`/node_modules/${file}`));
    if (replaced !== undefined) return replaced[1];
    if (!id.startsWith(BUILD)) return null;
    const place = relative(BUILD, id).replaceAll(sep, '/');
    const code = readFileSync(id, 'utf8')
      .replaceAll('import.meta.url', `new URL('../${place}', import.meta.url).href`)
      .replaceAll('import.meta.dirname', `(import.meta.dirname + '/../${dirname(place)}')`);
    return { code, map: readFileSync(`${id}.map`, 'utf8') };
  },
  generateBundle(_, files) {
    const chunks = Object.values(files).filter((file) => file.type === 'chunk');
    for (const { fileName, code } of chunks)
      if (code.includes('import.meta') && fileName.split('/').length !== 2)
        throw new Error(`dist/${fileName} asks where it is: only files one folder below dist know`);
    const packages = new Set(
      chunks.flatMap(({ moduleIds }) =>
        moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []),
      ),
    );
    const licences = [...packages].map((folder) => {
      const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
      if (file === undefined) throw new Error(`${folder} has no licence to hand on`);
      return `${basename(folder)}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    });
    this.emitFile({ type: 'asset', fileName: 'lib/LICENSES.txt', source: [...new Set(licences)].sort().join('\n\n') });
    for (const { fileName, code } of chunks) {
      const [, exported, target] = /^export \{ (.*) \} from "\.\/(.*)";\n$/.exec(code) ?? [];
      if (exported === undefined || !fileName.startsWith('lib/')) continue;
      const members = exported
        .split(', ')
        .map((one) => one.replace(/^(\S+)(?: as (\S+))?$/, (_all, as, name) => `${name ?? as}: m.${as}`));
      for (const chunk of chunks)
        chunk.code = chunk.code.replaceAll(
          `import("./${basename(fileName)}")`,
          `import("./${target}").then((m) => ({ ${members.join(', ')} }))`,
        );
      delete files[fileName];
    }
  },
};

/**
 * The types of the public API in two files. `index.d.ts` names them, and `types.d.ts` has each module that they need
 * under its own name.
 */
function writeTypes(): void {
  const moduleName = (path: string) => `kybatch:${relative(BUILD, path).replaceAll(sep, '/')}`;
  const needed = new Set<string>();
  const read = (path: string) =>
    readFileSync(`${path}.d.ts`, 'utf8').replaceAll(
      /((?:from|import\() ?['"])(\.[^'"]+)\.js(?=['"])/g,
      (_, before, to) => {
        needed.add(resolve(dirname(path), to));
        return before + moduleName(resolve(dirname(path), to));
      },
    );
  const index = read(join(BUILD, 'index'));
  const modules: string[] = [];
  for (const path of needed)
    modules.push(`declare module '${moduleName(path)}' {\n${read(path).replaceAll(/^(export )?declare /gm, '$1')}}\n`);
  writeFileSync(join(DIST, 'types.d.ts'), modules.join(''));
  writeFileSync(join(DIST, 'index.d.ts'), `/// <reference path="./types.d.ts" />\n${index}`);
}

rmSync(DIST, { recursive: true, force: true });
copyAssets(BUILD);
copyAssets(DIST);
const bundle = await rolldown({
  input: Object.fromEntries(ENTRIES.map((entry) => [entry, join(BUILD, `${entry}.js`)])),
  platform: 'node',
  external: isExternal,
  plugins: [places],
  treeshake: false,
  preserveEntrySignatures: 'allow-extension',
  checks: { ineffectiveDynamicImport: false },
});
await bundle.write({
  dir: DIST,
  format: 'esm',
  sourcemap: true,
  sourcemapExcludeSources: true,
  chunkFileNames: 'lib/[name].js',
  comments: false,
  codeSplitting: {
    groups: [
      {
        name: (id, context) => (isBase(id, context) ? 'base' : null),
        debugName: 'base',
        priority: SHARED.length + 1,
      },
      ...SHARED.map(([name, test], at) => ({ name, test, priority: SHARED.length - at })),
    ],
  },
});
chmodSync(join(DIST, 'cli', 'main.js'), 0o755);
// This runs last: if the types exist, the build is complete.
writeTypes();
