import type { Language } from './countries/types.js';

/**
 * Words of company names. Each list is built from two halves, so that 64 words fit on two lines; a name is a
 * first word, a trade and a qualifier, and can be taken apart again.
 */
export interface Lexicon {
  readonly first: readonly string[];
  readonly trade: readonly string[];
  readonly qualifier: readonly string[];
  /** Words are written together, two characters each. */
  readonly joined: boolean;
}

const cross = (left: string, right: string, between = ''): string[] =>
  left.split(' ').flatMap((a) => right.split(' ').map((b) => (b === '-' ? a : `${a}${between}${b}`)));

const qualifiers = [
  '',
  'Holding',
  'Group',
  'Services',
  'International',
  'Trading',
  'Capital',
  'Logistics',
  'Fund 11',
  'Fund 12',
  'Partners',
  '& Sons',
  'Systems',
  'Ventures',
  'Energy',
  'Properties',
  'Fund 1',
  'Solutions',
  'Industries',
  'Foods',
  'Media',
  'Consulting',
  'Medical',
  'Supply',
  'Finance',
  'Labs',
  'Design',
  'Travel',
  'Textiles',
  'Security',
  'Research',
  'Pharma',
].flatMap((word) => ['', 'East', 'West', '2000'].map((tail) => [word, tail].filter((part) => part !== '').join(' ')));

const latin = (first: string[], trade: string[]): Lexicon => ({ first, trade, qualifier: qualifiers, joined: false });

export const lexicons: Readonly<Record<Language, Lexicon>> = {
  en: latin(
    cross("Ash Brook Carl Dun East Fair Green Hart Kings Lang Mill North O'Bri Raven Stan Whit", 'ford worth en ley'),
    cross(
      'Iron Wood Stone Glass Water Paper Copper Wind Sea Field Silver Cloud Fire Grain Leather Timber',
      'works craft ware line',
    ),
  ),
  de: latin(
    cross('Müll Schröd Groß Jäg Köhl Weiß Bäck Hofm Wagn Lehm Strauß Brand Füss Krüg Neum Vogl', 'er mann ert inger'),
    cross(
      'Maschinen Metall Holz Anlagen Fahrzeug Möbel Kunststoff Elektro Stahl Lüftungs Wasser Getränke Papier Textil Werkzeug Energie',
      'bau handel technik werke',
    ),
  ),
  fr: latin(
    cross(
      'Beau Château Clair Dubois Fontaine Grand Lefèvre Mont Noël Perrin Rivière Saint Vallée Verd Bel Hôtel',
      '- mont val ier',
    ),
    cross(
      'Agro Bio Électro Éco Géo Hydro Immo Métal Opti Petro Photo Techno Thermo Trans Vini Auto',
      'mécanique systèmes logistique chimie',
    ),
  ),
  es: latin(
    cross('Al Bel Cas Dor Esp Fuent Gar Her Íñig Lob Mar Núñ Ord Peñ Riv Sal', 'anza ero illa ones'),
    cross(
      'Agro Bio Electro Eco Geo Hidro Inmo Metal Opti Petro Foto Tecno Termo Trans Vini Auto',
      'mecánica sistemas logística química',
    ),
  ),
  it: latin(
    cross('Alb Bian Cast Dell Ester Ferr Giord Lomb Mar Ner Oliv Pell Ross Sant Tor Vald', 'ini ella ano etti'),
    cross(
      'Agro Bio Elettro Eco Geo Idro Immo Metal Otti Petro Foto Tecno Termo Trans Vini Auto',
      'meccanica sistemi logistica chimica',
    ),
  ),
  nordic: latin(
    cross('Ål Berg Ek Fjell Gran Hav Is Kjær Lind Nord Ø Sjø Skog Stor Väst Ås', 'dal strand vik lund'),
    cross(
      'Skogs Stål Trä Kraft Bygg Fiske Sjö Bil Data Energi Glas Grus Hamn Jord Kabel Maskin',
      'bruk teknik gruppen tjänst',
    ),
  ),
  slavic: latin(
    cross('Bial Czar Dąb Gór Jasn Kow Łuk Mal Now Orl Piotr Rad Stan Wiśn Zaw Žiž', 'ski owa ek ina'),
    cross('Stal Elektro Drew Bud Agro Chem Gaz Auto Met Papier Szkło Tekst Trans Piek Węgl Wod', 'mont prod hurt pol'),
  ),
  cjk: {
    first: cross('华 东 金 天 长 新 海 大', '宏 方 龙 安 泰 和 明 盛'),
    trade: cross('电 机 化 食 纺 建 医 网', '子 械 工 品 织 材 药 络'),
    qualifier: cross('科 贸 投 物 实 发 控 服 技 咨 传 能 环 教 文 旅', '技 易 资 流 业 展 股 务'),
    joined: true,
  },
  hebrew: latin(
    cross('אל בר גל דן הר כר לב מע', 'ון אור ים טל נה רז שי תן'),
    cross('מת עצ בנ אנ תע מז תק שי', 'כת ים יה רגיה שייה ון שורת רות'),
  ),
};
