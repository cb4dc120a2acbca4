import { type HeaderWords, words } from './words.js';

/** What programs call their columns: SAP, Salesforce, HubSpot, Dynamics, NetSuite, DATEV, Oracle, Coupa, OpenCorporates. */
export const SYSTEMS: HeaderWords = {
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
