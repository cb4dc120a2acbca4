import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { searchesOf } from '../../../src/stages/identity/space-search.js';
import { stages } from '../../../src/stages/list.js';
import { configureStage, type Stage } from '../../../src/stages/stage.js';
import { NOTIFICATION } from './documented.js';

const SRC = resolve(import.meta.dirname, '../../../src');

/** Options with which a stage makes requests that are off by default. */
const OPTIONS: Readonly<Record<string, readonly object[]>> = {
  record: [{ modules: ['lite', 'officers', 'shareholders', 'group', 'financial'] }],
  profile: [{ from: 'v1' }, { from: 'v2' }],
  screening: [{ from: 'v1' }, { from: 'v2' }],
  contacts: [
    { from: 'domain', details: true },
    { from: 'employees', reveal: ['email', 'phone'] },
  ],
};

/** Callers other than stages, and their files. */
const COMMANDS: readonly {
  readonly who: string;
  readonly files: readonly string[];
  readonly asks: readonly string[];
}[] = [
  {
    who: '`search.fallback`',
    files: ['stages/identity'],
    asks: [
      'companiesLookup',
      'enrichCompanyByWebsite',
      'enrichCompanyByLinkedin',
      'enrichCompanyByRegistry',
      'autocomplete',
    ],
  },
  { who: '`kybatch prospect`', files: ['app'], asks: ['prospecting', 'companyProfile'] },
  { who: '`kybatch vocab`, `kybatch prospect`', files: ['app'], asks: ['nomenclature'] },
  { who: '`kybatch run`, `kybatch doctor`', files: ['app', 'api/v2'], asks: ['metrics', 'metricsContacts'] },
  { who: '`kybatch watch sync`', files: ['portfolio/watch', 'app'], asks: ['watchAdd', 'watchRemove', 'watchList'] },
  { who: '`kybatch watch listen` (receives it)', files: [], asks: [NOTIFICATION] },
  { who: '`kybatch watch pull`, `kybatch run`', files: ['portfolio/watch'], asks: ['watchHistory'] },
];

/** The callers of an operation, apart from `kybatch call`, which can call all. */
export function askersOf(operation: string): readonly string[] {
  const byStages = stages.flatMap((stage) => variants(stage).flatMap((variant) => roleIn(variant, operation)));
  const byCommands = COMMANDS.filter(({ asks }) => asks.includes(operation)).map(({ who }) => who);
  const askers = [...new Set([...byStages, ...byCommands])];
  return askers.length === 0 ? ['`kybatch call`'] : askers;
}

function roleIn({ name, space, calls }: Stage, operation: string): readonly string[] {
  const isSearch = searchesOf(space).some((search) => search.name === operation);
  const isCall = calls.some((call) => call.operation.name === operation);
  return [...(isCall ? [`\`${name}\``] : []), ...(isSearch ? [`\`${name}\` (to find the company)`] : [])];
}

const variants = (stage: Stage): readonly Stage[] =>
  [undefined, ...(OPTIONS[stage.name] ?? [])].map((options) =>
    configureStage(stage, stage.options?.schema.parse(options)),
  );

/** Commands that are listed as callers, but whose files do not name the operation. */
export const untrueCommands = (): readonly string[] =>
  COMMANDS.filter(({ files }) => files.length > 0).flatMap(({ who, files, asks }) => {
    const text = files.map((file) => textOf(join(SRC, file))).join('\n');
    return asks.filter((operation) => !new RegExp(`\\b${operation}\\b`).test(text)).map((name) => `${who}: ${name}`);
  });

const textOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
