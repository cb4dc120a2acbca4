import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { sourcesIn, testTextsIn, textsIn } from '../wording/texts.js';

/**
 * Keeps README, docs, printed texts, texts in the source, and comments and titles of tests in plain English.
 * `plain-baseline.json` has the older offences of each file. They may only become fewer:
 * `KYBATCH_WRITE_DOCS=1 npx vitest run test/docs/plain.test.ts` lowers the figures.
 */
const ROOT = resolve(import.meta.dirname, '../..');
const BASELINE = join(import.meta.dirname, 'plain-baseline.json');

/** Words that the style guide replaces, and the replacement. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bat the most\b/i, 'at most'],
  [/\banew\b|\bonce more\b/i, 'again'],
  [/\b(?:goes|go|going|went) on\b|\bleads? (?:on|out)\b/i, 'continues'],
  [/\bby (?:itself|themselves)\b/i, 'finishes, alone, or nothing'],
  [/\b(?:is|are|was|were) (?:not )?told\b|\btells?\b|\ba word (?:about|on)\b/i, 'reports, shows'],
  [/\bheld to be\b/i, 'considered'],
  [/\bat work\b/i, 'running'],
  [/\b(?:lies|lie|stands|stand) (?:in|by|beside|behind|there)\b/i, 'is in, uses'],
  [/\bfor nothing\b|\bfor 0 units\b/i, 'free'],
  [/\bnobody\b|\bwhoever\b|\bsomebody\b|\bwhatever\b/i, 'the actor: you, kybatch, the provider'],
  [/\bfor want of\b/i, 'because … is missing'],
  [/\bby hand\b/i, 'manually'],
  [/\bso many\b|\bas said\b|\bbe it\b|\blikewise\b/i, 'the thing itself'],
  [/^Where\b(?! to\b|.*\?$)|, where\b|\b(?:only|and|but|or|also|except) where\b|\bwherever\b/, 'if or when'],
  [/[^\s'];(?= |$)/, 'two sentences'],
];

const MANY_WORDS = 25;
const TOO_MANY_WORDS = 35;
const PAGE_WORDS = 1200;
const LONGER_PAGES: Readonly<Record<string, number>> = {
  'docs/developers/architecture.md': 3000,
  'docs/developers/performance.md': 1500,
};
/** The most words of all pages in these folders together. */
const FOLDER_WORDS: readonly (readonly [folders: readonly string[], words: number])[] = [
  [['tutorial', 'how-to', 'explanation'], 17_000],
  [['developers', 'decisions'], 13_000],
  [['decisions'], 6000],
];

const filesIn = (folder: string, ending: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file));

const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...filesIn('docs', '.md').filter((file) => !file.endsWith('/coverage.md')),
];
const sources = sourcesIn(join(ROOT, 'src')).map((file) => relative(ROOT, file));
const tests = [...filesIn('test', '.ts'), ...filesIn('.ci', '.ts'), 'vitest.config.ts'];
const texts = [...pages, ...filesIn('test/cli/golden', '.txt'), ...sources, ...tests].sort();

interface Offences {
  /** Sentences of more than 35 words. */
  readonly tooLong?: number;
  /** Sentences of 26 to 35 words. */
  readonly long?: number;
  /** Words that the style guide replaces. */
  readonly words?: number;
  /** The words of a page that is too long. */
  readonly page?: number;
}

test('sentences are short, words are plain, and pages have one purpose', { tags: 'words' }, () => {
  const found = new Map(texts.map((file) => [file, examine(file)]));
  const before = JSON.parse(readFileSync(BASELINE, 'utf8')) as Readonly<Record<string, Offences>>;
  const worse = [...found].flatMap(([file, { offences, notes }]) => {
    const allowed = before[file] ?? {};
    const kinds = KINDS.filter((kind) => (offences[kind] ?? 0) > (allowed[kind] ?? 0));
    return kinds.map((kind) => `${file}: ${kind} ${offences[kind]}, before ${allowed[kind] ?? 0}\n${notes[kind]}`);
  });
  expect(worse.join('\n')).toBe('');
  if (process.env.KYBATCH_WRITE_DOCS !== '1') return;
  const now = [...found].filter(([, { offences }]) => KINDS.some((kind) => offences[kind] !== undefined));
  const lines = now.map(([file, { offences }]) => {
    const counts = Object.entries(offences).map(([kind, count]) => `"${kind}": ${count}`);
    return `  "${file}": { ${counts.join(', ')} }`;
  });
  writeFileSync(BASELINE, `{\n${lines.join(',\n')}\n}\n`);
});

test.each(FOLDER_WORDS)('the pages in %j have at most %i words', (folders, words) => {
  const files = folders.flatMap((folder) => filesIn(join('docs', folder), '.md'));
  const sizes = files.map((file) => pageWords(readFileSync(join(ROOT, file), 'utf8')));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(words);
});

const KINDS = ['tooLong', 'long', 'words', 'page'] as const;

interface Examined {
  readonly offences: Offences;
  readonly notes: Readonly<Record<keyof Offences, string>>;
}

function examine(file: string): Examined {
  const text = file.endsWith('.ts') ? '' : readFileSync(join(ROOT, file), 'utf8');
  const read = file.endsWith('.ts')
    ? sourceTexts(file)
    : file.endsWith('.md')
      ? markdownTexts(text)
      : printedTexts(text);
  const sentences = read.flatMap(sentencesOf);
  const tooLong = sentences.filter((sentence) => countWords(sentence) > TOO_MANY_WORDS);
  const long = sentences.filter(
    (sentence) => countWords(sentence) > MANY_WORDS && countWords(sentence) <= TOO_MANY_WORDS,
  );
  const words = sentences.flatMap((sentence) =>
    WORDS.flatMap(([word, better]) => {
      const [found] = word.exec(sentence) ?? [];
      return found === undefined ? [] : [`"${found.trim()}" (${better}) in: ${sentence}`];
    }),
  );
  const size = pageWords(text);
  const most = LONGER_PAGES[file] ?? PAGE_WORDS;
  const isShort = size <= most || !file.endsWith('.md') || /^CHANGELOG|^docs\/(?:reference|decisions)\//.test(file);
  return {
    offences: {
      ...(tooLong.length > 0 && { tooLong: tooLong.length }),
      ...(long.length > 0 && { long: long.length }),
      ...(words.length > 0 && { words: words.length }),
      ...(!isShort && { page: size }),
    },
    notes: {
      tooLong: tooLong.join('\n'),
      long: long.join('\n'),
      words: words.join('\n'),
      page: `${size} words, at most ${most}`,
    },
  };
}

const countWords = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

const pageWords = (text: string): number => countWords(text.replaceAll('|', ' '));

/** Paragraphs, items and cells. Code counts as one word, and a link as its text. */
function markdownTexts(text: string): readonly string[] {
  const prose = text
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replaceAll(/^(```|~~~)[\s\S]*?^\1[ \t]*$/gm, '\n')
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/`[^`\n]*`/g, 'code')
    .replaceAll(/&[a-z]+;/g, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*_]{2}/g, '')
    .replaceAll(/^#.*$/gm, '$&\n');
  return prose
    .split(/\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.) |\||#|:::|>)/)
    .flatMap((block) => (block.startsWith('|') ? block.split('|') : [block]))
    .map((block) =>
      block
        .replaceAll(/\s+/g, ' ')
        .replace(/^[\s#>+*-]+/, '')
        .trim(),
    )
    .filter((block) => block !== '');
}

/** An inserted value counts as one word, and so does a code. Tags separate texts. */
const sourceTexts = (file: string): readonly string[] =>
  (file.startsWith('src')
    ? textsIn(join(ROOT, file)).map(({ whole }) => whole)
    : testTextsIn(readFileSync(join(ROOT, file), 'utf8'))
  )
    .flatMap((text) => text.replaceAll(/\\?`[^`]*`/g, 'code').split(/\\n|<[^>]*>|\n/))
    .filter((text) => /[a-z]{2,} [a-z…]/i.test(text));

const COLUMNS = 80;

/** Printed lines. A line belongs to the next one if that line's first word did not fit in it. */
function printedTexts(text: string): readonly string[] {
  const joined: string[] = [];
  let previous = '';
  for (const line of text.split('\n')) {
    const [word = ''] = line.trim().split(' ');
    const isWrapped = word !== '' && previous !== '' && previous.length + 1 + word.length > COLUMNS;
    if (isWrapped) joined.push(`${joined.pop()} ${line.trim()}`);
    else joined.push(line.trim());
    previous = line;
  }
  return joined.filter((line) => line !== '' && !line.startsWith('$ ')).map((line) => line.replaceAll(/ {2,}/g, '. '));
}

/** A sentence ends at a mark before a space and a capital letter, at a middle dot between facts, or at the end. */
const sentencesOf = (text: string): readonly string[] =>
  text.split(/ · |(?<=[.!?][)"”]?) (?=[\p{Lu}\p{N}"“(]|code\b|kybatch\b|v[12]\b)/u).map((sentence) => sentence.trim());
