// Python's own types and functions, as far as the verifier uses them.

const kindOf = (name, bases, made, methods) => {
  const kind = (given, named) => made(given, named);
  Object.assign(kind, {isClass: true, name$: name, lookup: Object.create(null), own: Object.create(null), methods: {...bases[0]?.methods, ...methods}});
  kind.order = [kind, ...(bases[0]?.order ?? [])];
  $.b[name] = kind;
  return kind;
};
$.kindOf = kindOf;
const one = (value) => (value === undefined ? null : value);
const text = (value) => { const plain = $.plain(value); if (typeof plain !== "string") throw $.raised($.b.TypeError, "expected a str"); return plain; };

kindOf("object", [], () => $.record({}), {});
$.b.object.order = [$.b.object];
$.b.object.lookup.__setattr__ = $.b.object.own.__setattr__ = ([object, name, value]) => { $.sa(object, name, value); return null; };
kindOf("type", [$.b.object], ([value]) => typeOf(value), {});
kindOf("NoneType", [$.b.object], () => null, {});
kindOf("function", [$.b.object], () => null, {});

kindOf("int", [$.b.object], ([value]) => {
  const plain = $.plain(one(value));
  if (plain === null && value === undefined) return 0n;
  if (typeof plain === "bigint") return plain;
  if (typeof plain === "boolean") return BigInt(plain);
  if (typeof plain === "number") {
    if (Number.isNaN(plain)) throw $.raised($.b.ValueError, "cannot convert float NaN to integer");
    if (!Number.isFinite(plain)) throw $.raised($.b.OverflowError, "cannot convert float infinity to integer");
    return BigInt(Math.trunc(plain));
  }
  if (typeof plain === "string" && /^\s*[+-]?\d+\s*$/.test(plain)) return BigInt(plain.trim().replace(/^\+/, ""));
  throw $.raised(typeof plain === "string" ? $.b.ValueError : $.b.TypeError, "not a whole number");
}, {
  __index__: (value) => BigInt(value),
  bit_length: (value) => { const size = BigInt(value); return size === 0n ? 0n : BigInt((size < 0n ? -size : size).toString(2).length); },
});
kindOf("bool", [$.b.int], ([value]) => $.t(one(value)), {});
kindOf("float", [$.b.object], ([value]) => {
  const plain = $.plain(one(value));
  if (value === undefined) return 0;
  if (["number", "bigint", "boolean"].includes(typeof plain)) return $.float(plain);
  if (typeof plain === "string") {
    const said = plain.trim().toLowerCase();
    if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(said)) return Number(said);
    if (/^[+-]?(inf|infinity)$/.test(said)) return said.startsWith("-") ? -Infinity : Infinity;
    if (/^[+-]?nan$/.test(said)) return NaN;
    throw $.raised($.b.ValueError, "could not convert string to float");
  }
  if (plain instanceof $.Decimal || plain instanceof $.Fraction) return plain.toNumber();
  throw $.raised($.b.TypeError, "float() argument must be a string or a real number");
}, {});
$.b.float.unboxed = (given) => $.b.float(given);
const spaces = "[\\s\\x1c-\\x1f\\x85]";  // what Python strips; JavaScript's \s has U+FEFF beside them
const stripped = (value, letters, left, right) => {
  let found = [...text(value)], first = 0, end = found.length;
  const outside = letters === undefined || letters === null ? (c) => new RegExp(`^${spaces}$`).test(c) && c !== "\ufeff" : (c) => text(letters).includes(c);
  while (left && first < end && outside(found[first])) first++;
  while (right && end > first && outside(found[end - 1])) end--;
  return found.slice(first, end).join("");
};
const parted = (value, at, mark) => (at < 0 ? null : $.tuple([value.slice(0, at), mark, value.slice(at + mark.length)]));
kindOf("str", [$.b.object], ([value]) => (value === undefined ? "" : $.str(value)), {
  lower: (s) => text(s).toLowerCase(),
  strip: (s, letters) => stripped(s, letters, true, true), rstrip: (s, letters) => stripped(s, letters, false, true),
  split: (s, mark, most) => {
    if (mark === undefined || mark === null) return stripped(s, null, true, true).split(new RegExp(`${spaces}+`)).filter((part) => part);
    const parts = text(s).split(mark);
    return most === undefined || parts.length <= Number(most) + 1 ? parts : [...parts.slice(0, Number(most)), parts.slice(Number(most)).join(mark)];
  },
  join: (s, parts) => [...$.each(parts)].map(text).join(text(s)),
  replace: (s, old, put) => text(s).replaceAll(old, () => put),
  startswith: (s, start) => (start instanceof $.Tuple ? [...start] : [start]).some((part) => text(s).startsWith(part)),
  partition: (s, mark) => parted(text(s), text(s).indexOf(mark), mark) ?? $.tuple([text(s), "", ""]),
  rpartition: (s, mark) => parted(text(s), text(s).lastIndexOf(mark), mark) ?? $.tuple(["", "", text(s)]),
  encode: (s) => {
    const plain = text(s);
    if (!plain.isWellFormed()) throw $.raised($.b.UnicodeEncodeError, "surrogates not allowed");
    return new TextEncoder().encode(plain);
  },
  isprintable: (s) => $.printable(text(s)),
  count: (s, part) => BigInt(text(s).split(part).length - 1),
});
$.printable = (plain) => /^[^\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}]*$/u.test(plain.replaceAll(" ", ""));
kindOf("bytes", [$.b.object], ([value]) => Uint8Array.from(value === undefined ? [] : [...$.each(value)].map(Number)), {
  decode: (raw) => { try { return new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(raw); } catch { throw $.raised($.b.UnicodeDecodeError, "not UTF-8"); } },
  hex: (raw) => [...raw].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
});
const listed = {
  count: (series, value) => BigInt(series.filter((other) => $.eq(other, value)).length),
  __getitem__: (series, place) => $.gi(series, place),
};
kindOf("list", [$.b.object], ([value]) => (value === undefined ? [] : [...$.each(value)]), {
  ...listed,
  append: (series, value) => { series.push(value); return null; },
  extend: (series, values) => { for (const value of $.each(values)) series.push(value); return null; },
  pop: (series, place) => {
    if (!series.length) throw $.raised($.b.IndexError, "pop from empty list");
    return place === undefined ? series.pop() : series.splice(Number(place), 1)[0];
  },
  copy: (series) => [...series],
});
kindOf("tuple", [$.b.object], ([value]) => $.tuple(value === undefined ? [] : $.each(value)), listed);
const pairsOf = (value) => (value instanceof $.Dict ? value.pairs() : [...$.each(value)].map((pair) => $.unpack(pair, 2, -1)));
kindOf("dict", [$.b.object], ([value], named) => $.dict([...(value === undefined ? [] : pairsOf(value)), ...Object.entries(named ?? {})]), {
  get: (d, name, other) => d.get(name) ?? one(other), __getitem__: (d, name) => $.gi(d, name),
  items: (d) => [...d.pairs()], keys: (d) => $.set(d.keys()), values: (d) => [...d.values()], copy: (d) => $.dict(d.pairs()),
  pop: (d, name, other) => {
    const value = d.get(name);
    if (value === undefined) { if (other === undefined) throw $.raised($.b.KeyError, name); return other; }
    d.delete(name);
    return value;
  },
  setdefault: (d, name, value) => { if (!d.has(name)) d.set(name, one(value)); return d.get(name); },
  update: (d, other) => { for (const [name, value] of pairsOf(other)) d.set(name, value); return null; },
  clear: (d) => { d.held.clear(); return null; },
});
$.b.dict.lookup.fromkeys = {alone: ([names, value]) => $.dict([...$.each(names)].map((name) => [name, one(value)]))};
const setMethods = {
  add: (s, value) => { s.add(value); return null; }, update: (s, values) => { for (const value of $.each(values)) s.add(value); return null; },
};
kindOf("set", [$.b.object], ([value]) => $.set(value === undefined ? [] : $.each(value)), setMethods);
kindOf("frozenset", [$.b.object], ([value]) => $.set(value === undefined ? [] : $.each(value)), setMethods);
kindOf("range", [$.b.object], (given) => {
  const [first, end, step] = given.length === 1 ? [0n, given[0]] : given;
  if (given.some((value) => typeof value !== "bigint")) throw $.raised($.b.TypeError, "range() takes whole numbers");
  return new $.Range(first, end, step ?? 1n);
}, Object.fromEntries(Object.entries({start: "first", stop: "end", step: "step"}).map(([name, own]) => [name, {property: (range) => range[own]}])));

const typeOf = (value) => {
  switch (typeof value) {
    case "bigint": return $.b.int;
    case "number": return $.b.float;
    case "string": return $.b.str;
    case "boolean": return $.b.bool;
    case "function": return value.isClass ? $.b.type : $.b.function;
  }
  if (value === null) return $.b.NoneType;
  if (value instanceof $.Inst) return value.$class;
  if (value instanceof $.Tuple) return $.b.tuple;
  if (Array.isArray(value)) return $.b.list;
  if (value instanceof $.Dict) return value.kind ?? $.b.dict;
  if (value instanceof $.PySet) return $.b.set;
  if (value instanceof $.Range) return $.b.range;
  if (value instanceof Uint8Array) return $.b.bytes;
  return value?.constructor?.kind ?? $.b.object;
};

// --- exceptions ---

const failures = (name, base) => {
  $.b[name] = $.cls(name, [base], () => {});
  $.b[name].lookup.__init__ ??= (given) => { given[0].args = $.tuple(given.slice(1)); return null; };
  $.b[name].own.__init__ ??= $.b[name].lookup.__init__;
  $.b[name].lookup.__init__.isFunction = true;
};
failures("BaseException", $.b.object);
for (const [name, base] of Object.entries({
  Exception: "BaseException", ValueError: "Exception", TypeError: "Exception", LookupError: "Exception", KeyError: "LookupError", IndexError: "LookupError",
  ArithmeticError: "Exception", ZeroDivisionError: "ArithmeticError", OverflowError: "ArithmeticError", AttributeError: "Exception", AssertionError: "Exception",
  RuntimeError: "Exception", RecursionError: "RuntimeError", NotImplementedError: "RuntimeError", MemoryError: "Exception", OSError: "Exception",
  UnicodeError: "ValueError", UnicodeEncodeError: "UnicodeError", UnicodeDecodeError: "UnicodeError", UserWarning: "Exception", StopIteration: "Exception",
})) failures(name, $.b[base]);

// --- functions ---

const isOf = (value, kind) => {
  if (kind instanceof $.Tuple) return kind.some((other) => isOf(value, other));
  if (kind === null) return value === null;
  return kind.test ? kind.test(value) : typeOf(value).order?.includes(kind) ?? false;
};
const sortedBy = (values, named) => {
  const key = named?.key && named.key !== null ? named.key : null;
  const keyed = [...$.each(values)].map((value) => [key ? key([value]) : value, value]);
  const turned = named?.reverse !== undefined && $.t(named.reverse);
  keyed.sort(([a], [b]) => (turned ? ($.lt(b, a) ? -1 : $.lt(a, b) ? 1 : 0) : $.lt(a, b) ? -1 : $.lt(b, a) ? 1 : 0));
  return keyed.map(([, value]) => value);
};
const best = (better) => (given, named) => {
  const values = given.length === 1 ? $.each(given[0]) : given, key = named?.key ?? null;
  let found, at;
  for (const value of values) {
    const own = key === null ? value : key([value]);
    if (found === undefined || better(own, at)) { found = value; at = own; }
  }
  if (found === undefined) { if (named?.default !== undefined) return named.default; throw $.raised($.b.ValueError, "of an empty sequence"); }
  return found;
};
const even = (value) => { const low = Math.floor(value), rest = value - low; return rest < 0.5 || (rest === 0.5 && low % 2 === 0) ? low : low + 1; };
function* mapped(body, series) {
  const runs = series.map((one) => $.each(one)[Symbol.iterator]());
  for (;;) { const steps = runs.map((run) => run.next()); if (steps.some((step) => step.done)) return; yield body(steps.map((step) => step.value)); }
}
function* zipped(series, strict) {
  const runs = series.map((one) => $.each(one)[Symbol.iterator]());
  while (runs.length) {
    const steps = runs.map((run) => run.next());
    if (steps.some((step) => step.done)) { if (strict && !steps.every((step) => step.done)) throw $.raised($.b.ValueError, "zip() of different lengths"); return; }
    yield $.tuple(steps.map((step) => step.value));
  }
}
Object.assign($.b, {
  isinstance: ([value, kind]) => isOf(value, kind),
  hasattr: ([value, name]) => { try { $.ga(value, name); return true; } catch (error) { if ($.caught($.thrown(error), $.b.AttributeError)) return false; throw error; } },
  getattr: ([value, name, other]) => {
    try { return $.ga(value, name); } catch (error) { if (other !== undefined && $.caught($.thrown(error), $.b.AttributeError)) return other; throw error; }
  },
  len: ([value]) => {
    const plain = $.plain(value);
    if (typeof plain === "string") return BigInt([...plain].length);
    if (Array.isArray(plain) || plain instanceof Uint8Array) return BigInt(plain.length);
    if (plain instanceof $.Dict || plain instanceof $.PySet) return BigInt(plain.size);
    if (plain instanceof $.Range) return plain.length;
    if (plain instanceof $.Inst && plain.$class.lookup.__len__) return plain.$class.lookup.__len__([plain]);
    throw $.raised($.b.TypeError, `object of type '${typeOf(plain).name$}' has no len()`);
  },
  repr: ([value]) => $.repr(value),
  abs: ([value]) => ($.lt(value, 0n) ? $.neg(value) : value),
  min: best($.lt), max: best((a, b) => $.lt(b, a)),
  sum: ([values, start]) => { let total = start ?? 0n; for (const value of $.each(values)) total = $.add(total, value); return total; },
  any: ([values]) => { for (const value of $.each(values)) if ($.t(value)) return true; return false; },
  all: ([values]) => { for (const value of $.each(values)) if (!$.t(value)) return false; return true; },
  sorted: ([values], named) => sortedBy(values, named),
  zip: (series, named) => zipped(series, named?.strict === true),
  enumerate: function ([values, start], named) {
    return (function* () { let number = start ?? named?.start ?? 0n; for (const value of $.each(values)) yield $.tuple([number++, value]); })();
  },
  map: ([body, ...series]) => mapped(body, series),
  filter: function ([body, values]) { return (function* () { for (const value of $.each(values)) if ($.t(body === null ? value : body([value]))) yield value; })(); },
  iter: ([values]) => $.each(values)[Symbol.iterator](),
  next: ([run, other]) => {
    const step = run.next();
    if (!step.done) return step.value;
    if (other !== undefined) return other;
    throw $.raised($.b.StopIteration);
  },
  round: ([value, digits]) => {
    if (digits === undefined) { const plain = $.plain(value); return typeof plain === "bigint" ? plain : BigInt(even(plain)); }
    return Number($.fixed($.float(value), Number(digits)));
  },
  divmod: ([a, b]) => $.tuple([$.floordiv(a, b), $.mod(a, b)]),
  id: ([value]) => (value instanceof $.Inst ? (value.$id ??= BigInt(++counted)) : value),
});
