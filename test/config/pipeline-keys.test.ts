import { describe, expect, test } from 'vitest';
import type { Operation } from '../../src/api/operation.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import { freshnessMs, loadPipeline } from '../../src/config/pipeline.js';
import { pipelineKeys } from '../../src/config/pipeline-schema.js';
import { IMPORTANT_CHANGES } from '../../src/domain/change.js';
import { UsageError } from '../../src/domain/errors.js';
import { INPUT_FIELDS } from '../../src/input/types.js';
import { stages } from '../../src/stages/list.js';
import { expectGolden } from '../helpers/golden.js';
import { long } from '../helpers/long.js';
import { load, loadWith, problemsWith, refusal, withFiles } from './with-pipeline.js';

const DAY = 86_400_000;
const operations = { ...v1Operations, ...v2Operations };

test('a file with stages alone has every default', () => {
  const { name, file, sha256, ...pipeline } = load('stages: [record]');
  expect({ name, file: file.endsWith('/p.yaml'), sha256: sha256.length }).toEqual({
    name: 'p',
    file: true,
    sha256: 64,
  });
  expect(pipeline).toEqual({
    description: '',
    stages: ['record'],
    search: { attempts: 2, order: ['registration_number', 'vat_number', 'name'], furtherSpellings: true, fallback: [] },
    match: {
      nameAgreement: 85,
      confirmOnVat: true,
      confirmRepaired: true,
      confirmNumberAlone: 'always',
      legalForm: 'review',
    },
    review: { secondPerson: false },
    freshnessMs: expect.objectContaining({
      searchKyb: 30 * DAY,
      kybSearch: 30 * DAY,
      creditReportSearch: 30 * DAY,
      fullKyb: 90 * DAY,
      financial: 90 * DAY,
      creditReportGenerate: 365 * DAY,
      creditReportFetch: 365 * DAY,
    }),
    budget: { units: null, creditReports: null },
    prices: null,
    concurrency: 16,
    inDoubt: 'resend',
    inDoubtCap: 3,
    provenance: false,
    idsShared: [],
    options: {
      screening: {
        from: 'v1',
        officers: true,
        shareholders: true,
        peopleAtMost: 10,
        pagesAtMost: 1,
        currentOnly: true,
      },
      contacts: {
        from: 'domain',
        peopleAtMost: 10,
        details: false,
        reveal: [],
        revealAtMost: 1,
        seniority: [],
        department: [],
        jobTitle: [],
      },
      record: { modules: 'full', allPages: false, pagesAtMost: 10 },
      profile: { from: 'v1' },
      registry: {
        modules: ['lite', 'officers', 'shareholders', 'financial'],
        allPages: true,
        pagesAtMost: 10,
        perPage: null,
      },
      'credit-report': {
        reuseExpired: false,
        firstPollMs: 5_000,
        pollAtMostMs: 30_000,
        giveUpAfterMs: 1_800_000,
        lookForMs: 900_000,
        format: 'json',
      },
    },
    permissions: {},
    columns: {},
    retry: { attempts: 5, baseMs: 500, capMs: 30_000 },
    breaker: { failures: 20 },
    guards: { failingAlike: null, rowsLost: null },
    importantChanges: [...IMPORTANT_CHANGES],
    watch: { fields: null, refresh: [], everyMs: 0 },
    tables: 'at_every_stop',
    keepExports: null,
    partsAbove: null,
    patienceMs: 120_000,
    deadlineMs: 35_000,
    metrics: null,
    notify: null,
  });
});

const screening = (options: object) => ({ options: { screening: options } });
const contacts = (options: object) => ({ options: { contacts: options } });
const EMPLOYEES = 'ids_shared: [v1, employees]\n';
const reportOptions = (options: object) => ({ options: { 'credit-report': options } });

/** The key, the line that sets it, and the resulting pipeline. */
const GOOD: readonly [key: string, lines: string, expected: object][] = [
  ['description', 'description: For the demo', { description: 'For the demo' }],
  ['search.attempts', 'search: {attempts: 5}', { search: { attempts: 5 } }],
  ['search.order', 'search: {order: [name]}', { search: { order: ['name'] } }],
  ['search.further_spellings', 'search: {further_spellings: false}', { search: { furtherSpellings: false } }],
  [
    'search.fallback',
    'search: {fallback: [website, lookup]}',
    { search: { attempts: 2, fallback: ['website', 'lookup'] } },
  ],
  ['match.name_agreement', 'match: {name_agreement: 100}', { match: { nameAgreement: 100 } }],
  ['match.confirm_on_vat', 'match: {confirm_on_vat: false}', { match: { confirmOnVat: false } }],
  ['match.confirm_repaired', 'match: {confirm_repaired: false}', { match: { confirmRepaired: false } }],
  ['confirm.legal_form', 'confirm: {legal_form: note}', { match: { legalForm: 'note' } }],
  ['match.confirm_number_alone', 'match: {confirm_number_alone: never}', { match: { confirmNumberAlone: 'never' } }],
  ['review.second_person', 'review: {second_person: true}', { review: { secondPerson: true } }],
  ['freshness', 'freshness: {fullKyb: 12h}', { freshnessMs: { fullKyb: DAY / 2, financial: 90 * DAY } }],
  ['limits.units', 'limits: {units: 1}', { budget: { units: 1, creditReports: null } }],
  ['limits.credit_reports', 'limits: {credit_reports: 7}', { budget: { units: null, creditReports: 7 } }],
  ['concurrency', 'concurrency: 256', { concurrency: 256 }],
  ['lost_answers', 'lost_answers: hold', { inDoubt: 'park' }],
  ['lost_answer_tries', 'lost_answer_tries: 10', { inDoubtCap: 10 }],
  ['provenance', 'provenance: true', { provenance: true }],
  ['ids_shared', 'ids_shared: true', { idsShared: ['v1', 'v2'] }],
  ['ids_shared', 'ids_shared: [v2, companies]', { idsShared: ['v2', 'companies'] }],
  ['screening.from', 'screening: {from: v2}', screening({ from: 'v2', shareholders: false })],
  ['screening.officers', 'screening: {officers: false}', screening({ officers: false })],
  ['screening.shareholders', 'screening: {shareholders: false}', screening({ shareholders: false })],
  ['screening.people_at_most', 'screening: {people_at_most: 50}', screening({ peopleAtMost: 50 })],
  ['screening.pages_at_most', 'screening: {pages_at_most: 20}', screening({ pagesAtMost: 20 })],
  ['screening.current_only', 'screening: {current_only: false}', screening({ currentOnly: false })],
  ['contacts.from', 'contacts: {from: employees}\nids_shared: [v1, employees]', contacts({ from: 'employees' })],
  ['contacts.people_at_most', 'contacts: {people_at_most: 100}', contacts({ peopleAtMost: 100 })],
  ['contacts.details', 'contacts: {details: true}', contacts({ details: true })],
  ['contacts.reveal', 'contacts: {reveal: [email]}', contacts({ reveal: ['email'] })],
  ['contacts.reveal_at_most', 'contacts: {reveal_at_most: 100}', contacts({ revealAtMost: 100 })],
  ['contacts.seniority', 'contacts: {seniority: [Director]}', contacts({ seniority: ['Director'] })],
  ['contacts.department', `${EMPLOYEES}contacts: {from: employees, department: [4]}`, contacts({ department: [4] })],
  [
    'contacts.job_title',
    `${EMPLOYEES}contacts: {from: employees, job_title: [Buyer]}`,
    contacts({ jobTitle: ['Buyer'] }),
  ],
  [
    'record.modules',
    'record: {modules: [officers, lite]}',
    { options: { record: { modules: ['lite', 'officers'], allPages: true, pagesAtMost: 10 } } },
  ],
  ['record.all_pages', 'record: {all_pages: true}', { options: { record: { modules: 'full', allPages: true } } }],
  ['record.pages_at_most', 'record: {pages_at_most: 1000}', { options: { record: { pagesAtMost: 1000 } } }],
  ['profile.from', 'profile: {from: v2}', { options: { profile: { from: 'v2' } } }],
  ['registry.modules', 'registry: {modules: [lite]}', { options: { registry: { modules: ['lite'] } } }],
  ['registry.all_pages', 'registry: {all_pages: false}', { options: { registry: { allPages: false } } }],
  ['registry.pages_at_most', 'registry: {pages_at_most: 1}', { options: { registry: { pagesAtMost: 1 } } }],
  ['registry.per_page', 'registry: {per_page: 100}', { options: { registry: { perPage: 100 } } }],
  ['report.reuse_expired', 'report: {reuse_expired: true}', reportOptions({ reuseExpired: true })],
  ['report.first_poll', 'report: {first_poll: 1ms}', reportOptions({ firstPollMs: 1 })],
  ['report.poll_at_most', 'report: {poll_at_most: 1h}', reportOptions({ pollAtMostMs: 3_600_000 })],
  ['report.give_up_after', 'report: {give_up_after: 7d}', reportOptions({ giveUpAfterMs: 7 * DAY })],
  ['report.look_for', 'report: {look_for: 10m}', reportOptions({ lookForMs: 600_000 })],
  ['report.format', 'report: {format: json}', reportOptions({ format: 'json' })],
  ['permissions', 'permissions: {kyb: [kybSearch, kybLite]}', { permissions: { kyb: ['kybSearch', 'kybLite'] } }],
  ['retry.attempts', 'retry: {attempts: 1}', { retry: { attempts: 1 } }],
  ['retry.base', 'retry: {base: 0}', { retry: { baseMs: 0 } }],
  ['retry.cap', 'retry: {cap: 1m}', { retry: { capMs: 60_000 } }],
  ['breaker.failures', 'breaker: {failures: 5}', { breaker: { failures: 5 } }],
  ['guards.failing_alike', 'guards: {failing_alike: 50}', { guards: { failingAlike: 50, rowsLost: null } }],
  ['guards.rows_lost', 'guards: {rows_lost: 100}', { guards: { failingAlike: null, rowsLost: 100 } }],
  [
    'changes.important',
    'changes: {important: [officers, companies.status]}',
    { importantChanges: ['officers', 'companies.status'] },
  ],
  ['changes.important', 'changes: {important: []}', { importantChanges: [] }],
  ['watch.fields', 'watch: {fields: [name, colour]}', { watch: { fields: ['name', 'colour'], refresh: [] } }],
  ['watch.refresh', 'watch: {refresh: [record]}', { watch: { fields: null, refresh: ['record'] } }],
  ['watch.every', 'watch: {every: 7d}', { watch: { everyMs: 7 * DAY } }],
  ['tables', 'tables: when_finished', { tables: 'when_finished' }],
  ['export.keep', 'export: {keep: 3}', { keepExports: 3 }],
  ['export.parts_above', 'export: {parts_above: 20000}', { partsAbove: 20_000 }],
  ['prices.currency', 'prices: {currency: EUR}', { prices: { currency: 'EUR', operations: {} } }],
  ['prices.unit', 'prices: {currency: EUR, unit: 0.350}', { prices: { unit: '0.350' } }],
  ['prices.unit', 'prices: {currency: EUR, unit: 0}', { prices: { unit: '0' } }],
  ['prices.credit_report', 'prices: {currency: EUR, credit_report: "12.50"}', { prices: { creditReport: '12.50' } }],
  [
    'prices.operations',
    'prices: {currency: EUR, operations: {kybSearch: 0.123456789}}',
    { prices: { operations: { kybSearch: '0.123456789' } } },
  ],
  ['patience', 'patience: 0', { patienceMs: 0 }],
  ['patience', 'patience: 4h', { patienceMs: 14_400_000 }],
  ['deadline', 'deadline: 30s', { deadlineMs: 30_000 }],
  ['metrics.file', 'metrics: {file: /var/lib/k.prom}', { metrics: { file: '/var/lib/k.prom' } }],
  [
    'notify.command',
    'notify: {command: [mail, "-s", "", "-s"]}',
    { notify: { to: { kind: 'command', argv: ['mail', '-s', '', '-s'] } } },
  ],
  [
    'notify.webhook',
    'notify: {webhook: "https://hooks.example/x?y=1"}',
    { notify: { to: { kind: 'webhook', origin: 'https://hooks.example' } } },
  ],
  ['notify.on', 'notify: {command: [a], on: [failed]}', { notify: { on: ['failed'] } }],
  ...INPUT_FIELDS.map((field): [string, string, object] => [
    `columns.${field}`,
    `columns: {${field}: [Mine, Other]}`,
    { columns: { [field]: ['Mine', 'Other'] } },
  ]),
];

test.each(GOOD)('%s is applied', (_, lines, expected) => {
  expect(loadWith(lines)).toMatchObject(expected);
});

test.each([
  ['budget: {units: 5}', { budget: { units: 5 } }],
  ['in_doubt: park', { inDoubt: 'park' }],
  ['in_doubt: resend', { inDoubt: 'resend' }],
  ['in_doubt_cap: 7', { inDoubtCap: 7 }],
])('the old key in %j works, with a note', (lines, expected) => {
  const notes: string[] = [];
  withFiles({ 'p.yaml': `stages: [record]\n${lines}\n` }, (cwd) => {
    expect(loadPipeline('p.yaml', cwd, ({ code }) => notes.push(code))).toMatchObject(expected);
  });
  expect(notes).toEqual(['PIPELINE_KEYS_RENAMED']);
});

test('a key is not given by both of its names', () => {
  expect(() => loadWith('budget: {units: 5}\nlimits: {units: 5}')).toThrow(UsageError);
});

/** The lines, and the key of their one problem. */
const BAD: readonly [lines: string, key: string][] = [
  ['metrics: {}', 'metrics.file'],
  ['notify: {}', 'notify'],
  ['notify: {command: [a], webhook: "https://a.example/"}', 'notify'],
  ['notify: {command: mail me}', 'notify.command'],
  ['notify: {webhook: "http://hooks.example/a-secret"}', 'notify.webhook'],
  ['notify: {webhook: "https://me:secret@hooks.example/"}', 'notify.webhook'],
  ['notify: {webhook: "ftp://a"}', 'notify.webhook'],
  ['notify: {webhook: "no address"}', 'notify.webhook'],
  ['notify: {command: [a], on: []}', 'notify.on'],
  ['description: " "', 'description'],
  ['description: 5', 'description'],
  ['search: {attempts: 0}', 'search.attempts'],
  ['search: {attempts: 6}', 'search.attempts'],
  ['search: {attempts: 0.5}', 'search.attempts'],
  ['search: {attempts: .nan}', 'search.attempts'],
  ['search: {order: []}', 'search.order'],
  ['search: {order: [name, name]}', 'search.order'],
  ['search: {order: [nmae]}', 'search.order.0'],
  ['search: {further_spellings: yes}', 'search.further_spellings'],
  ['search: {fallback: [webiste]}', 'search.fallback.0'],
  ['search: {fallback: [lookup, lookup]}', 'search.fallback'],
  ['search: {fallback: lookup}', 'search.fallback'],
  ['search:', 'search'],
  ['match: {name_agreement: 84}', 'match.name_agreement'],
  ['match: {confirm_on_vat: 1}', 'match.confirm_on_vat'],
  ['match: {confirm_repaired: no}', 'match.confirm_repaired'],
  ['freshness: {fullKyb: 30}', 'freshness.fullKyb'],
  ['freshness: {fullKyb: 2w}', 'freshness.fullKyb'],
  ['freshness: {fulKyb: 30d}', 'freshness.fulKyb'],
  ['freshness: [fullKyb]', 'freshness'],
  ['limits: {units: 0}', 'limits.units'],
  ['limits: {units: "100"}', 'limits.units'],
  ['limits: {credit_reports: -1}', 'limits.credit_reports'],
  ['limits: 500', 'limits'],
  ['concurrency: 257', 'concurrency'],
  ['concurrency: 1e99', 'concurrency'],
  ['lost_answers: hodl', 'lost_answers'],
  ['lost_answer_tries: 11', 'lost_answer_tries'],
  ['provenance: on', 'provenance'],
  ['ids_shared: null', 'ids_shared'],
  ['ids_shared: [v2]', 'ids_shared'],
  ['ids_shared: [v2, v2]', 'ids_shared'],
  ['ids_shared: [v2, report]', 'ids_shared.1'],
  ['ids_shared: [v1, cretid]', 'ids_shared.1'],
  ['record: {modules: all}', 'record.modules'],
  ['record: {modules: [lite, full]}', 'record.modules.1'],
  ['record: {modules: [lite, oficers]}', 'record.modules.1'],
  ['record: {modules: [lite, lite]}', 'record.modules'],
  ['record: {all_pages: 2}', 'record.all_pages'],
  ['record: {pages_at_most: 0}', 'record.pages_at_most'],
  ['record: {module: [lite]}', 'record.module'],
  ['profile: {from: v3}', 'profile.from'],
  ['registry: {modules: [group]}', 'registry.modules.0'],
  ['registry: {per_page: 0}', 'registry.per_page'],
  ['report: {reuse_expired: 0}', 'report.reuse_expired'],
  ['report: {first_poll: 0}', 'report.first_poll'],
  ['report: {first_poll: 1m}', 'report.poll_at_most'],
  ['report: {poll_at_most: forever}', 'report.poll_at_most'],
  ['report: {poll_at_most: 4s}', 'report.poll_at_most'],
  ['report: {give_up_after: 8d}', 'report.give_up_after'],
  ['report: {look_for: 2m}', 'report.look_for'],
  ['report: {format: html}', 'report.format'],
  ['permissions: {kyb: []}', 'permissions.kyb'],
  ['permissions: {"": [kybSearch]}', 'permissions.'],
  ['permissions: kyb', 'permissions'],
  ['columns: {name: Firma}', 'columns.name'],
  ['columns: {name: [" "]}', 'columns.name.0'],
  ['columns: {nane: [Firma]}', 'columns.nane'],
  ['retry: {attempts: 11}', 'retry.attempts'],
  ['retry: {base: 2h}', 'retry.base'],
  ['retry: {cap: 100ms}', 'retry.cap'],
  ['guards: {rows_lost: 0}', 'guards.rows_lost'],
  ['changes: {important: [companies]}', 'changes.important.0'],
  ['watch: {fields: []}', 'watch.fields'],
  ['watch: {refresh: [all]}', 'watch.refresh.0'],
  ['watch: {refresh: [financials]}', 'watch.refresh'],
  ['prices: 5', 'prices'],
  ['prices: {unit: 1}', 'prices.currency'],
  ['prices: {currency: eur}', 'prices.currency'],
  ['prices: {currency: EUR, unit: -0.35}', 'prices.unit'],
  ['prices: {currency: EUR, unit: 0.1234567890}', 'prices.unit'],
  ['prices: {currency: EUR, unit: "0,35"}', 'prices.unit'],
  ['prices: {currency: EUR, unit: .inf}', 'prices.unit'],
  ['prices: {currency: EUR, credit_report: free}', 'prices.credit_report'],
  ['prices: {currency: EUR, operations: {kybSaerch: 1}}', 'prices.operations.kybSaerch'],
  ['prices: {currency: EUR, operations: {creditReportGenerate: 1}}', 'prices.operations.creditReportGenerate'],
  ['prices: {currency: EUR, operations: {kybSearch: null}}', 'prices.operations.kybSearch'],
  ['patience: 8d', 'patience'],
  ['breaker: {failures: 4}', 'breaker.failures'],
];

/** Cases as in `BAD`, for refusals that guard money or a credential. */
const GUARDED: typeof BAD = [
  // V1-6: the provider may take 30 seconds.
  ['deadline: 29s', 'deadline'],
  // A credential in the wrong place is not repeated.
  ['v1_api_key: canary', 'v1_api_key'],
  ...['__proto__', 'constructor', 'toString'].map((key): [string, string] => [`${key}: {provenance: true}`, key]),
  // V2-6: these are always asked again.
  ...['constructor', 'toString', 'creditReportStatus', 'creditReportHistory', 'metrics', 'watchAdd'].map(
    (name): [string, string] => [`freshness: {${name}: 1d}`, `freshness.${name}`],
  ),
  // V2-3: a permission names operations of v2 only.
  ['permissions: {kyb: [kybSaerch]}', 'permissions.kyb.0'],
  ['permissions: {kyb: [searchKyb]}', 'permissions.kyb.0'],
];

function refuses(lines: string, key: string): void {
  expect(problemsWith(lines)).toEqual([{ code: 'PIPELINE_INVALID', key }]);
  expect(refusal(() => loadWith(lines)).message).not.toMatch(/canary|secret/);
}

test.each(GUARDED)('refuses %s', refuses);
long.each(BAD)('refuses %s', refuses);

long('each problem is explained', async () => {
  const texts = [...BAD, ...GUARDED].map(([lines]): [string, string] => [
    lines,
    refusal(() => loadWith(lines)).message,
  ]);
  await expectGolden('pipeline-problems', texts);
});

test('options of a stage that is not planned are noted, because their author may expect them', () => {
  const notes = (text: string): readonly string[] => {
    const told: string[] = [];
    withFiles({ 'p.yaml': text }, (cwd) => loadPipeline('p.yaml', cwd, ({ code }) => told.push(code)));
    return told;
  };
  const unused = 'PIPELINE_OPTION_UNUSED';
  expect(notes('stages: [record]\ncontacts: {reveal: [email]}\nreport: {look_for: 6m}\n')).toEqual([unused, unused]);
  expect(notes('stages: [record, contacts]\ncontacts: {reveal: [email]}\n')).toEqual([]);
});

describe('stages', () => {
  test('run in the order of the list, in any order of the file', () => {
    expect(load('stages: [credit-report, record, financials]').stages).toEqual([
      'record',
      'financials',
      'credit-report',
    ]);
  });
});

describe('freshness', () => {
  test('every reused answer has the default of its operation, and no other has one', () => {
    const declared = Object.values<Operation>(operations).flatMap(({ name, keep }) =>
      keep === 'never' ? [] : [[name, keep.days * DAY]],
    );
    expect(load('stages: [record]').freshnessMs).toEqual(Object.fromEntries(declared));
  });

  const pipeline = loadWith('freshness: {fullKyb: forever, financial: 0, liteKyb: 1d, creditReportStatus: 0}');
  test.each([
    ['fullKyb', Infinity],
    ['financial', 0],
    ['liteKyb', DAY],
    ['searchKyb', 30 * DAY],
    ['creditReportStatus', 0],
    ['creditReportHistory', 0],
  ])('%s is fresh for %d ms', (name, ms) => {
    const operation = operations[name as keyof typeof operations];
    expect(freshnessMs(pipeline, operation)).toBe(ms);
  });

  test("an operation unknown to the run's file has its own default", () => {
    expect(freshnessMs(pipeline, { ...operations.fullKyb, name: 'toString' })).toBe(90 * DAY);
    expect(freshnessMs({ freshnessMs: {} }, operations.searchKyb)).toBe(30 * DAY);
    expect(freshnessMs({ freshnessMs: { searchKyb: 0 } }, operations.searchKyb)).toBe(0);
  });
});

test('every key has a test', () => {
  const tested = new Set([...GOOD.map(([key]) => key), 'stages']);
  const keys = [...pipelineKeys().keys()];
  const leaves = keys.filter((key) => !keys.some((other) => other.startsWith(`${key}.`)));
  expect(leaves.filter((key) => !tested.has(key))).toEqual([]);
});

/**
 * Keys that decide no answer of a row: a run continues with another value. A new key is in the digest of
 * `pipelineSha256`, or in this list.
 */
const NOT_IN_DIGEST: ReadonlySet<string> = new Set([
  'description',
  'review.second_person',
  'confirm.legal_form',
  'limits.units',
  'limits.credit_reports',
  'prices.currency',
  'prices.unit',
  'prices.credit_report',
  'prices.operations',
  'concurrency',
  'lost_answers',
  'lost_answer_tries',
  'permissions',
  'retry.attempts',
  'retry.base',
  'retry.cap',
  'breaker.failures',
  'patience',
  'deadline',
  'report.first_poll',
  'report.poll_at_most',
  'report.give_up_after',
  'report.look_for',
  'report.format',
  'guards.failing_alike',
  'guards.rows_lost',
  'changes.important',
  'watch.fields',
  'watch.refresh',
  'watch.every',
  'tables',
  'export.keep',
  'export.parts_above',
  'metrics.file',
  'notify.command',
  'notify.webhook',
  'notify.on',
  // This key decides together with `record.all_pages`.
  'record.pages_at_most',
]);

test('every key changes the digest of the pipeline, or is known to decide no answer', () => {
  const every = `stages: [${stages.map(({ name }) => name).join(', ')}]\n`;
  const changes = new Set<string>();
  for (const [key, lines] of GOOD) {
    const [section = ''] = key.split('.');
    const others = lines.split('\n').filter((line) => !line.startsWith(`${section}:`));
    if (load(`${every}${lines}\n`).sha256 !== load(`${every}${others.join('\n')}\n`).sha256) changes.add(key);
  }
  const silent = GOOD.map(([key]) => key).filter((key) => !changes.has(key));
  expect(new Set(silent)).toEqual(NOT_IN_DIGEST);
});
