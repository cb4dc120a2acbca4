/** The last column that Excel has, XFD, counted from 0. */
const LAST_COLUMN = 16_383;

/** The column of a place such as `AB12`, counted from 0; -1 if it is none. */
export function columnIndex(place: string): number {
  let index = 0;
  for (let at = 0; at < place.length; at++) {
    const code = place.charCodeAt(at);
    if (code >= 65 && code <= 90) index = index * 26 + code - 64;
    else if (code >= 97 && code <= 122) index = index * 26 + code - 96;
    else if (at > 0 && code >= 48 && code <= 57) return index - 1 <= LAST_COLUMN ? index - 1 : -1;
    else return -1;
  }
  return -1;
}
