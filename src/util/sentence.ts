/** A text that ends as a sentence does, with one mark: what others wrote may have its own. */
export function sentence(text: string): string {
  const said = text.trimEnd();
  return /[.!?…]$/.test(said) ? said : `${said}.`;
}
