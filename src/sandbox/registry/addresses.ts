import { countries } from './countries/index.js';
import type { Country } from './countries/types.js';
import type { Random } from './random.js';

const byCode = new Map(countries.map((country) => [country.code, country]));

export function countryOf(code: string): Country {
  const country = byCode.get(code);
  if (country === undefined) throw new RangeError(`no country ${code}`);
  return country;
}

const streets: Readonly<Record<Country['language'], readonly string[]>> = {
  en: ["St Mary's Road", 'High Street', 'Station Road', 'Queen Victoria Street', 'Mill Lane'],
  de: ['Hauptstraße', 'Königsallee', 'Bahnhofstraße', 'Am Wäldchen', 'Größnerweg'],
  fr: ["rue de l'Église", 'avenue Victor Hugo', 'boulevard de la Liberté', 'place du Marché'],
  es: ['Calle Mayor', 'Avenida de la Constitución', 'Paseo de Gracia', 'Rua Augusta'],
  it: ['Via Roma', "Corso d'Italia", 'Piazza Garibaldi', 'Via Dante'],
  nordic: ['Storgatan', 'Kungsgatan', 'Nørregade', 'Rådhusgata', 'Mannerheimintie'],
  slavic: ['ul. Marszałkowska', 'ul. Długa', 'Národní třída', 'ul. Świętokrzyska'],
  cjk: ['建国路', '南京东路', '深南大道', '銀座'],
  hebrew: ['רחוב הרצל', 'שדרות רוטשילד', 'דרך יפו'],
};

export function streetOf(random: Random, countryCode: string): string {
  const { language } = countryOf(countryCode);
  const street = random.pick(streets[language]);
  const number = random.between(1, 240);
  if (language === 'cjk') return `${street}${number}号`;
  return language === 'en' || language === 'fr' ? `${number} ${street}` : `${street} ${number}`;
}

/** Leading zeros happen, and are text. */
export function zipOf(random: Random, countryCode: string): string {
  const { postal } = countryOf(countryCode);
  if (postal === 0)
    return `${random.pick(['EC', 'M', 'LS', 'H', 'BT'])}${random.between(1, 20)} ${random.between(1, 9)}AB`;
  return String(random.int(10 ** postal)).padStart(postal, '0');
}
