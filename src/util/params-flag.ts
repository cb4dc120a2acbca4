/** `--params '…'` as it can be pasted into a shell: a quote within it, from wherever it came, does not end it. */
export const paramsFlag = (params: Readonly<Record<string, unknown>>): string =>
  `--params '${JSON.stringify(params).replaceAll("'", '\\u0027')}'`;
