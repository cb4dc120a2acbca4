import { barredWords, dataFile } from '../../util/data-file.js';
import { fuzzball } from '../../util/lazy-package.js';
import { LONGEST_NAME, normalizeText } from '../../util/text-limits.js';
import { NAME_AGREEMENT, nameSimilarity } from './similarity.js';

/** What stands with a person about the company; empty where it did not come. */
export interface Employer {
  readonly name: string;
  readonly website: string;
}

/**
 * Is a person said to work for another company than the one asked for? At the company's own address a name that has a part of
 * its name is enough: companies go by short names. What did not come says nothing.
 */
export function worksElsewhere({ name, website }: Employer, asked: Employer): boolean {
  const domain = ownDomainOf(website);
  const isTheirs = domain !== undefined && domain === ownDomainOf(asked.website);
  if (domain !== undefined && !isTheirs) return true;
  return isOtherName(name, [asked.name], isTheirs ? PARTLY : NAME_AGREEMENT);
}

/** What a name reaches that lacks words of the other, and has none that the other lacks. */
const PARTLY = 60;

/** Details of one person, as they were asked for: by the name, and by the names of the company. */
export interface AskedPerson {
  readonly name: string;
  readonly companies: readonly string[];
}

/** Are the details of another person than the one asked for, or of one who works elsewhere? */
export const isDifferentPerson = (
  told: { readonly name: string; readonly company: string },
  asked: AskedPerson,
): boolean => !mayBeSamePerson(told.name, asked.name) || isOtherName(told.company, asked.companies);

/** Not as the pipeline has it: whoever makes the tables, long after the run, must come to the same. */
function isOtherName(name: string, names: readonly string[], agreement = NAME_AGREEMENT): boolean {
  const given = names.filter((one) => one !== '');
  return name !== '' && given.length > 0 && given.every((one) => nameSimilarity(one, name) < agreement);
}

/**
 * May the two be names of one person? Each word of the shorter must be in the longer, as it is, misspelt or as an initial:
 * a second given name and the order say nothing. A name without a word in it says nothing either.
 */
export function mayBeSamePerson(a: string, b: string): boolean {
  if (Math.max(a.length, b.length) > LONGEST_NAME) return a === b;
  const [shorter, longer] = [wordsOf(a), wordsOf(b)].sort((one, other) => one.length - other.length);
  if (shorter === undefined || longer === undefined || shorter.length === 0) return true;
  const left = [...longer];
  // Words that are the same are taken first: an initial might take another one's word.
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

/** The domain of a website, however its address is written; undefined where there is none in it. */
export function domainOf(website: string): string | undefined {
  const url = urlOf(website);
  const host = url?.hostname.replace(/^www\./, '').replace(/\.$/, '') ?? '';
  // A bare word or an address of a machine is nobody's domain.
  return /^(?:[^.\s]+\.)+[^.\s\d][^.\s]*$/.test(host) ? host : undefined;
}

/** The same, unless the website is a page on a platform of many: its domain is the platform's, and so are the people there. */
export function ownDomainOf(website: string): string | undefined {
  const domain = domainOf(website);
  return domain === undefined || isOnPlatform(domain, urlOf(website)?.pathname ?? '/') ? undefined : domain;
}

/** Browsers take no longer address, and parsing takes quadratic time. */
const LONGEST_ADDRESS = 2_000;

const urlOf = (website: string): URL | null => {
  if (website.length > LONGEST_ADDRESS) return null;
  const address = website.trim();
  return URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `https://${address}`);
};

function isOnPlatform(domain: string, path: string): boolean {
  const isUnder = (platform: string) => domain.endsWith(`.${platform}`);
  if (platforms().by_name.some((platform) => domain === platform || isUnder(platform))) return true;
  // Without a path it is the platform's own website: it is a company, too.
  return path !== '/' && platforms().by_path.some((platform) => domain === platform || isUnder(platform));
}

const platforms = dataFile('domain/web-platforms', (z) =>
  z.strictObject({ by_name: barredWords(z), by_path: barredWords(z) }),
);
