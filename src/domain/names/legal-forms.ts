import { fuzzball } from '../../util/lazy-package.js';

/**
 * Legal forms as they read once case, accents and punctuation are gone, one line per kind. Two names may be compared
 * without them; two different kinds (GmbH, GmbH & Co. KG) are still a reason for doubt.
 */
const KINDS: readonly (readonly [kind: string, ...spellings: string[]])[] = [
  [
    'limited',
    'limited',
    'ltd',
    'private limited',
    'pvt ltd',
    'pvt limited',
    'private ltd',
    'co ltd',
    'company limited',
    'co limited',
    'teoranta',
    'teo',
    'cyfyngedig',
    'pte ltd',
    'pte',
    'pty',
    'pte limited',
    'pty ltd',
    'pty limited',
    'proprietary limited',
    'ltee',
    'limitee',
    'בעמ',
    'חברה בעמ',
  ],
  ['plc', 'plc', 'public limited company', 'public limited co', 'ccc', 'cpt'],
  ['llp', 'llp', 'limited liability partnership'],
  ['lp', 'lp', 'limited partnership'],
  ['cic', 'cic', 'community interest company'],
  ['dac', 'dac', 'designated activity company'],
  ['clg', 'clg', 'company limited by guarantee'],
  ['unlimited', 'unlimited company', 'unlimited', 'uc', 'ulc'],
  ['inc', 'inc', 'incorporated', 'corp', 'corporation', 'incorporation', 'co inc'],
  ['llc', 'llc', 'limited liability company', 'limited liability co', 'llc co', 'pllc'],
  [
    'gmbh',
    'gmbh',
    'gesellschaft mbh',
    'gesellschaft mit beschrankter haftung',
    'gesellschaft mit beschraenkter haftung',
    'ges mbh',
    'gesmbh',
    'mbh',
    'ggmbh',
  ],
  [
    'ug',
    'ug',
    'ug haftungsbeschrankt',
    'ug haftungsbeschraenkt',
    'unternehmergesellschaft haftungsbeschrankt',
    'unternehmergesellschaft haftungsbeschraenkt',
    'unternehmergesellschaft',
  ],
  ['ag', 'ag', 'aktiengesellschaft'],
  ['kg', 'kg', 'kommanditgesellschaft', 'and co kg', 'co kg', 'and cokg', 'and compagnie kg'],
  ['kgaa', 'kgaa', 'and co kgaa', 'co kgaa'],
  ['ohg', 'ohg', 'and co ohg', 'co ohg'],
  ['gbr', 'gbr', 'egbr'],
  ['ev', 'ev', 'eingetragener verein'],
  ['eg', 'eg', 'genossenschaft'],
  ['ek', 'ek', 'ekfm', 'ekfr', 'eu'],
  ['og', 'og'],
  ['se', 'se', 'societas europaea'],
  ['anstalt', 'anstalt'],
  ['foundation', 'stiftung', 'foundation', 'stichting', 'fundacja'],
  ['sarl', 'sarl', 's a rl', 'sa rl', 'societe a responsabilite limitee', 'sarlau', 'sarl s'],
  ['sa', 'sa', 'societe anonyme', 'sociedad anonima', 'sociedade anonima', 'sau', 'spolka akcyjna', 's a'],
  ['sas', 'sas', 'sasu', 'societe par actions simplifiee'],
  ['eurl', 'eurl'],
  ['sci', 'sci', 'societe civile immobiliere'],
  ['snc', 'snc'],
  ['scsp', 'scsp', 'scs', 'sca'],
  ['sicav', 'sicav', 'sicav sif'],
  ['srl', 'srl', 'srl unipersonale', 'srls', 'societa a responsabilita limitata', 'sprl', 'bvba', 's r l'],
  ['bv', 'bv', 'besloten vennootschap'],
  ['nv', 'nv', 'naamloze vennootschap'],
  ['vof', 'vof'],
  ['cv', 'cv', 'cvba', 'cooperatie ua', 'cooperatie', 'cooperatieve ua', 'ua'],
  ['vzw', 'vzw', 'asbl'],
  ['spa', 'spa', 'societa per azioni'],
  ['sl', 'sl', 'slu', 'sociedad limitada', 'sll', 'slp'],
  ['coop', 's coop', 'scoop', 'sociedad cooperativa'],
  ['lda', 'lda', 'unipessoal lda', 'limitada', 'ltda', 'eireli'],
  ['ab', 'ab', 'ab publ', 'aktiebolag', 'aktiebolaget'],
  ['hb', 'hb', 'handelsbolag'],
  ['as', 'as', 'aksjeselskap', 'aktieselskab', 'akciova spolecnost'],
  ['asa', 'asa'],
  ['enk', 'enk'],
  ['aps', 'aps', 'anpartsselskab'],
  ['is', 'is', 'interessentskab'],
  ['ks', 'ks', 'ps'],
  ['oy', 'oy', 'oy ab', 'osakeyhtio'],
  ['oyj', 'oyj', 'oyj abp', 'abp'],
  ['ky', 'ky', 'kommandiittiyhtio'],
  ['osk', 'osk', 'osuuskunta'],
  ['hf', 'hf', 'ehf'],
  ['sp zoo', 'sp zoo', 'sp z oo', 'spzoo', 'spolka z ograniczona odpowiedzialnoscia', 'spolka z oo', 'sp z o o'],
  ['sp k', 'sp k', 'spk', 'spolka komandytowa', 'sp zoo sp k', 'sp z oo sp k'],
  ['sp j', 'sp j', 'spj', 'spolka jawna'],
  ['sro', 'sro', 'spol sro', 's r o', 'spolecnost s rucenim omezenym'],
  ['vos', 'vos'],
  ['kft', 'kft'],
  ['zrt', 'zrt', 'nyrt', 'rt'],
  ['doo', 'doo'],
  ['dd', 'dd'],
  ['eood', 'eood', 'ood'],
  ['ad', 'ad'],
  ['ooo', 'ooo'],
  ['oao', 'oao', 'pao', 'zao', 'ao'],
  ['uab', 'uab'],
  ['sia', 'sia'],
  ['ou', 'ou'],
  ['ae', 'ae'],
  ['epe', 'epe', 'ike'],
  ['sdn bhd', 'sdn bhd'],
  ['bhd', 'bhd', 'berhad'],
  ['pt', 'tbk'],
  ['kk', 'kk', 'kabushiki kaisha'],
  ['gk', 'gk', 'godo kaisha'],
  ['fzco', 'fzco', 'fze', 'fz llc'],
];

/** Written without spaces: taken off as text. Longer ones first. */
const JOINED: readonly (readonly [kind: string, spelling: string])[] = [
  ['cn jsc', '股份有限公司'],
  ['cn ltd', '有限责任公司'],
  ['cn ltd', '有限責任公司'],
  ['cn ltd', '有限公司'],
  ['kk', '株式会社'],
  ['kk', '(株)'],
  ['gk', '合同会社'],
  ['jp yk', '有限会社'],
  ['kr', '주식회사'],
  ['kr yh', '유한회사'],
];

/** Forms that are one form in another language of the country: a register may have either. */
const SAME_IN: Readonly<Record<string, readonly (readonly string[])[]>> = {
  BE: [
    ['sa', 'nv'],
    ['srl', 'bv', 'sprl'],
    ['cv', 'coop'],
  ],
  CA: [['inc', 'limited']],
  CH: [
    ['ag', 'sa'],
    ['gmbh', 'sarl', 'srl'],
  ],
  FI: [
    ['oy', 'ab'],
    ['oyj', 'ab'],
  ],
  JP: [['limited', 'inc']],
  KR: [['limited', 'inc']],
  LU: [
    ['sa', 'ag'],
    ['sarl', 'gmbh'],
  ],
};

/** Private companies of other laws, whose English translation is "Limited". */
const PRIVATE =
  'gmbh,sarl,sas,eurl,srl,bv,sl,lda,ab,as,aps,oy,hf,sp zoo,sro,kft,doo,eood,ooo,uab,sia,ou,epe,sdn bhd,fzco'.split(',');

/** What a form stands for where it is a translation: the same kind of company. A foundation translates no company. */
const TRANSLATES: Readonly<Record<string, readonly string[]>> = {
  limited: [...PRIVATE, 'cn ltd', 'cn jsc', 'kk', 'jp yk', 'kr', 'kr yh'],
  llc: ['gmbh', 'sarl', 'ooo', 'fzco', 'cn ltd', 'gk', 'kr yh'],
  plc: 'ag,sa,nv,spa,asa,ab,oyj,zrt,ad,dd,ae,oao,bhd,pt,cn jsc'.split(','),
  inc: ['kk', 'kr', 'cn jsc'],
};
const ENGLISH_LAW: ReadonlySet<string> = new Set(
  'GB IE US CA AU NZ IN SG HK MY ZA NG KE MT CY GG JE IM GI BM KY VG BS'.split(' '),
);

/** Whether the legal forms of two names are those of two companies: a form of one has no counterpart in the other. */
export function areDifferentForms(a: readonly string[], b: readonly string[], countryCode: string): boolean {
  const lacks = (kinds: readonly string[], others: readonly string[]) =>
    kinds.some((kind) => !others.some((other) => isSameForm(kind, other, countryCode)));
  return a.length > 0 && b.length > 0 && (lacks(a, b) || lacks(b, a));
}

function isSameForm(a: string, b: string, countryCode: string): boolean {
  if (a === b || SAME_IN[countryCode]?.some((group) => group.includes(a) && group.includes(b)) === true) return true;
  // Under English law an English form is no translation, unless the other is written in another script.
  if (ENGLISH_LAW.has(countryCode) && !isJoined(a) && !isJoined(b)) return false;
  return TRANSLATES[a]?.includes(b) === true || TRANSLATES[b]?.includes(a) === true;
}

const isJoined = (kind: string): boolean => JOINED.some(([joined]) => joined === kind);

/** Forms that also stand in front of the name: "SARL Dupont", "AB Volvo". */
const LEADING: ReadonlySet<string> = new Set([
  'sarl',
  'sas',
  'sasu',
  'eurl',
  'sci',
  'ab',
  'oy',
  'ooo',
  'oao',
  'zao',
  'pao',
  'uab',
  'sia',
  'stichting',
  'pt',
]);

const BY_SPELLING: ReadonlyMap<string, string> = new Map(
  KINDS.flatMap(([kind, ...spellings]) => spellings.map((spelling) => [spelling, kind] as const)),
);

const LONGEST = 5;

export interface FormPlace {
  /** The words between `from` and `to` are the name without its legal forms. */
  readonly from: number;
  readonly to: number;
  /** The kind of each form that is set aside, once. */
  readonly kinds: readonly string[];
}

/** Finds the legal forms of a name in plain words. A name that is nothing but a form keeps it. */
export function findLegalForm(words: readonly string[]): FormPlace {
  let to = words.length;
  const kinds: string[] = [];
  let partners = false;
  for (;;) {
    const form = endingForm(words.slice(0, to));
    if (form === undefined || form.size === to) break;
    // "GmbH & Co. KG" is one form, and so is any other form with partners.
    if (partners) kinds.push(`${form.kind}${WITH_PARTNERS}${kinds.pop()}`);
    else kinds.push(form.kind);
    partners = PARTNERS.test(words.slice(to - form.size, to).join(' '));
    to -= form.size;
    // "Muster Gesellschft mbH": a slip of the finger in the longer spelling of the form.
    if (to > 1 && form.kind === 'gmbh' && isMistyped(words[to - 1] ?? '', 'gesellschaft')) to -= 1;
  }
  const [first] = words;
  const leads = to > 1 && first !== undefined && LEADING.has(first);
  if (leads) kinds.push(BY_SPELLING.get(first) ?? first);
  return { from: leads ? 1 : 0, to, kinds: [...new Set(kinds)] };
}

const PARTNERS = /^(?:and )?co(?:mpagnie)? ?(?:kg|kgaa|ohg)$/;
const WITH_PARTNERS = ' and co ';

/** "X GmbH & Co. KG": "X GmbH" is its partner. */
export const hasPartners = (kinds: readonly string[]): boolean => kinds.some((kind) => kind.includes(WITH_PARTNERS));

/** Words at the end that make up the longest known form. */
function endingForm(words: readonly string[]): { readonly size: number; readonly kind: string } | undefined {
  for (let size = Math.min(LONGEST, words.length); size > 0; size--) {
    const kind = BY_SPELLING.get(words.slice(-size).join(' '));
    if (kind !== undefined) return { size, kind };
  }
  const meant = MISTYPED.find((form) => isMistyped(words.at(-1) ?? '', form));
  const kind = BY_SPELLING.get(meant ?? '');
  return kind === undefined ? undefined : { size: 1, kind };
}

/** "Limted", "GmbHH": forms long enough that a slip of the finger makes no other word of them. */
const MISTYPED = ['limited', 'incorporated', 'corporation', 'gmbh', 'aktiengesellschaft'];

const isMistyped = (word: string, form: string) =>
  word.length > 2 && fuzzball().ratio(word, form, { full_process: false }) >= 85;

/** The same for names written without spaces. */
export function stripJoinedForm(text: string): { readonly text: string; readonly kind: string | undefined } {
  for (const [kind, spelling] of JOINED) {
    const rest = text.endsWith(spelling)
      ? text.slice(0, -spelling.length)
      : text.startsWith(spelling)
        ? text.slice(spelling.length)
        : text;
    if (rest !== text && rest.trim() !== '') return { text: rest.trim(), kind };
  }
  return { text, kind: undefined };
}
