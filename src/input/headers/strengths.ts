import { type HeaderWords, words } from './words.js';

/** Of several columns that claim a field, one that is called so is meant. */
export const EXACT: HeaderWords = {
  name: words(`
    company legal name | legal name | registered name | legal entity name | full legal name | current legal name |
    vendor legal name | supplier legal name | firmenbezeichnung laut handelsregister | firmierung | raison sociale |
    denomination sociale | razon social | denominacion social | ragione sociale | denominazione sociale | statutaire naam |
    obchodní firma | ticaret ünvanı | 商号又は名称`),
  country: words(`
    country of incorporation | country of registration | incorporation country | registration country | registered country |
    jurisdiction of incorporation | pays d'immatriculation | pais de registro | kraj rejestracji | страна регистрации |
    країна реєстрації`),
  registration_number: words(`
    company registration number | company registration no | companies house number | handelsregisternummer | siren |
    numero siren | kvk nummer | krs | numer krs | organisationsnummer | organisasjonsnummer | ičo | огрн | єдрпоу |
    法人番号 | 统一社会信用代码 | cégjegyzékszám | mersis no`),
  vat_number: words(`
    vat no | vat id | vat registration number | vat identification number | ust idnr | umsatzsteuer id |
    numero de tva intracommunautaire | partita iva | btw nummer | stceg | dič`),
};

/**
 * Headers that say too little: what the column holds has to agree, and any other that says more is meant before them.
 * Some are in two lists: a column `Customer` may hold names or codes.
 */
export const GENERIC: HeaderWords = {
  name: words(`
    customer | supplier | vendor | client | account | debtor | creditor | borrower | counterparty | partner | partner name |
    entity | business | firm | trading name | brand | brand name | full name | short name | merchant | payee |
    debitor | kreditor | kunde | lieferant | geschaftspartner | kurzname | bezeichnung | suchname | handelsname |
    vertragspartner | anbieter | hersteller | dienstleister | auftragnehmer | auftraggeber | verkäufer | käufer
    nom | fournisseur | tiers | nom commercial | enseigne
    nombre | cliente | proveedor | nombre comercial | nome | fornitore | nome comercial | fornecedor
    subsidiary | subsidiary name | tochter | tochtergesellschaft | filiale
    naam | handelsnaam | klant | leverancier | relatie | nazwa | kontrahent | klient | dostawca | nazwa skrocona
    navn | namn | kund | leverantor | leverandor | nimi | asiakas | toimittaja
    název | jméno | názov | zákazník | dodavatel | név | ügyfél | szállító | partner megnevezése | denumire | nume | furnizor
    naziv | ime | kupac | dobavljač | наименование | название | имя | клиент | контрагент | поставщик | назва | найменування
    име | pavadinimas | nosaukums | nimetus | όνομα | πελάτης | προμηθευτής | ad | isim | müşteri | tedarikçi | cari
    名前 | 氏名 | 取引先 | 得意先 | 仕入先 | 客户 | 供应商 | 名字 | 거래처 | 고객 | 이름 | 명칭 | الاسم | العميل | שם | לקוח | ספק`),
  id: words(`
    customer | supplier | vendor | client | account | debtor | creditor | partner | counterparty | number | no | nr | code | key | entity |
    debitor | kreditor | kunde | lieferant | geschaftspartner | nummer | konto
    tiers | compte | numero | codigo | codice | klant | kontrahent | klient | numer | kod | kund
    číslo | szám | cod | broj | номер | код | numeris | numurs | αριθμός | numara | 番号 | コード | 代码 | 번호 | 코드`),
  country: words(`
    location | nation | region country | eu land | iso code | iso | country of residence | address country | billing country | billing country code |
    billing country region | shipping country | shippingcountrycode | mailing country | mailing country code |
    bill to country | ship to country | parent country | 地域 | 地区 | région pays | regaddress country | entity headquartersaddress country`),
  registration_number: words(`
    registration | reg | business number | file number | handelsregister | immatriculation | registro mercantil | registro | register |
    company code | identification number | identifier | licence number | license number | national id`),
  vat_number: words(`
    tax | tax no | tax nr | tax id | tax number | tax code | tax identification number | tax registration number | tin |
    steuernummer | steuer nr | numero fiscal | identification fiscale | id fiscal | identificacion fiscal | numero fiscale | fiscal code | fiscal number`),
  ticker: words('symbol | symbole | simbolo | symbool'),
  city: words('place | mailing address city | shipping city | ship to city'),
  state: words('shipping state | area | gebiet | zone'),
};

/** One header, several meanings: what the column holds decides; where that says nothing, the first of them. */
export const EITHER: readonly (readonly [
  fields: readonly ('country' | 'state' | 'registration_number' | 'vat_number')[],
  headers: readonly string[],
])[] = [
  [
    ['vat_number', 'registration_number'],
    words(`
        uid | oib | uid nummer | uid nr | ide | idi | stcd1 | stcd2 | stcd3 | stcd4 | stcd5 | tax number 1 | tax number 2 |
        tax number 3 | tax number 4 | taxtype number | steuernummer 1 | steuernummer 2 | инн | инн кпп | inn | identyfikator podatkowy`),
  ],
  [
    ['registration_number', 'vat_number'],
    words(
      'cif | nif | nit | rut | ruc | rfc | cui | cui cif | cod fiscal | cif cui | cod unic de inregistrare | cuit | rif',
    ),
  ],
  [['country', 'state'], words('staat | stato | stát | land region | länder')],
];

/** A German court beside a number that needs one. */
export const COURTS: readonly string[] = words(`
  registergericht | amtsgericht | handelsregistergericht | register court | registering court | court of registration | local court | court |
  gericht | registerort | registergericht ort | handelsregister ort | hr gericht | hr ort | hrb ort |
  zuständiges registergericht | sitz des registergerichts | handelsregister amtsgericht | amtsgericht registergericht`);

/** The section of the German register, where it has a column of its own. */
export const SECTIONS: readonly string[] = words(
  'registerart | hr abteilung | hr abt | abteilung | registerabteilung | handelsregister art | register type | hr art',
);

/** Headers that mean something, and nothing that we read: what such a column holds is not taken for anything else. */
export const OTHER: readonly string[] = words(`
  address | street | address line 1 | address line 2 | address1 | address2 | billing street | billing address | house number | po box | po box number |
  zip | zip code | postal code | postcode | billing zip | billing postal code | pstlz | stras | stras1 | bukrs |
  ktokk | ktokd | spras | sortl | waers | zterm | ernam | erdat | name2 | name3 | name4 | sperr | loevm | ekorg | vkorg | brsch | adrnr
  fax | fax number | telfx | mobile | mobile phone | cell | contact | contact name | contact person | first name | last name | surname | title of contact | job title | salutation |
  iban | bic | swift | bank account | bank account number | bank name | sort code | routing number | account balance | currency | amount | total | sum | balance |
  revenue | turnover | annual revenue | spend | spend eur | employees | number of employees | headcount | year | founded | year founded | date | created | created date |
  last modified | last modified date | modified on | owner | account owner | status | type | industry | sic | sic code | nace | nace code | naics | naics code | category | segment | comment | comments | note | notes | remark | remarks |
  duns | duns number | isin | cusip | sedol | wkn | lat | latitude | lon | longitude | language | rating | score | limit | credit limit | payment terms | invoice number | invoice | order number | quantity
  strasse | adresse | anschrift | hausnummer | postfach | plz | postleitzahl | telefax | ansprechpartner | vorname | nachname | anrede | kontonummer | bankleitzahl | blz | bank | währung | betrag |
  umsatz | summe | saldo | mitarbeiter | anzahl mitarbeiter | gründungsjahr | datum | erstellt am | geändert am | buchungskreis | branche | bemerkung | bemerkungen | notiz | zahlungsbedingung | steuerberater | sachbearbeiter
  rue | code postal | cp | telecopie | prenom | montant | chiffre d'affaires | effectif | secteur | remarque | date de creation | code naf | code ape | naf
  direccion | calle | codigo postal | movil | contacto | apellidos | importe | facturacion | empleados | sector | observaciones | fecha
  indirizzo | via | cap | cellulare | contatto | cognome | importo | fatturato | dipendenti | settore | data
  adres | straat | huisnummer | contactpersoon | voornaam | achternaam | bedrag | omzet | opmerking
  ulica | kod pocztowy | kwota | obrót | uwagi | adresa | psč | ulice | cím | irányítószám | cod poștal | ulica i broj | poštanski broj
  адрес | улица | индекс | почтовый индекс | телефон факс | сумма | дата | кпп | окпо | адреса | індекс
  adres satırı | posta kodu | adresi | tutar | tarih | vergi dairesi | ilçe | διεύθυνση | τκ | δου
  住所 | 郵便番号 | 代表者 | 代表者名 | 担当者 | 資本金 | 設立 | 備考 | 地址 | 邮编 | 法定代表人 | 注册资本 | 成立日期 | 备注 | 联系人 | 주소 | 우편번호 | 대표자 | 대표자명 | 비고`);
