/** The flags of a command as the options behind them: what the command line does, without one. */
export function optionsOf(flags: readonly string[]): Readonly<Record<string, unknown>> {
  const map = flags.filter((_, index) => flags[index - 1] === '--map');
  const one = (flag: string) => (flags.includes(flag) ? flags[flags.indexOf(flag) + 1] : undefined);
  const headerLine = one('--header-line');
  return {
    ...(map.length === 0 ? {} : { map }),
    country: one('--country'),
    encoding: one('--encoding'),
    delimiter: one('--delimiter'),
    sheet: one('--sheet'),
    ...(headerLine === undefined ? {} : { headerLine: Number(headerLine) }),
  };
}
