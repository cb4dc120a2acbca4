import type { Clock } from '../../util/clock.js';
import type { Journal } from '../journal.js';

/** Revealed e-mail addresses and telephone numbers, each with the time of its reveal. */
export class Contacts {
  readonly #reveals: { readonly at: number; readonly email: number; readonly phone: number }[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly journal: Journal,
  ) {
    for (const entry of journal.past) {
      if (entry.type === 'contacts') this.#reveals.push(entry);
    }
  }

  reveal(email: boolean, phone: boolean): void {
    if (!email && !phone) return;
    const reveal = { at: this.clock.now(), email: email ? 1 : 0, phone: phone ? 1 : 0 };
    this.journal.append({ type: 'contacts', ...reveal });
    this.#reveals.push(reveal);
  }

  between(from: number, to: number): { email_count: number; phone_count: number } {
    const inside = this.#reveals.filter((reveal) => reveal.at >= from && reveal.at <= to);
    return {
      email_count: inside.reduce((sum, reveal) => sum + reveal.email, 0),
      phone_count: inside.reduce((sum, reveal) => sum + reveal.phone, 0),
    };
  }
}
