import { type HeaderWords, words } from './words.js';

/**
 * Headers in Czech, Slovak, Hungarian, Romanian, Croatian, Serbian, Slovene, Bulgarian, Russian, Ukrainian, Lithuanian,
 * Latvian, Estonian, Finnish, Greek and Turkish.
 */
export const EASTERN: HeaderWords = {
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
