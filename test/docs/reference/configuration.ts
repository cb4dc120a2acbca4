import { v2Operations } from '../../../src/api/v2/operations.js';
import { GENERATED, markdownTable, page } from './markdown.js';

/** Every variable that kybatch reads. A test compares them with the names in src. */
export const VARIABLES: Readonly<Record<string, { readonly default?: string; readonly meaning: string }>> = {
  KYBATCH_V1_BASE_URL: { meaning: 'The address of the v1 API. https, or http on a loopback address.' },
  KYBATCH_V1_API_KEY: { meaning: 'The key of v1.' },
  KYBATCH_V2_BASE_URL: { meaning: 'The address of the v2 API. https, or http on a loopback address.' },
  KYBATCH_V2_API_KEY: { meaning: 'The key of v2. The MCP server takes the same key.' },
  KYBATCH_V2_ROUTES: { meaning: 'The path of a [routes file](#routes-file).' },
  KYBATCH_PRICES: {
    meaning:
      'Prices of pipelines that set none: `{currency: EUR, unit: 0.35}`, or the path of a YAML file with the same keys.',
  },
  KYBATCH_MCP_URL: { meaning: 'The address of the MCP server, for `kybatch call mcp`.' },
  KYBATCH_DATA_DIR: {
    default: 'data',
    meaning: 'The folder of the ledger, the exports and the logs. `--data-dir` has priority.',
  },
  KYBATCH_LEDGER_URL: {
    default: 'SQLite in the data directory',
    meaning: 'The address of a ledger in PostgreSQL: `postgres://user:password@host:5432/database`.',
  },
  KYBATCH_WATCH_SECRET: { meaning: 'The secret part of the address to which the provider posts changes.' },
  HTTPS_PROXY: { meaning: 'The address of a proxy for https. Also in small letters.' },
  NO_PROXY: { meaning: 'Hosts that kybatch calls without the proxy. Also in small letters.' },
  PGPASSWORD: { meaning: 'The password of PostgreSQL, if the address has none. `~/.pgpass` works, too.' },
  NO_COLOR: { meaning: 'If set, kybatch prints no colours.' },
  USER: { meaning: 'The name under which decisions are recorded. `--by NAME` has priority.' },
  SHELL: { meaning: 'The shell for `kybatch completion`, if you name none.' },
};

/** Secrets may be in a file. */
const FILES = ['KYBATCH_V1_API_KEY', 'KYBATCH_V2_API_KEY', 'KYBATCH_LEDGER_URL', 'KYBATCH_WATCH_SECRET'];

/** The content of the data directory. */
const PLACES: readonly (readonly [string, string])[] = [
  ['`kybatch.db`, `-wal`, `-shm`', 'The ledger. Back it up with `kybatch ledger backup DIR`.'],
  ['`kybatch.commits`', 'How many commits the ledger has. It shows that an older copy was restored.'],
  ['`kybatch.lock`', 'The lock of the process that writes.'],
  ['`exports/<run>/`', 'The tables of a run, `results.xlsx`, `datapackage.json` and `summary.json`.'],
  ['`exports/latest/<portfolio>`', 'A link to the newest tables of a portfolio.'],
  ['`exports.jsonl`', 'The folders that exports were written to. `kybatch erase` looks there.'],
  ['`logs/<run>.log`', 'The log of a run: one JSON object a line, without names.'],
  ['`sandbox/`', 'The state of the simulated provider.'],
];

export const describeConfiguration = (): string =>
  page(
    '# Configuration',
    GENERATED,
    [
      'For everyone who sets kybatch up. It reads environment variables, and a `.env` file in the working directory.',
      'A variable of the environment has priority over `.env`. An empty variable counts as not set.',
    ].join(' '),
    [
      'Keys come from here only. No flag and no pipeline file takes a key.',
      'Keys never appear in a log, the ledger, an export or an error.',
      'What to buy is set in a [pipeline file](pipeline.md).',
    ].join(' '),
    '## Variables',
    markdownTable(
      ['variable', 'default', 'meaning'],
      Object.entries(VARIABLES).map(([name, { default: standard = '', meaning }]) => [
        `\`${name}\``,
        standard,
        meaning,
      ]),
    ),
    [
      `A secret may be in a file. Add \`_FILE\` to the name of the variable, and set it to the path of the file: ${FILES.map((name) => `\`${name}_FILE\``).join(', ')}.`,
      'kybatch refuses a variable that is set both ways.',
    ].join(' '),
    [
      'A base URL means the same with and without a final slash, in any case of its host, and with or without its default port.',
      'An account may have v1, v2 or both. Each API needs its address and its key.',
    ].join(' '),
    '## Routes file',
    [
      'The provider does not publish the method and path of some v2 operations.',
      'Ask your account manager, and put them into a YAML or JSON file:',
    ].join(' '),
    [
      '```yaml',
      'creditReportSearch: {method: POST, path: /credit-report/search}',
      'creditReportStatus: {method: GET, path: "/credit-report/{report_id}/status"}',
      'creditReportFetch: {method: GET, path: /credit-report/body, rename: {report_id: id}}',
      '```',
    ].join('\n'),
    [
      'A parameter that the path names goes there. The others go to the query for GET and DELETE, and to the JSON body otherwise.',
      '`rename` gives a parameter another name in the request. `body: list` sends a bare list as the body, if the provider expects one (`watchFieldsAdd`, for example).',
      'If a pipeline needs an operation that is not in the file, kybatch names it and stops before the first paid call.',
    ].join(' '),
    'These operations need a route:',
    `\`\`\`text\n${routed().join('\n')}\n\`\`\``,
    '## Data directory',
    markdownTable(['path', 'content'], PLACES),
    'Only the user who runs kybatch can read these files.',
  );

/** Operations without a published path. */
const routed = (): readonly string[] =>
  Object.values(v2Operations).flatMap((operation) => (operation.route === null ? [operation.name] : []));
