import type { InputField } from './types.js';

/** Headers seen in analysts' files that mean a field; those that come first are meant before those that come later. */
export const synonymsOf = (field: InputField): readonly string[] =>
  [WESTERN, SYSTEMS, EASTERN, ASIAN].flatMap((headers) => headers[field] ?? []);

/** Headers by what they mean. Case, accents, spaces and punctuation do not matter. */
export type HeaderWords = Readonly<Partial<Record<InputField, readonly string[]>>>;

/** One list as it is written in these files: between bars and at line ends. */
function words(list: string): readonly string[] {
  return list
    .split(/[|\n]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/**
 * Headers in English, German, French, Spanish, Italian, Dutch, Polish, Portuguese and the Nordic languages, for what
 * they mean wherever they stand.
 */
const WESTERN: HeaderWords = {
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

/** What programs call their columns: SAP, Salesforce, HubSpot, Dynamics, NetSuite, DATEV, Oracle, Coupa, OpenCorporates. */
const SYSTEMS: HeaderWords = {
  name: words(`
    name1 | name org1 | mc name1 | mcod1 | bu nameorg1 | name of supplier | name of customer | supplier name 1
    account account name | parent company name | company account name | billing company | bill to name |
    company or organization | associated company
    name adressattyp unternehmen | firma unternehmen | unternehmen name | kontobeschriftung | lieferantenname 1 | kundenname 1
    vendor legal name | supplier legal name | company legal entity name | current legal name | normalised name | company name latin alphabet | company name native alphabet | name legal form | entity legalname | legalname`),
  country: words(`
    land1 | country key | country region key | address1 country | address 1 country region |
    company country region | isoland | laenderschluessel | landerschlussel | lkz | laenderkennzeichen |
    landerkennzeichen | country alpha 2 | country iso2 | country code iso | primary address country | vendor country |
    supplier country | customer country | account country | home jurisdiction | cty | country of origin | entity legaljurisdiction | entity legaladdress country`),
  registration_number: words(`
    handelsregistereintrag | hreg nr | hreg nummer | crefo register |
    company registration nr | registrationnumber | registration no local |
    national id number | legal registration number | registered company number | company house number | coc number | coc |
    chamber of commerce number | kvk no | siren number | siret number | companies house | bolagets orgnr |
    abn | nzbn | cnpj | roc | cin | cik number`),
  vat_number: words(`
    stceg | vat reg number | vat registration | vatnumber | vat number 1 | vat registration id | eu ust idnr | eu ustid |
    ust id nr kunde | vat reg no local | vat reg | sales tax id | vat identification no | vatin`),
  city: words(`
    ort01 | city1 | address1 city | billing city | mailing city | bill to city | company city name |
    account city | vendor city | supplier city | customer city | primary address city | registered office city | registered office`),
  state: words(`
    regio region | state region code | address1 stateorprovince | address 1 state province | billing state | billing state province |
    billingstatecode | mailing state | bill to state | company state | account state | state or region`),
  id: words(`
    kunnr | lifnr | partner bu partner | business partner | business partner number | bp number |
    salesforce id | sfdc id | hubspot id | company record id | hs object id |
    debitoren nr | kreditoren nr | debitorenkonto | kreditorenkonto | personenkonto | personenkontonummer | geschaeftspartner nr |
    customer code | supplier code | vendor code | client code | account code | partner code | customer account | vendor account |
    entity internal id | legacy id | bvd id number | bvd id | source id | dossier nr | mandant nr | adressnummer | a c | a c ref | account ref | account reference`),
  website: words('company domain name | web site address | account website | billing website | address1 url'),
  phone: words('telf1 | telephone 1 | main telephone | phone number 1 | company phone number | account phone'),
  email: words('smtp addr | emailaddress1 | general email'),
};

/**
 * Headers in Czech, Slovak, Hungarian, Romanian, Croatian, Serbian, Slovene, Bulgarian, Russian, Ukrainian, Lithuanian,
 * Latvian, Estonian, Finnish, Greek and Turkish.
 */
const EASTERN: HeaderWords = {
  name: words(`
    název společnosti | název firmy | obchodní firma | obchodní jméno | společnost | jméno firmy | obchodné meno |
    názov spoločnosti | názov firmy | spoločnosť
    cégnév | cég neve | vállalat neve | társaság neve | társaság | cég | ügyfél neve | partner neve | szállító neve
    denumire firmă | denumire societate | denumirea societății | denumire companie | nume firmă | nume companie |
    nume societate | societate | companie | denumire client | denumire furnizor
    naziv tvrtke | naziv poduzeća | naziv društva | tvrtka | naziv firme | poduzeće | naziv podjetja | ime podjetja |
    podjetje
    име на фирмата | наименование на фирмата | име на дружеството | фирма | дружество
    наименование организации | наименование компании | наименование юридического лица | полное наименование |
    название компании | название организации | краткое наименование | сокращенное наименование | компания |
    организация | юридическое лицо | наименование контрагента | наименование поставщика
    назва компанії | назва організації | назва підприємства | повна назва | найменування юридичної особи | компанія |
    підприємство | організація
    įmonės pavadinimas | bendrovės pavadinimas | įmonė | bendrovė
    uzņēmuma nosaukums | uzņēmums | sabiedrības nosaukums | firmas nosaukums
    ettevõtte nimi | äriühingu nimi | ettevõte | ärinimi | firma nimi
    yritys | yhtiö | toiminimi | asiakkaan nimi | toimittajan nimi | yhtiön nimi
    επωνυμία | επωνυμία εταιρείας | όνομα εταιρείας | εταιρεία | επωνυμία επιχείρησης | εταιρία
    şirket adı | şirket ünvanı | firma adı | firma ünvanı | ticaret ünvanı | ticari unvan | şirket | unvan | ünvanı |
    cari unvan | müşteri adı | tedarikçi adı | kuruluş adı`),
  country: words(`
    země | kód země | stát sídla | krajina | kód krajiny
    ország | országkód | székhely ország
    țară | cod țară
    zemlja | država | šifra države | oznaka države | koda države
    държава | страна | код на държавата
    страна регистрации | код страны
    країна | код країни | країна реєстрації
    šalis | šalies kodas | valstybė
    valsts | valsts kods
    riik | riigi kood | maakood
    kotimaa | maakoodi | valtio
    χώρα | κωδικός χώρας
    ülke | ülke kodu | ülke adı`),
  registration_number: words(`
    ič | ičo | identifikační číslo | identifikačné číslo | ič společnosti | spisová značka
    cégjegyzékszám | nyilvántartási szám
    nr reg com | nr registrul comerțului | nr orc | număr de înregistrare | nr înregistrare | numar registru comert |
    nr reg comertului
    matični broj | mbs | matična številka | matična št | registarski broj
    еик | булстат | еик булстат | единен идентификационен код
    огрн | огрнип | регистрационный номер | номер регистрации
    єдрпоу | код єдрпоу | едрпоу | код едрпоу | реєстраційний номер
    įmonės kodas | juridinio asmens kodas | registracijos numeris
    reģistrācijas numurs | vienotais reģistrācijas numurs | reģistrācijas nr
    registrikood | registrinumber | äriregistri kood
    yritystunnus | rekisterinumero | kaupparekisterinumero
    αρ γεμη | γεμη | αριθμός γεμη | αριθμός μητρώου | αρμαε
    mersis no | mersis | mersis numarası | ticaret sicil no | ticaret sicil numarası | sicil no | sicil numarası`),
  vat_number: words(`
    dič | ič dph | daňové identifikační číslo | daňové identifikačné číslo
    adószám | közösségi adószám | eu adószám
    cod tva | cod de înregistrare în scopuri de tva
    pdv broj | pdv id | id za ddv | davčna številka | id št za ddv | pib
    ддс номер | ин по ддс | номер по ддс
    іпн | податковий номер
    pvm kodas | pvm mokėtojo kodas
    pvn numurs | pvn reģistrācijas numurs | pvn nr
    kmkr | kmkr nr | kmkr number | käibemaksukohustuslase number
    alv tunnus | vat tunnus | alv nro
    αφμ | αριθμός φορολογικού μητρώου
    vergi no | vergi numarası | vergi kimlik no | vergi kimlik numarası | vkn`),
  city: words(`
    město | obec | sídlo | város | település | székhely | oraș | localitate | grad | град | населено място | город |
    населенный пункт | місто | miestas | pilsēta | linn | πόλη | şehir | il ilçe`),
  state: words(`
    okres | megye | județ | županija | област | регион | область | apskritis | maakond | maakunta | νομός | il | eyalet`),
  id: words(`
    číslo zákazníka | kód zákazníka | číslo dodavatele | číslo partnera | kód partnera
    ügyfélkód | vevőkód | partnerkód | szállítókód | azonosító
    cod client | cod furnizor | cod partener
    šifra kupca | šifra partnera | šifra dobavljača | šifra
    клиентски номер | код на клиент
    код клиента | код контрагента | код поставщика | номер клиента | идентификатор
    код клієнта | ідентифікатор
    kliento kodas | tiekėjo kodas | klienta kods | klienta numurs | kliendi kood | kliendinumber | toimittajanumero |
    asiakasnro | asiakastunnus
    κωδικός πελάτη | κωδικός προμηθευτή | κωδικός
    müşteri no | müşteri kodu | cari kod | cari kodu | tedarikçi kodu | tedarikçi no | tedarikçi numarası | hesap kodu | müşteri numarası`),
  website: words(
    'webová stránka | weboldal | honlap | site web firmă | web stranica | уебсайт | сайт | веб сайт | svetainė | tīmekļa vietne | koduleht | ιστοσελίδα | web sitesi',
  ),
  phone: words('telefonní číslo | telefonszám | телефон | telefonas | tālrunis | telefoninumber | τηλέφωνο'),
  email: words('elektronická pošta | e mail cím | имейл | электронная почта | почта | el paštas | e pasts | e posta'),
};

/** Headers in Japanese, Chinese (both scripts), Korean, Thai, Vietnamese, Indonesian, Arabic and Hebrew. */
const ASIAN: HeaderWords = {
  name: words(`
    会社名 | 企業名 | 商号 | 商号又は名称 | 法人名 | 名称 | 取引先名 | 顧客名 | 得意先名 | 仕入先名 | 会社名称 | 社名
    公司名称 | 公司名 | 企业名称 | 企业名 | 单位名称 | 客户名称 | 供应商名称 | 公司 | 法人名称 | 公司全称 | 企业全称
    公司名稱 | 企業名稱 | 客戶名稱 | 供應商名稱 | 廠商名稱
    회사명 | 기업명 | 법인명 | 상호 | 상호명 | 업체명 | 거래처명 | 고객사명 | 회사 이름 | 회사
    ชื่อบริษัท | ชื่อนิติบุคคล | tên công ty | tên doanh nghiệp | nama perusahaan
    اسم الشركة | الشركة | اسم المؤسسة | اسم المنشأة
    שם החברה | שם חברה | חברה | שם העסק | שם הספק | שם הלקוח`),
  country: words(`
    国 | 国名 | 国コード | 所在国 | 国家 | 国家代码 | 国别 | 国家地区 | 國家 | 國別 | 국가 | 국가명 | 국가코드 | 나라
    ประเทศ | quốc gia | negara | البلد | الدولة | بلد | رمز الدولة | מדינה | ארץ | קוד מדינה`),
  registration_number: words(`
    法人番号 | 会社法人等番号 | 登記番号 | 登録番号 | 会社番号
    统一社会信用代码 | 社会信用代码 | 信用代码 | 注册号 | 工商注册号 | 营业执照号 | 营业执照注册号 | 统一信用代码 | 注册编号
    統一編號 | 統編 | 公司編號 | 註冊號碼
    사업자등록번호 | 법인등록번호 | 등록번호 | 사업자번호 | 법인번호
    เลขทะเบียนนิติบุคคล | เลขทะเบียน | mã số doanh nghiệp | nomor induk berusaha
    السجل التجاري | رقم السجل التجاري | رقم التسجيل
    מספר חברה | ח פ | מס חברה | מספר תאגיד`),
  vat_number: words(`
    課税事業者番号 | インボイス登録番号 | 税号 | 纳税人识别号 | 税务登记号 | 稅號 | 세금번호 | 납세자번호
    เลขประจำตัวผู้เสียภาษี | mã số thuế | npwp | الرقم الضريبي | رقم ضريبة القيمة المضافة | מספר עוסק | עוסק מורשה | עוסק`),
  city: words('市区町村 | 所在地市 | 市 | 城市 | 所在城市 | 도시 | 시 | เมือง | thành phố | kota | المدينة | עיר'),
  state: words('都道府県 | 省 | 省份 | 省市 | 도 | 시도 | จังหวัด | tỉnh | provinsi | المحافظة | המחוז'),
  id: words(`
    取引先コード | 顧客コード | 顧客番号 | 得意先コード | 仕入先コード | 管理番号 | 会社コード
    客户编号 | 客户代码 | 供应商编号 | 供应商代码 | 编号 | 客戶編號 | 供應商編號
    거래처코드 | 고객번호 | 고객코드 | 관리번호 | mã khách hàng | kode pelanggan | رقم العميل | رمز العميل | מספר לקוח | מספר ספק`),
  website: words('ホームページ | ウェブサイト | 网站 | 网址 | 網站 | 홈페이지 | 웹사이트 | الموقع الإلكتروني | אתר'),
  phone: words('電話番号 | 電話 | 电话 | 联系电话 | 전화번호 | 전화 | الهاتف | טלפון'),
  email: words('メールアドレス | メール | 电子邮件 | 邮箱 | 이메일 | البريد الإلكتروني | דוא ל | אימייל'),
};

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
