/** A member of filed financials, by the character that its value begins with: they are long, and read by the export alone. */
export const isMemberOfAccounts = (member: string, first: string): boolean =>
  MEMBERS.has(member) && (first === 'n' || MEMBERS.get(member) === first);

const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['years', '['],
  ['groups', '['],
  ['source', '{'],
]);
