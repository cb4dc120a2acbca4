/** A run that is raised or lowered, in the characters that are so by themselves; what has none stays as it is. */
export function raised(text: string, vertAlign: string): string {
  const [plain, shown] = LOOKS[vertAlign] ?? ['', ''];
  return text.replace(/[\w+=()-]/g, (character) => shown[plain.indexOf(character)] ?? character);
}

/** Each character and, in the same place, what it becomes. All of them are one unit long. */
const LOOKS: Readonly<Record<string, readonly [string, string]>> = {
  superscript: ['0123456789+-=()abcdefghijklmnoprstuvwxyz', '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ'],
  subscript: ['0123456789+-=()', '₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎'],
};
