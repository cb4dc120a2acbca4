const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** https, except on a loopback address: what is sent does not travel in the clear. */
export const isSafeUrl = ({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
