import { request } from 'undici';
import { afterAll } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';

export async function withSandbox(options: SandboxOptions, use: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const sandbox = await startSandbox({ size: 400, ...options });
  try {
    await use(sandbox);
  } finally {
    await sandbox.close();
  }
}

/** One sandbox for the rows of a table, started at the first row and closed after the last test of the file. */
export function sharedSandbox(): (use: (sandbox: Sandbox) => Promise<void>) => Promise<void> {
  let started: Promise<Sandbox> | undefined;
  afterAll(async () => (await started)?.close());
  return async (use) => {
    started ??= startSandbox({ size: 400 });
    await use(await started);
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  readonly body: Body;
}

/** A parsed body for tests that know its shape. */
export type Body = { readonly [key: string]: Body } & readonly Body[] & (string | number | boolean | null | object);

export interface Ask {
  readonly key?: string | null;
  readonly scheme?: string;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  /** An object is sent as JSON, a string unchanged. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export const v1 = (sandbox: Sandbox, path: string, ask: Ask = {}): Promise<Answer> =>
  send(`${sandbox.v1BaseUrl}${path}`, { key: sandbox.keys.v1, scheme: 'Bearer', ...ask });

export const v2 = (sandbox: Sandbox, path: string, ask: Ask = {}): Promise<Answer> =>
  send(`${sandbox.v2BaseUrl}${path}`, { key: sandbox.keys.v2, scheme: 'Token', ...ask });

/** Fails with undici's error if the connection breaks. */
export async function send(url: string, ask: Ask): Promise<Answer> {
  const body = ask.body === undefined ? null : typeof ask.body === 'string' ? ask.body : JSON.stringify(ask.body);
  const response = await request(url, {
    method: ask.method ?? (body === null ? 'GET' : 'POST'),
    headers: {
      ...(ask.key === null || ask.key === undefined ? {} : { authorization: `${ask.scheme} ${ask.key}` }),
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...ask.headers,
    },
    body,
  });
  const text = await response.body.text();
  return { status: response.statusCode, headers: response.headers, text, body: parse(text) };
}

export function companyWhere(sandbox: Sandbox, fits: (company: Company) => boolean): Company {
  for (let index = 0; index < sandbox.registry.size; index++) {
    const company = sandbox.registry.company(index);
    if (fits(company)) return company;
  }
  throw new Error('The registry has no such company.');
}

export const numbered = (sandbox: Sandbox): Company & { readonly registrationNumber: string } => {
  const company = companyWhere(
    sandbox,
    (one) => one.countryCode === 'GB' && one.registrationNumber !== null && isOrdinary(sandbox, one),
  );
  return { ...company, registrationNumber: company.registrationNumber ?? '' };
};

/** Every part of both APIs has the company, under one number. */
function isOrdinary({ registry }: Sandbox, company: Company): boolean {
  const known = registry.hasRecord(company) && registry.inV2(company) && registry.hasCreditReport(company);
  return known && !registry.traits(company).identityMismatch;
}

function parse(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return text as unknown as Body;
  }
}
