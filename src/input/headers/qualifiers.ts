import { words } from './words.js';

/** A header with one of these is about somebody else than the company of its row, or about what that was once. */
export const SOMEBODY_ELSE: readonly string[] = words(`
  parent | ultimate | holding | owner | owners | ubo | beneficial | shareholder | guarantor | consignee | bank | origin | residence |
  auditor | auditors | accountant | insurer | lender | ship | shipto | shipping | deliver | delivery | destination | former | formerly | previous | prior | old
  mutter | muttergesellschaft | mutterunternehmen | konzern | konzernmutter | eigentümer | eigentuemer | gesellschafter | bürge | liefer | lieferung | versand | warenempfänger |
  wirtschaftsprüfer | abschlussprüfer | steuerberater | versicherer | herkunft | herkunfts | wohnsitz | früher | frühere | früherer | früheres | ehemals | ehemalige | ehemaliger | vorherige | alte | alter
  mère | livraison | expédition | origine | résidence | ancien | ancienne | précédent | précédente | auditeur | actionnaire | propriétaire | banque | garant
  matriz | entrega | envío | origen | residencia | destino | antiguo | antigua | anterior | accionista | propietario | banco
  capogruppo | controllante | consegna | spedizione | residenza | destinazione | precedente | proprietario | banca
  moeder | moedermaatschappij | aflever | levering | leverings | herkomst | vroegere | voormalige | oude | eigenaar | aandeelhouder
  matka | dostawy | wysyłki | pochodzenia | poprzedni | poprzednia | dawna | właściciel | origem | acionista
  moderbolag | moderselskab | leverans | levering | ursprung | tidigare | tidligere`);

/** The same about people: such a name is nobody's company. */
export const PEOPLE: readonly string[] = words(`
  contact | person | director | birth | signatory | employee
  ansprechpartner | kontaktperson | geburt | geburts | geschäftsführer
  naissance | dirigeant | interlocuteur | nacimiento | nascita | nascimento | geboorte | contactpersoon | urodzenia | födelse`);

/** These say that the company of the row is meant, as it is now. */
export const ITSELF: readonly string[] = words(`
  now | current | currently | today | new | subsidiary | entity | company | customer | supplier | vendor | client
  firma | firmen | kunde | kunden | lieferant | lieferanten | neu | neue | neuer | aktuell | aktuelle | aktueller | heutige | heutiger | tochter | actuel | actuelle | filiale | actual | attuale | huidige`);

/** What holds a header together, and says nothing. */
export const LINKS: readonly string[] = words(`
  of | the | to | s | in | for | der | des | die | von | de | du | la | le | l | d | del | della | di | da | van | het | party | tax | maison`);

/** Beside the words above, what stands over a group of columns and says nothing: `Details of the parent`, `Bank account`. */
export const GROUP_WORDS: readonly string[] = words(`
  details | detail | data | information | info | address | account | name | firm | group | level | organisation | organization | business
  daten | angaben | adresse | anschrift | konto | gesellschaft | unternehmen | informations | coordonnées | société | compte | datos | dirección | sociedad | dati | indirizzo | società
  gegevens | adres | dane | adresat | dados | endereço | uppgifter | oplysninger`);
