/** A line of text, key by key; Enter ends it, Escape drops it. */
export async function readText(keys: AsyncIterator<string>, print: (text: string) => void): Promise<string> {
  print('\n  note: ');
  let text = '';
  for (;;) {
    const { value: key, done } = await keys.next();
    if (done === true || key === '\r' || key === '\n') return text.trim();
    if (key === '\u001b' || key === '\u0003') return '';
    if (key === '\u007f' || key === '\b') {
      if (text !== '') print('\b \b');
      text = [...text].slice(0, -1).join('');
    } else if (!/^\p{Cc}/u.test(key)) {
      text += key;
      print(key);
    }
  }
}
