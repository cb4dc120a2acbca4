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
  if (BY_NAME.some((platform) => domain === platform || isUnder(platform))) return true;
  // Without a path it is the platform's own website: it is a company, too.
  return path !== '/' && BY_PATH.some((platform) => domain === platform || isUnder(platform));
}

/** Whose pages are told apart by what stands before the name. */
const BY_NAME = [
  'blogspot.com',
  'business.site',
  'github.io',
  'gitlab.io',
  'jimdofree.com',
  'jimdosite.com',
  'myshopify.com',
  'netlify.app',
  'sites.google.com',
  'squarespace.com',
  'tumblr.com',
  'webflow.io',
  'webnode.com',
  'weebly.com',
  'wixsite.com',
  'wordpress.com',
];

/** Whose pages are told apart by what stands behind it. */
const BY_PATH = [
  'about.me',
  'amazon.com',
  'ebay.com',
  'etsy.com',
  'facebook.com',
  'fb.com',
  'g.page',
  'github.com',
  'goo.gl',
  'google.com',
  'instagram.com',
  'linkedin.com',
  'linktr.ee',
  'medium.com',
  'pinterest.com',
  't.me',
  'threads.net',
  'tiktok.com',
  'tripadvisor.com',
  'twitter.com',
  'vimeo.com',
  'vk.com',
  'wa.me',
  'wikipedia.org',
  'x.com',
  'xing.com',
  'yelp.com',
  'youtu.be',
  'youtube.com',
];
