import { normalizeText } from '../util/text-limits.js';

/** What a company's status means for whoever deals with it; a company that goes on as usual has none of these. */
export type CompanyState = 'dissolved' | 'struck off' | 'insolvent' | 'in liquidation' | 'dormant';

/**
 * Words by which registers say so. The set is open (V1-28), and this list only colours a cell and ends a sentence: a word that
 * is not in it is shown all the same.
 */
const WORDS: Readonly<Record<CompanyState, string>> = {
  dissolved: `dissolved; ceased; dissoute; cessée; cessata; sciolta; disuelta; extinguida; dissolvida; ontbonden;
    opgeheven; opløst; oppløst; upplöst; rozwiązana`,
  'struck off': `struck off; struck off the register; removed; removed from the register; deregistered; cancelled; deleted;
    gelöscht; erloschen; radiée; radié; cancellata; uitgeschreven; avregistrerad; slettet; wykreślona; wykreślony; vymazána`,
  insolvent: `insolvent; insolvency; in insolvency; insolvency proceedings; in insolvency proceedings; bankrupt; bankruptcy;
    in bankruptcy; bankruptcy proceedings; insolvenz; insolvenzverfahren; insolvenzverfahren eröffnet; in insolvenz; in konkurs;
    konkurs; redressement judiciaire; liquidation judiciaire; en redressement judiciaire; en liquidation judiciaire; faillite;
    en faillite; fallita; fallimento; in fallimento; concurso; en concurso; concurso de acreedores; insolvente; failliet;
    faillissement; in faillissement; under konkurs; upadłość; w upadłości; v insolvenci; v konkurzu`,
  'in liquidation': `in liquidation; liquidation; under liquidation; being wound up; winding up; in administration;
    administration; receivership; in receivership; receiver action; voluntary arrangement; in liquidazione; liquidazione;
    en liquidation; en liquidación; em liquidação; i.l.; in abwicklung; in vereffening; under afvikling; under avvikling;
    i likvidation; likvidation; w likwidacji; v likvidaci; v likvidácii`,
  dormant: `dormant; inactive; inaktiv; ruhend; en sommeil; inattiva; inactiva; slapend; vilande; zawieszona; suspended`,
};

const STATES: ReadonlyMap<string, CompanyState> = new Map(
  (Object.keys(WORDS) as CompanyState[]).flatMap((state) =>
    WORDS[state].split(';').map((words): [string, CompanyState] => [plain(words), state]),
  ),
);

/** The status as a whole says it: `Active, proposal to strike off` and `No insolvency` do not. */
export const stateOfStatus = (status: string): CompanyState | undefined => STATES.get(plain(status));

/** The company is not in the register any more. */
export const hasEnded = (state: CompanyState): boolean => state === 'dissolved' || state === 'struck off';

function plain(text: string): string {
  return normalizeText(text, 'NFC')
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ');
}
