const DAY_MS = 86_400_000;
/** 9999-12-31 in days from 1900 on. */
const LAST_DAY = 2_958_465;
/** Excel's 1900 has a 29th of February, which is day 60: days behind it are one too many. */
const LEAP_DAY = 60;

/** A day counted from 1900 or 1904 on, as `2025-12-31` or `2025-12-31T08:30:00`, with a part of a second where it has one; undefined if it is no date. */
export function dateText(serial: number, from1904: boolean, withTime: boolean): string | undefined {
  if (!(serial >= 1) && !(from1904 && serial >= 0)) return undefined;
  if (serial > LAST_DAY) return undefined;
  let { days, ms } = split(serial);
  if (!withTime) {
    days = Math.floor(serial);
    ms = 0;
  }
  if (!from1904 && days === LEAP_DAY) return undefined;
  const sinceEpoch = from1904 ? days - 24_107 : days < LEAP_DAY ? days - 25_568 : days - 25_569;
  const date = isoDay(sinceEpoch);
  return withTime ? `${date}T${clockText(ms)}` : date;
}

const isoDays = new Map<number, string>();
const DAYS_REMEMBERED = 20_000;

/** Remembered, as a list has the same days over and over, and working one out takes longer than reading its cell. */
function isoDay(sinceEpoch: number): string {
  let day = isoDays.get(sinceEpoch);
  if (day === undefined) {
    day = new Date(sinceEpoch * DAY_MS).toISOString().slice(0, 10);
    if (isoDays.size >= DAYS_REMEMBERED) isoDays.clear();
    isoDays.set(sinceEpoch, day);
  }
  return day;
}

/** The time of day, as `08:30:00`; undefined for a whole day and more. */
export function timeText(serial: number): string | undefined {
  if (!(serial >= 0 && serial < 1)) return undefined;
  const { days, ms } = split(serial);
  return days === 0 ? clockText(ms) : undefined;
}

/** No finer than Excel shows: a double has less than a thousandth of a second to lose. */
function split(serial: number): { days: number; ms: number } {
  const whole = Math.floor(serial);
  const ms = Math.round((serial - whole) * DAY_MS);
  return ms === DAY_MS ? { days: whole + 1, ms: 0 } : { days: whole, ms };
}

function clockText(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return ms % 1_000 === 0 ? clock : `${clock}.${String(ms % 1_000).padStart(3, '0')}`;
}
