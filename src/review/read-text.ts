export const CTRL_C = '\u0003';

/** A line of text, key by key; Enter ends it, Escape leaves it as it was. `before` is what it begins with. Undefined: Ctrl-C. */
export async function readText(
  keys: AsyncIterator<string>,
  print: (text: string) => void,
  before: string,
  prompt = 'note',
): Promise<string | undefined> {
  print(`\n  ${prompt}: ${before}`);
  let text = before;
  for (;;) {
    const { value: key, done } = await keys.next();
    if (done === true || key === '\r' || key === '\n') return text.trim();
    if (key === CTRL_C) return undefined;
    if (key === '\u001b') return before;
    if (key === '\u007f' || key === '\b') {
      if (text !== '') print('\b \b');
      text = [...text].slice(0, -1).join('');
    } else if (!/^\p{Cc}/u.test(key)) {
      text += key;
      print(key);
    }
  }
}
