// Days and times of the one form in which papers write them; any other form is refused, as a paper in it would be.

const floorDiv = (a, b) => Math.floor(a / b);
const toOrdinal = (year, month, day) => {  // days since 1 January of the year 1, by the proleptic calendar
  const y = month <= 2 ? year - 1 : year, era = floorDiv(y, 400), of = y - era * 400;
  const inYear = floorDiv(153 * (month + (month > 2 ? -3 : 9)) + 2, 5) + day - 1;
  return era * 146097 + of * 365 + floorDiv(of, 4) - floorDiv(of, 100) + inYear - 306 + 1;
};
const fromOrdinal = (ordinal) => {
  const days = ordinal - 1 + 306, era = floorDiv(days, 146097), of = days - era * 146097;
  const inEra = floorDiv(of - floorDiv(of, 1460) + floorDiv(of, 36524) - floorDiv(of, 146096), 365);
  const rest = of - (365 * inEra + floorDiv(inEra, 4) - floorDiv(inEra, 100)), part = floorDiv(5 * rest + 2, 153);
  const month = part < 10 ? part + 3 : part - 9;
  return [inEra + era * 400 + (month <= 2 ? 1 : 0), month, rest - floorDiv(153 * part + 2, 5) + 1];
};
const monthLength = (year, month) => (month === 12 ? 31 : toOrdinal(year, month + 1, 1) - toOrdinal(year, month, 1));
const two = (number) => String(number).padStart(2, "0");
const bad = (said) => $.raised($.b.ValueError, said);
const checkDay = (year, month, day) => {
  if (!(year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= monthLength(year, month))) throw bad("no such day");
};
const dayText = (year, month, day) => `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;

$.Day = class Day {
  constructor(year, month, day) { checkDay(year, month, day); Object.assign(this, {year, month, day}); }
  get ordinal() { return toOrdinal(this.year, this.month, this.day); }
  rank() { return this.ordinal; }
  key() { return `d${this.ordinal}`; }
  equals(other) { return other instanceof Day && other.ordinal === this.ordinal; }
  text() { return dayText(this.year, this.month, this.day); }
  __add__(span) { return new Day(...fromOrdinal(this.ordinal + span.days)); }
};
$.Span = class Span { constructor(days) { this.days = days; } };
$.Zone = class Zone {
  constructor(seconds) { this.seconds = seconds; }
  text() {
    const size = Math.abs(this.seconds), parts = [floorDiv(size, 3600), floorDiv(size, 60) % 60, ...(size % 60 ? [size % 60] : [])];
    return (this.seconds < 0 ? "-" : "+") + parts.map(two).join(":");
  }
};
const UTC = new $.Zone(0);
$.Moment = class Moment {
  constructor(day, seconds, micro, zone) { Object.assign(this, {day, seconds, micro, zone}); }
  rank() { return (this.day.ordinal * 86400 + this.seconds - (this.zone?.seconds ?? 0)) * 1e6 + this.micro; }
  key() { return `m${this.rank()}`; }
  equals(other) { return other instanceof Moment && other.rank() === this.rank(); }
  text() {
    const clock = [floorDiv(this.seconds, 3600), floorDiv(this.seconds, 60) % 60, this.seconds % 60].map(two).join(":");
    return `${this.day.text()}T${clock}${this.micro ? `.${String(this.micro).padStart(6, "0")}` : ""}${this.zone ? this.zone.text() : ""}`;
  }
  in(zone) {
    const total = this.seconds - this.zone.seconds + zone.seconds, [year, month, day] = fromOrdinal(this.day.ordinal + floorDiv(total, 86400));
    if (year < 1 || year > 9999) throw $.raised($.b.OverflowError, "date value out of range");
    return new Moment(new $.Day(year, month, day), total - floorDiv(total, 86400) * 86400, this.micro, zone);
  }
};
const readDay = (text) => {
  const parts = typeof text === "string" && /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (typeof text !== "string") throw $.raised($.b.TypeError, "fromisoformat: argument must be str");
  if (!parts) throw bad("not a day");
  return new $.Day(...parts.slice(1).map(Number));
};
const readMoment = (text) => {
  if (typeof text !== "string") throw $.raised($.b.TypeError, "fromisoformat: argument must be str");
  const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{3}|\d{6}))?)?(Z|[+-]\d\d:\d\d(?::\d\d)?)?)?$/.exec(text);
  if (!form) throw bad("not a time");
  const [, day, hour = "0", minute = "0", second = "0", micro = "", offset] = form, [h, m, s] = [hour, minute, second].map(Number);
  if (h > 23 || m > 59 || s > 59) throw bad("no such time");
  let zone = null;
  if (offset === "Z") zone = UTC;
  else if (offset !== undefined) {
    const [hours, minutes, seconds = 0] = offset.slice(1).split(":").map(Number);
    if (hours > 23 || minutes > 59 || seconds > 59) throw bad("no such zone");
    zone = new $.Zone((offset[0] === "-" ? -1 : 1) * (hours * 3600 + minutes * 60 + seconds));
  }
  return new $.Moment(readDay(day), h * 3600 + m * 60 + s, Number(micro.padEnd(6, "0")), zone);
};
const part = (body) => ({property: body});
const dayMethods = {
  year: part((d) => BigInt(d.year)), month: part((d) => BigInt(d.month)), day: part((d) => BigInt(d.day)),
  isoformat: (d) => d.text(), weekday: (d) => BigInt((d.ordinal + 6) % 7),
};
const date = $.kindOf("date", [$.b.object], (given) => new $.Day(...given.map(Number)), dayMethods);
const ofMoment = Object.fromEntries(["year", "month", "day"].map((name) => [name, part((m) => BigInt(m.day[name]))]));
const datetime = $.kindOf("datetime", [date], () => { throw bad("a time is read from its text here"); }, {
  ...ofMoment, isoformat: (m) => m.text(), date: (m) => m.day, tzinfo: part((m) => m.zone),
  weekday: (m) => dayMethods.weekday(m.day),
  astimezone: (m, zone) => m.in(zone),
  replace: (m, named) => {
    const {year = m.day.year, month = m.day.month, day = m.day.day, microsecond = m.micro} = named ?? {};
    return new $.Moment(new $.Day(Number(year), Number(month), Number(day)), m.seconds, Number(microsecond), m.zone);
  },
});
delete $.b.date;
delete $.b.datetime;
date.lookup.fromisoformat = {alone: ([text]) => readDay(text)};
datetime.lookup.fromisoformat = {alone: ([text]) => readMoment(text)};
$.Day.kind = date;
$.Moment.kind = datetime;
$.libraries.datetime = {UTC, date, datetime, timedelta: (given, {days} = {}) => new $.Span(Number(days ?? given[0])), timezone: null};
$.libraries.calendar = {monthrange: ([year, month]) => $.tuple([0n, BigInt(monthLength(Number(year), Number(month)))])};
