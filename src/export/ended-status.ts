/**
 * Words by which registers say that a company is not in them any more. The set is open (V1-28), and this list only colours a
 * cell: a word that is not in it is shown all the same. What only may come to it, such as a liquidation, is not in it.
 */
const ENDED: ReadonlySet<string> = new Set([
  'dissolved',
  'struck off',
  'struck off the register',
  'removed',
  'removed from the register',
  'deregistered',
  'cancelled',
  'deleted',
  'ceased',
  'gelöscht',
  'erloschen',
  'radiée',
  'radié',
  'dissoute',
  'cessée',
  'cancellata',
  'cessata',
  'disuelta',
  'extinguida',
  'ontbonden',
  'opgeheven',
  'uitgeschreven',
  'wykreślona',
  'wykreślony',
]);

/** The status as a whole says it: `Active, proposal to strike off` does not. */
export const hasEnded = (status: string): boolean =>
  ENDED.has(
    status
      .normalize('NFC')
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, ' '),
  );
