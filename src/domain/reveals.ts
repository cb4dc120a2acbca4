/** E-mail addresses and phone numbers of people that the provider is asked to reveal: each is charged, and no budget bounds them. */
export interface Reveals {
  readonly email: number;
  readonly phone: number;
}

export const NO_REVEALS: Reveals = { email: 0, phone: 0 };

export const addReveals = (a: Reveals, b: Reveals): Reveals => ({ email: a.email + b.email, phone: a.phone + b.phone });

export const revealsTimes = (times: number, { email, phone }: Reveals): Reveals => ({
  email: times * email,
  phone: times * phone,
});

/** No more of either than there are calls to ask for it. */
export const revealsWithin = (calls: number, { email, phone }: Reveals): Reveals => ({
  email: Math.min(calls, email),
  phone: Math.min(calls, phone),
});

export const revealsAnything = ({ email, phone }: Reveals): boolean => email + phone > 0;
