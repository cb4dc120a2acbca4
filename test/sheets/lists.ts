/** Companies and cities of many countries, and the encodings in which computers there save them. */
export const LISTS: readonly {
  readonly language: string;
  readonly encoding: string;
  readonly names: readonly string[];
}[] = [
  list(
    'German',
    'windows-1252',
    'Müller & Söhne GmbH;Köln|Bäckerei Weiß KG;Düsseldorf|Gebrüder Häußler AG;München|Öko-Energie GmbH;Nürnberg|Übersee Handel;Lübeck|Schröder Werkzeugbau;Göttingen|Jäger Bürobedarf;Würzburg|Größle Möbel;Tübingen',
  ),
  list(
    'French',
    'windows-1252',
    'Société Générale;Orléans|Crédit Foncière de l’Île;Saint-Étienne|Hôtels et Forêts SARL;Besançon|Électricité réseau à façade;Béziers|Chêne et Bâtiment;Nîmes|Crèmerie Lefèvre;Évreux|Pâtisserie Mère Noël;Angoulême'.replaceAll(
      '’',
      "'",
    ),
  ),
  list(
    'Spanish',
    'windows-1252',
    'Construcciones Muñoz S.L.;A Coruña|Compañía Española;Málaga|Áridos García;Cádiz|Panadería Núñez;León|Distribución Rodríguez;Córdoba|Logística Peñalver;Mérida',
  ),
  list(
    'Nordic',
    'windows-1252',
    'Sørensen Møbler ApS;København|Åkerström Skog AB;Örebro|Hærværk A/S;Århus|Fjärrvärme Sjöberg;Malmö|Bjørnstad Båt AS;Tromsø|Väylä Oy;Jyväskylä|Skåne Mjölk;Ängelholm',
  ),
  list(
    'Portuguese',
    'windows-1252',
    'Construções João Ltda;São Paulo|Alimentação Irmãos;Brasília|Indústria de Calções;Goiânia|Órgãos e Fogões;Maranhão|Padaria Pão Bom;Évora|Comércio Conceição;Setúbal',
  ),
  list(
    'European',
    'windows-1252',
    'Müller GmbH;Köln|Société Générale;Orléans|Compañía Española;Málaga|Sørensen Møbler;København|Construções João;São Paulo|Città Società;Forlì|Åkerström Skog;Örebro|Bäckerei Weiß;Düsseldorf|Crèmerie Lefèvre;Évreux|Fjärrvärme;Malmö',
  ),
  list(
    'Polish',
    'windows-1250',
    'Szkłopol Sp. z o.o.;Łódź|Żabka Polska;Poznań|Zakład Przemysłowy Gdańsk;Gdańsk|Księgarnia Wrocławska;Wrocław|Spółdzielnia Mleczarska;Białystok|Hurtownia Części;Częstochowa|Usługi Świętokrzyskie;Kielce',
  ),
  list(
    'Czech',
    'windows-1250',
    'Dvořák a synové s.r.o.;Plzeň|Česká železářská a.s.;Ústí nad Labem|Pekařství U Růže;Hradec Králové|Výroba nábytku Černý;České Budějovice|Řeznictví Šťastný;Olomouc|Stavební společnost Příbram;Příbram|Měřicí přístroje;Znojmo',
  ),
  list(
    'Hungarian',
    'windows-1250',
    'Erdősi Kft.;Győr|Fűtéstechnika Zrt.;Székesfehérvár|Kovács és Társa Bt.;Szolnok|Vízügyi Építő;Szentendre|Sütőipari Nyrt.;Kecskemét|Műszergyár;Gödöllő|Hőerőmű Üzemeltető;Dunaújváros|Gyógyszertár Őrség;Körmend',
  ),
  list(
    'Slovak',
    'windows-1250',
    'Mäsovýroba Kováč s.r.o.;Košice|Slovenské železnice;Žilina|Stolárstvo Ľubomír;Liptovský Mikuláš|Pekáreň Váh;Piešťany|Účtovníctvo Nováková;Prešov|Strojáreň Považská;Považská Bystrica',
  ),
  list(
    'Croatian',
    'windows-1250',
    'Šumarija Đurđevac d.o.o.;Đurđevac|Pčelarstvo Marić;Čakovec|Građevina Žagar;Požega|Vinarija Kovačević;Šibenik|Trgovina Ćosić;Varaždin|Prijevoz Jurišić;Križevci',
  ),
  list(
    'Russian',
    'windows-1251',
    'ООО Ромашка;Москва|ЗАО Технопромэкспорт;Санкт-Петербург|ПАО Газпром нефть;Омск|Завод железобетонных изделий;Екатеринбург|Торговый дом Восход;Казань|Агрофирма Юбилейная;Краснодар',
  ),
  list(
    'Ukrainian',
    'windows-1251',
    'ТОВ Київстар;Київ|Підприємство Західне;Львів|Фірма Єдність;Чернівці|Завод Південмаш;Дніпро|Хлібокомбінат;Вінниця|Виробництво меблів;Рівне',
  ),
  list(
    'Greek',
    'windows-1253',
    'Ελληνικά Πετρέλαια Α.Ε.;Αθήνα|Εταιρεία Μεταφορών;Θεσσαλονίκη|Αφοί Παπαδόπουλοι;Πάτρα|Οινοποιία Κρήτης;Ηράκλειο|Ναυτιλιακή Αιγαίου;Πειραιάς|Τεχνική Κατασκευαστική;Λάρισα',
  ),
  list(
    'Turkish',
    'windows-1254',
    'Türkiye Şişe ve Cam Fabrikaları A.Ş.;İstanbul|Yıldız Gıda Sanayi;İzmir|Güneş Sigorta;Eskişehir|Çelik Boru Ltd. Şti.;Gaziantep|Doğuş İnşaat;Muğla|Kardeşler Mobilya;Diyarbakır|Öztürk Ağaç;Kütahya',
  ),
  list(
    'Lithuanian',
    'windows-1257',
    'UAB Šiaulių pramonė;Šiauliai|Žemės ūkio bendrovė;Panevėžys|Statybų įmonė Ąžuolas;Klaipėda|UAB Mėsos gaminiai;Kėdainiai|Vilniaus šilumos tinklai;Vilnius|Lietuvos geležinkeliai;Mažeikiai|Čiurlionio spaustuvė;Ukmergė',
  ),
  list(
    'Latvian',
    'windows-1257',
    'SIA Rīgas siltums;Rīga|Latvijas dzelzceļš;Daugavpils|Ķīmiskā tīrītava;Jūrmala|Mēbeļu ražotne Ozols;Liepāja|Būvniecības uzņēmums;Rēzekne|Zvejnieku kooperatīvs;Ventspils|Ģimenes ārsts;Cēsis',
  ),
  list(
    'Hebrew',
    'windows-1255',
    'שופרסל בעמ;ראשון לציון|בנק הפועלים;תל אביב|אלקטרה תעשיות;ירושלים|מפעלי ים המלח;סדום|חברת החשמל לישראל;חיפה|טבע תעשיות פרמצבטיות;פתח תקווה|סלקום ישראל;נתניה',
  ),
  list(
    'Hebrew',
    'cp862',
    'שופרסל בעמ;ראשון לציון|בנק הפועלים;תל אביב|אלקטרה תעשיות;ירושלים|מפעלי ים המלח;סדום|חברת החשמל לישראל;חיפה|טבע תעשיות פרמצבטיות;פתח תקווה|סלקום ישראל;נתניה',
  ),
  list(
    'Arabic',
    'windows-1256',
    'شركة النيل للتجارة;القاهرة|مصنع القاهرة للصلب;الجيزة|البنك الأهلي المصري;الإسكندرية|شركة الاتصالات السعودية;الرياض|مجموعة الخليج للاستثمار;الكويت|شركة دبي للعقارات;دبي|مؤسسة الأردن للنقل;عمان',
  ),
  list(
    'Arabic',
    'iso-8859-6',
    'شركة النيل للتجارة;القاهرة|مصنع القاهرة للصلب;الجيزة|البنك الأهلي المصري;الإسكندرية|شركة الاتصالات السعودية;الرياض|مجموعة الخليج للاستثمار;الكويت|شركة دبي للعقارات;دبي|مؤسسة الأردن للنقل;عمان',
  ),
  list(
    'Thai',
    'windows-874',
    'บริษัท ปตท จำกัด;กรุงเทพ|ธนาคารกรุงเทพ จำกัด;กรุงเทพ|บริษัท ไทยเบฟ จำกัด;นนทบุรี|โรงแรมเชียงใหม่;เชียงใหม่|บริษัท น้ำตาลมิตรผล;สุพรรณบุรี|ห้างหุ้นส่วน สมบูรณ์;ชลบุรี',
  ),
  list(
    'Japanese',
    'shift_jis',
    '株式会社山田製作所;東京都|トヨタ自動車株式会社;愛知県豊田市|有限会社さくら;大阪府|日本電気株式会社;東京都港区|三菱商事株式会社;東京都千代田区|ソニーグループ株式会社;東京都|株式会社みずほ銀行;千代田区',
  ),
  list(
    'Japanese',
    'euc-jp',
    '株式会社山田製作所;東京都|トヨタ自動車株式会社;愛知県豊田市|有限会社さくら;大阪府|日本電気株式会社;東京都港区|三菱商事株式会社;東京都千代田区|ソニーグループ株式会社;東京都',
  ),
  list(
    'Chinese',
    'gb18030',
    '上海汽车集团股份有限公司;上海市|华为技术有限公司;深圳市|北京百度网讯科技有限公司;北京市|中国石油化工集团有限公司;北京市|珠海格力电器股份有限公司;珠海市|青岛海尔智家有限公司;青岛市',
  ),
  list(
    'Korean',
    'euc-kr',
    '삼성전자 주식회사;수원시|주식회사 엘지화학;서울특별시|현대자동차 주식회사;서울특별시|한국전력공사;나주시|포스코홀딩스 주식회사;포항시|네이버 주식회사;성남시',
  ),
];

function list(language: string, encoding: string, text: string) {
  return { language, encoding, names: text.split('|') };
}
