import { stdnum } from 'stdnum';
import type { Firm } from './firms.js';

/** Companies of countries that the sandbox's register does not have: made up, with numbers whose checksums are right. */
export const foreign = {
  RU: made(
    'RU',
    [
      'ООО «Северный ветер»',
      'АО «Уральские машины»',
      'ООО «Торговый дом Восток»',
      'ПАО «Волжская энергия»',
      'ООО «Лесные технологии»',
      'ООО «Щёлковский завод»',
      'АО «Южный порт»',
      'ООО «Жемчужина Урала»',
    ],
    ['Москва', 'Екатеринбург', 'Новосибирск', 'Самара'],
    (i) => `10277${String(39_000_000 + i * 7_919).padStart(8, '0')}`,
    (i) => valid('RU', 'inn', 7_700_000_000 + i * 12_347),
  ),
  TR: made(
    'TR',
    [
      'Güneş Tekstil Sanayi A.Ş.',
      'Işık Otomotiv Ltd. Şti.',
      'Çınar İnşaat A.Ş.',
      'Doğan Gıda Ticaret A.Ş.',
      'Yıldız Lojistik Ltd. Şti.',
      'Öztürk Makine A.Ş.',
      'Şahin Kimya A.Ş.',
      'Bağcılar Elektrik Ltd. Şti.',
    ],
    ['İstanbul', 'İzmir', 'Ankara', 'Eskişehir'],
    (i) => `0${String(123_456_789 + i * 1_000_003).padStart(9, '0')}${String(i + 1).padStart(6, '0')}`,
    (i) => valid('TR', 'vkn', 1_230_000_000 + i * 7_717),
  ),
  GR: made(
    'GR',
    [
      'Αφοί Παπαδόπουλοι Α.Ε.',
      'Ελληνική Ναυτιλία Α.Ε.',
      'Μεσογειακά Τρόφιμα Ε.Π.Ε.',
      'Θεσσαλική Ενέργεια Α.Ε.',
      'Κρητικές Μεταφορές Ο.Ε.',
      'Ήλιος Τουριστική Α.Ε.',
      'Όμηρος Εκδόσεις Ι.Κ.Ε.',
      'Ύδωρ Τεχνική Α.Ε.',
    ],
    ['Αθήνα', 'Θεσσαλονίκη', 'Πάτρα', 'Ηράκλειο'],
    (i) => `${String(1_234_501 + i * 991).padStart(9, '0')}000`,
    (i) => `EL${valid('GR', 'vat', 94_000_000 + i * 3_331, 9)}`,
  ),
  HU: made(
    'HU',
    [
      'Hűtőház Kereskedelmi Kft.',
      'Győri Gépgyár Zrt.',
      'Tölgyfa Bútor Kft.',
      'Őrségi Élelmiszer Kft.',
      'Dunai Szállítmányozó Nyrt.',
      'Kékes Energia Kft.',
      'Művészeti Kiadó Bt.',
      'Zöldmező Építő Kft.',
    ],
    ['Budapest', 'Győr', 'Szeged', 'Debrecen'],
    (i) => `01-09-${String(123_456 + i * 3_137).padStart(6, '0')}`,
    (i) => `HU${valid('HU', 'anum', 10_000_000 + i * 98_765)}`,
  ),
  RO: made(
    'RO',
    [
      'Țesătura Română S.R.L.',
      'Grădina Verde S.R.L.',
      'Construcții Ploiești S.A.',
      'Oțelul Galați S.A.',
      'Brutăria Iași S.R.L.',
      'Transport Brașov S.R.L.',
      'Școala Digitală S.R.L.',
      'Energia Bucureștiului S.A.',
    ],
    ['București', 'Iași', 'Brașov', 'Constanța'],
    (i) => `J40/${1_234 + i * 37}/20${String(10 + i).padStart(2, '0')}`,
    (i) => `RO${valid('RO', 'cui', 14_000_000 + i * 33_331)}`,
  ),
  LT: made(
    'LT',
    [
      'UAB „Žalgirio statyba“',
      'UAB „Šiaurės vėjas“',
      'AB „Klaipėdos jūra“',
      'UAB „Ąžuolo baldai“',
      'UAB „Įmonių apskaita“',
      'MB „Kėdainių grūdai“',
      'UAB „Čiurlionio galerija“',
      'AB „Panevėžio pienas“',
    ],
    ['Vilnius', 'Kaunas', 'Klaipėda', 'Šiauliai'],
    (i) => String(302_123_456 + i * 10_007),
    (i) => `LT${String(100_001_234_511 + i * 1_009)}`,
  ),
  LV: made(
    'LV',
    [
      'SIA "Ziemeļu mežs"',
      'AS "Rīgas dzirnavas"',
      'SIA "Jūras ceļš"',
      'SIA "Ķekavas dārzi"',
      'SIA "Ģimenes maize"',
      'AS "Daugavas enerģija"',
    ],
    ['Rīga', 'Liepāja', 'Jelgava'],
    (i) => `4000${String(3_012_345 + i * 1_117).padStart(7, '0')}`,
    (i) => `LV4000${String(3_012_345 + i * 1_117).padStart(7, '0')}`,
  ),
  EE: made(
    'EE',
    ['Põhjatuul OÜ', 'Tähe Mööbel AS', 'Võru Piim AS', 'Jõgeva Vili OÜ', 'Saare Õlu OÜ', 'Pärnu Küte AS'],
    ['Tallinn', 'Tartu', 'Pärnu'],
    (i) => valid('EE', 'registrikood', 10_100_000 + i * 11_117),
    (i) => `EE${valid('EE', 'kmkr', 100_100_000 + i * 11_117)}`,
  ),
  BG: made(
    'BG',
    [
      'Балкан Транс ЕООД',
      'Родопи Мебел ООД',
      'Черно море АД',
      'Дунав Агро ЕООД',
      'Шипка Строй ООД',
      'Розова долина АД',
    ],
    ['София', 'Пловдив', 'Варна'],
    (i) => valid('BG', 'vat', 121_000_000 + i * 1_117),
    (i) => `BG${valid('BG', 'vat', 121_000_000 + i * 1_117)}`,
  ),
  UA: made(
    'UA',
    [
      'ТОВ «Київська пекарня»',
      'ПрАТ «Дніпровський метал»',
      'ТОВ «Їжак Логістика»',
      'ТОВ «Західна енергія»',
      'АТ «Одеський порт»',
      'ТОВ «Ґрунт Агро»',
    ],
    ['Київ', 'Дніпро', 'Львів'],
    (i) => valid('UA', 'edrpou', 30_100_000 + i * 4_111),
    () => '',
  ),
  HR: made(
    'HR',
    [
      'Jadranska plovidba d.d.',
      'Šumarska oprema d.o.o.',
      'Češalj tekstil d.o.o.',
      'Đakovačka pekara d.o.o.',
      'Željezara Sisak d.d.',
      'Općinska voda d.o.o.',
    ],
    ['Zagreb', 'Split', 'Čakovec'],
    (i) => `0${80_012_345 + i * 1_213}`,
    (i) => `HR${valid('HR', 'oib', 12_345_600_000 + i * 777_771)}`,
  ),
  SK: made(
    'SK',
    [
      'Košická strojáreň s.r.o.',
      'Žilinské cestné stavby a.s.',
      'Ľubovnianske pramene s.r.o.',
      'Tŕnie a synovia s.r.o.',
      'Považský cukor a.s.',
      'Ďateľ nábytok s.r.o.',
    ],
    ['Bratislava', 'Košice', 'Žilina'],
    (i) => valid('CZ', 'ico', 36_100_000 + i * 1_117),
    (i) => `SK${valid('SK', 'dph', 2_020_200_000 + i * 110_011)}`,
  ),
  JP: made(
    'JP',
    [
      '株式会社山田製作所',
      '東京電子工業株式会社',
      '株式会社サクラ食品',
      '北海道物流株式会社',
      '有限会社ひまわり商店',
      '株式会社テクノブリッジ',
      '大阪化学工業株式会社',
      '合同会社みどり企画',
    ],
    ['東京都', '大阪府', '北海道', '愛知県'],
    (i) => valid('JP', 'cn', 1_010_001_000_000 + i * 13_337),
    () => '',
  ),
  KR: made(
    'KR',
    [
      '주식회사 한빛전자',
      '대한물류 주식회사',
      '(주)서울식품',
      '부산조선해양 주식회사',
      '주식회사 푸른하늘',
      '(주)미래소프트',
      '한강건설 주식회사',
      '제주감귤유통 주식회사',
    ],
    ['서울특별시', '부산광역시', '인천광역시', '제주특별자치도'],
    (i) => dashed(valid('KR', 'brn', 1_208_100_000 + i * 10_111)),
    () => '',
  ),
} as const satisfies Record<string, readonly Firm[]>;

function made(
  country: string,
  names: readonly string[],
  cities: readonly string[],
  number: (index: number) => string,
  vat: (index: number) => string,
): Firm[] {
  return names.map((name, index) => ({
    name,
    country,
    number: number(index),
    vat: vat(index),
    city: cities[index % cities.length] ?? '',
  }));
}

/** The next number whose checksum is right. */
function valid(country: string, kind: string, from: number, digits = 0): string {
  const check = stdnum[country]?.[kind];
  if (check === undefined) throw new RangeError(`stdnum has no ${country}.${kind}`);
  for (let number = from; number < from + 5_000; number++) {
    const text = String(number).padStart(digits, '0');
    if (check.validate(text).isValid) return text;
  }
  throw new RangeError(`no ${country}.${kind} near ${from}`);
}

function dashed(text: string): string {
  return text.replace(/^(...)(..)(.*)$/, '$1-$2-$3');
}
