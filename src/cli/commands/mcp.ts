// Lets an assistant look into the ledger: an MCP server on stdin and stdout.

import { Readable, Writable } from 'node:stream';
import type { AppEnvironment } from '../../app/environment.js';
import type { UnitLimit } from '../../app/provider/direct-calls.js';
import type { ProviderOptions } from '../../app/provider/provider.js';
import { KybatchError, UsageError } from '../../domain/errors.js';
import { parseExact, stringifyExact } from '../../util/exact-json.js';
import { version } from '../../util/packages.js';
import { removeContacts, withoutAnyContactsInJson } from '../../util/sanitize-text.js';
import { toJson } from '../../util/view-json.js';
import { numberFlag, register, sandboxOption } from '../command.js';
import { appEnvironment, type Io } from '../terminal/io.js';
import { questionJson } from '../terminal/review-words.js';
import { callJson } from './call.js';
import { changesJson } from './changes.js';
import { portfolioJson } from './portfolios.js';
import { runJson } from './runs.js';
import { statusJson } from './status.js';
import { usageJson } from './usage.js';

export const mcpCommand = register({
  command: 'mcp',
  describe: 'Let an assistant look into the ledger (MCP server)',
  builder: (yargs) =>
    yargs
      .option('max-units', numberFlag('--max-units', 'Units that it may spend in all (default: 0)'))
      .option('sandbox', sandboxOption),
  async run({ dataDir, sandbox, maxUnits }, io) {
    if (io.stdin === undefined)
      throw new UsageError(
        'MCP_ON_TERMINAL',
        'kybatch mcp talks to a program on stdin and stdout',
        'Enter the command in the settings of your assistant.',
      );
    // Its stdin is the assistant, and no list.
    const { stdin: _, onReading: __, ...environment } = appEnvironment(io);
    const options = { dataDir, sandbox };
    const { unitLimitFor } = await import('../../app/portfolio/look-up.js');
    const unitLimit = unitLimitFor(maxUnits, options, environment);
    await serve({ options, environment, unitLimit }, io);
  },
});

interface Place {
  readonly options: ProviderOptions;
  readonly environment: AppEnvironment;
  readonly unitLimit: UnitLimit | undefined;
}

/** Until the assistant closes stdin, or an interrupt. The SDK is loaded here, because it is large. */
async function serve(place: Place, io: Io): Promise<void> {
  const [{ Server }, { StdioServerTransport }, { CallToolRequestSchema, ListToolsRequestSchema }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/index.js'),
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const server = new Server(
    { name: 'kybatch', version },
    { capabilities: { tools: {} }, instructions: instructionsFor(place) },
  );
  const offered = TOOLS.filter(({ buys }) => buys !== 'always' || place.unitLimit !== undefined);
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: offered.map(({ name, description, params, buys }) => ({
      name,
      description,
      inputSchema: schemaOf(params),
      annotations: {
        readOnlyHint: buys === undefined || place.unitLimit === undefined,
        openWorldHint: buys !== undefined,
      },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: given = {} } }) => {
    const tool = offered.find((one) => one.name === name);
    const answered = await answer(tool, name, given, place);
    return { content: [{ type: 'text', text: answered.text }], isError: answered.isError };
  });
  // The guarded stdout removes keys.
  const output = new Writable({
    decodeStrings: false,
    write(text, _encoding, done) {
      io.stdout(String(text));
      done();
    },
  });
  const input = Readable.from(io.stdin?.() ?? []);
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  const stopListening = io.onInterrupt(() => void server.close());
  input.once('end', () => void server.close());
  try {
    await server.connect(new StdioServerTransport(input, output));
    await ended;
  } finally {
    stopListening();
    input.destroy();
  }
}

const instructionsFor = ({ unitLimit }: Place): string =>
  [
    'The kybatch ledger: lists of companies, what was bought about them, and what it cost.',
    'A missing value means "not returned", never "none". E-mail addresses and phone numbers are left out.',
    'A company is a match only if its registration number agrees.',
    unitLimit === undefined
      ? 'Nothing can be bought.'
      : `At most ${unitLimit.limit} units can be spent. Every answer shows what was spent.`,
  ].join(' ');

type Given = Readonly<Record<string, unknown>>;

async function answer(
  tool: Tool | undefined,
  name: string,
  given: Given,
  place: Place,
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const { unitLimit } = place;
  const total = () => (unitLimit === undefined ? {} : { unitsInAll: unitLimit.spent, unitsLeft: unitLimit.left });
  try {
    if (tool === undefined) throw new UsageError('TOOL_NOT_FOUND', `there is no tool ${name}`);
    mustFit(tool, given);
    const { units = 0, ...view } = await tool.run(given as never, place);
    return { text: withoutContacts({ ...view, spent: { units, ...total() } }), isError: false };
  } catch (error) {
    const { code, message, hint } =
      error instanceof KybatchError ? error : { code: 'INTERNAL', message: String(error), hint: undefined };
    return { text: withoutContacts({ error: { code, message, hint }, spent: total() }), isError: true };
  }
}

/** By the names of fields, and by what an address or a phone number looks like. */
function withoutContacts(view: object): string {
  const json = parseExact(stringifyExact(toJson(view)));
  removeContacts(json);
  return withoutAnyContactsInJson(stringifyExact(json));
}

interface Param {
  readonly type: 'string' | 'integer';
  readonly description: string;
  readonly required?: true;
}

/** A view of `app/`, in the JSON of the command of the same name. */
interface Tool {
  readonly name: string;
  readonly description: string;
  readonly params: Readonly<Record<string, Param>>;
  /** `if_missing`: only what is not stored. `always`: it is offered only if something may be bought. */
  readonly buys?: 'if_missing' | 'always';
  readonly run: (given: never, place: Place) => Promise<object & { readonly units?: number }>;
}

const schemaOf = (params: Tool['params']) => ({
  type: 'object' as const,
  properties: Object.fromEntries(
    Object.entries(params).map(([name, { type, description }]) => [name, { type, description }]),
  ),
  required: Object.keys(params).filter((name) => params[name]?.required === true),
  additionalProperties: false,
});

const LONGEST_PARAM = 4_096;

function mustFit({ params }: Tool, given: Given): void {
  const refuse = (text: string) => {
    throw new UsageError('TOOL_PARAMS_INVALID', text, `Parameters: ${Object.keys(params).join(', ') || 'none'}`);
  };
  for (const [name, value] of Object.entries(given)) {
    const type = params[name]?.type;
    if (typeof value === 'string' && value.length > LONGEST_PARAM)
      refuse(`${name} has more than ${LONGEST_PARAM} characters`);
    if (type === undefined) refuse(`there is no parameter ${name}`);
    if (type === 'integer' ? !Number.isSafeInteger(value) : typeof value !== 'string')
      refuse(`${name} must be ${type === 'integer' ? 'a whole number' : 'a text'}`);
  }
  for (const name of schemaOf(params).required) if (given[name] === undefined) refuse(`${name} is missing`);
}

const text = (description: string): Param => ({ type: 'string', description });
const page: Param = { type: 'integer', description: 'Page, from 1' };
const portfolio = text('Name of a portfolio. Default: all');

/** Longer lists are cut, and their length is given. */
const ITEMS_AT_MOST = 50;

const TOOLS: readonly Tool[] = [
  {
    name: 'portfolios',
    description: 'The lists: companies by outcome, what is due and what it costs at most, the last run.',
    params: {},
    async run(_, { options, environment }) {
      const { portfolios } = await import('../../app/portfolio/portfolios.js');
      return { portfolios: (await portfolios(options, environment)).map(portfolioJson) };
    },
  },
  {
    name: 'companies',
    description: 'Rows of the lists with their companies, 50 on a page. Search by a part of a name, a number or an ID.',
    params: {
      search: text('A part of a name, a number in any spelling, or an ID'),
      portfolio,
      outcome: text('complete, no_match, needs_review, invalid, failed or pending'),
      reason: text('Code of an error, a question or a hold'),
      page,
    },
    async run(given: { readonly search?: string; readonly page?: number }, { options, environment }) {
      const { rows } = await import('../../app/portfolio/rows.js');
      return await rows({ ...options, ...given }, environment);
    },
  },
  {
    name: 'company',
    description: 'Everything stored about one company: facts, figures, officers, shareholders, reports, changes.',
    params: {
      space: { ...text('ID space, such as v1'), required: true },
      id: { ...text('ID in that space'), required: true },
    },
    async run(given: { readonly space: string; readonly id: string }, { options, environment }) {
      const { company } = await import('../../app/portfolio/company.js');
      const view = await company({ ...options, ...given }, environment);
      const lists = view.lists.map(({ items, ...list }) => ({
        ...list,
        total: items.length,
        items: items.slice(0, ITEMS_AT_MOST),
      }));
      return { ...view, lists, answers: view.answers.slice(0, ITEMS_AT_MOST) };
    },
  },
  {
    name: 'look_up',
    description:
      'Candidates for a company that may be in no list, with grades. Stored answers are free. If units are allowed, a search that is not stored costs one.',
    params: {
      name: text('Name of the company'),
      country: text('Country, as a code or a name'),
      registration_number: text('Number in the register of its country. Only a number confirms'),
      state: text('State or province of the register'),
      city: text('City, or the court of a German register'),
    },
    buys: 'if_missing',
    async run(query: Readonly<Record<string, string>>, { options, environment, unitLimit }) {
      const { lookUp } = await import('../../app/portfolio/look-up.js');
      const { results, unitsSpent: units } = await lookUp({ ...options, queries: [query], unitLimit }, environment);
      return { ...results[0], units };
    },
  },
  {
    name: 'buy_record',
    description: 'The full record of a v1 company. It costs one unit unless it is stored.',
    params: { id: { ...text('ID of the company in v1, from look_up or companies'), required: true } },
    buys: 'always',
    async run({ id }: { readonly id: string }, { options, environment, unitLimit }) {
      const { call } = await import('../../app/provider/call.js');
      const view = await call({ ...options, api: 'v1', operation: 'fullKyb', params: { id }, unitLimit }, environment);
      return { ...callJson(view), units: view.unitsCharged ?? 1 };
    },
  },
  {
    name: 'changes',
    description: 'How new answers differ from the ones before, oldest first.',
    params: { portfolio, since: text('A day, a time, a run, or next_since of an earlier answer') },
    async run(given: { readonly portfolio?: string; readonly since?: string }, { options, environment }) {
      const { changes } = await import('../../app/portfolio/changes.js');
      return changesJson(await changes({ ...options, ...given }, environment));
    },
  },
  {
    name: 'questions',
    description: 'Open review questions with their candidates, 20 on a page. A person answers them, not an assistant.',
    params: { portfolio, page },
    async run(given: { readonly portfolio?: string; readonly page?: number }, { options, environment }) {
      const { questionPage } = await import('../../app/review/question-pages.js');
      const { questions, ...view } = await questionPage({ ...options, ...given, size: 20 }, environment);
      return { ...view, questions: questions.map(questionJson) };
    },
  },
  {
    name: 'runs',
    description: 'All runs with their progress.',
    params: {},
    async run(_, { options, environment }) {
      const { runs } = await import('../../app/run/runs.js');
      return { runs: (await runs(options, environment)).map(runJson) };
    },
  },
  {
    name: 'status',
    description: 'One run: outcomes, spending, failures, questions.',
    params: { run: text('ID of the run, or its beginning. Default: the newest') },
    async run({ run }: { readonly run?: string }, { options, environment }) {
      const { status } = await import('../../app/run/status.js');
      return statusJson(await status({ ...options, run }, environment));
    },
  },
  {
    name: 'usage',
    description: 'Units, calls and allowances by day, operation and run.',
    params: {},
    async run(_, { options, environment }) {
      const { usage } = await import('../../app/admin/usage.js');
      return usageJson(await usage({ ...options, unknownAtMost: ITEMS_AT_MOST }, environment));
    },
  },
  {
    name: 'plan',
    description: 'What a run of a list would cost, and how its columns are read. It spends nothing.',
    params: {
      input: { ...text('Path of a CSV or xlsx file on this machine'), required: true },
      pipeline: text('Name or file of a pipeline. Default: analyst'),
      portfolio: text('Name of its portfolio. Default: its path'),
    },
    async run(given: { readonly input: string; readonly pipeline?: string }, { options, environment }) {
      const { plan } = await import('../../app/run/plan.js');
      const { planJson } = await import('../terminal/plan-words.js');
      return planJson(await plan({ ...options, ...given }, environment));
    },
  },
];
