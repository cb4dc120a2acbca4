import type { Json } from '../json.js';
import { domainOf } from './profile.js';
import { hash, Random } from './random.js';
import type { Company } from './types.js';

/** The digital profile: domain, traffic and the technologies of the website. */
export function insights(seed: number, company: Company): Json {
  const random = new Random(hash(seed, company.index, 130));
  const domain = domainOf(company);
  const two = (limit: number) => String(random.int(limit)).padStart(2, '0');
  return {
    domain,
    nameservers: [`ns1.${domain}`, `ns2.${domain}`],
    ip: `192.0.2.${random.between(1, 254)}`,
    isp_name: random.chance(0.8) ? 'Example Hosting, Ltd.' : null,
    domain_creation_date: `${random.between(1996, 2023)}-0${random.between(1, 9)}-1${random.int(10)}`,
    engagement_total_visits: random.int(2_000_000),
    engagement_bounce_rate: `0.${random.between(10, 99)}0`,
    engagement_time_on_site: `00:${two(60)}:${two(60)}`,
    global_rank: random.chance(0.7) ? random.between(1_000, 9_000_000) : null,
    country_rank: random.chance(0.7) ? random.between(100, 900_000) : null,
    stat_organic_search_percent: random.int(10_000) / 100,
    stat_direct_percent: random.int(10_000) / 100,
    stat_referral_percent: random.int(10_000) / 100,
    technologies: random.chance(0.1)
      ? []
      : [
          {
            id: 40_000,
            name: 'Analytics',
            list: [{ id: 40_100, name: 'Counter', category: 'Analytics' }],
          },
          {
            id: 40_004,
            name: 'Hosting',
            list: [{ id: 40_116, name: 'Edge "CDN"', category: 'Hosting' }],
          },
        ],
    dns_records: [{ type: 'MX', value: `mail.${domain}` }],
    registrar: { name: 'Example Registrar', email: null },
    registrar_contacts: [{ role: 'technical', name: 'Hostmaster', email: `hostmaster@${domain}`, phone: null }],
    category_rank: null,
    traffic_sources: { search: random.int(100), social: random.int(100), mail: null },
    country_share: [{ country: company.countryCode, percent: random.int(100) }],
    historical_visits: Array.from({ length: 6 }, (_, i) => ({ month: `2025-0${i + 1}`, visits: random.int(90_000) })),
  };
}
