import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { defineConfig } from 'vitepress';

const DOCS = resolve(import.meta.dirname, '..');

/** Folders in the order of the menu. Pages that are not named come after the named ones. */
const SECTIONS: readonly (readonly [title: string, folder: string, first: readonly string[]])[] = [
  ['Tutorial', 'tutorial', ['first-run', 'review-in-a-spreadsheet']],
  [
    'How-to',
    'how-to',
    [
      'connect',
      'prepare-a-list',
      'browser',
      'openrefine',
      'assistant',
      'control-spend',
      'nightly',
      'monitor',
      'backfill',
    ],
  ],
  ['Explanation', 'explanation', ['matching', 'money', 'portfolios-and-freshness', 'glossary']],
  ['Reference', 'reference', ['commands', 'configuration', 'pipeline', 'states-and-exit-codes', 'match-reasons']],
  ['Tables', 'reference/tables', ['index', 'results', 'rows', 'companies']],
  ['Developers', 'developers', ['architecture', 'rules-v1', 'rules-v2', 'performance']],
  ['Decisions', 'decisions', ['README']],
];

/** Generated for developers, and too long for a menu. */
const HIDDEN = ['coverage'];

export default defineConfig({
  title: 'kybatch',
  description: 'Turn a list of companies into verified company data, without paying twice.',
  outDir: resolve(DOCS, '../site'),
  cacheDir: resolve(DOCS, '../node_modules/.cache/vitepress'),
  lastUpdated: false,
  // The files of `deploy`, such as the Dockerfile, are copied. A link to a missing page fails the build.
  ignoreDeadLinks: [/\/(?:Dockerfile|[\w-]+\.(?:service|timer))$/],
  buildEnd({ outDir }) {
    cpSync(resolve(DOCS, 'deploy'), join(outDir, 'deploy'), { recursive: true });
    cpSync(createRequire(import.meta.url).resolve('@mermaid-js/tiny'), join(outDir, 'mermaid.tiny.js'));
  },
  markdown: {
    config(md) {
      const { fence } = md.renderer.rules;
      md.renderer.rules.fence = (tokens, index, ...rest) => {
        const { info = '', content = '' } = tokens[index] ?? {};
        if (info.trim() === 'mermaid') return `<pre class="mermaid" v-pre>${md.utils.escapeHtml(content)}</pre>`;
        return fence?.(tokens, index, ...rest) ?? '';
      };
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: SECTIONS.flatMap(([text, folder, first]) => {
      const items = pagesIn(folder, first);
      return items.length === 0 ? [] : [{ text, collapsed: folder !== 'tutorial', items }];
    }),
  },
});

function pagesIn(folder: string, first: readonly string[]): { text: string; link: string }[] {
  if (!existsSync(join(DOCS, folder))) return [];
  const names = readdirSync(join(DOCS, folder)).flatMap((file) => /^(.+)\.md$/.exec(file)?.[1] ?? []);
  const sorted = [
    ...first.filter((name) => names.includes(name)),
    ...names.filter((name) => !first.includes(name)).sort(),
  ];
  return sorted
    .filter((name) => !HIDDEN.includes(name))
    .map((name) => ({ text: titleOf(join(DOCS, folder, `${name}.md`)), link: `/${folder}/${name}` }));
}

function titleOf(file: string): string {
  return /^# (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? file;
}
