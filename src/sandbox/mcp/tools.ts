import type { Json } from '../json.js';
import type { Registry, SearchKind } from '../registry/types.js';
import { companies, lookup } from '../v2/companies.js';
import { enrichment } from '../v2/enrichment.js';
import { notFound, ruleFailure, type V2Failure } from '../v2/errors.js';
import type { Outcome, V2Call, V2Operation } from '../v2/operation.js';
import { type Permission, permissions } from '../v2/permissions.js';
import { required, type Shape, text, type Values } from '../validate.js';

/** One tool: the document gives what each is for and the parameters; its names are the sandbox's own. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly permission: Permission;
  readonly shape: Shape;
  rule?(values: Values): V2Failure | undefined;
  answer(call: V2Call): Outcome | Promise<Outcome>;
}

const countryCode = text({ pattern: /^[A-Z]{2}$/ });

const described: Readonly<Record<string, { readonly description: string; readonly pattern?: string }>> = {
  country_code: { description: 'Country, ISO 3166-1 alpha-2', pattern: '^[A-Z]{2}$' },
  name: { description: 'Company name' },
  registration_number: { description: 'Registration number' },
  vat_number: { description: 'VAT number' },
  ticker: { description: 'Ticker' },
  website: { description: 'Website address' },
  email: { description: 'E-mail address' },
  url: { description: 'LinkedIn address of the company' },
};

const identification: Shape = {
  country_code: countryCode,
  name: text(),
  registration_number: text(),
  vat_number: text(),
  ticker: text(),
  website: text(),
  email: text(),
  url: text(),
};

export const tools: readonly Tool[] = [
  {
    name: 'enrich_company_by_website',
    description: 'Company record for a website address',
    permission: permissions.enrichCompany,
    shape: { website: required(text()) },
    answer: (call) => asOperation(enrichment.enrichCompanyByWebsite, call, { url: call.values.website }),
  },
  {
    name: 'enrich_company_by_linkedin',
    description: 'Company record for a LinkedIn address',
    permission: permissions.enrichCompany,
    shape: { url: required(text()) },
    answer: (call) => asOperation(enrichment.enrichCompanyByLinkedin, call, { linkedin: call.values.url }),
  },
  {
    name: 'autocomplete_company',
    description: 'Complete a company record from a name, a number, a ticker or an e-mail address',
    permission: permissions.autocomplete,
    shape: identification,
    rule: namesSomebody,
    answer: (call) => asOperation(companies.autocomplete, call, call.values),
  },
  {
    name: 'company_financials',
    description: 'Turnover, profit, assets, liabilities, headcount and ratios by year',
    permission: permissions.financials,
    shape: identification,
    rule: namesSomebody,
    answer: (call) => ofCompany(call, (registry, company) => registry.v2.flatFinancials(company)),
  },
  {
    name: 'company_ownership',
    description: 'Shareholders, parents and subsidiaries',
    permission: permissions.ownership,
    shape: identification,
    rule: namesSomebody,
    answer: (call) => ofCompany(call, (registry, company) => registry.v2.ownership(company)),
  },
];

/** As `tools/list` shows it. */
export const toolEntry = ({ name, description, shape }: Tool): Json => ({
  name,
  description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(
      Object.keys(shape).map((parameter) => [parameter, { type: 'string', ...described[parameter] }]),
    ),
    required: Object.keys(shape).filter((parameter) => shape[parameter]?.required),
    additionalProperties: false,
  },
});

function namesSomebody(values: Values): V2Failure | undefined {
  const naming = Object.keys(identification).filter((name) => name !== 'country_code');
  return naming.some((name) => values[name] !== undefined)
    ? undefined
    : ruleFailure(`country_code must be paired with at least one of ${naming.join(', ')}.`);
}

/** The same answer as the operation of the platform gives. */
function asOperation(operation: V2Operation | undefined, call: V2Call, values: Values): Outcome | Promise<Outcome> {
  if (operation === undefined) throw new Error('The sandbox has no such operation.');
  return operation.answer({ ...call, values });
}

function ofCompany(
  { world, registry, values }: V2Call,
  render: (registry: Registry, company: ReturnType<typeof find> & object) => Json,
): Outcome {
  const company = find(registry, values, world.settings.search);
  return company === undefined ? notFound() : render(registry, company);
}

const find = (registry: Registry, values: Values, kind: SearchKind) => lookup(registry, values, kind)[0];
