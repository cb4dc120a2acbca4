import { type HeaderWords, words } from './words.js';

/**
 * Headers in English, German, French, Spanish, Italian, Dutch, Polish, Portuguese and the Nordic languages, for what
 * they mean wherever they stand.
 */
export const WESTERN: HeaderWords = {
  name: words(`
    company | company name | company legal name | name of company | business name | legal name | registered name |
    legal entity | legal entity name | entity name | organisation | organization | organisation name |
    organization name | org name | firm name | corporate name | counterparty name | name of counterparty |
    supplier name | vendor name | customer name | client name | account name |
    debtor name | borrower name | full legal name
    firma | firmenname | firmenbezeichnung | firmenbezeichnung laut handelsregister | firmierung | unternehmen |
    unternehmensname | name der firma | name des unternehmens | firmenwortlaut | name laut firmenbuch | gesellschaft | kundenname | lieferantenname |
    lieferantenbezeichnung | kundenbezeichnung | kreditorenname | debitorenname
    raison sociale | denomination | denomination sociale | nom de l'entreprise | nom entreprise | nom de la societe |
    nom societe | societe | entreprise | nom du client | nom du fournisseur |
    razon social | denominacion social | denominacion | nombre de la empresa | nombre empresa | empresa |
    sociedad |
    ragione sociale | denominazione | denominazione sociale | nome azienda | nome societa | azienda | societa |
    impresa |
    bedrijf | bedrijfsnaam | naam bedrijf | statutaire naam | onderneming | ondernemingsnaam |
    klantnaam |
    nazwa firmy | nazwa spolki | nazwa podmiotu | nazwa przedsiebiorstwa | spolka | nazwa kontrahenta
    foretag | foretagsnamn | bolag | bolagsnamn | firmanavn | virksomhed | virksomhedsnavn | selskap | selskapsnavn |
    yrityksen nimi | denominacao social | denominacao | nome da empresa | razao social`),
  country: words(`
    country code | country name | country iso | country iso code | iso country | iso country code | iso2 |
    alpha 2 | ctry | country of incorporation | country of registration | incorporation country | registration country |
    registered country | country of domicile | domicile country | company country | country region | country or region |
    jurisdiction | jurisdiction code | jurisdiction of incorporation |
    land | landercode | laendercode | laenderkurzel | laenderkuerzel | landerkurzel | landeskennzeichen | landeskurzel |
    sitzland
    pays | code pays | pays d'immatriculation | pays du siege | juridiction
    pais | codigo pais | codigo de pais | pais de registro | jurisdiccion
    paese | codice paese | nazione | giurisdizione
    landcode | land van vestiging | vestigingsland | landnaam
    kraj | kod kraju | panstwo | kraj rejestracji
    landekod | landkod | landekode | landskode | maa`),
  registration_number: words(`
    registration no | registration num | registration nr | registration id | registration code |
    registration number local | reg no | reg nr | reg num | reg number | reg id |
    company number | company no | company nr | company reg no | company reg number | company reg | company registration |
    company registration no | company registration number | companies house number | companies house no | crn | ch number |
    registered number | registered no | registry number | registry no | registry id | register number | register no |
    trade register number | trade registry number | commercial register number | business registration number |
    entity number | entity no | state file number | incorporation number | cro | cro number | uen | acn |
    local registration number | national registration number | organisation number | organization number | org number | org no | org nr
    handelsregisternummer | handelsregister nr | hr nummer | hr nr | hrb | hra | hrb nr | hrb nummer | hra hrb | hrb hra |
    registernummer | register nr | registrierungsnummer | firmennummer | firmenbuchnummer | fb nr | eintragungsnummer
    siren | siret | numero siren | numero siret | n siren | n siret | no siren | no siret | code siren | rcs |
    numero rcs | numero d'immatriculation | numero d'entreprise | n entreprise | bce | numero bce
    nif cif | cif nif | numero de registro | numero registro | n registro | numero de registro mercantil | nipc
    codice fiscale | cod fiscale | numero rea | rea | n rea | numero registro imprese | numero di registrazione
    kvk | kvk nummer | kvk nr | kvk number | kamer van koophandel | kbo | kbo nummer | kbo nr | ondernemingsnummer | ondernemingsnr |
    inschrijvingsnummer | registratienummer | handelsregisternummer kvk
    krs | numer krs | nr krs | regon | numer regon | nr regon | numer rejestrowy | nr rejestrowy | numer rejestracyjny
    organisationsnummer | organisasjonsnummer | cvr | cvr nr | cvr nummer | cvr number | y tunnus | business id`),
  vat_number: words(`
    vat | vat no | vat nr | vat num | vat id | vat id no | vat code | vat reg no | vat registration no |
    vat registration number | vat identification number |
    ein | fein | employer identification number | gst | gst number | gstin | vat tax number | vat or tax number | eu vat
    ust id | ust idnr | ust id nummer | ust | umsatzsteuer id | umsatzsteuer identifikationsnummer |
    umsatzsteueridentnummer | mwst nr | mwst nummer |
    tva | n tva | no tva | numero tva | numero de tva | tva intracommunautaire | n tva intracommunautaire |
    numero de tva intracommunautaire | numero tva intracommunautaire | n tva intracom | no tva intracom | numero tva intracom | tva intracom | id tva
    iva | n iva | numero iva | numero de iva | nif iva | nif intracomunitario
    partita iva | p iva | part iva | codice iva
    btw | btw nr | btw nummer | btw id | btw identificatienummer
    nip | numer nip | nr nip | nip ue | vat ue | numer vat
    momsnummer | momsnr | moms reg nr | momsregistreringsnummer | alv numero | alv tunniste | mva nummer`),
  ticker: words(`
    ticker symbol | tickers | stock symbol | stock ticker | trading symbol | exchange symbol | bloomberg ticker |
    borsenkurzel | boersenkuerzel | borsensymbol | symbole boursier | code boursier | mnemonique |
    simbolo bursatil | simbolo di borsa | beurssymbool | symbol gieldowy`),
  city: words(`
    town | city name | city town | town city | locality | municipality | registered city | company city | address city
    stadt | ort | ortschaft | wohnort | firmensitz | sitz | gemeinde | plz ort
    ville | commune | localite | ville du siege
    ciudad | localidad | localidade | municipio | poblacion
    citta | comune | localita
    stad | plaats | vestigingsplaats | woonplaats | gemeente
    miasto | miejscowosc
    postort | by | kommun | poststed | kaupunki | kotipaikka | cidade`),
  state: words(`
    state code | state province | state or province | province | province state | region | us state | state region | county |
    state of incorporation | registered state | address state
    bundesland | kanton | provinz
    etat | departement
    estado | provincia | comunidad autonoma
    regione
    provincie | regio
    wojewodztwo
    fylke`),
  id: words(`
    ref | reference | reference no | reference number | our ref | our reference | your ref | your reference | record id | row id | internal id |
    internal ref | external id | own id | unique id | customer id | customer no | customer number | customer ref | client id |
    client no | client number | client ref | account id | account no | account number | supplier id | supplier no | supplier number |
    vendor id | vendor no | vendor number | entity id | company id | crm id | case id | portfolio id | debtor no | debtor number | debtor id | creditor no | creditor number | creditor id | creditor ref | partner id
    kundennummer | kunden nr | kd nr | kundenr | kdnr | kunden id | lieferantennummer | lieferanten nr | debitorennummer | debitor nr |
    kreditorennummer | kreditor nr | referenz | referenznummer | interne nummer | aktenzeichen | geschaeftspartnernummer
    identifiant | id client | numero client | numero de client | n client | code client | code fournisseur | n fournisseur | no fournisseur | n client fournisseur | numero fournisseur | reference client
    id cliente | numero de cliente | codigo cliente | codigo de cliente | referencia | identificador
    codice cliente | numero cliente | codice fornitore | riferimento | identificativo
    klantnummer | klant id | klantnr | leveranciersnummer | debiteurnummer | referentie | kenmerk
    identyfikator | numer klienta | nr klienta | id klienta | numer referencyjny | id kontrahenta |
    nr dostawcy | numer dostawcy | kod dostawcy | id dostawcy
    kundnummer | kundnr | leverantorsnr | leverandornr | kundenummer | asiakasnumero | kund id`),
  lei: words(
    `lei code | lei number | lei no | legal entity identifier | lei nummer | code lei | codigo lei | codice lei | kod lei`,
  ),
  website: words(`
    web site | web | web page | homepage | website url | web address | company website | company url |
    corporate website | internet | domain | domain name | company domain
    webseite | internetseite | internetadresse
    site web | site internet | sitio web | pagina web | sito web | sito internet
    strona www | strona internetowa | hemsida | hjemmeside | kotisivu`),
  linkedin: words(`
    linkedin url | linkedin page | linkedin profile | linkedin address | linkedin link | company linkedin |
    company linkedin url | linkedin company page`),
  phone: words(`
    phone no | phone number | telephone | telephone no | telephone number | tel | tel no | company phone | business phone |
    main phone | office phone
    telefon | telefonnummer | telefon nr | rufnummer
    numero de telephone | telefono | numero de telefono | telefoonnummer | telefoon | numer telefonu | nr telefonu | puhelin`),
  email: words(`
    e mail address | company email | business email | contact email | mail | mail address
    e mail adresse | mailadresse
    courriel | adresse e mail | adresse mail | correo | correo electronico | posta elettronica | indirizzo email |
    e mailadres | adres e mail | e post | sahkoposti`),
};
