import type { McpClient } from '../api/mcp/client.js';
import { type Tool, toolOperation } from '../api/mcp/tools.js';
import type { Operation } from '../api/operation.js';
import { requestKey } from '../calls/request-key.js';
import { UsageError } from '../domain/errors.js';
import { hasLedger } from '../ledger/open-ledger.js';
import { outsideText } from '../util/outside-text.js';
import { didYouMean } from '../util/suggest.js';
import { type JsonSchema, type OperationView, parametersIn } from './operations.js';
import { type ProviderOptions, required, withProvider } from './provider.js';
import { here, ledgerOf, type Surroundings, withLedger } from './surroundings.js';

export interface ToolsOptions extends ProviderOptions {
  /** Gives the question up. The promise rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Every tool of the connector server, as it lists them at this moment. That costs nothing, and is not kept. */
export function tools(options: ToolsOptions = {}, around = here()): Promise<readonly OperationView[]> {
  return withProvider(options, around, async ({ mcp }) => {
    const listed = await list(required(mcp, 'mcp'), options.signal);
    return listed.map(({ name, description, inputSchema }) => ({
      operation: outsideText(name, 200),
      summary: outsideText(description, 500),
      method: null,
      path: null,
      scopes: [],
      parameters: parametersIn(inputSchema as JsonSchema).map((parameter) => ({
        ...parameter,
        name: outsideText(parameter.name, 200),
        type: outsideText(parameter.type, 200),
        description: outsideText(parameter.description, 500),
      })),
    }));
  });
}

export interface ToolToCall extends ToolsOptions {
  readonly operation: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly fresh?: boolean | undefined;
}

/**
 * The tool with the schema that the server gives for it, or a message that tells which tools there are. Where the answer
 * is owned nothing is asked: it comes back for nothing, whether the server is there or not.
 */
export function toolToCall(
  options: ToolToCall,
  freshSince: (operation: Operation, now: number) => number,
  around: Surroundings,
): Promise<Operation> {
  const { operation: name, params = {}, fresh = false, signal } = options;
  return withProvider(options, around, async ({ mcp, names }) => {
    const client = required(mcp, 'mcp');
    const unchecked = toolOperation(name);
    const since = freshSince(unchecked, around.clock.now());
    if (!fresh && (await isOwned(names.mcp, requestKey(name, params), since, options, around))) return unchecked;
    const listed = await list(client, signal);
    const tool = listed.find((one) => one.name === name);
    if (tool !== undefined) return toolOperation(name, tool);
    const hint = didYouMean(
      name,
      listed.map((one) => outsideText(one.name, 200)),
    );
    throw new UsageError(`the connector server has no tool ${name}.${hint}`, '`kybatch call mcp` lists them.');
  });
}

async function list(client: McpClient, signal: AbortSignal | undefined): Promise<readonly Tool[]> {
  try {
    return await client.tools({ signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

async function isOwned(
  name: string,
  key: string,
  since: number,
  options: ToolsOptions,
  around: Surroundings,
): Promise<boolean> {
  if (!(await hasLedger(ledgerOf(options, around)))) return false;
  return await withLedger('read', options, around, async ({ calls }) => {
    const environment = await calls.findEnvironment('mcp', name);
    return environment !== undefined && (await calls.findAnswer(environment, key, since)) !== undefined;
  });
}
