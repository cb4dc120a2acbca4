import { plain } from '../names.js';
import { at, hash, Permutation } from '../random.js';

const firstNames =
  'Anna Ben Chloë Daniel Émilie Fatima George Hannah Ivan Jürgen Katarzyna Liam María Noah Olga Pierre Quentin Ruth Søren Thomas Ulrike Victor Wei Xavier Yuki Zoë Ahmed Björn Carlos Dmitri Elena François Giulia Hiroshi Ingrid José Karin Luca Magnus Nadia Oskar Paula Rafael Sofia Tomasz Umar Valérie William Yasmin Zbigniew Aoife Bram Ciarán Dagmar Eoin Freya Gustav Helle Ines Jan Kees Lars Mei Nils'.split(
    ' ',
  );

const lastNames =
  "Smith Jones Taylor Brown Williams Wilson Johnson Davies Patel Wright Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Martin Bernard Dubois Thomas Robert Richard Petit Durand Leroy Moreau García Fernández González Rodríguez López Martínez Sánchez Pérez Gómez Ruiz Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Jansen Bakker Visser Smit Meijer Mulder Bos Vos Peters Hendriks Andersson Johansson Karlsson Nilsson Eriksson Larsen Olsen Hansen Nielsen Pedersen Korhonen Virtanen Mäkinen Nieminen Mäkelä Kowalski Nowak Wiśniewski Wójcik Kamiński Novák Svoboda Dvořák Černý Horák O'Brien O'Connor Murphy Kelly Byrne Walsh Ryan Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Tanaka Suzuki Sato Takahashi Watanabe Tan Lim Lee Ng Goh Cohen Levi Mizrahi Peretz Biton Silva Santos Oliveira Souza Lima Costa Pereira Gruber Huber Bauer Steiner".split(
    ' ',
  );

const CODES = firstNames.length * lastNames.length;
/** A stride that shares no factor with common sizes keeps a company's people apart. */
const STRIDE = 7_919;

export interface PersonName {
  readonly first: string;
  readonly last: string;
}

/** Names of people, drawn so that a name leads back to the companies where it appears. */
export interface Persons {
  nameOf(index: number, place: number): PersonName;
  /** Companies where the person at one of the first `places` places can have this name: every word must fit. */
  find(text: string, places: number): Iterable<{ readonly index: number; readonly place: number }>;
}

export function createPersons(seed: number, size: number, salt: number): Persons {
  const shuffle = new Permutation(size, hash(seed, salt, 71));
  return {
    nameOf: (index, place) => {
      const code = shuffle.forward((index + place * STRIDE) % size) % CODES;
      return {
        first: at(firstNames, Math.floor(code / lastNames.length)),
        last: at(lastNames, code % lastNames.length),
      };
    },
    find: function* (text, places) {
      for (const code of codesFor(plain(text))) {
        for (let position = code; position < size; position += CODES) {
          const start = shuffle.backward(position);
          for (let place = 0; place < places; place++) {
            const index = (start - ((place * STRIDE) % size) + size) % size;
            yield { index, place };
          }
        }
      }
    },
  };
}

const plainFirst = firstNames.map(plain);
const plainLast = lastNames.map(plain);

/** Every word of the text begins the first or the last name. */
function* codesFor(text: string): Iterable<number> {
  const words = text.split(' ').filter((word) => word !== '');
  if (words.length === 0) return;
  for (const [f, first] of plainFirst.entries()) {
    const left = words.filter((word) => !first.startsWith(word));
    if (left.length > 1) continue;
    for (const [l, last] of plainLast.entries()) {
      if (left.every((word) => last.startsWith(word))) yield f * plainLast.length + l;
    }
  }
}
