/**
 * One spelling for one provider: answers are filed under it, and bought again under another. The host in lower
 * case, no default port, no dot segments, no slash at the end. What is no web address (the sandbox) stays as it is.
 */
export function canonicalBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return text;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
