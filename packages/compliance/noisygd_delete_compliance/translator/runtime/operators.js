// Operators on values whose types are known when they run: whole numbers stay whole, fractions fractions.

const overflow = () => $.raised($.b.OverflowError, "int too large to convert to float");
$.float = (value) => {
  if (typeof value === "number") return value;
  const number = Number(value);
  if (!Number.isFinite(number)) throw overflow();
  return number;
};
$.plain = (value) => (value instanceof $.Inst ? (value.$plain !== undefined ? value.$plain : value.$class.isWord ? value.value : value) : value);
const isNumber = (value) => typeof value === "bigint" || typeof value === "number" || typeof value === "boolean";
const whole = (value) => (typeof value === "boolean" ? BigInt(value) : value);
const wrong = (sign, a, b) => $.raised($.b.TypeError,
  `unsupported operand type(s) for ${sign}: '${$.b.type([a]).name$}' and '${$.b.type([b]).name$}'`);
const byZero = () => $.raised($.b.ZeroDivisionError, "division by zero");
const own = (sign, forward, backward, a, b) => {
  for (const [one, other, name] of [[a, b, forward], [b, a, backward]]) {
    if (one instanceof $.Inst && one.$class.lookup[name]) return one.$class.lookup[name]([one, other]);
    if (one !== null && typeof one === "object" && typeof one[name] === "function") return one[name](other);
  }
  throw wrong(sign, a, b);
};
const arithmetic = (sign, forward, backward, onWhole, onFloat) => {
  return (a, b) => {
    const x = whole($.plain(a)), y = whole($.plain(b));
    if (!isNumber(x) || !isNumber(y)) return own(sign, forward, backward, a, b);
    return typeof x === "bigint" && typeof y === "bigint" ? onWhole(x, y) : onFloat($.float(x), $.float(y));
  };
};
const joined = arithmetic("+", "__add__", "__radd__", (a, b) => a + b, (a, b) => a + b);
// two numbers are added at once: a bound asks for millions of sums, and the machine compiles each of these lines by itself
$.add = (a, b) => (typeof a === "number" && typeof b === "number" ? a + b : anyAdd(a, b));
$.sub = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : anySub(a, b));
$.mul = (a, b) => (typeof a === "number" && typeof b === "number" ? a * b : anyMul(a, b));
$.div = (a, b) => (typeof a === "number" && typeof b === "number" && b !== 0 ? a / b : anyDiv(a, b));
const anyAdd = (a, b) => {
  if (typeof a === "string" && typeof b === "string") return a + b;
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a instanceof $.Tuple !== b instanceof $.Tuple) throw wrong("+", a, b);
    return a instanceof $.Tuple ? $.tuple([...a, ...b]) : [...a, ...b];
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) { const whole = new Uint8Array(a.length + b.length); whole.set(a); whole.set(b, a.length); return whole; }
  return joined(a, b);
};
const less = arithmetic("-", "__sub__", "__rsub__", (a, b) => a - b, (a, b) => a - b);
const anySub = (a, b) => (a instanceof $.PySet && b instanceof $.PySet ? $.set([...a].filter((one) => !b.has(one))) : less(a, b));
const product = arithmetic("*", "__mul__", "__rmul__", (a, b) => a * b, (a, b) => a * b);
const anyMul = (a, b) => {
  const [series, times] = typeof a === "bigint" ? [b, a] : [a, b];
  if (typeof series === "string") return series.repeat(Math.max(0, Number(times)));
  if (Array.isArray(series)) {
    const many = Array.from({length: Math.max(0, Number(times))}, () => [...series]).flat();
    return series instanceof $.Tuple ? $.tuple(many) : many;
  }
  return product(a, b);
};
const quotient = (a, b) => { if (b === 0) throw byZero(); return a / b; };
const anyDiv = arithmetic("/", "__truediv__", "__rtruediv__", (a, b) => quotient($.float(a), $.float(b)), quotient);
const floored = (a, b) => {
  if (b === 0n) throw byZero();
  const q = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? q - 1n : q;
};
$.floordiv = arithmetic("//", "__floordiv__", "__rfloordiv__", floored, (a, b) => Math.floor(quotient(a, b)));
$.mod = arithmetic("%", "__mod__", "__rmod__", (a, b) => a - b * floored(a, b), (a, b) => {
  if (b === 0) throw byZero();
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
});
const power = (a, b) => {
  if (a === 0 && b < 0) throw byZero();
  if (a < 0 && !Number.isInteger(b) && Number.isFinite(b)) throw $.raised($.b.ValueError, "a complex number");
  const found = a === 1 || b === 0 ? 1 : Math.pow(a, b);
  if (!Number.isFinite(found) && Number.isFinite(a) && Number.isFinite(b)) throw $.raised($.b.OverflowError, "result too large");
  return found;
};
$.pow = arithmetic("**", "__pow__", "__rpow__", (a, b) => (b >= 0n ? a ** b : power($.float(a), $.float(b))), power);
$.matmul = (a, b) => own("@", "__matmul__", "__rmatmul__", a, b);
$.shl = (a, b) => whole(a) << whole(b);
const sets = (sign, onSets, onBits) => (a, b) => {
  if (a instanceof $.PySet && b instanceof $.PySet) return onSets(a, b);
  if (a instanceof $.Dict && b instanceof $.Dict && sign === "|") return $.dict([...a.pairs(), ...b.pairs()]);
  if (typeof a === "function" || (a instanceof $.Tuple && a.every((kind) => kind === null || kind.isClass))) return $.tuple([a, b].flat());
  if (typeof whole(a) === "bigint" && typeof whole(b) === "bigint") return onBits(whole(a), whole(b));
  throw wrong(sign, a, b);
};
$.and = sets("&", (a, b) => $.set([...a].filter((one) => b.has(one))), (a, b) => a & b);
$.or = sets("|", (a, b) => $.set([...a, ...b]), (a, b) => a | b);
$.neg = (a) => (typeof a === "number" ? -a : anyNeg(a));
const anyNeg = (a) => {
  const plain = whole($.plain(a));
  return isNumber(plain) ? -plain : own("-", "__neg__", "__neg__", a, a);
};
for (const name of ["sub", "mul", "div", "floordiv", "mod", "pow", "and", "or"]) $[`i${name}`] = $[name];
$.iadd = (a, b) => {
  if (Array.isArray(a) && !(a instanceof $.Tuple)) { for (const one of $.each(b)) a.push(one); return a; }
  return $.add(a, b);
};

// --- comparison ---

$.is = (a, b) => a === b || (typeof a === "number" && Number.isNaN(a) && typeof b === "number" && Number.isNaN(b));
$.eq = (a, b) => {
  if (a === b) return true;
  const x = whole($.plain(a)), y = whole($.plain(b));
  if (isNumber(x) && isNumber(y)) return x == y;  // a BigInt and a number compare by value
  if (typeof x === "string" || typeof y === "string") return x === y;
  if (Array.isArray(x) && Array.isArray(y)) {
    return x instanceof $.Tuple === y instanceof $.Tuple && x.length === y.length && x.every((one, place) => $.eq(one, y[place]));
  }
  if (x instanceof $.Dict && y instanceof $.Dict) return x.size === y.size && [...x.pairs()].every(([n, v]) => y.has(n) && $.eq(v, y.get(n)));
  if (x instanceof $.PySet && y instanceof $.PySet) return x.size === y.size && [...x].every((one) => y.has(one));
  if (x instanceof $.Inst && y instanceof $.Inst && x.$class === y.$class && x.$class.compared) {
    return x.$class.fields.every((f) => !f.compare || $.eq(x[f.name], y[f.name]));
  }
  if (x instanceof $.Range && y instanceof $.Range) return $.eq([...x], [...y]);
  if (x instanceof Uint8Array && y instanceof Uint8Array) return x.length === y.length && x.every((one, place) => one === y[place]);
  if (x !== null && typeof x === "object" && typeof x.equals === "function") return x.equals(y);
  return false;
};
const order = (sign, onEqual) => (a, b) => {
  const x = whole($.plain(a)), y = whole($.plain(b));
  if ((isNumber(x) && isNumber(y)) || (typeof x === "string" && typeof y === "string")) return onEqual ? x <= y : x < y;
  if (Array.isArray(x) && Array.isArray(y) && x instanceof $.Tuple === y instanceof $.Tuple) {
    const place = x.findIndex((one, at) => at >= y.length || !$.eq(one, y[at]));
    if (place < 0) return onEqual ? x.length <= y.length : x.length < y.length;
    return place < y.length && $.lt(x[place], y[place]);
  }
  if (x instanceof $.PySet && y instanceof $.PySet) return [...x].every((one) => y.has(one)) && (onEqual || x.size < y.size);
  if (x !== null && typeof x === "object" && typeof x.rank === "function" && x.constructor === y?.constructor) return onEqual ? x.rank() <= y.rank() : x.rank() < y.rank();
  throw wrong(sign, a, b);
};
const lessThan = order("<", false), atMost = order("<=", true);
const quick = (kind) => kind === "number" || kind === "bigint";
$.lt = (a, b) => (quick(typeof a) && quick(typeof b) ? a < b : lessThan(a, b));
$.le = (a, b) => (quick(typeof a) && quick(typeof b) ? a <= b : atMost(a, b));
$.t = (value) => {
  switch (typeof value) {
    case "boolean": return value;
    case "string": return value.length > 0;
    case "number": return value !== 0;
    case "bigint": return value !== 0n;
    case "function": return true;
  }
  if (value === null) return false;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length > 0;
  if (value instanceof $.Dict || value instanceof $.PySet) return value.size > 0;
  if (value instanceof $.Range) return value.length > 0n;
  if (value instanceof $.Inst) {
    if (value.$plain !== undefined || value.$class.isWord) return $.t($.plain(value));
    const length = value.$class.lookup.__len__;
    return length ? length([value]) !== 0n : true;
  }
  return true;
};
$.both = (value, other) => ($.t(value) ? other() : value);
$.either = (value, other) => ($.t(value) ? value : other());

// --- what is inside something ---

$.each = (value) => {
  if (Array.isArray(value) || value instanceof $.PySet || value instanceof $.Range || value instanceof Map) return value;
  if (typeof value === "string") return value;
  if (value instanceof $.Dict) return value.keys();
  if (value instanceof Uint8Array) return [...value].map(BigInt);
  if (typeof value === "function" && value.isWord) return value.members.values();
  if (value instanceof $.Inst && value.$class.lookup.__iter__) return value.$class.lookup.__iter__([value]);
  if (value instanceof $.Inst && value.$class.isWord) return value.value;
  if (value !== null && typeof value === "object" && value[Symbol.iterator]) return value;
  throw $.raised($.b.TypeError, `'${$.b.type([value]).name$}' object is not iterable`);
};
$.unpack = (value, parts, star) => {
  const found = [...$.each(value)];
  if (star < 0 ? found.length !== parts : found.length < parts - 1) throw $.raised($.b.ValueError, `${found.length} values to unpack into ${parts}`);
  if (star < 0) return found;
  const after = parts - 1 - star;
  return [...found.slice(0, star), found.slice(star, found.length - after), ...found.slice(found.length - after)];
};
$.has = (whole, part) => {
  const inside = $.plain(whole);
  if (typeof inside === "string") { if (typeof $.plain(part) !== "string") throw $.raised($.b.TypeError, "'in <string>' requires string"); return inside.includes($.plain(part)); }
  if (inside instanceof $.Dict || inside instanceof $.PySet) return inside.has(part);
  if (inside instanceof $.Range && typeof part === "bigint") {
    const {first, end, step} = inside;
    return (part - first) % step === 0n && (step > 0n ? part >= first && part < end : part <= first && part > end);
  }
  if (inside instanceof $.Inst && inside.$class.lookup.__contains__) return $.t(inside.$class.lookup.__contains__([inside, part]));
  for (const one of $.each(inside)) if ($.eq(one, part)) return true;
  return false;
};
const placeIn = (series, place) => {
  if (typeof place === "boolean") place = BigInt(place);
  if (typeof place !== "bigint") throw $.raised($.b.TypeError, "indices must be integers or slices");
  const at = Number(place) < 0 ? Number(place) + series.length : Number(place);
  if (!(at >= 0 && at < series.length)) throw $.raised($.b.IndexError, "index out of range");
  return at;
};
$.gi = (whole, place) => {
  if (whole instanceof $.Dict) {
    const value = whole.get(place);
    if (value === undefined) { if (whole.fallback !== undefined) return whole.fallback; throw $.raised($.b.KeyError, place); }
    return value;
  }
  if (Array.isArray(whole)) return whole[placeIn(whole, place)];
  if (typeof whole === "string") { const letters = [...whole]; return letters[placeIn(letters, place)]; }
  if (whole instanceof Uint8Array) return BigInt(whole[placeIn(whole, place)]);
  if (whole instanceof $.Range) { const length = Number(whole.length); return whole.first + whole.step * BigInt(placeIn({length}, place)); }
  if (whole instanceof $.Vec) return whole.values[placeIn(whole.values, place)];
  if (whole instanceof $.Inst && whole.$class.lookup.__getitem__) return whole.$class.lookup.__getitem__([whole, place]);
  if (whole !== null && typeof whole === "object" && typeof whole.item === "function") return whole.item(place);
  if (typeof whole === "function") return whole;  // list[int]: the type of the parts does not matter when it runs
  throw $.raised($.b.TypeError, `'${$.b.type([whole]).name$}' object is not subscriptable`);
};
$.si = (whole, place, value) => {
  if (whole instanceof $.Dict) whole.set(place, value);
  else if (Array.isArray(whole) && !(whole instanceof $.Tuple)) whole[placeIn(whole, place)] = value;
  else throw $.raised($.b.TypeError, `'${$.b.type([whole]).name$}' object does not support item assignment`);
};
$.slice = (whole, first, end, step) => {
  const series = typeof whole === "string" ? [...whole] : whole instanceof $.Range ? [...whole] : whole;
  if (!Array.isArray(series) && !(series instanceof Uint8Array)) throw $.raised($.b.TypeError, "not something to take a part of");
  if (step !== null && step !== 1n) {
    if (step !== -1n || first !== null || end !== null) throw $.raised($.b.TypeError, "a slice by steps");
    const turned = [...series].reverse();
    return typeof whole === "string" ? turned.join("") : whole instanceof $.Tuple ? $.tuple(turned) : turned;
  }
  const cut = Array.prototype.slice.call(series, first === null ? 0 : Number(first), end === null ? undefined : Number(end));
  if (typeof whole === "string") return cut.join("");
  return whole instanceof $.Tuple ? $.tuple(cut) : whole instanceof Uint8Array ? whole.slice(Number(first ?? 0n), end === null ? undefined : Number(end)) : [...cut];
};
