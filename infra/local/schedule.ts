// EventBridge's schedule expressions: `rate(5 minutes)` and `cron(0 8 ? * MON-FRI *)`.

/** Tells, minute by minute, whether a schedule is due. */
export interface Rate {
  text: string;
  /** @param minute minutes since the epoch; @param since the minute in which the schedule began */
  isDue(minute: number, since: number): boolean;
}

const UNIT_MINUTES: Readonly<Record<string, number>> = { minute: 1, hour: 60, day: 1440 };
const MINUTE_MS = 60_000;

/**
 * @param timezone an IANA name; EventBridge's rules are in UTC, its scheduler's may name one
 * @returns undefined for an expression that is not run here
 */
export function parseRate(text: string, timezone = "UTC"): Rate | undefined {
  const rate = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(text);
  if (rate) {
    const every = Number(rate[1]) * UNIT_MINUTES[rate[2]!]!;
    return every
      ? { text, isDue: (minute, since) => minute > since && (minute - since) % every === 0 }
      : undefined;
  }
  const cron = /^cron\((.*)\)$/.exec(text);
  const fields = cron?.[1]?.trim().split(/\s+/) ?? [];
  if (fields.length !== FIELDS.length) return undefined;
  const allowed = fields.map((field, i) => readField(field, FIELDS[i]!));
  if (allowed.includes(undefined)) return undefined;
  return {
    text,
    isDue: (minute) => wallClock(minute * MINUTE_MS, timezone).every((value, i) => allowed[i]!.has(value)),
  };
}

interface Field {
  min: number;
  max: number;
  /** Names in order, the first being `min`. */
  names?: readonly string[];
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** Minutes, hours, day of month, month, day of week (1 is Sunday), year. */
const FIELDS: readonly Field[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 1, max: 7, names: DAYS },
  { min: 1970, max: 2199 },
];

/** @returns undefined for what is not understood: L, W and # are EventBridge's own and not run here */
function readField(text: string, { min, max, names = [] }: Field): ReadonlySet<number> | undefined {
  const values = new Set<number>();
  const read = (word: string) =>
    names.includes(word) ? min + names.indexOf(word) : Number(word || Number.NaN);
  for (const part of text.toUpperCase().split(",")) {
    const [range = "", step = "1"] = part.split("/");
    const [low, high] = range === "*" || range === "?" ? [min, max] : range.split("-").map(read);
    const last = high ?? (part.includes("/") ? max : low);
    const by = Number(step);
    if (![low, last, by].every(Number.isInteger) || by < 1 || low! < min || last! > max) return undefined;
    for (let value = low!; value <= last!; value += by) values.add(value);
  }
  return values;
}

function wallClock(at: number, timeZone: string): number[] {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    weekday: "short",
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((found) => found.type === type)!.value;
  const weekday = 1 + DAYS.indexOf(part("weekday").toUpperCase());
  return [part("minute"), part("hour"), part("day"), part("month"), weekday, part("year")].map(Number);
}
