/** Keys from the terminal, unechoed and without waiting for Enter. The terminal is as before when listening ends. */
export async function* readKeys(): AsyncGenerator<string, void, undefined> {
  const { stdin } = process;
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  try {
    for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
      const text = String(chunk);
      // An arrow or function key comes as one sequence; pasted text comes as many keys.
      if (text.startsWith('\u001b')) yield text;
      else yield* text;
    }
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
  }
}
