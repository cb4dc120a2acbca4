// Compares people and employers with the company and person that were requested.

import { fuzzball } from '../../util/packages.js';
import { LONGEST_NAME, normalizeText } from '../../util/text-limits.js';
import { barredWords, dataFile } from '../../util/yaml.js';
import { NAME_AGREEMENT, nameSimilarity } from './similarity.js';

/** The company of a person's details. Empty if it is missing. */
export interface Employer {
  readonly name: string;
  readonly website: string;
}

/**
 * Whether a person works for another company than requested. At the company's own domain, a part of its name is enough,
 * because companies use short names. Missing values prove nothing.
 */
export function worksElsewhere({ name, website }: Employer, asked: Employer): boolean {
  const domain = ownDomainOf(website);
  const isTheirs = domain !== undefined && domain === ownDomainOf(asked.website);
  if (domain !== undefined && !isTheirs) return true;
  return isOtherName(name, [asked.name], isTheirs ? PARTLY : NAME_AGREEMENT);
}

/** The score of a name that lacks words of the other but has no extra ones. */
const PARTLY = 60;

export interface AskedPerson {
  readonly name: string;
  readonly companies: readonly string[];
}

/** Whether the details are of another person, or of a person who works elsewhere. */
export const isDifferentPerson = (
  told: { readonly name: string; readonly company: string },
  asked: AskedPerson,
): boolean => !mayBeSamePerson(told.name, asked.name) || isOtherName(told.company, asked.companies);

/** Independent of the pipeline's setting, because later exports must reach the same result. */
function isOtherName(name: string, names: readonly string[], agreement = NAME_AGREEMENT): boolean {
  const given = names.filter((one) => one !== '');
  return name !== '' && given.length > 0 && given.every((one) => nameSimilarity(one, name) < agreement);
}

/**
 * Whether both can be names of one person. Each word of the shorter must be in the longer: equal, misspelt or as an
 * initial. A second given name and the order do not matter. A name without words proves nothing.
 */
export function mayBeSamePerson(a: string, b: string): boolean {
  if (Math.max(a.length, b.length) > LONGEST_NAME) return a === b;
  const [shorter, longer] = [wordsOf(a), wordsOf(b)].sort((one, other) => one.length - other.length);
  if (shorter === undefined || longer === undefined || shorter.length === 0) return true;
  const left = [...longer];
  // Equal words first, because an initial might take another word's place.
  const open = shorter.filter((word) => !takeFrom(left, (other) => other === word));
  return open.every((word) => takeFrom(left, (other) => isLike(word, other)));
}

function takeFrom(words: string[], fits: (word: string) => boolean): boolean {
  const at = words.findIndex(fits);
  if (at >= 0) words.splice(at, 1);
  return at >= 0;
}

/** One letter in five may differ. */
const SAME_WORD = 80;

const isLike = (a: string, b: string): boolean =>
  a.length === 1 || b.length === 1 ? a[0] === b[0] : fuzzball().ratio(a, b, { full_process: false }) >= SAME_WORD;

const wordsOf = (name: string): string[] =>
  normalizeText(name, 'NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

/** The domain of a website in any spelling. Undefined if there is none. */
export function domainOf(website: string): string | undefined {
  const url = urlOf(website);
  const host = url?.hostname.replace(/^www\./, '').replace(/\.$/, '') ?? '';
  // A bare word or an IP address is not a company's domain.
  return /^(?:[^.\s]+\.)+[^.\s\d][^.\s]*$/.test(host) ? host : undefined;
}

/** As `domainOf`, but undefined for a page on a shared platform, because domain and people are the platform's. */
export function ownDomainOf(website: string): string | undefined {
  const domain = domainOf(website);
  return domain === undefined || isOnPlatform(domain, urlOf(website)?.pathname ?? '/') ? undefined : domain;
}

/** Browsers accept no longer address, and parsing takes quadratic time. */
const LONGEST_ADDRESS = 2_000;

const urlOf = (website: string): URL | null => {
  if (website.length > LONGEST_ADDRESS) return null;
  const address = website.trim();
  return URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `https://${address}`);
};

function isOnPlatform(domain: string, path: string): boolean {
  const isUnder = (platform: string) => domain.endsWith(`.${platform}`);
  if (platforms().by_name.some((platform) => domain === platform || isUnder(platform))) return true;
  // Without a path it is the platform's own website, and the platform is also a company.
  return path !== '/' && platforms().by_path.some((platform) => domain === platform || isUnder(platform));
}

const platforms = dataFile('domain/web-platforms', (z) =>
  z.strictObject({ by_name: barredWords(z), by_path: barredWords(z) }),
);
