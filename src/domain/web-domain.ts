/** The domain of a website, however its address is written; undefined where there is none in it. */
export function domainOf(website: string): string | undefined {
  const address = website.trim();
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `https://${address}`);
  const host = url?.hostname.replace(/^www\./, '').replace(/\.$/, '') ?? '';
  // A bare word or an address of a machine is nobody's domain.
  return /^(?:[^.\s]+\.)+[^.\s\d][^.\s]*$/.test(host) ? host : undefined;
}
