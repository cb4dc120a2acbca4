import type { Json } from '../../json.js';
import type { Companies } from '../companies.js';
import { departments, seniorities } from '../nomenclatures/index.js';
import { domainOf } from '../profile.js';
import { hash, Random } from '../random.js';
import { hasTrait } from '../traits.js';
import type { Company, Employee } from '../types.js';
import type { Persons } from './persons.js';

const FIRST_ID = 700_000_000_000;
const ROOM = 40;

const jobs = ['Chief Executive', 'Accountant', 'Key Account Manager', 'Buyer', 'Software Engineer', 'Counsel'];

export interface Employees {
  of(company: Company): readonly Employee[];
  byId(id: string): Employee | undefined;
  profile(employee: Employee): Json;
}

export function createEmployees(companies: Companies, persons: Persons): Employees {
  const { seed } = companies;
  const count = (index: number) =>
    hasTrait(seed, index, 'large') ? 20 + (hash(seed, index, 140) % 20) : hash(seed, index, 140) % 6;

  const at = (company: Company, place: number): Employee => {
    const random = new Random(hash(seed, company.index, 141, place));
    const { first, last } = persons.nameOf(company.index, place);
    const handle = `${first}.${last}`
      .normalize('NFKD')
      .replace(/[^A-Za-z.]/g, '')
      .toLowerCase();
    return {
      id: String(FIRST_ID + company.index * ROOM + place),
      company,
      fullName: `${first} ${last}`,
      firstName: first,
      lastName: last,
      seniority: random.pick(seniorities),
      department: random.pick(departments),
      jobTitle: random.pick(jobs),
      email: random.chance(0.7) ? `${handle}@${domainOf(company)}` : null,
      phone: random.chance(0.4) ? `+44 20 7946 0${random.between(100, 999)}` : null,
      linkedin: random.chance(0.5) ? `https://www.linkedin.com/in/${handle.replace('.', '-')}-${company.index}` : null,
      country: company.countryCode,
      city: company.city,
    };
  };

  return {
    of: (company) => Array.from({ length: count(company.index) }, (_, place) => at(company, place)),
    byId: (id) => {
      if (!/^\d{12,13}$/.test(id)) return undefined;
      const position = Number(id) - FIRST_ID;
      const index = Math.floor(position / ROOM);
      if (position < 0 || index >= companies.size || position % ROOM >= count(index)) return undefined;
      return at(companies.company(index), position % ROOM);
    },
    profile: (employee) => ({
      id: employee.id,
      full_name: employee.fullName,
      first_name: employee.firstName,
      last_name: employee.lastName,
      gender: ['male', 'female', null][hash(seed, employee.company.index, 142) % 3] ?? null,
      seniority_level: [employee.seniority],
      function_original_name: employee.jobTitle,
      phone: employee.phone,
      email: employee.email,
      company_name: employee.company.name,
    }),
  };
}
