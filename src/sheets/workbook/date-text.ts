const SECONDS = 86_400;
const DAY_MS = SECONDS * 1_000;
/** 9999-12-31 in days from 1900 on. */
const LAST_DAY = 2_958_465;
/** Excel's 1900 has a 29th of February, which is day 60: days behind it are one too many. */
const LEAP_DAY = 60;

/** A day counted from 1900 or 1904 on, as `2025-12-31` or `2025-12-31T08:30:00`; undefined if it is no date. */
export function dateText(serial: number, from1904: boolean, withTime: boolean): string | undefined {
  if (!(serial >= 1) && !(from1904 && serial >= 0)) return undefined;
  if (serial > LAST_DAY) return undefined;
  let { days, seconds } = split(serial);
  if (!withTime) {
    days = Math.floor(serial);
    seconds = 0;
  }
  if (!from1904 && days === LEAP_DAY) return undefined;
  const sinceEpoch = from1904 ? days - 24_107 : days < LEAP_DAY ? days - 25_568 : days - 25_569;
  const date = isoDay(sinceEpoch);
  return withTime ? `${date}T${clockText(seconds)}` : date;
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
  const { days, seconds } = split(serial);
  return days === 0 ? clockText(seconds) : undefined;
}

function split(serial: number): { days: number; seconds: number } {
  const whole = Math.floor(serial);
  const seconds = Math.round((serial - whole) * SECONDS);
  return seconds === SECONDS ? { days: whole + 1, seconds: 0 } : { days: whole, seconds };
}

function clockText(seconds: number): string {
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
