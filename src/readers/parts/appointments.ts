import type { ExactJson } from '../../util/exact-json.js';
import { appointmentContacts, appointmentFields, appointmentsTable } from '../tables/appointments.js';
import type { BodyPath } from './body-path.js';
import { eachItem, type ListRead, noted, type SubjectIds } from './lists.js';
import { extraOf, readFields, ungroup } from './read-fields.js';
import { takeGroupSources } from './sources.js';

/** Whose officer or shareholder was looked for, by what, and the ID that the connected company is compared with. */
export interface Screened extends SubjectIds {
  readonly own: string;
  readonly name: string | null;
  readonly birthYear: string | null;
  readonly offset: number;
}

const GROUPS = ['company', 'officer', 'appointment', 'address', 'contact'];
const fields = [...appointmentFields, ...appointmentContacts] as const;

/** The answer of a search for officers: a list without an envelope. */
export function readAppointments(list: ExactJson | undefined, of: Screened, path: BodyPath): ListRead {
  const read = eachItem(list, of, path, (item, position, at) => {
    const own = of.v1 === null ? item : takeGroupSources(item, GROUPS, 'appointments', of.v1, at);
    const { cells, rest } = readFields(ungroup(own, GROUPS), fields, at);
    path.out.add(appointmentsTable, {
      ...screenedCells(of, position, path),
      screened_birth_year: of.birthYear,
      ...cells,
      is_subject: isOwn(cells.company_id, of),
      extra: extraOf(rest),
    });
  });
  return noted(read, appointmentsTable, path);
}

export const screenedCells = ({ v1, v2, name }: Screened, position: string, { origin }: BodyPath) => ({
  v1_company_id: v1,
  v2_company_id: v2,
  screened_name: name,
  position,
  operation: origin.operation,
  raw_sha256: origin.rawSha256,
});

export const isOwn = (id: string | null, { own }: Screened): string | null => (id === null ? null : String(id === own));
