/** Check digits of the registers and tax offices. Each takes the digits before the check. */

export function weighted(digits: string, weights: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += (digits.charCodeAt(i) - 48) * (weights[i] ?? 0);
  return sum;
}

/** The digit that completes `digits` under Luhn. */
export function luhn(digits: string): number {
  let sum = 0;
  for (let i = digits.length - 1, double = true; i >= 0; i--, double = !double) {
    const digit = digits.charCodeAt(i) - 48;
    sum += double ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return (10 - (sum % 10)) % 10;
}

/** `11 - sum mod 11`; undefined where the register leaves the number out (a check of 10). */
export function mod11(digits: string, weights: readonly number[]): number | undefined {
  const check = (11 - (weighted(digits, weights) % 11)) % 11;
  return check === 10 ? undefined : check;
}

/** ISO 7064 mod 11,10, as the German tax office uses it. */
export function mod1110(digits: string): number {
  let product = 10;
  for (const digit of digits) {
    const sum = (Number(digit) + product) % 10 || 10;
    product = (2 * sum) % 11;
  }
  return (11 - product) % 10;
}

/** The control character of a Spanish company number: a letter or a digit, depending on the first letter. */
export function spanishControl(letter: string, digits: string): string {
  const control = luhn(digits);
  return 'NPQRSW'.includes(letter) ? 'JABCDEFGHI'.charAt(control) : String(control);
}

const USCC = '0123456789ABCDEFGHJKLMNPQRTUWXY';

/** Mod 31 over the first 17 characters of a Chinese unified social credit code. */
export function usccCheck(text: string): string {
  let sum = 0;
  let weight = 1;
  for (const character of text) {
    sum += USCC.indexOf(character) * weight;
    weight = (weight * 3) % 31;
  }
  return USCC.charAt((31 - (sum % 31)) % 31);
}

/** The check character of the organisation code inside it (GB 11714). */
export function organisationCheck(text: string): string {
  const weights = [3, 7, 9, 10, 5, 8, 4, 2];
  let sum = 0;
  for (let i = 0; i < 8; i++) {
    const code = text.charCodeAt(i);
    sum += (code > 64 ? code - 55 : code - 48) * (weights[i] ?? 0);
  }
  const check = 11 - (sum % 11);
  return check === 10 ? 'X' : check === 11 ? '0' : String(check);
}

export const usccAlphabet = USCC;
