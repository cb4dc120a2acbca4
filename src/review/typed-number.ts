/**
 * What digits mean that somebody has typed to choose among `count` candidates: one of them, nobody, or not yet told, because a
 * higher number begins with the same digits. With up to nine candidates one key is enough.
 */
export function typedNumber(digits: string, count: number): number | 'nobody' | 'not_yet' {
  const number = Number(digits);
  if (number < 1 || number > count) return 'nobody';
  return number * 10 <= count ? 'not_yet' : number;
}
