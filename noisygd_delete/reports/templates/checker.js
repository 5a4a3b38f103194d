
// What Python's values are in JavaScript, and how a function takes its arguments.
//   int BigInt   float number   bool, None, str as they are   list Array   tuple Tuple   dict Dict   set, frozenset PySet
//   bytes Uint8Array   an object of a class Inst   a class or a function: a JavaScript function (arguments, named)
"use strict";
const $ = {b: {}, libraries: {}, modules: {}};

$.Tuple = class Tuple extends Array {};
$.tuple = (parts) => Object.setPrototypeOf([...parts], $.Tuple.prototype);
$.Inst = function Inst() {};
$.Inst.prototype = Object.create(null);
$.Range = class Range {
  constructor(first, end, step) { this.first = first; this.end = end; this.step = step; }
  get length() {
    const {first, end, step} = this, room = step > 0n ? end - first : first - end, width = step > 0n ? step : -step;
    return room > 0n ? (room + width - 1n) / width : 0n;
  }
  *[Symbol.iterator]() { const {first, end, step} = this; for (let i = first; step > 0n ? i < end : i > end; i += step) yield i; }
};

// --- equality of keys, as Python's hash has it: 1, 1.0 and True are one key ---

let counted = 0;
$.key = (value) => {
  switch (typeof value) {
    case "string": return `s${value.length}:${value}`;
    case "bigint": return `n${value}`;
    case "number": return Number.isInteger(value) ? `n${BigInt(value)}` : `n${value}`;
    case "boolean": return value ? "n1" : "n0";
    case "function": return value.$id ??= `f${++counted}`;
  }
  if (value === null) return "N";
  if (value instanceof $.Tuple) return `t(${value.map($.key).join()})`;
  if (value instanceof $.Inst) return value.$key ??= $.keyOfObject(value);
  if (value instanceof $.PySet) return `z(${[...value.held.keys()].sort().join()})`;
  if (typeof value.key === "function") return value.key();
  throw $.raised($.b.TypeError, `unhashable type: '${$.b.type([value]).name$}'`);
};
$.keyOfObject = (value) => {
  const kind = value.$class;
  if (kind.isWord) return $.key(value.value);
  if (kind.fields && kind.byValue) {
    return `o${kind.id}(${kind.fields.filter((f) => f.compare).map((f) => $.key(value[f.name])).join()})`;
  }
  return `i${++counted}`;
};
$.Dict = class Dict {
  constructor(pairs) { this.held = new Map(); if (pairs) for (const [name, value] of pairs) this.set(name, value); }
  set(name, value) {
    const key = $.key(name), old = this.held.get(key);
    if (old === undefined) this.held.set(key, [name, value]); else old[1] = value;
  }
  get(name) { return this.held.get($.key(name))?.[1]; }
  has(name) { return this.held.has($.key(name)); }
  delete(name) { return this.held.delete($.key(name)); }
  get size() { return this.held.size; }
  *keys() { for (const pair of this.held.values()) yield pair[0]; }
  *values() { for (const pair of this.held.values()) yield pair[1]; }
  *pairs() { for (const [name, value] of this.held.values()) yield $.tuple([name, value]); }
};
$.PySet = class PySet {
  constructor(values) { this.held = new Map(); for (const value of values ?? []) this.add(value); }
  add(value) { const key = $.key(value); if (!this.held.has(key)) this.held.set(key, value); }
  has(value) { return this.held.has($.key(value)); }
  get size() { return this.held.size; }
  [Symbol.iterator]() { return this.held.values(); }
};
$.dict = (pairs) => new $.Dict(pairs);
$.set = (values) => new $.PySet(values);
$.pairs = (mapping) => { if (!(mapping instanceof $.Dict)) throw $.raised($.b.TypeError, "not a mapping"); return mapping.pairs(); };
$.named = (mapping) => {
  const named = {};
  for (const [name, value] of $.pairs(mapping)) {
    if (typeof name !== "string") throw $.raised($.b.TypeError, "keywords must be strings");
    named[name] = value;
  }
  return named;
};

// --- functions ---

$.fn = (name, signature, defaults, body) => {
  const names = [], places = new Map();
  let placed = signature.length, star = -1, rest = -1;
  for (const [at, one] of signature.entries()) {
    if (one.startsWith("**")) { rest = names.length; names.push(one.slice(2)); placed = Math.min(placed, at); continue; }
    if (one.startsWith("*")) { placed = Math.min(placed, at); if (one.length > 1) { star = names.length; names.push(one.slice(1)); } continue; }
    places.set(one, names.length); names.push(one);
  }
  const open = names.length === placed, size = names.length, listed = [...places];
  const refuse = (why) => $.raised($.b.TypeError, `${name}() ${why}`);
  const made = (given, named) => {
    if (named === undefined && open && given.length === placed) return body(...given);
    const taken = new Array(size).fill(undefined);
    for (let i = 0; i < placed && i < given.length; i++) taken[i] = given[i];
    if (star >= 0) taken[star] = $.tuple(given.slice(placed));
    else if (given.length > placed) throw refuse(`takes ${placed} positional arguments but ${given.length} were given`);
    const others = rest >= 0 ? new $.Dict() : null;
    if (named !== undefined) for (const one in named) {
      const place = places.get(one);
      if (place === undefined) {
        if (others === null) throw refuse(`got an unexpected keyword argument '${one}'`);
        others.set(one, named[one]);
      } else if (taken[place] !== undefined) throw refuse(`got multiple values for argument '${one}'`);
      else taken[place] = named[one];
    }
    if (rest >= 0) taken[rest] = others;
    for (let i = 0; i < listed.length; i++) {
      const [one, place] = listed[i];
      if (taken[place] !== undefined) continue;
      if (!Object.hasOwn(defaults, one)) throw refuse(`missing a required argument: '${one}'`);
      taken[place] = defaults[one];
    }
    return body(...taken);
  };
  made.isFunction = true;
  made.name$ = name;
  return made;
};
$.native = (body) => (given) => body(...given);  // a function of the runtime that takes no named arguments
$.property = (getter) => ({property: getter});
$.cached_property = (getter) => ({property: getter, cached: true});
$.classmethod = (made) => ({ofClass: made});
$.staticmethod = (made) => ({alone: made});
$.cache = (made) => {
  const held = new Map();
  const asked = (given, named) => {
    const key = given.map($.key).join() + (named ? `|${Object.keys(named).map((n) => n + $.key(named[n])).join()}` : "");
    if (!held.has(key)) { if (held.size > 10000) held.clear(); held.set(key, made(given, named)); }
    return held.get(key);
  };
  asked.isFunction = true;
  return asked;
};
$.lru_cache = $.cache;
$.absent = (name) => new Proxy(() => {}, {
  apply() { throw new Error(`${name} is not in this page`); },
  get(_, part) { return typeof part === "symbol" ? undefined : part === "lookup" ? {} : $.absent(`${name}.${String(part)}`); },
});

// Classes: what is inherited, dataclasses, words from fixed lists, exceptions; and how a part of an object is found.

let classes = 0;
$.cls = (name, bases, body) => {
  const kind = (given, named) => $.made(kind, given, named);
  kind.isClass = true;
  kind.id = ++classes;
  kind.name$ = name;
  kind.bases = bases.length ? bases : $.b.object ? [$.b.object] : [];
  kind.order = $.orderOf(kind);
  kind.lookup = Object.create(null);
  for (const one of [...kind.order].reverse()) Object.assign(kind.lookup, one === kind ? {} : one.own);
  kind.own = Object.create(null);
  body(kind.own);
  Object.assign(kind.lookup, kind.own);
  for (const base of kind.bases) { kind.fields ??= base.fields; kind.byValue ??= base.byValue; kind.isWord ||= base.isWord; kind.unboxed ??= base.unboxed; }
  if (kind.bases.some((base) => base.isWord)) $.words(kind);
  return kind;
};
$.orderOf = (kind) => {  // the class, then its bases, each before its own: C3 as far as this package needs it
  const found = kind.bases.flatMap((base) => base.order);
  return [kind, ...found.filter((one, place) => found.lastIndexOf(one) === place)];
};
$.words = (kind) => {
  kind.members = new Map();
  for (const [name, text] of Object.entries(kind.own)) {
    if (typeof text !== "string" || name.startsWith("_")) continue;
    const member = new $.Inst();
    member.$class = kind; member.value = text; member.name = name;
    kind.members.set(text, member);
    kind.own[name] = kind.lookup[name] = member;
  }
};
$.made = (kind, given, named) => {
  if (kind.isWord) {
    const [text] = given, found = kind.members.get($.plain(text));
    return found ?? $.ga(kind, "_missing_")([text]);
  }
  const object = new $.Inst();
  object.$class = kind;
  if (kind.unboxed) { object.$plain = kind.unboxed(given); return object; }
  const begin = kind.lookup.__init__;
  if (begin) begin([object, ...given], named);
  else if (kind.fields) { $.filled(object, kind, given, named); kind.lookup.__post_init__?.([object]); }
  else if (given.length || named) throw $.raised($.b.TypeError, `${kind.name$}() takes no arguments`);
  return object;
};

// --- dataclasses ---

$.field = (given, named) => ({isField: true, compare: true, ...named});
$.dataclass = (kind, own, options) => {
  const inherited = kind.bases.flatMap((base) => base.fields ?? []);
  const fields = new Map(inherited.map((field) => [field.name, field]));
  for (const [name, hint] of own) {
    const value = Object.hasOwn(kind.own, name) ? kind.own[name] : undefined;
    const stated = value?.isField ? value : {compare: true, default: value};
    const field = {name, hint, alone: Boolean(options.kw_only), compare: stated.compare, default: stated.default, factory: stated.default_factory};
    fields.set(name, field);
    if (value?.isField) { if (stated.default === undefined) { delete kind.own[name]; delete kind.lookup[name]; } else kind.own[name] = kind.lookup[name] = stated.default; }
  }
  kind.fields = [...fields.values()];
  kind.inOrder = [...kind.fields.filter((f) => !f.alone), ...kind.fields.filter((f) => f.alone)];
  kind.placed = kind.inOrder.filter((f) => !f.alone).length;
  kind.byName = new Map(kind.fields.map((field) => [field.name, field]));
  kind.byValue = options.frozen === true;
  kind.compared = true;
  return kind;
};
$.filled = (object, kind, given, named) => {
  if (given.length > kind.placed) throw $.raised($.b.TypeError, `${kind.name$}() takes ${kind.placed} positional arguments but ${given.length} were given`);
  for (const [place, value] of given.entries()) object[kind.inOrder[place].name] = value;
  for (const name of Object.keys(named ?? {})) {
    if (!kind.byName.has(name)) throw $.raised($.b.TypeError, `${kind.name$}() got an unexpected keyword argument '${name}'`);
    if (object[name] !== undefined) throw $.raised($.b.TypeError, `${kind.name$}() got multiple values for argument '${name}'`);
    object[name] = named[name];
  }
  for (const field of kind.fields) {
    if (object[field.name] !== undefined) continue;
    if (field.factory !== undefined) object[field.name] = field.factory([]);
    else if (field.default !== undefined) object[field.name] = field.default;
    else throw $.raised($.b.TypeError, `${kind.name$}() missing a required argument: '${field.name}'`);
  }
};
const fieldsOf = (object) => (object.isClass ? object : object.$class).fields;
const plainly = (value) => {
  if (value instanceof $.Inst && value.$class.fields) return $.dict(fieldsOf(value).map((f) => [f.name, plainly(value[f.name])]));
  if (value instanceof $.Tuple) return $.tuple(value.map(plainly));
  if (Array.isArray(value)) return value.map(plainly);
  if (value instanceof $.Dict) return $.dict([...value.pairs()].map(([name, inner]) => [plainly(name), plainly(inner)]));
  return value;
};
$.libraries.dataclasses = {
  dataclass: null,
  field: $.field,
  fields: $.native((object) => $.tuple(fieldsOf(object).map((f) => $.record({name: f.name, compare: f.compare})))),
  asdict: $.native(plainly),
  replace: ([object], named) => {
    const again = {};
    for (const field of fieldsOf(object)) again[field.name] = object[field.name];
    return object.$class([], {...again, ...named});
  },
};
$.record = (parts) => { const object = new $.Inst(); object.$class = $.b.object; return Object.assign(object, parts); };

// --- parts of objects ---

$.bound = (made, first) => { const method = (given, named) => made([first, ...given], named); method.isFunction = true; method.of = first; return method; };
const found = (object, kind, part, name) => {
  if (part?.property) {
    const value = part.property([object]);
    if (part.cached) object[name] = value;
    return value;
  }
  if (part?.ofClass) return $.bound(part.ofClass, kind);
  if (part?.alone) return part.alone;
  return typeof part === "function" && part.isFunction ? $.bound(part, object) : part;
};
$.missing = (object, name) => $.raised($.b.AttributeError, `'${$.b.type([object]).name$}' object has no attribute '${name}'`);
$.ga = (object, name) => {
  if (object instanceof $.Inst) {
    const own = object[name];
    if (own !== undefined) return own;
    if (name === "__class__") return object.$class;
    const part = object.$class.lookup[name];
    if (part === undefined) throw $.missing(object, name);
    return found(object, object.$class, part, name);
  }
  if (typeof object === "function") {
    if (name === "__name__") return object.name$;
    const part = object.lookup?.[name];
    if (part === undefined) { if (object.methods?.[name]) return (given, named) => object.methods[name](...given, named); throw $.missing(object, name); }
    return part?.ofClass ? $.bound(part.ofClass, object) : part?.alone ? part.alone : part;
  }
  const methods = $.b.type([object]).methods, part = methods?.[name];
  if (part === undefined) throw $.missing(object, name);
  if (part.property) return part.property(object);
  return (given, named) => part(object, ...given, named);
};
$.sa = (object, name, value) => {
  if (!(object instanceof $.Inst)) throw $.missing(object, name);
  object[name] = value;
  object.$key = undefined;
};
$.cm = (object, name, given, named) => {
  if (object instanceof $.Inst && object[name] === undefined) {
    const part = object.$class.lookup[name];
    if (typeof part === "function" && part.isFunction) return part([object, ...given], named);
  }
  return $.ga(object, name)(given, named);
};
$.sup = (kind, object, name) => {
  const owner = object.isClass ? object : object.$class;
  for (const one of owner.order.slice(owner.order.indexOf(kind) + 1)) {
    if (one.own[name] !== undefined) return found(object, owner, one.own[name], name);
  }
  if (name === "__init__" || name === "__post_init__") return () => null;
  throw $.missing(object, name);
};

// --- exceptions ---

$.raised = (error, said) => {
  if (typeof error !== "function") return error;
  return error(said === undefined ? [] : [said]);
};
$.thrown = (error) => {  // what the machine throws, in Python's words
  if (error instanceof $.Inst) return error;
  if (error instanceof RangeError) return $.raised(/BigInt/.test(error.message) ? $.b.MemoryError : $.b.RecursionError, error.message);
  if (error instanceof TypeError) return $.raised($.b.TypeError, error.message);
  return error;  // not Python's: a signature that is still to be checked, or a fault of the page
};
$.caught = (error, kinds) => error instanceof $.Inst && $.b.isinstance([error, kinds]);

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

// Numbers and values as text, digit for digit as Python writes them.

const exponentOf = (scientific) => { const [digits, exponent] = scientific.split("e"); return [digits, Number(exponent)]; };
const withExponent = (digits, exponent) => `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
$.floatText = (value) => {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [digits, exponent] = exponentOf(value.toExponential());
  if (exponent < -4 || exponent >= 16) return withExponent(digits, exponent);
  const plain = placed(digits, exponent);
  return plain.includes(".") ? plain : `${plain}.0`;
};
const placed = (digits, exponent) => {  // d.ddd × 10^exponent without an exponent
  const sign = digits.startsWith("-") ? "-" : "", bare = digits.replace(/[-.]/g, "");
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${bare}`;
  if (bare.length <= exponent + 1) return sign + bare + "0".repeat(exponent + 1 - bare.length);
  return `${sign}${bare.slice(0, exponent + 1)}.${bare.slice(exponent + 1)}`;
};
const fraction = (value) => {  // a double as numerator and denominator, exactly
  let exponent = 0;
  while (!Number.isInteger(value)) { value *= 2; exponent++; }
  return [BigInt(value), 1n << BigInt(exponent)];
};
const nearest = (numerator, denominator) => {  // halves to even
  const low = numerator / denominator, rest = 2n * (numerator % denominator);
  return rest > denominator || (rest === denominator && low % 2n === 1n) ? low + 1n : low;
};
$.scientific = (value, digits) => {  // [digits as text, exponent], so many significant digits
  const size = Math.abs(value);
  if (size === 0) return ["0".repeat(digits), 0];
  let exponent = exponentOf(size.toExponential())[1];
  const [top, bottom] = fraction(size), shift = digits - 1 - exponent;
  const scaled = shift >= 0 ? nearest(top * 10n ** BigInt(shift), bottom) : nearest(top, bottom * 10n ** BigInt(-shift));
  let found = String(scaled);
  if (found.length > digits) { found = found.slice(0, digits); exponent++; }
  return [found, exponent];
};
$.fixed = (value, digits) => {
  const [top, bottom] = fraction(Math.abs(value)), unit = 10n ** BigInt(Math.abs(digits));
  if (digits < 0) return String(nearest(top, bottom * unit) * unit * (value < 0 ? -1n : 1n));
  const found = String(nearest(top * unit, bottom)).padStart(digits + 1, "0"), sign = value < 0 || Object.is(value, -0) ? "-" : "";
  return sign + (digits ? `${found.slice(0, -digits)}.${found.slice(-digits)}` : found);
};
const general = (value, digits) => {
  if (!Number.isFinite(value)) return $.floatText(value);
  const sign = value < 0 || Object.is(value, -0) ? "-" : "", wanted = digits || 1;
  const [found, exponent] = $.scientific(value, wanted), bare = found.replace(/0+$/, "") || "0";
  if (exponent < -4 || exponent >= wanted) return sign + withExponent(bare.length > 1 ? `${bare[0]}.${bare.slice(1)}` : bare, exponent);
  return sign + placed(bare.length > 1 ? `${bare[0]}.${bare.slice(1)}` : bare, exponent);
};
const number = (value, precision, kind) => {
  if (kind === "%") return `${number($.float(value) * 100, precision ?? 6, "f")}%`;
  const plain = $.float(value);
  if (!Number.isFinite(plain)) return $.floatText(plain);
  if (kind === "f") return $.fixed(plain, precision ?? 6);
  if (kind === "e") {
    const [found, exponent] = $.scientific(plain, (precision ?? 6) + 1);
    return (plain < 0 ? "-" : "") + withExponent(found.length > 1 ? `${found[0]}.${found.slice(1)}` : found, exponent);
  }
  return general(plain, precision ?? 6);
};
$.formatted = (value, way, spec) => {
  const shown = way === "r" ? $.repr(value) : way === "s" ? $.str(value) : value;
  if (spec === "") return $.str(shown);
  const parts = /^(?:(.)?([<>^]))?(,)?(\d+)?(,)?(?:\.(\d+))?([gfe%ds])?$/u.exec(spec);
  if (/^0\d+x$/.test(spec)) return $.plain(shown).toString(16).padStart(Number(spec.slice(1, -1)), "0");
  if (parts === null) throw new Error(`format ${spec}`);
  const [, fill, side, , width, , precision, kind] = parts, plain = $.plain(shown);
  const digits = precision === undefined ? undefined : Number(precision);
  let text = typeof plain === "string" ? plain : kind === "d" || (kind === undefined && typeof plain === "bigint") ? $.str(plain) : number(plain, digits, kind ?? "g");
  if (spec.includes(",")) text = text.replace(/^(-?)(\d+)/, (_, sign, whole) => sign + whole.replace(/\B(?=(\d{3})+$)/g, ","));
  const room = (fill ?? " ").repeat(Math.max(0, Number(width ?? 0) - [...text].length));
  return side === ">" || (side === undefined && typeof plain !== "string") ? room + text : text + room;
};
const letters = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"};
const textual = (value) => {
  const mark = value.includes("'") && !value.includes('"') ? '"' : "'";
  const shown = [...value].map((letter) => {
    if (letters[letter]) return letters[letter];
    if (letter === mark) return `\\${letter}`;
    if ($.printable(letter)) return letter;
    const code = letter.codePointAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : code < 65536 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
  });
  return mark + shown.join("") + mark;
};
$.repr = (value) => {
  switch (typeof value) {
    case "string": return textual(value);
    case "bigint": return String(value);
    case "number": return $.floatText(value);
    case "boolean": return value ? "True" : "False";
    case "function": return `<${value.isClass ? "class" : "function"} '${value.name$}'>`;
  }
  if (value === null) return "None";
  if (value instanceof $.Tuple) return `(${[...value].map($.repr).join(", ")}${value.length === 1 ? "," : ""})`;
  if (Array.isArray(value)) return `[${value.map($.repr).join(", ")}]`;
  if (value instanceof $.Dict) return `{${[...value.pairs()].map(([name, inner]) => `${$.repr(name)}: ${$.repr(inner)}`).join(", ")}}`;
  if (value instanceof $.PySet) return value.size ? `{${[...value].map($.repr).join(", ")}}` : "set()";
  if (value instanceof Uint8Array) return `b${textual(String.fromCharCode(...value))}`;
  if (value instanceof $.Inst) {
    const {lookup, fields, name$} = value.$class;
    if (value.$plain !== undefined) return $.repr(value.$plain);
    if (lookup.__repr__) return lookup.__repr__([value]);
    if (value.$class.isWord) return textual(value.value);
    if (lookup.args !== undefined || value.args) return `${name$}(${[...(value.args ?? [])].map($.repr).join(", ")})`;
    return fields ? `${name$}(${fields.map((f) => `${f.name}=${$.repr(value[f.name])}`).join(", ")})` : `<${name$} object>`;
  }
  return typeof value.text === "function" ? value.text() : String(value);
};
$.str = (value) => {
  const plain = $.plain(value);
  if (typeof plain === "string") return plain;
  if (plain instanceof $.Inst) {
    if (plain.$class.lookup.__str__) return plain.$class.lookup.__str__([plain]);
    if (plain.args) {
      if (plain.args.length === 0) return "";
      if (plain.args.length === 1) return plain.$class === $.b.KeyError ? $.repr(plain.args[0]) : $.str(plain.args[0]);
      return $.repr(plain.args);
    }
  }
  return $.repr(plain);
};

// Python's math, and what of numpy and scipy the bounds ask for: the normal law far into its tails, and rows of numbers.

const domain = () => $.raised($.b.ValueError, "math domain error");
const finite = (body) => ([value]) => {  // overflow is an error in Python, not infinity
  const plain = $.float($.plain(value)), found = body(plain);
  if (Number.isNaN(found) && !Number.isNaN(plain)) throw domain();
  if (!Number.isFinite(found) && Number.isFinite(plain)) throw $.raised($.b.OverflowError, "math range error");
  return found;
};
const logarithm = ([value]) => {
  const plain = $.plain(value);
  if (typeof plain === "bigint" && plain > 2n ** 1000n) {
    const text = plain.toString(2);
    return Math.log(Number(plain >> BigInt(text.length - 60))) + (text.length - 60) * Math.LN2;
  }
  const size = $.float(plain);
  if (!(size > 0) && !Number.isNaN(size)) throw domain();
  return Math.log(size);
};
const bits = new DataView(new ArrayBuffer(8));
const neighbour = (value, towards) => {
  if (Number.isNaN(value) || Number.isNaN(towards)) return NaN;
  if (value === towards) return towards;
  if (value === 0) return towards > 0 ? 5e-324 : -5e-324;
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (towards > value === value > 0 ? 1n : -1n));
  return bits.getFloat64(0);
};
const frexp = (value) => {
  if (value === 0 || !Number.isFinite(value)) return [value, 0];
  let exponent = 0, size = value;
  if (Math.abs(size) < 2 ** -1022) { size *= 2 ** 54; exponent = -54; }
  bits.setFloat64(0, size);
  exponent += ((bits.getUint32(0) >>> 20) & 0x7ff) - 1022;
  bits.setUint32(0, (bits.getUint32(0) & 0x800fffff) | (1022 << 20));
  return [bits.getFloat64(0), exponent];
};
const fsum = (values) => {  // Shewchuk's partial sums, rounded once
  const partials = [];
  let special = 0;
  for (let x of values) {
    if (!Number.isFinite(x)) { special += x; continue; }
    let kept = 0;
    for (let y of partials) {
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
      const high = x + y, low = y - (high - x);
      if (low) partials[kept++] = low;
      x = high;
    }
    partials.length = kept;
    partials.push(x);
  }
  if (special !== 0 || Number.isNaN(special)) return special;
  let at = partials.length, high = 0, low = 0;
  if (!at) return 0;
  high = partials[--at];
  while (at > 0) {
    const x = high, y = partials[--at];
    high = x + y;
    low = y - (high - x);
    if (low) break;
  }
  if (at > 0 && ((low < 0 && partials[at - 1] < 0) || (low > 0 && partials[at - 1] > 0))) {
    const twice = low * 2, x = high + twice;
    if (twice === x - high) high = x;
  }
  return high;
};
const rounded = (body) => ([value]) => {
  const plain = $.plain(value);
  if (typeof plain === "bigint") return plain;
  if (plain instanceof $.Fraction) return plain.rounded(body === Math.ceil);
  return $.b.int([body($.float(plain))]);
};

// --- the normal law ---

const erfSeries = (x) => {  // 2/√π e^{−x²} Σ 2^n x^{2n+1}/(1·3···(2n+1)): every term positive
  let term = x, total = x;
  for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(total); n++) { term *= (2 * x * x) / (2 * n + 1); total += term; }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
};
const erfcx = (x) => {  // e^{x²} erfc(x); from 1 on its continued fraction, whose terms are positive too
  if (x < 1) return Math.exp(x * x) * (1 - (x < 0 ? -erfSeries(-x) : erfSeries(x)));
  let tail = 0;
  for (let n = x < 2 ? 400 : x < 6 ? 120 : 30; n > 0; n--) tail = n / 2 / (x + tail);
  return 1 / Math.sqrt(Math.PI) / (x + tail);
};
const erfc = (x) => (x < 1 ? 1 - erf(x) : Math.exp(-x * x) * erfcx(x));
const erf = (x) => {
  if (x < 0) return -erf(-x);
  return x < 2 ? erfSeries(x) : x > 6 ? 1 : 1 - Math.exp(-x * x) * erfcx(x);
};
const gammaln = (x) => {
  let shift = 0;
  for (; x < 15; x++) shift += Math.log(x);
  const y = 1 / (x * x), series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x;
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series - shift;
};

$.libraries.math = {
  pi: Math.PI, inf: Infinity, nan: NaN,
  log: logarithm, exp: finite(Math.exp), log1p: ([x]) => { const v = $.float($.plain(x)); if (v <= -1) throw domain(); return Math.log1p(v); },
  expm1: finite(Math.expm1), sqrt: finite(Math.sqrt), sinh: finite(Math.sinh), cosh: finite(Math.cosh), tanh: finite(Math.tanh),
  erf: finite(erf), erfc: finite(erfc),
  pow: ([a, b]) => $.pow($.float(a), $.float(b)),
  ceil: rounded(Math.ceil), floor: rounded(Math.floor),
  isfinite: ([x]) => Number.isFinite($.float($.plain(x))), isinf: ([x]) => Math.abs($.float($.plain(x))) === Infinity,
  copysign: ([a, b]) => { const size = Math.abs($.float(a)), sign = $.float(b); return sign < 0 || Object.is(sign, -0) ? -size : size; },
  nextafter: ([a, b]) => neighbour($.float(a), $.float(b)),
  ldexp: ([m, e]) => { let value = $.float(m); for (let left = Number(e); left; ) { const step = Math.max(-500, Math.min(500, left)); value *= 2 ** step; left -= step; } return value; },
  frexp: ([x]) => { const [m, e] = frexp($.float(x)); return $.tuple([m, BigInt(e)]); },
  fsum: ([values]) => fsum([...$.each(values)].map((value) => $.float($.plain(value)))),
  hypot: (values) => Math.hypot(...values.map((value) => $.float($.plain(value)))), cbrt: finite(Math.cbrt),
  isclose: ([one, other], {rel_tol = 1e-9, abs_tol = 0} = {}) => {
    const a = $.float($.plain(one)), b = $.float($.plain(other));
    if (a === b) return true;
    if (!Number.isFinite(a) || !Number.isFinite(b)) return false;
    return Math.abs(a - b) <= Math.max($.float(rel_tol) * Math.max(Math.abs(a), Math.abs(b)), $.float(abs_tol));
  },
};

// --- rows of numbers ---

$.Vec = class Vec {
  constructor(values) { this.values = values; }
  static of(value, size) { return value instanceof Vec ? value.values : new Array(size).fill($.float($.plain(value))); }
  static with(a, b, body) {
    const size = (a instanceof Vec ? a : b).values.length, x = Vec.of(a, size), y = Vec.of(b, size);
    return new Vec(x.map((value, place) => body(value, y[place])));
  }
  static each(body) { return ([value]) => (value instanceof Vec ? new Vec(value.values.map(body)) : body($.float($.plain(value)))); }
  *[Symbol.iterator]() { yield* this.values; }
};
const rowOf = (body) => ({forward(other) { return $.Vec.with(this, other, body); }, backward(other) { return $.Vec.with(other, this, body); }});
for (const [name, body] of Object.entries({add: (a, b) => a + b, sub: (a, b) => a - b, mul: (a, b) => a * b, truediv: (a, b) => a / b, pow: (a, b) => a ** b})) {
  const {forward, backward} = rowOf(body);
  $.Vec.prototype[`__${name}__`] = forward;
  $.Vec.prototype[`__r${name}__`] = backward;
}
$.Vec.prototype.__neg__ = function () { return new $.Vec(this.values.map((value) => -value)); };
$.Vec.kind = $.kindOf("ndarray", [$.b.object], () => null, {});
delete $.b.ndarray;
$.libraries.numpy = {
  arange: ([end]) => new $.Vec(Array.from({length: Number(end)}, (_, place) => place)),
  log: $.Vec.each(Math.log), log1p: $.Vec.each(Math.log1p),
};
$.libraries["scipy.special"] = {
  gammaln: $.Vec.each(gammaln),
  logsumexp: ([row]) => { const high = Math.max(...row.values); return high + Math.log(fsum(row.values.map((value) => Math.exp(value - high)))); },
};

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

// The libraries that the verifier's modules import, each in the part that is used.

$.Counter = class Counter extends $.Dict {
  get fallback() { return 0n; }
  static of(value) {
    const made = new Counter();
    if (value instanceof $.Dict) for (const [name, times] of value.pairs()) made.set(name, times);
    else for (const one of value === undefined ? [] : $.each(value)) made.set(one, $.add($.gi(made, one), 1n));
    return made;
  }
  __sub__(other) {
    const made = new Counter();
    for (const [name, times] of this.pairs()) { const left = $.sub(times, $.gi(other, name)); if ($.lt(0n, left)) made.set(name, left); }
    return made;
  }
};
const counter = $.kindOf("Counter", [$.b.dict], ([value]) => $.Counter.of(value), {
  copy: (c) => $.Counter.of(c), total: (c) => [...c.values()].reduce($.add, 0n),
  update: (c, other) => { for (const [name, times] of $.Counter.of(other).pairs()) c.set(name, $.add($.gi(c, name), times)); return null; },
});
delete $.b.Counter;
$.Counter.prototype.kind = counter;

const abstract = (name, test) => { const kind = $.kindOf(name, [$.b.object], () => null, {}); delete $.b[name]; kind.test = test; return kind; };
$.libraries["collections.abc"] = {
  Mapping: abstract("Mapping", (value) => value instanceof $.Dict), Callable: abstract("Callable", (value) => typeof value === "function"),
};
$.libraries.collections = {Counter: counter};
const any = abstract("Any", () => true);
any.isAny = true;
$.libraries.typing = {
  Any: any, ClassVar: any, TypeVar: () => any,
  get_type_hints: ([kind]) => $.dict(kind.fields.map((field) => [field.name, field.hint()])),
};
$.libraries.abc = {ABC: $.b.object, abstractmethod: ([made]) => made};
const strEnum = $.cls("StrEnum", [], () => {});
strEnum.order = [strEnum, $.b.str, $.b.object];
strEnum.isWord = true;
strEnum.members = new Map();
$.libraries.enum = {StrEnum: strEnum};
$.libraries.functools = {
  cache: ([made]) => $.cache(made), lru_cache: () => ([made]) => $.cache(made),
};
$.libraries.itertools = {
  groupby: function ([values], named) {
    const key = named?.key ?? null;
    return (function* () {
      let held = [], now;
      for (const value of $.each(values)) {
        const own = key === null ? value : key([value]);
        if (held.length && !$.eq(own, now)) { yield $.tuple([now, held]); held = []; }
        now = own;
        held.push(value);
      }
      if (held.length) yield $.tuple([now, held]);
    })();
  },
  pairwise: function ([values]) { return (function* () { let last; for (const value of $.each(values)) { if (last !== undefined) yield $.tuple([last, value]); last = value; } })(); },
};
$.libraries.lazy_imports = {on_first_use: ([module, homes]) => ([name]) => $.modules[`${module}.${$.gi(homes, name)}`][name]};
$.libraries.sys = {float_info: $.record({max: Number.MAX_VALUE, min: 2 ** -1022, epsilon: 2 ** -52})};

// --- regular expressions: those of this package read the same in both languages ---

const matched = (found) => found && $.record({
  group: ([place] = [0n]) => found[Number(place)] ?? null, $groups: found,
});
const Match = $.cls("Match", [], (own) => { own.__getitem__ = ([match, place]) => match.$groups[Number(place)] ?? null; });
const asMatch = (found) => { if (!found) return null; const match = matched(found); match.$class = Match; return match; };
const pattern = (source) => (source instanceof $.Inst && source.$pattern ? source.$pattern : source);
$.libraries.re = {
  compile: ([source]) => $.record({$pattern: source, fullmatch: ([text]) => $.libraries.re.fullmatch([source, text])}),
  fullmatch: ([source, text]) => {
    if (typeof $.plain(text) !== "string") throw $.raised($.b.TypeError, "expected string");
    return asMatch(new RegExp(`^(?:${pattern(source)})$`, "u").exec($.plain(text)));
  },
  sub: ([source, put, text]) => text.replace(new RegExp(pattern(source), "gu"), (...found) => (typeof put === "string" ? put : put([asMatch(found)]))),
};

// --- JSON ---

const dumped = (one) => {
  const plain = $.plain(one);
  if (typeof plain === "string") return JSON.stringify(plain).replace(/[\u007f-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (plain === null) return "null";
  if (typeof plain === "boolean" || typeof plain === "bigint") return String(plain);
  if (typeof plain === "number") return $.floatText(plain);
  if (Array.isArray(plain)) return `[${[...plain].map(dumped).join(", ")}]`;
  if (plain instanceof $.Dict) return `{${[...plain.pairs()].map(([name, inner]) => `${dumped(name)}: ${dumped(inner)}`).join(", ")}}`;
  throw $.raised($.b.TypeError, "Object is not JSON serializable");
};
$.libraries.json = {dumps: ([value]) => dumped(value)};
$.parsed = (source) => {  // JSON as the standard has it, whole numbers apart from fractions, no name twice
  let at = 0;
  const fail = (said) => { throw $.raised($.b.ValueError, said); };
  const skip = () => { while (" \t\n\r".includes(source[at]) && at < source.length) at++; };
  const token = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y, plainText = /[^"\\\u0000-\u001f]*/y;
  const text = () => {
    let made = "";
    for (at++; ; ) {
      plainText.lastIndex = at;
      const run = plainText.exec(source)[0];
      made += run;
      at += run.length;
      const letter = source[at++];
      if (letter === '"') return made;
      if (letter !== "\\") fail("a text that does not end, or holds a control character");
      const code = source[at++], simple = {'"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t"}[code];
      if (simple !== undefined) { made += simple; continue; }
      const hex = source.slice(at, at + 4);
      if (code !== "u" || !/^[0-9a-fA-F]{4}$/.test(hex)) fail("an escape that JSON does not have");
      made += String.fromCharCode(parseInt(hex, 16));
      at += 4;
    }
  };
  const value = (depth) => {
    if (depth > 900) fail("nested too deeply");
    skip();
    const letter = source[at];
    if (letter === '"') return text();
    if (letter === "{" || letter === "[") {
      const end = letter === "{" ? "}" : "]", listed = [], named = new $.Dict();
      at++;
      skip();
      if (source[at] === end) at++;
      else for (;;) {
        skip();
        if (letter === "[") listed.push(value(depth + 1));
        else {
          if (source[at] !== '"') fail("a name is due");
          const name = text();
          skip();
          if (source[at++] !== ":") fail("a colon is due");
          if (named.has(name)) fail(`an object names its part ${named.size + 1} a second time; each part is given once`);
          named.set(name, value(depth + 1));
        }
        skip();
        const next = source[at++];
        if (next === end) break;
        if (next !== ",") fail("a comma is due");
      }
      return letter === "[" ? listed : named;
    }
    for (const [word, found] of [["true", true], ["false", false], ["null", null]]) if (source.startsWith(word, at)) { at += word.length; return found; }
    token.lastIndex = at;
    const number = token.exec(source);
    if (number === null) fail("not JSON");
    at += number[0].length;
    if (number[1] !== undefined || number[2] !== undefined) return Number(number[0]);
    if (number[0].length > 4301) fail("a number of thousands of digits");
    return BigInt(number[0]);
  };
  const found = value(0);
  skip();
  if (at !== source.length) fail("something after the end");
  return found;
};

// Digests, keys and signatures, the canonical form, types of fields, and decimals.

// --- SHA-256 (FIPS 180-4), at once: the browser's own answers later ---

const primes = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
const rooted = (root) => primes.map((p) => { const value = p ** (1 / root); return Math.floor((value - Math.floor(value)) * 2 ** 32) >>> 0; });
const constants = rooted(3), initial = rooted(2).slice(0, 8);
$.sha256 = (data) => {
  const size = data.length, blocks = Math.ceil((size + 9) / 64), padded = new DataView(new ArrayBuffer(blocks * 64)), bytes = new Uint8Array(padded.buffer);
  bytes.set(data);
  bytes[size] = 0x80;
  padded.setBigUint64(blocks * 64 - 8, BigInt(size) * 8n);
  const state = [...initial], w = new Uint32Array(64), turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < 16; i++) w[i] = padded.getUint32(block * 64 + i * 4);
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i]) | 0;
      const other = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + other) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, place) => { state[place] = (state[place] + value) | 0; });
  }
  const out = new DataView(new ArrayBuffer(32));
  state.forEach((value, place) => out.setInt32(place * 4, value));
  return new Uint8Array(out.buffer);
};
$.hex = (raw) => [...raw].map((byte) => byte.toString(16).padStart(2, "0")).join("");
$.libraries.hashlib = {sha256: ([data]) => { const raw = $.sha256(data); return $.record({hexdigest: () => $.hex(raw), digest: () => raw}); }};

// --- base64, whose last letter may hold bits that decoding ignores ---

const latin = (raw) => { let text = ""; for (let at = 0; at < raw.length; at += 8192) text += String.fromCharCode(...raw.subarray(at, at + 8192)); return text; };
const decoded64 = (coded) => {
  const text = typeof coded === "string" ? coded : coded instanceof Uint8Array ? latin(coded) : null;
  if (text === null) throw $.raised($.b.TypeError, "argument should be a bytes-like object or ASCII string");
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) throw $.raised($.b.ValueError, "not base64");
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
};
const coded64 = (raw) => new TextEncoder().encode(btoa(latin(raw)));
$.libraries.base64 = {b64decode: ([coded]) => decoded64(coded), b64encode: ([raw]) => coded64(raw)};

// --- Ed25519: the browser answers later, so the question is put aside and the verification begun again ---

$.Question = class Question extends Error { constructor(parts) { super("a signature to check"); this.parts = parts; } };
$.answers = new Map();
const key = $.cls("Ed25519PublicKey", [], (own) => {
  own.from_public_bytes = $.classmethod($.fn("from_public_bytes", ["cls", "raw"], {}, (kind, raw) => {
    if (raw.length !== 32) throw $.raised($.b.ValueError, "An Ed25519 public key is 32 bytes long");
    const made = kind([]);
    made.$raw = raw;
    return made;
  }));
  own.public_bytes = $.fn("public_bytes", ["self", "encoding", "format"], {}, (self) => self.$raw);
  own.verify = $.fn("verify", ["self", "signature", "data"], {}, (self, signature, data) => {
    const name = `${$.hex(self.$raw)} ${$.hex(signature)} ${$.hex($.sha256(data))}`;
    if (!$.answers.has(name)) throw new $.Question({name, raw: self.$raw, signature, data});
    if ($.answers.get(name) !== true) throw $.raised($.libraries["cryptography.exceptions"].InvalidSignature);
    return null;
  });
});
const errorsOf = (name, base) => $.cls(name, [base], () => {});
$.libraries["cryptography.exceptions"] = {InvalidSignature: errorsOf("InvalidSignature", $.b.Exception), UnsupportedAlgorithm: errorsOf("UnsupportedAlgorithm", $.b.Exception)};
$.libraries["cryptography.hazmat.primitives.asymmetric.ed25519"] = {Ed25519PublicKey: key, Ed25519PrivateKey: $.absent("Ed25519PrivateKey")};
const header = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];  // SubjectPublicKeyInfo of Ed25519 (RFC 8410)
$.libraries["cryptography.hazmat.primitives.serialization"] = {
  Encoding: $.record({Raw: "raw", PEM: "pem"}), PublicFormat: $.record({Raw: "raw", SubjectPublicKeyInfo: "info"}),
  load_pem_public_key: ([pem]) => {
    const body = /-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----/.exec($.ga(pem, "decode")([]));
    if (body === null) throw $.raised($.b.ValueError, "not a public key in PEM form");
    const raw = decoded64(body[1].replace(/\s/g, ""));
    if (raw.length !== 44 || header.some((byte, place) => raw[place] !== byte)) throw $.raised($.b.ValueError, "not an Ed25519 public key");
    return $.ga(key, "from_public_bytes")([raw.slice(12)]);
  },
};
$.libraries["records.limited_io"] = {read_file: ([data]) => new TextEncoder().encode(data), parse_json: ([text]) => $.parsed(text), KEY: 65536n};

// --- RFC 8785 ---

const canonicalError = $.cls("CanonicalizationError", [$.b.ValueError], () => {});
const integerError = $.cls("IntegerDomainError", [canonicalError], () => {});
const canonical = (value) => {
  const plain = $.plain(value);
  if (plain === null || typeof plain === "boolean") return String(plain);
  if (typeof plain === "bigint") {
    if (plain > 9007199254740991n || plain < -9007199254740991n) throw $.raised(integerError, "a whole number that a double does not hold");
    return String(plain);
  }
  if (typeof plain === "number") {
    if (!Number.isFinite(plain)) throw $.raised(canonicalError, "no finite number");
    return String(plain);
  }
  if (typeof plain === "string") {
    if (!plain.isWellFormed()) throw $.raised(canonicalError, "half a surrogate pair");
    return JSON.stringify(plain);
  }
  if (Array.isArray(plain)) return `[${[...plain].map(canonical).join()}]`;
  if (plain instanceof $.Dict) {
    const names = [...plain.keys()];
    if (names.some((name) => typeof name !== "string")) throw $.raised(canonicalError, "a name that is no text");
    return `{${names.sort().map((name) => `${canonical(name)}:${canonical(plain.get(name))}`).join()}}`;
  }
  throw $.raised(canonicalError, "not JSON");
};
$.libraries.rfc8785 = {dumps: ([value]) => new TextEncoder().encode(canonical(value)), CanonicalizationError: canonicalError, IntegerDomainError: integerError};

// --- types of fields, as msgspec reads JSON into them ---

const validation = $.cls("ValidationError", [$.b.ValueError], () => {});
const refuse = () => $.raised(validation, "of another type than the field has");
const converted = (value, hint) => {
  if (!Array.isArray(hint)) hint = ["is", hint];
  const [form, ...rest] = hint;
  if (form === "none") { if (value !== null) throw refuse(); return null; }
  if (form === "or") {
    const ways = [], flat = (one) => (one[0] === "or" ? one.slice(1).forEach(flat) : ways.push(one));
    flat(hint);
    ways.sort((a, b) => Number(a[1] === $.b.float) - Number(b[1] === $.b.float));  // a whole number is one where it may be
    for (const way of ways) { try { return converted(value, way); } catch (error) { if (!$.caught(error, validation)) throw error; } }
    throw refuse();
  }
  const [kind] = rest;
  if (form === "of" || form === "parts") {
    if (kind === $.b.tuple || kind === $.b.list) {
      if (!Array.isArray(value) || (form === "parts" && kind === $.b.tuple && value.length !== rest.length - 1)) throw refuse();
      const parts = value.map((one, place) => converted(one, form === "of" || kind === $.b.list ? rest[1] : rest[place + 1]));
      return kind === $.b.tuple ? $.tuple(parts) : [...parts];
    }
    return value;
  }
  if (kind.isAny || kind === $.b.object) return value;
  if (kind === $.b.float) {
    if (typeof value === "bigint") { const number = Number(value); if (!Number.isFinite(number)) throw refuse(); return number; }
    if (typeof value !== "number") throw refuse();
    return value;
  }
  const plainKind = {bigint: $.b.int, string: $.b.str, boolean: $.b.bool}[typeof value];
  if (kind === $.b.int || kind === $.b.str || kind === $.b.bool) { if (plainKind !== kind) throw refuse(); return value; }
  if (kind.isWord) { if (typeof value !== "string" || !kind.members.has(value)) throw refuse(); return kind.members.get(value); }
  if (kind.fields) {
    if (!(value instanceof $.Dict)) throw refuse();
    const named = {};
    for (const field of kind.fields) if (value.has(field.name)) named[field.name] = converted(value.get(field.name), field.hint());
    try { return kind([], named); } catch (error) { if ($.caught($.thrown(error), $.tuple([$.b.ValueError, $.b.TypeError]))) throw refuse(); throw error; }
  }
  if ($.b.isinstance([value, kind])) return value;
  throw refuse();
};
$.libraries.msgspec = {convert: ([value, hint]) => converted(value, hint), ValidationError: validation};

// --- decimals and fractions, exactly ---

$.Decimal = class Decimal {
  constructor(digits, exponent) { this.digits = digits; this.exponent = exponent; }  // digits · 10^exponent
  static read(text) {
    const parts = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text);
    return new Decimal(BigInt(`${parts[1]}${parts[2]}${parts[3]}` || "0"), Number(parts[4] ?? 0) - parts[3].length);
  }
  raisedTo(exponent) {  // so many places, rounded towards +∞
    if (exponent <= this.exponent) return new Decimal(this.digits * 10n ** BigInt(this.exponent - exponent), exponent);
    const unit = 10n ** BigInt(exponent - this.exponent), low = this.digits / unit;
    return new Decimal(this.digits > 0n && this.digits % unit ? low + 1n : low, exponent);
  }
  within(places) {
    const size = String(this.digits < 0n ? -this.digits : this.digits).length;
    return size <= places ? this : this.raisedTo(this.exponent + size - places).within(places);
  }
  toNumber() { return Number(`${this.digits}e${this.exponent}`); }
  rank() { return this.toNumber(); }
  equals(other) { return other instanceof Decimal && other.toNumber() === this.toNumber(); }
  text() {
    if (this.exponent >= 0) return String(this.digits * 10n ** BigInt(this.exponent));
    const bare = String(this.digits).replace("-", "").padStart(1 - this.exponent, "0");
    return `${this.digits < 0n ? "-" : ""}${bare.slice(0, this.exponent)}.${bare.slice(this.exponent)}`;
  }
  __mul__(times) { return new Decimal(this.digits * BigInt(times), this.exponent); }
};
$.Decimal.kind = $.kindOf("Decimal", [$.b.object], ([text]) => $.Decimal.read($.str(text)), {
  quantize: (decimal, unit) => decimal.raisedTo(unit.exponent),
});
$.Fraction = class Fraction {
  constructor(top, bottom) { this.top = top; this.bottom = bottom; }
  __rmul__(times) { return new Fraction(this.top * BigInt(times), this.bottom); }
  __mul__(times) { return this.__rmul__(times); }
  toNumber() { return Number(this.top) / Number(this.bottom); }
  rounded(up) { const low = $.floordiv(this.top, this.bottom); return up && low * this.bottom !== this.top ? low + 1n : low; }
};
$.Fraction.kind = $.kindOf("Fraction", [$.b.object], ([text]) => {
  const {digits, exponent} = $.Decimal.read($.str(text));
  return exponent >= 0 ? new $.Fraction(digits * 10n ** BigInt(exponent), 1n) : new $.Fraction(digits, 10n ** BigInt(-exponent));
}, {});
$.libraries.decimal = {
  Decimal: $.Decimal.kind, ROUND_CEILING: "ROUND_CEILING",
  Context: (given, {prec}) => $.record({plus: ([decimal]) => decimal.within(Number(prec))}),
};
$.libraries.fractions = {Fraction: $.Fraction.kind};
$.libraries.uuid = {
  UUID: ([text]) => { if (typeof text !== "string" || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) throw $.raised($.b.ValueError, "not a UUID"); return text; },
  uuid4: null,
};

$.catalogues = {"claims": {"de": "{\"language\": \"Deutsch\", \"decimal\": \",\", \"day\": \"{day}. {month} {year}\", \"and\": \" und sofern \", \"months\": [\"Januar\", \"Februar\", \"März\", \"April\", \"Mai\", \"Juni\", \"Juli\", \"August\", \"September\", \"Oktober\", \"November\", \"Dezember\"], \"terms\": \"In den Begriffen des Fachs, aus {figure} ({worlds}): (ε={epsilon}, δ={delta}).\", \"renyi\": \"Rényi-Divergenz der Ordnung {order} höchstens {renyi}.\", \"words\": {\"complexity\": \"Komplexität des Antrags\", \"number of requests\": \"Anzahl der Anträge\", \"trigger\": \"einen Auslöser in der Datenbank\", \"versions\": \"einen Vergleich ihrer Fassungen\", \"file\": \"dieses Programm, da nach den Zeiten der Datei niemand sonst hineinschrieb\", \"erased\": \"die Zeilen wurden gelöscht\", \"published\": \"das Modell ohne sie wurde veröffentlicht\", \"told\": \"die Person wurde unterrichtet\", \"erased.later\": \"seither veröffentlichte Modelle\", \"erased.all\": \"alle Modelle\", \"erased.before\": \"die bisherigen Modelle\", \"replaced.later\": \"seither veröffentlichte Modelle\", \"replaced.all\": \"alle Modelle\", \"replaced.before\": \"die bisherigen Modelle\", \"present.one\": \"das letzte Modell allein, zu einem noch vorhandenen Datensatz\", \"present.all\": \"alle Modelle, zu einem noch vorhandenen Datensatz\"}, \"claims\": {\"erased\": {\"by\": \"rows\", \"one\": \"Ein Datensatz wurde aus der Tabelle gelöscht, aus der Modelle entstehen.\", \"many\": \"{rows} Datensätze wurden aus der Tabelle gelöscht, aus der Modelle entstehen.\"}, \"replaced\": {\"by\": \"rows\", \"one\": \"Der frühere Inhalt eines Datensatzes wurde gelöscht und durch neuen ersetzt (Berichtigung, Art. 16 DSGVO).\", \"many\": \"Der frühere Inhalt von {rows} Datensätzen wurde gelöscht und durch neuen ersetzt (Berichtigung, Art. 16 DSGVO).\"}, \"inserted\": {\"by\": \"rows\", \"one\": \"Mit demselben Antrag wurde ein neuer Datensatz eingefügt: Dafür wurde nichts gelöscht, und darüber wird nichts bescheinigt.\", \"many\": \"Mit demselben Antrag wurden {rows} neue Datensätze eingefügt: Dafür wurde nichts gelöscht, und darüber wird nichts bescheinigt.\"}, \"edited\": \"Die Tabelle wurde am {day} geändert.\", \"set-aside\": {\"by\": \"rows\", \"one\": \"Die Verarbeitung wurde am {day} eingeschränkt (Art. 18 und 21 DSGVO): Der Betreiber bewahrt den Datensatz gesondert auf, außerhalb der Tabelle. Er ist nicht endgültig fort.\", \"many\": \"Die Verarbeitung wurde am {day} eingeschränkt (Art. 18 und 21 DSGVO): Der Betreiber bewahrt die Datensätze gesondert auf, außerhalb der Tabelle. Sie sind nicht endgültig fort.\"}, \"put-back\": {\"by\": \"rows\", \"one\": \"Die Einschränkung wurde am {day} aufgehoben: Der Datensatz wurde zurückgelegt, und Modelle, die seither veröffentlicht wurden, können ihn wieder benutzt haben.\", \"many\": \"Die Einschränkung wurde am {day} aufgehoben: Die Datensätze wurden zurückgelegt, und Modelle, die seither veröffentlicht wurden, können sie wieder benutzt haben.\"}, \"person-gone\": {\"by\": \"rows_per_person\", \"one\": \"Jeder Datensatz gilt als der einer anderen Person.\", \"many\": \"Als er ausgeführt wurde, hat der Antrag von den betroffenen Personen keine weitere Zeile in den Trainingsdaten gelassen; höchstens {rows_per_person} Zeilen gehören zu einer Person.\"}, \"published.fresh\": \"Ein neues Modell wurde veröffentlicht (Nummer {release}), berechnet ohne das Gelöschte: neu gelernt aus den übrigen Datensätzen.\", \"published.warm\": \"Ein neues Modell wurde veröffentlicht (Nummer {release}), berechnet ohne das Gelöschte, durch ein Lösungsverfahren, das bei einem früheren Modell begann, in das es eingeflossen sein kann; eine begrenzte statistische Spur kann verbleiben.\", \"published.resumed\": \"Ein neues Modell wurde veröffentlicht (Nummer {release}), berechnet ohne das Gelöschte, ausgehend von einem früheren Modell, in das es eingeflossen sein kann; eine begrenzte statistische Spur kann verbleiben.\", \"published.carried\": \"Ein neues Modell wurde veröffentlicht (Nummer {release}), berechnet ohne das Gelöschte: aus Summen über die übrigen Datensätze, mit einem Rauschen, das von der vorigen Veröffentlichung fortgeführt wird.\", \"published.kept\": \"Ein neues Modell wurde veröffentlicht (Nummer {release}). Was für jeden Antrag neu gelernt wird, wurde ohne das Gelöschte berechnet; in den Teil darunter, den Löschungen nicht neu lernen, kann es eingeflossen sein.\", \"published.on\": \"Veröffentlicht wurde es am {day}.\", \"withheld\": \"Ein neues Modell wurde nicht veröffentlicht, weil das andere Personen mehr Privatheit gekostet hätte, als ihnen zugesagt ist; das alte Modell ist zurückgezogen.\", \"pending\": {\"by\": \"rows\", \"one\": \"Das zuletzt veröffentlichte Modell kann mit dem Datensatz trainiert worden sein. Ein ohne ihn berechnetes ist noch nicht veröffentlicht.\", \"many\": \"Das zuletzt veröffentlichte Modell kann mit den Datensätzen trainiert worden sein. Ein ohne sie berechnetes ist noch nicht veröffentlicht.\"}, \"source.order\": \"Die Datensätze liegen in einer Datenbank oder in Dateien des Betreibers. Nach der eigenen Zählung dieser Quelle wurden sie bei „{deleted_at}“ gelöscht, und das neue Modell wurde aus ihrem Stand bei „{read_at}“ berechnet, in dem die Löschung zu sehen ist. Auch ein Datensatz dort, den kein Modell gelesen hatte, zählt als gelöscht.\", \"source.counted\": \"Was sich dort seit dem vorigen Modell geändert hat, wurde gezählt durch {by}: {deleted} gelöscht, {replaced} ersetzt, {inserted} eingefügt.\", \"source.uncounted\": \"Was sich dort seit dem vorigen Modell sonst geändert hat, wurde nicht gezählt. Keine Zahl hier hängt davon ab: Jede gilt, welche anderen Zeilen auch geändert wurden.\", \"deadline\": \"Zu beantworten bis zum Ende des {day} am Ort des Eingangs: ein Kalendermonat (Art. 12 Abs. 3 DSGVO); an die Stelle eines Samstags oder Sonntags tritt der nächste Arbeitstag, ebenso an die eines Feiertags, den der Betreiber angibt (Verordnung 1182/71, Art. 3).\", \"deadline.holidays\": \"Zu beantworten bis zum Ende des {day} am Ort des Eingangs: ein Kalendermonat (Art. 12 Abs. 3 DSGVO); an die Stelle eines Samstags oder Sonntags tritt der nächste Arbeitstag, ebenso an die eines Feiertags, der sie hierher verschoben hat (Verordnung 1182/71, Art. 3).\", \"deadline.extended\": \"Zu beantworten bis zum Ende des {day} am Ort des Eingangs: verlängert wegen der {reason} (Art. 12 Abs. 3 DSGVO).\", \"in-time\": \"Fristgerecht: {what}.\", \"late\": \"Verspätet: {what} erst nach diesem Tag.\", \"erased.later\": {\"by\": \"question\", \"used\": {\"by\": \"unit\", \"record\": {\"by\": \"rows\", \"one\": \"Wer nur die seither veröffentlichten Modelle hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob der gelöschte Datensatz je in den Daten war.\", \"many\": \"Wer nur die seither veröffentlichten Modelle hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob irgendeiner der gelöschten Datensätze je in den Daten war.\"}, \"row\": {\"by\": \"rows\", \"one\": \"Wer nur die seither veröffentlichten Modelle hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob die gelöschte Zeile je in den Daten war.\", \"many\": \"Wer nur die seither veröffentlichten Modelle hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob irgendeine der gelöschten Zeilen je in den Daten war.\"}, \"person\": \"Wer nur die seither veröffentlichten Modelle hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob irgendeine Zeile irgendeiner der betroffenen Personen vor der Löschung in den Daten war.\"}, \"which\": {\"by\": \"unit\", \"record\": {\"by\": \"rows\", \"one\": \"Wer nur die seither veröffentlichten Modelle hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welcher von zwei möglichen Datensätzen der gelöschte war.\", \"many\": \"Wer nur die seither veröffentlichten Modelle hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welcher von zwei möglichen Datensätzen irgendeiner der gelöschten war.\"}, \"row\": {\"by\": \"rows\", \"one\": \"Wer nur die seither veröffentlichten Modelle hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welche von zwei möglichen Zeilen die gelöschte war.\", \"many\": \"Wer nur die seither veröffentlichten Modelle hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welche von zwei möglichen Zeilen irgendeine der gelöschten war.\"}, \"person\": \"Wer nur die seither veröffentlichten Modelle hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welchen von zwei möglichen Inhalten alle Zeilen irgendeiner der betroffenen Personen vor der Löschung hatten.\"}}, \"erased.all\": {\"by\": \"question\", \"used\": {\"by\": \"unit\", \"record\": {\"by\": \"rows\", \"one\": \"Wer alle Modelle aufbewahrt hat, auch wenn andere Anträge nach deren Kenntnis gewählt wurden, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob der gelöschte Datensatz je in den Daten war.\", \"many\": \"Wer alle Modelle aufbewahrt hat, auch wenn andere Anträge nach deren Kenntnis gewählt wurden, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob irgendeiner der gelöschten Datensätze je in den Daten war.\"}, \"row\": {\"by\": \"rows\", \"one\": \"Wer alle Modelle aufbewahrt hat, auch wenn andere Anträge nach deren Kenntnis gewählt wurden, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob die gelöschte Zeile je in den Daten war.\", \"many\": \"Wer alle Modelle aufbewahrt hat, auch wenn andere Anträge nach deren Kenntnis gewählt wurden, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob irgendeine der gelöschten Zeilen je in den Daten war.\"}, \"person\": \"Wer alle Modelle aufbewahrt hat, auch wenn andere Anträge nach deren Kenntnis gewählt wurden, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob irgendeine Zeile irgendeiner der betroffenen Personen vor der Löschung in den Daten war.\"}, \"which\": {\"by\": \"unit\", \"record\": {\"by\": \"rows\", \"one\": \"Wer alle Modelle aufbewahrt hat, auch wenn andere Anträge nach deren Kenntnis gewählt wurden, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welcher von zwei möglichen Datensätzen der gelöschte war.\", \"many\": \"Wer alle Modelle aufbewahrt hat, auch wenn andere Anträge nach deren Kenntnis gewählt wurden, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welcher von zwei möglichen Datensätzen irgendeiner der gelöschten war.\"}, \"row\": {\"by\": \"rows\", \"one\": \"Wer alle Modelle aufbewahrt hat, auch wenn andere Anträge nach deren Kenntnis gewählt wurden, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welche von zwei möglichen Zeilen die gelöschte war.\", \"many\": \"Wer alle Modelle aufbewahrt hat, auch wenn andere Anträge nach deren Kenntnis gewählt wurden, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welche von zwei möglichen Zeilen irgendeine der gelöschten war.\"}, \"person\": \"Wer alle Modelle aufbewahrt hat, auch wenn andere Anträge nach deren Kenntnis gewählt wurden, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welchen von zwei möglichen Inhalten alle Zeilen irgendeiner der betroffenen Personen vor der Löschung hatten.\"}}, \"erased.before\": {\"by\": \"question\", \"used\": {\"by\": \"unit\", \"record\": {\"by\": \"rows\", \"one\": \"Wer alle bisher veröffentlichten Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob der gelöschte Datensatz je in den Daten war.\", \"many\": \"Wer alle bisher veröffentlichten Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob irgendeiner der gelöschten Datensätze je in den Daten war.\"}, \"row\": {\"by\": \"rows\", \"one\": \"Wer alle bisher veröffentlichten Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob die gelöschte Zeile je in den Daten war.\", \"many\": \"Wer alle bisher veröffentlichten Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob irgendeine der gelöschten Zeilen je in den Daten war.\"}, \"person\": \"Wer alle bisher veröffentlichten Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob irgendeine Zeile irgendeiner der betroffenen Personen vor der Löschung in den Daten war.\"}, \"which\": {\"by\": \"unit\", \"record\": {\"by\": \"rows\", \"one\": \"Wer alle bisher veröffentlichten Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welcher von zwei möglichen Datensätzen der gelöschte war.\", \"many\": \"Wer alle bisher veröffentlichten Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welcher von zwei möglichen Datensätzen irgendeiner der gelöschten war.\"}, \"row\": {\"by\": \"rows\", \"one\": \"Wer alle bisher veröffentlichten Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welche von zwei möglichen Zeilen die gelöschte war.\", \"many\": \"Wer alle bisher veröffentlichten Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welche von zwei möglichen Zeilen irgendeine der gelöschten war.\"}, \"person\": \"Wer alle bisher veröffentlichten Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welchen von zwei möglichen Inhalten alle Zeilen irgendeiner der betroffenen Personen vor der Löschung hatten.\"}}, \"replaced.later\": {\"by\": \"rows\", \"one\": \"Wer nur die seither veröffentlichten Modelle hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welchen von zwei Inhalten der Datensatz zuvor hatte.\", \"many\": \"Wer nur die seither veröffentlichten Modelle hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welchen von zwei Inhalten irgendeiner der Datensätze zuvor hatte.\"}, \"replaced.all\": {\"by\": \"rows\", \"one\": \"Wer alle Modelle aufbewahrt hat, auch wenn andere Anträge nach deren Kenntnis gewählt wurden, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welchen von zwei Inhalten der Datensatz zuvor hatte.\", \"many\": \"Wer alle Modelle aufbewahrt hat, auch wenn andere Anträge nach deren Kenntnis gewählt wurden, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welchen von zwei Inhalten irgendeiner der Datensätze zuvor hatte.\"}, \"replaced.before\": {\"by\": \"rows\", \"one\": \"Wer alle bisher veröffentlichten Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welchen von zwei Inhalten der Datensatz zuvor hatte.\", \"many\": \"Wer alle bisher veröffentlichten Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welchen von zwei Inhalten irgendeiner der Datensätze zuvor hatte.\"}, \"present.one\": {\"by\": \"question\", \"used\": \"Zu einem noch vorhandenen Datensatz: Wer nur das letzte Modell hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob er in den Daten ist.\", \"which\": \"Zu einem noch vorhandenen Datensatz: Wer nur das letzte Modell hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welcher von zwei möglichen Datensätzen es ist.\"}, \"present.all\": {\"by\": \"question\", \"used\": \"Zu einem noch vorhandenen Datensatz: Wer alle Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, ob er in den Daten ist.\", \"which\": \"Zu einem noch vorhandenen Datensatz: Wer alle Modelle aufbewahrt hat, kann, sofern {if}, in höchstens {of_hundred} von 100 Fällen richtig sagen, welcher von zwei möglichen Datensätzen es ist.\"}, \"odds.ever\": {\"by\": \"question\", \"used\": {\"by\": \"unit\", \"record\": \"Wer auch immer wählt, welcher Datensatz gelöscht wird, oder wann, auch nach Kenntnis von Modellen: Außer mit Wahrscheinlichkeit {delta} für jeden Datensatz, der hätte gewählt werden können, wird sich niemand, der von gleichen Chancen ausgeht, je sicherer als {odds} zu 1 darüber, ob er in den Daten war, über alle Modelle hinweg, die die Gesamtgrenze (ε={total_epsilon}, δ={total_delta}) zulässt, sofern {if}.\", \"row\": \"Wer auch immer wählt, welche Zeile gelöscht wird, oder wann, auch nach Kenntnis von Modellen: Außer mit Wahrscheinlichkeit {delta} für jede Zeile, die hätte gewählt werden können, wird sich niemand, der von gleichen Chancen ausgeht, je sicherer als {odds} zu 1 darüber, ob sie in den Daten war, über alle Modelle hinweg, die die Gesamtgrenze (ε={total_epsilon}, δ={total_delta}) zulässt, sofern {if}.\", \"person\": \"Wer auch immer wählt, wessen Zeilen gelöscht werden, oder wann, auch nach Kenntnis von Modellen: Außer mit Wahrscheinlichkeit {delta} für jede Person, die hätte gewählt werden können, wird sich niemand, der von gleichen Chancen ausgeht, je sicherer als {odds} zu 1 darüber, ob irgendeine Zeile dieser Person in den Daten war, über alle Modelle hinweg, die die Gesamtgrenze (ε={total_epsilon}, δ={total_delta}) zulässt, sofern {if}.\"}, \"which\": {\"by\": \"unit\", \"record\": \"Wer auch immer wählt, welcher Datensatz gelöscht wird, oder wann, auch nach Kenntnis von Modellen: Außer mit Wahrscheinlichkeit {delta} für jeden Datensatz, der hätte gewählt werden können, wird sich niemand, der von gleichen Chancen ausgeht, je sicherer als {odds} zu 1 darüber, welcher von zwei möglichen Datensätzen er war, über alle Modelle hinweg, die die Gesamtgrenze (ε={total_epsilon}, δ={total_delta}) zulässt, sofern {if}.\", \"row\": \"Wer auch immer wählt, welche Zeile gelöscht wird, oder wann, auch nach Kenntnis von Modellen: Außer mit Wahrscheinlichkeit {delta} für jede Zeile, die hätte gewählt werden können, wird sich niemand, der von gleichen Chancen ausgeht, je sicherer als {odds} zu 1 darüber, welche von zwei möglichen Zeilen sie war, über alle Modelle hinweg, die die Gesamtgrenze (ε={total_epsilon}, δ={total_delta}) zulässt, sofern {if}.\", \"person\": \"Wer auch immer wählt, wessen Zeilen gelöscht werden, oder wann, auch nach Kenntnis von Modellen: Außer mit Wahrscheinlichkeit {delta} für jede Person, die hätte gewählt werden können, wird sich niemand, der von gleichen Chancen ausgeht, je sicherer als {odds} zu 1 darüber, welchen von zwei möglichen Inhalten alle Zeilen dieser Person hatten, über alle Modelle hinweg, die die Gesamtgrenze (ε={total_epsilon}, δ={total_delta}) zulässt, sofern {if}.\"}}, \"requests-blind\": \"Anträge nicht von früheren Modellen abhingen\", \"target-fixed\": \"welcher Datensatz gelöscht wird, und wann, feststand, bevor ein Modell zu sehen war\", \"record-fixed\": \"feststand, welcher Datensatz gemeint ist, bevor ein Modell zu sehen war\", \"total-fixed\": \"diese Gesamtgrenze vor dem ersten Modell feststand und von jedem späteren eingehalten wird, wie der Betreiber angibt\", \"schedule-calendar\": \"Veröffentlichungen sich an die Termine eines Kalenders hielten, der vorab feststand, wie der Betreiber angibt\", \"schedule-fixed\": \"nichts von dem, was zu sehen war, darüber entschied, wann ein Modell veröffentlicht wurde\", \"ranges-public\": \"Jede Merkmalszeile hat höchstens die Norm {radius}, nach Bereichen und Wertelisten, von denen das Schema keine als an den Daten abgelesen kennzeichnet; die Vorverarbeitung wirkt auf jeden Datensatz für sich.\", \"ranges-from-data\": \"Jede Merkmalszeile hat höchstens die Norm {radius}. Die Bereiche oder Wertelisten dieser Spalten wurden an den Daten abgelesen: „{columns}“. Die Zahlen nehmen sie als öffentlich bekannt an; was sie selbst von den Daten zeigen, ist nirgends mitgezählt.\", \"ranges-unknown\": \"Jede Merkmalszeile hat höchstens die Norm {radius}, nach Bereichen und Wertelisten, die von den Zahlen als öffentlich bekannt angenommen werden; ob sie an den Daten abgelesen wurden, ist nicht bekannt, und was sie davon zeigen würden, ist nirgends mitgezählt.\", \"row-norm\": \"Veröffentlichungen {first} bis {last}: Keine Merkmalszeile war länger als {radius}; auf diese Norm ist ihr Rauschen ausgelegt.\", \"map-public\": \"Die Merkmale stammen von einer öffentlichen Abbildung, SHA-256 {digest}, die gewählt und trainiert wurde, bevor die Datensätze gelesen wurden, und ohne sie; was sie gelernt hat, wird durch nichts hier Bescheinigte gelöscht.\", \"rows-per-person\": {\"by\": \"rows_per_person\", \"one\": \"Jede Zeile gehört zu einer anderen Person, nach Angabe des Betreibers.\", \"many\": \"Höchstens {rows_per_person} Zeilen gehören zu einer Person, nach Angabe des Betreibers.\"}, \"curator-trusted\": \"Der Maschine des Betreibers wird vertraut: Ein Beobachter sieht veröffentlichte Modelle, nicht Speicher oder Datenträger.\", \"gradient-norm\": \"Der Gradient jedes Datensatzes hat höchstens die Norm {lipschitz}.\", \"constants-declared\": \"Die Konstanten der Verlustfunktion sind erklärt, nicht bewiesen; bei einem Netz in torch ist angenommen, dass der in Gleitkommazahlen begrenzte Gradient einer Zeile nicht von den anderen Zeilen abhängt.\", \"slots-public\": \"n={records} Plätze sind öffentlich und fest.\", \"gaussian-noise\": \"Das Rauschen von Veröffentlichungen durch '{method}' ist normalverteilt, unabhängig und dem Beobachter unbekannt.\", \"real-arithmetic\": \"Zu Veröffentlichungen durch '{method}': Schranken über den reellen Zahlen; zwischen Tabellen, in denen jede andere Zeile denselben Platz hat, erhöht die Rundung der Gradientensummen die Empfindlichkeit, was die Zahlen einschließen.\", \"solver-tolerance\": \"Zu Veröffentlichungen durch '{method}': Der Gradient am Ergebnis des Lösungsverfahrens ist nicht länger als {tolerance}, Rundung eingeschlossen.\", \"time-unseen\": \"Zu Veröffentlichungen durch '{method}': Die Laufzeit des Lösungsverfahrens kann von den Datensätzen abhängen. Wer auf weniger als einen Tag genau sieht, wann ein Modell veröffentlicht wurde, ist nicht erfasst.\", \"exact-noise\": \"Zu Veröffentlichungen durch '{method}': Das letzte Rauschen ist eine exakte diskrete Normalverteilung auf einem öffentlichen Gitter; Gleitkommazahlen entscheiden beim Ziehen nur, wo kein Zweifel ist.\", \"exact-steps\": \"Zu Veröffentlichungen durch '{method}': Das Rauschen jedes Schrittes ist eine exakte diskrete Normalverteilung auf einem öffentlichen Gitter, die Rundung jedes Schrittes ist mitgerechnet; Gleitkommazahlen entscheiden beim Ziehen nur, wo kein Zweifel ist.\", \"rows-in-place\": \"Zu Veröffentlichungen durch '{method}': Die Zeilen werden in einer Reihenfolge summiert, die ihr Inhalt festlegt, gleich auf welchem Platz sie stehen.\", \"row-shape\": \"Zu Veröffentlichungen durch '{method}': Keine Zeile ist länger in der Form des Rauschens, in der ihre Spalten nach deren Varianzen zählen.\", \"machine-trusted\": \"Vertraut wird auf die Zufallszahlen des Betriebssystems, darauf, dass ChaCha20 daraus zufällige Bits macht, und auf die angegebene Genauigkeit des Prozessors und seiner elementaren Funktionen.\", \"stages-published\": \"Jede Stufe der Leiter beginnt bei einer behaltenen Stufe oder an einem öffentlichen Punkt, und alle werden veröffentlicht.\", \"samples-unseen\": \"Jeder Schritt auf einer Stichprobe zog eine unabhängige Poisson-Stichprobe der Plätze, die nicht beobachtet wird.\", \"counts-one-cell\": \"Jeder Datensatz liegt in genau einem Feld der veröffentlichten Zählung, gleich wie die anderen sind; ihr Rauschen ist eine exakte diskrete Normalverteilung.\", \"sums-carried\": \"Zu Veröffentlichungen durch '{method}': Jede Änderung der Tabelle ging durch ihren Speicher, und die Zeilen einer Veröffentlichung wurden überschrieben, nachdem deren Rauschen gezogen war; jedes Modell entstand aus den Summen einer einzigen Veröffentlichung; wie viele es geben würde, stand vorher fest. Wer sieht, wie lange eine Veröffentlichung dauerte, ist nicht erfasst.\", \"sums-all-rows\": {\"by\": \"rows_per_person\", \"one\": \"Keine Person hatte je mehr als eine Zeile: Eine gelöschte oder eingeschränkte, die wiederkommt, unter welcher Kennung auch immer, zählt als weitere.\", \"many\": \"Keine Person hatte je mehr als {rows_per_person} Zeilen: Eine gelöschte oder eingeschränkte, die wiederkommt, unter welcher Kennung auch immer, zählt als weitere.\"}, \"moments-own-norm\": \"Jede Zeile, die in die Momente eingeht, wird durch ihre eigene Norm geteilt, gleich wie die anderen sind; ihr Rauschen ist eine exakte diskrete Normalverteilung.\", \"rows-remain\": {\"by\": \"remaining\", \"one\": \"Als er ausgeführt wurde, hat der Antrag eine weitere Zeile der betroffenen Personen in den Trainingsdaten gelassen; ein späterer Antrag kann sie gelöscht haben. Die Zahlen gelten für die gelöschten Zeilen allein, jede für sich, und nicht für die Person.\", \"many\": \"Als er ausgeführt wurde, hat der Antrag {remaining} weitere Zeilen der betroffenen Personen in den Trainingsdaten gelassen; spätere Anträge können sie gelöscht haben. Die Zahlen gelten für die gelöschten Zeilen allein, jede für sich, und nicht für die Person.\"}, \"rows-may-remain\": \"Bis zu {rows_per_person} Zeilen gehören zu einer Person, und weitere der betroffenen Personen können in den Trainingsdaten bleiben. Die Zahlen gelten für die gelöschten Zeilen allein, jede für sich, und nicht für die Person.\", \"hardly\": \"Die Grenze für {figure} ist kaum eine: Wer das gesehen hat, kann es durchaus wissen.\", \"delta-large\": \"δ={delta} ist mehr als eins zu {records} Datensätzen: Eine Zahl mit diesem δ ließe zu, dass ein Datensatz im Ganzen veröffentlicht wird. Ihr ε besagt dann nichts.\", \"kinds-unrecorded\": \"Das Journal sagt nicht, welche Änderungen dieser Veröffentlichung Löschungen waren; dass die Datensätze gelöscht wurden, ist eine Angabe des Betreibers.\", \"left.base\": \"Der erste Teil des Modells wurde trainiert, als das Gelöschte in den Daten gewesen sein kann, und eine Löschung trainiert ihn nicht neu: Die verwendeten Modelle tragen ihn weiter. Die Grenzen zählen das mit.\", \"left.extractor\": \"Die Merkmalsstufe unter dem Modell kann mit dem Gelöschten trainiert worden sein, und keine Löschung nimmt das zurück. Die Grenzen zählen das mit.\", \"left.statistics\": \"Auch Zahlen über die Datensätze wurden veröffentlicht, mit Rauschen. In die vor der Löschung kann das Gelöschte eingegangen sein, und keine Löschung nimmt das zurück. Die Grenzen für jemanden, der alles aufbewahrt hat, zählen sie mit.\", \"residue.found\": {\"by\": \"places\", \"one\": \"Eine Suche des Betreibers fand an einem Ort noch Texte des Gelöschten.\", \"many\": \"Eine Suche des Betreibers fand an {places} Orten noch Texte des Gelöschten.\"}, \"residue.unread\": {\"by\": \"places\", \"one\": \"Ein Ort konnte nicht nach dem Gelöschten durchsucht werden.\", \"many\": \"{places} Orte konnten nicht nach dem Gelöschten durchsucht werden.\"}, \"model-in-use\": {\"by\": \"rows\", \"one\": \"Das verwendete Modell kann mit dem Datensatz trainiert worden sein.\", \"many\": \"Das verwendete Modell kann mit den Datensätzen trainiert worden sein.\"}, \"model-in-use.until\": {\"by\": \"rows\", \"one\": \"Das verwendete Modell kann mit dem Datensatz trainiert worden sein. Ein ohne ihn berechnetes ist bis zum {day} geplant.\", \"many\": \"Das verwendete Modell kann mit den Datensätzen trainiert worden sein. Ein ohne sie berechnetes ist bis zum {day} geplant.\"}, \"model-withdrawn\": {\"by\": \"rows\", \"one\": \"Das Modell, in das der Datensatz eingeflossen sein kann, ist seit dem {day} außer Betrieb; Kopien bei anderen sind es nicht.\", \"many\": \"Das Modell, in das die Datensätze eingeflossen sein können, ist seit dem {day} außer Betrieb; Kopien bei anderen sind es nicht.\"}, \"model-withdrawn.kept\": {\"by\": \"rows\", \"one\": \"Das Modell, in das der Datensatz eingeflossen sein kann, ist seit dem {day} außer Betrieb, bis auf seinen ersten Teil, den die verwendeten Modelle weiter tragen; Kopien bei anderen sind es nicht.\", \"many\": \"Das Modell, in das die Datensätze eingeflossen sein können, ist seit dem {day} außer Betrieb, bis auf seinen ersten Teil, den die verwendeten Modelle weiter tragen; Kopien bei anderen sind es nicht.\"}, \"elsewhere.none\": \"Modelle liegen auch an {places} weiteren Orten („{kinds}“): An keinem liegt, soweit bekannt, eines, in das das Gelöschte eingeflossen sein kann.\", \"elsewhere.left\": \"Modelle liegen auch an {places} weiteren Orten („{kinds}“): An {left} davon kann noch eines liegen, in das das Gelöschte eingeflossen sein kann.\", \"elsewhere.unknown\": \"Modelle können auch an anderen Orten liegen: Die Liste, wohin sie gelegt wurden, ging verloren oder kam aus einer früheren Kopie zurück.\", \"backups\": {\"by\": \"rows\", \"one\": \"Sicherungskopien können den Datensatz bis zum {day} enthalten.\", \"many\": \"Sicherungskopien können die Datensätze bis zum {day} enthalten.\"}, \"not-covered.earlier-models\": \"vor der Löschung veröffentlichte Modelle und Kopien davon bei anderen\", \"not-covered.backups\": \"Sicherungskopien, Abbilder, Protokolle und Ausfuhren außerhalb des Speichers, anderswo gehaltene Kopien der Daten, wegen einer Einschränkung gesondert verwahrte Datensätze und dieselben Daten, wenn sie wieder in die Tabelle kamen\", \"not-covered.storage\": \"verschlissene oder umgelegte Zellen des Datenträgers (verschlüsseln Sie ihn: mit dem Schlüssel sind auch sie zerstört)\", \"not-covered.others\": \"Datensätze anderer, die diese Person erwähnen\", \"not-covered.other-models\": \"andere Modelle, Einbettungen oder Merkmalsstufen, die mit denselben Daten trainiert wurden\", \"not-covered.inference\": \"was die Daten aller anderen über diese Person besagen\", \"not-anonymous\": \"dies besagt nicht, dass das Modell im Sinne des Gesetzes anonym ist\", \"models\": \"Es geht um „{models}“.\", \"purposes\": \"Die Modelle werden verwendet für „{purposes}“.\", \"recipients\": \"{recipients} Empfänger der Daten wurden unterrichtet (Art. 19 DSGVO); sie werden auf Verlangen genannt.\", \"recipients.told\": \"{recipients} Empfänger der Daten wurden am {day} unterrichtet (Art. 19 DSGVO); sie werden auf Verlangen genannt.\", \"told\": \"Die Person wurde am {day} unterrichtet.\", \"contact\": \"Fragen und die Bitte um weitere Auskunft: „{contact}“.\", \"complaint\": \"Wer diese Antwort für falsch hält, kann Beschwerde bei einer Aufsichtsbehörde oder einen gerichtlichen Rechtsbehelf einlegen (Art. 77 und 79 DSGVO).\", \"complaint.to\": \"Wer diese Antwort für falsch hält, kann Beschwerde bei „{authority}“ oder einen gerichtlichen Rechtsbehelf einlegen (Art. 77 und 79 DSGVO).\", \"record-kept\": \"Über diesen Antrag wird ein Nachweis geführt, solange sich zeigen lassen muss, wie er beantwortet wurde.\", \"to-do.budget\": \"ein größeres Budget planen und neu lernen, bevor wieder veröffentlicht wird\", \"to-do.total\": \"eine größere Summe aller Veröffentlichungen planen und neu lernen, bevor wieder veröffentlicht wird\", \"to-do.publish\": \"innerhalb der Frist wieder veröffentlichen\", \"to-do.tell\": \"der Person mitteilen, was wann getan wurde\", \"to-do.recipients\": \"jeden Empfänger der Daten und früherer Modelle unterrichten (Art. 19 DSGVO)\", \"to-do.withdraw\": \"frühere Modelle außer Betrieb nehmen und Empfänger um Löschung ihrer Kopien bitten\", \"to-do.backups\": \"Sicherungskopien mit dem Datensatz ablaufen lassen und die Löschung nach jeder Wiederherstellung wiederholen\"}}", "en": "{\"language\": \"English\", \"decimal\": \".\", \"day\": \"{day} {month} {year}\", \"and\": \" and if \", \"terms\": \"In the terms of the field, from {figure} ({worlds}): (ε={epsilon}, δ={delta}).\", \"renyi\": \"Rényi divergence at order {order} at most {renyi}.\", \"months\": [\"January\", \"February\", \"March\", \"April\", \"May\", \"June\", \"July\", \"August\", \"September\", \"October\", \"November\", \"December\"], \"words\": {\"complexity\": \"complexity of the request\", \"number of requests\": \"number of requests\", \"trigger\": \"a trigger in the database\", \"versions\": \"a comparison of its versions\", \"file\": \"this program, since the times of the file show that nobody else wrote to it\", \"erased\": \"the rows were erased\", \"published\": \"the model without them was published\", \"told\": \"the person was told\", \"erased.later\": \"models published since\", \"erased.all\": \"all models\", \"erased.before\": \"the models so far\", \"replaced.later\": \"models published since\", \"replaced.all\": \"all models\", \"replaced.before\": \"the models so far\", \"present.one\": \"the last model alone, of a record still there\", \"present.all\": \"all models, of a record still there\"}, \"claims\": {\"erased\": {\"by\": \"rows\", \"one\": \"One record was erased from the table that models are made from.\", \"many\": \"{rows} records were erased from the table that models are made from.\"}, \"replaced\": {\"by\": \"rows\", \"one\": \"The earlier content of one record was erased and replaced by new content (rectification, Article 16 GDPR).\", \"many\": \"The earlier content of {rows} records was erased and replaced by new content (rectification, Article 16 GDPR).\"}, \"inserted\": {\"by\": \"rows\", \"one\": \"The same request also put a new record in: nothing was erased for that, and nothing is certified about it.\", \"many\": \"The same request also put {rows} new records in: nothing was erased for that, and nothing is certified about it.\"}, \"edited\": \"The table was changed on {day}.\", \"set-aside\": {\"by\": \"rows\", \"one\": \"Processing was restricted on {day} (Articles 18 and 21 GDPR): the operator keeps the record aside, outside the table. It is not gone for good.\", \"many\": \"Processing was restricted on {day} (Articles 18 and 21 GDPR): the operator keeps the records aside, outside the table. They are not gone for good.\"}, \"put-back\": {\"by\": \"rows\", \"one\": \"The restriction was lifted on {day}: the record was put back, and models published since may have used it again.\", \"many\": \"The restriction was lifted on {day}: the records were put back, and models published since may have used them again.\"}, \"person-gone\": {\"by\": \"rows_per_person\", \"one\": \"Every record is taken to be another person's.\", \"many\": \"When it was carried out, the request left no other row of the persons concerned in the training data; at most {rows_per_person} rows belong to one person.\"}, \"published.fresh\": \"A new model was published (release {release}), computed without what was erased: learned afresh from the records that remain.\", \"published.warm\": \"A new model was published (release {release}), computed without what was erased, by a solver that began at an earlier model that may have used it; a limited statistical trace may remain.\", \"published.resumed\": \"A new model was published (release {release}), computed without what was erased, starting from an earlier model that may have used it; a limited statistical trace may remain.\", \"published.carried\": \"A new model was published (release {release}), computed without what was erased: from sums over the records that remain, with noise that is carried on from the release before.\", \"published.kept\": \"A new model was published (release {release}). What is learned anew for each request was computed without what was erased; the part below it, which erasures do not train again, may have used it.\", \"published.on\": \"It was published on {day}.\", \"withheld\": \"No new model was published, because that would have cost other people more privacy than was promised; the old model is withdrawn.\", \"pending\": {\"by\": \"rows\", \"one\": \"The model published last may have been trained with the record. None computed without it is published yet.\", \"many\": \"The model published last may have been trained with the records. None computed without them is published yet.\"}, \"source.order\": \"The records lie in a database or in files of the operator. By that source's own count they were deleted at “{deleted_at}”, and the new model was computed from its state at “{read_at}”, which shows the deletion. A record there that no model had read counts as erased, too.\", \"source.counted\": \"All that changed there since the model before was counted by {by}: {deleted} deleted, {replaced} replaced, {inserted} inserted.\", \"source.uncounted\": \"What else changed there since the model before was not counted. No figure here depends on it: each holds whatever other rows were changed.\", \"deadline\": \"To be answered by the end of {day} where the request was received: one month by the calendar (Article 12(3) GDPR); a Saturday or Sunday gives way to the next working day, and so does a public holiday, which the operator states (Regulation 1182/71, Article 3).\", \"deadline.holidays\": \"To be answered by the end of {day} where the request was received: one month by the calendar (Article 12(3) GDPR); a Saturday or Sunday gives way to the next working day, and so does a public holiday, which moved it here (Regulation 1182/71, Article 3).\", \"deadline.extended\": \"To be answered by the end of {day} where the request was received: extended because of the {reason} (Article 12(3) GDPR).\", \"in-time\": \"In time: {what}.\", \"late\": \"Late: {what} only after that day.\", \"erased.later\": {\"by\": \"question\", \"used\": {\"by\": \"unit\", \"record\": {\"by\": \"rows\", \"one\": \"Someone who has only models published since, if {if}, is right at most {of_hundred} times in 100 about whether the erased record was ever in the data.\", \"many\": \"Someone who has only models published since, if {if}, is right at most {of_hundred} times in 100 about whether any one of the erased records was ever in the data.\"}, \"row\": {\"by\": \"rows\", \"one\": \"Someone who has only models published since, if {if}, is right at most {of_hundred} times in 100 about whether the erased row was ever in the data.\", \"many\": \"Someone who has only models published since, if {if}, is right at most {of_hundred} times in 100 about whether any one of the erased rows was ever in the data.\"}, \"person\": \"Someone who has only models published since, if {if}, is right at most {of_hundred} times in 100 about whether any row of any one of the persons concerned was in the data before the erasure.\"}, \"which\": {\"by\": \"unit\", \"record\": {\"by\": \"rows\", \"one\": \"Someone who has only models published since, if {if}, is right at most {of_hundred} times in 100 about which of two possible records the erased record was.\", \"many\": \"Someone who has only models published since, if {if}, is right at most {of_hundred} times in 100 about which of two possible records any one of the erased records was.\"}, \"row\": {\"by\": \"rows\", \"one\": \"Someone who has only models published since, if {if}, is right at most {of_hundred} times in 100 about which of two possible rows the erased row was.\", \"many\": \"Someone who has only models published since, if {if}, is right at most {of_hundred} times in 100 about which of two possible rows any one of the erased rows was.\"}, \"person\": \"Someone who has only models published since, if {if}, is right at most {of_hundred} times in 100 about which of two possible contents all rows of any one of the persons concerned had before the erasure.\"}}, \"erased.all\": {\"by\": \"question\", \"used\": {\"by\": \"unit\", \"record\": {\"by\": \"rows\", \"one\": \"Someone who kept every model, even if other requests were chosen after seeing them, is right at most {of_hundred} times in 100 about whether the erased record was ever in the data, if {if}.\", \"many\": \"Someone who kept every model, even if other requests were chosen after seeing them, is right at most {of_hundred} times in 100 about whether any one of the erased records was ever in the data, if {if}.\"}, \"row\": {\"by\": \"rows\", \"one\": \"Someone who kept every model, even if other requests were chosen after seeing them, is right at most {of_hundred} times in 100 about whether the erased row was ever in the data, if {if}.\", \"many\": \"Someone who kept every model, even if other requests were chosen after seeing them, is right at most {of_hundred} times in 100 about whether any one of the erased rows was ever in the data, if {if}.\"}, \"person\": \"Someone who kept every model, even if other requests were chosen after seeing them, is right at most {of_hundred} times in 100 about whether any row of any one of the persons concerned was in the data before the erasure, if {if}.\"}, \"which\": {\"by\": \"unit\", \"record\": {\"by\": \"rows\", \"one\": \"Someone who kept every model, even if other requests were chosen after seeing them, is right at most {of_hundred} times in 100 about which of two possible records the erased record was, if {if}.\", \"many\": \"Someone who kept every model, even if other requests were chosen after seeing them, is right at most {of_hundred} times in 100 about which of two possible records any one of the erased records was, if {if}.\"}, \"row\": {\"by\": \"rows\", \"one\": \"Someone who kept every model, even if other requests were chosen after seeing them, is right at most {of_hundred} times in 100 about which of two possible rows the erased row was, if {if}.\", \"many\": \"Someone who kept every model, even if other requests were chosen after seeing them, is right at most {of_hundred} times in 100 about which of two possible rows any one of the erased rows was, if {if}.\"}, \"person\": \"Someone who kept every model, even if other requests were chosen after seeing them, is right at most {of_hundred} times in 100 about which of two possible contents all rows of any one of the persons concerned had before the erasure, if {if}.\"}}, \"erased.before\": {\"by\": \"question\", \"used\": {\"by\": \"unit\", \"record\": {\"by\": \"rows\", \"one\": \"Someone who kept every model published so far is right at most {of_hundred} times in 100 about whether the erased record was ever in the data, if {if}.\", \"many\": \"Someone who kept every model published so far is right at most {of_hundred} times in 100 about whether any one of the erased records was ever in the data, if {if}.\"}, \"row\": {\"by\": \"rows\", \"one\": \"Someone who kept every model published so far is right at most {of_hundred} times in 100 about whether the erased row was ever in the data, if {if}.\", \"many\": \"Someone who kept every model published so far is right at most {of_hundred} times in 100 about whether any one of the erased rows was ever in the data, if {if}.\"}, \"person\": \"Someone who kept every model published so far is right at most {of_hundred} times in 100 about whether any row of any one of the persons concerned was in the data before the erasure, if {if}.\"}, \"which\": {\"by\": \"unit\", \"record\": {\"by\": \"rows\", \"one\": \"Someone who kept every model published so far is right at most {of_hundred} times in 100 about which of two possible records the erased record was, if {if}.\", \"many\": \"Someone who kept every model published so far is right at most {of_hundred} times in 100 about which of two possible records any one of the erased records was, if {if}.\"}, \"row\": {\"by\": \"rows\", \"one\": \"Someone who kept every model published so far is right at most {of_hundred} times in 100 about which of two possible rows the erased row was, if {if}.\", \"many\": \"Someone who kept every model published so far is right at most {of_hundred} times in 100 about which of two possible rows any one of the erased rows was, if {if}.\"}, \"person\": \"Someone who kept every model published so far is right at most {of_hundred} times in 100 about which of two possible contents all rows of any one of the persons concerned had before the erasure, if {if}.\"}}, \"replaced.later\": {\"by\": \"rows\", \"one\": \"Someone who has only models published since, if {if}, is right at most {of_hundred} times in 100 about which of two contents the record held before.\", \"many\": \"Someone who has only models published since, if {if}, is right at most {of_hundred} times in 100 about which of two contents any one of the records held before.\"}, \"replaced.all\": {\"by\": \"rows\", \"one\": \"Someone who kept every model, even if other requests were chosen after seeing them, is right at most {of_hundred} times in 100 about which of two contents the record held before, if {if}.\", \"many\": \"Someone who kept every model, even if other requests were chosen after seeing them, is right at most {of_hundred} times in 100 about which of two contents any one of the records held before, if {if}.\"}, \"replaced.before\": {\"by\": \"rows\", \"one\": \"Someone who kept every model published so far is right at most {of_hundred} times in 100 about which of two contents the record held before, if {if}.\", \"many\": \"Someone who kept every model published so far is right at most {of_hundred} times in 100 about which of two contents any one of the records held before, if {if}.\"}, \"present.one\": {\"by\": \"question\", \"used\": \"Of a record that is still there: someone who has the last model alone, if {if}, is right at most {of_hundred} times in 100 about whether it is in the data.\", \"which\": \"Of a record that is still there: someone who has the last model alone, if {if}, is right at most {of_hundred} times in 100 about which of two possible records it is.\"}, \"present.all\": {\"by\": \"question\", \"used\": \"Of a record that is still there: someone who kept every model is right at most {of_hundred} times in 100 about whether it is in the data, if {if}.\", \"which\": \"Of a record that is still there: someone who kept every model is right at most {of_hundred} times in 100 about which of two possible records it is, if {if}.\"}, \"odds.ever\": {\"by\": \"question\", \"used\": {\"by\": \"unit\", \"record\": \"Whoever chooses which record is erased, or when, even after seeing models: except with probability {delta} for each record that could have been chosen, no one who starts from even odds ever becomes surer than {odds} to 1 about whether it was in the data, over all models that the total (ε={total_epsilon}, δ={total_delta}) allows, if {if}.\", \"row\": \"Whoever chooses which row is erased, or when, even after seeing models: except with probability {delta} for each row that could have been chosen, no one who starts from even odds ever becomes surer than {odds} to 1 about whether it was in the data, over all models that the total (ε={total_epsilon}, δ={total_delta}) allows, if {if}.\", \"person\": \"Whoever chooses whose rows are erased, or when, even after seeing models: except with probability {delta} for each person who could have been chosen, no one who starts from even odds ever becomes surer than {odds} to 1 about whether any row of that person was in the data, over all models that the total (ε={total_epsilon}, δ={total_delta}) allows, if {if}.\"}, \"which\": {\"by\": \"unit\", \"record\": \"Whoever chooses which record is erased, or when, even after seeing models: except with probability {delta} for each record that could have been chosen, no one who starts from even odds ever becomes surer than {odds} to 1 about which of two possible records it was, over all models that the total (ε={total_epsilon}, δ={total_delta}) allows, if {if}.\", \"row\": \"Whoever chooses which row is erased, or when, even after seeing models: except with probability {delta} for each row that could have been chosen, no one who starts from even odds ever becomes surer than {odds} to 1 about which of two possible rows it was, over all models that the total (ε={total_epsilon}, δ={total_delta}) allows, if {if}.\", \"person\": \"Whoever chooses whose rows are erased, or when, even after seeing models: except with probability {delta} for each person who could have been chosen, no one who starts from even odds ever becomes surer than {odds} to 1 about which of two possible contents all rows of that person had, over all models that the total (ε={total_epsilon}, δ={total_delta}) allows, if {if}.\"}}, \"requests-blind\": \"requests did not depend on earlier models\", \"target-fixed\": \"which record is erased, and when, was fixed before any model was seen\", \"record-fixed\": \"which record is meant was fixed before any model was seen\", \"total-fixed\": \"that total was fixed before the first model and is kept to by every later one, as the operator states\", \"schedule-calendar\": \"publications kept to the dates of a calendar that had been fixed beforehand, as the operator states\", \"schedule-fixed\": \"nothing that was seen decided when a model was published\", \"ranges-public\": \"Every feature row has norm at most {radius}, by ranges and lists of values of which the schema marks none as read off the data; preprocessing acts on each record by itself.\", \"ranges-from-data\": \"Every feature row has norm at most {radius}. The ranges or lists of values of these columns were read off the data: “{columns}”. The figures take them for public knowledge; what they show of the data themselves is counted nowhere.\", \"ranges-unknown\": \"Every feature row has norm at most {radius}, by ranges and lists of values that the figures take for public knowledge; whether they were read off the data is not known, and what they would show of it is counted nowhere.\", \"row-norm\": \"Releases {first} to {last}: no feature row was longer than {radius}; their noise is calibrated for that norm.\", \"map-public\": \"The features are those of a public map, SHA-256 {digest}, that was chosen and trained before the records were read and without them; what it was trained on is not erased by anything stated here.\", \"rows-per-person\": {\"by\": \"rows_per_person\", \"one\": \"Each row belongs to another person, as the operator states.\", \"many\": \"At most {rows_per_person} rows belong to one person, as the operator states.\"}, \"curator-trusted\": \"The curator's machine is trusted: an observer sees published models, not memory or disks.\", \"gradient-norm\": \"Every record's loss has gradient norm at most {lipschitz}.\", \"constants-declared\": \"The loss's constants are declared, not proven; of a network in torch it is assumed that a record's gradient, clipped in floating point, does not depend on the other records.\", \"slots-public\": \"n={records} slots is public and fixed.\", \"gaussian-noise\": \"The noise of releases by '{method}' is Gaussian, independent and unknown to the observer.\", \"real-arithmetic\": \"Of releases by '{method}': bounds over the real numbers; between tables in which every other row has the same slot, the rounding of gradient sums adds to the sensitivity, which the figures include.\", \"solver-tolerance\": \"Of releases by '{method}': the gradient at the solver's answer is no longer than {tolerance}, rounding included.\", \"time-unseen\": \"Of releases by '{method}': the solver's running time may depend on the records. Nobody who sees when a model was published, to less than a day, is covered.\", \"exact-noise\": \"Of releases by '{method}': the last noise is an exact discrete Gaussian on a public grid; floating point decides in its drawing only where it is beyond doubt.\", \"exact-steps\": \"Of releases by '{method}': the noise of every step is an exact discrete Gaussian on a public grid, and the rounding of every step is charged; floating point decides in its drawing only where it is beyond doubt.\", \"rows-in-place\": \"Of releases by '{method}': rows are added up in an order that their contents fix, whatever their slots.\", \"row-shape\": \"Of releases by '{method}': no row is longer in the shape of the noise, where its columns count by their variances.\", \"machine-trusted\": \"Trusted: random numbers of the operating system, that ChaCha20 makes random bits of them, and that the processor and its elementary functions are as exact as they state.\", \"stages-published\": \"Every stage of the ladder starts at a kept stage or at a public point, and all of them are published.\", \"samples-unseen\": \"Every step on a sample drew an independent Poisson sample of the slots, which is not observed.\", \"counts-one-cell\": \"Every record is in one cell of the counts that were published, whatever the other records are; their noise is an exact discrete Gaussian.\", \"sums-carried\": \"Of releases by '{method}': every edit of the table went through its store, and the rows of a release were overwritten after its noise was drawn; each model was made from the sums of one release alone; how many releases there would be was fixed beforehand. Nobody who sees how long a release took is covered.\", \"sums-all-rows\": {\"by\": \"rows_per_person\", \"one\": \"No person ever had more than one row: one that was erased or restricted and comes back, under whatever id, counts as another.\", \"many\": \"No person ever had more than {rows_per_person} rows: one that was erased or restricted and comes back, under whatever id, counts as another.\"}, \"moments-own-norm\": \"Every row that enters the moments is divided by its own norm, whatever the other rows are; their noise is an exact discrete Gaussian.\", \"rows-remain\": {\"by\": \"remaining\", \"one\": \"When it was carried out, the request left one other row of the persons concerned in the training data, which a later request may have erased. The figures are about the erased rows alone, each by itself, and not about the person.\", \"many\": \"When it was carried out, the request left {remaining} other rows of the persons concerned in the training data, which later requests may have erased. The figures are about the erased rows alone, each by itself, and not about the person.\"}, \"rows-may-remain\": \"Up to {rows_per_person} rows belong to one person, and others of the persons concerned may remain in the training data. The figures are about the erased rows alone, each by itself, and not about the person.\", \"hardly\": \"The limit for {figure} is hardly one: they may well know.\", \"delta-large\": \"δ={delta} is more than one in {records} records: a figure with it would allow that some record is published outright. Take no comfort from its ε.\", \"kinds-unrecorded\": \"The ledger does not say which of this release's edits were erasures; that the records were erased is the operator's statement.\", \"left.base\": \"The first part of the model was trained while what was erased may have been there, and an erasure does not train it again: the models in use still carry it. The limits count it.\", \"left.extractor\": \"The feature extractor below the model may have been trained with what was erased, and no erasure takes that back. The limits count it.\", \"left.statistics\": \"Numbers about the records were published too, with noise. Those made before the erasure may have counted what was erased, and no erasure takes that back. The limits for someone who kept everything count them.\", \"residue.found\": {\"by\": \"places\", \"one\": \"A search by the operator still found texts of what was erased, in one place.\", \"many\": \"A search by the operator still found texts of what was erased, in {places} places.\"}, \"residue.unread\": {\"by\": \"places\", \"one\": \"One place could not be searched for what was erased.\", \"many\": \"{places} places could not be searched for what was erased.\"}, \"model-in-use\": {\"by\": \"rows\", \"one\": \"The model in use may have been trained with the record.\", \"many\": \"The model in use may have been trained with the records.\"}, \"model-in-use.until\": {\"by\": \"rows\", \"one\": \"The model in use may have been trained with the record. One computed without it is planned by {day}.\", \"many\": \"The model in use may have been trained with the records. One computed without them is planned by {day}.\"}, \"model-withdrawn\": {\"by\": \"rows\", \"one\": \"The model that may have used the record is out of service since {day}; copies that others hold are not.\", \"many\": \"The model that may have used the records is out of service since {day}; copies that others hold are not.\"}, \"model-withdrawn.kept\": {\"by\": \"rows\", \"one\": \"The model that may have used the record is out of service since {day}, but for its first part, which the models in use still carry; copies that others hold are not.\", \"many\": \"The model that may have used the records is out of service since {day}, but for its first part, which the models in use still carry; copies that others hold are not.\"}, \"elsewhere.none\": \"Models are also put in {places} other place(s) (“{kinds}”): none of them holds a model that may have used what was erased, as far as is known.\", \"elsewhere.left\": \"Models are also put in {places} other place(s) (“{kinds}”): in {left} of them a model that may have used what was erased may still lie.\", \"elsewhere.unknown\": \"Models may also lie in other places: the list of where they were put was lost, or put back from an earlier copy.\", \"backups\": {\"by\": \"rows\", \"one\": \"Backups may hold the record until {day}.\", \"many\": \"Backups may hold the records until {day}.\"}, \"not-covered.earlier-models\": \"models published before the erasure, and copies of them that others hold\", \"not-covered.backups\": \"backups, snapshots, logs and exports outside the store, copies of the data held elsewhere, records that a restriction keeps aside, and the same data put into the table again\", \"not-covered.storage\": \"worn or remapped cells of the storage device (encrypt the volume: destroying its key destroys them too)\", \"not-covered.others\": \"records of other people that mention this person\", \"not-covered.other-models\": \"other models, embeddings or feature extractors trained on the same data\", \"not-covered.inference\": \"what the data of everybody else reveals about this person\", \"not-anonymous\": \"this is not a statement that the model is anonymous in the sense of the law\", \"models\": \"This is about “{models}”.\", \"purposes\": \"The models are used for “{purposes}”.\", \"recipients\": \"{recipients} recipient(s) of the data were told (Article 19 GDPR); they are named on request.\", \"recipients.told\": \"{recipients} recipient(s) of the data were told on {day} (Article 19 GDPR); they are named on request.\", \"told\": \"The person was told on {day}.\", \"contact\": \"Questions, and a request to be told more: “{contact}”.\", \"complaint\": \"Whoever finds this answer wrong may complain to a supervisory authority, or go to court (Articles 77 and 79 GDPR).\", \"complaint.to\": \"Whoever finds this answer wrong may complain to “{authority}”, or go to court (Articles 77 and 79 GDPR).\", \"record-kept\": \"A record of this request is kept, for as long as it must be possible to show how it was answered.\", \"to-do.budget\": \"plan a larger dp budget, and relearn, before publishing again\", \"to-do.total\": \"plan a larger total of all publications, and relearn, before publishing again\", \"to-do.publish\": \"publish the next release within the deadline\", \"to-do.tell\": \"tell the person what was done and when\", \"to-do.recipients\": \"notify every recipient of the data and of earlier models (Article 19 GDPR)\", \"to-do.withdraw\": \"withdraw earlier models from use, and ask recipients to delete their copies\", \"to-do.backups\": \"let backups that hold the record expire, and repeat the erasure after any restore\"}}"}, "labels": {"de": "{\"About\": \"Worüber\", \"Annex: the figures, what they rest on, and how to check them\": \"Anhang: die Zahlen, worauf sie beruhen und wie man sie prüft\", \"Assumptions\": \"Annahmen\", \"Certificate of a lifted restriction\": \"Bescheinigung über eine aufgehobene Einschränkung der Verarbeitung\", \"Controller not named\": \"Verantwortlicher nicht genannt\", \"Erasure certificate\": \"Bescheinigung über eine Löschung\", \"Every figure is an upper bound, rounded up; guessing is right 50 times of 100.\": \"Jede Zahl ist eine Obergrenze, aufgerundet; Raten trifft in 50 von 100 Fällen.\", \"Evidence and verification\": \"Belege und Prüfung\", \"For the person concerned\": \"Für die betroffene Person\", \"Gaussian\": \"Gauß\", \"Guarantees\": \"Zusicherungen\", \"Guessing is right 50 times in 100.\": \"Raten trifft in 50 von 100 Fällen.\", \"In plain words\": \"In einfachen Worten\", \"In the operator's words, which nothing here checks\": \"In den Worten des Betreibers, von nichts hier geprüft\", \"Kept outside the store, the JSON file shows whether an older copy is put back:\": \"Außerhalb des Speichers aufbewahrt zeigt die JSON-Datei, ob eine ältere Kopie zurückgespielt wurde:\", \"Model after\": \"Modell danach\", \"Model before\": \"Modell davor\", \"Model without them published\": \"Modell ohne sie veröffentlicht\", \"Not covered\": \"Nicht erfasst\", \"Received\": \"Eingegangen\", \"Release\": \"Veröffentlichung\", \"Request\": \"Antrag\", \"Request and action\": \"Antrag und Ausführung\", \"Restriction certificate\": \"Bescheinigung über eine Einschränkung der Verarbeitung\", \"Rows edited\": \"Datensätze geändert\", \"Rényi\": \"Rényi\", \"Stated by the operator\": \"Angaben des Betreibers\", \"Status\": \"Stand\", \"The facts of this page cannot be recomputed; whoever signed answers for them. Every figure and condition follows from them.\": \"Die Angaben dieser Seite lassen sich nicht nachrechnen; für sie steht ein, wer signiert hat. Jede Zahl und jede Bedingung folgt aus ihnen.\", \"The signed JSON file is the original; this page says its claims in sentences. To check it offline:\": \"Maßgeblich ist die signierte JSON-Datei; diese Seite sagt ihre Aussagen in Sätzen. So prüft man sie ohne Netz:\", \"Was it this content or another? (two records, one of which was there)\": \"War es dieser Inhalt oder ein anderer? (zwei Datensätze, von denen einer da war)\", \"Was the record ever in the data? (a record against no record)\": \"War der Datensatz je in den Daten? (ein Datensatz gegen keinen)\", \"What to do next\": \"Was als Nächstes zu tun ist\", \"a record still there, from all models\": \"ein noch vorhandener Datensatz, aus allen Modellen\", \"a record still there, from the last model alone\": \"ein noch vorhandener Datensatz, aus dem letzten Modell allein\", \"advantage measured at least {n}, compared with {n2}\": \"gemessener Vorteil mindestens {n}, verglichen mit {n2}\", \"audit\": \"Angriffsversuch\", \"audit.erased record, releases from its erasure on\": \"gelöschter Datensatz, Veröffentlichungen ab seiner Löschung\", \"audit.erased record, the learned model and every later one\": \"gelöschter Datensatz, das gelernte Modell und alle späteren\", \"audit.erased record, the release that erased it\": \"gelöschter Datensatz, die Veröffentlichung nach seiner Löschung\", \"audit.kernel witness\": \"Kernzeuge\", \"audit.likelihood ratio\": \"Likelihood-Quotient\", \"audit.one run\": \"ein einziger Lauf\", \"audit.record still there, all releases\": \"noch vorhandener Datensatz, alle Veröffentlichungen\", \"audit.record still there, the learned model\": \"noch vorhandener Datensatz, das gelernte Modell\", \"audit.shadow model\": \"Schattenmodell\", \"check.ask\": \"Öffentlicher Schlüssel des Verantwortlichen oder dessen Kennung (16 Zeichen). Nehmen Sie ihn vom Verantwortlichen selbst, zum Beispiel von seiner Website, nie von dem, der Ihnen diese Seite geschickt hat:\", \"check.ask_file\": \"oder seine Datei:\", \"check.ask_other\": \"Mit dieser Seite eine andere Bescheinigung prüfen:\", \"check.broken\": \"Nicht geprüft: Die Prüfung brach ab.\", \"check.busy\": \"Wird geprüft …\", \"check.framed\": \"Nicht geprüft: Diese Seite wird innerhalb einer anderen gezeigt, die eigene Worte hinzufügen kann. Öffnen Sie sie für sich.\", \"check.hidden\": \"Was diese Datei sagt, wird nicht gezeigt: Sie ist nicht geprüft, oder sie hält der Prüfung nicht stand.\", \"check.key\": \"Schlüssel\", \"check.no_signature\": \"Nicht geprüft: Dieser Browser kann Ed25519-Signaturen nicht prüfen. Nehmen Sie einen neueren oder den Befehl noisygd-delete verify-certificate.\", \"check.none\": \"Wählen Sie eine Bescheinigung aus.\", \"check.not_text\": \"Diese Datei ist kein Text in UTF-8; das ist jede Bescheinigung.\", \"check.off\": \"Nicht geprüft: Skripte sind abgeschaltet, oder dieser Browser führt sie nicht aus. Nichts auf dieser Seite ist nachgeprüft.\", \"check.other_key\": \"Die Bescheinigung ist mit einem anderen als dem von Ihnen angegebenen Schlüssel signiert.\", \"check.right\": \"Alles stimmt überein: Die Datei ist mit dem von Ihnen angegebenen Schlüssel signiert und unverändert, und sie behauptet nichts, was nicht aus ihren Angaben folgt, in diesem Browser nachgerechnet.\", \"check.save\": \"Signierte Datei speichern\", \"check.script\": \"Das Skript, das hier prüft, hat diesen Fingerabdruck; das Projekt führt ihn für jede Version auf (page-digests):\", \"check.title\": \"Prüfung dieser Seite\", \"check.too_long\": \"Die Datei ist länger als jede Bescheinigung.\", \"check.trust\": \"Die Prüfung läuft in diesem Browser und lädt nichts nach. Eine Seite kann als Ganzes gefälscht sein, samt ihrer Prüfung: Wer sichergehen muss, öffnet die signierte Datei in einer Kopie dieser Seite, der er vertraut, oder prüft sie mit dem Befehl noisygd-delete verify-certificate. Was wann geschah, gibt der Verantwortliche an; das kann niemand nachrechnen.\", \"check.unknown_key\": \"Noch nicht vollständig. Die Datei ist unverändert, seit jemand sie signiert hat, und behauptet nichts, was nicht aus ihren Angaben folgt. Ob dieser Jemand der Verantwortliche ist, kann diese Seite nicht wissen: Geben Sie dessen öffentlichen Schlüssel oder Schlüsselkennung an. Kennung in der Datei:\", \"check.wrong\": \"Diese Bescheinigung hält der Prüfung NICHT stand. Es scheitert:\", \"day\": \"{day}. {month} {year}\", \"decimal\": \",\", \"deleted\": \"gelöscht\", \"delta\": \"Delta\", \"epsilon\": \"Epsilon\", \"gdp\": \"nach Gauß (μ)\", \"holds no name, record number or row\": \"enthält keinen Namen, keine Nummer eines Datensatzes und keine Zeile\", \"inserted (nothing erased)\": \"eingefügt (nichts gelöscht)\", \"issued\": \"ausgestellt am\", \"issued after entry {n} of the ledger, link {text}\": \"ausgestellt nach Eintrag {n} des Journals, Glied {text}\", \"kind\": \"Art\", \"models\": \"Modelle\", \"months\": [\"Januar\", \"Februar\", \"März\", \"April\", \"Mai\", \"Juni\", \"Juli\", \"August\", \"September\", \"Oktober\", \"November\", \"Dezember\"], \"no check of the store is recorded here\": \"eine Prüfung des Speichers ist hier nicht vermerkt\", \"no request id was given\": \"es wurde keine Kennung angegeben\", \"none\": \"keine\", \"not signed\": \"nicht signiert\", \"not stated by the operator; state it with: {text}\": \"vom Betreiber nicht angegeben; anzugeben mit: {text}\", \"noted when it was issued\": \"bei der Ausstellung vermerkt\", \"of the texts looked for\": \"der gesuchten Texte\", \"order\": \"Ordnung\", \"pending\": \"ausstehend\", \"published\": \"veröffentlicht\", \"release\": \"Veröffentlichung\", \"renyi\": \"nach Rényi\", \"replaced (rectification)\": \"ersetzt (Berichtigung)\", \"request\": \"Antrag\", \"right, of 100\": \"richtig, von 100\", \"signed with Ed25519 by key\": \"signiert mit Ed25519, Schlüssel\", \"software\": \"Software\", \"table\": \"Tabelle\", \"the content before the rectification, from all models ever published\": \"der Inhalt vor der Berichtigung, aus allen je veröffentlichten Modellen\", \"the content before the rectification, from all models so far\": \"der Inhalt vor der Berichtigung, aus allen bisherigen Modellen\", \"the content before the rectification, from every model since\": \"der Inhalt vor der Berichtigung, aus jedem Modell seither\", \"the request id is a pseudonym: personal data for whoever can tell whose request it was\": \"die Kennung des Antrags ist ein Pseudonym: ein personenbezogenes Datum für jeden, der sie einer Person zuordnen kann\", \"unit\": \"Einheit\", \"what was erased, from all models ever published\": \"was gelöscht wurde, aus allen je veröffentlichten Modellen\", \"what was erased, from all models so far\": \"was gelöscht wurde, aus allen bisherigen Modellen\", \"what was erased, from every model since\": \"was gelöscht wurde, aus jedem Modell seither\", \"withheld\": \"zurückgehalten\", \"{text}, all rows of a person, at most {n}\": \"{text}, alle Zeilen einer Person, höchstens {n}\", \"{text}, each record another person's\": \"{text}, jeder Datensatz einer anderen Person\", \"{text}, each row by itself\": \"{text}, jede Zeile für sich\", \"–\": \"–\", \"“{text}”\": \"„{text}“\"}", "en": "{\"About\": \"About\", \"Annex: the figures, what they rest on, and how to check them\": \"Annex: the figures, what they rest on, and how to check them\", \"Assumptions\": \"Assumptions\", \"Certificate of a lifted restriction\": \"Certificate of a lifted restriction\", \"Controller not named\": \"Controller not named\", \"Erasure certificate\": \"Erasure certificate\", \"Every figure is an upper bound, rounded up; guessing is right 50 times of 100.\": \"Every figure is an upper bound, rounded up; guessing is right 50 times of 100.\", \"Evidence and verification\": \"Evidence and verification\", \"For the person concerned\": \"For the person concerned\", \"Gaussian\": \"Gaussian\", \"Guarantees\": \"Guarantees\", \"Guessing is right 50 times in 100.\": \"Guessing is right 50 times in 100.\", \"In plain words\": \"In plain words\", \"In the operator's words, which nothing here checks\": \"In the operator's words, which nothing here checks\", \"Kept outside the store, the JSON file shows whether an older copy is put back:\": \"Kept outside the store, the JSON file shows whether an older copy is put back:\", \"Model after\": \"Model after\", \"Model before\": \"Model before\", \"Model without them published\": \"Model without them published\", \"Not covered\": \"Not covered\", \"Received\": \"Received\", \"Release\": \"Release\", \"Request\": \"Request\", \"Request and action\": \"Request and action\", \"Restriction certificate\": \"Restriction certificate\", \"Rows edited\": \"Rows edited\", \"Rényi\": \"Rényi\", \"Stated by the operator\": \"Stated by the operator\", \"Status\": \"Status\", \"The facts of this page cannot be recomputed; whoever signed answers for them. Every figure and condition follows from them.\": \"The facts of this page cannot be recomputed; whoever signed answers for them. Every figure and condition follows from them.\", \"The signed JSON file is the original; this page says its claims in sentences. To check it offline:\": \"The signed JSON file is the original; this page says its claims in sentences. To check it offline:\", \"Was it this content or another? (two records, one of which was there)\": \"Was it this content or another? (two records, one of which was there)\", \"Was the record ever in the data? (a record against no record)\": \"Was the record ever in the data? (a record against no record)\", \"What to do next\": \"What to do next\", \"a record still there, from all models\": \"a record still there, from all models\", \"a record still there, from the last model alone\": \"a record still there, from the last model alone\", \"advantage measured at least {n}, compared with {n2}\": \"advantage measured at least {n}, compared with {n2}\", \"audit\": \"audit\", \"check.ask\": \"The controller's public key, or its key id (16 letters and digits). Take it from the controller, for example from its website, never from whoever sent this page:\", \"check.ask_file\": \"or its file:\", \"check.ask_other\": \"Check another certificate with this page:\", \"check.broken\": \"Not checked: the check stopped.\", \"check.busy\": \"Checking …\", \"check.framed\": \"Not checked: this page is shown inside another page, which may add words of its own. Open it by itself.\", \"check.hidden\": \"What this file says is not shown: it was not checked, or it does not hold.\", \"check.key\": \"key\", \"check.no_signature\": \"Not checked: this browser cannot check Ed25519 signatures. Use a newer one, or the command noisygd-delete verify-certificate.\", \"check.none\": \"Choose a certificate to check.\", \"check.not_text\": \"That file is no text in UTF-8, which every certificate is.\", \"check.off\": \"Not checked: scripts are switched off, or this browser does not run them. Nothing here has been verified.\", \"check.other_key\": \"The certificate is signed by another key than the one you gave.\", \"check.right\": \"Everything agrees: the file is signed by the key you gave, unaltered, and claims nothing that its facts do not prove, as computed in this browser.\", \"check.save\": \"Save the signed file\", \"check.script\": \"The script that checks here has this digest, which the project lists for every version (page-digests):\", \"check.title\": \"Check of this page\", \"check.too_long\": \"That file is longer than any certificate.\", \"check.trust\": \"The check runs in this browser and loads nothing from anywhere. A page can be forged as a whole, its check included: whoever must be sure opens the signed file in a copy of this page that they trust, or checks it with the command noisygd-delete verify-certificate. What happened and when is the operator's word, which nobody can recompute.\", \"check.unknown_key\": \"Not yet complete. The file is unaltered since somebody signed it, and claims nothing that its facts do not prove. Whether that somebody is the controller, this page cannot know: give the controller's public key or key id. Key id in the file:\", \"check.wrong\": \"This certificate does NOT hold. What fails:\", \"day\": \"{day} {month} {year}\", \"decimal\": \".\", \"deleted\": \"deleted\", \"delta\": \"delta\", \"epsilon\": \"epsilon\", \"gdp\": \"gdp\", \"holds no name, record number or row\": \"holds no name, record number or row\", \"inserted (nothing erased)\": \"inserted (nothing erased)\", \"issued\": \"issued\", \"issued after entry {n} of the ledger, link {text}\": \"issued after entry {n} of the ledger, link {text}\", \"kind\": \"kind\", \"models\": \"models\", \"months\": [\"January\", \"February\", \"March\", \"April\", \"May\", \"June\", \"July\", \"August\", \"September\", \"October\", \"November\", \"December\"], \"no check of the store is recorded here\": \"no check of the store is recorded here\", \"no request id was given\": \"no request id was given\", \"none\": \"none\", \"not signed\": \"not signed\", \"not stated by the operator; state it with: {text}\": \"not stated by the operator; state it with: {text}\", \"noted when it was issued\": \"noted when it was issued\", \"of the texts looked for\": \"of the texts looked for\", \"order\": \"order\", \"pending\": \"pending\", \"published\": \"published\", \"release\": \"release\", \"renyi\": \"renyi\", \"replaced (rectification)\": \"replaced (rectification)\", \"request\": \"request\", \"right, of 100\": \"right, of 100\", \"signed with Ed25519 by key\": \"signed with Ed25519 by key\", \"software\": \"software\", \"table\": \"table\", \"the content before the rectification, from all models ever published\": \"the content before the rectification, from all models ever published\", \"the content before the rectification, from all models so far\": \"the content before the rectification, from all models so far\", \"the content before the rectification, from every model since\": \"the content before the rectification, from every model since\", \"the request id is a pseudonym: personal data for whoever can tell whose request it was\": \"the request id is a pseudonym: personal data for whoever can tell whose request it was\", \"unit\": \"unit\", \"what was erased, from all models ever published\": \"what was erased, from all models ever published\", \"what was erased, from all models so far\": \"what was erased, from all models so far\", \"what was erased, from every model since\": \"what was erased, from every model since\", \"withheld\": \"withheld\", \"{text}, all rows of a person, at most {n}\": \"{text}, all rows of a person, at most {n}\", \"{text}, each record another person's\": \"{text}, each record another person's\", \"{text}, each row by itself\": \"{text}, each row by itself\", \"–\": \"–\", \"“{text}”\": \"“{text}”\"}"}};
// Catalogues of sentences, read once.

$.libraries["privacy.sentences"] = {load_catalogue: $.cache($.fn("load_catalogue", ["language"], {}, (language) => {
  if (!Object.hasOwn($.catalogues.claims, language)) throw $.raised($.b.ValueError, "no such language");
  return $.parsed($.catalogues.claims[language]);
}))};
$.libraries["reports.texts"] = {page_labels: $.cache($.fn("page_labels", ["code"], {}, (code) => {
  if (!Object.hasOwn($.catalogues.labels, code)) throw $.raised($.b.ValueError, "no such language");
  return $.parsed($.catalogues.labels[code]);
}))};
$.libraries["methods.base"] = {assumptions_of: () => $.tuple([])};

$.modules["errors"] = (() => {
let NoisyGDDeleteError, InvalidParameter, AssumptionViolated, NotLearned, format_value, check_real, check_positive, LEAST_SCALE, MOST_SCALE, check_scale, non_negative, check_probability, renyi_order, check_count, check_choice, check_bound, Word;
const datetime = $.libraries["datetime"];
const math = $.libraries["math"];
const re = $.libraries["re"];
const StrEnum = $.libraries["enum"]["StrEnum"];
NoisyGDDeleteError = $.cls("NoisyGDDeleteError", [$.b.Exception], ($ns) => {
$ns.__init__ = $.fn("__init__", ["self", "reason", "**given"], {"reason": ""}, function (self, reason, given) {
$.sup(NoisyGDDeleteError, self, "__init__")([reason]);
$.sa(self, "given", given);
return null;
});
$ns.__str__ = $.fn("__str__", ["self"], {}, function (self) {
return $.cm(self, "told", [$.fn("<lambda>", ["name", "value"], {}, (name, value) => ("" + $.formatted(name, "", "") + "=" + $.formatted(format_value([value]), "", "")))]);
});
$ns.told = $.fn("told", ["self", "spelled"], {}, function (self, spelled) {
let given;
given = $.cm(" and ", "join", [(function* ($first) { for (const $v1 of $.each($first)) { let name, value; {const $v2 = $.unpack($v1, 2, -1);name = $v2[0];value = $v2[1];} yield spelled([name, value]); } })($.cm($.ga(self, "given"), "items", []))]);
return $.cm(" ", "join", [[...$.each(($.t(given) ? [given] : [])), ...$.each($.b.map([$.b.str, $.ga(self, "args")]))]]);
});
});
InvalidParameter = $.cls("InvalidParameter", [NoisyGDDeleteError, $.b.ValueError], ($ns) => {

});
AssumptionViolated = $.cls("AssumptionViolated", [NoisyGDDeleteError, $.b.ValueError], ($ns) => {

});
NotLearned = $.cls("NotLearned", [NoisyGDDeleteError, $.b.RuntimeError], ($ns) => {

});
format_value = $.fn("format_value", ["value"], {}, function (value) {
if ($.t($.b.isinstance([value, $.libraries["datetime"].date]))) {
return $.cm(value, "isoformat", []);
}
return ($.t($.b.isinstance([value, $.b.float])) ? $.b.repr([$.b.float([value])]) : $.b.repr([value]));
});
check_real = $.fn("check_real", ["name", "value"], {}, function (name, value) {
let error, number;
if ($.t($.b.isinstance([value, $.tuple([$.b.bool, $.b.str, $.b.bytes])]))) {
throw $.raised(InvalidParameter(["must be a number; pass a float"], {...$.named($.dict([[name, value]]))}));
}
try {
number = $.b.float([value]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.tuple([$.b.TypeError, $.b.ValueError]))) {error = $caught;
throw $.raised(InvalidParameter(["must be a number; pass a float"], {...$.named($.dict([[name, value]]))}));
} else if ($.caught($caught, $.b.OverflowError)) {error = $caught;
throw $.raised(InvalidParameter([("" + $.formatted(name, "", "") + " is a whole number too large for a float; pass a float")]));
} else throw $caught;
}
if (!$.t($.libraries["math"].isfinite([number]))) {
throw $.raised(InvalidParameter(["must be finite; a NaN or an infinity certifies nothing"], {...$.named($.dict([[name, number]]))}));
}
return number;
});
check_positive = $.fn("check_positive", ["name", "value"], {}, function (name, value) {
let number;
number = check_real([name, value]);
if (!$.t($.lt(0n, number))) {
throw $.raised(InvalidParameter(["must be > 0"], {...$.named($.dict([[name, number]]))}));
}
return number;
});
{const $v3 = [1e-100, 1e+100];LEAST_SCALE = $v3[0];MOST_SCALE = $v3[1];}
check_scale = $.fn("check_scale", ["name", "value"], {}, function (name, value) {
let number;
number = check_positive([name, value]);
if (!$.t((($v4, $v5, $v6) => $.le($v4, $v5) && $.le($v5, $v6))(LEAST_SCALE, number, MOST_SCALE))) {
throw $.raised(InvalidParameter([("" + "must lie between " + $.formatted(LEAST_SCALE, "", ("" + "g")) + " and " + $.formatted(MOST_SCALE, "", ("" + "g")) + ": beyond, noise and steps leave the range of floating-point numbers; give the data in other units")], {...$.named($.dict([[name, number]]))}));
}
return number;
});
non_negative = $.fn("non_negative", ["name", "value"], {}, function (name, value) {
let number;
number = check_real([name, value]);
if (!$.t($.le(0n, number))) {
throw $.raised(InvalidParameter(["must be >= 0"], {...$.named($.dict([[name, number]]))}));
}
return number;
});
check_probability = $.fn("check_probability", ["name", "value"], {}, function (name, value) {
let number;
number = check_real([name, value]);
if (!$.t((($v7, $v8, $v9) => $.lt($v7, $v8) && $.lt($v8, $v9))(0n, number, 1n))) {
throw $.raised(InvalidParameter(["must lie strictly between 0 and 1"], {...$.named($.dict([[name, number]]))}));
}
return number;
});
renyi_order = $.fn("renyi_order", ["name", "value"], {}, function (name, value) {
let number;
number = check_real([name, value]);
if (!$.t($.lt(1n, number))) {
throw $.raised(InvalidParameter(["must be > 1: a R\u00e9nyi order of at most 1 bounds nothing here"], {...$.named($.dict([[name, number]]))}));
}
return number;
});
check_count = $.fn("check_count", ["name", "value", "minimum", "maximum"], {"minimum": 1n, "maximum": $.pow(10n, 300n)}, function (name, value, minimum, maximum) {
let number;
if (($.t($.b.isinstance([value, $.b.bool])) || !$.t($.b.hasattr([value, "__index__"])))) {
throw $.raised(InvalidParameter([("" + "must be a whole number >= " + $.formatted(minimum, "", ""))], {...$.named($.dict([[name, value]]))}));
}
number = $.b.int([$.cm(value, "__index__", [])]);
if (!$.t($.le(minimum, number))) {
throw $.raised(InvalidParameter([("" + "must be a whole number >= " + $.formatted(minimum, "", ""))], {...$.named($.dict([[name, number]]))}));
}
if (!$.t($.le(number, maximum))) {
if ($.t($.le($.pow(10n, 30n), number))) {
throw $.raised(InvalidParameter([("" + $.formatted(name, "", "") + " must be at most " + $.formatted(maximum, "", "") + "; this number has more than 30 digits")]));
}
throw $.raised(InvalidParameter([("" + "must be at most " + $.formatted(maximum, "", ""))], {...$.named($.dict([[name, number]]))}));
}
return number;
});
check_choice = $.fn("check_choice", ["name", "value", "options"], {}, function (name, value, options) {
if ($.t(!$.has(options, value))) {
throw $.raised(InvalidParameter([("" + "must be one of " + $.formatted($.cm(", ", "join", [$.b.map([$.b.repr, options])]), "", ""))], {...$.named($.dict([[name, value]]))}));
}
return $.b.str([value]);
});
check_bound = $.fn("check_bound", ["name", "value"], {}, function (name, value) {
if (!$.t($.le(0n, value))) {
throw $.raised(InvalidParameter([("" + "the bound " + $.formatted(name, "", "") + "=" + $.formatted(value, "r", "") + " is not a non-negative number; this is a bug, please report it")]));
}
return value;
});
Word = $.cls("Word", [StrEnum], ($ns) => {
$ns._missing_ = $.classmethod($.fn("_missing_", ["cls", "value"], {}, function (cls, value) {
let family;
family = $.cm($.libraries["re"].sub(["(?<=[a-z])(?=[A-Z])", " ", $.ga(cls, "__name__")]), "lower", []);
throw $.raised(InvalidParameter([("" + $.formatted(value, "r", "") + " is not one of the " + $.formatted(family, "", "") + ": " + $.formatted($.cm(", ", "join", [$.b.map([$.b.repr, $.b.map([$.b.str, cls])])]), "", ""))]));
return null;
}));
});
return {NoisyGDDeleteError, InvalidParameter, AssumptionViolated, NotLearned, format_value, check_real, check_positive, LEAST_SCALE, MOST_SCALE, check_scale, non_negative, check_probability, renyi_order, check_count, check_choice, check_bound, Word, StrEnum};
})();
$.modules["version"] = (() => {
let __version__;
__version__ = "1.0.0.dev0";
return {__version__};
})();
$.modules["bounds.shifted_interpolation"] = (() => {
let largest_step_size, _log_contraction, _one_minus_power, gdp_limit, gdp, noise_variance, minimiser_dp_gdp, noise_inflation, minimiser_deletion_gdp;
const math = $.libraries["math"];
largest_step_size = $.fn("largest_step_size", ["*", "strong_convexity", "objective_smoothness"], {}, function (strong_convexity, objective_smoothness) {
return $.div(2n, $.add(strong_convexity, objective_smoothness));
});
_log_contraction = $.fn("_log_contraction", ["step_size", "strong_convexity"], {}, function (step_size, strong_convexity) {
let decrease;
decrease = $.mul(step_size, strong_convexity);
return ($.t($.lt(decrease, 1n)) ? $.libraries["math"].log1p([$.neg(decrease)]) : $.neg($.libraries["math"].inf));
});
_one_minus_power = $.fn("_one_minus_power", ["log_contraction", "steps"], {}, function (log_contraction, steps) {
if ($.t($.eq(steps, 0n))) {
return 0.0;
}
return $.neg($.libraries["math"].expm1([$.mul(steps, log_contraction)]));
});
gdp_limit = $.fn("gdp_limit", ["*", "sensitivity", "step_size", "strong_convexity", "noise_variance", "records"], {}, function (sensitivity, step_size, strong_convexity, noise_variance, records) {
return $.mul($.div(sensitivity, records), $.libraries["math"].sqrt([$.div($.sub(1n, $.div($.mul(step_size, strong_convexity), 2n)), $.mul(strong_convexity, noise_variance))]));
});
gdp = $.fn("gdp", ["*", "sensitivity", "step_size", "strong_convexity", "noise_variance", "records", "steps_with_record", "steps_without_record"], {"steps_without_record": 0n}, function (sensitivity, step_size, strong_convexity, noise_variance, records, steps_with_record, steps_without_record) {
let decay, everything, limit, log_c, present;
if ($.t($.eq(steps_with_record, 0n))) {
return 0.0;
}
log_c = _log_contraction([step_size, strong_convexity]);
limit = gdp_limit([], {"sensitivity": sensitivity, "step_size": step_size, "strong_convexity": strong_convexity, "noise_variance": noise_variance, "records": records});
decay = ($.t(steps_without_record) ? $.libraries["math"].exp([$.mul(steps_without_record, log_c)]) : 1.0);
present = _one_minus_power([log_c, steps_with_record]);
everything = _one_minus_power([log_c, $.mul(2n, $.add(steps_with_record, steps_without_record))]);
return $.div($.mul($.mul(limit, decay), present), $.libraries["math"].sqrt([everything]));
});
noise_variance = $.fn("noise_variance", ["*", "gdp", "sensitivity", "step_size", "strong_convexity", "records"], {}, function (gdp, sensitivity, step_size, strong_convexity, records) {
return $.div($.mul($.pow(sensitivity, 2n), $.sub(1n, $.div($.mul(step_size, strong_convexity), 2n))), $.mul($.mul(strong_convexity, $.pow(gdp, 2n)), $.pow(records, 2n)));
});
minimiser_dp_gdp = $.fn("minimiser_dp_gdp", ["*", "sensitivity", "step_size", "strong_convexity", "noise_variance", "records", "steps", "gradient_tolerance"], {}, function (sensitivity, step_size, strong_convexity, noise_variance, records, steps, gradient_tolerance) {
let limit, log_c, widened;
log_c = _log_contraction([step_size, strong_convexity]);
widened = $.add(sensitivity, $.mul($.mul($.mul(2n, gradient_tolerance), records), $.libraries["math"].exp([$.mul(steps, log_c)])));
limit = gdp_limit([], {"sensitivity": widened, "step_size": step_size, "strong_convexity": strong_convexity, "noise_variance": noise_variance, "records": records});
return $.div(limit, $.libraries["math"].sqrt([_one_minus_power([log_c, $.mul(2n, steps)])]));
});
noise_inflation = $.fn("noise_inflation", ["*", "steps", "step_size", "strong_convexity"], {}, function (steps, step_size, strong_convexity) {
return $.div(1n, _one_minus_power([_log_contraction([step_size, strong_convexity]), $.mul(2n, steps)]));
});
minimiser_deletion_gdp = $.fn("minimiser_deletion_gdp", ["*", "step_size", "strong_convexity", "noise_variance", "records", "steps", "gradient_tolerance"], {}, function (step_size, strong_convexity, noise_variance, records, steps, gradient_tolerance) {
return minimiser_dp_gdp([], {"sensitivity": 0.0, "step_size": step_size, "strong_convexity": strong_convexity, "noise_variance": noise_variance, "records": records, "steps": steps, "gradient_tolerance": gradient_tolerance});
});
return {largest_step_size, _log_contraction, _one_minus_power, gdp_limit, gdp, noise_variance, minimiser_dp_gdp, noise_inflation, minimiser_deletion_gdp};
})();
$.modules["lazy_imports"] = (() => {
let T, Catalogue;
const on_first_use = $.libraries["lazy_imports"]["on_first_use"];
const Mapping = $.libraries["collections.abc"]["Mapping"];
const TypeVar = $.libraries["typing"]["TypeVar"];
T = TypeVar(["T"]);
Catalogue = $.cls("Catalogue", [$.gi(Mapping, $.tuple([$.b.str, T]))], ($ns) => {
$ns.__init__ = $.fn("__init__", ["self", "names", "find"], {}, function (self, names, find) {
{const $v1 = [names, find];$.sa(self, "_names", $v1[0]);$.sa(self, "_find", $v1[1]);}
return null;
});
$ns.__getitem__ = $.fn("__getitem__", ["self", "name"], {}, function (self, name) {
if ($.t(!$.has($.ga(self, "_names"), name))) {
throw $.raised($.b.KeyError([name]));
}
return $.cm(self, "_find", [name]);
});
$ns.__contains__ = $.fn("__contains__", ["self", "name"], {}, function (self, name) {
return $.has($.ga(self, "_names"), name);
});
$ns.__iter__ = $.fn("__iter__", ["self"], {}, function (self) {
return $.b.iter([$.ga(self, "_names")]);
});
$ns.__len__ = $.fn("__len__", ["self"], {}, function (self) {
return $.b.len([$.ga(self, "_names")]);
});
});
return {T, Catalogue, Mapping, TypeVar};
})();
$.modules["bounds.theorem_5_1"] = (() => {
let step_size, noise_variance, init_variance, full_rate, dp_rate, deletion_rate, composition_rate;
const math = $.libraries["math"];
step_size = $.fn("step_size", ["*", "regularization", "smoothness"], {}, function (regularization, smoothness) {
return $.div(1n, $.mul(2n, $.add(regularization, smoothness)));
});
noise_variance = $.fn("noise_variance", ["*", "rate", "sensitivity", "regularization", "records"], {}, function (rate, sensitivity, regularization, records) {
return $.div($.pow(sensitivity, 2n), $.mul($.mul(regularization, rate), $.pow(records, 2n)));
});
init_variance = $.fn("init_variance", ["*", "noise_variance", "regularization", "step_size"], {}, function (noise_variance, regularization, step_size) {
return $.div(noise_variance, $.mul(regularization, $.sub(1n, $.div($.mul(step_size, regularization), 2n))));
});
full_rate = $.fn("full_rate", ["*", "sensitivity", "regularization", "noise_variance", "records"], {}, function (sensitivity, regularization, noise_variance, records) {
return $.div($.pow(sensitivity, 2n), $.mul($.mul(regularization, noise_variance), $.pow(records, 2n)));
});
dp_rate = $.fn("dp_rate", ["*", "sensitivity", "regularization", "noise_variance", "records", "step_size", "steps"], {}, function (sensitivity, regularization, noise_variance, records, step_size, steps) {
let full;
full = full_rate([], {"sensitivity": sensitivity, "regularization": regularization, "noise_variance": noise_variance, "records": records});
return $.mul(full, $.neg($.libraries["math"].expm1([$.div($.mul($.mul($.neg(regularization), step_size), steps), 2n)])));
});
deletion_rate = $.fn("deletion_rate", ["*", "sensitivity", "regularization", "noise_variance", "records", "step_size", "steps_with_record", "steps_without_record"], {}, function (sensitivity, regularization, noise_variance, records, step_size, steps_with_record, steps_without_record) {
let present;
present = dp_rate([], {"sensitivity": sensitivity, "regularization": regularization, "noise_variance": noise_variance, "records": records, "step_size": step_size, "steps": steps_with_record});
return $.mul(present, $.libraries["math"].exp([$.div($.mul($.mul($.neg(step_size), regularization), steps_without_record), 2n)]));
});
composition_rate = $.fn("composition_rate", ["*", "sensitivity", "noise_variance", "records", "step_size", "steps"], {}, function (sensitivity, noise_variance, records, step_size, steps) {
return $.div($.mul($.mul($.pow(sensitivity, 2n), step_size), steps), $.mul($.mul(4n, noise_variance), $.pow(records, 2n)));
});
return {step_size, noise_variance, init_variance, full_rate, dp_rate, deletion_rate, composition_rate};
})();
$.modules["bounds.correlated_sums"] = (() => {
let CARRY_BITS, _UP, _SUM_UP, _APART, SMOOTHING_SQUARED, sensitivity, rounding_norm, draw_cost, gaussian_factor, equalizer_costs, equalizer_schedule, worst_charges;
const math = $.libraries["math"];
const Any = $.libraries["typing"]["Any"];
CARRY_BITS = 20n;
{const $v1 = [$.add(1n, $.pow(2.0, $.neg(46n))), $.add(1n, $.pow(2.0, $.neg(34n)))];_UP = $v1[0];_SUM_UP = $v1[1];}
_APART = $.add(1n, $.pow(2.0, $.neg(4n)));
SMOOTHING_SQUARED = 144n;
sensitivity = $.fn("sensitivity", ["*", "norm_squared", "label_weight", "between_records"], {}, function (norm_squared, label_weight, between_records) {
let label, norm;
{const $v2 = [$.b.float([norm_squared]), $.pow($.b.float([label_weight]), 2n)];norm = $v2[0];label = $v2[1];}
if (!$.t(between_records)) {
return $.mul($.libraries["math"].sqrt([$.add($.mul(norm, norm), $.mul(label, norm))]), _UP);
}
if ($.t($.le(label, $.mul(2n, norm)))) {
return $.mul($.div($.add($.mul(2n, norm), label), $.libraries["math"].sqrt([2.0])), _UP);
}
return $.mul($.mul(2n, $.libraries["math"].sqrt([$.mul(label, norm)])), _UP);
});
rounding_norm = $.fn("rounding_norm", ["*", "features", "outputs", "label_weight"], {}, function (features, outputs, label_weight) {
let wide;
wide = $.b.float([features]);
return $.mul($.libraries["math"].sqrt([$.add($.mul(wide, wide), $.mul($.mul($.pow($.b.float([label_weight]), 2n), wide), outputs))]), _UP);
});
draw_cost = $.fn("draw_cost", ["*", "carry", "variance", "apart", "rounded", "stay", "joined", "left"], {"stay": 0n, "joined": 0n, "left": 0n}, function (carry, variance, apart, rounded, stay, joined, left) {
let moved;
moved = $.mul($.b.float([$.add($.add($.mul($.b.abs([$.sub(1n, carry)]), stay), joined), $.mul(carry, left))]), apart);
if ((($.t(stay) || $.t(left)) && $.t($.mod(carry, 1n)))) {
moved = $.iadd(moved, rounded);
}
return $.mul($.div($.mul(moved, moved), variance), _UP);
});
gaussian_factor = $.fn("gaussian_factor", ["*", "variance", "label_weight"], {}, function (variance, label_weight) {
let lost;
lost = $.mul(SMOOTHING_SQUARED, $.b.max([2.0, $.pow($.b.float([label_weight]), 2n)]));
return ($.t($.lt($.mul(lost, _APART), variance)) ? $.mul($.div(variance, $.sub(variance, lost)), _UP) : $.libraries["math"].inf);
});
equalizer_costs = $.fn("equalizer_costs", ["releases"], {}, function (releases) {
let _, before, found;
found = [$.div(1n, 3n)];
for (const $v3 of $.each($.b.range([$.sub(releases, 2n)]))) {
_ = $v3;
before = $.gi(found, $.neg(1n));
$.cm(found, "append", [$.div($.add($.sub(before, 1n), $.mul(2n, $.libraries["math"].sqrt([$.add($.add($.mul(before, before), before), 1n)]))), 3n)]);
}
return [...(function* ($first) { for (const $v4 of $.each($first)) { let number; number = $v4; yield $.gi(found, $.sub($.sub(releases, 2n), number)); } })($.b.range([$.sub(releases, 1n)]))];
});
equalizer_schedule = $.fn("equalizer_schedule", ["*", "releases", "variance"], {}, function (releases, variance) {
let carry, reserve, scale, steps;
{const $v5 = [$.b.float([$.shl(1n, CARRY_BITS)]), [$.tuple([0.0, variance])]];scale = $v5[0];steps = $v5[1];}
for (const $v6 of $.each(equalizer_costs([releases]))) {
reserve = $v6;
carry = $.div($.libraries["math"].floor([$.add($.mul($.libraries["math"].sqrt([$.div(reserve, $.add(1n, reserve))]), scale), 0.5)]), scale);
$.cm(steps, "append", [$.tuple([carry, $.mul(variance, $.sub(1n, $.mul(carry, carry)))])]);
}
return steps;
});
worst_charges = $.fn("worst_charges", ["*", "draws", "apart", "rounded", "joiners", "leaves"], {"leaves": true}, function (draws, apart, rounded, joiners, leaves) {
let carry, facts, found, gone, joined, present, variance;
{const $v7 = 0.0;present = $v7;gone = $v7;}
found = [];
for (const $v8 of $.each(draws)) {
{const $v9 = $.unpack($v8, 2, -1);carry = $v9[0];variance = $v9[1];}
facts = $.dict([["carry", carry], ["variance", variance], ["apart", apart], ["rounded", rounded]]);
joined = draw_cost([], {...$.named(facts), "joined": 1n});
if (!$.t(found)) {
present = joined;
} else {
gone = ($.t(leaves) ? $.b.max([gone, $.add(present, draw_cost([], {...$.named(facts), "left": 1n}))]) : 0.0);
present = $.iadd(present, draw_cost([], {...$.named(facts), "stay": 1n}));
present = ($.t(joiners) ? $.b.max([present, joined]) : present);
}
$.cm(found, "append", [$.mul($.b.max([present, gone]), _SUM_UP)]);
}
return found;
});
return {CARRY_BITS, _UP, _SUM_UP, _APART, SMOOTHING_SQUARED, sensitivity, rounding_norm, draw_cost, gaussian_factor, equalizer_costs, equalizer_schedule, worst_charges, Any};
})();
$.modules["bounds.tails"] = (() => {
let _SQRT2, _SQRT_PI, _FAR, _SPLIT, erfcx, upper_tail, log_lower_tail, log_sum;
const math = $.libraries["math"];
_SQRT2 = $.libraries["math"].sqrt([2n]);
_SQRT_PI = $.libraries["math"].sqrt([$.libraries["math"].pi]);
_FAR = 25.0;
_SPLIT = $.add($.pow(2.0, 27n), 1n);
erfcx = $.fn("erfcx", ["x"], {}, function (x) {
let high, odd, total, u, wide;
if ($.t($.lt(x, $.neg(26.6)))) {
return $.libraries["math"].inf;
}
if ($.t($.lt(_FAR, x))) {
{const $v1 = [$.div(1n, $.mul($.mul(2n, x), x)), 1.0];u = $v1[0];total = $v1[1];}
for (const $v2 of $.each($.b.range([13n, 0n, $.neg(2n)]))) {
odd = $v2;
total = $.sub(1n, $.mul($.mul(odd, u), total));
}
return $.div(total, $.mul(x, _SQRT_PI));
}
wide = $.mul(_SPLIT, x);
high = $.sub(wide, $.sub(wide, x));
return $.mul($.mul($.libraries["math"].exp([$.mul(high, high)]), $.libraries["math"].exp([$.mul($.sub(x, high), $.add(x, high))])), $.libraries["math"].erfc([x]));
});
upper_tail = $.fn("upper_tail", ["t"], {}, function (t) {
return $.div($.libraries["math"].erfc([$.div(t, _SQRT2)]), 2n);
});
log_lower_tail = $.fn("log_lower_tail", ["t"], {}, function (t) {
if ($.t($.lt(0n, t))) {
return $.libraries["math"].log1p([$.neg(upper_tail([t]))]);
}
return $.sub($.libraries["math"].log([$.div(erfcx([$.div($.neg(t), _SQRT2)]), 2n)]), $.div($.mul(t, t), 2n));
});
log_sum = $.fn("log_sum", ["a", "b"], {}, function (a, b) {
return $.add($.b.max([a, b]), $.libraries["math"].log1p([$.libraries["math"].exp([$.neg($.b.abs([$.sub(a, b)]))])]));
});
return {_SQRT2, _SQRT_PI, _FAR, _SPLIT, erfcx, upper_tail, log_lower_tail, log_sum};
})();
$.modules["evidence.checks"] = (() => {
let REFUSALS, LAST_DIGITS, _LARGEST, _LONGEST, Check, Verification, shorten_error, at_least, with_whole_numbers, first_difference;
const math = $.libraries["math"];
const Mapping = $.libraries["collections.abc"]["Mapping"];
const asdict = $.libraries["dataclasses"]["asdict"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const NoisyGDDeleteError = $.modules["errors"]["NoisyGDDeleteError"];
REFUSALS = $.tuple([NoisyGDDeleteError, $.b.ArithmeticError, $.b.LookupError, $.b.TypeError, $.b.ValueError, $.b.AttributeError, $.b.AssertionError, $.b.MemoryError, $.b.RecursionError]);
LAST_DIGITS = 1e-09;
_LARGEST = $.pow(10n, 300n);
_LONGEST = 400n;
Check = $.dataclass($.cls("Check", [], ($ns) => {

}), [["name", () => ["is", $.b.str]], ["passed", () => ["is", $.b.bool]], ["detail", () => ["is", $.b.str]]], {frozen: true});
Verification = $.dataclass($.cls("Verification", [], ($ns) => {
$ns.passed = $.property($.fn("passed", ["self"], {}, function (self) {
return $.b.all([(function* ($first) { for (const $v1 of $.each($first)) { let check; check = $v1; yield $.ga(check, "passed"); } })($.ga(self, "checks"))]);
}));
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.dict([["passed", $.ga(self, "passed")], ["checks", [...(function* ($first) { for (const $v2 of $.each($first)) { let check; check = $v2; yield asdict([check]); } })($.ga(self, "checks"))]]]);
});
$ns.text = $.fn("text", ["self"], {}, function (self) {
let lines;
lines = [...(function* ($first) { for (const $v3 of $.each($first)) { let check; check = $v3; yield ("" + $.formatted(($.t($.ga(check, "passed")) ? "ok  " : "FAIL"), "", "") + " " + $.formatted($.ga(check, "name"), "", "") + ": " + $.formatted($.ga(check, "detail"), "", "")); } })($.ga(self, "checks"))];
return $.cm("\n", "join", [[...$.each(lines), ($.t($.ga(self, "passed")) ? "the certificate holds" : "the certificate does NOT hold")]]);
});
}), [["checks", () => ["of", $.b.tuple, ["is", Check]]]], {frozen: true});
shorten_error = $.fn("shorten_error", ["error"], {}, function (error) {
let said;
said = $.either($.b.str([error]), () => $.ga($.b.type([error]), "__name__"));
said = $.cm("", "join", [(function* ($first) { for (const $v4 of $.each($first)) { let letter; letter = $v4; yield ($.t($.cm(letter, "isprintable", [])) ? letter : "?"); } })($.slice(said, null, _LONGEST, null))]);
return $.add(said, ($.t($.lt(_LONGEST, $.b.len([$.b.str([error])]))) ? "..." : ""));
});
at_least = $.fn("at_least", ["said", "proven"], {}, function (said, proven) {
let number;
if (($.t($.is(said, null)) || $.t($.is(proven, null)) || $.t($.libraries["math"].isinf([proven])))) {
return $.is(said, null);
}
number = $.both($.has($.tuple([$.b.int, $.b.float]), $.b.type([said])), () => $.both((($v5, $v6, $v7) => $.le($v5, $v6) && $.lt($v6, $v7))(0n, said, $.libraries["math"].inf), () => !$.eq($.gi($.b.str([said]), 0n), "-")));
return $.both(number, () => $.b.bool([$.le($.mul(proven, $.sub(1n, LAST_DIGITS)), said)]));
});
with_whole_numbers = $.fn("with_whole_numbers", ["document"], {}, function (document) {
if ($.t($.b.isinstance([document, Mapping]))) {
return $.dict((function* ($first) { for (const $v8 of $.each($first)) { let name, value; {const $v9 = $.unpack($v8, 2, -1);name = $v9[0];value = $v9[1];} yield [name, with_whole_numbers([value])]; } })($.cm(document, "items", [])));
}
if ($.t($.b.isinstance([document, $.tuple([$.b.list, $.b.tuple])]))) {
return [...(function* ($first) { for (const $v10 of $.each($first)) { let value; value = $v10; yield with_whole_numbers([value]); } })(document)];
}
if (($.t($.b.isinstance([document, $.b.float])) && $.t($.lt($.b.abs([document]), $.pow(2n, 53n))) && $.t($.eq($.b.int([document]), document)) && $.t(!$.eq($.b.repr([document]), "-0.0")))) {
return $.b.int([document]);
}
return document;
});
first_difference = $.fn("first_difference", ["stated", "again", "path"], {"path": ""}, function (stated, again, path) {
let found, name, pairs, same;
if (($.t($.b.isinstance([stated, Mapping])) && $.t($.b.isinstance([again, Mapping])))) {
for (const $v11 of $.each([...$.each(again), ...$.each((function* ($first) { for (const $v12 of $.each($first)) { let name; name = $v12; if (!$.t(!$.has(again, name))) continue; yield name; } })(stated))])) {
name = $v11;
if (($.t(!$.has(stated, name)) || $.t(!$.has(again, name)))) {
return shorten_error([$.b.ValueError([("" + $.formatted(path, "", "") + $.formatted(name, "", ""))])]);
}
found = first_difference([$.gi(stated, name), $.gi(again, name), ("" + $.formatted(path, "", "") + $.formatted(name, "", "") + ".")]);
if ($.t(found)) {
return found;
}
}
return null;
}
if (($.t($.b.isinstance([stated, $.tuple([$.b.list, $.b.tuple])])) && $.t($.b.isinstance([again, $.tuple([$.b.list, $.b.tuple])])))) {
if ($.t(!$.eq($.b.len([stated]), $.b.len([again])))) {
return $.cm(path, "rstrip", ["."]);
}
pairs = $.b.enumerate([$.b.zip([stated, again], {"strict": true})], {"start": 1n});
return $.b.next([(function* ($first) { for (const $v13 of $.each($first)) { let a, b, i; {const $v14 = $.unpack($v13, 2, -1);i = $v14[0];{const $v15 = $.unpack($v14[1], 2, -1);a = $v15[0];b = $v15[1];}} if (!$.t((found = first_difference([a, b, ("" + $.formatted(path, "", "") + $.formatted(i, "", "") + ".")])))) continue; yield found; } })(pairs), null]);
}
if (($.t($.is($.b.type([stated]), $.b.int)) && $.t($.b.isinstance([again, $.b.float])) && $.t($.lt($.b.abs([stated]), _LARGEST)) && $.t($.eq($.b.float([stated]), stated)))) {
stated = $.b.float([stated]);
}
same = $.both($.is($.b.type([stated]), $.b.type([again])), () => $.eq($.b.repr([stated]), $.b.repr([again])));
return ($.t(same) ? null : $.either($.cm(path, "rstrip", ["."]), () => "value"));
});
return {REFUSALS, LAST_DIGITS, _LARGEST, _LONGEST, Check, Verification, shorten_error, at_least, with_whole_numbers, first_difference, Mapping, NoisyGDDeleteError, asdict};
})();
$.modules["register.case"] = (() => {
let MOST_HOLIDAYS, _ONE_DAY, _SATURDAY, parse_datetime, parse_day, parse_days, last_day, holidays_that_extend, local_day, case_to_json, Reasons;
const Mapping = $.libraries["collections.abc"]["Mapping"];
const replace = $.libraries["dataclasses"]["replace"];
const UTC = $.libraries["datetime"]["UTC"];
const date = $.libraries["datetime"]["date"];
const datetime = $.libraries["datetime"]["datetime"];
const timedelta = $.libraries["datetime"]["timedelta"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const Word = $.modules["errors"]["Word"];
const check_count = $.modules["errors"]["check_count"];
const monthrange = $.libraries["calendar"]["monthrange"];
MOST_HOLIDAYS = 2000n;
_ONE_DAY = timedelta([], {"days": 1n});
_SATURDAY = 5n;
parse_datetime = $.fn("parse_datetime", ["name", "when", "*", "utc"], {"utc": true}, function (name, when, utc) {
let error, found;
try {
found = $.cm(datetime, "fromisoformat", [when]);
if ($.t($.is($.ga(found, "tzinfo"), null))) {
throw $.raised(InvalidParameter(["needs a time zone, for example a trailing Z or +02:00"], {...$.named($.dict([[name, when]]))}));
}
if (!$.t((($v1, $v2, $v3) => $.le($v1, $v2) && $.le($v2, $v3))(1971n, $.ga(found, "year"), 9000n))) {
throw $.raised(InvalidParameter(["is not a time at which anybody asked for an erasure"], {...$.named($.dict([[name, when]]))}));
}
found = $.cm(found, "replace", [], {"microsecond": 0n});
return $.cm(($.t(utc) ? $.cm(found, "astimezone", [UTC]) : found), "isoformat", []);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.tuple([$.b.TypeError, $.b.ValueError, $.b.OverflowError]))) {error = $caught;
if ($.t($.b.isinstance([error, InvalidParameter]))) {
throw $caught;
}
throw $.raised(InvalidParameter(["must be a time in ISO 8601, for example 2026-05-04T09:30:00+02:00"], {...$.named($.dict([[name, when]]))}));
} else throw $caught;
}
return null;
});
parse_day = $.fn("parse_day", ["name", "when"], {}, function (name, when) {
let error, found;
if (($.t($.b.isinstance([when, date])) && !$.t($.b.isinstance([when, datetime])))) {
found = when;
} else {
try {
found = $.cm(date, "fromisoformat", [when]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.tuple([$.b.TypeError, $.b.ValueError]))) {error = $caught;
throw $.raised(InvalidParameter(["must be a day, for example 2026-05-04"], {...$.named($.dict([[name, when]]))}));
} else throw $caught;
}
if ($.t(!$.eq($.cm(found, "isoformat", []), when))) {
throw $.raised(InvalidParameter(["must be written with hyphens, for example 2026-05-04"], {...$.named($.dict([[name, when]]))}));
}
}
if (!$.t((($v4, $v5, $v6) => $.le($v4, $v5) && $.le($v5, $v6))(1971n, $.ga(found, "year"), 9000n))) {
throw $.raised(InvalidParameter(["is not a day on which anybody answers a request"], {...$.named($.dict([[name, found]]))}));
}
return found;
});
parse_days = $.fn("parse_days", ["name", "given"], {}, function (name, given) {
let found;
found = $.b.sorted([$.set((function* ($first) { for (const $v7 of $.each($first)) { let one; one = $v7; yield parse_day([name, one]); } })(given))]);
if ($.t($.lt(MOST_HOLIDAYS, $.b.len([found])))) {
throw $.raised(InvalidParameter([("" + $.formatted(name, "", "") + ": " + $.formatted($.b.len([found]), "", "") + " days; give at most " + $.formatted(MOST_HOLIDAYS, "", ""))]));
}
return $.b.tuple([found]);
});
last_day = $.fn("last_day", ["received", "*", "months", "holidays"], {"months": 1n, "holidays": $.tuple([])}, function (received, months, holidays) {
let last, month, number, start, year;
check_count(["months", months], {"minimum": 0n, "maximum": 120n});
start = ($.t($.b.isinstance([received, date])) ? received : $.cm($.cm(datetime, "fromisoformat", [received]), "date", []));
number = $.add($.sub($.add($.mul($.ga(start, "year"), 12n), $.ga(start, "month")), 1n), months);
{const $v8 = $.unpack($.b.divmod([number, 12n]), 2, -1);year = $v8[0];month = $v8[1];}
month = $.iadd(month, 1n);
last = date([year, month, $.b.min([$.ga(start, "day"), $.gi(monthrange([year, month]), 1n)])]);
while (($.t($.le(_SATURDAY, $.cm(last, "weekday", []))) || $.t($.has(holidays, last)))) {
last = $.iadd(last, _ONE_DAY);
}
return last;
});
holidays_that_extend = $.fn("holidays_that_extend", ["received", "*", "months", "holidays"], {"months": 1n, "holidays": $.tuple([])}, function (received, months, holidays) {
let known, last, plain;
known = $.b.frozenset([holidays]);
{const $v9 = [last_day([received], {"months": months, "holidays": known}), last_day([received], {"months": months})];last = $v9[0];plain = $v9[1];}
return $.b.tuple([(function* ($first) { for (const $v10 of $.each($first)) { let one; one = $v10; if (!($.t((($v11, $v12, $v13) => $.le($v11, $v12) && $.lt($v12, $v13))(plain, one, last)) && $.t($.lt($.cm(one, "weekday", []), _SATURDAY)))) continue; yield one; } })($.b.sorted([known]))]);
});
local_day = $.fn("local_day", ["when", "received"], {}, function (when, received) {
let zone;
zone = ($.t($.is(received, null)) ? UTC : $.ga($.cm(datetime, "fromisoformat", [received]), "tzinfo"));
return $.cm($.cm($.cm(datetime, "fromisoformat", [when]), "astimezone", [zone]), "date", []);
});
case_to_json = $.fn("case_to_json", ["value"], {}, function (value) {
if ($.t($.b.isinstance([value, $.b.tuple]))) {
return [...(function* ($first) { for (const $v14 of $.each($first)) { let one; one = $v14; yield case_to_json([one]); } })(value)];
}
if ($.t($.b.isinstance([value, Mapping]))) {
return $.b.dict([value]);
}
if ($.t($.b.isinstance([value, date]))) {
return $.cm(value, "isoformat", []);
}
return ($.t($.b.isinstance([value, Word])) ? $.b.str([value]) : value);
});
Reasons = $.cls("Reasons", [Word], ($ns) => {
$ns.COMPLEXITY = "complexity";
$ns.NUMBER = "number of requests";
});
return {MOST_HOLIDAYS, _ONE_DAY, _SATURDAY, parse_datetime, parse_day, parse_days, last_day, holidays_that_extend, local_day, case_to_json, Reasons, Word, date, Mapping, datetime, UTC, InvalidParameter, monthrange, check_count, timedelta};
})();
$.modules["privacy.sentences"] = (() => {
let DIGITS, round_up, format_bound, format_number, success_per_hundred, _exponent, _QUOTES, without_quotes, fill_entry;
const load_catalogue = $.libraries["privacy.sentences"]["load_catalogue"];
const math = $.libraries["math"];
const re = $.libraries["re"];
const ROUND_CEILING = $.libraries["decimal"]["ROUND_CEILING"];
const Context = $.libraries["decimal"]["Context"];
const Decimal = $.libraries["decimal"]["Decimal"];
const Fraction = $.libraries["fractions"]["Fraction"];
DIGITS = 4n;
round_up = $.fn("round_up", ["bound", "digits"], {"digits": DIGITS}, function (bound, digits) {
if (!$.t($.libraries["math"].isfinite([bound]))) {
return bound;
}
return $.b.float([$.cm(Context([], {"prec": digits, "rounding": ROUND_CEILING}), "plus", [Decimal([$.b.repr([$.b.float([bound])])])])]);
});
format_bound = $.fn("format_bound", ["bound", "*", "percent"], {"percent": false}, function (bound, percent) {
let tenths;
if (($.t($.is(bound, null)) || $.t($.eq(bound, $.libraries["math"].inf)))) {
return "\u221e";
}
if ($.t(percent)) {
tenths = $.cm($.mul(Decimal([$.b.repr([$.b.float([bound])])]), 100n), "quantize", [Decimal(["0.1"])], {"rounding": ROUND_CEILING});
return ("" + $.formatted($.b.min([tenths, Decimal(["100.0"])]), "", "") + " %");
}
return _exponent([("" + $.formatted(round_up([bound]), "", ("" + "." + $.formatted(DIGITS, "", "") + "g")))]);
});
format_number = $.fn("format_number", ["number", "digits"], {"digits": 6n}, function (number, digits) {
if ($.t($.is(number, null))) {
return "\u2013";
}
return _exponent([("" + $.formatted(number, "", ("" + "." + $.formatted(digits, "", "") + "g")))]);
});
success_per_hundred = $.fn("success_per_hundred", ["advantage"], {}, function (advantage) {
return $.b.min([100n, $.add(50n, $.libraries["math"].ceil([$.mul(50n, Fraction([$.b.repr([$.b.float([advantage])])]))]))]);
});
_exponent = $.fn("_exponent", ["text"], {}, function (text) {
return $.libraries["re"].sub(["e([+-])0*", $.fn("<lambda>", ["sign"], {}, (sign) => ($.t($.eq($.gi(sign, 1n), "-")) ? "e-" : "e")), text]);
});
_QUOTES = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u300c\u300d\u300e\u300f\u301d\u301e\u301f\uff02\"";
without_quotes = $.fn("without_quotes", ["text"], {}, function (text) {
return $.cm("", "join", [(function* ($first) { for (const $v1 of $.each($first)) { let letter; letter = $v1; yield ($.t($.has(_QUOTES, letter)) ? "\u2019" : letter); } })(text)]);
});
fill_entry = $.fn("fill_entry", ["entry", "values", "filled"], {}, function (entry, values, filled) {
let first, name, part, parts, rest, text, value;
while (!$.t($.b.isinstance([entry, $.b.str]))) {
value = $.gi(values, $.gi(entry, "by"));
entry = $.gi(entry, ($.t($.b.isinstance([value, $.b.str])) ? value : ($.t($.eq(value, 1n)) ? "one" : "many")));
}
{const $v2 = $.unpack($.cm(entry, "split", ["{"]), 2, 1);first = $v2[0];parts = $v2[1];}
text = first;
for (const $v3 of $.each(parts)) {
part = $v3;
{const $v4 = $.unpack($.cm(part, "split", ["}"]), 2, -1);name = $v4[0];rest = $v4[1];}
text = $.iadd(text, $.add($.gi(filled, name), rest));
}
return text;
});
return {DIGITS, round_up, format_bound, format_number, success_per_hundred, _exponent, _QUOTES, without_quotes, fill_entry, Decimal, ROUND_CEILING, Fraction, Context};
})();
$.modules["bounds.arithmetic"] = (() => {
let DTYPES, BLOCK, SPAN, CHUNK, GRID_BITS, MOST_PROCESSES, MOST_PARTITIONS, NORM_TOLERANCE, ROOM, _SLOPE_TOLERANCE, _UNIT_ROUNDOFF, sensitivity_slack, gradient_error, _pairwise_additions, UNIT, MARGIN, LEAST_LOG, exp_up, log_down, sum_up, golden_section_minimum, best_order, first_safe, least_safe, first_whole;
const math = $.libraries["math"];
const sys = $.libraries["sys"];
const check_choice = $.modules["errors"]["check_choice"];
DTYPES = $.tuple(["float32", "float64"]);
BLOCK = 256n;
SPAN = $.mul(64n, BLOCK);
CHUNK = 2048n;
GRID_BITS = 24n;
MOST_PROCESSES = 128n;
MOST_PARTITIONS = $.shl(1n, 16n);
NORM_TOLERANCE = $.pow(2.0, $.neg(20n));
ROOM = $.add(1n, $.mul(2n, NORM_TOLERANCE));
_SLOPE_TOLERANCE = $.pow(2.0, $.neg(21n));
_UNIT_ROUNDOFF = $.dict([["float32", $.pow(2.0, $.neg(24n))], ["float64", $.pow(2.0, $.neg(53n))]]);
sensitivity_slack = $.fn("sensitivity_slack", ["*", "records", "dtype"], {}, function (records, dtype) {
let additions, inside, unit;
unit = $.gi(_UNIT_ROUNDOFF, check_choice(["dtype", dtype, DTYPES]));
inside = $.div($.mul(BLOCK, unit), $.sub(1n, $.mul(BLOCK, unit)));
additions = $.add($.add($.floordiv(SPAN, BLOCK), $.mul(2n, $.cm($.add($.floordiv(records, SPAN), 1n), "bit_length", []))), MOST_PROCESSES);
return $.add($.add($.add($.mul($.mul(2n, BLOCK), inside), $.mul($.mul($.mul(4n, records), additions), $.pow(2.0, $.neg(53n)))), NORM_TOLERANCE), _SLOPE_TOLERANCE);
});
gradient_error = $.fn("gradient_error", ["*", "lipschitz", "curvature", "outputs", "records", "features", "regularization", "weights_norm"], {}, function (lipschitz, curvature, outputs, records, features, regularization, weights_norm) {
let additions, curved, last, summed;
curved = $.mul($.mul(curvature, $.add(features, 2n)), weights_norm);
last = $.b.max([MOST_PROCESSES, _pairwise_additions([MOST_PARTITIONS])]);
additions = $.add($.add($.b.min([CHUNK, records]), _pairwise_additions([$.neg($.floordiv($.neg(records), BLOCK))])), last);
summed = $.mul($.add($.add(24n, $.mul(4n, outputs)), additions), lipschitz);
return $.mul($.mul(2n, $.gi(_UNIT_ROUNDOFF, "float64")), $.add($.add(curved, summed), $.mul($.mul(4n, regularization), weights_norm)));
});
_pairwise_additions = $.fn("_pairwise_additions", ["parts"], {}, function (parts) {
return $.cm($.sub(parts, 1n), "bit_length", []);
});
UNIT = $.pow(2.0, $.neg(53n));
MARGIN = 1e-12;
LEAST_LOG = $.neg($.ga($.libraries["sys"].float_info, "max"));
exp_up = $.fn("exp_up", ["logarithm"], {}, function (logarithm) {
if ($.t($.eq(logarithm, $.neg($.libraries["math"].inf)))) {
return 0.0;
}
return ($.t($.lt(logarithm, 0n)) ? $.libraries["math"].nextafter([$.libraries["math"].exp([$.b.min([logarithm, 0.0])]), $.libraries["math"].inf]) : 1.0);
});
log_down = $.fn("log_down", ["value"], {}, function (value) {
let logarithm;
logarithm = $.libraries["math"].log([value]);
return $.sub(logarithm, $.mul($.mul(2n, UNIT), $.b.abs([logarithm])));
});
sum_up = $.fn("sum_up", ["*terms"], {}, function (terms) {
return $.add($.libraries["math"].fsum([terms]), $.mul($.mul(16n, UNIT), $.libraries["math"].fsum([$.b.map([$.b.abs, terms])])));
});
golden_section_minimum = $.fn("golden_section_minimum", ["objective", "left", "right", "rounds"], {}, function (objective, left, right, rounds) {
let _, best, high, inner, low, outer, ratio;
ratio = $.div($.sub($.libraries["math"].sqrt([5n]), 1n), 2n);
{const $v1 = [$.sub(right, $.mul(ratio, $.sub(right, left))), $.add(left, $.mul(ratio, $.sub(right, left)))];inner = $v1[0];outer = $v1[1];}
{const $v2 = [objective([inner]), objective([outer])];low = $v2[0];high = $v2[1];}
best = $.b.min([low, high]);
for (const $v3 of $.each($.b.range([rounds]))) {
_ = $v3;
if ($.t($.le(low, high))) {
{const $v5 = [outer, inner, low];right = $v5[0];outer = $v5[1];high = $v5[2];}
inner = $.sub(right, $.mul(ratio, $.sub(right, left)));
low = objective([inner]);
} else {
{const $v4 = [inner, outer, high];left = $v4[0];inner = $v4[1];low = $v4[2];}
outer = $.add(left, $.mul(ratio, $.sub(right, left)));
high = objective([outer]);
}
best = $.b.min([best, low, high]);
}
return best;
});
best_order = $.fn("best_order", ["objective", "low", "high", "points", "rounds"], {"low": 1e-09, "high": 1000000000000000.0, "points": 128n, "rounds": 36n}, function (objective, low, high, points, rounds) {
let at, best, grid, tried, values;
tried = $.dict([]);
at = $.fn("at", ["point"], {}, function (point) {
let order;
order = $.add(1n, $.libraries["math"].exp([point]));
$.si(tried, order, objective([order]));
return $.gi(tried, order);
});
grid = [...(function* ($first) { for (const $v6 of $.each($first)) { let i; i = $v6; yield $.add($.libraries["math"].log([low]), $.div($.mul(i, $.sub($.libraries["math"].log([high]), $.libraries["math"].log([low]))), points)); } })($.b.range([$.add(points, 1n)]))];
values = [...(function* ($first) { for (const $v7 of $.each($first)) { let point; point = $v7; yield at([point]); } })(grid)];
best = $.b.min([$.b.range([$.b.len([grid])])], {"key": $.ga(values, "__getitem__")});
golden_section_minimum([at, $.gi(grid, $.b.max([0n, $.sub(best, 1n)])), $.gi(grid, $.b.min([$.sub($.b.len([grid]), 1n), $.add(best, 1n)])), rounds]);
return $.b.min([tried], {"key": $.ga(tried, "__getitem__")});
});
first_safe = $.fn("first_safe", ["safe", "low", "high", "digits"], {"digits": 1e-15}, function (safe, low, high, digits) {
let _, middle;
for (const $v8 of $.each($.b.range([200n]))) {
_ = $v8;
middle = (($.t($.lt(0n, low)) && $.t($.lt(4n, $.div(high, low)))) ? $.mul($.libraries["math"].sqrt([low]), $.libraries["math"].sqrt([high])) : $.add(low, $.div($.sub(high, low), 2n)));
if (!$.t((($v9, $v10, $v11) => $.lt($v9, $v10) && $.lt($v10, $v11))(low, middle, high))) {
break;
}
if ($.t(safe([middle]))) {
high = middle;
} else {
low = middle;
}
if ($.t($.le($.sub(high, low), $.mul(digits, high)))) {
break;
}
}
return high;
});
least_safe = $.fn("least_safe", ["safe", "*", "guess", "factor", "below", "most", "digits"], {"factor": 2.0, "below": null, "most": $.libraries["math"].inf, "digits": 1e-15}, function (safe, guess, factor, below, most, digits) {
let high, low, lower;
{const $v12 = [below, $.b.min([guess, most])];low = $v12[0];high = $v12[1];}
while (!$.t(safe([high]))) {
if (!$.t($.lt(high, most))) {
return $.libraries["math"].inf;
}
{const $v13 = [high, $.b.min([$.mul(factor, high), most])];low = $v13[0];high = $v13[1];}
}
while ($.t($.is(low, null))) {
lower = $.div(high, factor);
{const $v14 = $.unpack((($.t($.lt(0n, lower)) && $.t(safe([lower]))) ? $.tuple([null, lower]) : $.tuple([lower, high])), 2, -1);low = $v14[0];high = $v14[1];}
}
return first_safe([safe, low, high, digits]);
});
first_whole = $.fn("first_whole", ["safe", "low", "high", "digits"], {"digits": 0.0}, function (safe, low, high, digits) {
let middle;
while ($.t($.lt($.b.max([1n, $.mul(digits, high)]), $.sub(high, low)))) {
middle = $.floordiv($.add(low, high), 2n);
{const $v15 = $.unpack(($.t(safe([middle])) ? $.tuple([low, middle]) : $.tuple([middle, high])), 2, -1);low = $v15[0];high = $v15[1];}
}
return high;
});
return {DTYPES, BLOCK, SPAN, CHUNK, GRID_BITS, MOST_PROCESSES, MOST_PARTITIONS, NORM_TOLERANCE, ROOM, _SLOPE_TOLERANCE, _UNIT_ROUNDOFF, sensitivity_slack, gradient_error, _pairwise_additions, UNIT, MARGIN, LEAST_LOG, exp_up, log_down, sum_up, golden_section_minimum, best_order, first_safe, least_safe, first_whole, check_choice};
})();
$.modules["store.sources.residue_report"] = (() => {
let Verdicts;
const Word = $.modules["errors"]["Word"];
Verdicts = $.cls("Verdicts", [Word], ($ns) => {
$ns.ERASED = "ERASED";
$ns.RESIDUAL = "RESIDUAL";
$ns.NOT_COVERED = "NOT COVERED";
});
return {Verdicts, Word};
})();
$.modules["records.counts"] = (() => {
let KINDS, EditCounts, NO_EDITS;
const Mapping = $.libraries["collections.abc"]["Mapping"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_count = $.modules["errors"]["check_count"];
KINDS = $.tuple(["deleted", "replaced", "inserted", "unrecorded"]);
EditCounts = $.dataclass($.cls("EditCounts", [], ($ns) => {
$ns.deleted = 0n;
$ns.replaced = 0n;
$ns.inserted = 0n;
$ns.unrecorded = 0n;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name, number;
for (const $v1 of $.each($.b.zip([KINDS, $.cm(self, "_numbers", [])], {"strict": true}))) {
{const $v2 = $.unpack($v1, 2, -1);name = $v2[0];number = $v2[1];}
check_count([name, number], {"minimum": 0n});
}
return null;
});
$ns.of = $.classmethod($.fn("of", ["cls", "edits"], {}, function (cls, edits) {
return ($.t($.b.isinstance([edits, EditCounts])) ? edits : cls([], {"unrecorded": edits}));
}));
$ns.among = $.fn("among", ["self", "edits"], {}, function (self, edits) {
return $.add(self, EditCounts([], {"unrecorded": $.sub(edits, $.ga(self, "total"))}));
});
$ns.total = $.property($.fn("total", ["self"], {}, function (self) {
return $.add($.add($.add($.ga(self, "deleted"), $.ga(self, "replaced")), $.ga(self, "inserted")), $.ga(self, "unrecorded"));
}));
$ns.erased = $.property($.fn("erased", ["self"], {}, function (self) {
return $.add($.add($.ga(self, "deleted"), $.ga(self, "replaced")), $.ga(self, "unrecorded"));
}));
$ns.__add__ = $.fn("__add__", ["self", "other"], {}, function (self, other) {
return EditCounts([...$.each((function* ($first) { for (const $v3 of $.each($first)) { let a, b; {const $v4 = $.unpack($v3, 2, -1);a = $v4[0];b = $v4[1];} yield $.add(a, b); } })($.b.zip([$.cm(self, "_numbers", []), $.cm(other, "_numbers", [])], {"strict": true})))]);
});
$ns.__sub__ = $.fn("__sub__", ["self", "other"], {}, function (self, other) {
return EditCounts([...$.each((function* ($first) { for (const $v5 of $.each($first)) { let a, b; {const $v6 = $.unpack($v5, 2, -1);a = $v6[0];b = $v6[1];} yield $.sub(a, b); } })($.b.zip([$.cm(self, "_numbers", []), $.cm(other, "_numbers", [])], {"strict": true})))]);
});
$ns._numbers = $.fn("_numbers", ["self"], {}, function (self) {
return $.tuple([$.ga(self, "deleted"), $.ga(self, "replaced"), $.ga(self, "inserted"), $.ga(self, "unrecorded")]);
});
$ns.text = $.fn("text", ["self"], {}, function (self) {
let first, others, parts, unit, words;
words = $.tuple(["erased", "replaced", "inserted", "edited (kind not recorded)"]);
parts = [...(function* ($first) { for (const $v7 of $.each($first)) { let number, word; {const $v8 = $.unpack($v7, 2, -1);number = $v8[0];word = $v8[1];} if (!$.t(number)) continue; yield $.tuple([number, word]); } })($.b.zip([$.cm(self, "_numbers", []), words], {"strict": true}))];
if (!$.t(parts)) {
return "no records edited";
}
{const $v9 = $.unpack(parts, 2, 1);first = $v9[0];others = $v9[1];}
unit = ($.t($.eq($.gi(first, 0n), 1n)) ? "record" : "records");
return $.cm(", ", "join", [[("" + $.formatted($.gi(first, 0n), "", "") + " " + $.formatted(unit, "", "") + " " + $.formatted($.gi(first, 1n), "", "")), ...$.each((function* ($first) { for (const $v10 of $.each($first)) { let number, word; {const $v11 = $.unpack($v10, 2, -1);number = $v11[0];word = $v11[1];} yield ("" + $.formatted(number, "", "") + " " + $.formatted(word, "", "")); } })(others))]]);
});
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.b.dict([$.b.zip([KINDS, $.cm(self, "_numbers", [])], {"strict": true})]);
});
$ns.from_dict = $.classmethod($.fn("from_dict", ["cls", "numbers"], {}, function (cls, numbers) {
if ((!$.t($.b.isinstance([numbers, Mapping])) || $.t(!$.eq($.b.set([numbers]), $.b.set([KINDS]))))) {
throw $.raised(InvalidParameter([("" + "counts of edits are " + $.formatted($.cm(", ", "join", [KINDS]), "", "") + ", all of them")]));
}
return cls([], {...$.named(numbers)});
}));
}), [["deleted", () => ["is", $.b.int]], ["replaced", () => ["is", $.b.int]], ["inserted", () => ["is", $.b.int]], ["unrecorded", () => ["is", $.b.int]]], {frozen: true});
NO_EDITS = EditCounts([]);
return {KINDS, EditCounts, NO_EDITS, check_count, InvalidParameter, Mapping};
})();
$.modules["losses.base"] = (() => {
let MOST_CLASSES, ONE_DIRECTION, SEVERAL_DIRECTIONS, LossConstants, Loss, MulticlassLoss;
const math = $.libraries["math"];
const ABC = $.libraries["abc"]["ABC"];
const abstractmethod = $.libraries["abc"]["abstractmethod"];
const asdict = $.libraries["dataclasses"]["asdict"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const check_count = $.modules["errors"]["check_count"];
const check_scale = $.modules["errors"]["check_scale"];
MOST_CLASSES = 1000000n;
ONE_DIRECTION = "one direction";
SEVERAL_DIRECTIONS = "several directions";
LossConstants = $.dataclass($.cls("LossConstants", [], ($ns) => {
$ns.weak_convexity = 0.0;
$ns.range = $.libraries["math"].inf;
$ns.proven = false;
$ns.convex = $.property($.fn("convex", ["self"], {}, function (self) {
return $.eq($.ga(self, "weak_convexity"), 0n);
}));
$ns.curvature = $.property($.fn("curvature", ["self"], {}, function (self) {
return $.b.max([$.ga(self, "smoothness"), $.ga(self, "weak_convexity")]);
}));
}), [["lipschitz", () => ["is", $.b.float]], ["smoothness", () => ["is", $.b.float]], ["weak_convexity", () => ["is", $.b.float]], ["range", () => ["is", $.b.float]], ["proven", () => ["is", $.b.bool]]], {frozen: true});
Loss = $.dataclass($.cls("Loss", [], ($ns) => {
$ns.curving = "";
$ns.clips_each = false;
$ns.twice_differentiable = true;
$ns.slope = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.cm($.b.object, "__setattr__", [self, "radius", check_scale(["radius", $.ga(self, "radius")])]);
return null;
});
$ns.outputs = $.property($.fn("outputs", ["self"], {}, function (self) {
return 1n;
}));
$ns.blocks = $.property($.fn("blocks", ["self"], {}, function (self) {
return 1n;
}));
$ns.steps_exact = $.property($.fn("steps_exact", ["self"], {}, function (self) {
return $.both($.ga($.ga(self, "constants"), "convex"), () => $.both($.ga($.ga(self, "constants"), "proven"), () => !$.t($.ga(self, "clips_each"))));
}));
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {

return null;
}));
$ns.gap_at_zero = $.property($.fn("gap_at_zero", ["self"], {}, function (self) {
return $.libraries["math"].inf;
}));
$ns.curvature_trace = $.property($.fn("curvature_trace", ["self"], {}, function (self) {
return $.mul($.ga($.ga(self, "constants"), "smoothness"), $.ga(self, "outputs"));
}));
$ns.dimension = $.fn("dimension", ["self", "features"], {}, function (self, features) {
return $.mul($.ga(self, "outputs"), features);
});
$ns.shape = $.fn("shape", ["self", "features"], {}, function (self, features) {
return $.tuple([$.ga(self, "outputs"), features]);
});
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.dict([["name", $.ga(self, "name")], ...$.pairs(asdict([self]))]);
});
}), [["radius", () => ["is", $.b.float]]], {frozen: true});
MulticlassLoss = $.dataclass($.cls("MulticlassLoss", [Loss], ($ns) => {
$ns.classes = 2n;
$ns.label_kind = "class";
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.sup(MulticlassLoss, self, "__post_init__")([]);
$.cm($.b.object, "__setattr__", [self, "classes", check_count(["classes", $.ga(self, "classes")], {"minimum": 2n, "maximum": MOST_CLASSES})]);
return null;
});
$ns.outputs = $.property($.fn("outputs", ["self"], {}, function (self) {
return $.ga(self, "classes");
}));
}), [["classes", () => ["is", $.b.int]]], {frozen: true});
return {MOST_CLASSES, ONE_DIRECTION, SEVERAL_DIRECTIONS, LossConstants, Loss, MulticlassLoss, Any, ClassVar, ABC, check_scale, abstractmethod, asdict, check_count};
})();
$.modules["bounds.theorem_5_2"] = (() => {
let log_barrier_printed, log_barrier, _exp, largest_step_size, step_size, discretisation_rate, forgetting_rate, renyi_to_gibbs_printed, rate_to_gibbs, prior_to_gibbs, gibbs_move, FORMS, Gibbs;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const Any = $.libraries["typing"]["Any"];
const check_choice = $.modules["errors"]["check_choice"];
const check_count = $.modules["errors"]["check_count"];
const check_positive = $.modules["errors"]["check_positive"];
const non_negative = $.modules["errors"]["non_negative"];
const renyi_order = $.modules["errors"]["renyi_order"];
log_barrier_printed = $.fn("log_barrier_printed", ["*", "range", "noise_variance"], {}, function (range, noise_variance) {
return $.div($.mul(2n, range), noise_variance);
});
log_barrier = $.fn("log_barrier", ["*", "range", "noise_variance"], {}, function (range, noise_variance) {
return $.div(range, noise_variance);
});
_exp = $.fn("_exp", ["exponent"], {}, function (exponent) {
return ($.t($.lt(exponent, 709n)) ? $.libraries["math"].exp([exponent]) : $.libraries["math"].inf);
});
largest_step_size = $.fn("largest_step_size", ["*", "log_barrier", "order", "regularization", "smoothness"], {}, function (log_barrier, order, regularization, smoothness) {
return $.mul($.div(regularization, $.mul($.mul(64n, $.pow(order, 2n)), $.pow($.add(smoothness, regularization), 2n))), $.libraries["math"].exp([$.neg(log_barrier)]));
});
step_size = $.fn("step_size", ["*", "log_barrier", "order", "deletion", "dimension", "regularization", "smoothness"], {}, function (log_barrier, order, deletion, dimension, regularization, smoothness) {
let limit;
limit = largest_step_size([], {"log_barrier": log_barrier, "order": order, "regularization": regularization, "smoothness": smoothness});
return $.b.min([limit, $.div($.mul($.mul(limit, order), deletion), dimension)]);
});
discretisation_rate = $.fn("discretisation_rate", ["*", "log_barrier", "dimension", "regularization", "smoothness", "step_size"], {}, function (log_barrier, dimension, regularization, smoothness, step_size) {
let scale;
if ($.t($.eq(step_size, 0n))) {
return 0.0;
}
scale = $.div($.mul($.mul(32n, dimension), $.pow($.add(smoothness, regularization), 2n)), regularization);
return $.mul(scale, _exp([$.add($.libraries["math"].log([step_size]), log_barrier)]));
});
forgetting_rate = $.fn("forgetting_rate", ["*", "log_barrier", "regularization", "step_size"], {}, function (log_barrier, regularization, step_size) {
return $.mul($.div($.mul(regularization, step_size), 2n), $.libraries["math"].exp([$.neg(log_barrier)]));
});
renyi_to_gibbs_printed = $.fn("renyi_to_gibbs_printed", ["*", "start", "discretisation_rate", "forgetting_rate", "order", "steps"], {}, function (start, discretisation_rate, forgetting_rate, order, steps) {
return $.add($.mul($.mul(order, $.libraries["math"].exp([$.mul($.neg(forgetting_rate), steps)])), start), $.mul(order, discretisation_rate));
});
rate_to_gibbs = $.fn("rate_to_gibbs", ["*", "start_rate", "discretisation_rate", "forgetting_rate", "steps"], {}, function (start_rate, discretisation_rate, forgetting_rate, steps) {
let kept;
kept = $.libraries["math"].exp([$.mul($.neg(forgetting_rate), steps)]);
return $.sub($.mul(kept, start_rate), $.mul($.libraries["math"].expm1([$.mul($.neg(forgetting_rate), steps)]), discretisation_rate));
});
prior_to_gibbs = $.fn("prior_to_gibbs", ["*", "range", "noise_variance"], {}, function (range, noise_variance) {
let oscillation;
oscillation = $.div(range, noise_variance);
return $.tuple([oscillation, $.div($.pow(oscillation, 2n), 8n)]);
});
gibbs_move = $.fn("gibbs_move", ["*", "range", "noise_variance", "batch", "records", "deletions_only"], {"deletions_only": false}, function (range, noise_variance, batch, records, deletions_only) {
return $.div($.mul($.mul(($.t(deletions_only) ? 1n : 2n), batch), range), $.mul(records, noise_variance));
});
FORMS = $.tuple(["printed", "sharper"]);
Gibbs = $.dataclass($.cls("Gibbs", [], ($ns) => {
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name;
renyi_order(["order", $.ga(self, "order")]);
for (const $v1 of $.each($.tuple(["range", "regularization"]))) {
name = $v1;
check_positive([name, $.b.getattr([self, name])]);
}
non_negative(["smoothness", $.ga(self, "smoothness")]);
check_count(["dimension", $.ga(self, "dimension")]);
check_choice(["form", $.ga(self, "form"), FORMS]);
return null;
});
$ns.closeness = $.fn("closeness", ["self", "*", "step_size", "noise_variance", "records", "runs"], {}, function (self, step_size, noise_variance, records, runs) {
let chain, cost, edits, learn_steps, requests, steps;
chain = $.dict([["step_size", step_size], ["noise_variance", noise_variance], ["records", records]]);
{const $v2 = $.unpack(runs, 2, 1);{const $v3 = $.unpack($v2[0], 2, -1);learn_steps = $v3[0];edits = $v3[1];}requests = $v2[1];}
cost = $.cm(self, "distance_after", [], {...$.named(chain), "before": null, "steps": learn_steps, "edits": edits});
for (const $v4 of $.each(requests)) {
{const $v5 = $.unpack($v4, 2, -1);steps = $v5[0];edits = $v5[1];}
cost = $.cm(self, "distance_after", [], {...$.named(chain), "before": cost, "steps": steps, "edits": edits});
}
return cost;
});
$ns.distance_after = $.fn("distance_after", ["self", "*", "step_size", "noise_variance", "records", "before", "steps", "edits"], {}, function (self, step_size, noise_variance, records, before, steps, edits) {
let run;
run = $.cm(self, "_run", [step_size, noise_variance, records]);
return ($.t($.is(before, null)) ? run([$.cm(self, "_prior", [noise_variance]), steps, 0n]) : run([before, steps, edits]));
});
$ns.worst_closeness = $.fn("worst_closeness", ["self", "*", "step_size", "noise_variance", "records", "learn_steps", "delete_steps", "batch"], {}, function (self, step_size, noise_variance, records, learn_steps, delete_steps, batch) {
let first, offset, run, slope;
run = $.cm(self, "_run", [step_size, noise_variance, records]);
first = run([run([$.cm(self, "_prior", [noise_variance]), learn_steps, 0n]), delete_steps, batch]);
offset = run([0.0, delete_steps, batch]);
slope = $.sub(run([1.0, delete_steps, batch]), offset);
return ($.t($.lt(slope, 1n)) ? $.b.max([first, $.div(offset, $.sub(1n, slope))]) : $.libraries["math"].inf);
});
$ns._prior = $.fn("_prior", ["self", "noise_variance"], {}, function (self, noise_variance) {
let everywhere, rate;
{const $v6 = $.unpack(prior_to_gibbs([], {"range": $.ga(self, "range"), "noise_variance": noise_variance}), 2, -1);everywhere = $v6[0];rate = $v6[1];}
return ($.t($.eq($.ga(self, "form"), "sharper")) ? $.mul($.ga(self, "order"), $.b.min([everywhere, rate])) : everywhere);
});
$ns._run = $.fn("_run", ["self", "step_size", "noise_variance", "records"], {}, function (self, step_size, noise_variance, records) {
let after, barrier, chain, limit, scale, sizes;
scale = $.dict([["range", $.ga(self, "range")], ["noise_variance", noise_variance]]);
barrier = ($.t($.eq($.ga(self, "form"), "sharper")) ? log_barrier : log_barrier_printed);
sizes = $.dict([["log_barrier", barrier([], {...$.named(scale)})], ["regularization", $.ga(self, "regularization")]]);
limit = largest_step_size([], {"order": $.ga(self, "order"), "smoothness": $.ga(self, "smoothness"), ...$.named(sizes)});
if (!$.t($.le(step_size, $.mul(limit, $.add(1n, 1e-12))))) {
return $.fn("<lambda>", ["*_"], {}, (_) => $.libraries["math"].inf);
}
chain = $.dict([["discretisation_rate", discretisation_rate([], {"dimension": $.ga(self, "dimension"), "smoothness": $.ga(self, "smoothness"), "step_size": step_size, ...$.named(sizes)})], ["forgetting_rate", forgetting_rate([], {"step_size": step_size, ...$.named(sizes)})]]);
after = $.fn("after", ["cost", "steps", "edits"], {}, function (cost, steps, edits) {
let move, rate;
move = gibbs_move([], {"batch": edits, "records": records, ...$.named(scale)});
if ($.t($.eq($.ga(self, "form"), "sharper"))) {
rate = $.add($.div(cost, $.ga(self, "order")), move);
return $.mul($.ga(self, "order"), rate_to_gibbs([], {"start_rate": rate, "steps": steps, ...$.named(chain)}));
}
return renyi_to_gibbs_printed([], {"start": $.add(cost, move), "order": $.ga(self, "order"), "steps": steps, ...$.named(chain)});
});
return after;
});
}), [["order", () => ["is", $.b.float]], ["range", () => ["is", $.b.float]], ["smoothness", () => ["is", $.b.float]], ["regularization", () => ["is", $.b.float]], ["dimension", () => ["is", $.b.int]], ["form", () => ["is", $.b.str]]], {frozen: true});
return {log_barrier_printed, log_barrier, _exp, largest_step_size, step_size, discretisation_rate, forgetting_rate, renyi_to_gibbs_printed, rate_to_gibbs, prior_to_gibbs, gibbs_move, FORMS, Gibbs, check_choice, check_count, non_negative, check_positive, renyi_order, Any};
})();
$.modules["bounds.solver_steps"] = (() => {
let PER_FEATURE, MOST_CELLS, _QUICK, _SIDE, _SOLVED, _DECOMPOSED, _LEAST_SHARE, _MOST_SHARE, _COUNTED, sample_rows, growth, condition, proven_steps;
const math = $.libraries["math"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
PER_FEATURE = 50n;
MOST_CELLS = $.shl(1n, 24n);
_QUICK = 4n;
_SIDE = 1024n;
{const $v1 = [60n, 3n];_SOLVED = $v1[0];_DECOMPOSED = $v1[1];}
{const $v2 = [0.5, 2.0];_LEAST_SHARE = $v2[0];_MOST_SHARE = $v2[1];}
_COUNTED = 20000n;
sample_rows = $.fn("sample_rows", ["*", "records", "features", "outputs", "condition_number", "filled"], {"filled": null}, function (records, features, outputs, condition_number, filled) {
let affordable, cheap, narrow, rows, share, side;
share = $.b.min([_MOST_SHARE, $.b.max([_LEAST_SHARE, $.div($.pow(condition_number, 0.25), 4n)])]);
affordable = $.mul($.mul($.mul($.mul(4n, _QUICK), share), records), outputs);
cheap = ($.t($.eq(outputs, 1n)) ? _SOLVED : _DECOMPOSED);
side = $.b.min([_SIDE, $.libraries["math"].cbrt([$.mul($.mul($.mul(cheap, records), $.either(filled, () => features)), outputs)])]);
narrow = $.both($.le(features, side), () => $.le($.pow(features, 2n), affordable));
rows = ($.t(narrow) ? $.b.min([$.mul($.mul(PER_FEATURE, share), features), $.div(affordable, features)]) : $.b.min([side, $.libraries["math"].sqrt([affordable])]));
return $.tuple([$.b.max([1n, $.b.min([$.b.int([rows]), records, $.floordiv(MOST_CELLS, features)])]), narrow]);
});
growth = $.fn("growth", ["condition"], {}, function* (condition) {
let after, before, q;
{const $v3 = [condition, 0.0];q = $v3[0];before = $v3[1];}
while ($.t(true)) {
after = $.div($.add($.mul($.add(1n, q), before), $.mul(2n, $.add(1n, $.libraries["math"].sqrt([$.mul($.add(1n, before), $.add(1n, $.mul(q, before)))])))), $.pow($.sub(1n, q), 2n));
yield $.tuple([before, after]);
before = after;
}
return null;
});
condition = $.fn("condition", ["strong_convexity", "objective_smoothness"], {}, function (strong_convexity, objective_smoothness) {
return $.b.min([$.div(strong_convexity, objective_smoothness), 0.5]);
});
proven_steps = $.fn("proven_steps", ["*", "distance", "tolerance", "strong_convexity", "objective_smoothness"], {}, function (distance, tolerance, strong_convexity, objective_smoothness) {
let at_most, q, rate, root, wanted;
q = condition([strong_convexity, objective_smoothness]);
wanted = $.mul($.mul(2n, objective_smoothness), $.div(distance, tolerance));
root = $.div(wanted, $.libraries["math"].sqrt([q]));
rate = $.neg($.libraries["math"].log1p([$.neg($.libraries["math"].sqrt([q]))]));
at_most = ($.t($.le(root, $.div(1n, rate))) ? root : $.add($.div(1n, rate), $.div($.add($.libraries["math"].log([root]), $.libraries["math"].log([rate])), rate)));
if (!$.t($.lt(at_most, $.pow(2.0, 53n)))) {
throw $.raised(InvalidParameter([("" + "a solver would need more than 2\u2075\u00b3 passes to reach gradient norm " + $.formatted(tolerance, "", ("" + ".3g")) + " at condition number " + $.formatted($.div(1n, q), "", ("" + ".3g")) + "; raise the regularization \u03bb")]));
}
if ($.t($.lt(_COUNTED, at_most))) {
return $.add($.libraries["math"].ceil([$.mul(at_most, $.add(1n, 1e-09))]), 1n);
}
return $.b.next([(function* ($first) { for (const $v4 of $.each($first)) { let _, reached, steps; {const $v5 = $.unpack($v4, 2, -1);steps = $v5[0];{const $v6 = $.unpack($v5[1], 2, -1);reached = $v6[0];_ = $v6[1];}} if (!$.t($.le(wanted, $.libraries["math"].sqrt([$.add(1n, $.mul(q, reached))])))) continue; yield steps; } })($.b.enumerate([growth([q])]))]);
});
return {PER_FEATURE, MOST_CELLS, _QUICK, _SIDE, _SOLVED, _DECOMPOSED, _LEAST_SHARE, _MOST_SHARE, _COUNTED, sample_rows, growth, condition, proven_steps, InvalidParameter};
})();
$.modules["methods.forecast"] = (() => {
let forecast_excess_risk;
const math = $.libraries["math"];
forecast_excess_risk = $.fn("forecast_excess_risk", ["problem", "*", "step_size", "noise_variance", "steps"], {"steps": $.libraries["math"].inf}, function (problem, step_size, noise_variance, steps) {
let mean_curvature, settled, u;
mean_curvature = $.add($.ga(problem, "strong_convexity"), $.div($.ga($.ga(problem, "loss"), "curvature_trace"), $.ga(problem, "dimension")));
u = $.b.min([$.mul(step_size, mean_curvature), 1.0]);
settled = (($.t($.eq(u, 1n)) || $.t($.eq(steps, $.libraries["math"].inf))) ? 1.0 : $.neg($.libraries["math"].expm1([$.mul($.mul(2n, steps), $.libraries["math"].log1p([$.neg(u)]))])));
return $.div($.mul($.div($.mul($.ga(problem, "dimension"), noise_variance), 2n), settled), $.sub(1n, $.div(u, 2n)));
});
return {forecast_excess_risk};
})();
$.modules["losses"] = (() => {
let __getattr__, _KINDS, CATALOGUE, from_dict;
const dataclasses = $.libraries["dataclasses"];
const Mapping = $.libraries["collections.abc"]["Mapping"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const Catalogue = $.modules["lazy_imports"]["Catalogue"];
const on_first_use = $.libraries["lazy_imports"]["on_first_use"];
__getattr__ = on_first_use(["losses", $.dict([...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["Loss", "LossConstants"]), "base"])), ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["Clipped", "clip_loss"]), "clipped"])), ["Linear", "linear"], ["Logistic", "logistic"], ["MultilayerPerceptron", "multilayer_perceptron"], ["OneVsRest", "one_vs_rest"], ["PseudoHuber", "pseudo_huber"], ["Sigmoid", "sigmoid"], ["Softmax", "softmax"], ["Squared", "squared"], ["TanhNetwork", "tanh_network"], ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["Weighted", "with_class_weights"]), "weighted"]))])]);
_KINDS = $.dict([["logistic", "Logistic"], ["softmax", "Softmax"], ["one-vs-rest", "OneVsRest"], ["pseudo-huber", "PseudoHuber"], ["linear", "Linear"], ["sigmoid", "Sigmoid"], ["tanh-network", "TanhNetwork"], ["multilayer-perceptron", "MultilayerPerceptron"]]);
CATALOGUE = Catalogue([_KINDS, $.fn("<lambda>", ["name"], {}, (name) => __getattr__([$.gi(_KINDS, name)]))]);
from_dict = $.fn("from_dict", ["description"], {}, function (description) {
let clipped, error, fields, kind, known, name, unknown, weighted, weights;
if (!$.t($.b.isinstance([description, $.b.dict]))) {
throw $.raised(InvalidParameter([("" + "a loss is described by its name and fields, not by " + $.formatted($.ga($.b.type([description]), "__name__"), "", ""))]));
}
fields = $.b.dict([description]);
name = $.cm(fields, "pop", ["name", null]);
if ($.t($.eq(name, "squared"))) {
$.ga(__getattr__(["Squared"])([1.0]), "constants");
}
if ($.t($.eq(name, "clipped"))) {
if ($.t(!$.eq($.b.set([fields]), $.set(["base", "limit"])))) {
throw $.raised(InvalidParameter([("" + "loss " + $.formatted(name, "r", "") + " takes base and limit, and nothing else")]));
}
clipped = __getattr__(["clip_loss"])([from_dict([$.gi(fields, "base")]), $.gi(fields, "limit")]);
return clipped;
}
if ($.t($.eq(name, "network"))) {
return $.cm(on_first_use(["losses", $.dict([["NetworkLoss", ".networks"]])])(["NetworkLoss"]), "from_dict", [fields]);
}
if ($.t($.eq(name, "weighted"))) {
weights = $.cm(fields, "get", ["weights"]);
if (($.t(!$.eq($.b.set([fields]), $.set(["base", "weights"]))) || !$.t($.b.isinstance([weights, $.b.list])))) {
throw $.raised(InvalidParameter([("" + "loss " + $.formatted(name, "r", "") + " takes base, and weights as a list: one number for each class")]));
}
weighted = __getattr__(["with_class_weights"])([from_dict([$.gi(fields, "base")]), weights]);
return weighted;
}
if ($.t(!$.has(CATALOGUE, name))) {
throw $.raised(InvalidParameter([("" + "must be one of " + $.formatted($.cm(", ", "join", [$.b.map([$.b.repr, CATALOGUE])]), "", ""))], {"loss": name}));
}
kind = $.gi(CATALOGUE, name);
known = [...(function* ($first) { for (const $v1 of $.each($first)) { let field; field = $v1; yield $.ga(field, "name"); } })($.libraries["dataclasses"].fields([kind]))];
if ($.t((unknown = $.b.sorted([$.sub($.b.set([fields]), $.b.set([known]))])))) {
throw $.raised(InvalidParameter([("" + "loss " + $.formatted(name, "r", "") + " does not take " + $.formatted($.cm(", ", "join", [unknown]), "", "") + "; it takes " + $.formatted($.cm(", ", "join", [known]), "", ""))]));
}
try {
return kind([], {...$.named(fields)});
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.b.TypeError)) {error = $caught;
throw $.raised(InvalidParameter([("" + "loss " + $.formatted(name, "r", "") + " takes " + $.formatted($.cm(", ", "join", [known]), "", "") + ": " + $.formatted(error, "", ""))]));
} else throw $caught;
}
return null;
});
return {__getattr__, _KINDS, CATALOGUE, from_dict, InvalidParameter, on_first_use, Mapping, Catalogue};
})();
$.modules["evidence.signing"] = (() => {
let MOST_VALUES, canonical_bytes, _count_values, _as_doubles, _OF_SMALL_ORDER, ALGORITHM, key_id, read_public, signed_by, decode_base64, PAYLOAD, STATEMENT, PREDICATE, intoto_statement, pre_authentication_encoding, is_envelope, open_envelope, decode_dsse, _signatures;
const base64 = $.libraries["base64"];
const hashlib = $.libraries["hashlib"];
const Mapping = $.libraries["collections.abc"]["Mapping"];
const Any = $.libraries["typing"]["Any"];
const rfc8785 = $.libraries["rfc8785"];
const InvalidSignature = $.libraries["cryptography.exceptions"]["InvalidSignature"];
const UnsupportedAlgorithm = $.libraries["cryptography.exceptions"]["UnsupportedAlgorithm"];
const Ed25519PublicKey = $.libraries["cryptography.hazmat.primitives.asymmetric.ed25519"]["Ed25519PublicKey"];
const Encoding = $.libraries["cryptography.hazmat.primitives.serialization"]["Encoding"];
const PublicFormat = $.libraries["cryptography.hazmat.primitives.serialization"]["PublicFormat"];
const load_pem_public_key = $.libraries["cryptography.hazmat.primitives.serialization"]["load_pem_public_key"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const limited_io = $.libraries["records.limited_io"];
const Check = $.modules["evidence.checks"]["Check"];
const with_whole_numbers = $.modules["evidence.checks"]["with_whole_numbers"];
MOST_VALUES = 1000000n;
canonical_bytes = $.fn("canonical_bytes", ["document"], {}, function (document) {
let error, said;
if ($.t($.lt(MOST_VALUES, _count_values([document])))) {
throw $.raised(InvalidParameter([("" + "a document of more than " + $.formatted(MOST_VALUES, "", "") + " values is not signed; give one with fewer releases")]));
}
try {
try {
return $.libraries["rfc8785"].dumps([document]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.libraries["rfc8785"].IntegerDomainError)) {
return $.libraries["rfc8785"].dumps([_as_doubles([document])]);
} else throw $caught;
}
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.tuple([$.b.ValueError, $.b.OverflowError, $.b.RecursionError]))) {error = $caught;
said = $.either($.slice($.b.str([error]), null, 200n, null), () => $.ga($.b.type([error]), "__name__"));
throw $.raised(InvalidParameter([("" + "no canonical JSON (RFC 8785): " + $.formatted(said, "", ""))]));
} else throw $caught;
}
return null;
});
_count_values = $.fn("_count_values", ["document"], {}, function (document) {
let found, left, value;
{const $v1 = [0n, [document]];found = $v1[0];left = $v1[1];}
while (($.t(left) && $.t($.le(found, MOST_VALUES)))) {
value = $.cm(left, "pop", []);
found = $.iadd(found, 1n);
if ($.t($.b.isinstance([value, $.b.dict]))) {
$.cm(left, "extend", [$.cm(value, "values", [])]);
} else {
if ($.t($.b.isinstance([value, $.tuple([$.b.list, $.b.tuple])]))) {
$.cm(left, "extend", [value]);
}
}
}
return found;
});
_as_doubles = $.fn("_as_doubles", ["value"], {}, function (value) {
if ($.t($.b.isinstance([value, $.b.dict]))) {
return $.dict((function* ($first) { for (const $v2 of $.each($first)) { let inner, name; {const $v3 = $.unpack($v2, 2, -1);name = $v3[0];inner = $v3[1];} yield [name, _as_doubles([inner])]; } })($.cm(value, "items", [])));
}
if ($.t($.b.isinstance([value, $.tuple([$.b.list, $.b.tuple])]))) {
return [...(function* ($first) { for (const $v4 of $.each($first)) { let inner; inner = $v4; yield _as_doubles([inner]); } })(value)];
}
if (($.t($.b.isinstance([value, $.b.int])) && !$.t($.b.isinstance([value, $.b.bool])) && $.t($.le($.pow(2n, 53n), $.b.abs([value]))) && $.t($.eq($.b.float([value]), value)))) {
return $.b.float([value]);
}
return value;
});
_OF_SMALL_ORDER = $.tuple([...$.each((function* ($first) { for (const $v5 of $.each($first)) { let sign; sign = $v5; yield $.add($.mul("00", 31n), sign); } })($.tuple(["00", "80"]))), ...$.each((function* ($first) { for (const $v6 of $.each($first)) { let sign; sign = $v6; yield $.add($.add("01", $.mul("00", 30n)), sign); } })($.tuple(["00", "80"]))), ...$.each((function* ($first) { for (const $v7 of $.each($first)) { let sign; sign = $v7; yield $.add("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc", sign); } })($.tuple(["05", "85"]))), ...$.each((function* ($first) { for (const $v8 of $.each($first)) { let sign; sign = $v8; yield $.add("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03", sign); } })($.tuple(["7a", "fa"]))), ...$.each((function* ($first) { for (const $v9 of $.each($first)) { let low; low = $v9; for (const $v10 of $.each($.tuple(["7f", "ff"]))) { let sign; sign = $v10; yield $.add($.add(low, $.mul("ff", 30n)), sign); }} })($.tuple(["ec", "ed", "ee"])))]);
ALGORITHM = "Ed25519 over canonical JSON (RFC 8785)";
key_id = $.fn("key_id", ["key"], {}, function (key) {
return $.slice($.cm($.libraries["hashlib"].sha256([$.cm(key, "public_bytes", [$.ga(Encoding, "Raw"), $.ga(PublicFormat, "Raw")])]), "hexdigest", []), null, 16n, null);
});
read_public = $.fn("read_public", ["path"], {}, function (path) {
let error, key;
try {
key = load_pem_public_key([$.libraries["records.limited_io"].read_file([path, $.libraries["records.limited_io"].KEY])]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.tuple([$.b.ValueError, UnsupportedAlgorithm]))) {error = $caught;
if ($.t($.b.isinstance([error, InvalidParameter]))) {
throw $caught;
}
throw $.raised(InvalidParameter([("" + "cannot read a public key from " + $.formatted(path, "", "") + ": " + $.formatted(error, "", ""))]));
} else throw $caught;
}
if (!$.t($.b.isinstance([key, Ed25519PublicKey]))) {
throw $.raised(InvalidParameter([("" + $.formatted(path, "", "") + " does not hold an Ed25519 public key")]));
}
return key;
});
signed_by = $.fn("signed_by", ["document"], {}, function (document) {
let block, key, raw, unsigned;
unsigned = $.dict((function* ($first) { for (const $v11 of $.each($first)) { let block, name; {const $v12 = $.unpack($v11, 2, -1);name = $v12[0];block = $v12[1];} if (!$.t(!$.eq(name, "signature"))) continue; yield [name, block]; } })($.cm(document, "items", [])));
try {
block = $.gi(document, "signature");
raw = decode_base64([$.gi(block, "public_key")]);
if ($.t($.has(_OF_SMALL_ORDER, $.cm(raw, "hex", [])))) {
return null;
}
key = $.cm(Ed25519PublicKey, "from_public_bytes", [raw]);
if (($.t(!$.eq($.gi(block, "key_id"), key_id([key]))) || $.t(!$.eq($.gi(block, "algorithm"), ALGORITHM)) || $.t(!$.eq($.b.len([block]), 4n)))) {
return null;
}
$.cm(key, "verify", [decode_base64([$.gi(block, "value")]), canonical_bytes([unsigned])]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.tuple([InvalidSignature, $.b.LookupError, $.b.TypeError, $.b.ValueError, $.b.AttributeError, $.b.RecursionError]))) {
return null;
} else throw $caught;
}
return key;
});
decode_base64 = $.fn("decode_base64", ["coded"], {}, function (coded) {
let raw;
raw = $.libraries["base64"].b64decode([coded], {"validate": true});
if ($.t(!$.eq($.cm($.libraries["base64"].b64encode([raw]), "decode", []), coded))) {
throw $.raised($.b.ValueError(["not base64 as it is written"]));
}
return raw;
});
PAYLOAD = "application/vnd.in-toto+json";
STATEMENT = "https://in-toto.io/Statement/v1";
PREDICATE = "urn:noisygd-delete:erasure-certificate:";
intoto_statement = $.fn("intoto_statement", ["certificate"], {}, function (certificate) {
let action, evidence, kind, subject;
{const $v13 = [$.gi(certificate, "action"), $.gi(certificate, "evidence")];action = $v13[0];evidence = $v13[1];}
if ($.t(!$.is($.gi(action, "model_after_sha256"), null))) {
subject = $.dict([["name", ("" + "model-" + $.formatted($.gi(action, "release"), "", "") + ".safetensors")], ["digest", $.dict([["sha256", $.gi(action, "model_after_sha256")]])]]);
} else {
if ($.t(!$.is($.gi(evidence, "ledger_sha256"), null))) {
subject = $.dict([["name", ("" + "ledger-" + $.formatted($.gi(evidence, "ledger_entries"), "", ""))], ["digest", $.dict([["sha256", $.gi(evidence, "ledger_sha256")]])]]);
} else {
throw $.raised(InvalidParameter(["an attestation is about a model or a ledger, and this certificate names neither; issue it from a store"]));
}
}
kind = $.add(PREDICATE, $.gi($.cm($.b.str([$.gi(certificate, "format")]), "rpartition", ["/"]), 2n));
return $.dict([["_type", STATEMENT], ["subject", [subject]], ["predicateType", kind], ["predicate", $.b.dict([certificate])]]);
});
pre_authentication_encoding = $.fn("pre_authentication_encoding", ["kind", "body"], {}, function (kind, body) {
return $.add($.cm(("" + "DSSEv1 " + $.formatted($.b.len([$.cm(kind, "encode", [])]), "", "") + " " + $.formatted(kind, "", "") + " " + $.formatted($.b.len([body]), "", "") + " "), "encode", []), body);
});
is_envelope = $.fn("is_envelope", ["document"], {}, function (document) {
return $.both($.b.isinstance([document, Mapping]), () => $.has(document, "payloadType"));
});
open_envelope = $.fn("open_envelope", ["envelope", "*", "public_key"], {"public_key": null}, function (envelope, public_key) {
let body, certificate, error, expected, inside, signatures, signer;
certificate = null;
try {
if ($.t(!$.eq($.gi(envelope, "payloadType"), PAYLOAD))) {
throw $.raised(InvalidParameter([("" + "not an envelope of " + $.formatted(PAYLOAD, "", ""))]));
}
{const $v14 = [decode_dsse([$.gi(envelope, "payload")]), _signatures([$.gi(envelope, "signatures")])];body = $v14[0];signatures = $v14[1];}
inside = with_whole_numbers([$.libraries["records.limited_io"].parse_json([$.cm(body, "decode", [])])]);
certificate = $.gi(inside, "predicate");
if ($.t(!$.eq(canonical_bytes([inside]), canonical_bytes([intoto_statement([certificate])])))) {
throw $.raised(InvalidParameter(["its statement is not the one that this certificate gives"]));
}
signer = signed_by([$.b.dict([certificate])]);
if ($.t($.is(signer, null))) {
throw $.raised(InvalidParameter(["the certificate inside is unsigned, or was altered"]));
}
expected = ($.t($.is(public_key, null)) ? signer : read_public([public_key]));
if ($.t(!$.has(signatures, key_id([expected])))) {
throw $.raised(InvalidParameter(["it was signed by another key"]));
}
$.cm(expected, "verify", [$.gi(signatures, key_id([expected])), pre_authentication_encoding([PAYLOAD, body])]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, InvalidSignature)) {
return $.tuple([certificate, Check(["envelope", false, "altered after signing"])]);
} else if ($.caught($caught, $.tuple([InvalidParameter, $.b.ValueError, $.b.TypeError, $.b.KeyError, $.b.AttributeError, $.b.RecursionError]))) {error = $caught;
return $.tuple([certificate, Check(["envelope", false, $.either($.slice($.b.str([error]), null, 200n, null), () => $.ga($.b.type([error]), "__name__"))])]);
} else throw $caught;
}
return $.tuple([certificate, Check(["envelope", true, ("" + "an in-toto statement, signed by key " + $.formatted(key_id([expected]), "", ""))])]);
});
decode_dsse = $.fn("decode_dsse", ["coded"], {}, function (coded) {
return decode_base64([$.cm($.cm(coded, "replace", ["-", "+"]), "replace", ["_", "/"])]);
});
_signatures = $.fn("_signatures", ["listed"], {}, function (listed) {
let found, name, raw, signature;
found = $.dict([]);
for (const $v15 of $.each(listed)) {
signature = $v15;
{const $v16 = [decode_dsse([$.gi(signature, "sig")]), $.gi(signature, "keyid")];raw = $v16[0];name = $v16[1];}
if ($.t($.has(found, name))) {
throw $.raised(InvalidParameter(["two of its signatures have the same key id"]));
}
$.si(found, name, raw);
}
return found;
});
return {MOST_VALUES, canonical_bytes, _count_values, _as_doubles, _OF_SMALL_ORDER, ALGORITHM, key_id, read_public, signed_by, decode_base64, PAYLOAD, STATEMENT, PREDICATE, intoto_statement, pre_authentication_encoding, is_envelope, open_envelope, decode_dsse, _signatures, Mapping, Check, InvalidParameter, InvalidSignature, with_whole_numbers, Any, PublicFormat, Encoding, Ed25519PublicKey, UnsupportedAlgorithm, load_pem_public_key};
})();
$.modules["evidence.notices"] = (() => {
let LONGEST, TEXTS, check_text, Notices, _RESTRICTED, _NOTICED, NOTHING_STATED;
const dataclass = $.libraries["dataclasses"]["dataclass"];
const fields = $.libraries["dataclasses"]["fields"];
const date = $.libraries["datetime"]["date"];
const datetime = $.libraries["datetime"]["datetime"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_count = $.modules["errors"]["check_count"];
const Reasons = $.modules["register.case"]["Reasons"];
const case_to_json = $.modules["register.case"]["case_to_json"];
const holidays_that_extend = $.modules["register.case"]["holidays_that_extend"];
const last_day = $.modules["register.case"]["last_day"];
const local_day = $.modules["register.case"]["local_day"];
const parse_day = $.modules["register.case"]["parse_day"];
const parse_days = $.modules["register.case"]["parse_days"];
LONGEST = 1000n;
TEXTS = $.tuple(["purposes", "models", "contact", "authority"]);
check_text = $.fn("check_text", ["name", "value"], {}, function (name, value) {
if ($.t($.is(value, null))) {
return null;
}
if ((!$.t($.b.isinstance([value, $.b.str])) || !$.t($.cm(value, "strip", [])) || $.t($.lt(LONGEST, $.b.len([value]))))) {
throw $.raised(InvalidParameter([("" + $.formatted(name, "", "") + " must be a text of at most " + $.formatted(LONGEST, "", "") + " characters, or left out")]));
}
if ((!$.t($.cm(value, "isprintable", [])) || $.t($.has(value, "\ufffd")))) {
throw $.raised(InvalidParameter([("" + $.formatted(name, "", "") + " holds characters that no page can show; leave them out")]));
}
return null;
});
Notices = $.dataclass($.cls("Notices", [], ($ns) => {
$ns.purposes = null;
$ns.models = null;
$ns.contact = null;
$ns.authority = null;
$ns.informed = null;
$ns.recipients = null;
$ns.recipients_told = null;
$ns.backups_until = null;
$ns.withdrawn = null;
$ns.publish_by = null;
$ns.extended_until = null;
$ns.extension_reason = null;
$ns.holidays = $.tuple([]);
$ns.set_aside = null;
$ns.put_back = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name;
for (const $v1 of $.each(TEXTS)) {
name = $v1;
check_text([name, $.b.getattr([self, name])]);
}
for (const $v2 of $.each(_NOTICED)) {
name = $v2;
if ($.t(!$.is($.b.getattr([self, name]), null))) {
$.cm($.b.object, "__setattr__", [self, name, parse_day([name, $.b.getattr([self, name])])]);
}
}
if ($.t(!$.is($.ga(self, "recipients"), null))) {
check_count(["recipients", $.ga(self, "recipients")], {"minimum": 0n, "maximum": $.pow(10n, 6n)});
}
if ($.t(!$.eq($.is($.ga(self, "extended_until"), null), $.is($.ga(self, "extension_reason"), null)))) {
throw $.raised(InvalidParameter(["extended_until and extension_reason belong together; give both"]));
}
if (($.t(!$.is($.ga(self, "put_back"), null)) && ($.t($.is($.ga(self, "set_aside"), null)) || $.t($.lt($.ga(self, "put_back"), $.ga(self, "set_aside")))))) {
throw $.raised(InvalidParameter(["lies before the rows were set aside"], {"put_back": $.ga(self, "put_back")}));
}
if ($.t(!$.is($.ga(self, "extension_reason"), null))) {
$.cm($.b.object, "__setattr__", [self, "extension_reason", Reasons([$.ga(self, "extension_reason")])]);
}
$.cm($.b.object, "__setattr__", [self, "holidays", parse_days(["holidays", $.ga(self, "holidays")])]);
return null;
});
$ns.fit = $.fn("fit", ["self", "received"], {}, function (self, received) {
let name, start, when;
if ($.t($.is(received, null))) {
if (($.t($.ga(self, "holidays")) || $.t(!$.is($.ga(self, "extended_until"), null)))) {
throw $.raised(InvalidParameter(["a deadline is counted from the day of receipt: state when the request was received"]));
}
return null;
}
start = $.cm($.cm(datetime, "fromisoformat", [received]), "date", []);
for (const $v3 of $.each(_NOTICED)) {
name = $v3;
when = $.b.getattr([self, name]);
if (($.t(!$.is(when, null)) && $.t($.lt(when, start)))) {
throw $.raised(InvalidParameter([("" + "lies before the receipt, " + $.formatted(received, "", ""))], {...$.named($.dict([[name, when]]))}));
}
}
if (($.t(!$.is($.ga(self, "extended_until"), null)) && !$.t((($v4, $v5, $v6) => $.le($v4, $v5) && $.le($v5, $v6))(last_day([received]), $.ga(self, "extended_until"), last_day([received], {"months": 3n}))))) {
throw $.raised(InvalidParameter([("" + "must lie between one and three months after the receipt, " + $.formatted(received, "", ""))], {"extended_until": $.ga(self, "extended_until")}));
}
if ($.t(!$.eq($.ga(self, "holidays"), holidays_that_extend([received], {"holidays": $.ga(self, "holidays")})))) {
throw $.raised(InvalidParameter(["holidays must be those by which the deadline moved, and no others"]));
}
return null;
});
$ns.follow = $.fn("follow", ["self", "*", "edited", "received", "issued"], {}, function (self, edited, received, issued) {
let done, name, today, when;
if ($.t(!$.is(edited, null))) {
done = $.cm(date, "fromisoformat", [edited]);
for (const $v7 of $.each($.tuple(["informed", "recipients_told", "backups_until", "withdrawn"]))) {
name = $v7;
when = $.b.getattr([self, name]);
if (($.t(!$.is(when, null)) && $.t($.lt(when, done)))) {
throw $.raised(InvalidParameter([("" + "lies before " + $.formatted($.cm(done, "isoformat", []), "", "") + ", when the rows were edited; leave it out, or state the day on which it was true")], {...$.named($.dict([[name, when]]))}));
}
}
}
today = local_day([issued, received]);
for (const $v8 of $.each($.tuple(["informed", "recipients_told", "withdrawn"]))) {
name = $v8;
when = $.b.getattr([self, name]);
if (($.t(!$.is(when, null)) && $.t($.lt(today, when)))) {
throw $.raised(InvalidParameter([("" + "lies after " + $.formatted($.cm(today, "isoformat", []), "", "") + ", when the certificate is issued: certify it then")], {...$.named($.dict([[name, when]]))}));
}
}
return null;
});
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
let found;
found = $.dict((function* ($first) { for (const $v9 of $.each($first)) { let part; part = $v9; yield [$.ga(part, "name"), $.b.getattr([self, $.ga(part, "name")])]; } })(fields([self])));
return $.dict((function* ($first) { for (const $v10 of $.each($first)) { let name, value; {const $v11 = $.unpack($v10, 2, -1);name = $v11[0];value = $v11[1];} if (!($.t(!$.is(value, null)) || $.t(!$.has(_RESTRICTED, name)))) continue; yield [name, case_to_json([value])]; } })($.cm(found, "items", [])));
});
}), [["purposes", () => ["or", ["is", $.b.str], ["none"]]], ["models", () => ["or", ["is", $.b.str], ["none"]]], ["contact", () => ["or", ["is", $.b.str], ["none"]]], ["authority", () => ["or", ["is", $.b.str], ["none"]]], ["informed", () => ["or", ["is", date], ["none"]]], ["recipients", () => ["or", ["is", $.b.int], ["none"]]], ["recipients_told", () => ["or", ["is", date], ["none"]]], ["backups_until", () => ["or", ["is", date], ["none"]]], ["withdrawn", () => ["or", ["is", date], ["none"]]], ["publish_by", () => ["or", ["is", date], ["none"]]], ["extended_until", () => ["or", ["is", date], ["none"]]], ["extension_reason", () => ["or", ["is", Reasons], ["none"]]], ["holidays", () => ["of", $.b.tuple, ["is", date]]], ["set_aside", () => ["or", ["is", date], ["none"]]], ["put_back", () => ["or", ["is", date], ["none"]]]], {frozen: true});
_RESTRICTED = $.tuple(["set_aside", "put_back"]);
_NOTICED = $.tuple(["informed", "recipients_told", "backups_until", "withdrawn", "publish_by", "extended_until", ...$.each(_RESTRICTED)]);
NOTHING_STATED = Notices([]);
return {LONGEST, TEXTS, check_text, Notices, _RESTRICTED, _NOTICED, NOTHING_STATED, date, Reasons, parse_days, InvalidParameter, check_count, parse_day, local_day, case_to_json, fields, holidays_that_extend, last_day, datetime};
})();
$.modules["evidence.claims"] = (() => {
let CATALOGUE, Claimable, Claim, _FIGURE, _ODDS, _LEDGER, _HISTORY, KEYS, claim_sentence, conditions_in_words, _format_value, select_owed, of_history;
const Mapping = $.libraries["collections.abc"]["Mapping"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const Any = $.libraries["typing"]["Any"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const fill_entry = $.modules["privacy.sentences"]["fill_entry"];
const format_bound = $.modules["privacy.sentences"]["format_bound"];
const format_number = $.modules["privacy.sentences"]["format_number"];
const load_catalogue = $.libraries["privacy.sentences"]["load_catalogue"];
const without_quotes = $.modules["privacy.sentences"]["without_quotes"];
const parse_day = $.modules["register.case"]["parse_day"];
CATALOGUE = 1n;
Claimable = $.dataclass($.cls("Claimable", [], ($ns) => {
$ns.needs = "the request";
$ns.row = "";
$ns.since = 1n;
}), [["role", () => ["is", $.b.str]], ["values", () => ["parts", Mapping, ["is", $.b.str], ["is", $.b.str]]], ["needs", () => ["is", $.b.str]], ["row", () => ["is", $.b.str]], ["since", () => ["is", $.b.int]]], {frozen: true});
Claim = $.dataclass($.cls("Claim", [], ($ns) => {
$ns.conditions = $.tuple([]);
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.dict([["key", $.ga(self, "key")], ["values", $.b.dict([$.ga(self, "values")])], ["conditions", $.b.list([$.ga(self, "conditions")])]]);
});
}), [["key", () => ["is", $.b.str]], ["values", () => ["parts", Mapping, ["is", $.b.str], ["is", Any]]], ["conditions", () => ["of", $.b.tuple, ["is", $.b.str]]]], {frozen: true});
_FIGURE = $.dict([["rows", "count"], ["unit", "word"], ["rows_per_person", "count"], ["question", "word"], ["worlds", "word"], ["of_hundred", "odds"], ["advantage", "bound"], ["epsilon", "bound"], ["delta", "number"], ["order", "number"], ["renyi", "bound"], ["gdp", "bound"]]);
_ODDS = $.dict([["unit", "word"], ["rows_per_person", "count"], ["question", "word"], ["worlds", "word"], ["epsilon", "bound"], ["odds", "bound"], ["delta", "number"], ["total_epsilon", "number"], ["total_delta", "number"]]);
_LEDGER = "releases, by kind; the row counts of the request and of its persons";
_HISTORY = "the mechanism of every release";
KEYS = $.dict([["erased", Claimable(["done", $.dict([["rows", "count"]])])], ["replaced", Claimable(["done", $.dict([["rows", "count"]])])], ["inserted", Claimable(["done", $.dict([["rows", "count"]])])], ["edited", Claimable(["done", $.dict([["day", "day"]])])], ["set-aside", Claimable(["done", $.dict([["rows", "count"], ["day", "day"]]), "the register"])], ["put-back", Claimable(["done", $.dict([["rows", "count"], ["day", "day"]]), "the register"])], ["person-gone", Claimable(["done", $.dict([["rows_per_person", "count"]]), "rows of the same persons that remain: none"])], ["published.fresh", Claimable(["done", $.dict([["rows", "count"], ["release", "count"]]), _LEDGER])], ["published.warm", Claimable(["done", $.dict([["rows", "count"], ["release", "count"]]), _LEDGER])], ["published.resumed", Claimable(["done", $.dict([["rows", "count"], ["release", "count"]]), _LEDGER])], ["published.carried", Claimable(["done", $.dict([["rows", "count"], ["release", "count"]]), _LEDGER])], ["published.kept", Claimable(["done", $.dict([["rows", "count"], ["release", "count"]]), _LEDGER])], ["published.on", Claimable(["done", $.dict([["day", "day"]])])], ["withheld", Claimable(["done", $.dict([["rows", "count"]])])], ["pending", Claimable(["done", $.dict([["rows", "count"]])])], ["source.order", Claimable(["done", $.dict([["deleted_at", "text"], ["read_at", "text"]]), "positions in the source"])], ["source.counted", Claimable(["done", $.dict([["by", "word"], ["deleted", "count"], ["replaced", "count"], ["inserted", "count"]]), "the source's own count"])], ["source.uncounted", Claimable(["done", $.dict([]), "the source's own count: none"])], ["deadline", Claimable(["notice", $.dict([["day", "day"]]), "when the request was received"])], ["deadline.holidays", Claimable(["notice", $.dict([["day", "day"]]), "when the request was received; public holidays"])], ["deadline.extended", Claimable(["notice", $.dict([["day", "day"], ["reason", "word"]]), "the extension"])], ["in-time", Claimable(["notice", $.dict([["what", "word"]]), "deadline; days of edit, publication and answer"])], ["late", Claimable(["notice", $.dict([["what", "word"]]), "deadline; days of edit, publication and answer"])], ["erased.later", Claimable(["figure", _FIGURE, _LEDGER, "S.forgotten"])], ["erased.all", Claimable(["figure", _FIGURE, _LEDGER, "S.history"])], ["erased.before", Claimable(["figure", _FIGURE, _LEDGER, "S.history"])], ["replaced.later", Claimable(["figure", _FIGURE, _LEDGER, "S.forgotten"])], ["replaced.all", Claimable(["figure", _FIGURE, _LEDGER, "S.history"])], ["replaced.before", Claimable(["figure", _FIGURE, _LEDGER, "S.history"])], ["present.one", Claimable(["figure", _FIGURE, _LEDGER, "S.history"])], ["present.all", Claimable(["figure", _FIGURE, _LEDGER, "S.history"])], ["odds.ever", Claimable(["odds", _ODDS, "the total of the plan; the mechanism of every release", "S.stopping"])], ["requests-blind", Claimable(["condition", $.dict([]), "figures for later models, or of one release"])], ["target-fixed", Claimable(["condition", $.dict([]), "figures about erased records: nothing says by what they were chosen"])], ["record-fixed", Claimable(["condition", $.dict([]), "figures about a record that is still there"])], ["total-fixed", Claimable(["condition", $.dict([]), "a total that the plan does not mark as late"])], ["schedule-calendar", Claimable(["condition", $.dict([]), "the occasion of every release: a date of a calendar"])], ["schedule-fixed", Claimable(["condition", $.dict([]), "figures for several models: nothing says by what their times were chosen"])], ["ranges-public", Claimable(["condition", $.dict([["radius", "number"]]), "columns whose range was read off the data: none"])], ["ranges-from-data", Claimable(["condition", $.dict([["radius", "number"], ["columns", "list"]]), "columns read off the data: these"])], ["ranges-unknown", Claimable(["condition", $.dict([["radius", "number"]]), "columns read off the data: not known"])], ["row-norm", Claimable(["condition", $.dict([["radius", "number"], ["first", "count"], ["last", "count"]]), "the mechanism of every release, in order"])], ["map-public", Claimable(["condition", $.dict([["digest", "text"]]), "the public map that made the rows"])], ["rows-per-person", Claimable(["condition", $.dict([["rows_per_person", "count"]]), "the plan"])], ["curator-trusted", Claimable(["condition", $.dict([])])], ["gradient-norm", Claimable(["condition", $.dict([["lipschitz", "number"]]), _HISTORY])], ["constants-declared", Claimable(["condition", $.dict([]), _HISTORY])], ["slots-public", Claimable(["condition", $.dict([["records", "count"]]), _HISTORY])], ["gaussian-noise", Claimable(["condition", $.dict([["method", "text"]]), _HISTORY])], ["real-arithmetic", Claimable(["condition", $.dict([["method", "text"]]), _HISTORY])], ["solver-tolerance", Claimable(["condition", $.dict([["method", "text"], ["tolerance", "number"]]), _HISTORY])], ["time-unseen", Claimable(["condition", $.dict([["method", "text"]]), _HISTORY])], ["exact-noise", Claimable(["condition", $.dict([["method", "text"]]), _HISTORY])], ["exact-steps", Claimable(["condition", $.dict([["method", "text"]]), _HISTORY])], ["rows-in-place", Claimable(["condition", $.dict([["method", "text"]]), _HISTORY])], ["row-shape", Claimable(["condition", $.dict([["method", "text"]]), _HISTORY])], ["machine-trusted", Claimable(["condition", $.dict([]), _HISTORY])], ["stages-published", Claimable(["condition", $.dict([]), _HISTORY])], ["samples-unseen", Claimable(["condition", $.dict([]), _HISTORY])], ["counts-one-cell", Claimable(["condition", $.dict([]), _HISTORY])], ["moments-own-norm", Claimable(["condition", $.dict([]), _HISTORY])], ["sums-carried", Claimable(["condition", $.dict([["method", "text"]]), _HISTORY])], ["sums-all-rows", Claimable(["condition", $.dict([["rows_per_person", "count"]]), _HISTORY])], ["rows-remain", Claimable(["limit", $.dict([["remaining", "count"]]), "rows of the same persons that remain"])], ["rows-may-remain", Claimable(["limit", $.dict([["rows_per_person", "count"]]), "rows of the same persons that remain: not known"])], ["hardly", Claimable(["limit", $.dict([["figure", "word"]]), _HISTORY])], ["delta-large", Claimable(["limit", $.dict([["delta", "number"], ["records", "count"]]), "\u03b4 and the number of slots"])], ["kinds-unrecorded", Claimable(["limit", $.dict([]), _LEDGER])], ["left.base", Claimable(["limit", $.dict([]), _HISTORY])], ["left.extractor", Claimable(["limit", $.dict([]), _HISTORY])], ["left.statistics", Claimable(["limit", $.dict([]), _HISTORY])], ["residue.found", Claimable(["limit", $.dict([["places", "count"]]), "the residue report"])], ["residue.unread", Claimable(["limit", $.dict([["places", "count"]]), "the residue report"])], ["model-in-use", Claimable(["notice", $.dict([["rows", "count"]])])], ["model-in-use.until", Claimable(["notice", $.dict([["rows", "count"], ["day", "day"]])])], ["model-withdrawn", Claimable(["notice", $.dict([["rows", "count"], ["day", "day"]])])], ["model-withdrawn.kept", Claimable(["notice", $.dict([["rows", "count"], ["day", "day"]])])], ["elsewhere.none", Claimable(["notice", $.dict([["places", "count"], ["kinds", "list"]]), "what the publishers hold"])], ["elsewhere.left", Claimable(["notice", $.dict([["places", "count"], ["kinds", "list"], ["left", "count"]]), "what the publishers hold"])], ["elsewhere.unknown", Claimable(["notice", $.dict([]), "what the publishers hold"])], ["backups", Claimable(["notice", $.dict([["rows", "count"], ["day", "day"]])])], ["not-covered.earlier-models", Claimable(["uncovered", $.dict([])])], ["not-covered.backups", Claimable(["uncovered", $.dict([])])], ["not-covered.storage", Claimable(["uncovered", $.dict([])])], ["not-covered.others", Claimable(["uncovered", $.dict([])])], ["not-covered.other-models", Claimable(["uncovered", $.dict([])])], ["not-covered.inference", Claimable(["uncovered", $.dict([])])], ["not-anonymous", Claimable(["uncovered", $.dict([])])], ["models", Claimable(["notice", $.dict([["models", "text"]]), "the register"])], ["purposes", Claimable(["notice", $.dict([["purposes", "text"]]), "the register"])], ["recipients", Claimable(["notice", $.dict([["recipients", "count"]]), "the register"])], ["recipients.told", Claimable(["notice", $.dict([["recipients", "count"], ["day", "day"]]), "the register"])], ["told", Claimable(["notice", $.dict([["day", "day"]]), "the register"])], ["contact", Claimable(["notice", $.dict([["contact", "text"]]), "the register"])], ["complaint", Claimable(["notice", $.dict([])])], ["complaint.to", Claimable(["notice", $.dict([["authority", "text"]]), "the register"])], ["record-kept", Claimable(["notice", $.dict([])])], ["to-do.budget", Claimable(["duty", $.dict([])])], ["to-do.total", Claimable(["duty", $.dict([])])], ["to-do.publish", Claimable(["duty", $.dict([])])], ["to-do.tell", Claimable(["duty", $.dict([])])], ["to-do.recipients", Claimable(["duty", $.dict([])])], ["to-do.withdraw", Claimable(["duty", $.dict([])])], ["to-do.backups", Claimable(["duty", $.dict([])])]]);
claim_sentence = $.fn("claim_sentence", ["claim", "language"], {"language": "en"}, function (claim, language) {
let filled, key, words;
key = $.cm(KEYS, "get", [$.ga(claim, "key")]);
if (($.t($.is(key, null)) || $.t(!$.eq($.b.set([$.ga(claim, "values")]), $.b.set([$.ga(key, "values")]))))) {
throw $.raised(InvalidParameter([("" + $.formatted($.slice($.ga(claim, "key"), null, 60n, null), "r", "") + " with these values is no claim that this version knows")]));
}
words = load_catalogue([language]);
filled = $.dict((function* ($first) { for (const $v1 of $.each($first)) { let name, value; {const $v2 = $.unpack($v1, 2, -1);name = $v2[0];value = $v2[1];} yield [name, _format_value([value, $.gi($.ga(key, "values"), name), words])]; } })($.cm($.ga(claim, "values"), "items", [])));
if ($.t($.ga(claim, "conditions"))) {
$.si(filled, "if", conditions_in_words([claim, language]));
}
return fill_entry([$.gi($.gi(words, "claims"), $.ga(claim, "key")), $.ga(claim, "values"), filled]);
});
conditions_in_words = $.fn("conditions_in_words", ["claim", "language"], {"language": "en"}, function (claim, language) {
let words;
words = load_catalogue([language]);
return $.b.str([$.cm($.gi(words, "and"), "join", [(function* ($first) { for (const $v3 of $.each($first)) { let name; name = $v3; yield fill_entry([$.gi($.gi(words, "claims"), name), $.dict([]), $.dict([])]); } })($.ga(claim, "conditions"))])]);
});
_format_value = $.fn("_format_value", ["value", "unit", "words"], {}, function (value, unit, words) {
let named, when;
if ($.t($.eq(unit, "bound"))) {
return $.cm(format_bound([value]), "replace", [".", $.gi(words, "decimal")]);
}
if ($.t($.eq(unit, "number"))) {
return $.cm(format_number([value, 12n]), "replace", [".", $.gi(words, "decimal")]);
}
if ($.t($.eq(unit, "day"))) {
when = parse_day(["day", value]);
named = $.dict([["day", $.b.str([$.ga(when, "day")])], ["month", $.gi($.gi(words, "months"), $.sub($.ga(when, "month"), 1n))], ["year", $.b.str([$.ga(when, "year")])]]);
return fill_entry([$.gi(words, "day"), $.dict([]), named]);
}
if ($.t($.eq(unit, "list"))) {
return $.cm(", ", "join", [(function* ($first) { for (const $v4 of $.each($first)) { let one; one = $v4; yield without_quotes([one]); } })(value)]);
}
if ($.t($.eq(unit, "text"))) {
return without_quotes([value]);
}
if ($.t($.eq(unit, "word"))) {
return $.b.str([$.cm($.gi(words, "words"), "get", [value, value])]);
}
return $.b.str([value]);
});
select_owed = $.fn("select_owed", ["claims", "catalogue"], {}, function (claims, catalogue) {
return [...(function* ($first) { for (const $v5 of $.each($first)) { let claim; claim = $v5; if (!$.t($.le($.ga($.gi(KEYS, $.ga(claim, "key")), "since"), catalogue))) continue; yield Claim([$.ga(claim, "key"), $.ga(claim, "values"), $.b.tuple([(function* ($first) { for (const $v6 of $.each($first)) { let name; name = $v6; if (!$.t($.le($.ga($.gi(KEYS, name), "since"), catalogue))) continue; yield name; } })($.ga(claim, "conditions"))])]); } })(claims)];
});
of_history = $.fn("of_history", ["key"], {}, function (key) {
return $.both($.eq($.ga($.gi(KEYS, key), "needs"), _HISTORY), () => $.has($.tuple(["condition", "limit"]), $.ga($.gi(KEYS, key), "role")));
});
return {CATALOGUE, Claimable, Claim, _FIGURE, _ODDS, _LEDGER, _HISTORY, KEYS, claim_sentence, conditions_in_words, _format_value, select_owed, of_history, fill_entry, load_catalogue, InvalidParameter, Any, Mapping, without_quotes, parse_day, format_number, format_bound};
})();
$.modules["reports.texts"] = (() => {
let format_figure;
const page_labels = $.libraries["reports.texts"]["page_labels"];
const format_bound = $.modules["privacy.sentences"]["format_bound"];
format_figure = $.fn("format_figure", ["value"], {}, function (value) {
if ($.t($.is(value, null))) {
return "\u2013";
}
if ($.t($.b.isinstance([value, $.b.float]))) {
return format_bound([value]);
}
return ($.t($.b.isinstance([value, $.b.int])) ? $.cm(("" + $.formatted(value, "", ("" + ","))), "replace", [",", " "]) : $.b.str([value]));
});
return {format_figure, format_bound};
})();
$.modules["bounds.stopping"] = (() => {
let gdp_stopping_log_delta, renyi_stopping_log_delta, gdp_stopping_epsilon, renyi_stopping_epsilon, _least_epsilon, _either_way;
const math = $.libraries["math"];
const LEAST_LOG = $.modules["bounds.arithmetic"]["LEAST_LOG"];
const MARGIN = $.modules["bounds.arithmetic"]["MARGIN"];
const UNIT = $.modules["bounds.arithmetic"]["UNIT"];
const first_safe = $.modules["bounds.arithmetic"]["first_safe"];
const least_safe = $.modules["bounds.arithmetic"]["least_safe"];
const log_down = $.modules["bounds.arithmetic"]["log_down"];
const sum_up = $.modules["bounds.arithmetic"]["sum_up"];
const log_lower_tail = $.modules["bounds.tails"]["log_lower_tail"];
gdp_stopping_log_delta = $.fn("gdp_stopping_log_delta", ["*", "mu", "epsilon", "candidates"], {"candidates": 1n}, function (mu, epsilon, candidates) {
let below, low, step, y;
if ($.t($.eq(mu, 0n))) {
return ($.t($.lt(0n, epsilon)) ? $.neg($.libraries["math"].inf) : 0.0);
}
if (($.t($.le(epsilon, 0n)) || $.t($.lt(1e+150, mu)))) {
return 0.0;
}
below = $.fn("below", ["y"], {}, function (y) {
let far, near;
{const $v1 = [log_lower_tail([y]), log_lower_tail([$.sub(y, mu)])];near = $v1[0];far = $v1[1];}
return $.le($.add($.sub(near, far), $.mul(MARGIN, $.add($.add(1n, $.b.abs([near])), $.b.abs([far])))), epsilon);
});
low = $.sub($.div(mu, 2n), $.div(epsilon, mu));
step = $.add(1.0, mu);
while (!$.t(below([$.add(low, step)]))) {
step = $.imul(step, 2n);
}
y = $.add(low, first_safe([$.fn("<lambda>", ["reach"], {}, (reach) => below([$.add(low, reach)])), 0.0, step]));
y = $.iadd(y, $.mul($.mul(4n, UNIT), $.add($.b.abs([low]), $.b.abs([y]))));
return _either_way([$.add(log_lower_tail([y]), $.mul(MARGIN, $.add(1n, $.mul(y, y)))), epsilon, candidates]);
});
renyi_stopping_log_delta = $.fn("renyi_stopping_log_delta", ["*", "order", "renyi", "epsilon", "candidates"], {"candidates": 1n}, function (order, renyi, epsilon, candidates) {
if (($.t($.eq(renyi, $.libraries["math"].inf)) || !$.t($.lt(renyi, epsilon)))) {
return (($.t($.eq(renyi, 0n)) && $.t($.lt(0n, epsilon))) ? $.neg($.libraries["math"].inf) : 0.0);
}
if ($.t($.eq(renyi, 0n))) {
return $.neg($.libraries["math"].inf);
}
return _either_way([$.add($.mul($.mul($.neg($.sub(order, 1n)), $.sub(epsilon, renyi)), $.sub(1n, $.mul(8n, UNIT))), MARGIN), epsilon, candidates]);
});
gdp_stopping_epsilon = $.fn("gdp_stopping_epsilon", ["*", "mu", "delta", "candidates"], {"candidates": 1n}, function (mu, delta, candidates) {
let guess, spread;
if ($.t($.eq(mu, 0n))) {
return 0.0;
}
if (($.t($.le(delta, 0n)) || $.t($.lt(1e+150, mu)))) {
return $.libraries["math"].inf;
}
spread = $.sub($.libraries["math"].log([$.mul(2n, candidates)]), $.libraries["math"].log([$.b.min([delta, 1.0])]));
guess = $.add($.add($.div($.mul(mu, mu), 2n), $.mul(mu, $.libraries["math"].sqrt([$.mul(2n, spread)]))), mu);
return _least_epsilon([$.fn("<lambda>", ["epsilon"], {}, (epsilon) => gdp_stopping_log_delta([], {"mu": mu, "epsilon": epsilon, "candidates": candidates})), delta, guess]);
});
renyi_stopping_epsilon = $.fn("renyi_stopping_epsilon", ["*", "order", "renyi", "delta", "candidates"], {"candidates": 1n}, function (order, renyi, delta, candidates) {
let guess;
if ($.t($.eq(renyi, 0n))) {
return 0.0;
}
if (($.t($.le(delta, 0n)) || $.t($.eq(renyi, $.libraries["math"].inf)))) {
return $.libraries["math"].inf;
}
guess = $.add(renyi, $.div($.add($.sub($.libraries["math"].log([$.mul(2n, candidates)]), $.libraries["math"].log([$.b.min([delta, 1.0])])), 1n), $.sub(order, 1n)));
return _least_epsilon([$.fn("<lambda>", ["epsilon"], {}, (epsilon) => renyi_stopping_log_delta([], {"order": order, "renyi": renyi, "epsilon": epsilon, "candidates": candidates})), delta, guess]);
});
_least_epsilon = $.fn("_least_epsilon", ["log_delta", "delta", "guess"], {}, function (log_delta, delta, guess) {
let allowed;
allowed = ($.t($.lt(delta, 1n)) ? log_down([delta]) : 0.0);
return least_safe([$.fn("<lambda>", ["epsilon"], {}, (epsilon) => $.le(log_delta([epsilon]), allowed))], {"guess": guess, "factor": 4n});
});
_either_way = $.fn("_either_way", ["log_probability", "epsilon", "candidates"], {}, function (log_probability, epsilon, candidates) {
let value;
value = sum_up([log_probability, $.libraries["math"].log1p([$.libraries["math"].exp([$.neg(epsilon)])]), $.libraries["math"].log([candidates])]);
return $.b.max([LEAST_LOG, $.b.min([0.0, value])]);
});
return {gdp_stopping_log_delta, renyi_stopping_log_delta, gdp_stopping_epsilon, renyi_stopping_epsilon, _least_epsilon, _either_way, MARGIN, UNIT, least_safe, log_down, log_lower_tail, first_safe, LEAST_LOG, sum_up};
})();
$.modules["bounds.objective_perturbation"] = (() => {
let curvature_ratio, highest_order, _minus_log_one_plus, _moment_with_record, _moment_without_record, _is_jacobian_positive, zero_out_hessian, replace_hessian, several_zero_out_hessian, several_replace_hessian, weakly_convex_zero_out_hessian, weakly_convex_replace_hessian, LARGEST_KAPPA, SMOOTHING, _LOG2, flow_constant, gdp, rounded_solution_distance, inexact_rate, inexact_gdp, _square, output_noise, block_variances, column_variances;
const math = $.libraries["math"];
const UNIT = $.modules["bounds.arithmetic"]["UNIT"];
const sum_up = $.modules["bounds.arithmetic"]["sum_up"];
curvature_ratio = $.fn("curvature_ratio", ["*", "smoothness", "strong_convexity", "records", "weak_convexity"], {"weak_convexity": 0.0}, function (smoothness, strong_convexity, records, weak_convexity) {
return $.mul($.div(smoothness, $.add($.mul(records, strong_convexity), weak_convexity)), $.add(1n, $.mul(4n, UNIT)));
});
highest_order = $.fn("highest_order", ["*", "ratio", "rows", "below"], {"rows": 1n, "below": 0.0}, function (ratio, rows, below) {
let curvature;
curvature = $.mul(rows, $.add(ratio, below));
return ($.t(curvature) ? $.mul($.div($.add(1n, $.mul(rows, ratio)), curvature), $.sub(1n, $.mul(4n, UNIT))) : $.libraries["math"].inf);
});
_minus_log_one_plus = $.fn("_minus_log_one_plus", ["*terms"], {}, function (terms) {
return $.neg($.libraries["math"].log1p([$.sub($.libraries["math"].fsum([terms]), $.mul($.mul(8n, UNIT), $.libraries["math"].fsum([$.b.map([$.b.abs, terms])])))]));
});
_moment_with_record = $.fn("_moment_with_record", ["order", "r"], {}, function (order, r) {
return sum_up([$.mul(order, $.libraries["math"].log1p([r])), _minus_log_one_plus([$.mul(order, r)])]);
});
_moment_without_record = $.fn("_moment_without_record", ["order", "r"], {}, function (order, r) {
return sum_up([$.mul($.neg($.sub(order, 1n)), $.libraries["math"].log1p([r])), _minus_log_one_plus([$.mul($.neg($.sub(order, 1n)), r)])]);
});
_is_jacobian_positive = $.fn("_is_jacobian_positive", ["order", "ratio", "below"], {"below": 0.0}, function (order, ratio, below) {
return $.both($.lt(1n, order), () => $.both($.le(0n, ratio), () => $.both($.le(0n, below), () => $.lt($.add($.mul(order, below), $.mul($.sub(order, 1n), ratio)), $.sub(1n, 1e-12)))));
});
zero_out_hessian = $.fn("zero_out_hessian", ["*", "order", "ratio", "rows"], {"rows": 1n}, function (order, ratio, rows) {
let r;
r = $.mul(rows, ratio);
return ($.t(_is_jacobian_positive([order, r])) ? $.div(_moment_without_record([order, r]), $.sub(order, 1n)) : $.libraries["math"].inf);
});
replace_hessian = $.fn("replace_hessian", ["*", "order", "ratio", "rows"], {"rows": 1n}, function (order, ratio, rows) {
let r;
r = $.mul(rows, ratio);
if (!$.t(_is_jacobian_positive([order, r]))) {
return $.libraries["math"].inf;
}
if (($.t($.lt(1n, rows)) && $.t($.lt(1n, $.mul($.mul(order, r), r))))) {
return sum_up([$.div($.mul($.mul(order, r), r), 2n), $.div(_moment_without_record([order, r]), $.sub(order, 1n))]);
}
return $.mul($.div(_minus_log_one_plus([$.div($.mul($.mul($.mul($.neg(order), $.sub(order, 1n)), r), r), $.add(1n, r))]), $.sub(order, 1n)), $.add(1n, 1e-12));
});
several_zero_out_hessian = $.fn("several_zero_out_hessian", ["*", "order", "ratio", "rows"], {"rows": 1n}, function (order, ratio, rows) {
let r;
r = $.mul(rows, ratio);
if (!$.t(_is_jacobian_positive([order, r]))) {
return $.libraries["math"].inf;
}
return $.b.max([$.div(_moment_without_record([order, r]), $.sub(order, 1n)), $.mul($.div($.mul($.mul(order, r), r), 2n), $.add(1n, $.mul(4n, UNIT)))]);
});
several_replace_hessian = $.fn("several_replace_hessian", ["*", "order", "ratio", "rows"], {"rows": 1n}, function (order, ratio, rows) {
let single;
single = several_zero_out_hessian([], {"order": order, "ratio": ratio, "rows": rows});
return ($.t($.lt(single, $.libraries["math"].inf)) ? sum_up([$.div($.mul(order, $.pow($.mul(rows, ratio), 2n)), 2n), single]) : $.libraries["math"].inf);
});
weakly_convex_zero_out_hessian = $.fn("weakly_convex_zero_out_hessian", ["*", "order", "ratio", "below"], {}, function (order, ratio, below) {
if (!$.t(_is_jacobian_positive([order, ratio, below]))) {
return $.libraries["math"].inf;
}
return $.div($.b.max([(function* ($first) { for (const $v1 of $.each($first)) { let h; h = $v1; for (const $v2 of $.each($.tuple([ratio, $.neg(below)]))) { let r; r = $v2; yield h([order, r]); }} })($.tuple([_moment_with_record, _moment_without_record]))]), $.sub(order, 1n));
});
weakly_convex_replace_hessian = $.fn("weakly_convex_replace_hessian", ["*", "order", "ratio", "below"], {}, function (order, ratio, below) {
let opposite, q, rest;
if (!$.t(_is_jacobian_positive([order, ratio, below]))) {
return $.libraries["math"].inf;
}
{const $v3 = [order, $.sub(order, 1n)];q = $v3[0];rest = $v3[1];}
opposite = $.fn("opposite", ["second", "first"], {}, function (second, first) {
return sum_up([$.mul(q, $.libraries["math"].log1p([second])), $.mul($.neg(rest), $.libraries["math"].log1p([first])), _minus_log_one_plus([$.mul(q, second), $.mul($.neg(rest), first)])]);
});
return $.mul($.div($.b.max([$.add(_moment_with_record([q, ratio]), _moment_without_record([q, ratio])), $.add(_moment_with_record([q, $.neg(below)]), _moment_without_record([q, $.neg(below)])), opposite([ratio, $.neg(below)]), opposite([$.neg(below), ratio])]), rest), $.add(1n, $.mul(4n, UNIT)));
});
LARGEST_KAPPA = 0.25;
SMOOTHING = 12.0;
_LOG2 = $.libraries["math"].log([2n]);
flow_constant = $.fn("flow_constant", ["*", "kappa"], {}, function (kappa) {
let square;
if (!$.t((($v4, $v5, $v6) => $.le($v4, $v5) && $.le($v5, $v6))(0n, kappa, LARGEST_KAPPA))) {
return $.libraries["math"].inf;
}
square = $.mul($.mul(_LOG2, kappa), kappa);
return $.add($.add(1n, $.div($.mul(2n, square), $.add(1n, $.libraries["math"].sqrt([$.sub(1n, $.mul(8n, square))])))), $.mul(4n, UNIT));
});
gdp = $.fn("gdp", ["*", "lipschitz", "noise", "ratio", "rows", "worlds", "blocks"], {"rows": 1n, "worlds": 1n, "blocks": 1n}, function (lipschitz, noise, ratio, rows, worlds, blocks) {
let kappa, shift;
if (!$.t($.lt(0n, noise))) {
return $.libraries["math"].inf;
}
shift = $.div(lipschitz, noise);
kappa = ($.t(ratio) ? $.mul($.div(ratio, shift), $.add(1n, $.mul(4n, UNIT))) : 0.0);
return $.mul($.mul($.mul($.mul($.mul(rows, worlds), $.libraries["math"].sqrt([blocks])), shift), flow_constant([], {"kappa": kappa})), $.add(1n, $.mul(8n, UNIT)));
});
rounded_solution_distance = $.fn("rounded_solution_distance", ["*", "gradient_tolerance", "strong_convexity", "grid", "dimension"], {}, function (gradient_tolerance, strong_convexity, grid, dimension) {
return $.mul($.add($.div($.mul(2n, gradient_tolerance), strong_convexity), $.mul(grid, $.libraries["math"].sqrt([dimension]))), $.add(1n, $.mul(8n, UNIT)));
});
inexact_rate = $.fn("inexact_rate", ["*", "spread", "output_noise"], {}, function (spread, output_noise) {
return $.div(_square([spread, output_noise]), 2n);
});
inexact_gdp = $.fn("inexact_gdp", ["*", "spread", "output_noise", "grid"], {}, function (spread, output_noise, grid) {
let left;
left = $.sub($.pow(output_noise, 2n), $.pow($.mul(SMOOTHING, grid), 2n));
if (!$.t($.lt(0n, left))) {
return ($.t(spread) ? $.libraries["math"].inf : 0.0);
}
return $.libraries["math"].sqrt([_square([spread, $.libraries["math"].sqrt([left])])]);
});
_square = $.fn("_square", ["spread", "deviation"], {}, function (spread, deviation) {
if (!$.t($.lt(0n, deviation))) {
return ($.t(spread) ? $.libraries["math"].inf : 0.0);
}
return $.mul($.pow($.div(spread, deviation), 2n), $.add(1n, $.mul(16n, UNIT)));
});
output_noise = $.fn("output_noise", ["*", "share", "noise", "records", "dimension", "hessian_trace"], {}, function (share, noise, records, dimension, hessian_trace) {
return $.div($.mul($.div($.mul($.libraries["math"].sqrt([share]), noise), records), dimension), hessian_trace);
});
block_variances = $.fn("block_variances", ["*", "categories", "constant"], {"constant": true}, function (categories, constant) {
let roots;
roots = [...(function* ($first) { for (const $v7 of $.each($first)) { let k; k = $v7; yield $.libraries["math"].sqrt([k]); } })($.tuple([...$.each(categories), ...$.each(($.t(constant) ? $.tuple([1n]) : $.tuple([])))]))];
return $.b.tuple([(function* ($first) { for (const $v8 of $.each($first)) { let root; root = $v8; yield $.div($.libraries["math"].fsum([roots]), $.mul($.b.len([roots]), root)); } })(roots)]);
});
column_variances = $.fn("column_variances", ["*", "blocks"], {}, function (blocks) {
let hot;
hot = $.b.iter([block_variances([], {"categories": [...(function* ($first) { for (const $v9 of $.each($first)) { let k; k = $v9; if (!$.t(k)) continue; yield k; } })(blocks)], "constant": false})]);
return $.b.tuple([(function* ($first) { for (const $v10 of $.each($first)) { let k; k = $v10; for (const $v11 of $.each(($.t(k) ? $.mul($.tuple([$.b.next([hot])]), k) : $.tuple([1.0])))) { let v; v = $v11; yield v; }} })(blocks)]);
});
return {curvature_ratio, highest_order, _minus_log_one_plus, _moment_with_record, _moment_without_record, _is_jacobian_positive, zero_out_hessian, replace_hessian, several_zero_out_hessian, several_replace_hessian, weakly_convex_zero_out_hessian, weakly_convex_replace_hessian, LARGEST_KAPPA, SMOOTHING, _LOG2, flow_constant, gdp, rounded_solution_distance, inexact_rate, inexact_gdp, _square, output_noise, block_variances, column_variances, UNIT, sum_up};
})();
$.modules["bounds.gaussian"] = (() => {
let _HALF, _GAUSS, _SQRT2, _SQRT_HALF_PI, _LOG_SQRT_2PI, _mills, _mills_slope, gdp_log_delta, gdp_epsilon, gdp_for, gdp_advantage, renyi_advantage, rate_advantage;
const math = $.libraries["math"];
const LEAST_LOG = $.modules["bounds.arithmetic"]["LEAST_LOG"];
const MARGIN = $.modules["bounds.arithmetic"]["MARGIN"];
const UNIT = $.modules["bounds.arithmetic"]["UNIT"];
const best_order = $.modules["bounds.arithmetic"]["best_order"];
const least_safe = $.modules["bounds.arithmetic"]["least_safe"];
const log_down = $.modules["bounds.arithmetic"]["log_down"];
const erfcx = $.modules["bounds.tails"]["erfcx"];
const upper_tail = $.modules["bounds.tails"]["upper_tail"];
_HALF = $.tuple([$.tuple([0.09501250983763744, 0.1894506104550685]), $.tuple([0.2816035507792589, 0.1826034150449236]), $.tuple([0.45801677765722737, 0.1691565193950025]), $.tuple([0.6178762444026438, 0.1495959888165767]), $.tuple([0.755404408355003, 0.1246289712555339]), $.tuple([0.8656312023878318, 0.09515851168249279]), $.tuple([0.9445750230732326, 0.06225352393864789]), $.tuple([0.9894009349916499, 0.02715245941175409])]);
_GAUSS = $.b.tuple([(function* ($first) { for (const $v1 of $.each($first)) { let node, weight; {const $v2 = $.unpack($v1, 2, -1);node = $v2[0];weight = $v2[1];} for (const $v3 of $.each($.tuple([$.neg(1n), 1n]))) { let sign; sign = $v3; yield $.tuple([$.mul(sign, node), weight]); }} })(_HALF)]);
{const $v4 = [$.libraries["math"].sqrt([2n]), $.libraries["math"].sqrt([$.div($.libraries["math"].pi, 2n)])];_SQRT2 = $v4[0];_SQRT_HALF_PI = $v4[1];}
_LOG_SQRT_2PI = $.div($.libraries["math"].log([$.mul(2n, $.libraries["math"].pi)]), 2n);
_mills = $.fn("_mills", ["t"], {}, function (t) {
return $.mul(_SQRT_HALF_PI, erfcx([$.div(t, _SQRT2)]));
});
_mills_slope = $.fn("_mills_slope", ["t"], {}, function (t) {
let tail, term;
if ($.t($.lt(t, 3n))) {
return $.sub(1n, $.mul(t, _mills([t])));
}
tail = 0.0;
for (const $v5 of $.each($.b.range([60n, 0n, $.neg(1n)]))) {
term = $v5;
tail = $.div(term, $.add(t, tail));
}
return $.div(tail, $.add(t, tail));
});
gdp_log_delta = $.fn("gdp_log_delta", ["*", "mu", "epsilon"], {}, function (mu, epsilon) {
let a, b, delta, density, exponent, far, log_drop, mean, slack, value, wobble;
if ($.t($.eq(mu, 0n))) {
return $.neg($.libraries["math"].inf);
}
if ($.t($.eq(mu, $.libraries["math"].inf))) {
return 0.0;
}
far = $.div(epsilon, mu);
{const $v6 = [$.sub(far, $.div(mu, 2n)), $.add(far, $.div(mu, 2n))];a = $v6[0];b = $v6[1];}
if ($.t($.lt(1e+150, a))) {
return LEAST_LOG;
}
wobble = $.mul($.mul(4n, UNIT), b);
if ($.t($.lt(a, $.neg(1n)))) {
density = $.libraries["math"].exp([$.sub($.div($.mul($.neg(a), a), 2n), _LOG_SQRT_2PI)]);
delta = $.sub(upper_tail([a]), $.mul(density, _mills([b])));
return $.b.min([0.0, $.add($.add($.libraries["math"].log([delta]), $.mul(density, wobble)), $.mul(64n, UNIT))]);
}
if ($.t($.lt(1000000.0, a))) {
log_drop = $.b.min([$.sub($.libraries["math"].log([mu]), $.mul(2n, $.libraries["math"].log([a]))), $.neg($.libraries["math"].log([a]))]);
} else {
if ($.t($.lt(mu, 0.5))) {
mean = $.libraries["math"].fsum([(function* ($first) { for (const $v7 of $.each($first)) { let node, weight; {const $v8 = $.unpack($v7, 2, -1);node = $v8[0];weight = $v8[1];} yield $.mul(weight, _mills_slope([$.add(far, $.mul($.div(mu, 2n), node))])); } })(_GAUSS)]);
log_drop = $.add($.libraries["math"].log([$.div(mu, 2n)]), $.libraries["math"].log([mean]));
} else {
log_drop = $.libraries["math"].log([$.sub($.mul(_mills([a]), $.add(1n, $.mul(32n, UNIT))), _mills([b]))]);
}
}
exponent = $.div($.mul(a, a), 2n);
slack = $.add($.add(MARGIN, $.mul($.mul(4n, UNIT), exponent)), $.mul($.add($.b.abs([a]), 2n), wobble));
value = $.add($.sub($.sub(log_drop, exponent), _LOG_SQRT_2PI), slack);
return $.b.max([LEAST_LOG, $.b.min([0.0, value])]);
});
gdp_epsilon = $.fn("gdp_epsilon", ["*", "mu", "delta"], {}, function (mu, delta) {
let chernoff, log_delta, safe;
if (($.t($.eq(mu, 0n)) || $.t($.le(1n, delta)))) {
return 0.0;
}
if (($.t($.le(delta, 0n)) || $.t($.lt(1e+150, mu)))) {
return $.libraries["math"].inf;
}
log_delta = log_down([delta]);
safe = $.fn("safe", ["epsilon"], {}, function (epsilon) {
return $.le(gdp_log_delta([], {"mu": mu, "epsilon": epsilon}), log_delta);
});
if ($.t(safe([0.0]))) {
return 0.0;
}
chernoff = $.add($.add($.div($.mul(mu, mu), 2n), $.mul(mu, $.libraries["math"].sqrt([$.mul(2n, $.neg(log_delta))]))), mu);
return least_safe([safe], {"guess": chernoff, "factor": 16n});
});
gdp_for = $.fn("gdp_for", ["*", "epsilon", "delta"], {}, function (epsilon, delta) {
let log_delta, safe;
log_delta = log_down([delta]);
safe = $.fn("safe", ["inverse"], {}, function (inverse) {
return $.le(gdp_log_delta([], {"mu": $.div(1n, inverse), "epsilon": epsilon}), log_delta);
});
return $.libraries["math"].nextafter([$.div(1n, least_safe([safe], {"guess": 1.0, "factor": 4n})), 0.0]);
});
gdp_advantage = $.fn("gdp_advantage", ["*", "mu"], {}, function (mu) {
return $.b.min([1.0, $.mul($.libraries["math"].erf([$.div(mu, $.libraries["math"].sqrt([8n]))]), $.add(1n, MARGIN))]);
});
renyi_advantage = $.fn("renyi_advantage", ["*", "order", "renyi"], {}, function (order, renyi) {
let beyond, least, limit, rest;
if ($.t($.eq(renyi, 0n))) {
return 0.0;
}
rest = $.sub(order, 1n);
limit = $.mul($.mul(rest, renyi), $.add(1n, MARGIN));
beyond = $.fn("beyond", ["s"], {}, function (s) {
if ($.t($.lt($.mul(order, s), 1n))) {
return $.lt(limit, $.libraries["math"].log1p([$.div($.mul($.mul(2n, $.libraries["math"].sinh([$.div($.mul(order, s), 2n)])), $.libraries["math"].sinh([$.div($.mul(rest, s), 2n)])), $.libraries["math"].cosh([$.div(s, 2n)]))]));
}
return $.lt($.add(limit, $.mul($.mul($.mul(4n, UNIT), order), s)), $.sub($.add($.mul(rest, s), $.libraries["math"].log1p([$.libraries["math"].exp([$.mul($.neg($.sub($.mul(2n, order), 1n)), s)])])), $.libraries["math"].log1p([$.libraries["math"].exp([$.neg(s)])])));
});
least = least_safe([beyond], {"guess": 1e-150, "factor": 8n, "below": 1e-151, "most": 1000.0});
return $.b.min([1.0, $.mul($.libraries["math"].tanh([$.div(least, 2n)]), $.add(1n, MARGIN))]);
});
rate_advantage = $.fn("rate_advantage", ["*", "rate"], {}, function (rate) {
let at;
at = $.fn("at", ["order"], {}, function (order) {
return renyi_advantage([], {"order": order, "renyi": $.mul(order, rate)});
});
return ($.t($.lt(0n, rate)) ? at([best_order([at], {"high": 1000000000.0, "points": 36n, "rounds": 16n})]) : 0.0);
});
return {_HALF, _GAUSS, _SQRT2, _SQRT_HALF_PI, _LOG_SQRT_2PI, _mills, _mills_slope, gdp_log_delta, gdp_epsilon, gdp_for, gdp_advantage, renyi_advantage, rate_advantage, least_safe, log_down, LEAST_LOG, UNIT, MARGIN, upper_tail, erfcx, best_order};
})();
$.modules["bounds.adaptive"] = (() => {
let theorem_4_1, membership_advantage, _log_mean_power;
const math = $.libraries["math"];
const MARGIN = $.modules["bounds.arithmetic"]["MARGIN"];
const UNIT = $.modules["bounds.arithmetic"]["UNIT"];
const first_safe = $.modules["bounds.arithmetic"]["first_safe"];
theorem_4_1 = $.fn("theorem_4_1", ["*", "order", "renyi"], {}, function (order, renyi) {
let growth, printed;
if ($.t($.le(1n, renyi))) {
return 1.0;
}
growth = $.libraries["math"].exp([$.div($.mul(renyi, $.sub(order, 1n)), order)]);
printed = $.sub($.mul($.div($.mul(order, growth), $.sub(order, 1n)), $.pow($.mul(2n, $.sub(order, 1n)), $.div(1n, order))), 1n);
return $.b.min([1.0, $.mul($.libraries["math"].sqrt([$.mul(2n, renyi)]), $.add(1n, MARGIN)), $.add(printed, MARGIN)]);
});
membership_advantage = $.fn("membership_advantage", ["*", "order", "renyi"], {}, function (order, renyi) {
let beyond, printed;
if ($.t($.eq(renyi, 0n))) {
return 0.0;
}
printed = theorem_4_1([], {"order": order, "renyi": renyi});
if ($.t($.le(1n, renyi))) {
return printed;
}
beyond = $.fn("beyond", ["t"], {}, function (t) {
return $.lt($.add($.mul($.sub(order, 1n), renyi), $.mul($.mul(8n, UNIT), order)), _log_mean_power([order, t]));
});
return ($.t(beyond([1.0])) ? $.b.min([printed, $.mul(first_safe([beyond, 0.0, 1.0]), $.add(1n, MARGIN))]) : printed);
});
_log_mean_power = $.fn("_log_mean_power", ["order", "t"], {}, function (order, t) {
let other;
other = ($.t($.lt(t, 1n)) ? $.libraries["math"].exp([$.mul(order, $.sub($.libraries["math"].log1p([$.neg(t)]), $.libraries["math"].log1p([t])))]) : 0.0);
return $.sub($.add($.mul(order, $.libraries["math"].log1p([t])), $.libraries["math"].log1p([other])), $.libraries["math"].log([2n]));
});
return {theorem_4_1, membership_advantage, _log_mean_power, MARGIN, first_safe, UNIT};
})();
$.modules["records"] = (() => {
const NO_EDITS = $.modules["records.counts"]["NO_EDITS"];
const EditCounts = $.modules["records.counts"]["EditCounts"];
return {EditCounts, NO_EDITS};
})();
$.modules["losses.clipped"] = (() => {
let Clipped, clip_loss;
const dataclass = $.libraries["dataclasses"]["dataclass"];
const replace = $.libraries["dataclasses"]["replace"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const AssumptionViolated = $.modules["errors"]["AssumptionViolated"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_scale = $.modules["errors"]["check_scale"];
const ONE_DIRECTION = $.modules["losses.base"]["ONE_DIRECTION"];
const Loss = $.modules["losses.base"]["Loss"];
const LossConstants = $.modules["losses.base"]["LossConstants"];
Clipped = $.dataclass($.cls("Clipped", [Loss], ($ns) => {
$ns.base = null;
$ns.limit = 1.0;
$ns.name = "clipped";
$ns.label_kind = "";
$ns.curving = ONE_DIRECTION;
$ns.twice_differentiable = false;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.sup(Clipped, self, "__post_init__")([]);
$.cm($.b.object, "__setattr__", [self, "limit", check_scale(["limit", $.ga(self, "limit")])]);
$.cm($.b.object, "__setattr__", [self, "label_kind", $.ga($.ga(self, "base"), "label_kind")]);
return null;
});
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {
return LossConstants([], {"lipschitz": $.ga(self, "limit"), "smoothness": $.ga($.ga($.ga(self, "base"), "constants"), "smoothness"), "proven": $.ga($.ga($.ga(self, "base"), "constants"), "proven")});
}));
$ns.gap_at_zero = $.property($.fn("gap_at_zero", ["self"], {}, function (self) {
return $.b.float([$.ga($.ga(self, "base"), "gap_at_zero")]);
}));
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.dict([["name", $.ga(self, "name")], ["base", $.cm($.ga(self, "base"), "to_dict", [])], ["limit", $.ga(self, "limit")]]);
});
}), [["base", () => ["is", Any]], ["limit", () => ["is", $.b.float]]], {frozen: true});
clip_loss = $.fn("clip_loss", ["loss", "limit"], {}, function (loss, limit) {
let clipped, network;
limit = check_scale(["limit", limit]);
clipped = loss;
if ($.t($.b.hasattr([loss, "clip"]))) {
network = replace([clipped], {"clip": limit});
return network;
}
if ($.t($.le($.ga($.ga(loss, "constants"), "lipschitz"), limit))) {
return loss;
}
if ($.t($.lt(1n, $.ga(loss, "outputs")))) {
throw $.raised(AssumptionViolated([("" + "the " + $.formatted($.ga(loss, "name"), "", "") + " loss has " + $.formatted($.ga(loss, "outputs"), "", "") + " gradient directions per record: clipping its gradient does not keep convexity or smoothness (Lemma F.3 of the paper is false), so no convex certificate would hold. Shrink the rows instead (radius), or train it as a torch module (networks.NetworkLoss) under method 'noisy-gd:analysis=composition'")]));
}
if ((!$.t($.ga($.ga(loss, "constants"), "convex")) || !$.t($.b.hasattr([loss, "unclipped"])))) {
throw $.raised(InvalidParameter([("" + "the " + $.formatted($.ga(loss, "name"), "", "") + " loss is not clipped here: give it a smaller radius, which scales its gradient")]));
}
return Clipped([], {"radius": $.ga(loss, "radius"), "base": loss, "limit": limit});
});
return {Clipped, clip_loss, ClassVar, ONE_DIRECTION, Any, Loss, InvalidParameter, AssumptionViolated, replace, check_scale, LossConstants};
})();
$.modules["losses.linear"] = (() => {
let Linear;
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const ONE_DIRECTION = $.modules["losses.base"]["ONE_DIRECTION"];
const Loss = $.modules["losses.base"]["Loss"];
const LossConstants = $.modules["losses.base"]["LossConstants"];
Linear = $.dataclass($.cls("Linear", [Loss], ($ns) => {
$ns.name = "linear";
$ns.label_kind = "none";
$ns.curving = ONE_DIRECTION;
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {
return LossConstants([], {"lipschitz": $.ga(self, "radius"), "smoothness": 0.0, "proven": true});
}));
}), [], {frozen: true});
return {Linear, ClassVar, ONE_DIRECTION, Loss, LossConstants};
})();
$.modules["losses.logistic"] = (() => {
let Logistic;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const ONE_DIRECTION = $.modules["losses.base"]["ONE_DIRECTION"];
const Loss = $.modules["losses.base"]["Loss"];
const LossConstants = $.modules["losses.base"]["LossConstants"];
Logistic = $.dataclass($.cls("Logistic", [Loss], ($ns) => {
$ns.name = "logistic";
$ns.label_kind = "binary";
$ns.curving = ONE_DIRECTION;
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {
return LossConstants([], {"lipschitz": $.ga(self, "radius"), "smoothness": $.div($.pow($.ga(self, "radius"), 2n), 4n), "proven": true});
}));
$ns.gap_at_zero = $.property($.fn("gap_at_zero", ["self"], {}, function (self) {
return $.libraries["math"].log([2n]);
}));
$ns.unclipped = $.fn("unclipped", ["self", "scores", "labels", "limit", "xp"], {}, function (self, scores, labels, limit, xp) {
let edge, margins, signs;
signs = $.gi(labels, $.tuple([$.ellipsis, null]));
edge = $.sub($.libraries["math"].log1p([$.neg(limit)]), $.libraries["math"].log([limit]));
margins = $.mul(scores, signs);
return $.mul(signs, $.add(margins, $.div($.sub($.add($.cm(xp, "abs", [$.sub(edge, margins)]), edge), margins), 2n)));
});
}), [], {frozen: true});
return {Logistic, ClassVar, ONE_DIRECTION, Loss, LossConstants};
})();
$.modules["losses.one_vs_rest"] = (() => {
let OneVsRest;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const ONE_DIRECTION = $.modules["losses.base"]["ONE_DIRECTION"];
const LossConstants = $.modules["losses.base"]["LossConstants"];
const MulticlassLoss = $.modules["losses.base"]["MulticlassLoss"];
OneVsRest = $.dataclass($.cls("OneVsRest", [MulticlassLoss], ($ns) => {
$ns.name = "one-vs-rest";
$ns.curving = ONE_DIRECTION;
$ns.blocks = $.property($.fn("blocks", ["self"], {}, function (self) {
return $.ga(self, "classes");
}));
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {
return LossConstants([], {"lipschitz": $.mul($.pow($.ga(self, "classes"), 0.5), $.ga(self, "radius")), "smoothness": $.div($.pow($.ga(self, "radius"), 2n), 4n), "proven": true});
}));
$ns.gap_at_zero = $.property($.fn("gap_at_zero", ["self"], {}, function (self) {
return $.mul($.ga(self, "classes"), $.libraries["math"].log([2n]));
}));
}), [], {frozen: true});
return {OneVsRest, ClassVar, ONE_DIRECTION, MulticlassLoss, LossConstants};
})();
$.modules["losses.pseudo_huber"] = (() => {
let PseudoHuber;
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const check_scale = $.modules["errors"]["check_scale"];
const ONE_DIRECTION = $.modules["losses.base"]["ONE_DIRECTION"];
const Loss = $.modules["losses.base"]["Loss"];
const LossConstants = $.modules["losses.base"]["LossConstants"];
PseudoHuber = $.dataclass($.cls("PseudoHuber", [Loss], ($ns) => {
$ns.delta = 1.0;
$ns.name = "pseudo-huber";
$ns.label_kind = "target";
$ns.curving = ONE_DIRECTION;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.sup(PseudoHuber, self, "__post_init__")([]);
$.cm($.b.object, "__setattr__", [self, "delta", check_scale(["delta", $.ga(self, "delta")])]);
return null;
});
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {
return LossConstants([], {"lipschitz": $.mul($.ga(self, "delta"), $.ga(self, "radius")), "smoothness": $.pow($.ga(self, "radius"), 2n), "proven": true});
}));
$ns.unclipped = $.fn("unclipped", ["self", "scores", "labels", "limit", "xp"], {}, function (self, scores, labels, limit, xp) {
let edge, residual;
edge = $.div(limit, $.pow($.sub(1n, $.pow($.div(limit, $.ga(self, "delta")), 2n)), 0.5));
residual = $.sub(scores, $.gi(labels, $.tuple([$.ellipsis, null])));
return $.add($.gi(labels, $.tuple([$.ellipsis, null])), $.div($.sub($.cm(xp, "abs", [$.add(residual, edge)]), $.cm(xp, "abs", [$.sub(residual, edge)])), 2n));
});
}), [["delta", () => ["is", $.b.float]]], {frozen: true});
return {PseudoHuber, ClassVar, ONE_DIRECTION, Loss, check_scale, LossConstants};
})();
$.modules["losses.sigmoid"] = (() => {
let Sigmoid;
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const ONE_DIRECTION = $.modules["losses.base"]["ONE_DIRECTION"];
const Loss = $.modules["losses.base"]["Loss"];
const LossConstants = $.modules["losses.base"]["LossConstants"];
Sigmoid = $.dataclass($.cls("Sigmoid", [Loss], ($ns) => {
$ns.name = "sigmoid";
$ns.label_kind = "binary";
$ns.curving = ONE_DIRECTION;
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {
let curvature;
curvature = $.div($.pow($.ga(self, "radius"), 2n), $.mul(6n, $.pow(3n, 0.5)));
return LossConstants([], {"lipschitz": $.div($.ga(self, "radius"), 4n), "smoothness": curvature, "weak_convexity": curvature, "range": 1.0, "proven": true});
}));
$ns.gap_at_zero = $.property($.fn("gap_at_zero", ["self"], {}, function (self) {
return 0.5;
}));
}), [], {frozen: true});
return {Sigmoid, ClassVar, ONE_DIRECTION, Loss, LossConstants};
})();
$.modules["losses.softmax"] = (() => {
let Softmax;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const SEVERAL_DIRECTIONS = $.modules["losses.base"]["SEVERAL_DIRECTIONS"];
const LossConstants = $.modules["losses.base"]["LossConstants"];
const MulticlassLoss = $.modules["losses.base"]["MulticlassLoss"];
Softmax = $.dataclass($.cls("Softmax", [MulticlassLoss], ($ns) => {
$ns.name = "softmax";
$ns.curving = SEVERAL_DIRECTIONS;
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {
return LossConstants([], {"lipschitz": $.mul($.pow(2n, 0.5), $.ga(self, "radius")), "smoothness": $.div($.pow($.ga(self, "radius"), 2n), 2n), "proven": true});
}));
$ns.curvature_trace = $.property($.fn("curvature_trace", ["self"], {}, function (self) {
return $.mul($.pow($.ga(self, "radius"), 2n), $.sub(1n, $.div(1n, $.ga(self, "classes"))));
}));
$ns.gap_at_zero = $.property($.fn("gap_at_zero", ["self"], {}, function (self) {
return $.libraries["math"].log([$.ga(self, "classes")]);
}));
}), [], {frozen: true});
return {Softmax, ClassVar, SEVERAL_DIRECTIONS, MulticlassLoss, LossConstants};
})();
$.modules["losses.squared"] = (() => {
let Squared;
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const AssumptionViolated = $.modules["errors"]["AssumptionViolated"];
const ONE_DIRECTION = $.modules["losses.base"]["ONE_DIRECTION"];
const Loss = $.modules["losses.base"]["Loss"];
Squared = $.dataclass($.cls("Squared", [Loss], ($ns) => {
$ns.name = "squared";
$ns.label_kind = "target";
$ns.curving = ONE_DIRECTION;
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {
throw $.raised(AssumptionViolated(["the squared loss is not Lipschitz: its gradient (\u27e8\u03b8, x\u27e9 \u2212 y)x grows with \u03b8, so no L bounds a record's influence on gradient steps. Use PseudoHuber(radius, delta): the same near 0, gradient at most delta\u00b7radius; or method 'sufficient-statistics'"]));
return null;
}));
}), [], {frozen: true});
return {Squared, ClassVar, ONE_DIRECTION, Loss, AssumptionViolated};
})();
$.modules["losses.tanh_network"] = (() => {
let TanhNetwork;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_real = $.modules["errors"]["check_real"];
const check_scale = $.modules["errors"]["check_scale"];
const Loss = $.modules["losses.base"]["Loss"];
const LossConstants = $.modules["losses.base"]["LossConstants"];
TanhNetwork = $.dataclass($.cls("TanhNetwork", [Loss], ($ns) => {
$ns.outer_weights = $.tuple([1.0]);
$ns.name = "tanh-network";
$ns.label_kind = "binary";
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let given, weights;
$.sup(TanhNetwork, self, "__post_init__")([]);
given = $.ga(self, "outer_weights");
if (($.t($.b.isinstance([given, $.b.str])) || !$.t($.b.hasattr([given, "__iter__"])))) {
throw $.raised(InvalidParameter(["must be a sequence of numbers, one per hidden unit"], {"outer_weights": given}));
}
weights = $.b.tuple([(function* ($first) { for (const $v1 of $.each($first)) { let weight; weight = $v1; yield check_real(["outer_weights", weight]); } })(given)]);
if (!$.t($.b.any([weights]))) {
throw $.raised(InvalidParameter(["must hold a number other than 0; else \u2113 is constant"], {"outer_weights": weights}));
}
check_scale(["the norm of outer_weights", $.libraries["math"].hypot([...$.each(weights)])]);
$.cm($.b.object, "__setattr__", [self, "outer_weights", weights]);
return null;
});
$ns.outputs = $.property($.fn("outputs", ["self"], {}, function (self) {
return $.b.len([$.ga(self, "outer_weights")]);
}));
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {
let bend, norm;
norm = $.libraries["math"].hypot([...$.each($.ga(self, "outer_weights"))]);
bend = $.mul($.mul($.div(4n, $.mul(3n, $.pow(3n, 0.5))), $.b.max([$.b.map([$.b.abs, $.ga(self, "outer_weights")])])), $.pow($.ga(self, "radius"), 2n));
return LossConstants([], {"lipschitz": $.mul(norm, $.ga(self, "radius")), "smoothness": $.add($.div($.pow($.mul(norm, $.ga(self, "radius")), 2n), 4n), bend), "weak_convexity": bend, "range": $.libraries["math"].fsum([$.b.map([$.b.abs, $.ga(self, "outer_weights")])]), "proven": true});
}));
$ns.network = $.fn("network", ["self", "scores", "xp"], {}, function (self, scores, xp) {
return $.cm($.mul($.cm(xp, "tanh", [scores]), $.cm(self, "_outer", [scores, xp])), "sum", [$.neg(1n)]);
});
$ns._outer = $.fn("_outer", ["self", "scores", "xp"], {}, function (self, scores, xp) {
let place;
place = ($.t($.b.hasattr([scores, "device"])) ? $.dict([["device", $.ga(scores, "device")]]) : $.dict([]));
return $.cm(xp, "concatenate", [[...(function* ($first) { for (const $v2 of $.each($first)) { let weight; weight = $v2; yield $.cm(xp, "full", [$.tuple([1n]), weight], {"dtype": $.ga(scores, "dtype"), ...$.named(place)}); } })($.ga(self, "outer_weights"))]]);
});
}), [["outer_weights", () => ["of", $.b.tuple, ["is", $.b.float]]]], {frozen: true});
return {TanhNetwork, ClassVar, Loss, check_scale, InvalidParameter, check_real, Any, LossConstants};
})();
$.modules["losses.weighted"] = (() => {
let _PRODUCT, Weighted, with_class_weights;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const replace = $.libraries["dataclasses"]["replace"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const AssumptionViolated = $.modules["errors"]["AssumptionViolated"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_scale = $.modules["errors"]["check_scale"];
const Loss = $.modules["losses.base"]["Loss"];
const LossConstants = $.modules["losses.base"]["LossConstants"];
_PRODUCT = $.add(1n, $.pow(2.0, $.neg(22n)));
Weighted = $.dataclass($.cls("Weighted", [Loss], ($ns) => {
$ns.base = null;
$ns.weights = $.tuple([]);
$ns.name = "weighted";
$ns.label_kind = "";
$ns.curving = "";
$ns.twice_differentiable = true;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let fact;
$.sup(Weighted, self, "__post_init__")([]);
$.cm($.b.object, "__setattr__", [self, "weights", $.b.tuple([(function* ($first) { for (const $v1 of $.each($first)) { let weight; weight = $v1; yield check_scale(["weight", weight]); } })($.ga(self, "weights"))])]);
for (const $v2 of $.each($.tuple(["label_kind", "curving", "twice_differentiable"]))) {
fact = $v2;
$.cm($.b.object, "__setattr__", [self, fact, $.b.getattr([$.ga(self, "base"), fact])]);
}
return null;
});
$ns.heaviest = $.property($.fn("heaviest", ["self"], {}, function (self) {
return $.b.max([$.ga(self, "weights")]);
}));
$ns.outputs = $.property($.fn("outputs", ["self"], {}, function (self) {
return $.b.int([$.ga($.ga(self, "base"), "outputs")]);
}));
$ns.blocks = $.property($.fn("blocks", ["self"], {}, function (self) {
return $.b.int([$.ga($.ga(self, "base"), "blocks")]);
}));
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {
let base, factor;
base = $.ga($.ga(self, "base"), "constants");
factor = $.mul($.ga(self, "heaviest"), _PRODUCT);
return replace([base], {"lipschitz": $.mul(factor, $.ga(base, "lipschitz")), "smoothness": $.mul(factor, $.ga(base, "smoothness")), "weak_convexity": $.mul(factor, $.ga(base, "weak_convexity")), "range": ($.t($.eq($.ga(base, "range"), $.libraries["math"].inf)) ? $.libraries["math"].inf : $.mul(factor, $.ga(base, "range")))});
}));
$ns.curvature_trace = $.property($.fn("curvature_trace", ["self"], {}, function (self) {
return $.mul($.ga(self, "heaviest"), $.b.float([$.ga($.ga(self, "base"), "curvature_trace")]));
}));
$ns.gap_at_zero = $.property($.fn("gap_at_zero", ["self"], {}, function (self) {
return $.mul($.ga(self, "heaviest"), $.b.float([$.ga($.ga(self, "base"), "gap_at_zero")]));
}));
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.dict([["name", $.ga(self, "name")], ["base", $.cm($.ga(self, "base"), "to_dict", [])], ["weights", $.b.list([$.ga(self, "weights")])]]);
});
}), [["base", () => ["is", Any]], ["weights", () => ["of", $.b.tuple, ["is", $.b.float]]]], {frozen: true});
with_class_weights = $.fn("with_class_weights", ["loss", "weights"], {}, function (loss, weights) {
let classes, given;
if ($.t($.b.isinstance([loss, Weighted]))) {
throw $.raised(InvalidParameter(["the loss has weights already; weigh its base by the products"]));
}
classes = $.cm($.dict([["binary", 2n], ["class", $.ga(loss, "outputs")]]), "get", [$.ga(loss, "label_kind")]);
if (($.t($.is(classes, null)) || $.t(!$.eq($.cm(loss, "dimension", [1n]), $.ga(loss, "outputs"))))) {
throw $.raised(AssumptionViolated([("" + "the " + $.formatted($.ga(loss, "name"), "", "") + " loss is no linear model of classes, so there are no classes to weigh")]));
}
given = $.b.tuple([(function* ($first) { for (const $v3 of $.each($first)) { let weight; weight = $v3; yield check_scale(["weight", weight]); } })(weights)]);
if ($.t(!$.eq($.b.len([given]), classes))) {
throw $.raised(InvalidParameter([("" + $.formatted($.b.len([given]), "", "") + " weights were given for " + $.formatted(classes, "", "") + " classes; give one for each")]));
}
if ($.t($.eq($.b.set([given]), $.set([1.0])))) {
return loss;
}
return Weighted([], {"radius": $.ga(loss, "radius"), "base": loss, "weights": given});
});
return {_PRODUCT, Weighted, with_class_weights, ClassVar, Any, Loss, InvalidParameter, check_scale, AssumptionViolated, replace, LossConstants};
})();
$.modules["reports.certificate_page"] = (() => {
let QUESTIONS, ABOUT, UNITS, COMMANDS, TITLES, STATED, certificate_blocks, _block, _lines, _group_sentences, title_of, _head_blocks, _first_page, _statement_blocks, _request_blocks, _table_blocks, _evidence_blocks, audit_name, _foot_text, _format_moment, _format_number, _quote_words, _fill_label;
const Mapping = $.libraries["collections.abc"]["Mapping"];
const Any = $.libraries["typing"]["Any"];
const KEYS = $.modules["evidence.claims"]["KEYS"];
const Claim = $.modules["evidence.claims"]["Claim"];
const claim_sentence = $.modules["evidence.claims"]["claim_sentence"];
const fill_entry = $.modules["privacy.sentences"]["fill_entry"];
const without_quotes = $.modules["privacy.sentences"]["without_quotes"];
const format_figure = $.modules["reports.texts"]["format_figure"];
const page_labels = $.libraries["reports.texts"]["page_labels"];
QUESTIONS = $.dict([["used", "Was the record ever in the data? (a record against no record)"], ["which", "Was it this content or another? (two records, one of which was there)"]]);
ABOUT = $.dict([["erased.later", "what was erased, from every model since"], ["erased.all", "what was erased, from all models ever published"], ["erased.before", "what was erased, from all models so far"], ["replaced.later", "the content before the rectification, from every model since"], ["replaced.all", "the content before the rectification, from all models ever published"], ["replaced.before", "the content before the rectification, from all models so far"], ["present.one", "a record still there, from the last model alone"], ["present.all", "a record still there, from all models"]]);
UNITS = $.dict([["record", "{text}, each record another person's"], ["person", "{text}, all rows of a person, at most {n}"], ["row", "{text}, each row by itself"]]);
COMMANDS = $.dict([["to-do.budget", "relearn STORE"], ["to-do.total", "relearn STORE"], ["to-do.publish", "publish STORE"], ["to-do.tell", "register letter STORE REQUEST; register inform STORE REQUEST"], ["to-do.recipients", "register recipients STORE REQUEST --count N"], ["to-do.withdraw", "publish-to STORE"], ["to-do.backups", "register backups STORE REQUEST --until DAY"]]);
TITLES = $.dict([["erased", "Erasure certificate"], ["restricted", "Restriction certificate"], ["lifted", "Certificate of a lifted restriction"]]);
STATED = $.tuple(["models", "purposes", "contact", "complaint.to"]);
certificate_blocks = $.fn("certificate_blocks", ["certificate", "code"], {}, function (certificate, code) {
let open_, told, words;
words = page_labels([code]);
told = _group_sentences([$.gi(certificate, "claims"), code]);
open_ = $.either(!$.eq($.gi($.gi(certificate, "action"), "status"), "published"), () => $.b.any([(function* ($first) { for (const $v1 of $.each($first)) { let claim; claim = $v1; yield $.eq($.gi(claim, "key"), "residue.found"); } })($.gi(certificate, "claims"))]));
return [...$.each(_head_blocks([certificate, words])), ...$.each(_first_page([words, told], {"warning": open_})), ...$.each(_statement_blocks([certificate, words, $.gi(told, "stated")])), ...$.each(_request_blocks([certificate, words])), _block(["annex", $.gi(words, "Annex: the figures, what they rest on, and how to check them")]), ...$.each(_table_blocks([$.gi(certificate, "claims"), words, code])), _block(["heading", $.gi(words, "Assumptions")]), _lines(["list", $.gi(told, "condition")]), ...$.each(_evidence_blocks([certificate, words])), _block(["footer", _foot_text([certificate, words])])];
});
_block = $.fn("_block", ["kind", "text"], {}, function (kind, text) {
return $.dict([["kind", kind], ["text", text]]);
});
_lines = $.fn("_lines", ["kind", "lines"], {}, function (kind, lines) {
return $.dict([["kind", kind], ["lines", [...(function* ($first) { for (const $v2 of $.each($first)) { let line; line = $v2; yield ($.t($.b.isinstance([line, $.b.str])) ? [line] : line); } })(lines)]]]);
});
_group_sentences = $.fn("_group_sentences", ["claims", "code"], {}, function (claims, code) {
let claim, kind, one, text, told;
told = $.dict((function* ($first) { for (const $v3 of $.each($first)) { let kind; kind = $v3; yield [kind, []]; } })($.tuple(["plain", "notice", "condition", "uncovered", "duty", "stated"])));
for (const $v4 of $.each(claims)) {
one = $v4;
claim = Claim([$.gi(one, "key"), $.gi(one, "values"), $.b.tuple([$.gi(one, "conditions")])]);
kind = ($.t($.has(STATED, $.ga(claim, "key"))) ? "stated" : $.ga($.gi(KEYS, $.ga(claim, "key")), "role"));
text = claim_sentence([claim, code]);
if ($.t($.eq(kind, "duty"))) {
text = [("" + $.formatted(text, "", "") + " ("), ("" + "noisygd-delete " + $.formatted($.gi(COMMANDS, $.ga(claim, "key")), "", "")), ")"];
}
if (!$.t($.cm($.ga(claim, "key"), "startswith", ["present."]))) {
$.cm($.gi(told, ($.t($.has(told, kind)) ? kind : "plain")), "append", [text]);
}
}
return told;
});
title_of = $.fn("title_of", ["certificate"], {}, function (certificate) {
let notices;
notices = $.gi($.gi(certificate, "request"), "notices");
if ($.t(!$.is($.cm(notices, "get", ["put_back"]), null))) {
return $.gi(TITLES, "lifted");
}
return $.gi(TITLES, ($.t($.is($.cm(notices, "get", ["set_aside"]), null)) ? "erased" : "restricted"));
});
_head_blocks = $.fn("_head_blocks", ["certificate", "words"], {}, function (certificate, words) {
let identity, named, who;
identity = $.gi(certificate, "identity");
named = $.gi(identity, "controller");
who = ($.t($.is(named, null)) ? $.gi(words, "Controller not named") : _quote_words([named, words]));
return [_block(["title", $.gi(words, title_of([certificate]))]), _lines(["lead", [("" + $.formatted(who, "", "") + " \u00b7 " + $.formatted($.gi(words, "issued"), "", "") + " " + $.formatted(_format_moment([$.gi(identity, "issued"), words]), "", "")), $.gi(identity, "certificate_id")]])];
});
_first_page = $.fn("_first_page", ["words", "told", "*", "warning"], {}, function (words, told, warning) {
let guessing;
guessing = [$.gi(words, "Guessing is right 50 times in 100.")];
return [_block(["heading", $.gi(words, "In plain words")]), _lines([($.t(warning) ? "warning" : "box"), [...$.each($.gi(told, "plain")), ...$.each((function* ($first) { for (const $v5 of $.each($first)) { let one; one = $v5; if (!$.t(!$.has($.gi(told, "plain"), one))) continue; yield one; } })(guessing))]]), _block(["heading", $.gi(words, "What to do next")]), _lines(["list", $.gi(told, "duty")]), _block(["heading", $.gi(words, "For the person concerned")]), _lines(["list", $.gi(told, "notice")]), _block(["heading", $.gi(words, "Not covered")]), _lines(["list", $.gi(told, "uncovered")])];
});
_statement_blocks = $.fn("_statement_blocks", ["certificate", "words", "lines"], {}, function (certificate, words, lines) {
let counted, evidence, found, high, low, measured, place, remedy, result;
{const $v6 = [$.gi(certificate, "evidence"), $.b.list([lines])];evidence = $v6[0];found = $v6[1];}
if ($.t($.is($.gi(evidence, "checked"), null))) {
$.cm(found, "append", [$.gi(words, "no check of the store is recorded here")]);
} else {
$.cm(found, "append", [("" + $.formatted($.gi(words, "noted when it was issued"), "", "") + ": " + $.formatted(_quote_words([$.gi(evidence, "checked"), words]), "", ""))]);
}
for (const $v7 of $.each($.gi(evidence, "residue"))) {
place = $v7;
counted = ($.t($.gi(place, "found")) ? ("" + " (" + $.formatted($.gi(place, "found"), "", "") + " " + $.formatted($.gi(words, "of the texts looked for"), "", "") + ")") : "");
remedy = ($.t($.gi(place, "remedy")) ? ("" + ". " + $.formatted(_quote_words([$.gi(place, "remedy"), words]), "", "")) : "");
$.cm(found, "append", [("" + $.formatted(_quote_words([$.gi(place, "place"), words]), "", "") + ": " + $.formatted($.gi(words, $.gi(place, "verdict")), "", "") + $.formatted(counted, "", "") + $.formatted(remedy, "", ""))]);
}
for (const $v8 of $.each($.gi(evidence, "audit"))) {
result = $v8;
{const $v9 = [_format_number([$.gi(result, "measured_lower_bound"), words]), _format_number([$.gi(result, "claimed_advantage"), words])];low = $v9[0];high = $v9[1];}
measured = _fill_label([$.gi(words, "advantage measured at least {n}, compared with {n2}")], {"n": low, "n2": high});
$.cm(found, "append", [("" + $.formatted($.gi(words, "audit"), "", "") + " " + $.formatted(_quote_words([audit_name([$.gi(result, "name"), words]), words]), "", "") + ": " + $.formatted(measured, "", ""))]);
}
return [_block(["heading", $.gi(words, "In the operator's words, which nothing here checks")]), _lines(["stated", found])];
});
_request_blocks = $.fn("_request_blocks", ["certificate", "words"], {}, function (certificate, words) {
let action, edited, missing, received, request, rows, token, told;
{const $v10 = [$.gi(certificate, "request"), $.gi(certificate, "action")];request = $v10[0];action = $v10[1];}
edited = ("" + $.formatted(_format_moment([$.cm(request, "get", ["edited"]), words]), "", "") + ": " + $.formatted($.sub($.gi(request, "rows"), $.gi(request, "replaced")), "", "") + " " + $.formatted($.gi(words, "deleted"), "", ""));
if ($.t($.gi(request, "replaced"))) {
edited = ("" + $.formatted(edited, "", "") + ", " + $.formatted($.gi(request, "replaced"), "", "") + " " + $.formatted($.gi(words, "replaced (rectification)"), "", ""));
}
if ($.t($.gi(request, "inserted"))) {
edited = ("" + $.formatted(edited, "", "") + ", " + $.formatted($.gi(request, "inserted"), "", "") + " " + $.formatted($.gi(words, "inserted (nothing erased)"), "", ""));
}
received = $.cm(request, "get", ["received"]);
token = $.gi(request, "request_id");
missing = [_fill_label([$.gi(words, "not stated by the operator; state it with: {text}")], {"text": ""}), "noisygd-delete certificate --received TIME"];
rows = [[$.gi(words, "Request"), ($.t($.is(token, null)) ? $.gi(words, "no request id was given") : _quote_words([token, words]))], [$.gi(words, "Received"), ($.t($.is(received, null)) ? missing : _format_moment([received, words]))], [$.gi(words, "Rows edited"), edited], [$.gi(words, "Model without them published"), _format_moment([$.cm(request, "get", ["served"]), words])], [$.gi(words, "Status"), $.gi(words, $.gi(action, "status"))], [$.gi(words, "Release"), ($.t($.is($.gi(action, "release"), null)) ? $.gi(words, "none") : $.b.str([$.gi(action, "release")]))], [$.gi(words, "Model before"), $.either($.cm(action, "get", ["model_before_sha256"]), () => "\u2013")], [$.gi(words, "Model after"), $.either($.cm(action, "get", ["model_after_sha256"]), () => "\u2013")]];
told = [...(function* ($first) { for (const $v11 of $.each($first)) { let name, value; {const $v12 = $.unpack($v11, 2, -1);name = $v12[0];value = $v12[1];} yield [name, ($.t($.b.isinstance([value, $.b.str])) ? [value] : value)]; } })(rows)];
return [_block(["heading", $.gi(words, "Request and action")]), $.dict([["kind", "facts"], ["rows", told]])];
});
_table_blocks = $.fn("_table_blocks", ["claims", "words", "code"], {}, function (claims, words, code) {
let about, blocks, cells, claim, ever, first, found, group, head, only, question, rows, unit, values;
found = $.dict([]);
for (const $v13 of $.each(claims)) {
claim = $v13;
if ($.t($.eq($.ga($.gi(KEYS, $.gi(claim, "key")), "role"), "figure"))) {
$.cm($.cm(found, "setdefault", [$.gi($.gi(claim, "values"), "question"), []]), "append", [claim]);
}
}
blocks = [_block(["heading", $.gi(words, "Guarantees")])];
for (const $v14 of $.each($.cm(found, "items", []))) {
{const $v15 = $.unpack($v14, 2, -1);question = $v15[0];group = $v15[1];}
first = $.gi($.gi(group, 0n), "values");
head = [$.gi(words, "About"), $.gi(words, "right, of 100"), ("" + "\u03b5, \u03b4 = " + $.formatted(_format_number([$.gi(first, "delta"), words]), "", "")), ("" + "\u03bc, " + $.formatted($.gi(words, "Gaussian"), "", ""))];
if ($.t(!$.is($.gi(first, "order"), null))) {
$.cm(head, "append", [("" + $.formatted($.gi(words, "R\u00e9nyi"), "", "") + " \u03b5, q = " + $.formatted(_format_number([$.gi(first, "order"), words]), "", ""))]);
}
rows = [];
for (const $v16 of $.each(group)) {
claim = $v16;
values = $.gi(claim, "values");
cells = [$.b.str([$.gi(values, "of_hundred")]), _format_number([$.gi(values, "epsilon"), words]), _format_number([$.gi(values, "gdp"), words])];
if ($.t(!$.is($.gi(first, "order"), null))) {
$.cm(cells, "append", [_format_number([$.gi(values, "renyi"), words])]);
}
unit = _fill_label([$.gi(words, $.gi(UNITS, $.gi(values, "unit")))], {"text": $.gi(values, "worlds"), "n": $.b.str([$.gi(values, "rows_per_person")])});
only = $.cm("; ", "join", [(function* ($first) { for (const $v17 of $.each($first)) { let name; name = $v17; yield claim_sentence([Claim([name, $.dict([])]), code]); } })($.gi(claim, "conditions"))]);
about = ("" + $.formatted($.gi(words, $.gi(ABOUT, $.gi(claim, "key"))), "", "") + " (" + $.formatted(unit, "", "") + $.formatted(($.t(only) ? ("" + "; " + $.formatted(only, "", "")) : ""), "", "") + ")");
$.cm(rows, "append", [[about, ...$.each(cells)]]);
}
$.cm(blocks, "append", [$.dict([["kind", "table"], ["text", $.gi(words, $.gi(QUESTIONS, question))], ["head", head], ["rows", rows]])]);
}
ever = [...(function* ($first) { for (const $v18 of $.each($first)) { let one; one = $v18; if (!$.t($.eq($.ga($.gi(KEYS, $.gi(one, "key")), "role"), "odds"))) continue; yield Claim([$.gi(one, "key"), $.gi(one, "values"), $.b.tuple([$.gi(one, "conditions")])]); } })(claims)];
blocks = $.iadd(blocks, [...(function* ($first) { for (const $v19 of $.each($first)) { let claim; claim = $v19; yield _lines(["text", [claim_sentence([claim, code])]]); } })(ever)]);
$.cm(blocks, "append", [_lines(["text", [$.gi(words, "Every figure is an upper bound, rounded up; guessing is right 50 times of 100.")]])]);
return blocks;
});
_evidence_blocks = $.fn("_evidence_blocks", ["certificate", "words"], {}, function (certificate, words) {
let answers, entry, evidence, file, kept, lines, signed;
{const $v20 = [$.gi(certificate, "evidence"), $.cm(certificate, "get", ["signature"])];evidence = $v20[0];signed = $v20[1];}
lines = [];
if ($.t(!$.is($.gi(evidence, "ledger_entries"), null))) {
entry = _fill_label([$.gi(words, "issued after entry {n} of the ledger, link {text}")], {"n": $.b.str([$.gi(evidence, "ledger_entries")]), "text": $.slice($.gi(evidence, "ledger_sha256"), null, 16n, null)});
kept = $.gi(words, "Kept outside the store, the JSON file shows whether an older copy is put back:");
$.cm(lines, "append", [[("" + $.formatted(entry, "", "") + ". " + $.formatted(kept, "", "") + " "), "noisygd-delete verify STORE --certificate certificate.json"]]);
}
$.cm(lines, "append", [($.t($.is(signed, null)) ? $.gi(words, "not signed") : ("" + $.formatted($.gi(words, "signed with Ed25519 by key"), "", "") + " " + $.formatted($.gi(signed, "key_id"), "", "")))]);
file = $.gi(words, "The signed JSON file is the original; this page says its claims in sentences. To check it offline:");
$.cm(lines, "append", [[("" + $.formatted(file, "", "") + " "), "noisygd-delete verify-certificate certificate.json --public-key controller.pem.pub"]]);
answers = $.gi(words, "The facts of this page cannot be recomputed; whoever signed answers for them. Every figure and condition follows from them.");
return [_block(["heading", $.gi(words, "Stated by the operator")]), _lines(["text", [answers]]), _block(["heading", $.gi(words, "Evidence and verification")]), _lines(["list", lines])];
});
audit_name = $.fn("audit_name", ["name", "words"], {}, function (name, words) {
let parts;
parts = [...(function* ($first) { for (const $v21 of $.each($first)) { let part; part = $v21; yield $.cm(words, "get", [("" + "audit." + $.formatted(part, "", ""))]); } })($.cm(name, "split", [": "]))];
return ($.t($.has(parts, null)) ? name : $.cm(": ", "join", [$.b.map([$.b.str, parts])]));
});
_foot_text = $.fn("_foot_text", ["certificate", "words"], {}, function (certificate, words) {
let about, identity, known;
identity = $.gi(certificate, "identity");
known = $.gi(words, "the request id is a pseudonym: personal data for whoever can tell whose request it was");
about = [("" + $.formatted($.gi(identity, "software"), "", "") + " " + $.formatted($.gi(identity, "version"), "", "")), $.gi(certificate, "format"), $.gi(words, "holds no name, record number or row")];
return $.cm(" \u00b7 ", "join", [[...$.each(about), ...$.each(($.t($.cm($.gi(certificate, "request"), "get", ["request_id"])) ? [known] : []))]]);
});
_format_moment = $.fn("_format_moment", ["when", "words"], {}, function (when, words) {
let date, day, zone;
if ($.t($.is(when, null))) {
return "\u2013";
}
date = $.cm($.slice(when, null, 10n, null), "split", ["-"]);
day = _fill_label([$.gi(words, "day")], {"day": $.b.str([$.b.int([$.gi(date, 2n)])]), "month": $.gi($.gi(words, "months"), $.sub($.b.int([$.gi(date, 1n)]), 1n)), "year": $.gi(date, 0n)});
if ($.t($.le($.b.len([when]), 10n))) {
return day;
}
zone = $.slice(when, 19n, null, null);
return ("" + $.formatted(day, "", "") + ", " + $.formatted($.slice(when, 11n, 16n, null), "", "") + " UTC" + $.formatted(($.t($.has($.tuple(["+00:00", "Z"]), zone)) ? "" : zone), "", ""));
});
_format_number = $.fn("_format_number", ["value", "words"], {}, function (value, words) {
return $.cm(format_figure([($.t($.is(value, null)) ? null : $.b.float([value]))]), "replace", [".", $.gi(words, "decimal")]);
});
_quote_words = $.fn("_quote_words", ["text", "words"], {}, function (text, words) {
return _fill_label([$.gi(words, "\u201c{text}\u201d")], {"text": without_quotes([text])});
});
_fill_label = $.fn("_fill_label", ["label", "**values"], {}, function (label, values) {
return fill_entry([label, $.dict([]), values]);
});
return {QUESTIONS, ABOUT, UNITS, COMMANDS, TITLES, STATED, certificate_blocks, _block, _lines, _group_sentences, title_of, _head_blocks, _first_page, _statement_blocks, _request_blocks, _table_blocks, _evidence_blocks, audit_name, _foot_text, _format_moment, _format_number, _quote_words, _fill_label, page_labels, Any, claim_sentence, KEYS, Claim, Mapping, fill_entry, format_figure, without_quotes};
})();
$.modules["bounds.moments"] = (() => {
let moments_sensitivity, coordinates, moments_gdp;
const math = $.libraries["math"];
const UNIT = $.modules["bounds.arithmetic"]["UNIT"];
const inexact_gdp = $.modules["bounds.objective_perturbation"]["inexact_gdp"];
moments_sensitivity = $.fn("moments_sensitivity", ["*", "between_records", "rows"], {"rows": 1n}, function (between_records, rows) {
return $.mul($.mul(rows, ($.t(between_records) ? 2.0 : $.libraries["math"].sqrt([1.5]))), $.add(1n, $.mul(4n, UNIT)));
});
coordinates = $.fn("coordinates", ["*", "outputs", "features"], {}, function (outputs, features) {
return $.add($.mul(outputs, features), $.floordiv($.mul(features, $.add(features, 1n)), 2n));
});
moments_gdp = $.fn("moments_gdp", ["*", "sensitivity", "deviation", "coordinates", "grid"], {}, function (sensitivity, deviation, coordinates, grid) {
let spread;
spread = $.mul($.add($.div(sensitivity, deviation), $.mul(grid, $.libraries["math"].sqrt([coordinates]))), $.add(1n, $.mul(8n, UNIT)));
return inexact_gdp([], {"spread": spread, "output_noise": 1.0, "grid": grid});
});
return {moments_sensitivity, coordinates, moments_gdp, inexact_gdp, UNIT};
})();
$.modules["bounds.exact_steps"] = (() => {
let MOST_BITS, LEAST_BITS, _HEADROOM, _OUTSIDE, _SECOND_ORDER, _STEEPER, _UNUSUAL, iterate_radius, grid_bits, rounding_gap, exact_steps_gdp;
const math = $.libraries["math"];
const shifted_interpolation = $.modules["bounds.shifted_interpolation"];
const UNIT = $.modules["bounds.arithmetic"]["UNIT"];
const SMOOTHING = $.modules["bounds.objective_perturbation"]["SMOOTHING"];
{const $v1 = [24n, 12n];MOST_BITS = $v1[0];LEAST_BITS = $v1[1];}
_HEADROOM = 51n;
_OUTSIDE = 1.001;
_SECOND_ORDER = 1.01;
_STEEPER = $.mul(16n, UNIT);
_UNUSUAL = 37.0;
iterate_radius = $.fn("iterate_radius", ["*", "lipschitz", "regularization", "gap_at_zero", "dimension", "noise", "step_size", "strong_convexity"], {}, function (lipschitz, regularization, gap_at_zero, dimension, noise, step_size, strong_convexity) {
let contraction, far, spread;
far = $.b.min([$.div(lipschitz, regularization), $.libraries["math"].sqrt([$.div($.mul(2n, gap_at_zero), regularization)])]);
contraction = $.sub(1n, $.mul(step_size, strong_convexity));
spread = $.div($.mul($.add($.libraries["math"].sqrt([dimension]), _UNUSUAL), noise), $.libraries["math"].sqrt([$.sub(1n, $.pow(contraction, 2n))]));
return $.libraries["math"].ldexp([1.0, $.gi($.libraries["math"].frexp([$.add(far, spread)]), 1n)]);
});
grid_bits = $.fn("grid_bits", ["*", "radius", "lipschitz", "regularization", "step_size", "noise"], {}, function (radius, lipschitz, regularization, step_size, noise) {
let reach;
reach = $.add($.mul(_OUTSIDE, radius), $.mul(step_size, $.add(lipschitz, $.mul(regularization, radius))));
return $.b.min([MOST_BITS, $.sub(_HEADROOM, $.gi($.libraries["math"].frexp([$.div(reach, noise)]), 1n))]);
});
rounding_gap = $.fn("rounding_gap", ["*", "gradient_error", "step_size", "strong_convexity", "lipschitz", "regularization", "radius", "dimension", "grid"], {}, function (gradient_error, step_size, strong_convexity, lipschitz, regularization, radius, dimension, grid) {
let centre, contraction, outside, point, root, steepest;
{const $v2 = [$.mul(_OUTSIDE, radius), $.libraries["math"].sqrt([dimension])];outside = $v2[0];root = $v2[1];}
steepest = $.add(lipschitz, $.mul(regularization, outside));
centre = $.add($.mul(_SECOND_ORDER, $.add($.mul(step_size, gradient_error), $.mul(UNIT, $.add($.mul($.mul(3n, step_size), steepest), $.mul(2n, outside))))), $.div($.mul(grid, root), 2n));
point = $.mul($.mul($.mul(_SECOND_ORDER, $.add(dimension, 9n)), UNIT), outside);
contraction = $.add($.sub(1n, $.mul(step_size, strong_convexity)), _STEEPER);
return $.mul($.add($.mul(2n, $.add(centre, $.mul(contraction, point))), $.mul(grid, root)), $.add(1n, 1e-09));
});
exact_steps_gdp = $.fn("exact_steps_gdp", ["*", "sensitivity", "step_size", "strong_convexity", "noise", "grid", "records", "gap", "steps_with_record", "steps_without_record", "in_place", "apart"], {"steps_without_record": 0n, "in_place": true, "apart": 0.0}, function (sensitivity, step_size, strong_convexity, noise, grid, records, gap, steps_with_record, steps_without_record, in_place, apart) {
let chain, real, rounded, slower, started, variance;
if (($.t($.eq(steps_with_record, 0n)) && !$.t(apart) && ($.t(in_place) || !$.t(steps_without_record)))) {
return 0.0;
}
{const $v3 = [$.sub($.pow(noise, 2n), $.pow($.mul(SMOOTHING, grid), 2n)), $.sub(strong_convexity, $.div(_STEEPER, step_size))];variance = $v3[0];slower = $v3[1];}
if (!($.t($.lt(0n, variance)) && $.t($.lt(0n, slower)))) {
return $.libraries["math"].inf;
}
chain = $.dict([["step_size", step_size], ["strong_convexity", slower], ["noise_variance", $.div(variance, $.mul(2n, step_size))], ["records", records]]);
real = $.modules["bounds.shifted_interpolation"].gdp([], {"sensitivity": sensitivity, "steps_with_record": steps_with_record, "steps_without_record": steps_without_record, ...$.named(chain)});
rounded = $.modules["bounds.shifted_interpolation"].gdp([], {"sensitivity": $.div($.mul(gap, records), step_size), "steps_with_record": (($.t(in_place) || $.t(apart)) ? $.add(steps_with_record, steps_without_record) : $.libraries["math"].inf), ...$.named(chain)});
started = 0.0;
if ($.t(apart)) {
started = $.modules["bounds.shifted_interpolation"].minimiser_deletion_gdp([], {"steps": $.add(steps_with_record, steps_without_record), "gradient_tolerance": $.div($.mul(apart, slower), 2n), ...$.named(chain)});
}
return $.mul($.add($.add(real, rounded), started), $.add(1n, 1e-09));
});
return {MOST_BITS, LEAST_BITS, _HEADROOM, _OUTSIDE, _SECOND_ORDER, _STEEPER, _UNUSUAL, iterate_radius, grid_bits, rounding_gap, exact_steps_gdp, SMOOTHING, UNIT};
})();
$.modules["bounds.renyi"] = (() => {
let renyi_epsilon, renyi_log_delta, renyi_epsilon_optimal, renyi_log_delta_optimal, _SECOND_EVENT, _log_mass, _pair_epsilon, _log_r, _least_share, rate_epsilon, rate_log_delta, rate_for, zero_out_renyi, replace_renyi, _LEAST, _MOST, _infinite_if_nan, _best_order, curve_least, curve_epsilon, curve_log_delta;
const math = $.libraries["math"];
const LEAST_LOG = $.modules["bounds.arithmetic"]["LEAST_LOG"];
const MARGIN = $.modules["bounds.arithmetic"]["MARGIN"];
const UNIT = $.modules["bounds.arithmetic"]["UNIT"];
const best_order = $.modules["bounds.arithmetic"]["best_order"];
const golden_section_minimum = $.modules["bounds.arithmetic"]["golden_section_minimum"];
const log_down = $.modules["bounds.arithmetic"]["log_down"];
const sum_up = $.modules["bounds.arithmetic"]["sum_up"];
const log_sum = $.modules["bounds.tails"]["log_sum"];
const gammaln = $.libraries["scipy.special"]["gammaln"];
const logsumexp = $.libraries["scipy.special"]["logsumexp"];
renyi_epsilon = $.fn("renyi_epsilon", ["*", "order", "renyi", "delta"], {}, function (order, renyi, delta) {
let rest;
if ($.t($.eq(renyi, $.libraries["math"].inf))) {
return $.libraries["math"].inf;
}
rest = $.sub(order, 1n);
return $.b.max([0.0, sum_up([renyi, $.libraries["math"].log1p([$.div($.neg(1n), order)]), $.div($.neg($.libraries["math"].log([delta])), rest), $.div($.neg($.libraries["math"].log([order])), rest)])]);
});
renyi_log_delta = $.fn("renyi_log_delta", ["*", "order", "renyi", "epsilon"], {}, function (order, renyi, epsilon) {
let rest, value;
if ($.t($.eq(renyi, $.libraries["math"].inf))) {
return 0.0;
}
rest = $.sub(order, 1n);
value = sum_up([$.mul(rest, renyi), $.mul($.neg(rest), epsilon), $.mul(rest, $.libraries["math"].log1p([$.div($.neg(1n), order)])), $.neg($.libraries["math"].log([order]))]);
return $.b.max([LEAST_LOG, $.b.min([0.0, value])]);
});
renyi_epsilon_optimal = $.fn("renyi_epsilon_optimal", ["*", "order", "renyi", "delta"], {}, function (order, renyi, delta) {
let at, goal, plain, rest;
plain = renyi_epsilon([], {"order": order, "renyi": renyi, "delta": delta});
rest = $.sub(order, 1n);
if ($.t($.le(1n, $.mul(delta, order)))) {
plain = $.b.min([plain, $.b.max([0.0, sum_up([renyi, $.libraries["math"].log1p([$.neg(delta)])])])]);
}
if (($.t($.eq(plain, 0n)) || !$.t($.lt($.mul(rest, renyi), _SECOND_EVENT)))) {
return plain;
}
goal = $.add($.libraries["math"].log([order]), log_down([delta]));
at = $.fn("at", ["x"], {}, function (x) {
let log_r;
log_r = $.div(log_sum([$.mul(rest, $.libraries["math"].log([x])), $.sub(_log_mass([order, renyi, x]), goal)]), rest);
return _pair_epsilon([order, $.add(log_r, $.mul(MARGIN, $.add(1n, $.b.abs([log_r])))), x]);
});
return $.b.max([0.0, $.b.min([plain, _least_share([at])])]);
});
renyi_log_delta_optimal = $.fn("renyi_log_delta_optimal", ["*", "order", "renyi", "epsilon"], {}, function (order, renyi, epsilon) {
let at, certain, plain, rest;
plain = renyi_log_delta([], {"order": order, "renyi": renyi, "epsilon": epsilon});
rest = $.sub(order, 1n);
certain = $.neg($.libraries["math"].expm1([$.b.min([0.0, $.sub(epsilon, renyi)])]));
if ($.t($.le(1n, $.mul(certain, order)))) {
plain = $.b.min([plain, $.add($.mul($.libraries["math"].log([certain]), $.sub(1n, MARGIN)), $.mul(8n, UNIT))]);
}
if (!$.t($.lt($.mul(rest, renyi), _SECOND_EVENT))) {
return plain;
}
at = $.fn("at", ["x"], {}, function (x) {
let gap, low;
low = _log_r([order, epsilon, x]);
gap = $.neg($.libraries["math"].expm1([$.mul(rest, $.sub($.libraries["math"].log([x]), low))]));
if (!$.t($.lt(0n, gap))) {
return 0.0;
}
return $.add(sum_up([_log_mass([order, renyi, x]), $.neg($.libraries["math"].log([order])), $.mul($.neg(rest), low), $.neg($.libraries["math"].log([gap]))]), $.div(MARGIN, gap));
});
return $.b.max([LEAST_LOG, $.b.min([plain, _least_share([at])])]);
});
_SECOND_EVENT = 30.0;
_log_mass = $.fn("_log_mass", ["order", "renyi", "x"], {}, function (order, renyi, x) {
let mass, rest, second;
rest = $.sub(order, 1n);
second = $.add($.mul(order, $.pow(x, rest)), $.mul(rest, $.pow(x, order)));
mass = $.add($.libraries["math"].expm1([$.mul(rest, renyi)]), $.add($.sub(1n, $.mul(order, $.pow(x, rest))), $.mul(rest, $.pow(x, order))));
return $.libraries["math"].log([$.add($.b.max([0.0, mass]), $.mul($.mul(32n, UNIT), $.add($.libraries["math"].exp([$.mul(rest, renyi)]), second)))]);
});
_pair_epsilon = $.fn("_pair_epsilon", ["order", "log_r", "x"], {}, function (order, log_r, x) {
let denominator, numerator, ratio, rest;
{const $v1 = [$.sub(order, 1n), $.sub($.libraries["math"].log([x]), log_r)];rest = $v1[0];ratio = $v1[1];}
{const $v2 = [$.neg($.libraries["math"].expm1([$.mul(order, ratio)])), $.neg($.libraries["math"].expm1([$.mul(rest, ratio)]))];numerator = $v2[0];denominator = $v2[1];}
if (!$.t($.lt(0n, denominator))) {
return $.libraries["math"].inf;
}
return $.add(sum_up([$.libraries["math"].log1p([$.div($.neg(1n), order)]), log_r, $.libraries["math"].log([numerator]), $.neg($.libraries["math"].log([denominator]))]), MARGIN);
});
_log_r = $.fn("_log_r", ["order", "epsilon", "x"], {}, function (order, epsilon, x) {
let _, above, least_r, log_r, lowered, raised, ratio, rest, slope, step;
{const $v3 = [$.sub(order, 1n), $.libraries["math"].log([x])];rest = $v3[0];least_r = $v3[1];}
log_r = $.add(epsilon, $.libraries["math"].log([$.div(order, rest)]));
for (const $v4 of $.each($.b.range([40n]))) {
_ = $v4;
ratio = $.sub(least_r, log_r);
above = $.sub(_pair_epsilon([order, log_r, x]), epsilon);
if (!$.t((($v5, $v6, $v7) => $.lt($v5, $v6) && $.lt($v6, $v7))(0n, above, $.libraries["math"].inf))) {
break;
}
{const $v8 = [$.neg($.libraries["math"].expm1([$.mul(order, ratio)])), $.neg($.libraries["math"].expm1([$.mul(rest, ratio)]))];raised = $v8[0];lowered = $v8[1];}
slope = $.sub($.add(1n, $.div($.mul(order, $.libraries["math"].exp([$.mul(order, ratio)])), raised)), $.div($.mul(rest, $.libraries["math"].exp([$.mul(rest, ratio)])), lowered));
step = $.div(above, $.b.max([0.5, $.b.min([1.0, slope])]));
if ($.t($.le(step, $.mul($.mul(4n, UNIT), $.b.abs([log_r]))))) {
break;
}
log_r = $.isub(log_r, step);
}
step = $.b.max([$.mul(UNIT, $.b.abs([log_r])), $.pow(UNIT, 2n)]);
while (($.t($.lt(least_r, log_r)) && $.t($.lt(epsilon, _pair_epsilon([order, log_r, x]))))) {
{const $v9 = [$.sub(log_r, step), $.mul(2n, step)];log_r = $v9[0];step = $v9[1];}
}
return $.b.max([log_r, least_r]);
});
_least_share = $.fn("_least_share", ["objective"], {}, function (objective) {
let best, grid, values;
grid = $.tuple([0.001, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 0.9999]);
values = [...(function* ($first) { for (const $v10 of $.each($first)) { let x; x = $v10; yield objective([x]); } })(grid)];
best = $.b.min([$.b.range([1n, $.sub($.b.len([grid]), 1n)])], {"key": $.ga(values, "__getitem__")});
return $.b.min([...$.each(values), golden_section_minimum([objective, $.gi(grid, $.sub(best, 1n)), $.gi(grid, $.add(best, 1n)), 20n])]);
});
rate_epsilon = $.fn("rate_epsilon", ["*", "rate", "delta", "way"], {"way": renyi_epsilon_optimal}, function (rate, delta, way) {
let at, centre, order;
if (($.t($.eq(rate, 0n)) || $.t($.le(1n, delta)))) {
return 0.0;
}
if (($.t($.le(delta, 0n)) || $.t($.eq(rate, $.libraries["math"].inf)))) {
return $.libraries["math"].inf;
}
at = $.fn("at", ["order"], {}, function (order) {
return way([], {"order": order, "renyi": $.mul(order, rate), "delta": delta});
});
if ($.t(!$.is(way, renyi_epsilon_optimal))) {
return at([best_order([at])]);
}
order = best_order([$.fn("<lambda>", ["order"], {}, (order) => renyi_epsilon([], {"order": order, "renyi": $.mul(order, rate), "delta": delta}))]);
centre = $.libraries["math"].log([$.sub(order, 1n)]);
return $.b.min([at([order]), golden_section_minimum([$.fn("<lambda>", ["point"], {}, (point) => at([$.add(1n, $.libraries["math"].exp([point]))])), $.sub(centre, 3n), $.add(centre, 1n), 20n])]);
});
rate_log_delta = $.fn("rate_log_delta", ["*", "rate", "epsilon"], {}, function (rate, epsilon) {
let centre, optimal, order, plain;
if ($.t($.eq(rate, 0n))) {
return $.neg($.libraries["math"].inf);
}
if ($.t($.eq(rate, $.libraries["math"].inf))) {
return 0.0;
}
plain = $.fn("plain", ["order"], {}, function (order) {
return renyi_log_delta([], {"order": order, "renyi": $.mul(order, rate), "epsilon": epsilon});
});
optimal = $.fn("optimal", ["point"], {}, function (point) {
let order;
order = $.add(1n, $.libraries["math"].exp([point]));
return renyi_log_delta_optimal([], {"order": order, "renyi": $.mul(order, rate), "epsilon": epsilon});
});
order = best_order([plain]);
centre = $.libraries["math"].log([$.sub(order, 1n)]);
return $.b.min([plain([order]), golden_section_minimum([optimal, $.sub(centre, 3n), $.add(centre, 1n), 20n])]);
});
rate_for = $.fn("rate_for", ["*", "epsilon", "delta"], {}, function (epsilon, delta) {
let negative, order, rate;
negative = $.fn("negative", ["order"], {}, function (order) {
let rest, terms;
rest = $.sub(order, 1n);
terms = $.tuple([$.neg(epsilon), $.libraries["math"].log1p([$.div($.neg(1n), order)]), $.div($.neg($.libraries["math"].log([delta])), rest), $.div($.neg($.libraries["math"].log([order])), rest)]);
return $.div(sum_up([...$.each(terms)]), order);
});
order = best_order([negative]);
rate = $.mul($.neg(negative([order])), $.sub(1n, 1e-13));
while (($.t($.lt(0n, rate)) && $.t($.lt(epsilon, renyi_epsilon([], {"order": order, "renyi": $.mul(order, rate), "delta": delta}))))) {
rate = $.imul(rate, $.sub(1n, 1e-12));
}
return $.tuple([rate, order]);
});
zero_out_renyi = $.fn("zero_out_renyi", ["*", "order", "sampling_rate", "noise_multiplier", "steps"], {}, function (order, sampling_rate, noise_multiplier, steps) {
let choose, growth, k, terms;
k = $.libraries["numpy"].arange([$.add(order, 1n)]);
growth = $.div($.sub($.mul(k, k), k), $.mul(2n, $.pow(noise_multiplier, 2n)));
if ($.t($.eq(sampling_rate, 1n))) {
return $.b.float([$.mul($.div($.mul(steps, $.gi(growth, $.neg(1n))), $.sub(order, 1n)), $.add(1n, MARGIN))]);
}
choose = $.sub($.sub(gammaln([$.add(order, 1n)]), gammaln([$.add(k, 1n)])), gammaln([$.add($.sub(order, k), 1n)]));
terms = $.add($.add($.add(choose, $.mul($.sub(order, k), $.libraries["numpy"].log1p([$.neg(sampling_rate)]))), $.mul(k, $.libraries["numpy"].log([sampling_rate]))), growth);
return $.b.max([0.0, $.div($.mul(steps, $.add($.mul($.b.float([logsumexp([terms])]), $.add(1n, MARGIN)), $.mul(1e-13, order))), $.sub(order, 1n))]);
});
replace_renyi = $.fn("replace_renyi", ["*", "order", "sampling_rate", "noise_multiplier", "steps"], {}, function (order, sampling_rate, noise_multiplier, steps) {
let away, sampling, towards;
sampling = $.dict([["sampling_rate", sampling_rate], ["noise_multiplier", noise_multiplier], ["steps", steps]]);
towards = zero_out_renyi([], {"order": $.mul(2n, order), ...$.named(sampling)});
away = zero_out_renyi([], {"order": $.sub($.mul(2n, order), 1n), ...$.named(sampling)});
return $.add($.mul($.div($.sub(order, 0.5), $.sub(order, 1n)), towards), away);
});
{const $v11 = [0.001, 1000000000.0];_LEAST = $v11[0];_MOST = $v11[1];}
_infinite_if_nan = $.fn("_infinite_if_nan", ["renyi"], {}, function (renyi) {
let at;
at = $.fn("at", ["order"], {}, function (order) {
let cost;
cost = renyi([order]);
return ($.t($.lt(cost, $.libraries["math"].inf)) ? cost : $.libraries["math"].inf);
});
return at;
});
_best_order = $.fn("_best_order", ["objective", "highest_order", "rounds"], {"rounds": 36n}, function (objective, highest_order, rounds) {
let high;
high = $.b.min([_MOST, $.mul($.b.max([$.sub(highest_order, 1n), 1e-12]), $.sub(1n, 1e-09))]);
return $.tuple([best_order([objective], {"low": $.b.min([_LEAST, $.div(high, 1000.0)]), "high": high, "rounds": rounds}), $.libraries["math"].log([high])]);
});
curve_least = $.fn("curve_least", ["objective", "*", "highest_order"], {}, function (objective, highest_order) {
return objective([$.gi(_best_order([objective, highest_order]), 0n)]);
});
curve_epsilon = $.fn("curve_epsilon", ["*", "renyi", "highest_order", "delta"], {}, function (renyi, highest_order, delta) {
let centre, most, optimal, order, plain;
if ($.t($.le(1n, delta))) {
return 0.0;
}
if ($.t($.le(delta, 0n))) {
return $.libraries["math"].inf;
}
renyi = _infinite_if_nan([renyi]);
{const $v12 = $.unpack(_best_order([$.fn("<lambda>", ["q"], {}, (q) => renyi_epsilon([], {"order": q, "renyi": renyi([q]), "delta": delta})), highest_order]), 2, -1);order = $v12[0];most = $v12[1];}
if ($.t($.eq(renyi([order]), $.libraries["math"].inf))) {
return $.libraries["math"].inf;
}
optimal = $.fn("optimal", ["point"], {}, function (point) {
let q;
q = $.add(1n, $.libraries["math"].exp([$.b.min([point, most])]));
return ($.t($.lt(renyi([q]), $.libraries["math"].inf)) ? renyi_epsilon_optimal([], {"order": q, "renyi": renyi([q]), "delta": delta}) : $.libraries["math"].inf);
});
centre = $.libraries["math"].log([$.sub(order, 1n)]);
plain = renyi_epsilon([], {"order": order, "renyi": renyi([order]), "delta": delta});
return $.b.min([plain, optimal([centre]), golden_section_minimum([optimal, $.sub(centre, 2n), $.add(centre, 0.5), 20n])]);
});
curve_log_delta = $.fn("curve_log_delta", ["*", "renyi", "highest_order", "epsilon"], {}, function (renyi, highest_order, epsilon) {
let centre, most, optimal, order, plain;
renyi = _infinite_if_nan([renyi]);
{const $v13 = $.unpack(_best_order([$.fn("<lambda>", ["q"], {}, (q) => renyi_log_delta([], {"order": q, "renyi": renyi([q]), "epsilon": epsilon})), highest_order]), 2, -1);order = $v13[0];most = $v13[1];}
if ($.t($.eq(renyi([order]), $.libraries["math"].inf))) {
return 0.0;
}
optimal = $.fn("optimal", ["point"], {}, function (point) {
let q;
q = $.add(1n, $.libraries["math"].exp([$.b.min([point, most])]));
return ($.t($.lt(renyi([q]), $.libraries["math"].inf)) ? renyi_log_delta_optimal([], {"order": q, "renyi": renyi([q]), "epsilon": epsilon}) : 0.0);
});
centre = $.libraries["math"].log([$.sub(order, 1n)]);
plain = renyi_log_delta([], {"order": order, "renyi": renyi([order]), "epsilon": epsilon});
return $.b.min([plain, optimal([centre]), golden_section_minimum([optimal, $.sub(centre, 2n), $.add(centre, 0.5), 20n])]);
});
return {renyi_epsilon, renyi_log_delta, renyi_epsilon_optimal, renyi_log_delta_optimal, _SECOND_EVENT, _log_mass, _pair_epsilon, _log_r, _least_share, rate_epsilon, rate_log_delta, rate_for, zero_out_renyi, replace_renyi, _LEAST, _MOST, _infinite_if_nan, _best_order, curve_least, curve_epsilon, curve_log_delta, MARGIN, log_sum, log_down, sum_up, golden_section_minimum, UNIT, logsumexp, gammaln, best_order, LEAST_LOG};
})();
$.modules["store.entry"] = (() => {
let COUNTED_BY, _LONGEST, _NUMBER, _FORMS, _Snapshot, check_position, position_covers;
const re = $.libraries["re"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const datetime = $.libraries["datetime"]["datetime"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
COUNTED_BY = $.tuple(["trigger", "versions", "file"]);
_LONGEST = 10000n;
_NUMBER = "(0|[1-9]\\d{0,19})";
_FORMS = $.dict([["transaction", $.libraries["re"].compile([_NUMBER])], ["snapshot", $.libraries["re"].compile([("" + $.formatted(_NUMBER, "", "") + ":" + $.formatted(_NUMBER, "", "") + ":(" + $.formatted(_NUMBER, "", "") + "(," + $.formatted(_NUMBER, "", "") + ")*)?")])], ["version", $.libraries["re"].compile([_NUMBER])], ["time", $.libraries["re"].compile(["\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{6})?\\+00:00"])]]);
_Snapshot = $.dataclass($.cls("_Snapshot", [], ($ns) => {
$ns.of = $.classmethod($.fn("of", ["cls", "text"], {}, function (cls, text) {
let end, first, under_way;
{const $v1 = $.unpack($.cm(text, "split", [":"]), 3, -1);first = $v1[0];end = $v1[1];under_way = $v1[2];}
return cls([$.b.int([first]), $.b.int([end]), $.b.frozenset([$.b.map([$.b.int, $.b.filter([null, $.cm(under_way, "split", [","])])])])]);
}));
$ns.sees = $.fn("sees", ["self", "transaction"], {}, function (self, transaction) {
return $.either($.lt(transaction, $.ga(self, "first")), () => $.both($.lt(transaction, $.ga(self, "end")), () => !$.has($.ga(self, "open"), transaction)));
});
$ns.sees_all_of = $.fn("sees_all_of", ["self", "other"], {}, function (self, other) {
let unseen;
unseen = [...(function* ($first) { for (const $v2 of $.each($first)) { let number; number = $v2; if (!($.t($.lt(number, $.ga(other, "end"))) && $.t($.cm(other, "sees", [number])))) continue; yield number; } })($.ga(self, "open"))];
return $.both($.le($.ga(other, "end"), $.ga(self, "end")), () => !$.t(unseen));
});
}), [["first", () => ["is", $.b.int]], ["end", () => ["is", $.b.int]], ["open", () => ["parts", $.b.frozenset, ["is", $.b.int]]]], {frozen: true});
check_position = $.fn("check_position", ["text"], {}, function (text) {
let _, kind, rest;
{const $v3 = $.unpack((($.t($.b.isinstance([text, $.b.str])) && $.t($.le($.b.len([text]), _LONGEST))) ? $.cm(text, "partition", [":"]) : $.tuple(["", "", ""])), 3, -1);kind = $v3[0];_ = $v3[1];rest = $v3[2];}
if (($.t(!$.has(_FORMS, kind)) || !$.t($.cm($.gi(_FORMS, kind), "fullmatch", [rest])))) {
throw $.raised(InvalidParameter(["a position in a source is written as transaction:734, snapshot:734:740:735, version:12 or time:2026-11-22T05:45:00+00:00"]));
}
if ($.t($.eq(kind, "time"))) {
try {
$.cm(datetime, "fromisoformat", [rest]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.b.ValueError)) {
throw $.raised(InvalidParameter(["a position in a source names a time that does not exist"]));
} else throw $caught;
}
}
return text;
});
position_covers = $.fn("position_covers", ["read", "changed"], {}, function (read, changed) {
let _, kind, made, other, seen;
{const $v4 = [$.cm(check_position([read]), "partition", [":"]), $.cm(check_position([changed]), "partition", [":"])];{const $v5 = $.unpack($v4[0], 3, -1);kind = $v5[0];_ = $v5[1];seen = $v5[2];}{const $v6 = $.unpack($v4[1], 3, -1);other = $v6[0];_ = $v6[1];made = $v6[2];}}
if ($.t($.eq(kind, "snapshot"))) {
if ($.t($.eq(other, "transaction"))) {
return $.cm($.cm(_Snapshot, "of", [seen]), "sees", [$.b.int([made])]);
}
return $.both($.eq(other, "snapshot"), () => $.cm($.cm(_Snapshot, "of", [seen]), "sees_all_of", [$.cm(_Snapshot, "of", [made])]));
}
if (($.t(!$.eq(kind, other)) || $.t($.eq(kind, "transaction")))) {
return false;
}
if ($.t($.eq(kind, "version"))) {
return $.le($.b.int([made]), $.b.int([seen]));
}
return $.le($.cm(datetime, "fromisoformat", [made]), $.cm(datetime, "fromisoformat", [seen]));
});
return {COUNTED_BY, _LONGEST, _NUMBER, _FORMS, _Snapshot, check_position, position_covers, datetime, InvalidParameter};
})();
$.modules["losses.multilayer_perceptron"] = (() => {
let MOST_HIDDEN, MultilayerPerceptron;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const check_count = $.modules["errors"]["check_count"];
const check_scale = $.modules["errors"]["check_scale"];
const MOST_CLASSES = $.modules["losses.base"]["MOST_CLASSES"];
const Loss = $.modules["losses.base"]["Loss"];
const LossConstants = $.modules["losses.base"]["LossConstants"];
const Logistic = $.modules["losses.logistic"]["Logistic"];
const Softmax = $.modules["losses.softmax"]["Softmax"];
MOST_HIDDEN = 100000n;
MultilayerPerceptron = $.dataclass($.cls("MultilayerPerceptron", [Loss], ($ns) => {
$ns.classes = 2n;
$ns.hidden = 64n;
$ns.clip = 1.0;
$ns.curvature = 1.0;
$ns.name = "multilayer-perceptron";
$ns.label_kind = "";
$ns.clips_each = true;
$ns.twice_differentiable = false;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name;
$.sup(MultilayerPerceptron, self, "__post_init__")([]);
$.cm($.b.object, "__setattr__", [self, "classes", check_count(["classes", $.ga(self, "classes")], {"minimum": 2n, "maximum": MOST_CLASSES})]);
$.cm($.b.object, "__setattr__", [self, "hidden", check_count(["hidden", $.ga(self, "hidden")], {"maximum": MOST_HIDDEN})]);
for (const $v1 of $.each($.tuple(["clip", "curvature"]))) {
name = $v1;
$.cm($.b.object, "__setattr__", [self, name, check_scale([name, $.b.getattr([self, name])])]);
}
$.cm($.b.object, "__setattr__", [self, "label_kind", $.ga($.ga(self, "top"), "label_kind")]);
return null;
});
$ns.top = $.property($.fn("top", ["self"], {}, function (self) {
return ($.t($.eq($.ga(self, "classes"), 2n)) ? Logistic([$.ga(self, "radius")]) : Softmax([$.ga(self, "radius"), $.ga(self, "classes")]));
}));
$ns.outputs = $.property($.fn("outputs", ["self"], {}, function (self) {
return $.ga($.ga(self, "top"), "outputs");
}));
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {
return LossConstants([], {"lipschitz": $.ga(self, "clip"), "smoothness": $.ga(self, "curvature"), "weak_convexity": $.libraries["math"].inf, "proven": true});
}));
$ns.init_variance = $.property($.fn("init_variance", ["self"], {}, function (self) {
return $.div(0.8, $.libraries["math"].sqrt([$.ga(self, "hidden")]));
}));
$ns.dimension = $.fn("dimension", ["self", "features"], {}, function (self, features) {
return $.mul($.ga(self, "hidden"), $.add(features, $.ga(self, "outputs")));
});
$ns.shape = $.fn("shape", ["self", "features"], {}, function (self, features) {
return $.tuple([1n, $.cm(self, "dimension", [features])]);
});
$ns._layers = $.fn("_layers", ["self", "weights"], {}, function (self, weights) {
let flat, inner;
flat = $.cm($.libraries["numpy"].asarray([weights]), "reshape", [$.neg(1n)]);
inner = $.sub($.gi($.ga(flat, "shape"), 0n), $.mul($.ga(self, "hidden"), $.ga(self, "outputs")));
return $.tuple([$.cm($.slice(flat, null, inner, null), "reshape", [$.ga(self, "hidden"), $.neg(1n)]), $.cm($.slice(flat, inner, null, null), "reshape", [$.ga(self, "outputs"), $.ga(self, "hidden")])]);
});
$ns.width = $.fn("width", ["self", "features"], {}, function (self, features) {
return $.ga(self, "hidden");
});
$ns.representation = $.fn("representation", ["self", "weights", "features"], {}, function (self, weights, features) {
let _, inner;
{const $v2 = $.unpack($.cm(self, "_layers", [weights]), 2, -1);inner = $v2[0];_ = $v2[1];}
return $.libraries["numpy"].tanh([$.matmul($.libraries["numpy"].asarray([features, $.libraries["numpy"].float64]), $.ga(inner, "T"))]);
});
}), [["classes", () => ["is", $.b.int]], ["hidden", () => ["is", $.b.int]], ["clip", () => ["is", $.b.float]], ["curvature", () => ["is", $.b.float]]], {frozen: true});
return {MOST_HIDDEN, MultilayerPerceptron, ClassVar, Loss, check_scale, check_count, MOST_CLASSES, LossConstants, Softmax, Logistic};
})();
$.modules["losses.staged"] = (() => {
let NETWORK, HEAD, STAGE_KINDS, StagedLoss;
const dataclass = $.libraries["dataclasses"]["dataclass"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const AssumptionViolated = $.modules["errors"]["AssumptionViolated"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_choice = $.modules["errors"]["check_choice"];
const Loss = $.modules["losses.base"]["Loss"];
const Logistic = $.modules["losses.logistic"]["Logistic"];
const Softmax = $.modules["losses.softmax"]["Softmax"];
{const $v1 = ["network", "head"];NETWORK = $v1[0];HEAD = $v1[1];}
STAGE_KINDS = $.tuple([NETWORK, HEAD]);
StagedLoss = $.dataclass($.cls("StagedLoss", [Loss], ($ns) => {
$ns.network = null;
$ns.kinds = $.tuple([NETWORK]);
$ns.name = "staged";
$ns.label_kind = "";
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let kind;
$.sup(StagedLoss, self, "__post_init__")([]);
for (const $v2 of $.each($.ga(self, "kinds"))) {
kind = $v2;
check_choice(["stage", kind, STAGE_KINDS]);
}
if ((!$.t($.ga(self, "kinds")) || $.t(!$.eq($.gi($.ga(self, "kinds"), 0n), NETWORK)))) {
throw $.raised(InvalidParameter([("" + "must begin with " + $.formatted(NETWORK, "r", "") + "; a head reads what a network computes")], {"stages": $.ga(self, "kinds")}));
}
if (($.t($.has($.ga(self, "kinds"), HEAD)) && !$.t($.b.hasattr([$.ga(self, "network"), "representation"])))) {
throw $.raised(AssumptionViolated([("" + "the " + $.formatted($.ga($.ga(self, "network"), "name"), "", "") + " loss has no hidden layer that a head could read; take losses.MultilayerPerceptron, or stages of kind 'network' alone")]));
}
$.cm($.b.object, "__setattr__", [self, "label_kind", $.ga($.ga(self, "network"), "label_kind")]);
return null;
});
$ns.last = $.property($.fn("last", ["self"], {}, function (self) {
return $.cm(self, "loss_of", [$.sub($.b.len([$.ga(self, "kinds")]), 1n)]);
}));
$ns.outputs = $.property($.fn("outputs", ["self"], {}, function (self) {
return $.ga($.ga(self, "last"), "outputs");
}));
$ns.constants = $.property($.fn("constants", ["self"], {}, function (self) {
return $.ga($.ga(self, "last"), "constants");
}));
$ns.loss_of = $.fn("loss_of", ["self", "stage"], {}, function (self, stage) {
let network;
network = $.ga(self, "network");
if ($.t($.eq($.gi($.ga(self, "kinds"), stage), NETWORK))) {
return network;
}
return ($.t($.eq($.ga(self, "label_kind"), "binary")) ? Logistic([$.ga(self, "radius")]) : Softmax([$.ga(self, "radius"), $.ga(network, "outputs")]));
});
$ns.features_of = $.fn("features_of", ["self", "stage", "features"], {}, function (self, stage, features) {
return $.add(features, ($.t($.eq($.gi($.ga(self, "kinds"), stage), NETWORK)) ? 0n : $.b.int([$.cm($.ga(self, "network"), "width", [features])])));
});
$ns.shapes = $.fn("shapes", ["self", "features"], {}, function (self, features) {
return [...(function* ($first) { for (const $v3 of $.each($first)) { let j; j = $v3; yield $.cm($.cm(self, "loss_of", [j]), "shape", [$.cm(self, "features_of", [j, features])]); } })($.b.range([$.b.len([$.ga(self, "kinds")])]))];
});
$ns.dimension = $.fn("dimension", ["self", "features"], {}, function (self, features) {
return $.b.sum([(function* ($first) { for (const $v4 of $.each($first)) { let columns, outputs; {const $v5 = $.unpack($v4, 2, -1);outputs = $v5[0];columns = $v5[1];} yield $.mul(outputs, columns); } })($.cm(self, "shapes", [features]))]);
});
$ns.shape = $.fn("shape", ["self", "features"], {}, function (self, features) {
return $.tuple([1n, $.cm(self, "dimension", [features])]);
});
$ns.parts = $.fn("parts", ["self", "weights", "features"], {}, function (self, weights, features) {
let cut, ends, shapes;
shapes = $.cm(self, "shapes", [features]);
ends = $.slice($.libraries["numpy"].cumsum([[...(function* ($first) { for (const $v6 of $.each($first)) { let columns, outputs; {const $v7 = $.unpack($v6, 2, -1);outputs = $v7[0];columns = $v7[1];} yield $.mul(outputs, columns); } })(shapes)]]), null, $.neg(1n), null);
cut = $.libraries["numpy"].split([$.cm($.libraries["numpy"].asarray([weights]), "reshape", [$.neg(1n)]), ends]);
return [...(function* ($first) { for (const $v8 of $.each($first)) { let part, shape; {const $v9 = $.unpack($v8, 2, -1);part = $v9[0];shape = $v9[1];} yield $.cm(part, "reshape", [shape]); } })($.b.zip([cut, shapes], {"strict": true}))];
});
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.dict([["name", $.ga(self, "name")], ["network", $.cm($.ga(self, "network"), "to_dict", [])], ["kinds", $.b.list([$.ga(self, "kinds")])]]);
});
}), [["network", () => ["is", Any]], ["kinds", () => ["of", $.b.tuple, ["is", $.b.str]]]], {frozen: true});
return {NETWORK, HEAD, STAGE_KINDS, StagedLoss, ClassVar, Any, Loss, AssumptionViolated, InvalidParameter, check_choice, Softmax, Logistic};
})();
$.modules["privacy.guarantee"] = (() => {
let ONE_DIRECTION, SEVERAL_DIRECTIONS, WEAKLY_CONVEX, _COSTS, FORMS, MOST, Curve, merge_curves, Worlds, ADJACENCIES, DELETION_NOTIONS, LEAST_DELTA, LARGEST_DELTA, NON_ADAPTIVE, FIXED_TARGET, FIXED_RECORD, check_delta, Guarantee;
const math = $.libraries["math"];
const Callable = $.libraries["collections.abc"]["Callable"];
const asdict = $.libraries["dataclasses"]["asdict"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const replace = $.libraries["dataclasses"]["replace"];
const adaptive = $.modules["bounds.adaptive"];
const arithmetic = $.modules["bounds.arithmetic"];
const gaussian = $.modules["bounds.gaussian"];
const renyi = $.modules["bounds.renyi"];
const bounds = $.modules["bounds.objective_perturbation"];
const UNIT = $.modules["bounds.arithmetic"]["UNIT"];
const sum_up = $.modules["bounds.arithmetic"]["sum_up"];
const curve_epsilon = $.modules["bounds.renyi"]["curve_epsilon"];
const curve_least = $.modules["bounds.renyi"]["curve_least"];
const curve_log_delta = $.modules["bounds.renyi"]["curve_log_delta"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const Word = $.modules["errors"]["Word"];
const check_bound = $.modules["errors"]["check_bound"];
const check_choice = $.modules["errors"]["check_choice"];
const check_count = $.modules["errors"]["check_count"];
const check_probability = $.modules["errors"]["check_probability"];
const non_negative = $.modules["errors"]["non_negative"];
const renyi_order = $.modules["errors"]["renyi_order"];
ONE_DIRECTION = "one direction";
SEVERAL_DIRECTIONS = "several directions";
WEAKLY_CONVEX = "weakly convex";
_COSTS = $.dict([[$.tuple([ONE_DIRECTION, false]), $.modules["bounds.objective_perturbation"].zero_out_hessian], [$.tuple([ONE_DIRECTION, true]), $.modules["bounds.objective_perturbation"].replace_hessian], [$.tuple([SEVERAL_DIRECTIONS, false]), $.modules["bounds.objective_perturbation"].several_zero_out_hessian], [$.tuple([SEVERAL_DIRECTIONS, true]), $.modules["bounds.objective_perturbation"].several_replace_hessian], [$.tuple([WEAKLY_CONVEX, false]), $.modules["bounds.objective_perturbation"].weakly_convex_zero_out_hessian], [$.tuple([WEAKLY_CONVEX, true]), $.modules["bounds.objective_perturbation"].weakly_convex_replace_hessian]]);
FORMS = $.b.tuple([$.cm($.b.dict, "fromkeys", [(function* ($first) { for (const $v1 of $.each($first)) { let _, form; {const $v2 = $.unpack($v1, 2, -1);form = $v2[0];_ = $v2[1];} yield form; } })(_COSTS)])]);
MOST = 64n;
Curve = $.dataclass($.cls("Curve", [], ($ns) => {
$ns.below = 0.0;
$ns.rows = 1n;
$ns.blocks = 1n;
$ns.gdp_squared = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let weakly;
check_bound(["rate", $.ga(self, "rate")]);
check_choice(["form", $.ga(self, "form"), FORMS]);
non_negative(["ratio", $.ga(self, "ratio")]);
non_negative(["below", $.ga(self, "below")]);
check_count(["rows", $.ga(self, "rows")]);
check_count(["blocks", $.ga(self, "blocks")]);
if ($.t(!$.is($.ga(self, "gdp_squared"), null))) {
check_bound(["gdp_squared", $.ga(self, "gdp_squared")]);
}
weakly = $.eq($.ga(self, "form"), WEAKLY_CONVEX);
if ((($.t($.lt(0n, $.ga(self, "below"))) && !$.t(weakly)) || ($.t(weakly) && $.t($.lt(1n, $.ga(self, "rows")))))) {
throw $.raised(InvalidParameter([("" + "a curve of form " + $.formatted($.ga(self, "form"), "r", "") + " has no below=" + $.formatted($.ga(self, "below"), "", ("" + "g")) + " with rows=" + $.formatted($.ga(self, "rows"), "", "") + ": negative curvature is covered for one row of a weakly convex loss")]));
}
return null;
});
$ns.highest_order = $.property($.fn("highest_order", ["self"], {}, function (self) {
return $.modules["bounds.objective_perturbation"].highest_order([], {"ratio": $.ga(self, "ratio"), "rows": $.ga(self, "rows"), "below": $.ga(self, "below")});
}));
$ns.hessian = $.fn("hessian", ["self", "order"], {}, function (self, order) {
let cost, facts;
facts = ($.t($.eq($.ga(self, "form"), WEAKLY_CONVEX)) ? $.dict([["below", $.ga(self, "below")]]) : $.dict([["rows", $.ga(self, "rows")]]));
cost = $.gi(_COSTS, $.tuple([$.ga(self, "form"), $.ga(self, "between_records")]))([], {"order": order, "ratio": $.ga(self, "ratio"), ...$.named(facts)});
return $.mul($.mul($.ga(self, "blocks"), cost), $.add(1n, $.mul(4n, UNIT)));
});
$ns.renyi = $.fn("renyi", ["self", "order"], {}, function (self, order) {
let hessian, tilted;
hessian = $.cm(self, "hessian", [order]);
tilted = ($.t($.eq(hessian, $.libraries["math"].inf)) ? $.libraries["math"].inf : sum_up([$.mul(order, $.ga(self, "rate")), hessian]));
return ($.t($.is($.ga(self, "gdp_squared"), null)) ? tilted : $.b.min([tilted, $.mul($.div($.mul(order, $.ga(self, "gdp_squared")), 2n), $.add(1n, $.mul(4n, UNIT)))]));
});
}), [["rate", () => ["is", $.b.float]], ["form", () => ["is", $.b.str]], ["between_records", () => ["is", $.b.bool]], ["ratio", () => ["is", $.b.float]], ["below", () => ["is", $.b.float]], ["rows", () => ["is", $.b.int]], ["blocks", () => ["is", $.b.int]], ["gdp_squared", () => ["or", ["is", $.b.float], ["none"]]]], {frozen: true, kw_only: true});
merge_curves = $.fn("merge_curves", ["curves"], {}, function (curves) {
let alike, curve, kinds, known, mean, merged, number, squares, times, whole;
if ($.t($.le($.b.len([curves]), MOST))) {
return curves;
}
kinds = $.dict([]);
for (const $v3 of $.each($.cm(curves, "items", []))) {
{const $v4 = $.unpack($v3, 2, -1);curve = $v4[0];times = $v4[1];}
$.cm($.cm(kinds, "setdefault", [$.tuple([$.ga(curve, "form"), $.ga(curve, "between_records"), $.ga(curve, "rows"), $.ga(curve, "blocks")]), []]), "append", [$.tuple([curve, times])]);
}
merged = $.dict([]);
for (const $v5 of $.each($.cm(kinds, "values", []))) {
alike = $v5;
number = $.libraries["math"].fsum([(function* ($first) { for (const $v6 of $.each($first)) { let _, times; {const $v7 = $.unpack($v6, 2, -1);_ = $v7[0];times = $v7[1];} yield times; } })(alike)]);
squares = [...(function* ($first) { for (const $v8 of $.each($first)) { let curve, times; {const $v9 = $.unpack($v8, 2, -1);curve = $v9[0];times = $v9[1];} yield ($.t($.is($.ga(curve, "gdp_squared"), null)) ? null : $.mul(times, $.ga(curve, "gdp_squared"))); } })(alike)];
known = [...(function* ($first) { for (const $v10 of $.each($first)) { let square; square = $v10; if (!$.t(!$.is(square, null))) continue; yield square; } })(squares)];
mean = ($.t($.eq($.b.len([known]), $.b.len([squares]))) ? $.mul($.div($.libraries["math"].fsum([known]), number), $.add(1n, $.mul(8n, UNIT))) : null);
whole = replace([$.gi($.gi(alike, 0n), 0n)], {"rate": $.mul($.div($.libraries["math"].fsum([(function* ($first) { for (const $v11 of $.each($first)) { let curve, times; {const $v12 = $.unpack($v11, 2, -1);curve = $v12[0];times = $v12[1];} yield $.mul(times, $.ga(curve, "rate")); } })(alike)]), number), $.add(1n, $.mul(8n, UNIT))), "ratio": $.b.max([(function* ($first) { for (const $v13 of $.each($first)) { let _, curve; {const $v14 = $.unpack($v13, 2, -1);curve = $v14[0];_ = $v14[1];} yield $.ga(curve, "ratio"); } })(alike)]), "below": $.b.max([(function* ($first) { for (const $v15 of $.each($first)) { let _, curve; {const $v16 = $.unpack($v15, 2, -1);curve = $v16[0];_ = $v16[1];} yield $.ga(curve, "below"); } })(alike)]), "gdp_squared": mean});
$.si(merged, whole, number);
}
return merged;
});
Worlds = $.cls("Worlds", [Word], ($ns) => {
$ns.REPLACE = "replace";
$ns.ZERO_OUT = "zero-out";
$ns.DEFINITION_4_1 = "definition-4.1";
$ns.PAIRWISE = "pairwise";
$ns.IDEAL_LAW = "ideal-law";
$ns.about = $.property($.fn("about", ["self"], {}, function (self) {
return ($.t($.has(ADJACENCIES, self)) ? "dp" : "deletion");
}));
$ns.between_records = $.property($.fn("between_records", ["self"], {}, function (self) {
return $.has($.tuple([$.ga(Worlds, "REPLACE"), $.ga(Worlds, "PAIRWISE")]), self);
}));
$ns.sensitivity = $.fn("sensitivity", ["self", "lipschitz", "rows"], {"rows": 1n}, function (self, lipschitz, rows) {
return $.mul($.mul(($.t($.ga(self, "between_records")) ? 2n : 1n), lipschitz), rows);
});
});
ADJACENCIES = $.tuple([$.ga(Worlds, "REPLACE"), $.ga(Worlds, "ZERO_OUT")]);
DELETION_NOTIONS = $.tuple([$.ga(Worlds, "DEFINITION_4_1"), $.ga(Worlds, "PAIRWISE")]);
LEAST_DELTA = $.pow(2.0, $.neg(256n));
LARGEST_DELTA = 0.01;
NON_ADAPTIVE = "requests did not depend on earlier models";
FIXED_TARGET = "which record is erased, and when, was fixed before any model was seen";
FIXED_RECORD = "which record is meant was fixed before any model was seen";
check_delta = $.fn("check_delta", ["name", "value"], {}, function (name, value) {
let delta;
delta = check_probability([name, value]);
if (!$.t($.le(delta, LARGEST_DELTA))) {
throw $.raised(InvalidParameter([("" + "must be at most " + $.formatted(LARGEST_DELTA, "", ("" + "g")) + ": it is the share of cases in which a figure may fail; take one far below one in the number of records")], {...$.named($.dict([[name, delta]]))}));
}
if (!$.t($.le(LEAST_DELTA, delta))) {
throw $.raised(InvalidParameter([("" + "must be at least " + $.formatted(LEAST_DELTA, "", ("" + ".2g")) + ": the noise comes from a 256-bit key, and no smaller \u03b4 means anything")], {...$.named($.dict([[name, delta]]))}));
}
return delta;
});
Guarantee = $.dataclass($.cls("Guarantee", [], ($ns) => {
$ns.gdp_squared = 0.0;
$ns.rate = 0.0;
$ns.points = $.tuple([]);
$ns.curves = $.tuple([]);
$ns.rows = 1n;
$ns.source = "";
$ns.assumptions = $.tuple([]);
$ns.proven = true;
$ns.slack = 0.0;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let _, cost, known, order, times, worlds;
check_choice(["about", $.ga(self, "about"), $.tuple(["dp", "deletion"])]);
known = ($.t($.eq($.ga(self, "about"), "dp")) ? ADJACENCIES : $.tuple([...$.each(DELETION_NOTIONS), $.ga(Worlds, "IDEAL_LAW")]));
worlds = Worlds([check_choice(["adjacency", $.ga(self, "adjacency"), known])]);
$.cm($.b.object, "__setattr__", [self, "adjacency", worlds]);
check_bound(["gdp_squared", $.ga(self, "gdp_squared")]);
check_bound(["rate", $.ga(self, "rate")]);
check_count(["rows", $.ga(self, "rows")]);
non_negative(["slack", $.ga(self, "slack")]);
for (const $v17 of $.each($.ga(self, "points"))) {
{const $v18 = $.unpack($v17, 2, -1);order = $v18[0];cost = $v18[1];}
renyi_order(["points order", order]);
check_bound([("" + "points \u03b5 at order " + $.formatted(order, "", "")), cost]);
}
for (const $v19 of $.each($.ga(self, "curves"))) {
{const $v20 = $.unpack($v19, 2, -1);_ = $v20[0];times = $v20[1];}
check_bound(["times", times]);
}
return null;
});
$ns.renyi = $.fn("renyi", ["self", "order"], {}, function (self, order) {
let curved, q;
q = renyi_order(["order", order]);
curved = $.libraries["math"].fsum([(function* ($first) { for (const $v21 of $.each($first)) { let curve, times; {const $v22 = $.unpack($v21, 2, -1);curve = $v22[0];times = $v22[1];} yield $.mul(times, $.cm(curve, "renyi", [q])); } })($.ga(self, "curves"))]);
return check_bound(["renyi", $.add($.add($.add($.div($.mul(q, $.ga(self, "gdp_squared")), 2n), $.mul(q, $.ga(self, "rate"))), $.cm(self, "listed", [q])), curved)]);
});
$ns.highest_order = $.property($.fn("highest_order", ["self"], {}, function (self) {
let open_ended;
open_ended = (function* ($first) { for (const $v23 of $.each($first)) { let _, curve; {const $v24 = $.unpack($v23, 2, -1);curve = $v24[0];_ = $v24[1];} if (!$.t($.is($.ga(curve, "gdp_squared"), null))) continue; yield $.ga(curve, "highest_order"); } })($.ga(self, "curves"));
return $.b.min([open_ended], {"default": $.libraries["math"].inf});
}));
$ns.listed = $.fn("listed", ["self", "order"], {}, function (self, order) {
if (!$.t($.ga(self, "points"))) {
return 0.0;
}
return $.b.min([(function* ($first) { for (const $v25 of $.each($first)) { let cost, listed; {const $v26 = $.unpack($v25, 2, -1);listed = $v26[0];cost = $v26[1];} if (!$.t($.le(order, listed))) continue; yield cost; } })($.ga(self, "points"))], {"default": $.libraries["math"].inf});
});
$ns.gdp = $.property($.fn("gdp", ["self"], {}, function (self) {
if (($.t($.ga(self, "rate")) || $.t($.ga(self, "points")) || $.t($.b.any([(function* ($first) { for (const $v27 of $.each($first)) { let _, curve; {const $v28 = $.unpack($v27, 2, -1);curve = $v28[0];_ = $v28[1];} yield $.is($.ga(curve, "gdp_squared"), null); } })($.ga(self, "curves"))])))) {
return null;
}
if (!$.t($.ga(self, "curves"))) {
return $.libraries["math"].sqrt([$.ga(self, "gdp_squared")]);
}
return $.libraries["math"].sqrt([$.libraries["math"].fsum([[$.ga(self, "gdp_squared"), ...$.each((function* ($first) { for (const $v29 of $.each($first)) { let curve, times; {const $v30 = $.unpack($v29, 2, -1);curve = $v30[0];times = $v30[1];} yield $.mul(times, $.either($.ga(curve, "gdp_squared"), () => 0n)); } })($.ga(self, "curves")))]])]);
}));
$ns.epsilon = $.fn("epsilon", ["self", "delta"], {}, function (self, delta) {
let exact;
delta = check_probability(["delta", delta]);
exact = ($.t($.is($.ga(self, "gdp"), null)) ? $.libraries["math"].inf : $.modules["bounds.gaussian"].gdp_epsilon([], {"mu": $.ga(self, "gdp"), "delta": delta}));
if ($.t($.ga(self, "points"))) {
return $.b.min([(function* ($first) { for (const $v31 of $.each($first)) { let q; q = $v31; yield $.modules["bounds.renyi"].renyi_epsilon_optimal([], {"order": q, "renyi": $.cm(self, "renyi", [q]), "delta": delta}); } })($.cm(self, "_orders", []))]);
}
if ($.t($.ga(self, "curves"))) {
return $.b.min([exact, curve_epsilon([], {"renyi": $.ga(self, "renyi"), "highest_order": $.ga(self, "highest_order"), "delta": delta})]);
}
return ($.t(!$.is($.ga(self, "gdp"), null)) ? exact : $.modules["bounds.renyi"].rate_epsilon([], {"rate": $.ga(self, "total_rate"), "delta": delta}));
});
$ns.delta = $.fn("delta", ["self", "epsilon"], {}, function (self, epsilon) {
return $.modules["bounds.arithmetic"].exp_up([$.cm(self, "log_delta", [epsilon])]);
});
$ns.log_delta = $.fn("log_delta", ["self", "epsilon"], {}, function (self, epsilon) {
let exact;
epsilon = non_negative(["epsilon", epsilon]);
exact = ($.t($.is($.ga(self, "gdp"), null)) ? 0.0 : $.modules["bounds.gaussian"].gdp_log_delta([], {"mu": $.ga(self, "gdp"), "epsilon": epsilon}));
if ($.t($.ga(self, "points"))) {
return $.b.min([(function* ($first) { for (const $v32 of $.each($first)) { let q; q = $v32; yield $.modules["bounds.renyi"].renyi_log_delta_optimal([], {"order": q, "renyi": $.cm(self, "renyi", [q]), "epsilon": epsilon}); } })($.cm(self, "_orders", []))]);
}
if ($.t($.ga(self, "curves"))) {
return $.b.min([exact, curve_log_delta([], {"renyi": $.ga(self, "renyi"), "highest_order": $.ga(self, "highest_order"), "epsilon": epsilon})]);
}
return ($.t(!$.is($.ga(self, "gdp"), null)) ? exact : $.modules["bounds.renyi"].rate_log_delta([], {"rate": $.ga(self, "total_rate"), "epsilon": epsilon}));
});
$ns.total_rate = $.property($.fn("total_rate", ["self"], {}, function (self) {
return $.add($.add($.div($.ga(self, "gdp_squared"), 2n), $.ga(self, "rate")), $.libraries["math"].fsum([(function* ($first) { for (const $v33 of $.each($first)) { let curve, times; {const $v34 = $.unpack($v33, 2, -1);curve = $v34[0];times = $v34[1];} yield $.mul(times, $.ga(curve, "rate")); } })($.ga(self, "curves"))]));
}));
$ns._orders = $.fn("_orders", ["self"], {}, function (self) {
return [...(function* ($first) { for (const $v35 of $.each($first)) { let _, order; {const $v36 = $.unpack($v35, 2, -1);order = $v36[0];_ = $v36[1];} yield order; } })($.ga(self, "points"))];
});
$ns._least = $.fn("_least", ["self", "objective"], {}, function (self, objective) {
if ($.t($.ga(self, "points"))) {
return $.b.min([$.b.map([objective, $.cm(self, "_orders", [])])]);
}
if ($.t($.ga(self, "curves"))) {
return curve_least([objective], {"highest_order": $.ga(self, "highest_order")});
}
return objective([$.modules["bounds.arithmetic"].best_order([objective])]);
});
$ns.advantage = $.property($.fn("advantage", ["self"], {}, function (self) {
if ($.t($.is($.ga(self, "adjacency"), $.ga(Worlds, "IDEAL_LAW")))) {
return $.cm(self, "_advantage_across", [$.cm(self, "delta", [0.0])]);
}
if ($.t(!$.is($.ga(self, "gdp"), null))) {
return $.modules["bounds.gaussian"].gdp_advantage([], {"mu": $.ga(self, "gdp")});
}
if (!($.t($.ga(self, "points")) || $.t($.ga(self, "curves")))) {
return $.modules["bounds.gaussian"].rate_advantage([], {"rate": $.ga(self, "total_rate")});
}
return $.cm(self, "delta", [0.0]);
}));
$ns._advantage_across = $.fn("_advantage_across", ["self", "one_side"], {}, function (self, one_side) {
let at;
at = $.fn("at", ["order"], {}, function (order) {
return $.modules["bounds.adaptive"].membership_advantage([], {"order": order, "renyi": $.cm(self, "renyi", [order])});
});
return $.b.min([1.0, $.cm(self, "_least", [at]), $.mul(2n, one_side)]);
});
$ns.covers = $.fn("covers", ["self", "other"], {}, function (self, other) {
let fewer, own, rest, room;
if (($.t(!$.eq($.tuple([$.ga(self, "about"), $.ga(self, "adjacency")]), $.tuple([$.ga(other, "about"), $.ga(other, "adjacency")]))) || $.t($.lt($.ga(other, "rows"), $.ga(self, "rows"))))) {
return false;
}
room = $.add(1n, 1e-12);
if ($.t(!$.is($.ga(self, "gdp"), null))) {
return $.both(!$.is($.ga(other, "gdp"), null), () => $.le($.pow($.ga(other, "gdp"), 2n), $.mul($.pow($.ga(self, "gdp"), 2n), room)));
}
if (!$.t($.ga(self, "points"))) {
own = $.b.dict([$.ga(self, "curves")]);
fewer = $.b.all([(function* ($first) { for (const $v37 of $.each($first)) { let curve, times; {const $v38 = $.unpack($v37, 2, -1);curve = $v38[0];times = $v38[1];} yield $.le(times, $.mul($.cm(own, "get", [curve, 0.0]), room)); } })($.ga(other, "curves"))]);
rest = $.le($.add($.div($.ga(other, "gdp_squared"), 2n), $.ga(other, "rate")), $.mul($.add($.div($.ga(self, "gdp_squared"), 2n), $.ga(self, "rate")), room));
return $.both(!$.t($.ga(other, "points")), () => $.both(fewer, () => rest));
}
return $.b.all([(function* ($first) { for (const $v39 of $.each($first)) { let order; order = $v39; yield $.le($.cm(other, "renyi", [order]), $.mul($.cm(self, "renyi", [order]), room)); } })($.cm(self, "_orders", []))]);
});
$ns.composed = $.staticmethod($.fn("composed", ["parts"], {}, function (parts) {
let _, curve, curves, first, guarantees, listed, number, orders, part, times;
listed = [...(function* ($first) { for (const $v40 of $.each($first)) { let part, times; {const $v41 = $.unpack($v40, 2, -1);part = $v41[0];times = $v41[1];} yield $.tuple([part, check_count(["times", times])]); } })(parts)];
if (!$.t(listed)) {
throw $.raised(InvalidParameter(["nothing to compose; give at least one guarantee"]));
}
first = $.gi($.gi(listed, 0n), 0n);
for (const $v42 of $.each(listed)) {
{const $v43 = $.unpack($v42, 2, -1);part = $v43[0];_ = $v43[1];}
if ($.t(!$.eq($.tuple([$.ga(part, "about"), $.ga(part, "adjacency")]), $.tuple([$.ga(first, "about"), $.ga(first, "adjacency")])))) {
throw $.raised(InvalidParameter([("" + "cannot compose a guarantee about " + $.formatted($.ga(first, "about"), "", "") + "/" + $.formatted($.ga(first, "adjacency"), "", "") + " with one about " + $.formatted($.ga(part, "about"), "", "") + "/" + $.formatted($.ga(part, "adjacency"), "", ""))]));
}
}
orders = $.b.sorted([$.set((function* ($first) { for (const $v44 of $.each($first)) { let _, part; {const $v45 = $.unpack($v44, 2, -1);part = $v45[0];_ = $v45[1];} for (const $v46 of $.each($.ga(part, "points"))) { let _, order; {const $v47 = $.unpack($v46, 2, -1);order = $v47[0];_ = $v47[1];} yield order; }} })(listed))]);
guarantees = [...(function* ($first) { for (const $v48 of $.each($first)) { let _, part; {const $v49 = $.unpack($v48, 2, -1);part = $v49[0];_ = $v49[1];} yield part; } })(listed)];
curves = $.dict([]);
for (const $v50 of $.each(listed)) {
{const $v51 = $.unpack($v50, 2, -1);part = $v51[0];times = $v51[1];}
for (const $v52 of $.each($.ga(part, "curves"))) {
{const $v53 = $.unpack($v52, 2, -1);curve = $v53[0];number = $v53[1];}
$.si(curves, curve, $.add($.cm(curves, "get", [curve, 0.0]), $.mul(number, times)));
}
}
return replace([first], {"gdp_squared": $.libraries["math"].fsum([(function* ($first) { for (const $v54 of $.each($first)) { let part, times; {const $v55 = $.unpack($v54, 2, -1);part = $v55[0];times = $v55[1];} yield $.mul($.ga(part, "gdp_squared"), times); } })(listed)]), "rate": $.libraries["math"].fsum([(function* ($first) { for (const $v56 of $.each($first)) { let part, times; {const $v57 = $.unpack($v56, 2, -1);part = $v57[0];times = $v57[1];} yield $.mul($.ga(part, "rate"), times); } })(listed)]), "points": $.b.tuple([(function* ($first) { for (const $v58 of $.each($first)) { let q; q = $v58; yield $.tuple([q, $.libraries["math"].fsum([(function* ($first) { for (const $v59 of $.each($first)) { let part, times; {const $v60 = $.unpack($v59, 2, -1);part = $v60[0];times = $v60[1];} yield $.mul($.cm(part, "listed", [q]), times); } })(listed)])]); } })(orders)]), "curves": $.b.tuple([$.cm(merge_curves([curves]), "items", [])]), "rows": $.b.min([(function* ($first) { for (const $v61 of $.each($first)) { let part; part = $v61; yield $.ga(part, "rows"); } })(guarantees)]), "source": $.cm(" + ", "join", [$.cm($.b.dict, "fromkeys", [(function* ($first) { for (const $v62 of $.each($first)) { let part; part = $v62; for (const $v63 of $.each($.cm($.ga(part, "source"), "split", [" + "]))) { let source; source = $v63; if (!$.t(source)) continue; yield source; }} })(guarantees)])]), "assumptions": $.b.tuple([$.cm($.b.dict, "fromkeys", [(function* ($first) { for (const $v64 of $.each($first)) { let part; part = $v64; for (const $v65 of $.each($.ga(part, "assumptions"))) { let text; text = $v65; yield text; }} })(guarantees)])]), "proven": $.b.all([(function* ($first) { for (const $v66 of $.each($first)) { let part; part = $v66; yield $.ga(part, "proven"); } })(guarantees)]), "slack": $.b.max([(function* ($first) { for (const $v67 of $.each($first)) { let part; part = $v67; yield $.ga(part, "slack"); } })(guarantees)])});
}));
$ns.non_adaptive = $.property($.fn("non_adaptive", ["self"], {}, function (self) {
return $.b.any([(function* ($first) { for (const $v68 of $.each($first)) { let text; text = $v68; yield $.has(text, NON_ADAPTIVE); } })($.ga(self, "assumptions"))]);
}));
$ns.assuming = $.fn("assuming", ["self", "condition"], {}, function (self, condition) {
let others;
others = (function* ($first) { for (const $v69 of $.each($first)) { let text; text = $v69; if (!$.t(!$.eq(text, condition))) continue; yield text; } })($.ga(self, "assumptions"));
return replace([self], {"assumptions": $.tuple([condition, ...$.each(others)])});
});
$ns.__add__ = $.fn("__add__", ["self", "other"], {}, function (self, other) {
return $.cm(Guarantee, "composed", [[$.tuple([self, 1n]), $.tuple([other, 1n])]]);
});
$ns.with_slack = $.fn("with_slack", ["self"], {}, function (self) {
let growth;
growth = $.pow($.add(1n, $.ga(self, "slack")), 2n);
return replace([self], {"gdp_squared": $.mul($.ga(self, "gdp_squared"), growth), "rate": $.mul($.ga(self, "rate"), growth), "points": $.b.tuple([(function* ($first) { for (const $v70 of $.each($first)) { let cost, order; {const $v71 = $.unpack($v70, 2, -1);order = $v71[0];cost = $v71[1];} yield $.tuple([order, $.mul(cost, growth)]); } })($.ga(self, "points"))]), "curves": $.b.tuple([(function* ($first) { for (const $v72 of $.each($first)) { let curve, times; {const $v73 = $.unpack($v72, 2, -1);curve = $v73[0];times = $v73[1];} yield $.tuple([curve, $.mul(times, growth)]); } })($.ga(self, "curves"))]), "slack": 0.0});
});
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.dict([...$.pairs(asdict([self])), ["adjacency", $.b.str([$.ga(self, "adjacency")])]]);
});
$ns.from_dict = $.classmethod($.fn("from_dict", ["cls", "fields"], {}, function (cls, fields) {
let error;
try {
return cls([], {...$.named($.dict([...$.pairs(fields), ["points", $.b.tuple([(function* ($first) { for (const $v74 of $.each($first)) { let cost, order; {const $v75 = $.unpack($v74, 2, -1);order = $v75[0];cost = $v75[1];} yield $.tuple([$.b.float([order]), $.b.float([cost])]); } })($.cm(fields, "get", ["points", $.tuple([])]))])], ["curves", $.b.tuple([(function* ($first) { for (const $v76 of $.each($first)) { let curve, times; {const $v77 = $.unpack($v76, 2, -1);curve = $v77[0];times = $v77[1];} yield $.tuple([Curve([], {...$.named(curve)}), $.b.float([times])]); } })($.cm(fields, "get", ["curves", $.tuple([])]))])], ["assumptions", $.b.tuple([$.cm(fields, "get", ["assumptions", $.tuple([])])])]]))});
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.b.TypeError)) {error = $caught;
throw $.raised(InvalidParameter([("" + "not a guarantee: " + $.formatted(error, "", ""))]));
} else throw $caught;
}
return null;
}));
}), [["about", () => ["is", $.b.str]], ["adjacency", () => ["is", Worlds]], ["gdp_squared", () => ["is", $.b.float]], ["rate", () => ["is", $.b.float]], ["points", () => ["of", $.b.tuple, ["parts", $.b.tuple, ["is", $.b.float], ["is", $.b.float]]]], ["curves", () => ["of", $.b.tuple, ["parts", $.b.tuple, ["is", Curve], ["is", $.b.float]]]], ["rows", () => ["is", $.b.int]], ["source", () => ["is", $.b.str]], ["assumptions", () => ["of", $.b.tuple, ["is", $.b.str]]], ["proven", () => ["is", $.b.bool]], ["slack", () => ["is", $.b.float]]], {frozen: true});
return {ONE_DIRECTION, SEVERAL_DIRECTIONS, WEAKLY_CONVEX, _COSTS, FORMS, MOST, Curve, merge_curves, Worlds, ADJACENCIES, DELETION_NOTIONS, LEAST_DELTA, LARGEST_DELTA, NON_ADAPTIVE, FIXED_TARGET, FIXED_RECORD, check_delta, Guarantee, InvalidParameter, check_probability, Word, Callable, check_bound, renyi_order, non_negative, check_count, check_choice, curve_epsilon, replace, asdict, UNIT, sum_up, curve_log_delta, curve_least};
})();
$.modules["privacy.budget"] = (() => {
let _gdp_for, Measures, Budget, Total;
const math = $.libraries["math"];
const asdict = $.libraries["dataclasses"]["asdict"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const lru_cache = $.libraries["functools"]["lru_cache"];
const gaussian = $.modules["bounds.gaussian"];
const renyi = $.modules["bounds.renyi"];
const stopping = $.modules["bounds.stopping"];
const least_safe = $.modules["bounds.arithmetic"]["least_safe"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const Word = $.modules["errors"]["Word"];
const check_positive = $.modules["errors"]["check_positive"];
const renyi_order = $.modules["errors"]["renyi_order"];
const check_delta = $.modules["privacy.guarantee"]["check_delta"];
const format_number = $.modules["privacy.sentences"]["format_number"];
_gdp_for = $.lru_cache($.fn("_gdp_for", ["epsilon", "delta"], {}, function (epsilon, delta) {
return $.modules["bounds.gaussian"].gdp_for([], {"epsilon": epsilon, "delta": delta});
}));
Measures = $.cls("Measures", [Word], ($ns) => {
$ns.RENYI = "renyi";
$ns.EPSILON_DELTA = "epsilon-delta";
$ns.GDP = "gdp";
});
Budget = $.dataclass($.cls("Budget", [], ($ns) => {
$ns.order = null;
$ns.dp = 1.0;
$ns.deletion = 0.1;
$ns.measure = $.ga(Measures, "RENYI");
$ns.dp_delta = null;
$ns.deletion_delta = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.cm($.b.object, "__setattr__", [self, "measure", Measures([$.ga(self, "measure")])]);
$.cm($.b.object, "__setattr__", [self, "dp", check_positive(["dp", $.ga(self, "dp")])]);
$.cm($.b.object, "__setattr__", [self, "deletion", check_positive(["deletion", $.ga(self, "deletion")])]);
if ($.t($.is($.ga(self, "measure"), $.ga(Measures, "RENYI")))) {
if ($.t($.is($.ga(self, "order"), null))) {
throw $.raised(InvalidParameter(["must be a R\u00e9nyi order > 1, for example 10"], {"order": null}));
}
$.cm($.b.object, "__setattr__", [self, "order", renyi_order(["order", $.ga(self, "order")])]);
} else {
if ($.t(!$.is($.ga(self, "order"), null))) {
throw $.raised(InvalidParameter([("" + "belongs to a R\u00e9nyi budget, not to " + $.formatted($.b.str([$.ga(self, "measure")]), "r", ""))], {"order": $.ga(self, "order")}));
}
}
if ($.t($.is($.ga(self, "measure"), $.ga(Measures, "EPSILON_DELTA")))) {
$.cm($.b.object, "__setattr__", [self, "dp_delta", check_delta(["dp delta", $.ga(self, "dp_delta")])]);
$.cm($.b.object, "__setattr__", [self, "deletion_delta", check_delta(["deletion delta", $.ga(self, "deletion_delta")])]);
} else {
if (($.t(!$.is($.ga(self, "dp_delta"), null)) || $.t(!$.is($.ga(self, "deletion_delta"), null)))) {
throw $.raised(InvalidParameter(["delta belongs to an (\u03b5, \u03b4) budget; use Budget.from_epsilon_delta"]));
}
}
if (!$.t($.le($.cm(self, "deletion_gdp", []), $.mul($.cm(self, "dp_gdp", []), $.add(1n, 1e-12))))) {
throw $.raised(InvalidParameter([("" + "must be at most that of present records, " + $.formatted($.ga(self, "dp"), "r", "") + ": privacy of present records already gives deletion privacy at the dp level, so a weaker deletion budget asks for nothing")], {"deletion": $.ga(self, "deletion")}));
}
return null;
});
$ns.from_gdp = $.classmethod($.fn("from_gdp", ["cls", "*", "dp", "deletion"], {}, function (cls, dp, deletion) {
return cls([], {"dp": dp, "deletion": deletion, "measure": $.ga(Measures, "GDP")});
}));
$ns.dp_gdp = $.fn("dp_gdp", ["self"], {}, function (self) {
return $.cm(self, "_gdp", [$.ga(self, "dp"), $.ga(self, "dp_delta")]);
});
$ns.deletion_gdp = $.fn("deletion_gdp", ["self"], {}, function (self) {
return $.cm(self, "_gdp", [$.ga(self, "deletion"), $.ga(self, "deletion_delta")]);
});
$ns._gdp = $.fn("_gdp", ["self", "amount", "delta"], {}, function (self, amount, delta) {
if ($.t($.is($.ga(self, "measure"), $.ga(Measures, "GDP")))) {
return amount;
}
if ($.t($.is($.ga(self, "measure"), $.ga(Measures, "RENYI")))) {
if (!$.t(!$.is($.ga(self, "order"), null))) throw $.raised($.b.AssertionError);
return $.libraries["math"].sqrt([$.div($.mul(2n, amount), $.ga(self, "order"))]);
}
if (!$.t(!$.is(delta, null))) throw $.raised($.b.AssertionError);
return _gdp_for([amount, delta]);
});
$ns.deletion_rate = $.fn("deletion_rate", ["self"], {}, function (self) {
return $.cm(self, "_rate", [$.ga(self, "deletion"), $.ga(self, "deletion_delta")]);
});
$ns._rate = $.fn("_rate", ["self", "amount", "delta"], {}, function (self, amount, delta) {
if ($.t($.is($.ga(self, "measure"), $.ga(Measures, "GDP")))) {
throw $.raised(InvalidParameter(["a Gaussian-DP budget needs analysis 'tight': Theorem 5.1 bounds R\u00e9nyi divergences, which do not give a \u03bc"]));
}
if ($.t($.is($.ga(self, "measure"), $.ga(Measures, "RENYI")))) {
if (!$.t(!$.is($.ga(self, "order"), null))) throw $.raised($.b.AssertionError);
return $.tuple([$.div(amount, $.ga(self, "order")), $.ga(self, "order")]);
}
if (!$.t(!$.is(delta, null))) throw $.raised($.b.AssertionError);
return $.modules["bounds.renyi"].rate_for([], {"epsilon": amount, "delta": delta});
});
$ns.affords = $.fn("affords", ["self", "spent"], {}, function (self, spent) {
let amount, delta, most, present, room;
{const $v1 = [$.eq($.ga(spent, "about"), "dp"), $.add(1n, 1e-12)];present = $v1[0];room = $v1[1];}
amount = ($.t(present) ? $.ga(self, "dp") : $.ga(self, "deletion"));
most = ($.t(present) ? $.cm(self, "dp_gdp", []) : $.cm(self, "deletion_gdp", []));
if (($.t(!$.is($.ga(spent, "gdp"), null)) && $.t($.le($.pow($.ga(spent, "gdp"), 2n), $.mul($.pow(most, 2n), room))))) {
return true;
}
if ($.t($.is($.ga(self, "measure"), $.ga(Measures, "GDP")))) {
return false;
}
if ($.t($.is($.ga(self, "measure"), $.ga(Measures, "RENYI")))) {
if (!$.t(!$.is($.ga(self, "order"), null))) throw $.raised($.b.AssertionError);
return $.le($.cm(spent, "renyi", [$.ga(self, "order")]), $.mul(amount, room));
}
delta = ($.t(present) ? $.ga(self, "dp_delta") : $.ga(self, "deletion_delta"));
if (!$.t(!$.is(delta, null))) throw $.raised($.b.AssertionError);
return $.le($.cm(spent, "epsilon", [delta]), $.mul(amount, room));
});
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
let stated;
stated = $.dict([...$.pairs(asdict([self])), ["measure", $.b.str([$.ga(self, "measure")])]]);
return $.dict((function* ($first) { for (const $v2 of $.each($first)) { let key, value; {const $v3 = $.unpack($v2, 2, -1);key = $v3[0];value = $v3[1];} if (!$.t(!$.is(value, null))) continue; yield [key, value]; } })($.cm(stated, "items", [])));
});
}), [["order", () => ["or", ["is", $.b.float], ["none"]]], ["dp", () => ["is", $.b.float]], ["deletion", () => ["is", $.b.float]], ["measure", () => ["is", Measures]], ["dp_delta", () => ["or", ["is", $.b.float], ["none"]]], ["deletion_delta", () => ["or", ["is", $.b.float], ["none"]]]], {frozen: true});
Total = $.dataclass($.cls("Total", [], ($ns) => {
$ns.delta = 1e-06;
$ns.gdp = false;
$ns.order = null;
$ns.late = false;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.cm($.b.object, "__setattr__", [self, "epsilon", check_positive(["total epsilon", $.ga(self, "epsilon")])]);
$.cm($.b.object, "__setattr__", [self, "delta", check_delta(["total delta", $.ga(self, "delta")])]);
if ($.t(!$.is($.ga(self, "order"), null))) {
$.cm($.b.object, "__setattr__", [self, "order", renyi_order(["total order", $.ga(self, "order")])]);
}
if (($.t($.ga(self, "gdp")) && $.t(!$.is($.ga(self, "order"), null)))) {
throw $.raised(InvalidParameter([("" + "total order=" + $.formatted($.ga(self, "order"), "", ("" + "g")) + " beside gdp=True: what is spent is summed in one measure")]));
}
return null;
});
$ns.of = $.classmethod($.fn("of", ["cls", "given"], {}, function (cls, given) {
if (($.t($.is(given, null)) || $.t($.b.isinstance([given, cls])))) {
return given;
}
if ((!$.t($.b.isinstance([given, $.tuple([$.b.tuple, $.b.list])])) || $.t(!$.eq($.b.len([given]), 2n)))) {
throw $.raised(InvalidParameter(["must be (\u03b5, \u03b4) of all publications together, for example (8.0, 1e-6)"], {"total": given}));
}
return cls([...$.each(given)]);
}));
$ns.measure = $.property($.fn("measure", ["self"], {}, function (self) {
if ($.t(!$.is($.ga(self, "order"), null))) {
return ("" + "as R\u00e9nyi divergence at order " + $.formatted(format_number([$.ga(self, "order"), 4n]), "", ""));
}
return ($.t($.ga(self, "gdp")) ? "as \u03bc\u00b2 of Gaussian DP" : null);
}));
$ns.is_filter = $.property($.fn("is_filter", ["self"], {}, function (self) {
return $.both($.either($.ga(self, "gdp"), () => !$.is($.ga(self, "order"), null)), () => !$.t($.ga(self, "late")));
}));
$ns.affords = $.fn("affords", ["self", "spent"], {}, function (self, spent) {
return $.le($.cm(self, "spent", [spent]), $.mul($.ga(self, "epsilon"), $.add(1n, 1e-12)));
});
$ns.spent = $.fn("spent", ["self", "guarantee"], {}, function (self, guarantee) {
let cost;
guarantee = $.cm(guarantee, "with_slack", []);
if ($.t($.ga(self, "gdp"))) {
return ($.t($.is($.ga(guarantee, "gdp"), null)) ? $.libraries["math"].inf : $.modules["bounds.gaussian"].gdp_epsilon([], {"mu": $.ga(guarantee, "gdp"), "delta": $.ga(self, "delta")}));
}
if ($.t(!$.is($.ga(self, "order"), null))) {
cost = $.cm(guarantee, "renyi", [$.ga(self, "order")]);
return $.modules["bounds.renyi"].renyi_epsilon_optimal([], {"order": $.ga(self, "order"), "renyi": cost, "delta": $.ga(self, "delta")});
}
return $.cm(guarantee, "epsilon", [$.ga(self, "delta")]);
});
$ns.stopping_epsilon = $.fn("stopping_epsilon", ["self", "delta", "*", "candidates"], {"candidates": 1n}, function (self, delta, candidates) {
let most;
if (!$.t($.ga(self, "is_filter"))) {
return null;
}
if ($.t($.ga(self, "gdp"))) {
return $.modules["bounds.stopping"].gdp_stopping_epsilon([], {"mu": $.cm(self, "_most_gdp", []), "delta": delta, "candidates": candidates});
}
if (!$.t(!$.is($.ga(self, "order"), null))) throw $.raised($.b.AssertionError);
most = $.cm(self, "_most_renyi", [$.ga(self, "order")]);
return $.modules["bounds.stopping"].renyi_stopping_epsilon([], {"order": $.ga(self, "order"), "renyi": most, "delta": delta, "candidates": candidates});
});
$ns._most_gdp = $.fn("_most_gdp", ["self"], {}, function (self) {
return $.modules["bounds.gaussian"].gdp_for([], {"epsilon": $.mul($.ga(self, "epsilon"), $.add(1n, 1e-09)), "delta": $.ga(self, "delta")});
});
$ns._most_renyi = $.fn("_most_renyi", ["self", "order"], {}, function (self, order) {
let refused;
refused = $.fn("refused", ["cost"], {}, function (cost) {
let spent;
spent = $.modules["bounds.renyi"].renyi_epsilon_optimal([], {"order": order, "renyi": cost, "delta": $.ga(self, "delta")});
return $.lt($.mul($.ga(self, "epsilon"), $.add(1n, 1e-09)), spent);
});
return least_safe([refused], {"guess": $.ga(self, "epsilon"), "below": 0.0});
});
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
let unsaid;
unsaid = $.dict([["gdp", false], ["order", null], ["late", false]]);
return $.dict((function* ($first) { for (const $v4 of $.each($first)) { let name, value; {const $v5 = $.unpack($v4, 2, -1);name = $v5[0];value = $v5[1];} if (!($.t(!$.has(unsaid, name)) || $.t(!$.eq(value, $.gi(unsaid, name))))) continue; yield [name, value]; } })($.cm(asdict([self]), "items", [])));
});
}), [["epsilon", () => ["is", $.b.float]], ["delta", () => ["is", $.b.float]], ["gdp", () => ["is", $.b.bool]], ["order", () => ["or", ["is", $.b.float], ["none"]]], ["late", () => ["is", $.b.bool]]], {frozen: true});
return {_gdp_for, Measures, Budget, Total, Word, InvalidParameter, check_delta, renyi_order, check_positive, asdict, format_number, least_safe, lru_cache};
})();
$.modules["methods.base"] = (() => {
let Condition, PROOFS, Mechanism, NoisySteps, SingleRelease, are_contradictory, bounded_gradients;
const assumptions_of = $.libraries["methods.base"]["assumptions_of"];
const math = $.libraries["math"];
const ABC = $.libraries["abc"]["ABC"];
const abstractmethod = $.libraries["abc"]["abstractmethod"];
const asdict = $.libraries["dataclasses"]["asdict"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const field = $.libraries["dataclasses"]["field"];
const fields = $.libraries["dataclasses"]["fields"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_count = $.modules["errors"]["check_count"];
const check_positive = $.modules["errors"]["check_positive"];
const non_negative = $.modules["errors"]["non_negative"];
const Guarantee = $.modules["privacy.guarantee"]["Guarantee"];
const Worlds = $.modules["privacy.guarantee"]["Worlds"];
Condition = $.gi($.b.tuple, $.tuple([$.b.str, $.gi($.b.dict, $.tuple([$.b.str, Any]))]));
PROOFS = $.tuple(["by-hand", "computer-checked"]);
Mechanism = $.dataclass($.cls("Mechanism", [], ($ns) => {
$ns.fresh = false;
$ns.notes = $.tuple([]);
$ns.proven = true;
$ns.slack = 0.0;
$ns.row_norm = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
check_count(["records", $.ga(self, "records")]);
non_negative(["slack", $.ga(self, "slack")]);
if ($.t(!$.is($.ga(self, "row_norm"), null))) {
check_positive(["row_norm", $.ga(self, "row_norm")]);
}
return null;
});
$ns.left = $.property($.fn("left", ["self"], {}, function (self) {
return "";
}));
$ns.conditions = $.fn("conditions", ["self"], {}, function (self) {
return $.tuple([$.tuple(["slots-public", $.dict([["records", $.ga(self, "records")]])])]);
});
$ns.shows_start = $.property($.fn("shows_start", ["self"], {}, function (self) {
return false;
}));
$ns.shows_order = $.property($.fn("shows_order", ["self"], {}, function (self) {
return false;
}));
$ns.exposure = $.fn("exposure", ["self", "steps"], {}, function (self, steps) {
return steps;
});
$ns.check = $.fn("check", ["self", "steps", "*", "fresh", "inserted"], {"fresh": null, "inserted": false}, function (self, steps, fresh, inserted) {

return null;
});
$ns.interval = $.fn("interval", ["self", "about", "worlds", "*", "steps_with", "steps_without"], {"steps_without": 0n}, function (self, about, worlds, steps_with, steps_without) {
let between, costs;
{const $v1 = [Worlds([worlds]), $.either(steps_with, () => $.both(steps_without, () => $.ga(self, "shows_order")))];between = $v1[0];costs = $v1[1];}
return $.cm(self, "_guarantee", [about, between], {...$.named(($.t(costs) ? $.cm(self, "_cost", [between, steps_with, steps_without]) : $.dict([])))});
});
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without"], {}, function (self, worlds, steps_with, steps_without) {

return null;
});
$ns._guarantee = $.fn("_guarantee", ["self", "about", "worlds", "**cost"], {}, function (self, about, worlds, cost) {
let facts;
facts = $.dict([["rows", $.b.getattr([self, "rows_per_subject", 1n])], ["source", $.ga(self, "source")], ["assumptions", assumptions_of([self])], ["proven", $.ga(self, "proven")], ["slack", $.ga(self, "slack")]]);
return Guarantee([], {"about": about, "adjacency": worlds, ...$.named($.dict([...$.pairs(facts), ...$.pairs(cost)]))});
});
$ns.fading = $.property($.fn("fading", ["self"], {}, function (self) {
return null;
}));
$ns.carries = $.property($.fn("carries", ["self"], {}, function (self) {
return null;
}));
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.dict([["method", $.ga(self, "method")], ...$.pairs(asdict([self]))]);
});
}), [["records", () => ["is", $.b.int]], ["proven", () => ["is", $.b.bool]], ["slack", () => ["is", $.b.float]], ["row_norm", () => ["or", ["is", $.b.float], ["none"]]]], {frozen: true, kw_only: true});
NoisySteps = $.dataclass($.cls("NoisySteps", [Mechanism], ($ns) => {
$ns.objective_smoothness = field([], {"default": null, "compare": false});
$ns.rows_per_subject = 1n;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let limit, name;
$.sup(NoisySteps, self, "__post_init__")([]);
check_count(["rows_per_subject", $.ga(self, "rows_per_subject")]);
for (const $v2 of $.each($.tuple(["step_size", "noise_variance", "strong_convexity", "lipschitz"]))) {
name = $v2;
check_positive([name, $.b.getattr([self, name])]);
}
limit = $.ga(self, "largest_step_size");
if (!$.t($.le($.ga(self, "step_size"), $.mul(limit, $.add(1n, 1e-12))))) {
throw $.raised(InvalidParameter([("" + "must be at most " + $.formatted(limit, "", ("" + "g")) + ": beyond it a step may carry two models apart, and no bound of method " + $.formatted($.ga(self, "method"), "r", "") + " holds")], {"step_size": $.ga(self, "step_size")}));
}
return null;
});
$ns.largest_step_size = $.property($.fn("largest_step_size", ["self"], {}, function (self) {
return $.libraries["math"].inf;
}));
$ns._steepest = $.property($.fn("_steepest", ["self"], {}, function (self) {
if ($.t($.is($.ga(self, "objective_smoothness"), null))) {
return $.ga(self, "strong_convexity");
}
return check_positive(["objective_smoothness", $.ga(self, "objective_smoothness")]);
}));
$ns.noise_scale = $.property($.fn("noise_scale", ["self"], {}, function (self) {
return $.libraries["math"].sqrt([$.mul($.mul(2n, $.ga(self, "step_size")), $.ga(self, "noise_variance"))]);
}));
$ns.sensitivity = $.fn("sensitivity", ["self", "worlds"], {}, function (self, worlds) {
return $.cm(Worlds([worlds]), "sensitivity", [$.ga(self, "lipschitz"), $.ga(self, "rows_per_subject")]);
});
$ns.conditions = $.fn("conditions", ["self"], {}, function (self) {
let own;
own = $.dict([["method", $.ga(self, "method")]]);
return $.tuple([...$.each(bounded_gradients([$.ga(self, "lipschitz")], {"proven": $.ga(self, "proven")})), ...$.each($.sup(NoisySteps, self, "conditions")([])), $.tuple(["real-arithmetic", own]), $.tuple(["gaussian-noise", own])]);
});
$ns._chain = $.fn("_chain", ["self"], {}, function (self) {
return $.dict([["step_size", $.ga(self, "step_size")], ["noise_variance", $.ga(self, "noise_variance")], ["records", $.ga(self, "records")]]);
});
}), [["step_size", () => ["is", $.b.float]], ["noise_variance", () => ["is", $.b.float]], ["strong_convexity", () => ["is", $.b.float]], ["lipschitz", () => ["is", $.b.float]], ["objective_smoothness", () => ["or", ["is", $.b.float], ["none"]]], ["rows_per_subject", () => ["is", $.b.int]]], {frozen: true, kw_only: true});
SingleRelease = $.dataclass($.cls("SingleRelease", [Mechanism], ($ns) => {
$ns.steps = 1n;
$ns.exposure = $.fn("exposure", ["self", "steps"], {}, function (self, steps) {
return 1n;
});
$ns.check = $.fn("check", ["self", "steps", "*", "fresh", "inserted"], {"fresh": null, "inserted": false}, function (self, steps, fresh, inserted) {
if ($.t(!$.eq(steps, $.ga(self, "steps")))) {
throw $.raised(InvalidParameter([("" + "must be " + $.formatted($.ga(self, "steps"), "", "") + ": a release by " + $.formatted($.ga(self, "method"), "r", "") + " has no noisy steps")], {"steps": steps}));
}
return null;
});
}), [], {frozen: true, kw_only: true});
are_contradictory = $.fn("are_contradictory", ["one", "other"], {}, function (one, other) {
let pairs;
if (($.t($.is(one, other)) || $.t(!$.eq(one, other)))) {
return false;
}
pairs = (function* ($first) { for (const $v3 of $.each($first)) { let fact; fact = $v3; if (!!$.t($.ga(fact, "compare"))) continue; yield $.tuple([$.b.getattr([one, $.ga(fact, "name")]), $.b.getattr([other, $.ga(fact, "name")])]); } })(fields([one]));
return $.b.any([(function* ($first) { for (const $v4 of $.each($first)) { let pair; pair = $v4; yield $.both(!$.has(pair, null), () => !$.eq($.gi(pair, 0n), $.gi(pair, 1n))); } })(pairs)]);
});
bounded_gradients = $.fn("bounded_gradients", ["lipschitz", "*", "proven"], {}, function (lipschitz, proven) {
let norm;
norm = $.tuple(["gradient-norm", $.dict([["lipschitz", lipschitz]])]);
return ($.t(proven) ? $.tuple([norm]) : $.tuple([norm, $.tuple(["constants-declared", $.dict([])])]));
});
return {Condition, PROOFS, Mechanism, NoisySteps, SingleRelease, are_contradictory, bounded_gradients, ClassVar, ABC, field, check_positive, non_negative, check_count, asdict, InvalidParameter, Any, Worlds, fields, abstractmethod, Guarantee};
})();
$.modules["methods.problem"] = (() => {
let MethodRef, Problem, InitialLaw, Published, Minimizer, NoisyLeastSquares, CarriedSums, Sampling, Exactness, Start, Procedure, WorstCaseRun, PlannedGuarantees, SOLVERS, solver_passes, forecast_passes;
const math = $.libraries["math"];
const re = $.libraries["re"];
const ABC = $.libraries["abc"]["ABC"];
const asdict = $.libraries["dataclasses"]["asdict"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const field = $.libraries["dataclasses"]["field"];
const fields = $.libraries["dataclasses"]["fields"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const DTYPES = $.modules["bounds.arithmetic"]["DTYPES"];
const sensitivity_slack = $.modules["bounds.arithmetic"]["sensitivity_slack"];
const column_variances = $.modules["bounds.objective_perturbation"]["column_variances"];
const proven_steps = $.modules["bounds.solver_steps"]["proven_steps"];
const sample_rows = $.modules["bounds.solver_steps"]["sample_rows"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_choice = $.modules["errors"]["check_choice"];
const check_count = $.modules["errors"]["check_count"];
const check_probability = $.modules["errors"]["check_probability"];
const check_scale = $.modules["errors"]["check_scale"];
const Loss = $.modules["losses.base"]["Loss"];
const Budget = $.modules["privacy.budget"]["Budget"];
const Total = $.modules["privacy.budget"]["Total"];
const ADJACENCIES = $.modules["privacy.guarantee"]["ADJACENCIES"];
const DELETION_NOTIONS = $.modules["privacy.guarantee"]["DELETION_NOTIONS"];
const NON_ADAPTIVE = $.modules["privacy.guarantee"]["NON_ADAPTIVE"];
const Worlds = $.modules["privacy.guarantee"]["Worlds"];
MethodRef = $.dataclass($.cls("MethodRef", [], ($ns) => {
$ns.analysis = "";
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.dict([["name", $.ga(self, "name")], ...$.pairs(($.t($.ga(self, "analysis")) ? $.dict([["analysis", $.ga(self, "analysis")]]) : $.dict([]))), ...$.pairs(asdict([self]))]);
});
}), [], {frozen: true});
Problem = $.dataclass($.cls("Problem", [], ($ns) => {
$ns.adjacency = $.ga(Worlds, "REPLACE");
$ns.deletion_notion = $.ga(Worlds, "DEFINITION_4_1");
$ns.releases = 1n;
$ns.batch = 1n;
$ns.rows_per_subject = 1n;
$ns.utility = true;
$ns.utility_tolerance = 0.01;
$ns.dtype = "float32";
$ns.slack_in_budget = true;
$ns.asked_regularization = null;
$ns.one_hot_blocks = null;
$ns.model_norm = null;
$ns.feature_map = null;
$ns.total = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let checked, name, sizes, value;
if (!$.t($.b.isinstance([$.ga(self, "loss"), Loss]))) {
throw $.raised(InvalidParameter(["must be a loss of noisygd_delete.losses, for example losses.Logistic(radius=1.0)"], {"loss": $.ga(self, "loss")}));
}
if (!$.t($.b.isinstance([$.ga(self, "budget"), Budget]))) {
throw $.raised(InvalidParameter(["must be a Budget, for example Budget(order=10, dp=1.0, deletion=0.1)"], {"budget": $.ga(self, "budget")}));
}
$.cm($.b.object, "__setattr__", [self, "total", $.cm(Total, "of", [$.ga(self, "total")])]);
checked = $.dict([["regularization", check_scale(["regularization", $.ga(self, "regularization")])], ["adjacency", Worlds([check_choice(["adjacency", $.ga(self, "adjacency"), ADJACENCIES])])], ["deletion_notion", Worlds([check_choice(["deletion_notion", $.ga(self, "deletion_notion"), DELETION_NOTIONS])])], ["utility", $.b.bool([$.ga(self, "utility")])], ["slack_in_budget", $.b.bool([$.ga(self, "slack_in_budget")])], ["utility_tolerance", check_probability(["utility_tolerance", $.ga(self, "utility_tolerance")])], ["dtype", check_choice(["dtype", $.ga(self, "dtype"), DTYPES])]]);
for (const $v1 of $.each($.tuple(["records", "features", "releases", "batch", "rows_per_subject"]))) {
name = $v1;
$.si(checked, name, check_count([name, $.b.getattr([self, name])], {"maximum": $.pow(2n, 53n)}));
}
for (const $v2 of $.each($.tuple(["asked_regularization", "model_norm"]))) {
name = $v2;
if ($.t(!$.is($.b.getattr([self, name]), null))) {
$.si(checked, name, check_scale([name, $.b.getattr([self, name])]));
}
}
for (const $v3 of $.each($.cm(checked, "items", []))) {
{const $v4 = $.unpack($v3, 2, -1);name = $v4[0];value = $v4[1];}
$.cm($.b.object, "__setattr__", [self, name, value]);
}
if (($.t(!$.is($.ga(self, "asked_regularization"), null)) && !($.t(!$.is($.ga(self, "model_norm"), null)) && $.t($.le($.ga(self, "asked_regularization"), $.ga(self, "regularization")))))) {
throw $.raised(InvalidParameter([("" + "must be at most regularization=" + $.formatted($.ga(self, "regularization"), "", ("" + "g")) + ", with the model_norm that it was raised for")], {"asked_regularization": $.ga(self, "asked_regularization")}));
}
if (($.t(!$.is($.ga(self, "feature_map"), null)) && !$.t($.libraries["re"].fullmatch(["[0-9a-f]{64}", $.ga(self, "feature_map")])))) {
throw $.raised(InvalidParameter(["feature_map must be the digest of a public map: 64 hexadecimal digits in lower case"]));
}
if ($.t(!$.is($.ga(self, "one_hot_blocks"), null))) {
sizes = $.b.tuple([$.ga(self, "one_hot_blocks")]);
if ((!$.t($.b.all([(function* ($first) { for (const $v5 of $.each($first)) { let k; k = $v5; yield $.both($.b.isinstance([k, $.b.int]), () => $.le(0n, k)); } })(sizes)])) || $.t(!$.eq($.b.sum([(function* ($first) { for (const $v6 of $.each($first)) { let k; k = $v6; yield $.either(k, () => 1n); } })(sizes)]), $.ga(self, "features"))))) {
throw $.raised(InvalidParameter([("" + "must be whole numbers, k for k columns of which one is always hot and 0 for any other column, " + $.formatted($.ga(self, "features"), "", "") + " columns in all")], {"one_hot_blocks": sizes}));
}
$.cm($.b.object, "__setattr__", [self, "one_hot_blocks", sizes]);
}
return null;
});
$ns.noise_shape = $.property($.fn("noise_shape", ["self"], {}, function (self) {
let variances;
if ($.t($.is($.ga(self, "one_hot_blocks"), null))) {
return null;
}
variances = column_variances([], {"blocks": $.ga(self, "one_hot_blocks")});
return ($.t($.b.any([(function* ($first) { for (const $v7 of $.each($first)) { let v; v = $v7; yield !$.eq(v, 1n); } })(variances)])) ? variances : null);
}));
$ns.noise_trace = $.property($.fn("noise_trace", ["self"], {}, function (self) {
return ($.t($.is($.ga(self, "noise_shape"), null)) ? $.ga(self, "dimension") : $.mul($.ga($.ga(self, "loss"), "outputs"), $.libraries["math"].fsum([$.ga(self, "noise_shape")])));
}));
$ns.dimension = $.property($.fn("dimension", ["self"], {}, function (self) {
return $.cm($.ga(self, "loss"), "dimension", [$.ga(self, "features")]);
}));
$ns.strong_convexity = $.property($.fn("strong_convexity", ["self"], {}, function (self) {
return $.sub($.ga(self, "regularization"), $.ga($.ga($.ga(self, "loss"), "constants"), "weak_convexity"));
}));
$ns.objective_smoothness = $.property($.fn("objective_smoothness", ["self"], {}, function (self) {
return $.add($.ga(self, "regularization"), $.ga($.ga($.ga(self, "loss"), "constants"), "smoothness"));
}));
$ns.slack = $.property($.fn("slack", ["self"], {}, function (self) {
return sensitivity_slack([], {"records": $.ga(self, "records"), "dtype": $.ga(self, "dtype")});
}));
$ns.growth = $.property($.fn("growth", ["self"], {}, function (self) {
return ($.t($.ga(self, "slack_in_budget")) ? $.add(1n, $.ga(self, "slack")) : 1.0);
}));
$ns.dp_gdp = $.fn("dp_gdp", ["self"], {}, function (self) {
return $.div($.cm($.ga(self, "budget"), "dp_gdp", []), $.ga(self, "growth"));
});
$ns.deletion_gdp = $.fn("deletion_gdp", ["self"], {}, function (self) {
return $.div($.cm($.ga(self, "budget"), "deletion_gdp", []), $.ga(self, "growth"));
});
$ns.deletion_rate = $.fn("deletion_rate", ["self"], {}, function (self) {
let order, rate;
{const $v8 = $.unpack($.cm($.ga(self, "budget"), "deletion_rate", []), 2, -1);rate = $v8[0];order = $v8[1];}
return $.tuple([$.div(rate, $.pow($.ga(self, "growth"), 2n)), order]);
});
$ns.sensitivity = $.fn("sensitivity", ["self", "worlds"], {}, function (self, worlds) {
return $.cm(worlds, "sensitivity", [$.ga($.ga($.ga(self, "loss"), "constants"), "lipschitz"), $.ga(self, "rows_per_subject")]);
});
$ns.run = $.fn("run", ["self", "*", "step_size", "noise_variance"], {}, function (self, step_size, noise_variance) {
return $.dict([["records", $.ga(self, "records")], ["row_norm", $.ga($.ga(self, "loss"), "radius")], ["step_size", step_size], ["noise_variance", noise_variance], ["strong_convexity", ($.t($.lt(0n, $.ga(self, "strong_convexity"))) ? $.ga(self, "strong_convexity") : $.ga(self, "regularization"))], ["objective_smoothness", $.ga(self, "objective_smoothness")], ["lipschitz", $.ga($.ga($.ga(self, "loss"), "constants"), "lipschitz")], ["rows_per_subject", $.ga(self, "rows_per_subject")], ["proven", $.ga($.ga($.ga(self, "loss"), "constants"), "proven")], ["slack", $.ga(self, "slack")]]);
});
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
let described, own, total, worlds;
own = $.dict((function* ($first) { for (const $v9 of $.each($first)) { let field; field = $v9; yield [$.ga(field, "name"), $.b.getattr([self, $.ga(field, "name")])]; } })(fields([self])));
described = $.dict((function* ($first) { for (const $v10 of $.each($first)) { let name; name = $v10; yield [name, $.cm($.gi(own, name), "to_dict", [])]; } })($.tuple(["loss", "budget", "method"])));
worlds = $.dict((function* ($first) { for (const $v11 of $.each($first)) { let name; name = $v11; yield [name, $.b.str([$.gi(own, name)])]; } })($.tuple(["adjacency", "deletion_notion"])));
total = ($.t($.is($.ga(self, "total"), null)) ? null : $.cm($.ga(self, "total"), "to_dict", []));
return $.dict([...$.pairs(own), ...$.pairs(described), ...$.pairs(worlds), ["total", total]]);
});
}), [["loss", () => ["is", Loss]], ["records", () => ["is", $.b.int]], ["features", () => ["is", $.b.int]], ["regularization", () => ["is", $.b.float]], ["budget", () => ["is", Budget]], ["method", () => ["is", MethodRef]], ["adjacency", () => ["is", Worlds]], ["deletion_notion", () => ["is", Worlds]], ["releases", () => ["is", $.b.int]], ["batch", () => ["is", $.b.int]], ["rows_per_subject", () => ["is", $.b.int]], ["utility", () => ["is", $.b.bool]], ["utility_tolerance", () => ["is", $.b.float]], ["dtype", () => ["is", $.b.str]], ["slack_in_budget", () => ["is", $.b.bool]], ["asked_regularization", () => ["or", ["is", $.b.float], ["none"]]], ["one_hot_blocks", () => ["or", ["of", $.b.tuple, ["is", $.b.int]], ["none"]]], ["model_norm", () => ["or", ["is", $.b.float], ["none"]]], ["feature_map", () => ["or", ["is", $.b.str], ["none"]]], ["total", () => ["or", ["is", Total], ["none"]]]], {frozen: true});
InitialLaw = $.dataclass($.cls("InitialLaw", [], ($ns) => {

}), [["variance", () => ["is", $.b.float]]], {frozen: true});
Published = $.dataclass($.cls("Published", [], ($ns) => {

}), [], {frozen: true});
Minimizer = $.dataclass($.cls("Minimizer", [], ($ns) => {
$ns.chain = 1n;
}), [["tolerance", () => ["is", $.b.float]], ["solver", () => ["is", $.b.str]], ["chain", () => ["is", $.b.int]]], {frozen: true});
NoisyLeastSquares = $.dataclass($.cls("NoisyLeastSquares", [], ($ns) => {

}), [["deviation", () => ["is", $.b.float]], ["ridge", () => ["is", $.b.float]]], {frozen: true});
CarriedSums = $.dataclass($.cls("CarriedSums", [], ($ns) => {
$ns.map = null;
}), [["draws", () => ["parts", $.b.list, ["parts", $.b.tuple, ["is", $.b.float], ["is", $.b.float]]]], ["variance", () => ["is", $.b.float]], ["bits", () => ["is", $.b.int]], ["label_bits", () => ["is", $.b.int]], ["norm_squared", () => ["is", $.b.int]], ["label_weight", () => ["is", $.b.int]], ["ridge", () => ["is", $.b.float]], ["ridge_share", () => ["is", $.b.float]], ["map", () => ["or", ["is", $.b.str], ["none"]]]], {frozen: true});
Sampling = $.dataclass($.cls("Sampling", [], ($ns) => {

}), [["rate", () => ["is", $.b.float]], ["draws", () => ["is", $.b.int]]], {frozen: true});
Exactness = $.dataclass($.cls("Exactness", [], ($ns) => {

}), [["radius", () => ["is", $.b.float]], ["grid_bits", () => ["is", $.b.int]]], {frozen: true});
Start = $.or($.or($.or($.or(InitialLaw, Published), Minimizer), NoisyLeastSquares), CarriedSums);
Procedure = $.dataclass($.cls("Procedure", [], ($ns) => {
$ns.steps = 0n;
$ns.step_size = 0.0;
$ns.noise_variance = 0.0;
$ns.linear_term = 0.0;
$ns.output_noise = 0.0;
$ns.shape = null;
$ns.sampling = null;
$ns.exactness = null;
$ns.solver_passes = field([], {"default": 0n, "repr": false});
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
if (($.t($.ga(self, "linear_term")) && !$.t($.b.isinstance([$.ga(self, "start"), Minimizer])))) {
throw $.raised(InvalidParameter(["is part of what a solver minimises: it needs a start at the minimiser"], {"linear_term": $.ga(self, "linear_term")}));
}
return null;
});
$ns.counted = $.property($.fn("counted", ["self"], {}, function (self) {
return ($.t($.b.isinstance([$.ga(self, "start"), NoisyLeastSquares])) ? 1n : $.ga(self, "steps"));
}));
}), [["start", () => ["is", Start]], ["steps", () => ["is", $.b.int]], ["step_size", () => ["is", $.b.float]], ["noise_variance", () => ["is", $.b.float]], ["linear_term", () => ["is", $.b.float]], ["output_noise", () => ["is", $.b.float]], ["shape", () => ["or", ["of", $.b.tuple, ["is", $.b.float]], ["none"]]], ["sampling", () => ["or", ["is", Sampling], ["none"]]], ["exactness", () => ["or", ["is", Exactness], ["none"]]], ["solver_passes", () => ["is", $.b.int]]], {frozen: true});
WorstCaseRun = $.dataclass($.cls("WorstCaseRun", [], ($ns) => {
$ns.steps_with = $.libraries["math"].inf;
$ns.steps_without = 0n;
$ns.assuming = NON_ADAPTIVE;
}), [["steps_with", () => ["is", $.b.float]], ["steps_without", () => ["is", $.b.float]], ["assuming", () => ["is", $.b.str]]], {frozen: true});
PlannedGuarantees = $.dataclass($.cls("PlannedGuarantees", [], ($ns) => {
$ns.dp = WorstCaseRun([]);
$ns.deletion = WorstCaseRun([]);
$ns.deletion_steps = 0n;
$ns.utility_steps = 0n;
$ns.horizon = null;
$ns.relearns = false;
$ns.edits = $.tuple(["deleted", "replaced", "inserted"]);
$ns.unbounded = true;
$ns.counted_on = null;
}), [["dp", () => ["is", WorstCaseRun]], ["deletion", () => ["is", WorstCaseRun]], ["deletion_steps", () => ["is", $.b.int]], ["utility_steps", () => ["is", $.b.int]], ["horizon", () => ["or", ["is", $.b.int], ["none"]]], ["relearns", () => ["is", $.b.bool]], ["edits", () => ["of", $.b.tuple, ["is", $.b.str]]], ["unbounded", () => ["is", $.b.bool]], ["counted_on", () => ["or", ["is", Sampling], ["none"]]]], {frozen: true});
SOLVERS = $.tuple(["warm", "cold", "fixed"]);
solver_passes = $.fn("solver_passes", ["problem", "solver", "tolerance", "pull"], {"pull": 0.0}, function (problem, solver, tolerance, pull) {
let steps;
if ($.t($.eq(solver, "fixed"))) {
steps = proven_steps([], {"distance": $.div($.add($.ga($.ga($.ga(problem, "loss"), "constants"), "lipschitz"), pull), $.ga(problem, "strong_convexity")), "tolerance": tolerance, "strong_convexity": $.ga(problem, "strong_convexity"), "objective_smoothness": $.ga(problem, "objective_smoothness")});
return $.add(steps, 1n);
}
return forecast_passes([problem]);
});
forecast_passes = $.fn("forecast_passes", ["problem"], {}, function (problem) {
let _, kappa, narrow, outputs;
kappa = $.div($.ga(problem, "objective_smoothness"), $.ga(problem, "strong_convexity"));
outputs = $.ga($.ga(problem, "loss"), "outputs");
{const $v12 = $.unpack(sample_rows([], {"records": $.ga(problem, "records"), "features": $.ga(problem, "features"), "outputs": outputs, "condition_number": kappa}), 2, -1);_ = $v12[0];narrow = $v12[1];}
if (($.t(narrow) && $.t($.eq(outputs, 1n)))) {
return $.add(1n, $.libraries["math"].ceil([$.mul(2n, $.libraries["math"].pow([kappa, 0.25]))]));
}
return $.libraries["math"].ceil([$.mul(4n, $.libraries["math"].pow([kappa, 0.27]))]);
});
return {MethodRef, Problem, InitialLaw, Published, Minimizer, NoisyLeastSquares, CarriedSums, Sampling, Exactness, Start, Procedure, WorstCaseRun, PlannedGuarantees, SOLVERS, solver_passes, forecast_passes, Total, Worlds, Budget, Loss, ClassVar, ABC, field, NON_ADAPTIVE, proven_steps, sample_rows, InvalidParameter, check_scale, check_count, Any, DTYPES, check_choice, check_probability, DELETION_NOTIONS, ADJACENCIES, fields, asdict, column_variances, sensitivity_slack};
})();
$.modules["methods.counted"] = (() => {
let _MOST, CountedRecords;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const GRID_BITS = $.modules["bounds.arithmetic"]["GRID_BITS"];
const inexact_gdp = $.modules["bounds.objective_perturbation"]["inexact_gdp"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_count = $.modules["errors"]["check_count"];
const check_positive = $.modules["errors"]["check_positive"];
const SingleRelease = $.modules["methods.base"]["SingleRelease"];
_MOST = $.pow(2.0, 24n);
CountedRecords = $.dataclass($.cls("CountedRecords", [SingleRelease], ($ns) => {
$ns.method = "counted-records";
$ns.source = "counts of the records with an exact discrete Gaussian (Canonne, Kamath & Steinke 2020)";
$ns.notes = $.tuple(["Counts of the records were published too: a deletion takes nothing back of those that were made before it."]);
$ns.rows_per_subject = 1n;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.sup(CountedRecords, self, "__post_init__")([]);
check_count(["rows_per_subject", $.ga(self, "rows_per_subject")]);
if (($.t(!$.eq($.gi($.libraries["math"].frexp([check_positive(["deviation", $.ga(self, "deviation")])]), 0n), 0.5)) || !$.t((($v1, $v2, $v3) => $.le($v1, $v2) && $.le($v2, $v3))(1n, $.ga(self, "deviation"), _MOST)))) {
throw $.raised(InvalidParameter(["must be a power of two between 1 and 2^24: noise is drawn exactly on a grid that counts lie on"], {"deviation": $.ga(self, "deviation")}));
}
return null;
});
$ns.left = $.property($.fn("left", ["self"], {}, function (self) {
return "statistics";
}));
$ns.conditions = $.fn("conditions", ["self"], {}, function (self) {
return $.tuple([...$.each($.sup(CountedRecords, self, "conditions")([])), $.tuple(["counts-one-cell", $.dict([])])]);
});
$ns.apart = $.fn("apart", ["self", "worlds"], {}, function (self, worlds) {
return $.mul($.ga(self, "rows_per_subject"), ($.t($.ga(worlds, "between_records")) ? $.libraries["math"].sqrt([2n]) : 1.0));
});
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without"], {}, function (self, worlds, steps_with, steps_without) {
let grid, mu;
grid = $.mul($.ga(self, "deviation"), $.pow(2.0, $.neg(GRID_BITS)));
mu = inexact_gdp([], {"spread": $.cm(self, "apart", [worlds]), "output_noise": $.ga(self, "deviation"), "grid": grid});
return $.dict([["gdp_squared", $.mul(steps_with, $.pow(mu, 2n))]]);
});
}), [["deviation", () => ["is", $.b.float]], ["rows_per_subject", () => ["is", $.b.int]]], {frozen: true, kw_only: true});
return {_MOST, CountedRecords, ClassVar, SingleRelease, InvalidParameter, check_positive, check_count, inexact_gdp, GRID_BITS};
})();
$.modules["methods.sampled_steps"] = (() => {
let ORDERS, SampledGaussian, sampled_renyi, SampledSteps, sampled_epochs;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const renyi = $.modules["bounds.renyi"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_count = $.modules["errors"]["check_count"];
const check_positive = $.modules["errors"]["check_positive"];
const Condition = $.modules["methods.base"]["Condition"];
const Mechanism = $.modules["methods.base"]["Mechanism"];
ORDERS = $.tuple([...$.each($.b.range([2n, 33n])), 48n, 64n, 128n, 256n, 512n]);
SampledGaussian = $.dataclass($.cls("SampledGaussian", [Mechanism], ($ns) => {
$ns.method = "sampled-gaussian";
$ns.source = "R\u00e9nyi DP of the sampled Gaussian mechanism (Mironov, Talwar & Zhang 2019)";
$ns.notes = $.tuple(["A deleted record's part in a published extractor is not taken back by later releases."]);
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.sup(SampledGaussian, self, "__post_init__")([]);
check_positive(["noise_multiplier", $.ga(self, "noise_multiplier")]);
if (!$.t($.le(check_positive(["sampling_rate", $.ga(self, "sampling_rate")]), 1n))) {
throw $.raised(InvalidParameter(["must be at most 1"], {"sampling_rate": $.ga(self, "sampling_rate")}));
}
return null;
});
$ns.left = $.property($.fn("left", ["self"], {}, function (self) {
return "extractor";
}));
$ns.conditions = $.fn("conditions", ["self"], {}, function (self) {
let declared;
declared = ($.t($.ga(self, "proven")) ? $.tuple([]) : $.tuple([$.tuple(["constants-declared", $.dict([])])]));
return $.tuple([...$.each($.sup(SampledGaussian, self, "conditions")([])), ...$.each(declared), $.tuple(["samples-unseen", $.dict([])]), $.tuple(["gaussian-noise", $.dict([["method", $.ga(self, "method")]])])]);
});
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without"], {}, function (self, worlds, steps_with, steps_without) {
let bound, facts;
bound = ($.t($.ga(worlds, "between_records")) ? $.modules["bounds.renyi"].replace_renyi : $.modules["bounds.renyi"].zero_out_renyi);
facts = $.dict([["sampling_rate", $.ga(self, "sampling_rate")], ["noise_multiplier", $.ga(self, "noise_multiplier")], ["steps", steps_with]]);
return $.dict([["points", $.b.tuple([(function* ($first) { for (const $v1 of $.each($first)) { let order; order = $v1; yield $.tuple([$.b.float([order]), bound([], {"order": order, ...$.named(facts)})]); } })(ORDERS)])]]);
});
}), [["sampling_rate", () => ["is", $.b.float]], ["noise_multiplier", () => ["is", $.b.float]]], {frozen: true, kw_only: true});
sampled_renyi = $.fn("sampled_renyi", ["*", "order", "sampling_rate", "noise_multiplier", "draws", "worlds"], {}, function (order, sampling_rate, noise_multiplier, draws, worlds) {
let bound, listed;
listed = $.b.min([(function* ($first) { for (const $v2 of $.each($first)) { let one; one = $v2; if (!$.t($.le(order, one))) continue; yield one; } })(ORDERS)], {"default": null});
if ($.t($.is(listed, null))) {
return $.libraries["math"].inf;
}
bound = ($.t($.ga(worlds, "between_records")) ? $.modules["bounds.renyi"].replace_renyi : $.modules["bounds.renyi"].zero_out_renyi);
return bound([], {"order": listed, "sampling_rate": sampling_rate, "noise_multiplier": noise_multiplier, "steps": draws});
});
SampledSteps = $.dataclass($.cls("SampledSteps", [SampledGaussian], ($ns) => {
$ns.method = "sampled-steps";
$ns.notes = $.tuple([]);
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.sup(SampledSteps, self, "__post_init__")([]);
check_count(["draws", $.ga(self, "draws")]);
return null;
});
$ns.left = $.property($.fn("left", ["self"], {}, function (self) {
return "";
}));
$ns.passes = $.property($.fn("passes", ["self"], {}, function (self) {
return sampled_epochs([$.ga(self, "sampling_rate"), $.ga(self, "draws")]);
}));
$ns.exposure = $.fn("exposure", ["self", "steps"], {}, function (self, steps) {
return 1n;
});
$ns.check = $.fn("check", ["self", "steps", "*", "fresh", "inserted"], {"fresh": null, "inserted": false}, function (self, steps, fresh, inserted) {
if ($.t(!$.eq(steps, $.ga(self, "passes")))) {
throw $.raised(InvalidParameter([("" + "must be " + $.formatted($.ga(self, "passes"), "", "") + ": " + $.formatted($.ga(self, "draws"), "", "") + " samples of a share " + $.formatted($.ga(self, "sampling_rate"), "", ("" + "g")))], {"steps": steps}));
}
return null;
});
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without"], {}, function (self, worlds, steps_with, steps_without) {
return ($.t(steps_without) ? $.dict([]) : $.sup(SampledSteps, self, "_cost")([worlds, $.ga(self, "draws"), 0n]));
});
}), [["draws", () => ["is", $.b.int]]], {frozen: true, kw_only: true});
sampled_epochs = $.fn("sampled_epochs", ["sampling_rate", "draws"], {}, function (sampling_rate, draws) {
return $.b.max([1n, $.libraries["math"].ceil([$.mul($.mul(sampling_rate, draws), $.sub(1n, 1e-12))])]);
});
return {ORDERS, SampledGaussian, sampled_renyi, SampledSteps, sampled_epochs, ClassVar, Mechanism, InvalidParameter, check_positive, Condition, check_count};
})();
$.modules["methods.plan"] = (() => {
let MOST_STAGES, Method, Calibration, Plan, _NUMBERS, method_of;
const math = $.libraries["math"];
const abstractmethod = $.libraries["abc"]["abstractmethod"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const fields = $.libraries["dataclasses"]["fields"];
const replace = $.libraries["dataclasses"]["replace"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_count = $.modules["errors"]["check_count"];
const Loss = $.modules["losses.base"]["Loss"];
const PROOFS = $.modules["methods.base"]["PROOFS"];
const Mechanism = $.modules["methods.base"]["Mechanism"];
const InitialLaw = $.modules["methods.problem"]["InitialLaw"];
const MethodRef = $.modules["methods.problem"]["MethodRef"];
const Minimizer = $.modules["methods.problem"]["Minimizer"];
const NoisyLeastSquares = $.modules["methods.problem"]["NoisyLeastSquares"];
const PlannedGuarantees = $.modules["methods.problem"]["PlannedGuarantees"];
const Problem = $.modules["methods.problem"]["Problem"];
const Procedure = $.modules["methods.problem"]["Procedure"];
const Published = $.modules["methods.problem"]["Published"];
const WorstCaseRun = $.modules["methods.problem"]["WorstCaseRun"];
MOST_STAGES = 16n;
Method = $.dataclass($.cls("Method", [MethodRef], ($ns) => {
$ns.proof = $.gi(PROOFS, 0n);
$ns.weighed = "always";
$ns.own_ridge = false;
$ns.assemble = $.fn("assemble", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {

return null;
});
$ns.check_plan = $.fn("check_plan", ["self", "plan"], {}, function (self, plan) {
if (!$.t($.libraries["math"].isfinite([$.ga($.ga($.ga(plan, "loss"), "constants"), "lipschitz")]))) {
throw $.raised(InvalidParameter([("" + "the " + $.formatted($.ga($.ga(plan, "loss"), "name"), "", "") + " loss has no Lipschitz constant; clip its gradients to L")]));
}
return null;
});
}), [], {frozen: true});
Calibration = $.dataclass($.cls("Calibration", [], ($ns) => {
$ns.step_size = 0.0;
$ns.noise_variance = 0.0;
$ns.init_variance = 0.0;
$ns.learn_steps = 0n;
$ns.delete_steps_for_deletion = 0n;
$ns.delete_steps_for_utility = 0n;
$ns.gradient_tolerance = 0.0;
$ns.learn_solver_passes = 0n;
$ns.delete_solver_passes = 0n;
$ns.horizon = null;
$ns.linear_term = 0.0;
$ns.output_noise = 0.0;
$ns.stages = $.tuple([]);
$ns.kept = 0n;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name;
for (const $v1 of $.each($.tuple(["learn_steps", "delete_steps_for_deletion", "delete_steps_for_utility", "kept"]))) {
name = $v1;
check_count([name, $.b.getattr([self, name])], {"minimum": 0n});
}
return null;
});
$ns.delete_steps = $.property($.fn("delete_steps", ["self"], {}, function (self) {
return $.b.max([$.ga(self, "delete_steps_for_deletion"), $.ga(self, "delete_steps_for_utility")]);
}));
}), [["step_size", () => ["is", $.b.float]], ["noise_variance", () => ["is", $.b.float]], ["init_variance", () => ["is", $.b.float]], ["learn_steps", () => ["is", $.b.int]], ["delete_steps_for_deletion", () => ["is", $.b.int]], ["delete_steps_for_utility", () => ["is", $.b.int]], ["gradient_tolerance", () => ["is", $.b.float]], ["learn_solver_passes", () => ["is", $.b.int]], ["delete_solver_passes", () => ["is", $.b.int]], ["horizon", () => ["or", ["is", $.b.int], ["none"]]], ["linear_term", () => ["is", $.b.float]], ["output_noise", () => ["is", $.b.float]], ["stages", () => ["of", $.b.tuple, ["is", Plan]]], ["kept", () => ["is", $.b.int]]], {frozen: true, kw_only: true});
Plan = $.dataclass($.cls("Plan", [], ($ns) => {
$ns.stages = $.tuple([]);
$ns.kept = 0n;
$ns.staged = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let fresh, procedure;
for (const $v2 of $.each($.tuple([$.tuple([$.ga(self, "learning"), true]), $.tuple([$.ga(self, "serving"), $.ga($.ga(self, "mechanism"), "fresh")])]))) {
{const $v3 = $.unpack($v2, 2, -1);procedure = $v3[0];fresh = $v3[1];}
$.cm($.ga(self, "mechanism"), "check", [$.ga(procedure, "counted")], {"fresh": fresh});
}
return null;
});
$ns.of = $.classmethod($.fn("of", ["cls", "problem", "mechanism", "numbers", "*", "learning", "serving", "promise", "exactness", "sampling", "staged"], {"learning": null, "serving": null, "promise": null, "exactness": null, "sampling": null, "staged": null}, function (cls, problem, mechanism, numbers, learning, serving, promise, exactness, sampling, staged) {
let begin, noise, run, shape, steps;
steps = $.dict([["step_size", $.ga(numbers, "step_size")], ["noise_variance", $.ga(numbers, "noise_variance")]]);
noise = $.dict([["linear_term", $.ga(numbers, "linear_term")], ["output_noise", $.ga(numbers, "output_noise")]]);
shape = ($.t($.ga(numbers, "linear_term")) ? $.ga(problem, "noise_shape") : null);
run = $.fn("run", ["start", "number", "passes"], {}, function (start, number, passes) {
let own, taken;
own = $.dict([...$.pairs(steps), ...$.pairs(($.t($.b.isinstance([start, Minimizer])) ? $.dict([...$.pairs(noise), ["shape", shape]]) : $.dict([])))]);
taken = ($.t($.b.isinstance([start, NoisyLeastSquares])) ? 0n : number);
return Procedure([start, taken], {"solver_passes": passes, "exactness": exactness, "sampling": sampling, ...$.named(own)});
});
begin = ($.t($.is(learning, null)) ? InitialLaw([$.ga(numbers, "init_variance")]) : learning);
if ($.t($.is(promise, null))) {
promise = PlannedGuarantees([], {"deletion": WorstCaseRun([], {"steps_without": $.cm(mechanism, "exposure", [$.ga(numbers, "delete_steps")])})});
}
return cls([problem, mechanism, run([begin, $.ga(numbers, "learn_steps"), $.ga(numbers, "learn_solver_passes")]), run([$.either(serving, () => Published([])), $.ga(numbers, "delete_steps"), $.ga(numbers, "delete_solver_passes")]), replace([promise], {"deletion_steps": $.ga(numbers, "delete_steps_for_deletion"), "utility_steps": $.ga(numbers, "delete_steps_for_utility"), "horizon": $.ga(numbers, "horizon")}), $.ga(numbers, "stages"), $.ga(numbers, "kept"), staged]);
}));
$ns.numbers = $.property($.fn("numbers", ["self"], {}, function (self) {
return Calibration([], {...$.named($.dict((function* ($first) { for (const $v4 of $.each($first)) { let name; name = $v4; yield [name, $.b.getattr([self, name])]; } })(_NUMBERS)))});
}));
$ns.method = $.property($.fn("method", ["self"], {}, function (self) {
return method_of([$.ga(self, "problem")]);
}));
$ns.step_size = $.property($.fn("step_size", ["self"], {}, function (self) {
return $.ga($.ga(self, "learning"), "step_size");
}));
$ns.noise_variance = $.property($.fn("noise_variance", ["self"], {}, function (self) {
return $.ga($.ga(self, "learning"), "noise_variance");
}));
$ns.init_variance = $.property($.fn("init_variance", ["self"], {}, function (self) {
return ($.t($.b.isinstance([$.ga($.ga(self, "learning"), "start"), InitialLaw])) ? $.ga($.ga($.ga(self, "learning"), "start"), "variance") : 0.0);
}));
$ns.learn_steps = $.property($.fn("learn_steps", ["self"], {}, function (self) {
return $.ga($.ga(self, "learning"), "counted");
}));
$ns.delete_steps = $.property($.fn("delete_steps", ["self"], {}, function (self) {
return $.b.max([$.ga(self, "delete_steps_for_deletion"), $.ga(self, "delete_steps_for_utility")]);
}));
$ns.delete_steps_for_deletion = $.property($.fn("delete_steps_for_deletion", ["self"], {}, function (self) {
return $.ga($.ga(self, "promise"), "deletion_steps");
}));
$ns.delete_steps_for_utility = $.property($.fn("delete_steps_for_utility", ["self"], {}, function (self) {
return $.ga($.ga(self, "promise"), "utility_steps");
}));
$ns.gradient_tolerance = $.property($.fn("gradient_tolerance", ["self"], {}, function (self) {
return ($.t($.b.isinstance([$.ga($.ga(self, "learning"), "start"), Minimizer])) ? $.ga($.ga($.ga(self, "learning"), "start"), "tolerance") : 0.0);
}));
$ns.learn_solver_passes = $.property($.fn("learn_solver_passes", ["self"], {}, function (self) {
return $.ga($.ga(self, "learning"), "solver_passes");
}));
$ns.delete_solver_passes = $.property($.fn("delete_solver_passes", ["self"], {}, function (self) {
return $.ga($.ga(self, "serving"), "solver_passes");
}));
$ns.linear_term = $.property($.fn("linear_term", ["self"], {}, function (self) {
return $.ga($.ga(self, "learning"), "linear_term");
}));
$ns.output_noise = $.property($.fn("output_noise", ["self"], {}, function (self) {
return $.ga($.ga(self, "learning"), "output_noise");
}));
$ns.horizon = $.property($.fn("horizon", ["self"], {}, function (self) {
return $.ga($.ga(self, "promise"), "horizon");
}));
$ns.loss = $.property($.fn("loss", ["self"], {}, function (self) {
return $.ga($.ga(self, "problem"), "loss");
}));
$ns.budget = $.property($.fn("budget", ["self"], {}, function (self) {
return $.ga($.ga(self, "problem"), "budget");
}));
$ns.records = $.property($.fn("records", ["self"], {}, function (self) {
return $.ga($.ga(self, "problem"), "records");
}));
$ns.features = $.property($.fn("features", ["self"], {}, function (self) {
return $.ga($.ga(self, "problem"), "features");
}));
$ns.regularization = $.property($.fn("regularization", ["self"], {}, function (self) {
return $.ga($.ga(self, "problem"), "regularization");
}));
$ns.dimension = $.property($.fn("dimension", ["self"], {}, function (self) {
return $.ga($.ga(self, "problem"), "dimension");
}));
$ns.releases = $.property($.fn("releases", ["self"], {}, function (self) {
return $.ga($.ga(self, "problem"), "releases");
}));
$ns.total = $.property($.fn("total", ["self"], {}, function (self) {
return $.ga($.ga(self, "problem"), "total");
}));
$ns.model_loss = $.property($.fn("model_loss", ["self"], {}, function (self) {
return ($.t($.is($.ga(self, "staged"), null)) ? $.ga(self, "loss") : $.ga(self, "staged"));
}));
$ns.shape = $.property($.fn("shape", ["self"], {}, function (self) {
return $.cm($.ga(self, "model_loss"), "shape", [$.ga(self, "features")]);
}));
$ns.noise_shape = $.property($.fn("noise_shape", ["self"], {}, function (self) {
return ($.t($.ga(self, "linear_term")) ? $.ga($.ga(self, "problem"), "noise_shape") : null);
}));
$ns.dp = $.property($.fn("dp", ["self"], {}, function (self) {
return $.cm(self, "_of_costliest", ["dp", $.ga($.ga(self, "problem"), "adjacency"), $.ga($.ga(self, "promise"), "dp")]);
}));
$ns.deletion = $.property($.fn("deletion", ["self"], {}, function (self) {
let fading;
fading = $.ga($.ga(self, "mechanism"), "fading");
if ($.t(!$.is(fading, null))) {
return $.cm(fading, "forgets", [], {"learn_steps": $.ga(self, "learn_steps"), "delete_steps": $.ga(self, "delete_steps"), "batch": $.ga($.ga(self, "problem"), "batch")});
}
return $.cm(self, "_of_costliest", ["deletion", $.ga($.ga(self, "problem"), "deletion_notion"), $.ga($.ga(self, "promise"), "deletion")]);
}));
$ns._of_costliest = $.fn("_of_costliest", ["self", "about", "worlds", "longest"], {}, function (self, about, worlds, longest) {
let steps;
steps = $.dict([["steps_with", $.ga(longest, "steps_with")], ["steps_without", $.ga(longest, "steps_without")]]);
return $.cm($.cm($.ga(self, "mechanism"), "interval", [about, worlds], {...$.named(steps)}), "assuming", [$.ga(longest, "assuming")]);
});
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
let inner, numbers;
inner = ($.t($.ga(self, "stages")) ? $.dict([["stages", [...(function* ($first) { for (const $v5 of $.each($first)) { let stage; stage = $v5; yield $.cm(stage, "to_dict", []); } })($.ga(self, "stages"))]], ["kept", $.ga(self, "kept")]]) : $.dict([]));
numbers = $.dict((function* ($first) { for (const $v6 of $.each($first)) { let name; name = $v6; if (!$.t(!$.has($.tuple(["stages", "kept"]), name))) continue; yield [name, $.b.getattr([self, name])]; } })(_NUMBERS));
return $.dict([["problem", $.cm($.ga(self, "problem"), "to_dict", [])], ...$.pairs(numbers), ...$.pairs(inner)]);
});
}), [["problem", () => ["is", Problem]], ["mechanism", () => ["is", Mechanism]], ["learning", () => ["is", Procedure]], ["serving", () => ["is", Procedure]], ["promise", () => ["is", PlannedGuarantees]], ["stages", () => ["of", $.b.tuple, ["is", Plan]]], ["kept", () => ["is", $.b.int]], ["staged", () => ["or", ["is", Loss], ["none"]]]], {frozen: true});
_NUMBERS = $.b.tuple([(function* ($first) { for (const $v7 of $.each($first)) { let field; field = $v7; yield $.ga(field, "name"); } })(fields([Calibration]))]);
method_of = $.fn("method_of", ["problem"], {}, function (problem) {
if (!$.t($.b.isinstance([$.ga(problem, "method"), Method]))) throw $.raised($.b.AssertionError);
return $.ga(problem, "method");
});
return {MOST_STAGES, Method, Calibration, Plan, _NUMBERS, method_of, ClassVar, PROOFS, MethodRef, Loss, PlannedGuarantees, Procedure, Mechanism, Problem, check_count, abstractmethod, InvalidParameter, fields, replace, Published, WorstCaseRun, InitialLaw, NoisyLeastSquares, Any, Minimizer};
})();
$.modules["methods"] = (() => {
let __getattr__, _METHODS, _ANALYSES, _STAGE_METHODS, _MECHANISMS, METHODS, ANALYSES, STAGE_METHODS, MECHANISMS;
const Mapping = $.libraries["collections.abc"]["Mapping"];
const Catalogue = $.modules["lazy_imports"]["Catalogue"];
const on_first_use = $.libraries["lazy_imports"]["on_first_use"];
__getattr__ = on_first_use(["methods", $.dict([...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["Mechanism", "NoisySteps"]), "base"])), ["CountedRecords", "counted"], ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["NoisyGD", "NoisyGDRun"]), "noisy_gd"])), ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["CompositionNoisyGD", "CompositionNoisyGDRun"]), "noisy_gd_composition"])), ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["GibbsNoisyGD", "GibbsNoisyGDRun"]), "noisy_gd_gibbs"])), ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["PaperNoisyGD", "PaperNoisyGDRun"]), "noisy_gd_paper"])), ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["ObjectivePerturbation", "ObjectivePerturbationRun"]), "objective_perturbation"])), ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["OutputPerturbation", "OutputPerturbationRun"]), "output_perturbation"])), ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["Method", "Plan"]), "plan"])), ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["Problem", "Procedure"]), "problem"])), ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["Moments", "MomentsRun"]), "moments"])), ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["SampledGaussian", "SampledSteps"]), "sampled_steps"])), ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["Staged", "StagedRun", "SampledStage", "Stage"]), "staged"])), ...$.pairs($.cm($.b.dict, "fromkeys", [$.tuple(["SufficientStatistics", "SufficientStatisticsRun"]), "sufficient_statistics"]))])]);
_METHODS = $.dict([["noisy-gd", "NoisyGD"], ["output-perturbation", "OutputPerturbation"], ["objective-perturbation", "ObjectivePerturbation"], ["sufficient-statistics", "SufficientStatistics"], ["staged", "Staged"]]);
_ANALYSES = $.dict([["tight", "NoisyGD"], ["paper", "PaperNoisyGD"], ["composition", "CompositionNoisyGD"], ["theorem-5-2", "GibbsNoisyGD"]]);
_STAGE_METHODS = $.dict([["moments", "Moments"], ["sampled-steps", "SampledStage"]]);
_MECHANISMS = $.dict([...$.pairs($.dict((function* ($first) { for (const $v1 of $.each($first)) { let analysis, method; {const $v2 = $.unpack($v1, 2, -1);analysis = $v2[0];method = $v2[1];} yield [("" + "noisy-gd-" + $.formatted(analysis, "", "")), ("" + $.formatted(method, "", "") + "Run")]; } })($.cm(_ANALYSES, "items", [])))), ...$.pairs($.dict((function* ($first) { for (const $v3 of $.each($first)) { let method, name; {const $v4 = $.unpack($v3, 2, -1);name = $v4[0];method = $v4[1];} if (!$.t(!$.eq(name, "noisy-gd"))) continue; yield [name, ("" + $.formatted(method, "", "") + "Run")]; } })($.cm(_METHODS, "items", [])))), ["moments", "MomentsRun"], ["sampled-steps", "SampledSteps"], ["sampled-gaussian", "SampledGaussian"], ["counted-records", "CountedRecords"]]);
METHODS = Catalogue([_METHODS, $.fn("<lambda>", ["name"], {}, (name) => __getattr__([$.gi(_METHODS, name)]))]);
ANALYSES = Catalogue([_ANALYSES, $.fn("<lambda>", ["name"], {}, (name) => __getattr__([$.gi(_ANALYSES, name)]))]);
STAGE_METHODS = Catalogue([_STAGE_METHODS, $.fn("<lambda>", ["name"], {}, (name) => __getattr__([$.gi(_STAGE_METHODS, name)]))]);
MECHANISMS = Catalogue([_MECHANISMS, $.fn("<lambda>", ["name"], {}, (name) => __getattr__([$.gi(_MECHANISMS, name)]))]);
return {__getattr__, _METHODS, _ANALYSES, _STAGE_METHODS, _MECHANISMS, METHODS, ANALYSES, STAGE_METHODS, MECHANISMS, Mapping, Catalogue, on_first_use};
})();
$.modules["methods.noisy_gd_composition"] = (() => {
let FRESH_LEARN, _CONDITION, CompositionNoisyGDRun, CompositionNoisyGD, _check_zero_out, check_sampled;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const replace = $.libraries["dataclasses"]["replace"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const theorem_5_1 = $.modules["bounds.theorem_5_1"];
const AssumptionViolated = $.modules["errors"]["AssumptionViolated"];
const check_choice = $.modules["errors"]["check_choice"];
const check_count = $.modules["errors"]["check_count"];
const check_positive = $.modules["errors"]["check_positive"];
const NON_ADAPTIVE = $.modules["privacy.guarantee"]["NON_ADAPTIVE"];
const Worlds = $.modules["privacy.guarantee"]["Worlds"];
const Condition = $.modules["methods.base"]["Condition"];
const NoisySteps = $.modules["methods.base"]["NoisySteps"];
const Method = $.modules["methods.plan"]["Method"];
const Plan = $.modules["methods.plan"]["Plan"];
const PlannedGuarantees = $.modules["methods.problem"]["PlannedGuarantees"];
const Sampling = $.modules["methods.problem"]["Sampling"];
const WorstCaseRun = $.modules["methods.problem"]["WorstCaseRun"];
const ORDERS = $.modules["methods.sampled_steps"]["ORDERS"];
const sampled_renyi = $.modules["methods.sampled_steps"]["sampled_renyi"];
FRESH_LEARN = $.tuple(["demand", "automatic"]);
_CONDITION = ("" + $.formatted(NON_ADAPTIVE, "", "") + " than those since the last fresh learn");
CompositionNoisyGDRun = $.dataclass($.cls("CompositionNoisyGDRun", [NoisySteps], ($ns) => {
$ns.method = "noisy-gd-composition";
$ns.source = "composition of noisy steps, each a Gaussian mechanism (in R\u00e9nyi form: Chourasia & Shah 2023, G.7)";
$ns.notes = $.tuple(["Under composition no number of clean steps forgets; only a fresh learn does, and it adds to what the others spend."]);
$ns.batches = 1n;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.sup(CompositionNoisyGDRun, self, "__post_init__")([]);
check_count(["batches", $.ga(self, "batches")]);
return null;
});
$ns.noise_multiplier = $.property($.fn("noise_multiplier", ["self"], {}, function (self) {
let moved;
moved = $.div($.mul($.mul($.mul($.ga(self, "step_size"), $.ga(self, "lipschitz")), $.add(1n, $.ga(self, "slack"))), $.ga(self, "batches")), $.ga(self, "records"));
return $.div($.ga(self, "noise_scale"), moved);
}));
$ns.conditions = $.fn("conditions", ["self"], {}, function (self) {
let sampled;
sampled = ($.t($.lt(1n, $.ga(self, "batches"))) ? $.tuple([$.tuple(["samples-unseen", $.dict([])])]) : $.tuple([]));
return $.tuple([...$.each($.sup(CompositionNoisyGDRun, self, "conditions")([])), ...$.each(sampled)]);
});
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without"], {}, function (self, worlds, steps_with, steps_without) {
let facts, points, rate;
if ($.t($.lt(1n, $.ga(self, "batches")))) {
facts = $.dict([["sampling_rate", $.div(1n, $.ga(self, "batches"))], ["noise_multiplier", $.ga(self, "noise_multiplier")], ["draws", $.mul(steps_with, $.ga(self, "batches"))]]);
points = (function* ($first) { for (const $v1 of $.each($first)) { let order; order = $v1; yield $.tuple([$.b.float([order]), sampled_renyi([], {"order": order, "worlds": worlds, ...$.named(facts)})]); } })(ORDERS);
return $.dict([["points", $.b.tuple([points])], ["slack", 0.0]]);
}
rate = $.modules["bounds.theorem_5_1"].composition_rate([], {...$.named($.cm(self, "_chain", [])), "sensitivity": $.cm(self, "sensitivity", [worlds]), "steps": steps_with});
return $.dict([["gdp_squared", $.mul(2n, rate)]]);
});
}), [["batches", () => ["is", $.b.int]]], {frozen: true, kw_only: true});
CompositionNoisyGD = $.dataclass($.cls("CompositionNoisyGD", [Method], ($ns) => {
$ns.name = "noisy-gd";
$ns.analysis = "composition";
$ns.summary = "noisy gradient descent by composition: every noisy step costs, a fresh learn forgets; non-convex losses";
$ns.weighed = "never";
$ns.learn_steps = null;
$ns.delete_steps = null;
$ns.requests_per_learn = 20n;
$ns.fresh_learn = "demand";
$ns.step_size = null;
$ns.noise_variance = null;
$ns.batches = 1n;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name;
check_count(["batches", $.ga(self, "batches")]);
for (const $v2 of $.each($.tuple(["learn_steps", "delete_steps"]))) {
name = $v2;
if ($.t(!$.is($.b.getattr([self, name]), null))) {
check_count([name, $.b.getattr([self, name])]);
}
}
check_count(["requests_per_learn", $.ga(self, "requests_per_learn")]);
check_choice(["fresh_learn", $.ga(self, "fresh_learn"), FRESH_LEARN]);
for (const $v3 of $.each($.tuple(["step_size", "noise_variance"]))) {
name = $v3;
if ($.t(!$.is($.b.getattr([self, name]), null))) {
check_positive([name, $.b.getattr([self, name])]);
}
}
return null;
});
$ns._published = $.fn("_published", ["self", "problem", "learn", "delete"], {}, function (self, problem, learn, delete$) {
let learns;
if ($.t($.eq($.ga(problem, "releases"), 1n))) {
return $.add(learn, $.mul($.ga(self, "requests_per_learn"), delete$));
}
learns = $.neg($.floordiv($.neg($.ga(problem, "releases")), $.add($.ga(self, "requests_per_learn"), 1n)));
return $.add($.mul(learns, $.b.max([learn, delete$])), $.mul($.sub($.ga(problem, "releases"), learns), delete$));
});
$ns.check_plan = $.fn("check_plan", ["self", "plan"], {}, function (self, plan) {
$.sup(CompositionNoisyGD, self, "check_plan")([plan]);
if ($.t($.lt(1n, $.ga(self, "batches")))) {
_check_zero_out([$.ga(plan, "problem")]);
}
return null;
});
$ns.assemble = $.fn("assemble", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {
let counted, facts, horizon, learning, longest, passes, plan, promise, requested, run, sampled, serving;
horizon = ($.t($.is($.ga(numbers, "horizon"), null)) ? $.libraries["math"].inf : $.ga(numbers, "horizon"));
longest = $.add(horizon, $.ga(numbers, "delete_steps"));
if ($.t($.lt(1n, $.ga(problem, "releases")))) {
requested = $.mul($.sub($.ga(problem, "releases"), 1n), $.ga(numbers, "delete_steps"));
longest = $.b.min([longest, $.add($.b.max([$.ga(numbers, "learn_steps"), $.ga(numbers, "delete_steps")]), requested)]);
}
promise = PlannedGuarantees([], {"dp": WorstCaseRun([longest], {"assuming": _CONDITION}), "deletion": WorstCaseRun([horizon], {"assuming": _CONDITION}), "relearns": $.eq($.ga(self, "fresh_learn"), "automatic")});
facts = $.cm(problem, "run", [], {"step_size": $.ga(numbers, "step_size"), "noise_variance": $.ga(numbers, "noise_variance")});
run = CompositionNoisyGDRun([], {...$.named(facts), "batches": $.ga(self, "batches")});
if ($.t($.eq($.ga(self, "batches"), 1n))) {
return $.cm(Plan, "of", [problem, run, numbers], {"promise": promise});
}
passes = $.cm(self, "_published", [problem, $.ga(numbers, "learn_steps"), $.ga(numbers, "delete_steps")]);
counted = replace([promise], {"counted_on": Sampling([$.div(1n, $.ga(self, "batches")), $.mul(passes, $.ga(self, "batches"))])});
plan = $.cm(Plan, "of", [problem, run, numbers], {"promise": counted});
sampled = (function* ($first) { for (const $v4 of $.each($first)) { let procedure; procedure = $v4; yield replace([procedure], {"sampling": Sampling([$.div(1n, $.ga(self, "batches")), $.mul($.ga(procedure, "steps"), $.ga(self, "batches"))])}); } })($.tuple([$.ga(plan, "learning"), $.ga(plan, "serving")]));
{const $v5 = $.unpack(sampled, 2, -1);learning = $v5[0];serving = $v5[1];}
return replace([plan], {"learning": learning, "serving": serving});
});
}), [["learn_steps", () => ["or", ["is", $.b.int], ["none"]]], ["delete_steps", () => ["or", ["is", $.b.int], ["none"]]], ["requests_per_learn", () => ["is", $.b.int]], ["fresh_learn", () => ["is", $.b.str]], ["step_size", () => ["or", ["is", $.b.float], ["none"]]], ["noise_variance", () => ["or", ["is", $.b.float], ["none"]]], ["batches", () => ["is", $.b.int]]], {frozen: true});
_check_zero_out = $.fn("_check_zero_out", ["problem"], {}, function (problem) {
let name, worlds;
check_sampled([problem]);
for (const $v6 of $.each($.tuple(["adjacency", "deletion_notion"]))) {
name = $v6;
worlds = $.b.getattr([problem, name]);
if ($.t($.ga(worlds, "between_records"))) {
throw $.raised(AssumptionViolated([("" + "is not counted for steps on samples: give adjacency='zero-out' and deletion_notion=" + $.formatted($.b.str([$.ga(Worlds, "DEFINITION_4_1")]), "r", "") + ", or leave batches out")], {...$.named($.dict([[name, $.b.str([worlds])]]))}));
}
}
return null;
});
check_sampled = $.fn("check_sampled", ["problem"], {}, function (problem) {
if ($.t($.lt(1n, $.ga(problem, "rows_per_subject")))) {
throw $.raised(AssumptionViolated(["is too many for samples: m rows in samples cost far more than m\u00b2 times one; plan for steps on all rows, or keep one row of each person"], {"rows_per_subject": $.ga(problem, "rows_per_subject")}));
}
if (!$.t($.ga($.ga(problem, "loss"), "clips_each"))) {
throw $.raised(AssumptionViolated([("" + "steps on samples clip every record's gradient, which the " + $.formatted($.ga($.ga(problem, "loss"), "name"), "", "") + " loss does not; take losses.MultilayerPerceptron or networks.NetworkLoss, or plan for steps on all rows")]));
}
return null;
});
return {FRESH_LEARN, _CONDITION, CompositionNoisyGDRun, CompositionNoisyGD, _check_zero_out, check_sampled, ClassVar, Method, NoisySteps, check_positive, check_choice, check_count, replace, Sampling, Plan, WorstCaseRun, PlannedGuarantees, Condition, Worlds, AssumptionViolated, NON_ADAPTIVE, ORDERS, sampled_renyi, Any};
})();
$.modules["methods.noisy_gd_gibbs"] = (() => {
let _ORDERS, _SOURCES, GibbsNoisyGDRun, GibbsNoisyGD;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const theorem_5_1 = $.modules["bounds.theorem_5_1"];
const FORMS = $.modules["bounds.theorem_5_2"]["FORMS"];
const Gibbs = $.modules["bounds.theorem_5_2"]["Gibbs"];
const AssumptionViolated = $.modules["errors"]["AssumptionViolated"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_choice = $.modules["errors"]["check_choice"];
const check_positive = $.modules["errors"]["check_positive"];
const renyi_order = $.modules["errors"]["renyi_order"];
const NON_ADAPTIVE = $.modules["privacy.guarantee"]["NON_ADAPTIVE"];
const Worlds = $.modules["privacy.guarantee"]["Worlds"];
const NoisySteps = $.modules["methods.base"]["NoisySteps"];
const Method = $.modules["methods.plan"]["Method"];
const Plan = $.modules["methods.plan"]["Plan"];
const PlannedGuarantees = $.modules["methods.problem"]["PlannedGuarantees"];
const WorstCaseRun = $.modules["methods.problem"]["WorstCaseRun"];
_ORDERS = [...(function* ($first) { for (const $v1 of $.each($first)) { let k; k = $v1; yield $.add(1n, $.pow(10n, $.div(k, 4n))); } })($.b.range([$.neg(4n), 9n]))];
_SOURCES = $.dict([["printed", "Chourasia & Shah 2023, Theorem 5.2 (G.22, G.23)"], ["sharper", "Theorem 5.2's induction with the oscillation of the loss, at every order up to q"]]);
GibbsNoisyGDRun = $.dataclass($.cls("GibbsNoisyGDRun", [NoisySteps], ($ns) => {
$ns.method = "noisy-gd-theorem-5-2";
$ns.source = "composition of noisy steps, each a Gaussian mechanism (in R\u00e9nyi form: Chourasia & Shah 2023, G.7)";
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without"], {}, function (self, worlds, steps_with, steps_without) {
let rate;
rate = $.modules["bounds.theorem_5_1"].composition_rate([], {...$.named($.cm(self, "_chain", [])), "sensitivity": $.cm(self, "sensitivity", [worlds]), "steps": steps_with});
return ($.t($.eq($.ga($.ga(self, "gibbs"), "form"), "printed")) ? $.dict([["rate", rate]]) : $.dict([["gdp_squared", $.mul(2n, rate)]]));
});
$ns.fading = $.property($.fn("fading", ["self"], {}, function (self) {
return self;
}));
$ns.distance_after = $.fn("distance_after", ["self", "before", "steps", "edits"], {}, function (self, before, steps, edits) {
return $.cm($.ga(self, "gibbs"), "distance_after", [], {"before": before, "steps": steps, "edits": edits, ...$.named($.cm(self, "_chain", []))});
});
$ns.forgets = $.fn("forgets", ["self", "*", "learn_steps", "delete_steps", "batch"], {}, function (self, learn_steps, delete_steps, batch) {
let requests;
requests = $.dict([["learn_steps", learn_steps], ["delete_steps", delete_steps], ["batch", batch]]);
return $.cm(self, "guarantee_at", [$.cm($.ga(self, "gibbs"), "worst_closeness", [], {...$.named(requests), ...$.named($.cm(self, "_chain", []))})]);
});
$ns.guarantee_at = $.fn("guarantee_at", ["self", "closeness"], {}, function (self, closeness) {
let facts, hidden;
facts = $.dict([["source", $.gi(_SOURCES, $.ga($.ga(self, "gibbs"), "form"))], ["points", $.tuple([$.tuple([$.ga($.ga(self, "gibbs"), "order"), closeness])])]]);
hidden = "no earlier model was observed";
return $.cm($.cm($.cm(self, "_guarantee", ["deletion", $.ga(Worlds, "IDEAL_LAW")], {...$.named(facts)}), "assuming", [hidden]), "assuming", [NON_ADAPTIVE]);
});
}), [["gibbs", () => ["is", Gibbs]]], {frozen: true, kw_only: true});
GibbsNoisyGD = $.dataclass($.cls("GibbsNoisyGD", [Method], ($ns) => {
$ns.name = "noisy-gd";
$ns.analysis = "theorem-5-2";
$ns.summary = "noisy gradient descent by Theorem 5.2, as printed or sharpened; rarely runnable";
$ns.weighed = "never";
$ns.form = "printed";
$ns.noise_variance = null;
$ns.order = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
check_choice(["form", $.ga(self, "form"), FORMS]);
if ($.t(!$.has($.tuple([null, "cheapest"]), $.ga(self, "noise_variance")))) {
check_positive(["noise_variance", $.ga(self, "noise_variance")]);
}
if ($.t(!$.is($.ga(self, "order"), null))) {
renyi_order(["order", $.ga(self, "order")]);
}
return null;
});
$ns._orders = $.fn("_orders", ["self", "budget"], {}, function (self, budget) {
if ($.t($.eq($.ga(budget, "measure"), "gdp"))) {
throw $.raised(InvalidParameter(["a Gaussian-DP budget cannot be met through Theorem 5.2: it bounds one R\u00e9nyi order; give the budget with an order, \u03bb > \u03b2\u208b with analysis 'tight', or analysis 'composition'"]));
}
if ($.t(!$.is($.ga(self, "order"), null))) {
return [$.ga(self, "order")];
}
return ($.t($.is($.ga(budget, "order"), null)) ? _ORDERS : [$.ga(budget, "order")]);
});
$ns.check_plan = $.fn("check_plan", ["self", "plan"], {}, function (self, plan) {
$.sup(GibbsNoisyGD, self, "check_plan")([plan]);
$.cm(self, "_check", [$.ga(plan, "problem")]);
if (!$.t($.libraries["math"].isclose([$.ga(plan, "init_variance"), $.div($.ga(plan, "noise_variance"), $.ga(plan, "regularization"))], {"rel_tol": 1e-09}))) {
throw $.raised(AssumptionViolated(["must be \u03c3\u00b2/\u03bb: Theorem 5.2 starts from that law"], {"init_variance": $.ga(plan, "init_variance")}));
}
return null;
});
$ns.assemble = $.fn("assemble", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {
let constants, facts, gibbs, known;
if ($.t($.is($.ga(self, "order"), null))) {
throw $.raised(InvalidParameter(["a plan by Theorem 5.2 states its R\u00e9nyi order"], {"order": null}));
}
constants = $.ga($.ga(problem, "loss"), "constants");
gibbs = Gibbs([], {"order": $.ga(self, "order"), "range": $.ga(constants, "range"), "smoothness": $.ga(constants, "curvature"), "regularization": $.ga(problem, "regularization"), "dimension": $.ga(problem, "dimension"), "form": $.ga(self, "form")});
facts = $.cm(problem, "run", [], {"step_size": $.ga(numbers, "step_size"), "noise_variance": $.ga(numbers, "noise_variance")});
known = WorstCaseRun([$.b.max([$.ga(numbers, "learn_steps"), $.ga(numbers, "delete_steps")])], {"assuming": "the model published before it is known"});
return $.cm(Plan, "of", [problem, GibbsNoisyGDRun([], {...$.named(facts), "gibbs": gibbs}), numbers], {"promise": PlannedGuarantees([], {"dp": known, "unbounded": $.eq($.ga(self, "form"), "sharper")})});
});
$ns._check = $.fn("_check", ["self", "problem"], {}, function (self, problem) {
let constants;
constants = $.ga($.ga(problem, "loss"), "constants");
if ($.t($.ga(constants, "convex"))) {
throw $.raised(InvalidParameter(["is for non-convex losses; use analysis 'tight'"], {"analysis": $.ga(self, "analysis")}));
}
if (!$.t($.ga(constants, "proven"))) {
throw $.raised(AssumptionViolated([("" + "the " + $.formatted($.ga($.ga(problem, "loss"), "name"), "", "") + " loss only declares its constants; Theorem 5.2 needs proven ones: use analysis 'composition'")]));
}
if (!$.t($.libraries["math"].isfinite([$.ga(constants, "range")]))) {
throw $.raised(AssumptionViolated([("" + "the " + $.formatted($.ga($.ga(problem, "loss"), "name"), "", "") + " loss has range \u03c9=" + $.formatted($.ga(constants, "range"), "", ("" + "g")) + ": Theorem 5.2 needs a bounded loss. Use a bounded one, \u03bb > \u03b2\u208b=" + $.formatted($.ga(constants, "weak_convexity"), "", ("" + "g")) + " with analysis 'tight', or analysis 'composition'")]));
}
if ($.t(!$.is($.ga(problem, "deletion_notion"), $.ga(Worlds, "DEFINITION_4_1")))) {
throw $.raised(InvalidParameter(["is not covered by Theorem 5.2, which compares with a law that never saw the record (Definition 4.1)"], {"deletion_notion": "pairwise"}));
}
return null;
});
}), [["form", () => ["is", $.b.str]], ["noise_variance", () => ["or", ["or", ["is", $.b.float], ["is", $.b.str]], ["none"]]], ["order", () => ["or", ["is", $.b.float], ["none"]]]], {frozen: true});
return {_ORDERS, _SOURCES, GibbsNoisyGDRun, GibbsNoisyGD, ClassVar, Method, Gibbs, NoisySteps, renyi_order, check_positive, FORMS, check_choice, AssumptionViolated, PlannedGuarantees, Plan, WorstCaseRun, InvalidParameter, Worlds, NON_ADAPTIVE, Any};
})();
$.modules["methods.objective_perturbation"] = (() => {
let ObjectivePerturbationRun, _UNUSUAL, form_of, row_facts, rounding_of_gradient, minimizer_norm_bound, linear_term_bound, ObjectivePerturbation, check_covered, _check_curving;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const losses = $.modules["losses"];
const bounds = $.modules["bounds.objective_perturbation"];
const GRID_BITS = $.modules["bounds.arithmetic"]["GRID_BITS"];
const ROOM = $.modules["bounds.arithmetic"]["ROOM"];
const UNIT = $.modules["bounds.arithmetic"]["UNIT"];
const gradient_error = $.modules["bounds.arithmetic"]["gradient_error"];
const AssumptionViolated = $.modules["errors"]["AssumptionViolated"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_choice = $.modules["errors"]["check_choice"];
const check_count = $.modules["errors"]["check_count"];
const check_positive = $.modules["errors"]["check_positive"];
const non_negative = $.modules["errors"]["non_negative"];
const Measures = $.modules["privacy.budget"]["Measures"];
const FORMS = $.modules["privacy.guarantee"]["FORMS"];
const ONE_DIRECTION = $.modules["privacy.guarantee"]["ONE_DIRECTION"];
const WEAKLY_CONVEX = $.modules["privacy.guarantee"]["WEAKLY_CONVEX"];
const Curve = $.modules["privacy.guarantee"]["Curve"];
const PROOFS = $.modules["methods.base"]["PROOFS"];
const SingleRelease = $.modules["methods.base"]["SingleRelease"];
const bounded_gradients = $.modules["methods.base"]["bounded_gradients"];
const MOST_STAGES = $.modules["methods.plan"]["MOST_STAGES"];
const Method = $.modules["methods.plan"]["Method"];
const Plan = $.modules["methods.plan"]["Plan"];
const SOLVERS = $.modules["methods.problem"]["SOLVERS"];
ObjectivePerturbationRun = $.dataclass($.cls("ObjectivePerturbationRun", [SingleRelease], ($ns) => {
$ns.method = "objective-perturbation";
$ns.source = "objective perturbation with an exact discrete Gaussian on the output (tilted densities in R\u00e9nyi DP; a flow of densities in Gaussian DP)";
$ns.fresh = true;
$ns.steps = 0n;
$ns.weak_convexity = 0.0;
$ns.blocks = 1n;
$ns.rows_per_subject = 1n;
$ns.warm = false;
$ns.shaped = false;
$ns.in_place = true;
$ns.chain = 1n;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name;
$.sup(ObjectivePerturbationRun, self, "__post_init__")([]);
for (const $v1 of $.each($.tuple(["linear_term", "output_noise", "gradient_tolerance", "strong_convexity", "lipschitz"]))) {
name = $v1;
check_positive([name, $.b.getattr([self, name])]);
}
for (const $v2 of $.each($.tuple(["smoothness", "weak_convexity"]))) {
name = $v2;
non_negative([name, $.b.getattr([self, name])]);
}
for (const $v3 of $.each($.tuple(["dimension", "blocks", "rows_per_subject", "chain"]))) {
name = $v3;
check_count([name, $.b.getattr([self, name])]);
}
check_choice(["form", $.ga(self, "form"), FORMS]);
if ($.t(!$.eq($.gi($.libraries["math"].frexp([$.ga(self, "output_noise")]), 0n), 0.5))) {
throw $.raised(InvalidParameter(["must be a power of two: only then is its grid exact on a machine"], {"output_noise": $.ga(self, "output_noise")}));
}
if ($.t(!$.eq($.eq($.ga(self, "form"), WEAKLY_CONVEX), $.lt(0n, $.ga(self, "weak_convexity"))))) {
throw $.raised(InvalidParameter([("" + "and weak_convexity=" + $.formatted($.ga(self, "weak_convexity"), "", ("" + "g")) + " contradict each other")], {"form": $.ga(self, "form")}));
}
if (!$.t($.lt(0n, $.ga(self, "_least_curvature")))) {
throw $.raised(InvalidParameter(["is too near 0 beside the curvature of a row"], {"strong_convexity": $.ga(self, "strong_convexity")}));
}
return null;
});
$ns.shows_start = $.property($.fn("shows_start", ["self"], {}, function (self) {
return $.ga(self, "warm");
}));
$ns.shows_order = $.property($.fn("shows_order", ["self"], {}, function (self) {
return !$.t($.ga(self, "in_place"));
}));
$ns.grid = $.property($.fn("grid", ["self"], {}, function (self) {
return $.libraries["math"].ldexp([$.ga(self, "output_noise"), $.neg(GRID_BITS)]);
}));
$ns._least_curvature = $.property($.fn("_least_curvature", ["self"], {}, function (self) {
return $.sub($.ga(self, "strong_convexity"), $.mul($.mul($.ga(self, "weak_convexity"), $.sub($.pow(ROOM, 2n), 1n)), 2n));
}));
$ns.ratios = $.fn("ratios", ["self"], {}, function (self) {
let below, weak, world;
world = $.dict([["strong_convexity", $.ga(self, "_least_curvature")], ["records", $.ga(self, "records")]]);
weak = $.dict([["weak_convexity", $.mul($.ga(self, "weak_convexity"), $.pow(ROOM, 2n))]]);
below = $.modules["bounds.objective_perturbation"].curvature_ratio([], {"smoothness": $.mul($.ga(self, "weak_convexity"), $.pow(ROOM, 2n)), ...$.named(weak), ...$.named(world)});
return $.tuple([$.modules["bounds.objective_perturbation"].curvature_ratio([], {"smoothness": $.mul($.ga(self, "smoothness"), $.pow(ROOM, 2n)), ...$.named(weak), ...$.named(world)}), below]);
});
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without"], {}, function (self, worlds, steps_with, steps_without) {
return ($.t(steps_without) ? $.cm(self, "_erased", []) : $.dict([["curves", $.tuple([$.tuple([$.cm(self, "curve", [worlds]), $.b.float([$.ga(self, "chain")])])])]]));
});
$ns.curve = $.fn("curve", ["self", "worlds"], {}, function (self, worlds) {
let below, delta, exact, inexact, mu, ratio, spread;
{const $v4 = $.unpack($.cm(self, "ratios", []), 2, -1);ratio = $v4[0];below = $v4[1];}
delta = $.cm(worlds, "sensitivity", [$.mul($.ga(self, "lipschitz"), ROOM), $.ga(self, "rows_per_subject")]);
spread = $.modules["bounds.objective_perturbation"].rounded_solution_distance([], {...$.named($.cm(self, "_ball", []))});
inexact = $.modules["bounds.objective_perturbation"].inexact_rate([], {"spread": spread, "output_noise": $.ga(self, "output_noise")});
mu = $.libraries["math"].inf;
if ($.t($.eq($.ga(self, "form"), ONE_DIRECTION))) {
exact = $.modules["bounds.objective_perturbation"].gdp([], {"lipschitz": $.div($.mul($.ga(self, "lipschitz"), ROOM), $.libraries["math"].sqrt([$.ga(self, "blocks")])), "noise": $.ga(self, "linear_term"), "ratio": ratio, "rows": $.ga(self, "rows_per_subject"), "worlds": ($.t($.ga(worlds, "between_records")) ? 2n : 1n), "blocks": $.ga(self, "blocks")});
mu = $.mul($.libraries["math"].hypot([exact, $.cm(self, "_inexact_gdp", [spread])]), $.add(1n, $.mul(4n, UNIT)));
}
return Curve([], {"rate": $.mul($.add($.div($.pow(delta, 2n), $.mul(2n, $.pow($.ga(self, "linear_term"), 2n))), inexact), $.add(1n, $.mul(8n, UNIT))), "form": $.ga(self, "form"), "between_records": $.ga(worlds, "between_records"), "ratio": ratio, "below": below, "rows": $.ga(self, "rows_per_subject"), "blocks": $.ga(self, "blocks"), "gdp_squared": ($.t($.lt(mu, $.libraries["math"].inf)) ? $.pow(mu, 2n) : null)});
});
$ns._erased = $.fn("_erased", ["self"], {}, function (self) {
if ((!$.t($.ga(self, "warm")) && $.t($.ga(self, "in_place")))) {
return $.dict([]);
}
return $.dict([["gdp_squared", $.mul($.mul($.ga(self, "chain"), $.pow($.cm(self, "_inexact_gdp", [$.modules["bounds.objective_perturbation"].rounded_solution_distance([], {...$.named($.cm(self, "_ball", []))})]), 2n)), $.add(1n, $.mul(4n, UNIT)))]]);
});
$ns._ball = $.fn("_ball", ["self"], {}, function (self) {
return $.dict([["gradient_tolerance", $.ga(self, "gradient_tolerance")], ["strong_convexity", $.ga(self, "_least_curvature")], ["grid", $.ga(self, "grid")], ["dimension", $.ga(self, "dimension")]]);
});
$ns._inexact_gdp = $.fn("_inexact_gdp", ["self", "spread"], {}, function (self, spread) {
return $.modules["bounds.objective_perturbation"].inexact_gdp([], {"spread": spread, "output_noise": $.ga(self, "output_noise"), "grid": $.ga(self, "grid")});
});
$ns.conditions = $.fn("conditions", ["self"], {}, function (self) {
let own;
own = $.dict([["method", $.ga(self, "method")]]);
return $.tuple([...$.each(bounded_gradients([$.ga(self, "lipschitz")], {"proven": $.ga(self, "proven")})), ...$.each($.sup(ObjectivePerturbationRun, self, "conditions")([])), ...$.each(($.t($.ga(self, "shaped")) ? $.tuple([$.tuple(["row-shape", own])]) : $.tuple([]))), ...$.each(($.t($.ga(self, "in_place")) ? $.tuple([$.tuple(["rows-in-place", own])]) : $.tuple([]))), $.tuple(["solver-tolerance", $.dict([...$.pairs(own), ["tolerance", $.ga(self, "gradient_tolerance")]])]), $.tuple(["time-unseen", own]), $.tuple(["exact-noise", own]), $.tuple(["machine-trusted", $.dict([])])]);
});
}), [["linear_term", () => ["is", $.b.float]], ["output_noise", () => ["is", $.b.float]], ["gradient_tolerance", () => ["is", $.b.float]], ["strong_convexity", () => ["is", $.b.float]], ["lipschitz", () => ["is", $.b.float]], ["smoothness", () => ["is", $.b.float]], ["form", () => ["is", $.b.str]], ["dimension", () => ["is", $.b.int]], ["weak_convexity", () => ["is", $.b.float]], ["blocks", () => ["is", $.b.int]], ["rows_per_subject", () => ["is", $.b.int]], ["warm", () => ["is", $.b.bool]], ["shaped", () => ["is", $.b.bool]], ["in_place", () => ["is", $.b.bool]], ["chain", () => ["is", $.b.int]]], {frozen: true, kw_only: true});
_UNUSUAL = 9.0;
form_of = $.fn("form_of", ["problem"], {}, function (problem) {
return ($.t($.ga($.ga($.ga(problem, "loss"), "constants"), "convex")) ? $.ga($.ga(problem, "loss"), "curving") : WEAKLY_CONVEX);
});
row_facts = $.fn("row_facts", ["problem"], {}, function (problem) {
let constants;
constants = $.ga($.ga(problem, "loss"), "constants");
return $.dict([["records", $.ga(problem, "records")], ["row_norm", $.ga($.ga(problem, "loss"), "radius")], ["strong_convexity", $.ga(problem, "strong_convexity")], ["lipschitz", $.ga(constants, "lipschitz")], ["smoothness", $.ga(constants, "smoothness")], ["weak_convexity", $.ga(constants, "weak_convexity")], ["form", form_of([problem])], ["blocks", $.ga($.ga(problem, "loss"), "blocks")], ["dimension", $.ga(problem, "dimension")], ["rows_per_subject", $.ga(problem, "rows_per_subject")], ["proven", $.ga(constants, "proven")], ["shaped", !$.is($.ga(problem, "noise_shape"), null)]]);
});
rounding_of_gradient = $.fn("rounding_of_gradient", ["problem", "noise", "chain"], {"chain": 1n}, function (problem, noise, chain) {
let constants, longest, pull;
{const $v5 = [$.ga($.ga(problem, "loss"), "constants"), linear_term_bound([problem, noise])];constants = $v5[0];pull = $v5[1];}
longest = $.div($.add($.ga(constants, "lipschitz"), pull), $.ga(problem, "regularization"));
return $.add($.mul($.pow(2.0, $.neg(40n)), pull), gradient_error([], {"lipschitz": $.ga(constants, "lipschitz"), "curvature": $.ga(constants, "curvature"), "outputs": $.ga($.ga(problem, "loss"), "outputs"), "records": $.ga(problem, "records"), "features": $.ga(problem, "features"), "regularization": $.ga(problem, "regularization"), "weights_norm": $.add($.mul(2n, $.b.min([longest, minimizer_norm_bound([problem, pull])])), $.mul($.mul($.mul(2n, $.sub(chain, 1n)), 2n), longest))}));
});
minimizer_norm_bound = $.fn("minimizer_norm_bound", ["problem", "pull"], {}, function (problem, pull) {
let gap, regularization;
{const $v6 = [$.ga($.ga(problem, "loss"), "gap_at_zero"), $.ga(problem, "regularization")];gap = $v6[0];regularization = $v6[1];}
return $.div($.add(pull, $.libraries["math"].sqrt([$.add($.pow(pull, 2n), $.mul($.mul(2n, regularization), gap))])), regularization);
});
linear_term_bound = $.fn("linear_term_bound", ["problem", "noise"], {}, function (problem, noise) {
let widest;
widest = $.libraries["math"].sqrt([$.b.max([$.either($.ga(problem, "noise_shape"), () => $.tuple([1.0]))])]);
return $.div($.mul(noise, $.add($.libraries["math"].sqrt([$.ga(problem, "noise_trace")]), $.mul(_UNUSUAL, widest))), $.ga(problem, "records"));
});
ObjectivePerturbation = $.dataclass($.cls("ObjectivePerturbation", [Method], ($ns) => {
$ns.name = "objective-perturbation";
$ns.summary = "objective perturbation: minimise under a random linear term; few passes, exact on a machine";
$ns.proof = $.gi(PROOFS, 1n);
$ns.solver = "warm";
$ns.in_place = true;
$ns.chain = 1n;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
check_choice(["solver", $.ga(self, "solver"), SOLVERS]);
check_count(["chain", $.ga(self, "chain")], {"maximum": MOST_STAGES});
return null;
});
$ns.assemble = $.fn("assemble", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {
let start;
start = $.modules["methods.problem"].Minimizer([$.ga(numbers, "gradient_tolerance"), $.ga(self, "solver"), $.ga(self, "chain")]);
return $.cm(Plan, "of", [problem, $.cm(self, "run", [problem, numbers]), numbers], {"learning": start, "serving": start});
});
$ns.run = $.fn("run", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {
let facts, own;
facts = $.dict([["linear_term", $.ga(numbers, "linear_term")], ["output_noise", $.ga(numbers, "output_noise")], ["gradient_tolerance", $.ga(numbers, "gradient_tolerance")]]);
own = $.dict([["warm", $.eq($.ga(self, "solver"), "warm")], ["in_place", $.ga(self, "in_place")], ["chain", $.ga(self, "chain")]]);
return ObjectivePerturbationRun([], {...$.named(facts), ...$.named(row_facts([problem])), ...$.named(own)});
});
$ns.check_plan = $.fn("check_plan", ["self", "plan"], {}, function (self, plan) {
let least;
$.sup(ObjectivePerturbation, self, "check_plan")([plan]);
check_covered([$.ga(plan, "problem")]);
least = rounding_of_gradient([$.ga(plan, "problem"), $.ga(plan, "linear_term"), $.ga(self, "chain")]);
if (!$.t($.le(least, $.ga(plan, "gradient_tolerance")))) {
throw $.raised(InvalidParameter([("" + "is below " + $.formatted(least, "", ("" + "g")) + ", the rounding of a gradient in float64")], {"gradient_tolerance": $.ga(plan, "gradient_tolerance")}));
}
return null;
});
}), [["solver", () => ["is", $.b.str]], ["in_place", () => ["is", $.b.bool]], ["chain", () => ["is", $.b.int]]], {frozen: true});
check_covered = $.fn("check_covered", ["problem"], {}, function (problem) {
let constants, loss;
{const $v7 = [$.ga(problem, "loss"), $.ga($.ga(problem, "loss"), "constants")];loss = $v7[0];constants = $v7[1];}
_check_curving([loss]);
if (!$.t($.lt(0n, $.ga(problem, "strong_convexity")))) {
throw $.raised(AssumptionViolated([("" + "\u03bb=" + $.formatted($.ga(problem, "regularization"), "", ("" + "g")) + " must exceed the weak convexity \u03b2\u208b=" + $.formatted($.ga(constants, "weak_convexity"), "", ("" + "g")) + " of the " + $.formatted($.ga(loss, "name"), "", "") + " loss: only then is there one minimiser, with a density")]));
}
if ((!$.t($.ga(constants, "convex")) && $.t($.lt(1n, $.ga(problem, "rows_per_subject"))))) {
throw $.raised(AssumptionViolated([("" + "is more than one: for the " + $.formatted($.ga(loss, "name"), "", "") + " loss, which is not convex, method 'objective-perturbation' is proven for one row per data subject; use method 'noisy-gd', or a convex loss")], {"rows_per_subject": $.ga(problem, "rows_per_subject")}));
}
if (($.t($.is($.ga($.ga(problem, "budget"), "measure"), $.ga(Measures, "GDP"))) && $.t(!$.eq(form_of([problem]), ONE_DIRECTION)))) {
throw $.raised(InvalidParameter([("" + "a Gaussian-DP budget needs a convex loss with one gradient direction per row, not " + $.formatted($.ga(loss, "name"), "", "") + ": method 'objective-perturbation' has a R\u00e9nyi curve for it. Give the budget as (q, \u03b5) or (\u03b5, \u03b4)")]));
}
return null;
});
_check_curving = $.fn("_check_curving", ["loss"], {}, function (loss) {
if (!$.t($.ga(loss, "curving"))) {
throw $.raised(AssumptionViolated([("" + "is proven for losses of one or of several known directions per row (logistic, softmax, one-vs-rest, pseudo-Huber, linear, clipped, sigmoid), not for " + $.formatted($.ga(loss, "name"), "", "") + "; use method 'noisy-gd' or 'noisy-gd:analysis=composition'")], {"method": "objective-perturbation"}));
}
return null;
});
return {ObjectivePerturbationRun, _UNUSUAL, form_of, row_facts, rounding_of_gradient, minimizer_norm_bound, linear_term_bound, ObjectivePerturbation, check_covered, _check_curving, ClassVar, PROOFS, Method, SingleRelease, MOST_STAGES, check_count, SOLVERS, check_choice, Plan, InvalidParameter, WEAKLY_CONVEX, FORMS, non_negative, check_positive, bounded_gradients, gradient_error, ONE_DIRECTION, Measures, AssumptionViolated, Any, GRID_BITS, ROOM, UNIT, Curve};
})();
$.modules["methods.moments"] = (() => {
let GRID, MOST_COORDINATES, MomentsRun, Moments;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const moments = $.modules["bounds.moments"];
const GRID_BITS = $.modules["bounds.arithmetic"]["GRID_BITS"];
const check_count = $.modules["errors"]["check_count"];
const check_positive = $.modules["errors"]["check_positive"];
const SingleRelease = $.modules["methods.base"]["SingleRelease"];
const Method = $.modules["methods.plan"]["Method"];
const Plan = $.modules["methods.plan"]["Plan"];
GRID = $.pow(2.0, $.neg(GRID_BITS));
MOST_COORDINATES = $.shl(1n, 22n);
MomentsRun = $.dataclass($.cls("MomentsRun", [SingleRelease], ($ns) => {
$ns.method = "moments";
$ns.source = "moments of the records with an exact discrete Gaussian (Canonne, Kamath & Steinke 2020)";
$ns.fresh = true;
$ns.rows_per_subject = 1n;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.sup(MomentsRun, self, "__post_init__")([]);
check_positive(["deviation", $.ga(self, "deviation")]);
check_count(["coordinates", $.ga(self, "coordinates")], {"maximum": MOST_COORDINATES});
check_count(["rows_per_subject", $.ga(self, "rows_per_subject")]);
return null;
});
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without"], {}, function (self, worlds, steps_with, steps_without) {
let apart, mu;
if ($.t(steps_without)) {
return $.dict([]);
}
apart = $.modules["bounds.moments"].moments_sensitivity([], {"between_records": $.ga(worlds, "between_records"), "rows": $.ga(self, "rows_per_subject")});
mu = $.modules["bounds.moments"].moments_gdp([], {"sensitivity": apart, "deviation": $.ga(self, "deviation"), "coordinates": $.ga(self, "coordinates"), "grid": GRID});
return $.dict([["gdp_squared", $.pow(mu, 2n)]]);
});
$ns.conditions = $.fn("conditions", ["self"], {}, function (self) {
return $.tuple([...$.each($.sup(MomentsRun, self, "conditions")([])), $.tuple(["moments-own-norm", $.dict([])])]);
});
}), [["deviation", () => ["is", $.b.float]], ["coordinates", () => ["is", $.b.int]], ["rows_per_subject", () => ["is", $.b.int]]], {frozen: true, kw_only: true});
Moments = $.dataclass($.cls("Moments", [Method], ($ns) => {
$ns.name = "moments";
$ns.summary = "a stage of a ladder: least squares on noisy moments, one pass";
$ns.assemble = $.fn("assemble", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {
let fitted, noise, ridge, run;
run = MomentsRun([], {"records": $.ga(problem, "records"), "row_norm": $.ga($.ga(problem, "loss"), "radius"), "proven": $.ga($.ga($.ga(problem, "loss"), "constants"), "proven"), "slack": $.ga(problem, "slack"), "deviation": $.ga(self, "deviation"), "coordinates": $.modules["bounds.moments"].coordinates([], {"outputs": $.ga($.ga(problem, "loss"), "outputs"), "features": $.ga(problem, "features")}), "rows_per_subject": $.ga(problem, "rows_per_subject")});
noise = $.mul($.mul(2n, $.ga(self, "deviation")), $.libraries["math"].sqrt([$.ga(problem, "features")]));
ridge = $.add($.div($.mul($.ga(problem, "records"), $.ga(problem, "regularization")), $.pow($.ga($.ga(problem, "loss"), "radius"), 2n)), noise);
fitted = $.modules["methods.problem"].NoisyLeastSquares([$.ga(self, "deviation"), ridge]);
return $.cm(Plan, "of", [problem, run, numbers], {"learning": fitted, "serving": fitted});
});
}), [["deviation", () => ["is", $.b.float]]], {frozen: true});
return {GRID, MOST_COORDINATES, MomentsRun, Moments, ClassVar, Method, SingleRelease, Plan, check_count, check_positive, GRID_BITS};
})();
$.modules["methods.sufficient_statistics"] = (() => {
let BITS, LABEL_BITS, MOST_FEATURES, MOST_RELEASES, LABEL_RATIO, RIDGE_SHARE, _CODED_SHARE, _EXACT, SOURCE, SufficientStatisticsRun, _charges, grid_of, label_bits, norm_squared, check_exact, SufficientStatistics, check_loss;
const json = $.libraries["json"];
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const lru_cache = $.libraries["functools"]["lru_cache"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const correlated_sums = $.modules["bounds.correlated_sums"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_count = $.modules["errors"]["check_count"];
const check_positive = $.modules["errors"]["check_positive"];
const Logistic = $.modules["losses.logistic"]["Logistic"];
const Softmax = $.modules["losses.softmax"]["Softmax"];
const Squared = $.modules["losses.squared"]["Squared"];
const Worlds = $.modules["privacy.guarantee"]["Worlds"];
const SingleRelease = $.modules["methods.base"]["SingleRelease"];
const Method = $.modules["methods.plan"]["Method"];
const Plan = $.modules["methods.plan"]["Plan"];
BITS = 14n;
LABEL_BITS = 10n;
{const $v1 = [$.shl(1n, 12n), $.shl(1n, 16n)];MOST_FEATURES = $v1[0];MOST_RELEASES = $v1[1];}
{const $v2 = [0.6, 0.25];LABEL_RATIO = $v2[0];RIDGE_SHARE = $v2[1];}
_CODED_SHARE = 0.45;
_EXACT = $.shl(1n, 53n);
SOURCE = "Markov sums: a chain of exact discrete Gaussian releases, the noise of each recomputed from the one before";
SufficientStatisticsRun = $.dataclass($.cls("SufficientStatisticsRun", [SingleRelease], ($ns) => {
$ns.method = "sufficient-statistics";
$ns.source = SOURCE;
$ns.steps = 0n;
$ns.joiners = true;
$ns.rows_per_subject = 1n;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name;
$.sup(SufficientStatisticsRun, self, "__post_init__")([]);
for (const $v3 of $.each($.tuple(["features", "outputs", "norm_squared", "label_weight", "rows_per_subject"]))) {
name = $v3;
check_count([name, $.b.getattr([self, name])]);
}
check_count(["releases", $.ga(self, "releases")], {"maximum": MOST_RELEASES});
check_positive(["variance", $.ga(self, "variance")]);
if (!$.t($.lt($.gi($.cm(self, "charges", [$.ga(Worlds, "REPLACE")]), 0n), $.libraries["math"].inf))) {
throw $.raised(InvalidParameter(["is too little noise for the grid"], {"variance": $.ga(self, "variance")}));
}
return null;
});
$ns.carries = $.property($.fn("carries", ["self"], {}, function (self) {
return self;
}));
$ns.check = $.fn("check", ["self", "steps", "*", "fresh", "inserted"], {"fresh": null, "inserted": false}, function (self, steps, fresh, inserted) {
$.sup(SufficientStatisticsRun, self, "check")([steps]);
if (($.t(inserted) && !($.t(fresh) || $.t($.ga(self, "joiners"))))) {
throw $.raised(InvalidParameter(["must be true: the release took in new records"], {"joiners": false}));
}
return null;
});
$ns.draws = $.property($.fn("draws", ["self"], {}, function (self) {
return $.modules["bounds.correlated_sums"].equalizer_schedule([], {"releases": $.ga(self, "releases"), "variance": $.ga(self, "variance")});
}));
$ns.apart = $.fn("apart", ["self", "*", "between_records"], {}, function (self, between_records) {
let facts;
facts = $.dict([["norm_squared", $.ga(self, "norm_squared")], ["label_weight", $.ga(self, "label_weight")]]);
return $.modules["bounds.correlated_sums"].sensitivity([], {"between_records": between_records, ...$.named(facts)});
});
$ns.charges = $.fn("charges", ["self", "worlds"], {}, function (self, worlds) {
return _charges([self, $.ga(worlds, "between_records"), true]);
});
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without", "leaves"], {"leaves": true}, function (self, worlds, steps_with, steps_without, leaves) {
let charges, number;
charges = _charges([self, $.ga(worlds, "between_records"), leaves]);
if (($.t($.lt($.ga(self, "releases"), steps_with)) && $.t($.lt(steps_with, $.libraries["math"].inf)))) {
return $.dict([["gdp_squared", $.libraries["math"].inf]]);
}
number = $.b.min([$.add(steps_with, ($.t(steps_without) ? 1n : 0n)), $.ga(self, "releases")]);
return $.dict([["gdp_squared", $.gi(charges, $.sub($.b.int([number]), 1n))]]);
});
$ns.staying = $.fn("staying", ["self", "about", "worlds", "*", "steps_with", "steps_without"], {"steps_without": 0n}, function (self, about, worlds, steps_with, steps_without) {
let between;
between = Worlds([worlds]);
return $.cm(self, "_guarantee", [about, between], {...$.named($.cm(self, "_cost", [between, steps_with, steps_without], {"leaves": false}))});
});
$ns.conditions = $.fn("conditions", ["self"], {}, function (self) {
let own;
own = $.dict([["method", $.ga(self, "method")]]);
return $.tuple([...$.each($.sup(SufficientStatisticsRun, self, "conditions")([])), $.tuple(["sums-carried", own]), $.tuple(["sums-all-rows", $.dict([["rows_per_person", $.ga(self, "rows_per_subject")]])]), $.tuple(["exact-noise", own]), $.tuple(["machine-trusted", $.dict([])])]);
});
}), [["features", () => ["is", $.b.int]], ["outputs", () => ["is", $.b.int]], ["norm_squared", () => ["is", $.b.int]], ["label_weight", () => ["is", $.b.int]], ["variance", () => ["is", $.b.float]], ["releases", () => ["is", $.b.int]], ["joiners", () => ["is", $.b.bool]], ["rows_per_subject", () => ["is", $.b.int]]], {frozen: true, kw_only: true});
_charges = $.lru_cache($.fn("_charges", ["run", "between_records", "leaves"], {}, function (run, between_records, leaves) {
let apart, chain, draws, factor, least, rounded, weight, worst;
{const $v4 = [$.ga(run, "draws"), $.ga(run, "label_weight")];draws = $v4[0];weight = $v4[1];}
apart = $.cm(run, "apart", [], {"between_records": between_records});
rounded = $.modules["bounds.correlated_sums"].rounding_norm([], {"features": $.ga(run, "features"), "outputs": $.ga(run, "outputs"), "label_weight": weight});
least = $.b.min([(function* ($first) { for (const $v5 of $.each($first)) { let _, variance; {const $v6 = $.unpack($v5, 2, -1);_ = $v6[0];variance = $v6[1];} yield variance; } })(draws)]);
factor = $.mul($.modules["bounds.correlated_sums"].gaussian_factor([], {"variance": least, "label_weight": weight}), $.pow($.b.float([$.ga(run, "rows_per_subject")]), 2n));
chain = $.dict([["draws", draws], ["apart", apart], ["rounded", rounded], ["joiners", $.ga(run, "joiners")]]);
worst = $.modules["bounds.correlated_sums"].worst_charges([], {...$.named(chain), "leaves": leaves});
return $.b.tuple([(function* ($first) { for (const $v7 of $.each($first)) { let each; each = $v7; yield $.mul(each, factor); } })(worst)]);
}));
grid_of = $.fn("grid_of", ["loss"], {}, function (loss) {
let bits;
bits = $.sub($.add(BITS, 1n), $.gi($.libraries["math"].frexp([$.ga(loss, "radius")]), 1n));
return $.tuple([bits, $.libraries["math"].floor([$.add($.mul(LABEL_RATIO, $.libraries["math"].ldexp([$.ga(loss, "radius"), bits])), 0.5)])]);
});
label_bits = $.fn("label_bits", ["loss"], {}, function (loss) {
return ($.t($.eq($.ga(loss, "label_kind"), "target")) ? LABEL_BITS : 0n);
});
norm_squared = $.fn("norm_squared", ["loss"], {}, function (loss) {
return $.libraries["math"].floor([$.libraries["math"].ldexp([$.mul($.ga(loss, "radius"), $.ga(loss, "radius")), $.mul(2n, $.gi(grid_of([loss]), 0n))])]);
});
check_exact = $.fn("check_exact", ["loss", "records"], {}, function (loss, records) {
if (!$.t($.lt($.mul(records, norm_squared([loss])), _EXACT))) {
throw $.raised(InvalidParameter([("" + "is more than " + $.formatted($.floordiv(_EXACT, norm_squared([loss])), "", "") + ", up to which sums of rows of norm " + $.formatted($.ga(loss, "radius"), "", ("" + "g")) + " are exact; scale the rows down")], {"records": records}));
}
return null;
});
SufficientStatistics = $.dataclass($.cls("SufficientStatistics", [Method], ($ns) => {
$ns.name = "sufficient-statistics";
$ns.summary = "many publications: least squares from sums whose noise is carried on; a row that left leaves nothing";
$ns.weighed = "for several publications";
$ns.own_ridge = true;
$ns.joiners = true;
$ns.map = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let given;
if (!$.t($.b.isinstance([$.ga(self, "joiners"), $.b.bool]))) {
throw $.raised(InvalidParameter(["must be true or false"], {"joiners": $.ga(self, "joiners")}));
}
given = $.ga(self, "map");
if (($.t(!$.is(given, null)) && !$.t($.b.isinstance([given, $.b.str])))) {
$.cm($.b.object, "__setattr__", [self, "map", $.libraries["json"].dumps([$.cm(given, "to_dict", [])])]);
}
return null;
});
$ns._facts = $.fn("_facts", ["self", "problem"], {}, function (self, problem) {
return $.dict([["records", $.ga(problem, "records")], ["row_norm", $.ga($.ga(problem, "loss"), "radius")], ["features", $.ga(problem, "features")], ["outputs", $.ga($.ga(problem, "loss"), "outputs")], ["norm_squared", norm_squared([$.ga(problem, "loss")])], ["label_weight", $.gi(grid_of([$.ga(problem, "loss")]), 1n)], ["releases", $.ga(problem, "releases")], ["joiners", $.ga(self, "joiners")], ["rows_per_subject", $.ga(problem, "rows_per_subject")]]);
});
$ns._check_covered = $.fn("_check_covered", ["self", "problem"], {}, function (self, problem) {
check_loss([$.ga(problem, "loss")]);
check_count(["features", $.ga(problem, "features")], {"maximum": MOST_FEATURES});
if ($.t($.lt($.ga(problem, "releases"), 2n))) {
throw $.raised(InvalidParameter(["must be at least 2 by method 'sufficient-statistics', whose noise is planned for all of them: state how many releases there will be"], {"releases": $.ga(problem, "releases")}));
}
check_count(["releases", $.ga(problem, "releases")], {"maximum": MOST_RELEASES});
check_exact([$.ga(problem, "loss"), $.ga(problem, "records")]);
return null;
});
$ns.check_plan = $.fn("check_plan", ["self", "plan"], {}, function (self, plan) {
$.cm(self, "_check_covered", [$.ga(plan, "problem")]);
return null;
});
$ns.assemble = $.fn("assemble", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {
let bits, carried, edits, promise, run, weight;
{const $v8 = $.unpack(grid_of([$.ga(problem, "loss")]), 2, -1);bits = $v8[0];weight = $v8[1];}
run = SufficientStatisticsRun([], {...$.named($.cm(self, "_facts", [problem])), "variance": $.mul($.ga(numbers, "noise_variance"), $.pow(4.0, bits))});
carried = $.modules["methods.problem"].CarriedSums([], {"draws": $.ga(run, "draws"), "variance": $.ga(run, "variance"), "bits": bits, "label_bits": label_bits([$.ga(problem, "loss")]), "norm_squared": $.ga(run, "norm_squared"), "label_weight": weight, "ridge": $.mul($.ga(problem, "records"), $.ga(problem, "regularization")), "ridge_share": $.ga(self, "_ridge_share"), "map": $.ga(self, "map")});
edits = ($.t($.ga(self, "joiners")) ? $.tuple(["deleted", "inserted"]) : $.tuple(["deleted"]));
promise = $.modules["methods.problem"].PlannedGuarantees([], {"deletion": $.modules["methods.problem"].WorstCaseRun([0n]), "edits": edits, "unbounded": false});
return $.cm(Plan, "of", [problem, run, numbers], {"learning": carried, "serving": carried, "promise": promise});
});
$ns._ridge_share = $.property($.fn("_ridge_share", ["self"], {}, function (self) {
return ($.t($.is($.ga(self, "map"), null)) ? RIDGE_SHARE : _CODED_SHARE);
}));
}), [["joiners", () => ["is", $.b.bool]], ["map", () => ["or", ["is", $.b.str], ["none"]]]], {frozen: true});
check_loss = $.fn("check_loss", ["loss"], {}, function (loss) {
if ((!$.t($.b.isinstance([loss, $.tuple([Logistic, Softmax, Squared])])) || !$.t($.libraries["math"].isfinite([$.ga(loss, "radius")])))) {
throw $.raised(InvalidParameter([("" + "sums are for classes and targets: take losses.Logistic, losses.Softmax or losses.Squared, not " + $.formatted($.ga(loss, "name"), "", ""))]));
}
return null;
});
return {BITS, LABEL_BITS, MOST_FEATURES, MOST_RELEASES, LABEL_RATIO, RIDGE_SHARE, _CODED_SHARE, _EXACT, SOURCE, SufficientStatisticsRun, _charges, grid_of, label_bits, norm_squared, check_exact, SufficientStatistics, check_loss, ClassVar, Method, SingleRelease, Any, InvalidParameter, Plan, Worlds, check_positive, check_count, Squared, Softmax, Logistic, lru_cache};
})();
$.modules["methods.exact_steps"] = (() => {
let InexactStepsError, ExactSteps, GridRun, GridMethod, exact_steps_of, check_exact;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const exact_steps = $.modules["bounds.exact_steps"];
const shifted_interpolation = $.modules["bounds.shifted_interpolation"];
const ROOM = $.modules["bounds.arithmetic"]["ROOM"];
const gradient_error = $.modules["bounds.arithmetic"]["gradient_error"];
const AssumptionViolated = $.modules["errors"]["AssumptionViolated"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_count = $.modules["errors"]["check_count"];
const check_positive = $.modules["errors"]["check_positive"];
const non_negative = $.modules["errors"]["non_negative"];
const NoisySteps = $.modules["methods.base"]["NoisySteps"];
const bounded_gradients = $.modules["methods.base"]["bounded_gradients"];
const Method = $.modules["methods.plan"]["Method"];
const Exactness = $.modules["methods.problem"]["Exactness"];
InexactStepsError = $.cls("InexactStepsError", [InvalidParameter], ($ns) => {

});
ExactSteps = $.dataclass($.cls("ExactSteps", [], ($ns) => {
$ns.in_place = true;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name;
for (const $v1 of $.each($.tuple(["regularization", "radius"]))) {
name = $v1;
check_positive([name, $.b.getattr([self, name])]);
}
non_negative(["curvature", $.ga(self, "curvature")]);
for (const $v2 of $.each($.tuple(["features", "outputs"]))) {
name = $v2;
check_count([name, $.b.getattr([self, name])]);
}
check_count(["grid_bits", $.ga(self, "grid_bits")], {"minimum": $.modules["bounds.exact_steps"].LEAST_BITS, "maximum": $.modules["bounds.exact_steps"].MOST_BITS});
return null;
});
$ns.check = $.fn("check", ["self", "run"], {}, function (self, run) {
let finest, limit;
limit = $.cm(self, "largest_step_size", [run]);
if ($.t($.lt(limit, $.ga(run, "step_size")))) {
throw $.raised(InexactStepsError([("" + "must be at most " + $.formatted(limit, "", ("" + ".17g")) + ": beyond it a step may carry two models apart")], {"step_size": $.ga(run, "step_size")}));
}
if ($.t(!$.eq($.ga(run, "strong_convexity"), $.ga(self, "regularization")))) {
throw $.raised(InvalidParameter([("" + "must be regularization=" + $.formatted($.ga(self, "regularization"), "", ("" + ".17g")) + ": the losses covered are convex")], {"strong_convexity": $.ga(run, "strong_convexity")}));
}
finest = $.modules["bounds.exact_steps"].grid_bits([], {"radius": $.ga(self, "radius"), "noise": $.ga(run, "noise_scale"), ...$.named($.cm(self, "_reach", [run]))});
if ($.t($.lt(finest, $.ga(self, "grid_bits")))) {
throw $.raised(InvalidParameter([("" + "is too fine for weights up to radius=" + $.formatted($.ga(self, "radius"), "", ("" + "g")) + ": they would be no whole numbers of float64")], {"grid_bits": $.ga(self, "grid_bits")}));
}
return null;
});
$ns.largest_step_size = $.fn("largest_step_size", ["self", "run"], {}, function (self, run) {
let steepest;
steepest = $.add($.ga(self, "regularization"), $.mul($.ga(self, "curvature"), $.pow(ROOM, 2n)));
return $.modules["bounds.shifted_interpolation"].largest_step_size([], {"strong_convexity": $.ga(run, "strong_convexity"), "objective_smoothness": steepest});
});
$ns.dimension = $.property($.fn("dimension", ["self"], {}, function (self) {
return $.mul($.ga(self, "features"), $.ga(self, "outputs"));
}));
$ns.grid = $.fn("grid", ["self", "run"], {}, function (self, run) {
return $.libraries["math"].ldexp([$.ga(run, "noise_scale"), $.neg($.ga(self, "grid_bits"))]);
});
$ns.measured_error = $.fn("measured_error", ["self", "run"], {}, function (self, run) {
return gradient_error([], {"lipschitz": $.mul($.ga(run, "lipschitz"), ROOM), "curvature": $.mul($.ga(self, "curvature"), $.pow(ROOM, 2n)), "outputs": $.ga(self, "outputs"), "records": $.ga(run, "records"), "features": $.ga(self, "features"), "regularization": $.ga(self, "regularization"), "weights_norm": $.mul(1.001, $.ga(self, "radius"))});
});
$ns.gdp = $.fn("gdp", ["self", "run", "worlds", "*", "steps_with", "steps_without", "apart"], {"steps_without": 0n, "apart": 0.0}, function (self, run, worlds, steps_with, steps_without, apart) {
let gap;
gap = $.modules["bounds.exact_steps"].rounding_gap([], {"gradient_error": $.cm(self, "measured_error", [run]), "strong_convexity": $.ga(run, "strong_convexity"), "radius": $.ga(self, "radius"), "dimension": $.ga(self, "dimension"), "grid": $.cm(self, "grid", [run]), ...$.named($.cm(self, "_reach", [run]))});
return $.modules["bounds.exact_steps"].exact_steps_gdp([], {"sensitivity": $.mul($.cm(run, "sensitivity", [worlds]), ROOM), "step_size": $.ga(run, "step_size"), "strong_convexity": $.ga(run, "strong_convexity"), "noise": $.ga(run, "noise_scale"), "grid": $.cm(self, "grid", [run]), "records": $.ga(run, "records"), "gap": gap, "steps_with_record": steps_with, "steps_without_record": steps_without, "in_place": $.ga(self, "in_place"), "apart": apart});
});
$ns._reach = $.fn("_reach", ["self", "run"], {}, function (self, run) {
return $.dict([["lipschitz", $.mul($.ga(run, "lipschitz"), ROOM)], ["regularization", $.ga(self, "regularization")], ["step_size", $.ga(run, "step_size")]]);
});
}), [["regularization", () => ["is", $.b.float]], ["curvature", () => ["is", $.b.float]], ["features", () => ["is", $.b.int]], ["outputs", () => ["is", $.b.int]], ["radius", () => ["is", $.b.float]], ["grid_bits", () => ["is", $.b.int]], ["in_place", () => ["is", $.b.bool]]], {frozen: true, kw_only: true});
GridRun = $.dataclass($.cls("GridRun", [NoisySteps], ($ns) => {
$ns.exact = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.sup(GridRun, self, "__post_init__")([]);
if ($.t(!$.is($.ga(self, "exact"), null))) {
$.cm($.ga(self, "exact"), "check", [self]);
}
return null;
});
$ns.shows_order = $.property($.fn("shows_order", ["self"], {}, function (self) {
return $.both(!$.is($.ga(self, "exact"), null), () => !$.t($.ga($.ga(self, "exact"), "in_place")));
}));
$ns.exactness = $.property($.fn("exactness", ["self"], {}, function (self) {
return ($.t($.is($.ga(self, "exact"), null)) ? null : Exactness([], {"radius": $.ga($.ga(self, "exact"), "radius"), "grid_bits": $.ga($.ga(self, "exact"), "grid_bits")}));
}));
$ns.conditions = $.fn("conditions", ["self"], {}, function (self) {
let own;
if ($.t($.is($.ga(self, "exact"), null))) {
return $.sup(GridRun, self, "conditions")([]);
}
own = $.dict([["method", $.ga(self, "method")]]);
return $.tuple([...$.each(bounded_gradients([$.ga(self, "lipschitz")], {"proven": $.ga(self, "proven")})), $.tuple(["slots-public", $.dict([["records", $.ga(self, "records")]])]), ...$.each(($.t($.ga($.ga(self, "exact"), "in_place")) ? $.tuple([$.tuple(["rows-in-place", own])]) : $.tuple([]))), $.tuple(["exact-steps", own]), $.tuple(["machine-trusted", $.dict([])])]);
});
}), [["exact", () => ["or", ["is", ExactSteps], ["none"]]]], {frozen: true, kw_only: true});
GridMethod = $.dataclass($.cls("GridMethod", [Method], ($ns) => {
$ns.exact = null;
$ns.in_place = true;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name, value;
for (const $v3 of $.each($.tuple(["exact", "in_place"]))) {
name = $v3;
value = $.b.getattr([self, name]);
if (!($.t($.b.isinstance([value, $.b.bool])) || ($.t($.eq(name, "exact")) && $.t($.is(value, null))))) {
throw $.raised(InvalidParameter(["must be true or false"], {...$.named($.dict([[name, value]]))}));
}
}
if (($.t($.is($.ga(self, "exact"), false)) && !$.t($.ga(self, "in_place")))) {
throw $.raised(InvalidParameter(["needs exact steps: only their roundings are bounded in any order"], {"in_place": false}));
}
return null;
});
$ns.check_plan = $.fn("check_plan", ["self", "plan"], {}, function (self, plan) {
$.sup(GridMethod, self, "check_plan")([plan]);
if ($.t($.ga(self, "exact"))) {
check_exact([$.ga(plan, "problem")]);
if ($.t(!$.eq($.ga($.ga(plan, "problem"), "dtype"), "float64"))) {
throw $.raised(InvalidParameter(["must be 'float64': the bound counts roundings of that alone"], {"dtype": $.ga($.ga(plan, "problem"), "dtype")}));
}
}
return null;
});
$ns.run_facts = $.fn("run_facts", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {
let chain, facts;
chain = $.dict([["step_size", $.ga(numbers, "step_size")], ["noise_variance", $.ga(numbers, "noise_variance")]]);
facts = $.cm(problem, "run", [], {...$.named(chain)});
if (!$.t($.ga(self, "exact"))) {
return facts;
}
return $.dict([...$.pairs(facts), ["slack", 0.0], ["exact", exact_steps_of([problem], {...$.named(chain), "in_place": $.ga(self, "in_place")})]]);
});
}), [["exact", () => ["or", ["is", $.b.bool], ["none"]]], ["in_place", () => ["is", $.b.bool]]], {frozen: true, kw_only: true});
exact_steps_of = $.fn("exact_steps_of", ["problem", "*", "step_size", "noise_variance", "in_place"], {}, function (problem, step_size, noise_variance, in_place) {
let bits, left, radius, reach;
check_positive(["step_size", step_size]);
check_positive(["noise_variance", noise_variance]);
left = $.sub(1n, $.mul(step_size, $.ga(problem, "strong_convexity")));
if (!$.t($.lt($.mul(left, left), 1n))) {
throw $.raised(InexactStepsError(["is too large, or too small, for a step to bring two models nearer"], {"step_size": step_size}));
}
reach = $.dict([["lipschitz", $.mul($.ga($.ga($.ga(problem, "loss"), "constants"), "lipschitz"), ROOM)], ["regularization", $.ga(problem, "regularization")], ["step_size", step_size], ["noise", $.libraries["math"].sqrt([$.mul($.mul(2n, step_size), noise_variance)])]]);
radius = $.modules["bounds.exact_steps"].iterate_radius([], {"gap_at_zero": $.ga($.ga(problem, "loss"), "gap_at_zero"), "dimension": $.ga(problem, "dimension"), "strong_convexity": $.ga(problem, "strong_convexity"), ...$.named(reach)});
bits = $.modules["bounds.exact_steps"].grid_bits([], {"radius": radius, ...$.named(reach)});
if ($.t($.lt(bits, $.modules["bounds.exact_steps"].LEAST_BITS))) {
throw $.raised(InexactStepsError([("" + "at n=" + $.formatted($.ga(problem, "records"), "", "") + " and \u03bb=" + $.formatted($.ga(problem, "regularization"), "", ("" + "g")) + " a step's noise is too fine beside weights up to " + $.formatted(radius, "", ("" + "g")) + " for float64; raise \u03bb, or use method 'objective-perturbation'")]));
}
return ExactSteps([], {"regularization": $.ga(problem, "regularization"), "curvature": $.ga($.ga($.ga(problem, "loss"), "constants"), "curvature"), "features": $.ga(problem, "features"), "outputs": $.ga($.ga(problem, "loss"), "outputs"), "radius": radius, "grid_bits": bits, "in_place": in_place});
});
check_exact = $.fn("check_exact", ["problem", "instead"], {"instead": "leave exact out, or use method 'noisy-gd:analysis=composition' or 'objective-perturbation'"}, function (problem, instead) {
if (!$.t($.ga($.ga(problem, "loss"), "steps_exact"))) {
throw $.raised(AssumptionViolated([("" + "steps exact to the last bit, which rows in any order need, are proven for convex losses, not for " + $.formatted($.ga($.ga(problem, "loss"), "name"), "", "") + "; " + $.formatted(instead, "", ""))], {"method": $.ga($.ga(problem, "method"), "name")}));
}
return null;
});
return {InexactStepsError, ExactSteps, GridRun, GridMethod, exact_steps_of, check_exact, Method, NoisySteps, InvalidParameter, bounded_gradients, check_count, non_negative, check_positive, ROOM, AssumptionViolated, Exactness, gradient_error};
})();
$.modules["methods.serialization"] = (() => {
let _ALWAYS, FORECASTS, parse_dataclass, _check_known, check_complete, _check_parts, _field_types, mechanism_from_dict, _parse_stages, method_from_dict, problem_from_dict, _parse_total, plan_from_dict, _parse_tagged;
const math = $.libraries["math"];
const Mapping = $.libraries["collections.abc"]["Mapping"];
const fields = $.libraries["dataclasses"]["fields"];
const cache = $.libraries["functools"]["cache"];
const Any = $.libraries["typing"]["Any"];
const get_type_hints = $.libraries["typing"]["get_type_hints"];
const msgspec = $.libraries["msgspec"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_real = $.modules["errors"]["check_real"];
const loss_from_dict = $.modules["losses"]["from_dict"];
const Budget = $.modules["privacy.budget"]["Budget"];
const Total = $.modules["privacy.budget"]["Total"];
const ANALYSES = $.modules["methods"]["ANALYSES"];
const MECHANISMS = $.modules["methods"]["MECHANISMS"];
const METHODS = $.modules["methods"]["METHODS"];
const STAGE_METHODS = $.modules["methods"]["STAGE_METHODS"];
const Mechanism = $.modules["methods.base"]["Mechanism"];
const MOST_STAGES = $.modules["methods.plan"]["MOST_STAGES"];
const Calibration = $.modules["methods.plan"]["Calibration"];
const Method = $.modules["methods.plan"]["Method"];
const method_of = $.modules["methods.plan"]["method_of"];
const Problem = $.modules["methods.problem"]["Problem"];
_ALWAYS = $.tuple([...$.each($.tuple(["step_size", "noise_variance", "init_variance", "learn_steps", "delete_steps_for_deletion"])), "delete_steps_for_utility"]);
FORECASTS = $.tuple([...$.each($.tuple(["learn_solver_passes", "delete_solver_passes", "utility", "utility_tolerance", "asked_regularization"])), "model_norm"]);
parse_dataclass = $.fn("parse_dataclass", ["kind", "given", "what", "**read"], {}, function (kind, given, what, read) {
let converted, error, hints, name;
if (!$.t($.b.isinstance([given, Mapping]))) {
throw $.raised(InvalidParameter([("" + "not " + $.formatted(what, "", "") + ": expected an object, found " + $.formatted($.ga($.b.type([given]), "__name__"), "", ""))]));
}
hints = _field_types([kind]);
_check_known([kind, given, what]);
converted = $.dict([]);
for (const $v1 of $.each($.sub($.cm(given, "keys", []), $.cm(read, "keys", [])))) {
name = $v1;
try {
$.si(converted, name, $.libraries["msgspec"].convert([$.gi(given, name), $.gi(hints, name)]));
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.tuple([$.libraries["msgspec"].ValidationError, $.b.UnicodeEncodeError]))) {error = $caught;
throw $.raised(InvalidParameter([("" + "not " + $.formatted(what, "", "") + ": " + $.formatted(name, "", "") + ": " + $.formatted(error, "", ""))]));
} else throw $caught;
}
_check_parts([$.gi(given, name), $.gi(converted, name), ("" + $.formatted(what, "", "") + ": " + $.formatted(name, "", ""))]);
if ($.t($.b.isinstance([$.gi(converted, name), $.b.float]))) {
check_real([name, $.gi(converted, name)]);
if (($.t($.eq($.gi(converted, name), 0n)) && $.t($.lt($.libraries["math"].copysign([1.0, $.gi(converted, name)]), 0n)))) {
throw $.raised(InvalidParameter([("" + "not " + $.formatted(what, "", "") + ": " + $.formatted(name, "", "") + ": zero is written 0.0, never -0.0")]));
}
}
}
try {
return kind([], {...$.named(converted), ...$.named(read)});
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.b.TypeError)) {error = $caught;
throw $.raised(InvalidParameter([("" + "not " + $.formatted(what, "", "") + ": " + $.formatted(error, "", ""))]));
} else throw $caught;
}
return null;
});
_check_known = $.fn("_check_known", ["kind", "given", "what"], {}, function (kind, given, what) {
let unknown;
unknown = $.b.sorted([$.sub($.b.set([given]), $.set((function* ($first) { for (const $v2 of $.each($first)) { let field; field = $v2; yield $.ga(field, "name"); } })(fields([kind]))))]);
if ($.t(unknown)) {
throw $.raised(InvalidParameter([("" + "not " + $.formatted(what, "", "") + ": unknown " + $.formatted($.cm(", ", "join", [$.b.map([$.b.repr, unknown])]), "", ""))]));
}
return null;
});
check_complete = $.fn("check_complete", ["given", "written", "what", "*", "optional"], {"optional": $.tuple([])}, function (given, written, what, optional) {
let missing, name, one, other;
if (($.t($.b.isinstance([given, Mapping])) && $.t($.b.isinstance([written, Mapping])))) {
missing = $.b.sorted([(function* ($first) { for (const $v5 of $.each($first)) { let name; name = $v5; if (!($.t(!$.has(given, name)) && $.t(!$.has(optional, name)))) continue; yield name; } })(written)]);
if ($.t(missing)) {
throw $.raised(InvalidParameter([("" + "not " + $.formatted(what, "", "") + ": missing " + $.formatted($.cm(", ", "join", [$.b.map([$.b.repr, missing])]), "", ""))]));
}
for (const $v6 of $.each(written)) {
name = $v6;
if ($.t($.has(given, name))) {
check_complete([$.gi(given, name), $.gi(written, name), ("" + $.formatted(what, "", "") + ": " + $.formatted(name, "", ""))], {"optional": optional});
}
}
} else {
if (($.t($.b.isinstance([given, $.tuple([$.b.list, $.b.tuple])])) && $.t($.b.isinstance([written, $.tuple([$.b.list, $.b.tuple])])))) {
for (const $v3 of $.each($.b.zip([given, written], {"strict": true}))) {
{const $v4 = $.unpack($v3, 2, -1);one = $v4[0];other = $v4[1];}
check_complete([one, other, what], {"optional": optional});
}
}
}
return null;
});
_check_parts = $.fn("_check_parts", ["given", "made", "what"], {}, function (given, made, what) {
let name, one, other;
if ($.t($.b.isinstance([given, $.tuple([$.b.list, $.b.tuple])]))) {
for (const $v8 of $.each($.b.zip([given, made], {"strict": true}))) {
{const $v9 = $.unpack($v8, 2, -1);one = $v9[0];other = $v9[1];}
_check_parts([one, other, what]);
}
} else {
if (($.t($.b.isinstance([given, Mapping])) && !$.t($.b.isinstance([made, Mapping])))) {
_check_known([$.b.type([made]), given, what]);
for (const $v7 of $.each(given)) {
name = $v7;
_check_parts([$.gi(given, name), $.b.getattr([made, name]), ("" + $.formatted(what, "", "") + ": " + $.formatted(name, "", ""))]);
}
}
}
return null;
});
_field_types = $.cache($.fn("_field_types", ["kind"], {}, function (kind) {
return get_type_hints([kind]);
}));
mechanism_from_dict = $.fn("mechanism_from_dict", ["given"], {}, function (given) {
let facts, inner, kind, made;
kind = _parse_tagged([MECHANISMS, given, "method"]);
facts = $.dict((function* ($first) { for (const $v10 of $.each($first)) { let name, value; {const $v11 = $.unpack($v10, 2, -1);name = $v11[0];value = $v11[1];} if (!$.t(!$.eq(name, "method"))) continue; yield [name, value]; } })($.cm(given, "items", [])));
inner = $.dict((function* ($first) { for (const $v12 of $.each($first)) { let name; name = $v12; if (!$.t($.has(facts, name))) continue; yield [name, _parse_stages([$.gi(facts, name), mechanism_from_dict, "method"])]; } })($.tuple(["kept", "later"])));
made = parse_dataclass([kind, facts, "the facts of a release"], {...$.named(inner)});
check_complete([given, $.cm(made, "to_dict", []), "the facts of a release"]);
return made;
});
_parse_stages = $.fn("_parse_stages", ["given", "read", "inside"], {}, function (given, read, inside) {
let one;
if ((!$.t($.b.isinstance([given, $.tuple([$.b.list, $.b.tuple])])) || $.t($.lt(MOST_STAGES, $.b.len([given]))))) {
throw $.raised(InvalidParameter([("" + "not the stages of a ladder: expected a list of at most " + $.formatted(MOST_STAGES, "", ""))]));
}
for (const $v13 of $.each(given)) {
one = $v13;
if ((!$.t($.b.isinstance([one, Mapping])) || $.t($.and($.set(["kept", "later", "stages"]), $.cm(one, "keys", []))))) {
throw $.raised(InvalidParameter([("" + "not a stage of a ladder: expected an object with a " + $.formatted(inside, "", "") + " and no stages of its own")]));
}
}
return $.b.tuple([(function* ($first) { for (const $v14 of $.each($first)) { let one; one = $v14; yield read([one]); } })(given)]);
});
method_from_dict = $.fn("method_from_dict", ["given"], {}, function (given) {
let kind, name, tags;
name = ($.t($.b.isinstance([given, Mapping])) ? $.cm(given, "get", ["name"]) : null);
kind = _parse_tagged([($.t($.has($.tuple([...$.each(STAGE_METHODS)]), name)) ? STAGE_METHODS : METHODS), given, "name"]);
if ($.t($.ga(kind, "analysis"))) {
kind = _parse_tagged([ANALYSES, given, "analysis"]);
}
tags = ($.t($.ga(kind, "analysis")) ? $.tuple(["name", "analysis"]) : $.tuple(["name"]));
return parse_dataclass([kind, $.dict((function* ($first) { for (const $v15 of $.each($first)) { let name, value; {const $v16 = $.unpack($v15, 2, -1);name = $v16[0];value = $v16[1];} if (!$.t(!$.has(tags, name))) continue; yield [name, value]; } })($.cm(given, "items", []))), "a method"]);
});
problem_from_dict = $.fn("problem_from_dict", ["given"], {}, function (given) {
let error, read;
if (!$.t($.b.isinstance([given, Mapping]))) {
throw $.raised(InvalidParameter(["not the arguments of a plan: expected an object"]));
}
try {
read = $.dict([["loss", loss_from_dict([$.gi(given, "loss")])], ["budget", Budget([], {...$.named($.gi(given, "budget"))})], ["method", method_from_dict([$.gi(given, "method")])], ["total", _parse_total([$.cm(given, "get", ["total"])])]]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.tuple([$.b.TypeError, $.b.KeyError]))) {error = $caught;
throw $.raised(InvalidParameter([("" + "not the arguments of a plan: " + $.formatted(error, "", ""))]));
} else throw $caught;
}
return parse_dataclass([Problem, given, "the arguments of a plan"], {...$.named(read)});
});
_parse_total = $.fn("_parse_total", ["given"], {}, function (given) {
return ($.t($.is(given, null)) ? null : parse_dataclass([Total, given, "the total of all publications"]));
});
plan_from_dict = $.fn("plan_from_dict", ["given"], {}, function (given) {
let inner, listed, missing, numbers, plan, problem;
if ((!$.t($.b.isinstance([given, Mapping])) || $.t(!$.has(given, "problem")))) {
throw $.raised(InvalidParameter(["not a plan: expected an object with a problem"]));
}
missing = $.b.sorted([$.sub($.b.set([_ALWAYS]), $.cm(given, "keys", []))]);
if ($.t(missing)) {
throw $.raised(InvalidParameter([("" + "not a plan: missing " + $.formatted($.cm(", ", "join", [$.b.map([$.b.repr, missing])]), "", ""))]));
}
inner = ($.t($.has(given, "stages")) ? $.dict([["stages", _parse_stages([$.gi(given, "stages"), plan_from_dict, "problem"])]]) : $.dict([]));
listed = $.dict((function* ($first) { for (const $v17 of $.each($first)) { let name, value; {const $v18 = $.unpack($v17, 2, -1);name = $v18[0];value = $v18[1];} if (!$.t(!$.eq(name, "problem"))) continue; yield [name, value]; } })($.cm(given, "items", [])));
{const $v19 = [parse_dataclass([Calibration, listed, "a plan"], {...$.named(inner)}), problem_from_dict([$.gi(given, "problem")])];numbers = $v19[0];problem = $v19[1];}
plan = $.cm(method_of([problem]), "assemble", [problem, numbers]);
if ($.t(!$.eq($.ga(plan, "numbers"), numbers))) {
throw $.raised(InvalidParameter([("" + "not a plan by method " + $.formatted($.ga($.ga(problem, "method"), "name"), "r", "") + ", which has other numbers")]));
}
check_complete([given, $.cm(plan, "to_dict", []), "a plan"], {"optional": FORECASTS});
return plan;
});
_parse_tagged = $.fn("_parse_tagged", ["catalogue", "given", "tag"], {}, function (catalogue, given, tag) {
let name;
name = ($.t($.b.isinstance([given, Mapping])) ? $.cm(given, "get", [tag]) : null);
if ((!$.t($.b.isinstance([name, $.b.str])) || $.t(!$.has(catalogue, name)))) {
throw $.raised(InvalidParameter([("" + "must be one of " + $.formatted($.cm(", ", "join", [$.b.map([$.b.repr, catalogue])]), "", ""))], {...$.named($.dict([[tag, name]]))}));
}
return $.gi(catalogue, name);
});
return {_ALWAYS, FORECASTS, parse_dataclass, _check_known, check_complete, _check_parts, _field_types, mechanism_from_dict, _parse_stages, method_from_dict, problem_from_dict, _parse_total, plan_from_dict, _parse_tagged, InvalidParameter, method_of, Calibration, Mapping, Problem, Budget, loss_from_dict, check_real, Any, MOST_STAGES, Total, ANALYSES, Method, METHODS, STAGE_METHODS, fields, get_type_hints, cache, Mechanism, MECHANISMS};
})();
$.modules["methods.noisy_gd"] = (() => {
let NoisyGDRun, NoisyGD;
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const shifted_interpolation = $.modules["bounds.shifted_interpolation"];
const AssumptionViolated = $.modules["errors"]["AssumptionViolated"];
const check_positive = $.modules["errors"]["check_positive"];
const GridMethod = $.modules["methods.exact_steps"]["GridMethod"];
const GridRun = $.modules["methods.exact_steps"]["GridRun"];
const Plan = $.modules["methods.plan"]["Plan"];
NoisyGDRun = $.dataclass($.cls("NoisyGDRun", [GridRun], ($ns) => {
$ns.method = "noisy-gd-tight";
$ns.source = "shifted interpolation (Bok, Su & Altschuler 2024) for Noisy-GD";
$ns.largest_step_size = $.property($.fn("largest_step_size", ["self"], {}, function (self) {
return $.modules["bounds.shifted_interpolation"].largest_step_size([], {"strong_convexity": $.ga(self, "strong_convexity"), "objective_smoothness": $.ga(self, "_steepest")});
}));
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without"], {}, function (self, worlds, steps_with, steps_without) {
let mu;
if ($.t(!$.is($.ga(self, "exact"), null))) {
mu = $.cm($.ga(self, "exact"), "gdp", [self, worlds], {"steps_with": steps_with, "steps_without": steps_without});
return $.dict([["gdp_squared", $.pow(mu, 2n)]]);
}
mu = $.modules["bounds.shifted_interpolation"].gdp([], {...$.named($.cm(self, "_chain", [])), "sensitivity": $.cm(self, "sensitivity", [worlds]), "strong_convexity": $.ga(self, "strong_convexity"), "steps_with_record": steps_with, "steps_without_record": steps_without});
return $.dict([["gdp_squared", $.pow(mu, 2n)]]);
});
}), [], {frozen: true, kw_only: true});
NoisyGD = $.dataclass($.cls("NoisyGD", [GridMethod], ($ns) => {
$ns.name = "noisy-gd";
$ns.analysis = "tight";
$ns.summary = "noisy gradient descent by its tight bound (\u03bb > \u03b2\u208b, else Theorem 5.2 sharpened)";
$ns.step_size = null;
$ns.noise_variance = null;
$ns.excess_risk_target = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name;
$.sup(NoisyGD, self, "__post_init__")([]);
for (const $v1 of $.each($.tuple(["step_size", "excess_risk_target"]))) {
name = $v1;
if ($.t(!$.is($.b.getattr([self, name]), null))) {
check_positive([name, $.b.getattr([self, name])]);
}
}
if ($.t(!$.has($.tuple([null, "cheapest"]), $.ga(self, "noise_variance")))) {
check_positive(["noise_variance", $.ga(self, "noise_variance")]);
}
return null;
});
$ns.check_plan = $.fn("check_plan", ["self", "plan"], {}, function (self, plan) {
$.sup(NoisyGD, self, "check_plan")([plan]);
if (!$.t($.lt(0n, $.ga($.ga(plan, "problem"), "strong_convexity")))) {
throw $.raised(AssumptionViolated([("" + "\u03bb=" + $.formatted($.ga(plan, "regularization"), "", ("" + "g")) + " must exceed \u03b2\u208b=" + $.formatted($.ga($.ga($.ga(plan, "loss"), "constants"), "weak_convexity"), "", ("" + "g")) + ": only then does a step contract")]));
}
return null;
});
$ns.assemble = $.fn("assemble", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {
let run;
run = NoisyGDRun([], {...$.named($.cm(self, "run_facts", [problem, numbers]))});
return $.cm(Plan, "of", [problem, run, numbers], {"exactness": $.ga(run, "exactness")});
});
}), [["step_size", () => ["or", ["is", $.b.float], ["none"]]], ["noise_variance", () => ["or", ["or", ["is", $.b.float], ["is", $.b.str]], ["none"]]], ["excess_risk_target", () => ["or", ["is", $.b.float], ["none"]]]], {frozen: true});
return {NoisyGDRun, NoisyGD, ClassVar, GridMethod, GridRun, check_positive, AssumptionViolated, Plan};
})();
$.modules["methods.noisy_gd_paper"] = (() => {
let PaperNoisyGDRun, PaperNoisyGD, _check_covered;
const dataclass = $.libraries["dataclasses"]["dataclass"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const theorem_5_1 = $.modules["bounds.theorem_5_1"];
const AssumptionViolated = $.modules["errors"]["AssumptionViolated"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_positive = $.modules["errors"]["check_positive"];
const Worlds = $.modules["privacy.guarantee"]["Worlds"];
const GridMethod = $.modules["methods.exact_steps"]["GridMethod"];
const GridRun = $.modules["methods.exact_steps"]["GridRun"];
const Plan = $.modules["methods.plan"]["Plan"];
PaperNoisyGDRun = $.dataclass($.cls("PaperNoisyGDRun", [GridRun], ($ns) => {
$ns.method = "noisy-gd-paper";
$ns.source = "Chourasia & Shah 2023, Theorem 5.1 (G.9, G.15)";
$ns.largest_step_size = $.property($.fn("largest_step_size", ["self"], {}, function (self) {
return $.div(1n, $.ga(self, "_steepest"));
}));
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without"], {}, function (self, worlds, steps_with, steps_without) {
let mu, printed;
printed = $.modules["bounds.theorem_5_1"].deletion_rate([], {...$.named($.cm(self, "_chain", [])), "sensitivity": $.cm(self, "sensitivity", [worlds]), "regularization": $.ga(self, "strong_convexity"), "steps_with_record": steps_with, "steps_without_record": steps_without});
if ($.t($.is($.ga(self, "exact"), null))) {
return $.dict([["rate", printed]]);
}
mu = $.cm($.ga(self, "exact"), "gdp", [self, worlds], {"steps_with": steps_with, "steps_without": steps_without});
return $.dict([["rate", $.b.max([printed, $.div($.pow(mu, 2n), 2n)])]]);
});
}), [], {frozen: true, kw_only: true});
PaperNoisyGD = $.dataclass($.cls("PaperNoisyGD", [GridMethod], ($ns) => {
$ns.name = "noisy-gd";
$ns.analysis = "paper";
$ns.summary = "noisy gradient descent by Theorem 5.1 as printed (5.2 for a non-convex loss)";
$ns.step_size = null;
$ns.noise_variance = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.sup(PaperNoisyGD, self, "__post_init__")([]);
if ($.t(!$.is($.ga(self, "step_size"), null))) {
check_positive(["step_size", $.ga(self, "step_size")]);
}
if ($.t(!$.has($.tuple([null, "cheapest"]), $.ga(self, "noise_variance")))) {
check_positive(["noise_variance", $.ga(self, "noise_variance")]);
}
return null;
});
$ns.check_plan = $.fn("check_plan", ["self", "plan"], {}, function (self, plan) {
let widest;
$.sup(PaperNoisyGD, self, "check_plan")([plan]);
_check_covered([$.ga(plan, "problem")]);
widest = $.modules["bounds.theorem_5_1"].init_variance([], {"noise_variance": $.ga(plan, "noise_variance"), "regularization": $.ga(plan, "regularization"), "step_size": $.ga(plan, "step_size")});
if (!($.t($.lt($.ga(plan, "step_size"), $.div(1n, $.ga($.ga(plan, "problem"), "objective_smoothness")))) && $.t($.le($.ga(plan, "init_variance"), $.mul(widest, $.add(1n, 1e-09)))))) {
throw $.raised(AssumptionViolated([("" + "must be below 1/(\u03bb+\u03b2), and init_variance=" + $.formatted($.ga(plan, "init_variance"), "", ("" + "g")) + " at most " + $.formatted(widest, "", ("" + "g")) + ", for Theorem 5.1")], {"step_size": $.ga(plan, "step_size")}));
}
return null;
});
$ns.assemble = $.fn("assemble", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {
let run;
run = PaperNoisyGDRun([], {...$.named($.cm(self, "run_facts", [problem, numbers]))});
return $.cm(Plan, "of", [problem, run, numbers], {"exactness": $.ga(run, "exactness")});
});
}), [["step_size", () => ["or", ["is", $.b.float], ["none"]]], ["noise_variance", () => ["or", ["or", ["is", $.b.float], ["is", $.b.str]], ["none"]]]], {frozen: true});
_check_covered = $.fn("_check_covered", ["problem"], {}, function (problem) {
if ($.t(!$.is($.ga(problem, "deletion_notion"), $.ga(Worlds, "DEFINITION_4_1")))) {
throw $.raised(InvalidParameter(["needs analysis 'tight': Theorem 5.1 states Definition 4.1 (a deleted record against one that was never there)"], {"deletion_notion": "pairwise"}));
}
if (!($.t($.ga($.ga($.ga(problem, "loss"), "constants"), "convex")) && $.t($.ga($.ga(problem, "loss"), "twice_differentiable")))) {
throw $.raised(AssumptionViolated([("" + "the " + $.formatted($.ga($.ga(problem, "loss"), "name"), "", "") + " loss is not twice differentiable and convex, which Theorem 5.1 assumes; analysis 'tight' needs less")]));
}
return null;
});
return {PaperNoisyGDRun, PaperNoisyGD, _check_covered, ClassVar, GridMethod, GridRun, check_positive, AssumptionViolated, Plan, InvalidParameter, Worlds};
})();
$.modules["accountant.events"] = (() => {
let EventKinds, _PUBLISHED, Statuses, Event, _READ, _MOST_READ, Stretch, iterate_stretches, add_release, has_cost, order_stretches, releases_alone, iterate_erasures, compose_costs, answer_question, _list_releases, cost_of_stretch, is_within_budget;
const json = $.libraries["json"];
const Counter = $.libraries["collections"]["Counter"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const replace = $.libraries["dataclasses"]["replace"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const Word = $.modules["errors"]["Word"];
const check_count = $.modules["errors"]["check_count"];
const Mechanism = $.modules["methods.base"]["Mechanism"];
const mechanism_from_dict = $.modules["methods.serialization"]["mechanism_from_dict"];
const FIXED_RECORD = $.modules["privacy.guarantee"]["FIXED_RECORD"];
const FIXED_TARGET = $.modules["privacy.guarantee"]["FIXED_TARGET"];
const NON_ADAPTIVE = $.modules["privacy.guarantee"]["NON_ADAPTIVE"];
const Guarantee = $.modules["privacy.guarantee"]["Guarantee"];
const NO_EDITS = $.modules["records"]["NO_EDITS"];
const EditCounts = $.modules["records"]["EditCounts"];
EventKinds = $.cls("EventKinds", [Word], ($ns) => {
$ns.LEARN = "learn";
$ns.UNLEARN = "unlearn";
$ns.RELEARN = "relearn";
$ns.EXTRACTOR = "extractor";
$ns.STATISTIC = "statistic";
});
_PUBLISHED = $.dict([[$.ga(EventKinds, "EXTRACTOR"), "extractor"], [$.ga(EventKinds, "STATISTIC"), "statistics"]]);
Statuses = $.cls("Statuses", [Word], ($ns) => {
$ns.PUBLISHED = "published";
$ns.WITHHELD = "withheld";
$ns.PENDING = "pending";
});
Event = $.dataclass($.cls("Event", [], ($ns) => {
$ns.counts = NO_EDITS;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let left;
$.cm($.b.object, "__setattr__", [self, "kind", EventKinds([$.ga(self, "kind")])]);
check_count(["steps", $.ga(self, "steps")], {"minimum": 0n});
check_count(["edits", $.ga(self, "edits")], {"minimum": 0n});
if ($.t($.lt($.ga(self, "edits"), $.ga($.ga(self, "counts"), "total")))) {
throw $.raised(InvalidParameter([("" + "is less than the sum of its kinds: " + $.formatted($.cm($.ga(self, "counts"), "text", []), "", ""))], {"edits": $.ga(self, "edits")}));
}
$.cm($.b.object, "__setattr__", [self, "counts", $.cm($.ga(self, "counts"), "among", [$.ga(self, "edits")])]);
$.cm($.ga(self, "mechanism"), "check", [$.ga(self, "steps")], {"fresh": $.ga(self, "fresh"), "inserted": $.b.bool([$.ga($.ga(self, "counts"), "inserted")])});
left = $.ga($.ga(self, "mechanism"), "left");
if ($.t(!$.eq($.cm(_PUBLISHED, "get", [$.ga(self, "kind")]), ($.t($.has($.cm(_PUBLISHED, "values", []), left)) ? left : null)))) {
throw $.raised(InvalidParameter([("" + "does not go with the facts of method " + $.formatted($.ga($.ga(self, "mechanism"), "method"), "r", "") + "; an extractor is described by a SampledGaussian, a statistic by CountedRecords, every other release by the mechanism of its plan")], {"kind": $.b.str([$.ga(self, "kind")])}));
}
if (($.t($.is($.ga(self, "kind"), $.ga(EventKinds, "STATISTIC"))) && $.t($.ga(self, "edits")))) {
throw $.raised(InvalidParameter(["must be 0 for a statistic: it serves no request"], {"edits": $.ga(self, "edits")}));
}
return null;
});
$ns.fresh = $.property($.fn("fresh", ["self"], {}, function (self) {
return $.either(!$.has($.tuple([$.ga(EventKinds, "UNLEARN"), $.ga(EventKinds, "STATISTIC")]), $.ga(self, "kind")), () => $.ga($.ga(self, "mechanism"), "fresh"));
}));
$ns.exposure = $.property($.fn("exposure", ["self"], {}, function (self) {
return $.cm($.ga(self, "mechanism"), "exposure", [$.ga(self, "steps")]);
}));
$ns.warm = $.property($.fn("warm", ["self"], {}, function (self) {
return $.both($.is($.ga(self, "kind"), $.ga(EventKinds, "UNLEARN")), () => $.ga($.ga(self, "mechanism"), "shows_start"));
}));
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.dict([["kind", $.b.str([$.ga(self, "kind")])], ["steps", $.ga(self, "steps")], ["edits", $.ga(self, "edits")], ["mechanism", $.cm($.ga(self, "mechanism"), "to_dict", [])], ["counts", $.cm($.ga(self, "counts"), "to_dict", [])]]);
});
$ns.from_dict = $.classmethod($.fn("from_dict", ["cls", "fields"], {}, function (cls, fields) {
let event, text;
try {
text = $.libraries["json"].dumps([fields]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.tuple([$.b.TypeError, $.b.ValueError]))) {
return $.cm(cls, "_read", [fields]);
} else throw $caught;
}
if ($.t(!$.has(_READ, text))) {
event = $.cm(cls, "_read", [fields]);
if ($.t($.le(_MOST_READ, $.b.len([_READ])))) {
$.cm(_READ, "clear", []);
}
$.si(_READ, text, event);
}
return $.gi(_READ, text);
}));
$ns._read = $.classmethod($.fn("_read", ["cls", "fields"], {}, function (cls, fields) {
let counts, error;
try {
counts = $.cm(EditCounts, "from_dict", [$.gi(fields, "counts")]);
return cls([], {...$.named($.dict([...$.pairs(fields), ["mechanism", mechanism_from_dict([$.gi(fields, "mechanism")])], ["counts", counts]]))});
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.tuple([$.b.TypeError, $.b.KeyError]))) {error = $caught;
throw $.raised(InvalidParameter([("" + "not a release event: " + $.formatted(error, "", ""))]));
} else throw $caught;
}
return null;
}));
}), [["kind", () => ["is", EventKinds]], ["steps", () => ["is", $.b.int]], ["edits", () => ["is", $.b.int]], ["mechanism", () => ["is", Mechanism]], ["counts", () => ["is", EditCounts]]], {frozen: true});
_READ = $.dict([]);
_MOST_READ = 4096n;
Stretch = $.gi($.b.tuple, $.tuple([Mechanism, $.b.float, $.b.float]));
iterate_stretches = $.fn("iterate_stretches", ["events", "*", "present_from", "erased_at", "observed"], {}, function* (events, present_from, erased_at, observed) {
let carried, chain, drawn, event, extractor, inside, model, number, shown, steps_with, steps_without;
steps_with = 0n;
steps_without = 0n;
extractor = null;
chain = null;
{const $v1 = [0n, false];drawn = $v1[0];shown = $v1[1];}
model = null;
for (const $v2 of $.each($.b.enumerate([events], {"start": 1n}))) {
{const $v3 = $.unpack($v2, 2, -1);number = $v3[0];event = $v3[1];}
inside = $.both($.le(present_from, number), () => $.either($.is(erased_at, null), () => $.lt(number, erased_at)));
if ($.t($.eq($.ga(event, "kind"), "extractor"))) {
extractor = (($.t(inside) && $.t($.ga(event, "exposure"))) ? $.tuple([$.ga(event, "mechanism"), $.ga(event, "exposure"), 0n]) : null);
} else {
if ($.t(!$.eq($.ga(event, "kind"), "statistic"))) {
model = $.ga(event, "mechanism");
carried = 0n;
if ($.t($.ga(event, "fresh"))) {
if ($.t(!$.is(chain, null))) {
yield chain;
}
{const $v4 = [null, 0n, false];chain = $v4[0];drawn = $v4[1];shown = $v4[2];}
carried = ($.t($.ga(event, "warm")) ? steps_with : 0n);
{const $v5 = 0n;steps_with = $v5;steps_without = $v5;}
}
drawn = $.iadd(drawn, 1n);
if ($.t($.ga(model, "carries"))) {
{const $v6 = $.unpack(($.t(inside) ? $.tuple([drawn, 0n]) : $.tuple([steps_with, $.add(steps_without, $.b.bool([steps_with]))])), 2, -1);steps_with = $v6[0];steps_without = $v6[1];}
shown = $.either(shown, () => $.both(inside, () => $.has(observed, number)));
} else {
if ($.t(inside)) {
steps_with = $.iadd(steps_with, $.ga(event, "exposure"));
} else {
if ($.t($.le(present_from, number))) {
steps_with = $.either(steps_with, () => carried);
steps_without = $.iadd(steps_without, $.ga(event, "exposure"));
}
}
}
}
}
if ($.t($.has(observed, number))) {
if ($.t(extractor)) {
yield extractor;
extractor = null;
}
if (($.t(!$.is(model, null)) && $.t($.ga(model, "carries")) && $.t(!$.eq($.ga(event, "kind"), "extractor")))) {
chain = (($.t(shown) || ($.t(steps_with) && !$.t(steps_without))) ? $.tuple([model, steps_with, steps_without]) : chain);
shown = !$.is(chain, null);
} else {
if ($.t(!$.eq($.ga(event, "kind"), "extractor"))) {
if (($.t(!$.is(model, null)) && $.t(has_cost([$.tuple([model, steps_with, steps_without])])))) {
yield $.tuple([model, steps_with, steps_without]);
}
{const $v7 = 0n;steps_with = $v7;steps_without = $v7;}
}
}
if (($.t($.eq($.ga(event, "kind"), "statistic")) && $.t(inside))) {
yield $.tuple([$.ga(event, "mechanism"), $.ga(event, "exposure"), 0n]);
}
}
}
if ($.t(!$.is(chain, null))) {
yield chain;
}
return null;
});
add_release = $.fn("add_release", ["parts", "event", "since", "times"], {"times": 1n}, function (parts, event, since, times) {
let before, left, mechanism;
mechanism = $.ga(event, "mechanism");
if (($.t($.ga(mechanism, "carries")) && !$.t($.ga(event, "fresh")))) {
before = $.tuple([mechanism, since, 0.0]);
left = $.sub($.cm(parts, "pop", [before, 1n]), 1n);
if ($.t(left)) {
$.si(parts, before, left);
}
{const $v10 = parts, $v11 = $.tuple([mechanism, $.add(since, $.mul(times, $.ga(event, "exposure"))), 0.0]);$.si($v10, $v11, $.iadd($.gi($v10, $v11), 1n));}
} else {
if ($.t($.ga(event, "exposure"))) {
{const $v8 = parts, $v9 = $.tuple([mechanism, $.ga(event, "exposure"), 0.0]);$.si($v8, $v9, $.iadd($.gi($v8, $v9), times));}
}
}
return null;
});
has_cost = $.fn("has_cost", ["stretch"], {}, function (stretch) {
let mechanism, steps_with, steps_without;
{const $v12 = $.unpack(stretch, 3, -1);mechanism = $v12[0];steps_with = $v12[1];steps_without = $v12[2];}
return $.b.bool([$.either(steps_with, () => $.both(steps_without, () => $.ga(mechanism, "shows_order")))]);
});
order_stretches = $.fn("order_stretches", ["published"], {}, function (published) {
let _, exposure, mechanism, shown, times;
shown = Counter([]);
for (const $v13 of $.each($.cm(published, "items", []))) {
{const $v14 = $.unpack($v13, 2, -1);{const $v15 = $.unpack($v14[0], 3, -1);mechanism = $v15[0];exposure = $v15[1];_ = $v15[2];}times = $v14[1];}
if ($.t($.ga(mechanism, "shows_order"))) {
{const $v16 = shown, $v17 = $.tuple([mechanism, 0n, exposure]);$.si($v16, $v17, $.iadd($.gi($v16, $v17), times));}
}
}
return shown;
});
releases_alone = $.fn("releases_alone", ["events", "steps", "extractor", "model"], {"steps": 0n, "extractor": $.tuple([]), "model": null}, function* (events, steps, extractor, model) {
let event, shown;
for (const $v18 of $.each(events)) {
event = $v18;
if ($.t($.eq($.ga(event, "kind"), "statistic"))) {
shown = (($.t(steps) && $.t(!$.is(model, null))) ? [$.tuple([model, steps, 0.0])] : []);
yield $.tuple([...$.each(extractor), ...$.each(shown), $.tuple([$.ga(event, "mechanism"), $.ga(event, "exposure"), 0.0])]);
continue;
}
if ($.t($.eq($.ga(event, "kind"), "extractor"))) {
extractor = ($.t($.ga(event, "exposure")) ? $.tuple([$.tuple([$.ga(event, "mechanism"), $.ga(event, "exposure"), 0n])]) : $.tuple([]));
yield extractor;
continue;
}
{const $v19 = [$.ga(event, "mechanism"), $.add($.ga(event, "exposure"), ($.t($.ga(event, "fresh")) ? 0n : steps))];model = $v19[0];steps = $v19[1];}
yield $.tuple([...$.each(extractor), ...$.each(($.t(steps) ? [$.tuple([$.ga(event, "mechanism"), steps, 0.0])] : []))]);
}
return null;
});
iterate_erasures = $.fn("iterate_erasures", ["events", "shown", "steps", "extractor"], {"steps": 0n, "extractor": $.tuple([])}, function* (events, shown, steps, extractor) {
let before, event, model, number, own, seen;
seen = Counter([]);
model = null;
for (const $v20 of $.each($.b.enumerate([events], {"start": 1n}))) {
{const $v21 = $.unpack($v20, 2, -1);number = $v21[0];event = $v21[1];}
before = (($.t($.eq($.ga(event, "kind"), "unlearn")) && ($.t($.ga(event, "warm")) || !$.t($.ga(event, "fresh")))) ? steps : 0n);
if ($.t($.eq($.ga(event, "kind"), "extractor"))) {
yield $.tuple([seen, $.tuple([])]);
extractor = ($.t($.ga(event, "exposure")) ? $.tuple([$.tuple([$.ga(event, "mechanism"), $.ga(event, "exposure"), 0.0])]) : $.tuple([]));
} else {
if ($.t($.eq($.ga(event, "kind"), "statistic"))) {
yield $.tuple([seen, $.tuple([])]);
} else {
model = $.ga(event, "mechanism");
own = $.tuple([$.ga(event, "mechanism"), before, $.ga(event, "exposure")]);
yield $.tuple([seen, $.tuple([...$.each(extractor), ...$.each((($.t(has_cost([own])) && !$.t($.ga(model, "carries"))) ? [own] : []))])]);
steps = $.add($.ga(event, "exposure"), ($.t($.ga(event, "fresh")) ? 0n : steps));
}
}
if ($.t($.has(shown, number))) {
$.cm(seen, "update", [extractor]);
extractor = $.tuple([]);
if ($.t(!$.eq($.ga(event, "kind"), "extractor"))) {
$.cm(seen, "update", [(($.t(steps) && $.t(!$.is(model, null))) ? [$.tuple([model, steps, 0.0])] : [])]);
steps = (($.t(!$.is(model, null)) && $.t($.ga(model, "carries"))) ? steps : 0n);
}
if ($.t($.eq($.ga(event, "kind"), "statistic"))) {
{const $v22 = seen, $v23 = $.tuple([$.ga(event, "mechanism"), $.ga(event, "exposure"), 0.0]);$.si($v22, $v23, $.iadd($.gi($v22, $v23), 1n));}
}
}
}
return null;
});
compose_costs = $.fn("compose_costs", ["about", "adjacency", "parts", "last", "known"], {"known": null}, function (about, adjacency, parts, last, known) {
let chains, gone, left, mechanism, nothing, priced, stays, steps, stretch;
known = ($.t($.is(known, null)) ? $.dict([]) : known);
nothing = $.tuple([$.ga(last, "mechanism"), 0n, 0n]);
for (const $v24 of $.each($.tuple([...$.each(parts), nothing]))) {
stretch = $v24;
if ($.t(!$.has(known, stretch))) {
$.si(known, stretch, cost_of_stretch([about, adjacency, stretch]));
}
}
priced = [...(function* ($first) { for (const $v25 of $.each($first)) { let stretch, times; {const $v26 = $.unpack($v25, 2, -1);stretch = $v26[0];times = $v26[1];} yield $.tuple([$.gi(known, stretch), times]); } })($.cm(parts, "items", []))];
chains = [...(function* ($first) { for (const $v27 of $.each($first)) { let stretch; stretch = $v27; if (!($.t($.ga($.gi(stretch, 0n), "carries")) && $.t($.gi(stretch, 1n)))) continue; yield stretch; } })(parts)];
if ($.t($.lt(1n, $.b.sum([(function* ($first) { for (const $v28 of $.each($first)) { let stretch; stretch = $v28; yield $.gi(parts, stretch); } })(chains)])))) {
stays = $.dict([]);
for (const $v29 of $.each(chains)) {
stretch = $v29;
{const $v30 = $.unpack(stretch, 3, -1);mechanism = $v30[0];steps = $v30[1];gone = $v30[2];}
if (!$.t(!$.is($.ga(mechanism, "carries"), null))) throw $.raised($.b.AssertionError);
$.si(stays, stretch, $.cm($.ga(mechanism, "carries"), "staying", [about, adjacency], {"steps_with": steps, "steps_without": gone}));
}
left = $.b.max([chains], {"key": $.fn("<lambda>", ["stretch"], {}, (stretch) => $.sub($.ga($.gi(known, stretch), "gdp_squared"), $.ga($.gi(stays, stretch), "gdp_squared")))});
priced = [...(function* ($first) { for (const $v31 of $.each($first)) { let stretch, times; {const $v32 = $.unpack($v31, 2, -1);stretch = $v32[0];times = $v32[1];} yield $.tuple([$.cm(stays, "get", [stretch, $.gi(known, stretch)]), $.sub(times, $.eq(stretch, left))]); } })($.cm(parts, "items", []))];
$.cm(priced, "append", [$.tuple([$.gi(known, left), 1n])]);
}
return $.cm(Guarantee, "composed", [[...$.each((function* ($first) { for (const $v33 of $.each($first)) { let each, times; {const $v34 = $.unpack($v33, 2, -1);each = $v34[0];times = $v34[1];} if (!$.t(times)) continue; yield $.tuple([each, times]); } })(priced)), $.tuple([$.gi(known, nothing), 1n])]]);
});
answer_question = $.fn("answer_question", ["about", "adjacency", "parts", "last", "observed", "releases", "known"], {"known": null}, function (about, adjacency, parts, last, observed, releases, known) {
let everything, seen, target, total;
total = compose_costs([about, adjacency, parts, last, known]);
everything = $.eq($.b.len([observed]), releases);
seen = ($.t(everything) ? "every release is observed" : ("" + "only " + $.formatted(_list_releases([observed]), "", "") + " observed; " + $.formatted(NON_ADAPTIVE, "", "") + " that were not"));
target = ($.t($.eq(about, "deletion")) ? FIXED_TARGET : FIXED_RECORD);
return replace([total], {"assumptions": $.tuple([...$.each($.ga(total, "assumptions")), ("" + $.formatted(seen, "", "") + "; this set was fixed in advance"), target])});
});
_list_releases = $.fn("_list_releases", ["observed"], {}, function (observed) {
let ends;
if ($.t($.le($.b.len([observed]), 12n))) {
return ("" + "the releases " + $.formatted($.b.sorted([observed]), "", "") + " are");
}
ends = ($.t($.b.isinstance([observed, $.b.range])) ? $.tuple([$.gi(observed, 0n), $.gi(observed, $.neg(1n))]) : $.tuple([$.b.min([observed]), $.b.max([observed])]));
return ("" + $.formatted($.b.len([observed]), "", "") + " releases from " + $.formatted($.gi(ends, 0n), "", "") + " to " + $.formatted($.gi(ends, 1n), "", "") + " are");
});
cost_of_stretch = $.fn("cost_of_stretch", ["about", "adjacency", "stretch"], {}, function (about, adjacency, stretch) {
let gone, mechanism, steps;
{const $v35 = $.unpack(stretch, 3, -1);mechanism = $v35[0];steps = $v35[1];gone = $v35[2];}
return $.cm(mechanism, "interval", [about, adjacency], {"steps_with": steps, "steps_without": gone});
});
is_within_budget = $.fn("is_within_budget", ["spent", "plan"], {}, function (spent, plan) {
return $.cm($.ga(plan, "budget"), "affords", [($.t($.ga($.ga(plan, "problem"), "slack_in_budget")) ? $.cm(spent, "with_slack", []) : spent)]);
});
return {EventKinds, _PUBLISHED, Statuses, Event, _READ, _MOST_READ, Stretch, iterate_stretches, add_release, has_cost, order_stretches, releases_alone, iterate_erasures, compose_costs, answer_question, _list_releases, cost_of_stretch, is_within_budget, Word, EditCounts, NO_EDITS, Mechanism, InvalidParameter, check_count, mechanism_from_dict, replace, FIXED_RECORD, FIXED_TARGET, NON_ADAPTIVE, Guarantee, Counter};
})();
$.modules["methods.output_perturbation"] = (() => {
let _DIFFUSION_SHARE, OutputPerturbationRun, OutputPerturbation, _check_one_minimiser, _rounding_facts, diffusion_steps;
const dataclass = $.libraries["dataclasses"]["dataclass"];
const Any = $.libraries["typing"]["Any"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const shifted_interpolation = $.modules["bounds.shifted_interpolation"];
const ROOM = $.modules["bounds.arithmetic"]["ROOM"];
const first_whole = $.modules["bounds.arithmetic"]["first_whole"];
const gradient_error = $.modules["bounds.arithmetic"]["gradient_error"];
const AssumptionViolated = $.modules["errors"]["AssumptionViolated"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_choice = $.modules["errors"]["check_choice"];
const check_count = $.modules["errors"]["check_count"];
const check_positive = $.modules["errors"]["check_positive"];
const non_negative = $.modules["errors"]["non_negative"];
const GridMethod = $.modules["methods.exact_steps"]["GridMethod"];
const forecast_excess_risk = $.modules["methods.forecast"]["forecast_excess_risk"];
const NoisyGDRun = $.modules["methods.noisy_gd"]["NoisyGDRun"];
const Plan = $.modules["methods.plan"]["Plan"];
const SOLVERS = $.modules["methods.problem"]["SOLVERS"];
const forecast_passes = $.modules["methods.problem"]["forecast_passes"];
_DIFFUSION_SHARE = $.div(5n, 3n);
OutputPerturbationRun = $.dataclass($.cls("OutputPerturbationRun", [NoisyGDRun], ($ns) => {
$ns.method = "output-perturbation";
$ns.source = "shifted interpolation (Bok, Su & Altschuler 2024) for Noisy-GD from the minimiser";
$ns.fresh = true;
$ns.gradient_tolerance = 0.0;
$ns.warm = false;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.sup(OutputPerturbationRun, self, "__post_init__")([]);
non_negative(["gradient_tolerance", $.ga(self, "gradient_tolerance")]);
return null;
});
$ns.shows_start = $.property($.fn("shows_start", ["self"], {}, function (self) {
return $.ga(self, "warm");
}));
$ns.check = $.fn("check", ["self", "steps", "*", "fresh", "inserted"], {"fresh": null, "inserted": false}, function (self, steps, fresh, inserted) {
if (!$.t(steps)) {
throw $.raised(InvalidParameter(["steps=0: a release from the minimiser without a noisy step is the minimiser itself, which no bound covers"]));
}
return null;
});
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without"], {}, function (self, worlds, steps_with, steps_without) {
let mu, steps;
if (($.t(steps_without) && !($.t($.ga(self, "shows_start")) || $.t($.ga(self, "shows_order"))))) {
return $.dict([["gdp_squared", 0.0]]);
}
steps = $.either(steps_without, () => steps_with);
if ($.t(!$.is($.ga(self, "exact"), null))) {
return $.dict([["gdp_squared", $.pow($.cm(self, "_exact_gdp", [$.ga(self, "exact"), worlds, steps], {"erased": $.b.bool([steps_without])}), 2n)]]);
}
mu = $.modules["bounds.shifted_interpolation"].minimiser_dp_gdp([], {...$.named($.cm(self, "_chain", [])), "sensitivity": ($.t(steps_without) ? 0.0 : $.cm(self, "sensitivity", [worlds])), "strong_convexity": $.ga(self, "strong_convexity"), "gradient_tolerance": $.ga(self, "gradient_tolerance"), "steps": steps});
return $.dict([["gdp_squared", $.pow(mu, 2n)]]);
});
$ns._exact_gdp = $.fn("_exact_gdp", ["self", "exact", "worlds", "steps", "*", "erased"], {}, function (self, exact, worlds, steps, erased) {
let m, moved, room, solved;
{const $v1 = [$.ga(self, "strong_convexity"), $.add(1n, $.pow(2.0, $.neg(40n)))];m = $v1[0];room = $v1[1];}
solved = $.mul($.div($.mul(2n, $.ga(self, "gradient_tolerance")), m), room);
if ($.t(erased)) {
return $.cm(exact, "gdp", [self, worlds], {"steps_with": 0n, "steps_without": steps, "apart": solved});
}
moved = $.mul($.div($.mul($.cm(self, "sensitivity", [worlds]), ROOM), $.mul($.ga(self, "records"), m)), room);
return $.cm(exact, "gdp", [self, worlds], {"steps_with": steps, "apart": $.add(moved, solved)});
});
$ns.conditions = $.fn("conditions", ["self"], {}, function (self) {
let own, solved;
own = $.dict([["method", $.ga(self, "method")]]);
solved = $.tuple(["solver-tolerance", $.dict([...$.pairs(own), ["tolerance", $.ga(self, "gradient_tolerance")]])]);
return $.tuple([...$.each($.sup(OutputPerturbationRun, self, "conditions")([])), solved, $.tuple(["time-unseen", own])]);
});
}), [["gradient_tolerance", () => ["is", $.b.float]], ["warm", () => ["is", $.b.bool]]], {frozen: true, kw_only: true});
OutputPerturbation = $.dataclass($.cls("OutputPerturbation", [GridMethod], ($ns) => {
$ns.name = "output-perturbation";
$ns.summary = "solve for the minimiser of the current records, then diffuse: nothing but noise to wait for";
$ns.solver = "warm";
$ns.diffusion_steps = null;
$ns.gradient_tolerance = null;
$ns.step_size = null;
$ns.noise_variance = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name;
$.sup(OutputPerturbation, self, "__post_init__")([]);
check_choice(["solver", $.ga(self, "solver"), SOLVERS]);
if ($.t(!$.is($.ga(self, "diffusion_steps"), null))) {
check_count(["diffusion_steps", $.ga(self, "diffusion_steps")]);
}
for (const $v2 of $.each($.tuple(["gradient_tolerance", "step_size", "noise_variance"]))) {
name = $v2;
if ($.t(!$.is($.b.getattr([self, name]), null))) {
check_positive([name, $.b.getattr([self, name])]);
}
}
return null;
});
$ns.check_plan = $.fn("check_plan", ["self", "plan"], {}, function (self, plan) {
let least;
$.sup(OutputPerturbation, self, "check_plan")([plan]);
_check_one_minimiser([$.ga(plan, "problem")]);
least = gradient_error([], {...$.named(_rounding_facts([$.ga(plan, "problem")]))});
if (!$.t($.le(least, $.ga(plan, "gradient_tolerance")))) {
throw $.raised(InvalidParameter([("" + "is below " + $.formatted(least, "", ("" + "g")) + ", the rounding of a gradient in float64")], {"gradient_tolerance": $.ga(plan, "gradient_tolerance")}));
}
return null;
});
$ns.assemble = $.fn("assemble", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {
let own, promise, run, start;
own = $.dict([["gradient_tolerance", $.ga(numbers, "gradient_tolerance")], ["warm", $.eq($.ga(self, "solver"), "warm")]]);
run = OutputPerturbationRun([], {...$.named($.cm(self, "run_facts", [problem, numbers])), ...$.named(own)});
start = $.modules["methods.problem"].Minimizer([$.ga(numbers, "gradient_tolerance"), $.ga(self, "solver")]);
promise = $.modules["methods.problem"].PlannedGuarantees([], {"dp": $.modules["methods.problem"].WorstCaseRun([$.b.max([$.ga(numbers, "learn_steps"), $.ga(numbers, "delete_steps")])]), "deletion": $.modules["methods.problem"].WorstCaseRun([], {"steps_without": $.ga(numbers, "delete_steps")})});
return $.cm(Plan, "of", [problem, run, numbers], {"learning": start, "serving": start, "promise": promise, "exactness": $.ga(run, "exactness")});
});
}), [["solver", () => ["is", $.b.str]], ["diffusion_steps", () => ["or", ["is", $.b.int], ["none"]]], ["gradient_tolerance", () => ["or", ["is", $.b.float], ["none"]]], ["step_size", () => ["or", ["is", $.b.float], ["none"]]], ["noise_variance", () => ["or", ["is", $.b.float], ["none"]]]], {frozen: true});
_check_one_minimiser = $.fn("_check_one_minimiser", ["problem"], {}, function (problem) {
if (!$.t($.lt(0n, $.ga(problem, "strong_convexity")))) {
throw $.raised(AssumptionViolated([("" + "\u03bb=" + $.formatted($.ga(problem, "regularization"), "", ("" + "g")) + " must exceed the weak convexity \u03b2\u208b=" + $.formatted($.ga($.ga($.ga(problem, "loss"), "constants"), "weak_convexity"), "", ("" + "g")) + " of the " + $.formatted($.ga($.ga(problem, "loss"), "name"), "", "") + " loss: only then is there one minimiser, close for neighbouring tables")]));
}
return null;
});
_rounding_facts = $.fn("_rounding_facts", ["problem"], {}, function (problem) {
return $.dict([["lipschitz", $.ga($.ga($.ga(problem, "loss"), "constants"), "lipschitz")], ["curvature", $.ga($.ga($.ga(problem, "loss"), "constants"), "curvature")], ["outputs", $.ga($.ga(problem, "loss"), "outputs")], ["records", $.ga(problem, "records")], ["features", $.ga(problem, "features")], ["regularization", $.ga(problem, "regularization")], ["weights_norm", $.div($.mul(2n, $.ga($.ga($.ga(problem, "loss"), "constants"), "lipschitz")), $.ga(problem, "regularization"))]]);
});
diffusion_steps = $.fn("diffusion_steps", ["problem", "step_size"], {}, function (problem, step_size) {
let chain, enough, most, risk;
chain = $.dict([["step_size", step_size], ["strong_convexity", $.ga(problem, "strong_convexity")]]);
risk = $.fn("risk", ["steps"], {}, function (steps) {
return forecast_excess_risk([problem], {"step_size": step_size, "noise_variance": $.modules["bounds.shifted_interpolation"].noise_inflation([], {"steps": steps, ...$.named(chain)}), "steps": steps});
});
most = $.b.max([1n, $.b.round([$.mul(_DIFFUSION_SHARE, forecast_passes([problem]))])]);
enough = $.mul(1.01, risk([most]));
return first_whole([$.fn("<lambda>", ["steps"], {}, (steps) => $.le(risk([steps]), enough)), 0n, most]);
});
return {_DIFFUSION_SHARE, OutputPerturbationRun, OutputPerturbation, _check_one_minimiser, _rounding_facts, diffusion_steps, ClassVar, GridMethod, NoisyGDRun, first_whole, forecast_passes, forecast_excess_risk, check_positive, check_count, SOLVERS, check_choice, InvalidParameter, gradient_error, Plan, Any, non_negative, AssumptionViolated, ROOM};
})();
$.modules["evidence.facts"] = (() => {
let MOST_AUDITS, MOST_COLUMNS, Erasure, _day_of, _check_columns, check_chronological, check_digest, check_certificate_id, check_version, check_audit_rows, MOST_PLACES, MOST_PUBLISHERS, UNKNOWN, check_report_rows, check_source_order, check_residue_rows, check_destinations, check_released;
const re = $.libraries["re"];
const Mapping = $.libraries["collections.abc"]["Mapping"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const pairwise = $.libraries["itertools"]["pairwise"];
const Any = $.libraries["typing"]["Any"];
const UUID = $.libraries["uuid"]["UUID"];
const Statuses = $.modules["accountant.events"]["Statuses"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_choice = $.modules["errors"]["check_choice"];
const check_count = $.modules["errors"]["check_count"];
const check_real = $.modules["errors"]["check_real"];
const last_day = $.modules["register.case"]["last_day"];
const local_day = $.modules["register.case"]["local_day"];
const parse_datetime = $.modules["register.case"]["parse_datetime"];
const parse_day = $.modules["register.case"]["parse_day"];
const entry = $.modules["store.entry"];
const Verdicts = $.modules["store.sources.residue_report"]["Verdicts"];
const NOTHING_STATED = $.modules["evidence.notices"]["NOTHING_STATED"];
const Notices = $.modules["evidence.notices"]["Notices"];
const check_text = $.modules["evidence.notices"]["check_text"];
{const $v1 = [100n, 10000n];MOST_AUDITS = $v1[0];MOST_COLUMNS = $v1[1];}
Erasure = $.dataclass($.cls("Erasure", [], ($ns) => {
$ns.status = $.ga(Statuses, "PUBLISHED");
$ns.replaced = 0n;
$ns.inserted = 0n;
$ns.remaining = null;
$ns.request_id = null;
$ns.received = null;
$ns.edited = null;
$ns.served = null;
$ns.model_before = null;
$ns.model_after = null;
$ns.checked = null;
$ns.audit = $.tuple([]);
$ns.controller = null;
$ns.ledger_entries = null;
$ns.ledger_sha256 = null;
$ns.notices = NOTHING_STATED;
$ns.deleted_at = null;
$ns.read_at = null;
$ns.counted = null;
$ns.residue = $.tuple([]);
$ns.publishers = $.tuple([]);
$ns.from_data = null;
$ns.by_calendar = false;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name, start;
check_count(["rows", $.ga(self, "rows")]);
check_count(["inserted", $.ga(self, "inserted")], {"minimum": 0n});
if (!$.t($.le(check_count(["replaced", $.ga(self, "replaced")], {"minimum": 0n}), $.ga(self, "rows")))) {
throw $.raised(InvalidParameter([("" + "rows cannot be among rows=" + $.formatted($.ga(self, "rows"), "", "") + " erased")], {"replaced": $.ga(self, "replaced")}));
}
if ($.t(!$.is($.ga(self, "remaining"), null))) {
check_count(["remaining", $.ga(self, "remaining")], {"minimum": 0n});
}
$.cm($.b.object, "__setattr__", [self, "status", Statuses([$.ga(self, "status")])]);
if ($.t(!$.eq($.is($.ga(self, "release"), null), !$.is($.ga(self, "status"), $.ga(Statuses, "PUBLISHED"))))) {
throw $.raised(InvalidParameter(["contradict each other"], {"status": $.b.str([$.ga(self, "status")]), "release": $.ga(self, "release")}));
}
if ($.t(!$.is($.ga(self, "release"), null))) {
check_count(["release", $.ga(self, "release")]);
}
if (($.t(!$.is($.ga(self, "status"), $.ga(Statuses, "PUBLISHED"))) && !($.t($.is($.ga(self, "model_after"), null)) && $.t($.is($.ga(self, "served"), null))))) {
throw $.raised(InvalidParameter([("" + "served and model_after say that a model was published, status=" + $.formatted($.b.str([$.ga(self, "status")]), "r", "") + " does not")]));
}
for (const $v2 of $.each($.tuple(["request_id", "checked", "controller"]))) {
name = $v2;
check_text([name, $.b.getattr([self, name])]);
}
for (const $v3 of $.each($.tuple(["model_before", "model_after", "ledger_sha256"]))) {
name = $v3;
check_digest([name, $.b.getattr([self, name])]);
}
if ($.t(!$.eq($.is($.ga(self, "ledger_entries"), null), $.is($.ga(self, "ledger_sha256"), null)))) {
throw $.raised(InvalidParameter(["ledger_entries and ledger_sha256 describe the same state: give both or neither"]));
}
if ($.t(!$.is($.ga(self, "ledger_entries"), null))) {
check_count(["ledger_entries", $.ga(self, "ledger_entries")]);
}
if ($.t(!$.is($.ga(self, "received"), null))) {
$.cm($.b.object, "__setattr__", [self, "received", parse_datetime(["received", $.ga(self, "received")], {"utc": false})]);
}
for (const $v4 of $.each($.tuple(["edited", "served"]))) {
name = $v4;
$.cm($.b.object, "__setattr__", [self, name, _day_of([name, $.b.getattr([self, name]), $.ga(self, "received")])]);
}
start = ($.t($.is($.ga(self, "received"), null)) ? null : $.slice($.ga(self, "received"), null, 10n, null));
check_chronological([], {"received": start, "edited": $.ga(self, "edited"), "served": $.ga(self, "served")});
$.cm($.b.object, "__setattr__", [self, "audit", check_audit_rows([$.ga(self, "audit")])]);
$.cm($.ga(self, "notices"), "fit", [$.ga(self, "received")]);
$.cm($.b.object, "__setattr__", [self, "residue", check_residue_rows([$.ga(self, "residue")])]);
$.cm($.b.object, "__setattr__", [self, "publishers", check_destinations([$.ga(self, "publishers")])]);
$.cm($.b.object, "__setattr__", [self, "from_data", _check_columns([$.ga(self, "from_data")])]);
if (!$.t($.b.isinstance([$.ga(self, "by_calendar"), $.b.bool]))) {
throw $.raised(InvalidParameter(["must be true or false"], {"by_calendar": $.ga(self, "by_calendar")}));
}
check_source_order([$.ga(self, "deleted_at"), $.ga(self, "read_at"), $.ga(self, "counted")], {"published": !$.is($.ga(self, "release"), null)});
return null;
});
$ns.deleted = $.property($.fn("deleted", ["self"], {}, function (self) {
return $.sub($.ga(self, "rows"), $.ga(self, "replaced"));
}));
$ns.deadline = $.property($.fn("deadline", ["self"], {}, function (self) {
let extended;
if ($.t($.is($.ga(self, "received"), null))) {
return null;
}
extended = $.ga($.ga(self, "notices"), "extended_until");
return $.cm($.either(extended, () => last_day([$.ga(self, "received")], {"holidays": $.ga($.ga(self, "notices"), "holidays")})), "isoformat", []);
}));
}), [["rows", () => ["is", $.b.int]], ["release", () => ["or", ["is", $.b.int], ["none"]]], ["status", () => ["is", Statuses]], ["replaced", () => ["is", $.b.int]], ["inserted", () => ["is", $.b.int]], ["remaining", () => ["or", ["is", $.b.int], ["none"]]], ["request_id", () => ["or", ["is", $.b.str], ["none"]]], ["received", () => ["or", ["is", $.b.str], ["none"]]], ["edited", () => ["or", ["is", $.b.str], ["none"]]], ["served", () => ["or", ["is", $.b.str], ["none"]]], ["model_before", () => ["or", ["is", $.b.str], ["none"]]], ["model_after", () => ["or", ["is", $.b.str], ["none"]]], ["checked", () => ["or", ["is", $.b.str], ["none"]]], ["audit", () => ["of", $.b.tuple, ["parts", Mapping, ["is", $.b.str], ["is", Any]]]], ["controller", () => ["or", ["is", $.b.str], ["none"]]], ["ledger_entries", () => ["or", ["is", $.b.int], ["none"]]], ["ledger_sha256", () => ["or", ["is", $.b.str], ["none"]]], ["notices", () => ["is", Notices]], ["deleted_at", () => ["or", ["is", $.b.str], ["none"]]], ["read_at", () => ["or", ["is", $.b.str], ["none"]]], ["counted", () => ["or", ["is", $.b.str], ["none"]]], ["residue", () => ["of", $.b.tuple, ["parts", Mapping, ["is", $.b.str], ["is", Any]]]], ["publishers", () => ["of", $.b.tuple, ["parts", Mapping, ["is", $.b.str], ["is", Any]]]], ["from_data", () => ["or", ["of", $.b.tuple, ["is", $.b.str]], ["none"]]], ["by_calendar", () => ["is", $.b.bool]]], {frozen: true});
_day_of = $.fn("_day_of", ["name", "when", "received"], {}, function (name, when, received) {
if ($.t($.is(when, null))) {
return null;
}
if (($.t($.b.isinstance([when, $.b.str])) && $.t($.has(when, "T")))) {
return $.cm(local_day([parse_datetime([name, when]), received]), "isoformat", []);
}
return $.cm(parse_day([name, when]), "isoformat", []);
});
_check_columns = $.fn("_check_columns", ["names"], {}, function (names) {
let name;
if ($.t($.is(names, null))) {
return null;
}
if ((!$.t($.b.isinstance([names, $.tuple([$.b.list, $.b.tuple])])) || $.t($.lt(MOST_COLUMNS, $.b.len([names]))))) {
throw $.raised(InvalidParameter([("" + "from_data must be a list of at most " + $.formatted(MOST_COLUMNS, "", "") + " columns, or left out")]));
}
for (const $v5 of $.each(names)) {
name = $v5;
if ($.t($.is(name, null))) {
throw $.raised(InvalidParameter(["a column of from_data needs a name"]));
}
check_text(["column of from_data", name]);
}
return $.b.tuple([$.cm($.b.dict, "fromkeys", [names])]);
});
check_chronological = $.fn("check_chronological", ["**days"], {}, function (days) {
let after, before, first, known, second;
known = [...(function* ($first) { for (const $v6 of $.each($first)) { let name, when; {const $v7 = $.unpack($v6, 2, -1);name = $v7[0];when = $v7[1];} if (!$.t(!$.is(when, null))) continue; yield $.tuple([name, when]); } })($.cm(days, "items", []))];
for (const $v8 of $.each(pairwise([known]))) {
{const $v9 = $.unpack($v8, 2, -1);{const $v10 = $.unpack($v9[0], 2, -1);before = $v10[0];first = $v10[1];}{const $v11 = $.unpack($v9[1], 2, -1);after = $v11[0];second = $v11[1];}}
if ($.t($.lt(second, first))) {
throw $.raised(InvalidParameter(["are in the wrong order: the second lies before the first"], {...$.named($.dict([[before, first], [after, second]]))}));
}
}
return null;
});
check_digest = $.fn("check_digest", ["name", "value"], {}, function (name, value) {
if (($.t(!$.is(value, null)) && !($.t($.b.isinstance([value, $.b.str])) && $.t($.libraries["re"].fullmatch(["[0-9a-f]{64}", value]))))) {
throw $.raised(InvalidParameter([("" + $.formatted(name, "", "") + " must be a SHA-256, 64 hexadecimal digits in lower case, or left out")]));
}
return null;
});
check_certificate_id = $.fn("check_certificate_id", ["certificate_id"], {}, function (certificate_id) {
try {
if ($.t($.eq($.b.str([UUID([certificate_id])]), certificate_id))) {
return $.b.str([certificate_id]);
}
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.tuple([$.b.TypeError, $.b.ValueError, $.b.AttributeError]))) {

} else throw $caught;
}
throw $.raised(InvalidParameter(["certificate_id must be a UUID, for example 6f1c0f6e-0c0b-4a53-9d5c-0d8c2f0f6c11"]));
return null;
});
check_version = $.fn("check_version", ["name"], {}, function (name) {
if ((!$.t($.b.isinstance([name, $.b.str])) || !$.t($.libraries["re"].fullmatch(["[0-9]{1,5}(\\.[0-9]{1,5}){1,3}([.+-]?[a-z0-9.]{1,30})?", name])))) {
throw $.raised(InvalidParameter(["version must be that of the software, for example 1.0.0"]));
}
return name;
});
check_audit_rows = $.fn("check_audit_rows", ["results"], {}, function (results) {
let found, name, result;
found = check_report_rows(["audit", results, MOST_AUDITS, $.tuple(["name", "measured_lower_bound", "claimed_advantage"])]);
for (const $v12 of $.each(found)) {
result = $v12;
for (const $v13 of $.each($.tuple(["measured_lower_bound", "claimed_advantage"]))) {
name = $v13;
if (!$.t((($v14, $v15, $v16) => $.le($v14, $v15) && $.le($v15, $v16))(0n, check_real([name, $.gi(result, name)]), 1n))) {
throw $.raised(InvalidParameter(["must lie between 0 and 1: it is an advantage over guessing"], {...$.named($.dict([[name, $.gi(result, name)]]))}));
}
}
if ($.t($.lt($.gi(result, "claimed_advantage"), $.gi(result, "measured_lower_bound")))) {
throw $.raised(InvalidParameter([("" + "the audit " + $.formatted($.gi(result, "name"), "r", "") + " measured more than is certified: nothing may be certified until it is known why")]));
}
}
return found;
});
MOST_PLACES = 1000n;
MOST_PUBLISHERS = 50n;
UNKNOWN = "unknown";
check_report_rows = $.fn("check_report_rows", ["name", "rows", "most", "parts"], {}, function (name, rows, most, parts) {
let row;
if ((!$.t($.b.isinstance([rows, $.tuple([$.b.list, $.b.tuple])])) || $.t($.lt(most, $.b.len([rows]))))) {
throw $.raised(InvalidParameter([("" + $.formatted(name, "", "") + " must be a list of at most " + $.formatted(most, "", ""))]));
}
for (const $v17 of $.each(rows)) {
row = $v17;
if ((!$.t($.b.isinstance([row, Mapping])) || $.t(!$.eq($.b.set([row]), $.b.set([parts]))) || $.t($.is($.gi(row, $.gi(parts, 0n)), null)))) {
throw $.raised(InvalidParameter([("" + "each part of " + $.formatted(name, "", "") + " has " + $.formatted($.cm(", ", "join", [parts]), "", "") + ", the first of them a name")]));
}
check_text([("" + $.formatted($.gi(parts, 0n), "", "") + " of " + $.formatted(name, "", "")), $.gi(row, $.gi(parts, 0n))]);
}
return $.b.tuple([(function* ($first) { for (const $v18 of $.each($first)) { let row; row = $v18; yield $.b.dict([row]); } })(rows)]);
});
check_source_order = $.fn("check_source_order", ["deleted_at", "read_at", "counted", "*", "published"], {}, function (deleted_at, read_at, counted, published) {
let place;
for (const $v19 of $.each($.tuple([deleted_at, read_at]))) {
place = $v19;
if ($.t(!$.is(place, null))) {
$.modules["store.entry"].check_position([place]);
}
}
if ($.t(!$.eq($.is(read_at, null), $.either($.is(deleted_at, null), () => !$.t(published))))) {
throw $.raised(InvalidParameter(["where rows lie in a source of their own, a deletion has deleted_at, and the model published since has read_at"]));
}
if (($.t(!$.is(counted, null)) && ($.t(check_choice(["counted", counted, $.modules["store.entry"].COUNTED_BY])) && $.t($.is(read_at, null))))) {
throw $.raised(InvalidParameter(["counted says by what the changes up to read_at were counted: give both or neither"]));
}
if (($.t(!$.is(read_at, null)) && $.t(!$.is(deleted_at, null)) && !$.t($.modules["store.entry"].position_covers([read_at, deleted_at])))) {
throw $.raised(InvalidParameter([("" + "the published model was computed from " + $.formatted(read_at, "", "") + ", which does not show the deletion at " + $.formatted(deleted_at, "", "") + ": it may have been trained with what was erased, so nothing is certified. Publish again")]));
}
return null;
});
check_residue_rows = $.fn("check_residue_rows", ["places"], {}, function (places) {
let found, place;
found = check_report_rows(["residue", places, MOST_PLACES, $.tuple(["place", "verdict", "found", "remedy"])]);
for (const $v20 of $.each(found)) {
place = $v20;
check_text(["remedy", $.gi(place, "remedy")]);
Verdicts([$.gi(place, "verdict")]);
if ($.t(!$.eq($.lt(0n, check_count(["found", $.gi(place, "found")], {"minimum": 0n})), $.eq($.gi(place, "verdict"), $.ga(Verdicts, "RESIDUAL"))))) {
throw $.raised(InvalidParameter(["a place of a residue report is RESIDUAL where something was found, and only there"]));
}
}
return found;
});
check_destinations = $.fn("check_destinations", ["places"], {}, function (places) {
let found, name, place;
found = check_report_rows(["publishers", places, MOST_PUBLISHERS, $.tuple(["kind", "release", "oldest"])]);
for (const $v21 of $.each(found)) {
place = $v21;
for (const $v22 of $.each($.tuple(["release", "oldest"]))) {
name = $v22;
if ($.t(!$.is($.gi(place, name), null))) {
check_count([name, $.gi(place, name)]);
}
}
if (($.t(!$.is($.gi(place, "release"), null)) && ($.t($.is($.gi(place, "oldest"), null)) || $.t($.lt($.gi(place, "release"), $.gi(place, "oldest")))))) {
throw $.raised(InvalidParameter(["a publisher that holds a release has none that is older than its oldest"]));
}
}
return found;
});
check_released = $.fn("check_released", ["releases", "publishers"], {}, function (releases, publishers) {
let name, place;
for (const $v23 of $.each(publishers)) {
place = $v23;
for (const $v24 of $.each($.tuple(["release", "oldest"]))) {
name = $v24;
if (($.t(!$.is($.gi(place, name), null)) && $.t($.lt(releases, $.gi(place, name))))) {
throw $.raised(InvalidParameter([("" + "a publisher cannot hold release " + $.formatted($.gi(place, name), "", "") + ": " + $.formatted(releases, "", "") + " were made")]));
}
}
}
return null;
});
return {MOST_AUDITS, MOST_COLUMNS, Erasure, _day_of, _check_columns, check_chronological, check_digest, check_certificate_id, check_version, check_audit_rows, MOST_PLACES, MOST_PUBLISHERS, UNKNOWN, check_report_rows, check_source_order, check_residue_rows, check_destinations, check_released, Any, Mapping, Notices, NOTHING_STATED, Statuses, InvalidParameter, UUID, pairwise, parse_datetime, check_count, check_text, last_day, check_choice, Verdicts, check_real, parse_day, local_day};
})();
$.modules["accountant.account"] = (() => {
let Erasing, hidden_past, Account, _stretch, CONTRADICTION;
const Counter = $.libraries["collections"]["Counter"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const field = $.libraries["dataclasses"]["field"];
const replace = $.libraries["dataclasses"]["replace"];
const groupby = $.libraries["itertools"]["groupby"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_count = $.modules["errors"]["check_count"];
const Mechanism = $.modules["methods.base"]["Mechanism"];
const are_contradictory = $.modules["methods.base"]["are_contradictory"];
const Event = $.modules["accountant.events"]["Event"];
const EventKinds = $.modules["accountant.events"]["EventKinds"];
const Stretch = $.modules["accountant.events"]["Stretch"];
const add_release = $.modules["accountant.events"]["add_release"];
const has_cost = $.modules["accountant.events"]["has_cost"];
const order_stretches = $.modules["accountant.events"]["order_stretches"];
Erasing = $.dataclass($.cls("Erasing", [], ($ns) => {
$ns.carried = $.tuple([]);
$ns.closeness = null;
$ns.parts = $.property($.fn("parts", ["self"], {}, function (self) {
let own;
own = $.tuple([$.ga(self, "mechanism"), $.ga(self, "since"), $.ga(self, "steps")]);
return $.tuple([...$.each($.ga(self, "carried")), ...$.each((($.t(has_cost([own])) && !$.t($.ga($.ga(self, "mechanism"), "carries"))) ? [own] : []))]);
}));
$ns.hidden = $.property($.fn("hidden", ["self"], {}, function (self) {
return hidden_past([$.ga(self, "mechanism"), $.ga(self, "closeness")]);
}));
$ns.covers = $.fn("covers", ["self", "other"], {}, function (self, other) {
let alike, further;
alike = $.eq($.tuple([$.ga(self, "mechanism"), $.ga(self, "steps"), $.ga(self, "carried")]), $.tuple([$.ga(other, "mechanism"), $.ga(other, "steps"), $.ga(other, "carried")]));
further = $.either($.eq($.ga(self, "closeness"), $.ga(other, "closeness")), () => $.both(!$.has($.tuple([$.ga(self, "closeness"), $.ga(other, "closeness")]), null), () => $.le($.ga(other, "closeness"), $.ga(self, "closeness"))));
return $.both(alike, () => $.both($.le($.ga(other, "since"), $.ga(self, "since")), () => further));
});
}), [["number", () => ["is", $.b.int]], ["mechanism", () => ["is", Mechanism]], ["since", () => ["is", $.b.float]], ["steps", () => ["is", $.b.float]], ["carried", () => ["of", $.b.tuple, ["is", Stretch]]], ["closeness", () => ["or", ["is", $.b.float], ["none"]]]], {frozen: true});
hidden_past = $.fn("hidden_past", ["mechanism", "closeness"], {}, function (mechanism, closeness) {
let fading;
fading = $.ga(mechanism, "fading");
return (($.t($.is(fading, null)) || $.t($.is(closeness, null))) ? null : $.cm(fading, "guarantee_at", [closeness]));
});
Account = $.dataclass($.cls("Account", [], ($ns) => {
$ns.releases = 0n;
$ns.last = null;
$ns.model = 0n;
$ns.said = null;
$ns.mechanisms = field([], {"default_factory": $.b.dict});
$ns.published = field([], {"default_factory": Counter});
$ns.since_fresh = 0n;
$ns.carried = $.tuple([]);
$ns.trained = 0n;
$ns.relearned = 0n;
$ns.closeness = null;
$ns.erasing = null;
$ns.before = field([], {"default_factory": Counter});
$ns.dearest = $.tuple([]);
$ns.of = $.classmethod($.fn("of", ["cls", "events"], {}, function (cls, events) {
let _, account, equal, event, others;
account = cls([]);
for (const $v1 of $.each(groupby([events], {"key": $.b.id}))) {
{const $v2 = $.unpack($v1, 2, -1);_ = $v2[0];equal = $v2[1];}
{const $v3 = $.unpack(equal, 2, 1);event = $v3[0];others = $v3[1];}
$.cm(account, "record", [event, $.add(1n, $.b.len([others]))]);
}
return account;
}));
$ns.copy = $.fn("copy", ["self"], {}, function (self) {
return replace([self], {"mechanisms": $.b.dict([$.ga(self, "mechanisms")]), "published": $.cm($.ga(self, "published"), "copy", []), "before": $.cm($.ga(self, "before"), "copy", [])});
});
$ns.record = $.fn("record", ["self", "event", "times"], {"times": 1n}, function (self, event, times) {
let alike, left, number;
number = check_count(["times", times]);
$.cm(self, "check", [event]);
alike = (($.t($.lt(number, 4n)) || $.t($.ga($.ga(event, "mechanism"), "fading"))) ? 0n : $.sub(number, 3n));
for (const $v4 of $.each($.b.range([$.sub(number, alike), 0n, $.neg(1n)]))) {
left = $v4;
$.cm(self, "_add", [event]);
if (($.t(alike) && $.t($.eq(left, 2n)))) {
$.cm(self, "_repeat", [event, alike]);
}
}
return null;
});
$ns.check = $.fn("check", ["self", "event"], {}, function (self, event) {
let last;
last = $.ga(self, "last");
if (($.t(!$.is(last, null)) && $.t(are_contradictory([$.ga(event, "mechanism"), $.ga(last, "mechanism")])))) {
throw $.raised(InvalidParameter([CONTRADICTION]));
}
if (($.t($.is($.ga(event, "kind"), $.ga(EventKinds, "STATISTIC"))) && ($.t($.is(last, null)) || $.t($.is($.ga(last, "kind"), $.ga(EventKinds, "EXTRACTOR")))))) {
throw $.raised(InvalidParameter(["a statistic is made with the model in force, and there is none: learn first"]));
}
if ($.t(!$.is($.ga(event, "kind"), $.ga(EventKinds, "UNLEARN")))) {
return null;
}
if ($.t($.is(last, null))) {
throw $.raised(InvalidParameter(["the first release must be a 'learn': there is no published model to resume from"]));
}
if ($.t($.is($.ga(last, "kind"), $.ga(EventKinds, "EXTRACTOR")))) {
throw $.raised(InvalidParameter(["a new extractor needs a fresh learn ('relearn'): the published model read other features"]));
}
if ((!$.t($.ga(event, "fresh")) && $.t(!$.is($.ga(event, "mechanism"), $.ga(last, "mechanism"))) && $.t(!$.eq($.ga(event, "mechanism"), $.ga(last, "mechanism"))))) {
throw $.raised(InvalidParameter(["a change of plan or of n needs a fresh learn ('relearn'); it cannot resume a chain"]));
}
return null;
});
$ns._add = $.fn("_add", ["self", "event"], {}, function (self, event) {
let carried, drawn, erases, fading, first, last, longer, mechanism, since, started;
$.sa(self, "releases", $.iadd($.ga(self, "releases"), 1n));
$.cm($.ga(self, "mechanisms"), "setdefault", [$.ga(event, "mechanism")]);
if ($.t($.is($.ga(event, "kind"), $.ga(EventKinds, "STATISTIC")))) {
$.sa(self, "said", _stretch([event]));
{const $v5 = $.ga(self, "published"), $v6 = $.ga(self, "said");$.si($v5, $v6, $.iadd($.gi($v5, $v6), 1n));}
return null;
}
$.sa(self, "said", null);
$.sa(self, "model", ($.t($.is($.ga(event, "kind"), $.ga(EventKinds, "EXTRACTOR"))) ? $.ga(self, "model") : $.ga(self, "releases")));
{const $v7 = [$.ga(event, "mechanism"), $.ga(self, "erasing"), $.eq($.ga(self, "releases"), 1n)];mechanism = $v7[0];last = $v7[1];first = $v7[2];}
erases = $.both($.b.bool([$.ga($.ga(event, "counts"), "erased")]), () => !$.t(first));
longer = $.both(erases, () => $.both(!$.is(last, null), () => $.both($.ga(last, "since"), () => !$.eq($.ga(last, "steps"), $.ga(event, "exposure")))));
if (($.t(!$.is(last, null)) && ($.t($.ga(event, "fresh")) || $.t(longer)) && $.t(!$.has($.ga(self, "dearest"), last)))) {
$.cm(self, "_close", [last]);
}
since = (($.t(!$.is($.ga(event, "kind"), $.ga(EventKinds, "UNLEARN"))) || ($.t($.ga(event, "fresh")) && !$.t($.ga(event, "warm")))) ? 0n : $.ga(self, "since_fresh"));
since = $.either(since, () => $.b.int([$.both($.ga(mechanism, "fresh"), () => $.ga(mechanism, "shows_order"))]));
if ($.t(erases)) {
$.sa(self, "before", $.cm($.ga(self, "published"), "copy", []));
}
drawn = $.ga(self, "since_fresh");
if ($.t($.is($.ga(event, "kind"), $.ga(EventKinds, "EXTRACTOR")))) {
$.sa(self, "carried", ($.t($.ga(event, "exposure")) ? $.tuple([$.tuple([mechanism, $.ga(event, "exposure"), 0.0])]) : $.tuple([])));
$.sa(self, "trained", $.iadd($.ga(self, "trained"), 1n));
} else {
$.sa(self, "since_fresh", $.add($.ga(event, "exposure"), ($.t($.ga(event, "fresh")) ? 0n : $.ga(self, "since_fresh"))));
$.sa(self, "relearned", $.iadd($.ga(self, "relearned"), $.is($.ga(event, "kind"), $.ga(EventKinds, "RELEARN"))));
}
started = ($.t($.ga(event, "fresh")) ? null : $.ga(self, "closeness"));
fading = ($.t($.ga(self, "trained")) ? null : $.ga(mechanism, "fading"));
$.sa(self, "closeness", ($.t($.is(fading, null)) ? null : $.cm(fading, "distance_after", [started, $.ga(event, "steps"), $.ga(event, "edits")])));
if ($.t(erases)) {
carried = ($.t($.is($.ga(event, "kind"), $.ga(EventKinds, "EXTRACTOR"))) ? $.tuple([]) : $.ga(self, "carried"));
$.sa(self, "erasing", Erasing([$.ga(self, "releases"), mechanism, since, $.ga(event, "exposure"), carried, $.ga(self, "closeness")]));
}
add_release([$.ga(self, "published"), event, drawn]);
if (($.t(erases) && $.t($.ga(mechanism, "carries")) && !$.t($.ga(event, "fresh")))) {
$.sa(self, "before", $.cm($.ga(self, "published"), "copy", []));
}
$.sa(self, "last", event);
return null;
});
$ns._close = $.fn("_close", ["self", "erasing"], {}, function (self, erasing) {
if (!$.t($.b.any([(function* ($first) { for (const $v8 of $.each($first)) { let other; other = $v8; yield $.cm(other, "covers", [erasing]); } })($.ga(self, "dearest"))]))) {
$.sa(self, "dearest", $.tuple([...$.each((function* ($first) { for (const $v9 of $.each($first)) { let other; other = $v9; if (!!$.t($.cm(erasing, "covers", [other]))) continue; yield other; } })($.ga(self, "dearest"))), erasing]));
}
return null;
});
$ns._repeat = $.fn("_repeat", ["self", "event", "times"], {}, function (self, event, times) {
$.sa(self, "releases", $.iadd($.ga(self, "releases"), times));
add_release([$.ga(self, "published"), event, $.ga(self, "since_fresh"), times]);
if ($.t($.is($.ga(event, "kind"), $.ga(EventKinds, "EXTRACTOR")))) {
$.sa(self, "trained", $.iadd($.ga(self, "trained"), times));
} else {
if ($.t(!$.is($.ga(event, "kind"), $.ga(EventKinds, "STATISTIC")))) {
$.sa(self, "model", $.ga(self, "releases"));
$.sa(self, "since_fresh", $.iadd($.ga(self, "since_fresh"), ($.t($.ga(event, "fresh")) ? 0n : $.mul($.ga(event, "exposure"), times))));
$.sa(self, "relearned", $.iadd($.ga(self, "relearned"), $.mul(times, $.is($.ga(event, "kind"), $.ga(EventKinds, "RELEARN")))));
}
}
return null;
});
$ns.until_now = $.property($.fn("until_now", ["self"], {}, function (self) {
let parts;
parts = $.cm($.ga(self, "before"), "copy", []);
$.cm(parts, "update", [order_stretches([$.sub($.ga(self, "published"), $.ga(self, "before"))])]);
return parts;
}));
$ns.since_erasing = $.fn("since_erasing", ["self"], {}, function (self) {
let own, parts;
if (!$.t(!$.is($.ga(self, "erasing"), null))) throw $.raised($.b.AssertionError);
parts = Counter([$.ga($.ga(self, "erasing"), "parts")]);
own = Counter([[$.tuple([$.ga($.ga(self, "erasing"), "mechanism"), $.ga($.ga(self, "erasing"), "steps"), 0.0])]]);
$.cm(parts, "update", [order_stretches([$.sub($.sub($.ga(self, "published"), $.ga(self, "before")), own)])]);
return parts;
});
$ns.alone = $.property($.fn("alone", ["self"], {}, function (self) {
let lone, model;
if (!$.t(!$.is($.ga(self, "last"), null))) throw $.raised($.b.AssertionError);
lone = $.both($.ga(self, "since_fresh"), () => !$.is($.ga($.ga(self, "last"), "kind"), $.ga(EventKinds, "EXTRACTOR")));
model = ($.t(lone) ? [$.tuple([$.ga($.ga(self, "last"), "mechanism"), $.ga(self, "since_fresh"), 0.0])] : []);
return $.tuple([...$.each($.ga(self, "carried")), ...$.each(model), ...$.each(($.t($.is($.ga(self, "said"), null)) ? [] : [$.ga(self, "said")]))]);
}));
}), [["releases", () => ["is", $.b.int]], ["last", () => ["or", ["is", Event], ["none"]]], ["model", () => ["is", $.b.int]], ["said", () => ["or", ["is", Stretch], ["none"]]], ["mechanisms", () => ["parts", $.b.dict, ["is", Mechanism], ["none"]]], ["published", () => ["parts", Counter, ["is", Stretch]]], ["since_fresh", () => ["is", $.b.int]], ["carried", () => ["of", $.b.tuple, ["is", Stretch]]], ["trained", () => ["is", $.b.int]], ["relearned", () => ["is", $.b.int]], ["closeness", () => ["or", ["is", $.b.float], ["none"]]], ["erasing", () => ["or", ["is", Erasing], ["none"]]], ["before", () => ["parts", Counter, ["is", Stretch]]], ["dearest", () => ["of", $.b.tuple, ["is", Erasing]]]], {});
_stretch = $.fn("_stretch", ["event"], {}, function (event) {
return $.tuple([$.ga(event, "mechanism"), $.ga(event, "exposure"), 0.0]);
});
CONTRADICTION = "runs that share every other fact state different smoothness of the objective";
return {Erasing, hidden_past, Account, _stretch, CONTRADICTION, Stretch, Counter, field, Mechanism, Event, groupby, InvalidParameter, EventKinds, are_contradictory, replace, check_count, has_cost, add_release, order_stretches};
})();
$.modules["methods.staged"] = (() => {
let MOMENTS, STAGE_KINDS, Stage, SampledStage, of_stage, Staged, KEPT, _LEARN, _RERUN, StagedRun;
const math = $.libraries["math"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const replace = $.libraries["dataclasses"]["replace"];
const ClassVar = $.libraries["typing"]["ClassVar"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_choice = $.modules["errors"]["check_choice"];
const check_count = $.modules["errors"]["check_count"];
const check_positive = $.modules["errors"]["check_positive"];
const HEAD = $.modules["losses.staged"]["HEAD"];
const NETWORK = $.modules["losses.staged"]["NETWORK"];
const StagedLoss = $.modules["losses.staged"]["StagedLoss"];
const Budget = $.modules["privacy.budget"]["Budget"];
const Guarantee = $.modules["privacy.guarantee"]["Guarantee"];
const Worlds = $.modules["privacy.guarantee"]["Worlds"];
const moments = $.modules["methods.moments"];
const Mechanism = $.modules["methods.base"]["Mechanism"];
const check_sampled = $.modules["methods.noisy_gd_composition"]["check_sampled"];
const MOST_STAGES = $.modules["methods.plan"]["MOST_STAGES"];
const Method = $.modules["methods.plan"]["Method"];
const Plan = $.modules["methods.plan"]["Plan"];
const PlannedGuarantees = $.modules["methods.problem"]["PlannedGuarantees"];
const Sampling = $.modules["methods.problem"]["Sampling"];
const WorstCaseRun = $.modules["methods.problem"]["WorstCaseRun"];
const SampledSteps = $.modules["methods.sampled_steps"]["SampledSteps"];
MOMENTS = "moments";
STAGE_KINDS = $.tuple([NETWORK, HEAD, MOMENTS]);
Stage = $.dataclass($.cls("Stage", [], ($ns) => {
$ns.kind = NETWORK;
$ns.steps = null;
$ns.step_size = null;
$ns.regularization = null;
$ns.share = 1.0;
$ns.sampling_rate = null;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let name;
check_choice(["kind of a stage", $.ga(self, "kind"), STAGE_KINDS]);
if ($.t(!$.is($.ga(self, "steps"), null))) {
check_count(["steps of a stage", $.ga(self, "steps")]);
} else {
if ($.t($.eq($.ga(self, "kind"), NETWORK))) {
throw $.raised(InvalidParameter(["a network stage needs steps=, the number of noisy steps that it runs"]));
}
}
for (const $v1 of $.each($.tuple(["step_size", "regularization"]))) {
name = $v1;
if ($.t(!$.is($.b.getattr([self, name]), null))) {
check_positive([name, $.b.getattr([self, name])]);
}
}
check_positive(["share", $.ga(self, "share")]);
if (($.t($.eq($.ga(self, "kind"), MOMENTS)) && $.t(!$.eq($.tuple([$.ga(self, "steps"), $.ga(self, "step_size")]), $.tuple([null, null]))))) {
throw $.raised(InvalidParameter(["moments are made in one pass: leave steps and step_size out"]));
}
if ($.t(!$.is($.ga(self, "sampling_rate"), null))) {
if ($.t(!$.eq($.ga(self, "kind"), NETWORK))) {
throw $.raised(InvalidParameter([("" + "sampling_rate belongs to a network stage, not to one of kind " + $.formatted($.ga(self, "kind"), "r", ""))]));
}
if (!$.t($.lt(check_positive(["sampling_rate", $.ga(self, "sampling_rate")]), 1n))) {
throw $.raised(InvalidParameter(["must be below 1; leave it out for steps on all rows"], {"sampling_rate": $.ga(self, "sampling_rate")}));
}
}
return null;
});
$ns.form = $.property($.fn("form", ["self"], {}, function (self) {
return ($.t($.eq($.ga(self, "kind"), NETWORK)) ? NETWORK : HEAD);
}));
}), [["kind", () => ["is", $.b.str]], ["steps", () => ["or", ["is", $.b.int], ["none"]]], ["step_size", () => ["or", ["is", $.b.float], ["none"]]], ["regularization", () => ["or", ["is", $.b.float], ["none"]]], ["share", () => ["is", $.b.float]], ["sampling_rate", () => ["or", ["is", $.b.float], ["none"]]]], {frozen: true});
SampledStage = $.dataclass($.cls("SampledStage", [Method], ($ns) => {
$ns.name = "sampled-steps";
$ns.summary = "a stage of a ladder: noisy steps on samples of the rows";
$ns.check_plan = $.fn("check_plan", ["self", "plan"], {}, function (self, plan) {
let least, lipschitz;
$.sup(SampledStage, self, "check_plan")([plan]);
check_sampled([$.ga(plan, "problem")]);
lipschitz = $.mul($.ga($.ga($.ga(plan, "loss"), "constants"), "lipschitz"), $.add(1n, $.ga($.ga(plan, "problem"), "slack")));
least = $.div($.mul($.ga(plan, "step_size"), $.pow($.div($.mul($.ga(self, "noise_multiplier"), lipschitz), $.mul($.ga(self, "sampling_rate"), $.ga(plan, "records"))), 2n)), 2n);
if (!$.t($.le($.mul(least, $.sub(1n, 1e-09)), $.ga(plan, "noise_variance")))) {
throw $.raised(InvalidParameter([("" + "is below " + $.formatted(least, "", ("" + "g")) + ", which noise_multiplier=" + $.formatted($.ga(self, "noise_multiplier"), "", ("" + "g")) + " is")], {"noise_variance": $.ga(plan, "noise_variance")}));
}
return null;
});
$ns.assemble = $.fn("assemble", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {
let run;
run = SampledSteps([], {"records": $.ga(problem, "records"), "row_norm": $.ga($.ga(problem, "loss"), "radius"), "proven": $.ga($.ga($.ga(problem, "loss"), "constants"), "proven"), "sampling_rate": $.ga(self, "sampling_rate"), "noise_multiplier": $.ga(self, "noise_multiplier"), "draws": $.ga(self, "draws")});
return $.cm(Plan, "of", [problem, run, numbers], {"sampling": Sampling([$.ga(self, "sampling_rate"), $.ga(self, "draws")])});
});
}), [["sampling_rate", () => ["is", $.b.float]], ["draws", () => ["is", $.b.int]], ["noise_multiplier", () => ["is", $.b.float]]], {frozen: true});
of_stage = $.fn("of_stage", ["stage", "number", "problem", "staged", "*", "gdp", "worlds"], {}, function (stage, number, problem, staged, gdp, worlds) {
return replace([problem], {"loss": $.cm(staged, "loss_of", [number]), "features": $.cm(staged, "features_of", [number, $.ga(problem, "features")]), "regularization": ($.t($.is($.ga(stage, "regularization"), null)) ? $.ga(problem, "regularization") : $.ga(stage, "regularization")), "budget": $.cm(Budget, "from_gdp", [], {"dp": gdp, "deletion": gdp}), "adjacency": ($.t($.ga(worlds, "between_records")) ? $.ga(Worlds, "REPLACE") : $.ga(Worlds, "ZERO_OUT")), "releases": 1n, "utility": false, "slack_in_budget": false, "asked_regularization": null, "model_norm": null, "one_hot_blocks": null, "total": null, "feature_map": null});
});
Staged = $.dataclass($.cls("Staged", [Method], ($ns) => {
$ns.name = "staged";
$ns.summary = "networks: a published base at \u03b5_dd, later stages run again at every deletion, no horizon";
$ns.weighed = "never";
$ns.stages = $.tuple([Stage([NETWORK, 60n]), Stage([NETWORK, 20n])]);
$ns.level = 0n;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
$.cm($.b.object, "__setattr__", [self, "stages", $.b.tuple([$.ga(self, "stages")])]);
if (!$.t($.b.all([(function* ($first) { for (const $v2 of $.each($first)) { let stage; stage = $v2; yield $.b.isinstance([stage, Stage]); } })($.ga(self, "stages"))]))) {
throw $.raised(InvalidParameter(["stages must be methods.Stage objects, for example Stage('network', 60), Stage('head')"]));
}
if (!$.t((($v3, $v4, $v5) => $.le($v3, $v4) && $.le($v4, $v5))(2n, $.b.len([$.ga(self, "stages")]), MOST_STAGES))) {
throw $.raised(InvalidParameter([("" + $.formatted($.b.len([$.ga(self, "stages")]), "", "") + " stage(s), where 2 to " + $.formatted(MOST_STAGES, "", "") + " can be: a base and at least one stage that a deletion runs again; the one-stage case is method 'noisy-gd:analysis=composition'")]));
}
if (!$.t((($v6, $v7, $v8) => $.le($v6, $v7) && $.le($v7, $v8))($.neg(1n), $.ga(self, "level"), $.sub($.b.len([$.ga(self, "stages")]), 2n)))) {
throw $.raised(InvalidParameter([("" + "must lie between -1 (a deletion runs every stage again) and " + $.formatted($.sub($.b.len([$.ga(self, "stages")]), 2n), "", "") + " (it runs the last one again)")], {"level": $.ga(self, "level")}));
}
return null;
});
$ns._staged = $.fn("_staged", ["self", "problem"], {}, function (self, problem) {
return StagedLoss([], {"radius": $.ga($.ga(problem, "loss"), "radius"), "network": $.ga(problem, "loss"), "kinds": $.b.tuple([(function* ($first) { for (const $v9 of $.each($first)) { let stage; stage = $v9; yield $.ga(stage, "form"); } })($.ga(self, "stages"))])});
});
$ns.assemble = $.fn("assemble", ["self", "problem", "numbers"], {}, function (self, problem, numbers) {
let kept, later, number, promise, rerun, run, stages;
{const $v10 = [$.ga(numbers, "stages"), $.add($.ga(self, "level"), 1n)];stages = $v10[0];number = $v10[1];}
{const $v11 = [$.slice(stages, null, number, null), $.slice(stages, number, null, null)];kept = $v11[0];later = $v11[1];}
if ($.t(!$.eq($.b.len([stages]), $.b.len([$.ga(self, "stages")])))) {
throw $.raised(InvalidParameter([("" + "a ladder of " + $.formatted($.b.len([$.ga(self, "stages")]), "", "") + " stages that keeps " + $.formatted(number, "", "") + " has a plan for each")]));
}
rerun = $.b.sum([(function* ($first) { for (const $v12 of $.each($first)) { let stage; stage = $v12; yield $.ga(stage, "learn_steps"); } })(later)]);
numbers = replace([$.ga($.gi(stages, 0n), "numbers")], {"learn_steps": $.add($.b.sum([(function* ($first) { for (const $v13 of $.each($first)) { let stage; stage = $v13; yield $.ga(stage, "learn_steps"); } })(kept)]), rerun), "delete_steps_for_deletion": rerun, "learn_solver_passes": $.b.sum([(function* ($first) { for (const $v14 of $.each($first)) { let stage; stage = $v14; yield $.ga(stage, "learn_solver_passes"); } })(stages)]), "delete_solver_passes": $.b.sum([(function* ($first) { for (const $v15 of $.each($first)) { let stage; stage = $v15; yield $.ga(stage, "learn_solver_passes"); } })(later)]), "horizon": null, "stages": stages, "kept": number});
run = StagedRun([], {"records": $.ga(problem, "records"), "row_norm": $.ga($.ga(problem, "loss"), "radius"), "proven": $.ga($.ga($.ga(problem, "loss"), "constants"), "proven"), "slack": $.ga(problem, "slack"), "kept": $.b.tuple([(function* ($first) { for (const $v16 of $.each($first)) { let stage; stage = $v16; yield $.ga(stage, "mechanism"); } })(kept)]), "later": $.b.tuple([(function* ($first) { for (const $v17 of $.each($first)) { let stage; stage = $v17; yield $.ga(stage, "mechanism"); } })(later)]), "kept_steps": $.b.tuple([(function* ($first) { for (const $v18 of $.each($first)) { let stage; stage = $v18; yield $.ga(stage, "learn_steps"); } })(kept)]), "later_steps": $.b.tuple([(function* ($first) { for (const $v19 of $.each($first)) { let stage; stage = $v19; yield $.ga(stage, "learn_steps"); } })(later)])});
promise = PlannedGuarantees([], {"deletion": WorstCaseRun([], {"steps_without": $.cm(run, "exposure", [rerun])}), "counted_on": $.ga(self, "_sampling")});
return $.cm(Plan, "of", [problem, run, numbers], {"promise": promise, "staged": $.cm(self, "_staged", [problem])});
});
$ns._sampling = $.property($.fn("_sampling", ["self"], {}, function (self) {
let steps;
steps = (function* ($first) { for (const $v20 of $.each($first)) { let stage; stage = $v20; yield $.tuple([$.ga(stage, "sampling_rate"), $.ga(stage, "steps")]); } })($.ga(self, "stages"));
return $.b.next([(function* ($first) { for (const $v21 of $.each($first)) { let draws, rate; {const $v22 = $.unpack($v21, 2, -1);rate = $v22[0];draws = $v22[1];} if (!($.t(!$.is(rate, null)) && $.t(!$.is(draws, null)))) continue; yield Sampling([rate, draws]); } })(steps), null]);
}));
$ns.check_plan = $.fn("check_plan", ["self", "plan"], {}, function (self, plan) {
let asked, due, name, number, problem, stage, staged;
$.sup(Staged, self, "check_plan")([plan]);
{const $v23 = [$.cm(self, "_staged", [$.ga(plan, "problem")]), $.ga(plan, "problem")];staged = $v23[0];problem = $v23[1];}
for (const $v24 of $.each($.b.enumerate([$.b.zip([$.ga(self, "stages"), $.ga(plan, "stages")], {"strict": true})]))) {
{const $v25 = $.unpack($v24, 2, -1);number = $v25[0];{const $v26 = $.unpack($v25[1], 2, -1);asked = $v26[0];stage = $v26[1];}}
due = of_stage([asked, number, problem, staged], {"gdp": 1.0, "worlds": $.ga(problem, "adjacency")});
for (const $v27 of $.each($.tuple(["loss", "features", "records", "regularization", "rows_per_subject", "dtype"]))) {
name = $v27;
if ($.t(!$.eq($.b.getattr([$.ga(stage, "problem"), name]), $.b.getattr([due, name])))) {
throw $.raised(InvalidParameter([("" + "stage " + $.formatted(number, "", "") + " of the ladder has another " + $.formatted(name, "", "") + " than the problem")]));
}
}
$.cm($.ga(stage, "method"), "check_plan", [stage]);
}
return null;
});
}), [["stages", () => ["of", $.b.tuple, ["is", Stage]]], ["level", () => ["is", $.b.int]]], {frozen: true});
KEPT = "the base's \u03b5_dd is not reduced by deletions: what the kept stages showed of an erased record stays until a fresh learn";
{const $v28 = [3n, 2n];_LEARN = $v28[0];_RERUN = $v28[1];}
StagedRun = $.dataclass($.cls("StagedRun", [Mechanism], ($ns) => {
$ns.method = "staged";
$ns.source = "sum over the runs of stages that an observed model rests on, each Gaussian DP for every value of its inputs";
$ns.notes = $.tuple([("" + "Of the stages that a ladder keeps between requests: " + $.formatted(KEPT, "", "") + ".")]);
$ns.kept = $.tuple([]);
$ns.later = $.tuple([]);
$ns.kept_steps = $.tuple([]);
$ns.later_steps = $.tuple([]);
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
let stage, steps;
$.sup(StagedRun, self, "__post_init__")([]);
if (!$.t($.ga(self, "later"))) {
throw $.raised(InvalidParameter(["a ladder needs a stage that a deletion runs again; give later stages, or take 'noisy-gd:analysis=composition'"]));
}
if (($.t(!$.eq($.b.len([$.ga(self, "kept")]), $.b.len([$.ga(self, "kept_steps")]))) || $.t(!$.eq($.b.len([$.ga(self, "later")]), $.b.len([$.ga(self, "later_steps")]))))) {
throw $.raised(InvalidParameter(["every stage of a ladder states its steps: as many numbers as stages"]));
}
for (const $v29 of $.each($.tuple([...$.each($.b.zip([$.ga(self, "kept"), $.ga(self, "kept_steps")], {"strict": true})), ...$.each($.b.zip([$.ga(self, "later"), $.ga(self, "later_steps")], {"strict": true}))]))) {
{const $v30 = $.unpack($v29, 2, -1);stage = $v30[0];steps = $v30[1];}
$.cm(stage, "check", [check_count(["steps of a stage", steps])]);
if (($.t($.b.isinstance([stage, StagedRun])) || $.t($.ga(stage, "left")) || $.t($.ga(stage, "shows_start")) || $.t(!$.eq($.ga(stage, "records"), $.ga(self, "records"))))) {
throw $.raised(InvalidParameter([("" + "a run by " + $.formatted($.ga(stage, "method"), "r", "") + " on " + $.formatted($.ga(stage, "records"), "", "") + " slots is no stage of this ladder of " + $.formatted($.ga(self, "records"), "", "") + ": a stage starts at a kept stage or at a public point, never where the last published model was")]));
}
}
return null;
});
$ns.left = $.property($.fn("left", ["self"], {}, function (self) {
return ($.t($.ga(self, "kept")) ? "base" : "");
}));
$ns.conditions = $.fn("conditions", ["self"], {}, function (self) {
let inner;
inner = (function* ($first) { for (const $v31 of $.each($first)) { let stage; stage = $v31; for (const $v32 of $.each($.cm(stage, "conditions", []))) { let condition; condition = $v32; yield condition; }} })($.tuple([...$.each($.ga(self, "kept")), ...$.each($.ga(self, "later"))]));
return $.tuple([$.tuple(["stages-published", $.dict([])]), ...$.each(inner)]);
});
$ns.learn_steps = $.property($.fn("learn_steps", ["self"], {}, function (self) {
return $.add($.b.sum([$.ga(self, "kept_steps")]), $.b.sum([$.ga(self, "later_steps")]));
}));
$ns.exposure = $.fn("exposure", ["self", "steps"], {}, function (self, steps) {
return ($.t($.eq(steps, $.ga(self, "learn_steps"))) ? _LEARN : _RERUN);
});
$ns.check = $.fn("check", ["self", "steps", "*", "fresh", "inserted"], {"fresh": null, "inserted": false}, function (self, steps, fresh, inserted) {
if ($.t(!$.has($.tuple([$.ga(self, "learn_steps"), $.b.sum([$.ga(self, "later_steps")])]), steps))) {
throw $.raised(InvalidParameter([("" + "is not what this ladder runs: " + $.formatted($.ga(self, "learn_steps"), "", "") + " steps to learn and " + $.formatted($.b.sum([$.ga(self, "later_steps")]), "", "") + " for a request")], {"steps": steps}));
}
return null;
});
$ns.interval = $.fn("interval", ["self", "about", "worlds", "*", "steps_with", "steps_without"], {"steps_without": 0n}, function (self, about, worlds, steps_with, steps_without) {
let learned, parts, rows, seen, told, total;
learned = $.either($.eq(steps_with, $.libraries["math"].inf), () => $.eq($.mod(steps_with, 2n), 1n));
seen = [...$.each(($.t(learned) ? $.b.zip([$.ga(self, "kept"), $.ga(self, "kept_steps")], {"strict": true}) : $.tuple([])))];
if (($.t(steps_with) && !$.t(steps_without))) {
seen = $.iadd(seen, $.b.zip([$.ga(self, "later"), $.ga(self, "later_steps")], {"strict": true}));
}
parts = [...(function* ($first) { for (const $v33 of $.each($first)) { let stage, steps; {const $v34 = $.unpack($v33, 2, -1);stage = $v34[0];steps = $v34[1];} yield $.cm(stage, "interval", [about, worlds], {"steps_with": $.cm(stage, "exposure", [steps])}); } })(seen)];
rows = $.b.min([(function* ($first) { for (const $v35 of $.each($first)) { let stage; stage = $v35; yield $.b.getattr([stage, "rows_per_subject", 1n]); } })($.tuple([...$.each($.ga(self, "kept")), ...$.each($.ga(self, "later"))]))]);
total = $.cm(Guarantee, "composed", [[$.tuple([$.cm(self, "_guarantee", [about, Worlds([worlds])], {"rows": rows}), 1n]), ...$.each((function* ($first) { for (const $v36 of $.each($first)) { let part; part = $v36; yield $.tuple([part, 1n]); } })(parts))]]);
told = $.both($.ga(self, "kept"), () => $.eq(about, "deletion"));
return ($.t(told) ? replace([total], {"assumptions": $.tuple([...$.each($.ga(total, "assumptions")), KEPT])}) : total);
});
$ns._cost = $.fn("_cost", ["self", "worlds", "steps_with", "steps_without"], {}, function (self, worlds, steps_with, steps_without) {
throw $.raised($.b.NotImplementedError);
return null;
});
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.dict([["method", $.ga(self, "method")], ["records", $.ga(self, "records")], ["proven", $.ga(self, "proven")], ["slack", $.ga(self, "slack")], ["row_norm", $.ga(self, "row_norm")], ["kept", [...(function* ($first) { for (const $v37 of $.each($first)) { let stage; stage = $v37; yield $.cm(stage, "to_dict", []); } })($.ga(self, "kept"))]], ["later", [...(function* ($first) { for (const $v38 of $.each($first)) { let stage; stage = $v38; yield $.cm(stage, "to_dict", []); } })($.ga(self, "later"))]], ["kept_steps", $.b.list([$.ga(self, "kept_steps")])], ["later_steps", $.b.list([$.ga(self, "later_steps")])]]);
});
}), [["kept", () => ["of", $.b.tuple, ["is", Mechanism]]], ["later", () => ["of", $.b.tuple, ["is", Mechanism]]], ["kept_steps", () => ["of", $.b.tuple, ["is", $.b.int]]], ["later_steps", () => ["of", $.b.tuple, ["is", $.b.int]]]], {frozen: true, kw_only: true});
return {MOMENTS, STAGE_KINDS, Stage, SampledStage, of_stage, Staged, KEPT, _LEARN, _RERUN, StagedRun, NETWORK, ClassVar, Method, Mechanism, InvalidParameter, MOST_STAGES, Plan, WorstCaseRun, PlannedGuarantees, replace, check_count, check_sampled, Sampling, SampledSteps, check_positive, check_choice, Worlds, Budget, HEAD, StagedLoss, Guarantee};
})();
$.modules["accountant.history"] = (() => {
let History;
const Counter = $.libraries["collections"]["Counter"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const NotLearned = $.modules["errors"]["NotLearned"];
const check_count = $.modules["errors"]["check_count"];
const Account = $.modules["accountant.account"]["Account"];
const hidden_past = $.modules["accountant.account"]["hidden_past"];
const Event = $.modules["accountant.events"]["Event"];
const iterate_erasures = $.modules["accountant.events"]["iterate_erasures"];
const iterate_stretches = $.modules["accountant.events"]["iterate_stretches"];
const releases_alone = $.modules["accountant.events"]["releases_alone"];
History = $.cls("History", [], ($ns) => {
$ns.__init__ = $.fn("__init__", ["self", "account", "past"], {"account": null, "past": null}, function (self, account, past) {
$.sa(self, "account", ($.t($.is(account, null)) ? Account([]) : $.cm(account, "copy", [])));
{const $v1 = [past, $.ga($.ga(self, "account"), "releases")];$.sa(self, "_past", $v1[0]);$.sa(self, "_before", $v1[1]);}
$.sa(self, "_events", []);
return null;
});
$ns.copy = $.fn("copy", ["self"], {}, function (self) {
let other;
other = $.b.type([self])([$.ga(self, "account"), $.ga(self, "_past")]);
{const $v2 = [$.ga(self, "_before"), $.b.list([$.ga(self, "_events")])];$.sa(other, "_before", $v2[0]);$.sa(other, "_events", $v2[1]);}
return other;
});
$ns.record = $.fn("record", ["self", "event", "times"], {"times": 1n}, function (self, event, times) {
$.cm($.ga(self, "account"), "record", [event, times]);
$.sa(self, "_events", $.iadd($.ga(self, "_events"), $.mul([event], times)));
return null;
});
$ns.__len__ = $.fn("__len__", ["self"], {}, function (self) {
return $.ga($.ga(self, "account"), "releases");
});
$ns.__iter__ = $.fn("__iter__", ["self"], {}, function (self) {
return $.b.iter([$.cm(self, "since", [1n])]);
});
$ns.since = $.fn("since", ["self", "number"], {}, function (self, number) {
let fetched;
if ($.t($.lt($.ga(self, "_before"), number))) {
return ($.t($.lt($.add($.ga(self, "_before"), 1n), number)) ? $.slice($.ga(self, "_events"), $.sub($.sub(number, 1n), $.ga(self, "_before")), null, null) : $.ga(self, "_events"));
}
if ($.t($.is($.ga(self, "_past"), null))) {
throw $.raised(InvalidParameter(["only the sums of these releases are known here, not the releases one by one"]));
}
fetched = [...$.each($.slice($.cm($.ga(self, "_past"), "events_since", [number]), null, $.add($.sub($.ga(self, "_before"), number), 1n), null)), ...$.each($.ga(self, "_events"))];
if ($.t($.eq(number, 1n))) {
{const $v3 = [0n, fetched];$.sa(self, "_before", $v3[0]);$.sa(self, "_events", $v3[1]);}
}
return fetched;
});
$ns.account_after = $.fn("account_after", ["self", "number"], {}, function (self, number) {
if ($.t($.eq(number, $.b.len([self])))) {
return $.ga(self, "account");
}
if (($.t($.is($.ga(self, "_past"), null)) || !$.t((($v4, $v5, $v6) => $.lt($v4, $v5) && $.le($v5, $v6))(0n, number, $.ga(self, "_before"))))) {
return ($.t(number) ? null : Account([]));
}
return $.cm($.ga(self, "_past"), "account_after", [number]);
});
$ns.number = $.fn("number", ["self", "name", "value"], {}, function (self, name, value) {
let number;
if (!$.t($.b.len([self]))) {
throw $.raised(NotLearned(["nothing has been released yet; call learn first"]));
}
number = check_count([name, value]);
if ($.t($.lt($.b.len([self]), number))) {
throw $.raised(InvalidParameter([("" + "must be at most " + $.formatted($.b.len([self]), "", "") + ", the number of releases")], {...$.named($.dict([[name, number]]))}));
}
return number;
});
$ns.observed = $.fn("observed", ["self", "observed"], {}, function (self, observed) {
let number;
if ($.t($.is(observed, null))) {
return $.b.range([1n, $.add($.b.len([self]), 1n)]);
}
if (($.t($.b.isinstance([observed, $.b.range])) && $.t($.eq($.ga(observed, "step"), 1n)) && $.t(observed))) {
for (const $v7 of $.each($.tuple([$.gi(observed, 0n), $.b.min([$.gi(observed, $.neg(1n)), $.add($.b.len([self]), 1n)])]))) {
number = $v7;
$.cm(self, "number", ["observed release", number]);
}
return observed;
}
return $.set((function* ($first) { for (const $v8 of $.each($first)) { let number; number = $v8; yield $.cm(self, "number", ["observed release", number]); } })(observed));
});
$ns.lifetime = $.fn("lifetime", ["self", "present_from", "erased_at"], {}, function (self, present_from, erased_at) {
let erased, start;
start = $.cm(self, "number", ["present_from", present_from]);
erased = $.cm(self, "number", ["erased_at", ($.t($.is(erased_at, null)) ? $.b.len([self]) : erased_at)]);
if (!$.t($.lt(start, erased))) {
throw $.raised(InvalidParameter([("" + "must come after present_from=" + $.formatted(start, "", ""))], {"erased_at": erased}));
}
return $.tuple([start, erased]);
});
$ns.parts = $.fn("parts", ["self", "start", "erased", "seen"], {}, function (self, start, erased, seen) {
let known;
known = ($.t($.eq(start, 1n)) ? $.cm(self, "_known", [erased, seen]) : null);
if ($.t(!$.is(known, null))) {
return known;
}
return Counter([iterate_stretches([self], {"present_from": start, "erased_at": erased, "observed": seen})]);
});
$ns._known = $.fn("_known", ["self", "erased", "seen"], {}, function (self, erased, seen) {
let erasing, everything;
{const $v9 = [$.ga($.ga(self, "account"), "erasing"), $.eq($.b.len([seen]), $.b.len([self]))];erasing = $v9[0];everything = $v9[1];}
if ($.t($.is(erased, null))) {
return ($.t(everything) ? $.ga($.ga(self, "account"), "published") : null);
}
if (($.t($.is(erasing, null)) || $.t(!$.eq(erased, $.ga(erasing, "number"))))) {
return null;
}
if ($.t(everything)) {
return $.ga($.ga(self, "account"), "until_now");
}
return ($.t($.eq(seen, $.b.range([erased, $.add($.b.len([self]), 1n)]))) ? $.cm($.ga(self, "account"), "since_erasing", []) : null);
});
$ns.alone = $.fn("alone", ["self", "first"], {}, function (self, first) {
let before, model;
before = $.cm(self, "account_after", [$.sub(first, 1n)]);
if ($.t($.is(before, null))) {
return $.slice($.b.list([releases_alone([self])]), $.sub(first, 1n), null, null);
}
model = ($.t($.is($.ga(before, "last"), null)) ? null : $.ga($.ga(before, "last"), "mechanism"));
return $.b.list([releases_alone([$.cm(self, "since", [first]), $.ga(before, "since_fresh"), $.ga(before, "carried"), model])]);
});
$ns.hidden_past = $.fn("hidden_past", ["self", "erased_at", "observed"], {}, function (self, erased_at, observed) {
let first, sums;
if (!$.t($.b.any([(function* ($first) { for (const $v10 of $.each($first)) { let facts; facts = $v10; yield $.ga(facts, "fading"); } })($.ga($.ga(self, "account"), "mechanisms"))]))) {
return null;
}
first = $.b.min([observed], {"default": 0n});
if ($.t($.lt(first, erased_at))) {
return null;
}
sums = $.either($.cm(self, "account_after", [first]), () => $.cm(Account, "of", [$.slice($.b.list([self]), null, first, null)]));
return ($.t($.is($.ga(sums, "last"), null)) ? null : hidden_past([$.ga($.ga(sums, "last"), "mechanism"), $.ga(sums, "closeness")]));
});
$ns.dearest = $.fn("dearest", ["self", "shown"], {}, function (self, shown) {
let alike, asked, before, dearest, event, events, latest, number, parts, seen, stretch;
{const $v11 = [$.b.list([self]), $.gi($.b.dict, $.tuple([$.gi($.b.tuple, $.tuple([$.b.int, $.b.int])), $.b.int]))([]), 0n];events = $v11[0];latest = $v11[1];stretch = $v11[2];}
for (const $v12 of $.each($.b.enumerate([events], {"start": 1n}))) {
{const $v13 = $.unpack($v12, 2, -1);number = $v13[0];event = $v13[1];}
stretch = $.iadd(stretch, $.both($.ga(event, "fresh"), () => $.lt(1n, number)));
if (($.t($.ga($.ga(event, "counts"), "erased")) && $.t($.lt(1n, number)))) {
$.si(latest, $.tuple([stretch, $.ga(event, "exposure")]), number);
}
}
asked = $.b.set([$.cm(latest, "values", [])]);
dearest = $.dict([]);
for (const $v14 of $.each($.b.enumerate([iterate_erasures([events, $.b.frozenset([shown])])], {"start": 1n}))) {
{const $v15 = $.unpack($v14, 2, -1);number = $v15[0];{const $v16 = $.unpack($v15[1], 2, -1);seen = $v16[0];parts = $v16[1];}}
if ($.t($.has(asked, number))) {
alike = ($.t($.ga($.ga($.gi(events, $.sub(number, 1n)), "mechanism"), "fading")) ? number : parts);
before = $.cm(seen, "total", []);
if (($.t(!$.has(dearest, alike)) || $.t($.lt($.gi($.gi(dearest, alike), 0n), before)))) {
$.si(dearest, alike, $.tuple([before, number]));
}
}
}
return $.b.sorted([(function* ($first) { for (const $v17 of $.each($first)) { let _, number; {const $v18 = $.unpack($v17, 2, -1);_ = $v18[0];number = $v18[1];} yield number; } })($.cm(dearest, "values", []))]);
});
});
return {History, Event, Account, InvalidParameter, check_count, NotLearned, iterate_stretches, Counter, releases_alone, hidden_past, iterate_erasures};
})();
$.modules["accountant.accountant"] = (() => {
let Accountant, _least;
const Counter = $.libraries["collections"]["Counter"];
const groupby = $.libraries["itertools"]["groupby"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_count = $.modules["errors"]["check_count"];
const check_probability = $.modules["errors"]["check_probability"];
const are_contradictory = $.modules["methods.base"]["are_contradictory"];
const Worlds = $.modules["privacy.guarantee"]["Worlds"];
const CONTRADICTION = $.modules["accountant.account"]["CONTRADICTION"];
const answer_question = $.modules["accountant.events"]["answer_question"];
const History = $.modules["accountant.history"]["History"];
Accountant = $.cls("Accountant", [], ($ns) => {
$ns.__init__ = $.fn("__init__", ["self", "plan", "events"], {"plan": null, "events": $.tuple([])}, function (self, plan, events) {
let _, equal, event, others;
$.sa(self, "plan", plan);
$.sa(self, "_history", History([]));
for (const $v1 of $.each(groupby([events], {"key": $.b.id}))) {
{const $v2 = $.unpack($v1, 2, -1);_ = $v2[0];equal = $v2[1];}
{const $v3 = $.unpack(equal, 2, 1);event = $v3[0];others = $v3[1];}
$.cm(self, "record", [event, $.add(1n, $.b.len([others]))]);
}
return null;
});
$ns.resumed = $.classmethod($.fn("resumed", ["cls", "plan", "account", "past"], {"past": null}, function (cls, plan, account, past) {
let accountant;
accountant = cls([plan]);
$.sa(accountant, "_history", History([account, past]));
return accountant;
}));
$ns.account = $.property($.fn("account", ["self"], {}, function (self) {
return $.cm($.ga($.ga(self, "_history"), "account"), "copy", []);
}));
$ns.releases = $.property($.fn("releases", ["self"], {}, function (self) {
return $.b.len([$.ga(self, "_history")]);
}));
$ns.last = $.property($.fn("last", ["self"], {}, function (self) {
$.cm($.ga(self, "_history"), "number", ["release", $.b.max([1n, $.ga(self, "releases")])]);
if (!$.t(!$.is($.ga($.ga($.ga(self, "_history"), "account"), "last"), null))) throw $.raised($.b.AssertionError);
return $.ga($.ga($.ga(self, "_history"), "account"), "last");
}));
$ns.record = $.fn("record", ["self", "event", "times"], {"times": 1n}, function (self, event, times) {
$.cm(self, "_agree", [$.ga(event, "mechanism")]);
$.cm($.ga(self, "_history"), "record", [event, check_count(["times", times])]);
return $.ga(self, "releases");
});
$ns._agree = $.fn("_agree", ["self", "mechanism"], {}, function (self, mechanism) {
let planned;
planned = ($.t($.is($.ga(self, "plan"), null)) ? mechanism : $.ga($.ga(self, "plan"), "mechanism"));
if ($.t(are_contradictory([mechanism, planned]))) {
throw $.raised(InvalidParameter([CONTRADICTION]));
}
return null;
});
$ns.what_if = $.fn("what_if", ["self", "*events"], {}, function (self, events) {
let event, other;
other = $.b.type([self])([$.ga(self, "plan")]);
$.sa(other, "_history", $.cm($.ga(self, "_history"), "copy", []));
for (const $v4 of $.each(events)) {
event = $v4;
$.cm(other, "record", [event]);
}
return other;
});
$ns.with_plan = $.fn("with_plan", ["self", "plan"], {}, function (self, plan) {
let mechanism, other;
other = $.cm(self, "what_if", []);
$.sa(other, "plan", plan);
for (const $v5 of $.each($.ga($.ga($.ga(self, "_history"), "account"), "mechanisms"))) {
mechanism = $v5;
$.cm(other, "_agree", [mechanism]);
}
return other;
});
$ns.remaining = $.fn("remaining", ["self"], {}, function (self) {
return $.cm($.cm(self, "forecast", []), "remaining", []);
});
$ns.stopping_epsilon = $.fn("stopping_epsilon", ["self", "delta", "*", "candidates"], {"candidates": 1n}, function (self, delta, candidates) {
let total;
total = ($.t($.is($.ga(self, "plan"), null)) ? null : $.ga($.ga(self, "plan"), "total"));
if (($.t($.is(total, null)) || ($.t($.ga(self, "releases")) && !$.t($.cm(total, "affords", [$.cm(self, "dp_cumulative", [])]))))) {
return null;
}
return $.cm(total, "stopping_epsilon", [check_probability(["delta", delta])], {"candidates": check_count(["candidates", candidates])});
});
$ns.observed = $.fn("observed", ["self", "observed"], {}, function (self, observed) {
return $.cm($.ga(self, "_history"), "observed", [observed]);
});
$ns._world = $.fn("_world", ["self", "about", "asked"], {}, function (self, about, asked) {
if ($.t(!$.is(asked, null))) {
return asked;
}
if ($.t($.is($.ga(self, "plan"), null))) {
return ($.t($.eq(about, "dp")) ? "replace" : "definition-4.1");
}
return ($.t($.eq(about, "dp")) ? $.ga($.ga($.ga(self, "plan"), "problem"), "adjacency") : $.ga($.ga($.ga(self, "plan"), "problem"), "deletion_notion"));
});
$ns._answer = $.fn("_answer", ["self", "about", "world", "parts", "seen"], {}, function (self, about, world, parts, seen) {
return answer_question([about, world, parts, $.ga(self, "last"), seen, $.ga(self, "releases")]);
});
$ns.dp = $.fn("dp", ["self", "release", "*", "adjacency"], {"release": null, "adjacency": null}, function (self, release, adjacency) {
let number, parts;
number = $.cm($.ga(self, "_history"), "number", ["release", ($.t($.is(release, null)) ? $.b.max([1n, $.ga(self, "releases")]) : release)]);
if ($.t($.lt(number, $.ga(self, "releases")))) {
return $.cm(self, "dp_cumulative", [], {"observed": [number], "adjacency": adjacency});
}
parts = Counter([$.ga($.ga($.ga(self, "_history"), "account"), "alone")]);
return $.cm(self, "_answer", ["dp", $.cm(self, "_world", ["dp", adjacency]), parts, $.set([number])]);
});
$ns.dp_cumulative = $.fn("dp_cumulative", ["self", "observed", "*", "present_from", "adjacency"], {"observed": null, "present_from": 1n, "adjacency": null}, function (self, observed, present_from, adjacency) {
let seen, start;
{const $v6 = [$.cm($.ga(self, "_history"), "number", ["present_from", present_from]), $.cm(self, "observed", [observed])];start = $v6[0];seen = $v6[1];}
return $.cm(self, "_answer", ["dp", $.cm(self, "_world", ["dp", adjacency]), $.cm($.ga(self, "_history"), "parts", [start, null, seen]), seen]);
});
$ns.deletion = $.fn("deletion", ["self", "present_from", "erased_at", "observed", "*", "notion"], {"present_from": 1n, "erased_at": null, "observed": null, "notion": null}, function (self, present_from, erased_at, observed, notion) {
let composed, erased, seen, start, world;
world = $.cm(self, "_world", ["deletion", notion]);
{const $v7 = $.unpack($.cm($.ga(self, "_history"), "lifetime", [present_from, erased_at]), 2, -1);start = $v7[0];erased = $v7[1];}
seen = $.cm(self, "observed", [observed]);
composed = $.cm(self, "_answer", ["deletion", world, $.cm($.ga(self, "_history"), "parts", [start, erased, seen]), seen]);
return _least([composed, world, $.cm($.ga(self, "_history"), "hidden_past", [erased, seen])]);
});
});
_least = $.fn("_least", ["composed", "world", "hidden"], {}, function (composed, world, hidden) {
let order;
if (($.t($.is(hidden, null)) || $.t(!$.eq(world, $.ga(Worlds, "DEFINITION_4_1"))))) {
return composed;
}
order = $.gi($.gi($.ga(hidden, "points"), 0n), 0n);
return $.b.min([composed, hidden], {"key": $.fn("<lambda>", ["guarantee"], {}, (guarantee) => $.cm(guarantee, "renyi", [order]))});
});
return {Accountant, _least, groupby, History, check_count, check_probability, Counter, Worlds, CONTRADICTION, InvalidParameter, are_contradictory, answer_question};
})();
$.modules["accountant.tallies"] = (() => {
let MOST_TALLIES, MOST_RELEASES, MOST_IN_ORDER, _NAMES, Tally, TallyAccount;
const Mapping = $.libraries["collections.abc"]["Mapping"];
const dataclass = $.libraries["dataclasses"]["dataclass"];
const replace = $.libraries["dataclasses"]["replace"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_count = $.modules["errors"]["check_count"];
const NO_EDITS = $.modules["records"]["NO_EDITS"];
const Account = $.modules["accountant.account"]["Account"];
const Accountant = $.modules["accountant.accountant"]["Accountant"];
const Event = $.modules["accountant.events"]["Event"];
const EventKinds = $.modules["accountant.events"]["EventKinds"];
MOST_TALLIES = 20000n;
MOST_RELEASES = $.pow(10n, 9n);
MOST_IN_ORDER = 100000n;
_NAMES = $.set(["kind", "releases", "steps", "edits", "counts", "mechanism"]);
Tally = $.dataclass($.cls("Tally", [], ($ns) => {
$ns.releases = 1n;
$ns.__post_init__ = $.fn("__post_init__", ["self"], {}, function (self) {
check_count(["releases", $.ga(self, "releases")], {"maximum": MOST_RELEASES});
if (($.t($.ga(self, "in_order")) && $.t($.mod($.ga($.ga(self, "event"), "edits"), $.ga(self, "releases"))))) {
throw $.raised(InvalidParameter([("" + $.formatted($.ga(self, "releases"), "", "") + " releases counted together cover " + $.formatted($.ga($.ga(self, "event"), "edits"), "", "") + " edits; by method " + $.formatted($.ga($.ga($.ga(self, "event"), "mechanism"), "method"), "r", "") + " only releases of as many edits each may be")]));
}
return null;
});
$ns.in_order = $.property($.fn("in_order", ["self"], {}, function (self) {
return !$.is($.ga($.ga($.ga(self, "event"), "mechanism"), "fading"), null);
}));
$ns.each = $.property($.fn("each", ["self"], {}, function (self) {
return replace([$.ga(self, "event")], {"edits": ($.t($.ga(self, "in_order")) ? $.floordiv($.ga($.ga(self, "event"), "edits"), $.ga(self, "releases")) : 0n), "counts": NO_EDITS});
}));
$ns.to_dict = $.fn("to_dict", ["self"], {}, function (self) {
return $.dict([...$.pairs($.cm($.ga(self, "event"), "to_dict", [])), ["releases", $.ga(self, "releases")]]);
});
$ns.from_dict = $.classmethod($.fn("from_dict", ["cls", "fields"], {}, function (cls, fields) {
if ((!$.t($.b.isinstance([fields, Mapping])) || $.t(!$.eq($.b.set([fields]), _NAMES)))) {
throw $.raised(InvalidParameter([("" + "a tally of releases has " + $.formatted($.cm(", ", "join", [$.b.sorted([_NAMES])]), "", "") + ", all of them")]));
}
return cls([$.cm(Event, "from_dict", [$.dict((function* ($first) { for (const $v1 of $.each($first)) { let name, value; {const $v2 = $.unpack($v1, 2, -1);name = $v2[0];value = $v2[1];} if (!$.t(!$.eq(name, "releases"))) continue; yield [name, value]; } })($.cm(fields, "items", [])))]), $.gi(fields, "releases")]);
}));
}), [["event", () => ["is", Event]], ["releases", () => ["is", $.b.int]]], {frozen: true});
TallyAccount = $.cls("TallyAccount", [], ($ns) => {
$ns.__init__ = $.fn("__init__", ["self", "tallies", "about"], {}, function (self, tallies, about) {
let tally;
$.sa(self, "tallies", $.b.tuple([tallies]));
$.sa(self, "about", about);
$.sa(self, "served", null);
{const $v3 = [Account([]), Account([])];$.sa(self, "_sums", $v3[0]);$.sa(self, "_then", $v3[1]);}
if ($.t($.lt(MOST_TALLIES, $.b.len([$.ga(self, "tallies")])))) {
throw $.raised(InvalidParameter([("" + "a certificate lists at most " + $.formatted(MOST_TALLIES, "", "") + " kinds of releases, not " + $.formatted($.b.len([$.ga(self, "tallies")]), "", "") + ": learn afresh (`relearn`), from where on there is a new list, or begin a new store")]));
}
if ($.t($.lt(MOST_IN_ORDER, $.b.sum([(function* ($first) { for (const $v4 of $.each($first)) { let tally; tally = $v4; if (!$.t($.ga(tally, "in_order"))) continue; yield $.ga(tally, "releases"); } })($.ga(self, "tallies"))])))) {
throw $.raised(InvalidParameter([("" + "a certificate covers at most " + $.formatted(MOST_IN_ORDER, "", "") + " releases by a method whose figures depend on their order: begin a new store")]));
}
for (const $v5 of $.each($.ga(self, "tallies"))) {
tally = $v5;
$.cm(self, "_record", [tally]);
}
return null;
});
$ns._record = $.fn("_record", ["self", "tally"], {}, function (self, tally) {
let about, later, sums;
{const $v6 = [$.ga(self, "_sums"), ($.t($.is($.ga(self, "about"), null)) ? 0n : $.ga(self, "about"))];sums = $v6[0];about = $v6[1];}
if ($.t((($v7, $v8, $v9) => $.lt($v7, $v8) && $.le($v8, $v9))($.ga(sums, "releases"), about, $.add($.ga(sums, "releases"), $.ga(tally, "releases"))))) {
if ($.t(!$.eq($.ga(tally, "releases"), 1n))) {
throw $.raised(InvalidParameter([("" + "release " + $.formatted(about, "", "") + " stands among others of its kind; it must stand by itself")]));
}
$.sa(self, "served", $.ga(tally, "event"));
$.cm(sums, "record", [$.ga(tally, "event")]);
$.sa(self, "_then", $.cm(sums, "copy", []));
return null;
}
later = !$.is($.ga(self, "served"), null);
$.cm(sums, "record", [($.t(later) ? replace([$.ga(tally, "each")], {"edits": 0n, "counts": NO_EDITS}) : $.ga(tally, "each")), $.ga(tally, "releases")]);
return null;
});
$ns.releases = $.property($.fn("releases", ["self"], {}, function (self) {
return $.ga($.ga(self, "_sums"), "releases");
}));
$ns.runs = $.property($.fn("runs", ["self"], {}, function (self) {
return [...(function* ($first) { for (const $v10 of $.each($first)) { let tally; tally = $v10; yield $.tuple([$.ga($.ga(tally, "event"), "mechanism"), $.ga(tally, "releases")]); } })($.ga(self, "tallies"))];
}));
$ns.last_model = $.property($.fn("last_model", ["self"], {}, function (self) {
let models, others;
others = $.tuple([$.ga(EventKinds, "EXTRACTOR"), $.ga(EventKinds, "STATISTIC")]);
models = [...(function* ($first) { for (const $v11 of $.each($first)) { let tally; tally = $v11; if (!$.t(!$.has(others, $.ga($.ga(tally, "event"), "kind")))) continue; yield $.ga(tally, "event"); } })($.ga(self, "tallies"))];
return ($.t(models) ? $.gi(models, $.neg(1n)) : null);
}));
$ns.accountant = $.fn("accountant", ["self", "plan"], {}, function (self, plan) {
return $.cm($.cm(Accountant, "resumed", [null, $.ga(self, "_sums"), self]), "with_plan", [plan]);
});
$ns.account_after = $.fn("account_after", ["self", "number"], {}, function (self, number) {
return (($.t(!$.is($.ga(self, "served"), null)) && $.t($.eq(number, $.ga(self, "about")))) ? $.ga(self, "_then") : null);
});
$ns.events_since = $.fn("events_since", ["self", "number"], {}, function (self, number) {
throw $.raised(InvalidParameter([("" + "release " + $.formatted(number, "", "") + " is known by its kind alone; only the store's ledger lists each")]));
return null;
});
});
return {MOST_TALLIES, MOST_RELEASES, MOST_IN_ORDER, _NAMES, Tally, TallyAccount, Event, InvalidParameter, Account, EventKinds, Accountant, check_count, Mapping, NO_EDITS, replace};
})();
$.modules["evidence.derivation"] = (() => {
let HARDLY, MOST_ODDS, NOT_COVERED, claims_of, find_serving_release, derive_guarantees, are_whole_subjects, _edit_claims, _source_claims, _residue, _figure_claims, figure_claim, odds, _finite_or_none, conditions_of, _row_norms, _unique, _deadline_claims, _notice_claims, _destination_claims, _may_have_used, _duties;
const math = $.libraries["math"];
const Mapping = $.libraries["collections.abc"]["Mapping"];
const Any = $.libraries["typing"]["Any"];
const Statuses = $.modules["accountant.events"]["Statuses"];
const UNIT = $.modules["bounds.arithmetic"]["UNIT"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const Worlds = $.modules["privacy.guarantee"]["Worlds"];
const success_per_hundred = $.modules["privacy.sentences"]["success_per_hundred"];
const Verdicts = $.modules["store.sources.residue_report"]["Verdicts"];
const KEYS = $.modules["evidence.claims"]["KEYS"];
const Claim = $.modules["evidence.claims"]["Claim"];
const UNKNOWN = $.modules["evidence.facts"]["UNKNOWN"];
HARDLY = 0.9;
MOST_ODDS = 100.0;
NOT_COVERED = $.b.tuple([(function* ($first) { for (const $v1 of $.each($first)) { let claimable, key; {const $v2 = $.unpack($v1, 2, -1);key = $v2[0];claimable = $v2[1];} if (!$.t($.eq($.ga(claimable, "role"), "uncovered"))) continue; yield key; } })($.cm(KEYS, "items", []))]);
claims_of = $.fn("claims_of", ["erasure", "plan", "history", "delta"], {}, function (erasure, plan, history, delta) {
let accountant, left, served;
{const $v3 = [find_serving_release([erasure, plan, history]), $.cm(history, "accountant", [plan])];served = $v3[0];accountant = $v3[1];}
left = $.b.tuple([$.cm($.b.dict, "fromkeys", [(function* ($first) { for (const $v4 of $.each($first)) { let facts; facts = $v4; if (!$.t($.ga(facts, "left"))) continue; yield $.ga(facts, "left"); } })($.ga($.ga(accountant, "account"), "mechanisms"))])]);
return $.tuple([...$.each(_edit_claims([erasure, plan, served, left])), ...$.each(_source_claims([erasure, served])), ...$.each(_residue([erasure])), ...$.each(_figure_claims([erasure, accountant, delta])), ...$.each(odds([accountant, delta])), ...$.each((function* ($first) { for (const $v5 of $.each($first)) { let what; what = $v5; yield Claim([("" + "left." + $.formatted(what, "", "")), $.dict([])]); } })(left)), ...$.each(conditions_of([plan, accountant, $.ga(erasure, "from_data"), $.ga(history, "runs")])), ...$.each(_deadline_claims([erasure])), ...$.each(_notice_claims([erasure, left])), ...$.each((function* ($first) { for (const $v6 of $.each($first)) { let key; key = $v6; yield Claim([key, $.dict([])]); } })(NOT_COVERED)), ...$.each((function* ($first) { for (const $v7 of $.each($first)) { let what; what = $v7; yield Claim([("" + "to-do." + $.formatted(what, "", "")), $.dict([])]); } })(_duties([erasure], {"total": !$.is($.ga(plan, "total"), null)})))]);
});
find_serving_release = $.fn("find_serving_release", ["erasure", "plan", "history"], {}, function (erasure, plan, history) {
let chained, counts, event, name, release;
if ($.t($.is($.ga(erasure, "release"), null))) {
if ($.t(!$.is($.ga($.ga(erasure, "notices"), "put_back"), null))) {
throw $.raised(InvalidParameter(["lies before any model was published without the rows: there is nothing to certify"], {"put_back": $.ga($.ga(erasure, "notices"), "put_back")}));
}
if (($.t($.is($.ga(history, "last_model"), null)) || $.t(!$.eq($.ga($.ga(history, "last_model"), "mechanism"), $.ga(plan, "mechanism"))))) {
throw $.raised(InvalidParameter(["the last model was not made under the plan of this certificate"]));
}
return null;
}
{const $v8 = [$.ga(history, "served"), $.ga(erasure, "release")];event = $v8[0];release = $v8[1];}
if (($.t($.is(event, null)) || $.t(!$.eq(release, $.ga(history, "about"))))) {
throw $.raised(InvalidParameter([("" + "is not in the ledger of " + $.formatted($.ga(history, "releases"), "", "") + " releases")], {"release": release}));
}
if ($.t(!$.eq($.ga(event, "mechanism"), $.ga(plan, "mechanism")))) {
throw $.raised(InvalidParameter([("" + "release " + $.formatted(release, "", "") + " was not made under the plan of this certificate")]));
}
if (!$.t($.le(($.t($.ga(event, "fresh")) ? $.ga(plan, "learn_steps") : $.ga(plan, "delete_steps")), $.ga(event, "steps")))) {
throw $.raised(InvalidParameter([("" + "release " + $.formatted(release, "", "") + " took " + $.formatted($.ga(event, "steps"), "", "") + " steps, fewer than its plan asks for")]));
}
if (!$.t($.le($.add($.ga(erasure, "rows"), $.ga(erasure, "inserted")), $.ga(event, "edits")))) {
throw $.raised(InvalidParameter([$.add(("" + "release " + $.formatted(release, "", "") + " covers " + $.formatted($.ga(event, "edits"), "", "") + " edits, fewer than the " + $.formatted($.ga(erasure, "rows"), "", "") + " rows erased"), ($.t($.ga(erasure, "inserted")) ? ("" + " and " + $.formatted($.ga(erasure, "inserted"), "", "") + " inserted") : ""))]));
}
chained = !($.t($.ga(event, "fresh")) || $.t($.ga($.ga(event, "mechanism"), "shows_order")));
if (($.t(!$.is($.ga(erasure, "read_at"), null)) && $.t($.is($.ga(erasure, "counted"), null)) && $.t(chained))) {
throw $.raised(InvalidParameter([("" + "release " + $.formatted(release, "", "") + " continues from the model before, and nothing counted what changed in between: where rows lie in a source of their own, such a release is certified only with a count by a trigger or by versions")]));
}
counts = $.ga(event, "counts");
for (const $v9 of $.each($.tuple(["deleted", "replaced", "inserted"]))) {
name = $v9;
if (!$.t($.le($.b.getattr([erasure, name]), $.add($.b.getattr([counts, name]), $.ga(counts, "unrecorded"))))) {
throw $.raised(InvalidParameter([("" + "release " + $.formatted(release, "", "") + " covers " + $.formatted($.cm(counts, "text", []), "", "") + ", fewer " + $.formatted(name, "", "") + " than the " + $.formatted($.b.getattr([erasure, name]), "", "") + " of the request")]));
}
}
return event;
});
derive_guarantees = $.fn("derive_guarantees", ["erasure", "accountant"], {}, function (erasure, accountant) {
let found, from_here, notion, notions, plan, what, world;
plan = $.ga(accountant, "plan");
if (!$.t(!$.is(plan, null))) throw $.raised($.b.AssertionError);
notions = $.dict([]);
if (($.t($.ga(erasure, "deleted")) && $.t($.is($.ga($.ga(erasure, "notices"), "put_back"), null)))) {
$.si(notions, "erased", $.ga($.ga(plan, "problem"), "deletion_notion"));
}
if ($.t($.ga(erasure, "replaced"))) {
$.si(notions, "replaced", $.ga(Worlds, "PAIRWISE"));
}
found = $.dict([]);
for (const $v10 of $.each($.cm(notions, "items", []))) {
{const $v11 = $.unpack($v10, 2, -1);what = $v11[0];notion = $v11[1];}
if ($.t($.is($.ga(erasure, "release"), null))) {
world = ($.t($.eq(notion, $.ga(Worlds, "PAIRWISE"))) ? $.ga(Worlds, "REPLACE") : $.ga(Worlds, "ZERO_OUT"));
$.si(found, ("" + $.formatted(what, "", "") + ".before"), $.cm(accountant, "dp_cumulative", [], {"adjacency": world}));
continue;
}
from_here = $.b.range([$.ga(erasure, "release"), $.add($.ga(accountant, "releases"), 1n)]);
$.si(found, ("" + $.formatted(what, "", "") + ".later"), $.cm(accountant, "deletion", [], {"erased_at": $.ga(erasure, "release"), "observed": from_here, "notion": notion}));
$.si(found, ("" + $.formatted(what, "", "") + ".all"), $.cm(accountant, "deletion", [], {"erased_at": $.ga(erasure, "release"), "notion": notion}));
}
return $.dict([...$.pairs(found), ["present.one", $.cm(accountant, "dp", [])], ["present.all", $.cm(accountant, "dp_cumulative", [])]]);
});
are_whole_subjects = $.fn("are_whole_subjects", ["erasure", "rows_per_person"], {}, function (erasure, rows_per_person) {
return $.either($.eq(rows_per_person, 1n), () => $.eq($.ga(erasure, "remaining"), 0n));
});
_edit_claims = $.fn("_edit_claims", ["erasure", "plan", "served", "left"], {}, function* (erasure, plan, served, left) {
let key, most, origin, rows, when;
for (const $v12 of $.each($.tuple([$.tuple(["erased", $.ga(erasure, "deleted")]), $.tuple(["replaced", $.ga(erasure, "replaced")]), $.tuple(["inserted", $.ga(erasure, "inserted")])]))) {
{const $v13 = $.unpack($v12, 2, -1);key = $v13[0];rows = $v13[1];}
if ($.t(rows)) {
yield Claim([key, $.dict([["rows", rows]])]);
}
}
if ($.t(!$.is($.ga(erasure, "edited"), null))) {
yield Claim(["edited", $.dict([["day", $.ga(erasure, "edited")]])]);
}
for (const $v14 of $.each($.tuple([$.tuple(["set-aside", $.ga($.ga(erasure, "notices"), "set_aside")]), $.tuple(["put-back", $.ga($.ga(erasure, "notices"), "put_back")])]))) {
{const $v15 = $.unpack($v14, 2, -1);key = $v15[0];when = $v15[1];}
if ($.t(!$.is(when, null))) {
yield Claim([key, $.dict([["rows", $.ga(erasure, "rows")], ["day", $.cm(when, "isoformat", [])]])]);
}
}
most = $.ga($.ga(plan, "problem"), "rows_per_subject");
if ($.t(are_whole_subjects([erasure, most]))) {
yield Claim(["person-gone", $.dict([["rows_per_person", most]])]);
} else {
if ($.t($.is($.ga(erasure, "remaining"), null))) {
yield Claim(["rows-may-remain", $.dict([["rows_per_person", most]])]);
} else {
yield Claim(["rows-remain", $.dict([["remaining", $.ga(erasure, "remaining")]])]);
}
}
if ($.t($.is(served, null))) {
yield Claim([$.b.str([$.ga(erasure, "status")]), $.dict([["rows", $.ga(erasure, "rows")]])]);
return null;
}
origin = (!$.t($.ga(served, "fresh")) ? "resumed" : ($.t($.ga(served, "warm")) ? "warm" : "fresh"));
if (($.t($.eq(origin, "resumed")) && $.t($.ga($.ga(served, "mechanism"), "carries")))) {
origin = "carried";
}
if (($.t($.has(left, "base")) || $.t($.has(left, "extractor")))) {
origin = "kept";
}
yield Claim([("" + "published." + $.formatted(origin, "", "")), $.dict([["rows", $.ga(erasure, "rows")], ["release", $.ga(erasure, "release")]])]);
if ($.t(!$.is($.ga(erasure, "served"), null))) {
yield Claim(["published.on", $.dict([["day", $.ga(erasure, "served")]])]);
}
if ($.t($.ga($.ga(served, "counts"), "unrecorded"))) {
yield Claim(["kinds-unrecorded", $.dict([])]);
}
return null;
});
_source_claims = $.fn("_source_claims", ["erasure", "served"], {}, function* (erasure, served) {
let counts, edits;
if (($.t($.is($.ga(erasure, "deleted_at"), null)) || $.t($.is($.ga(erasure, "read_at"), null)) || $.t($.is(served, null)))) {
return null;
}
yield Claim(["source.order", $.dict([["deleted_at", $.ga(erasure, "deleted_at")], ["read_at", $.ga(erasure, "read_at")]])]);
if ($.t($.is($.ga(erasure, "counted"), null))) {
yield Claim(["source.uncounted", $.dict([])]);
return null;
}
counts = $.ga(served, "counts");
edits = $.dict([["deleted", $.ga(counts, "deleted")], ["replaced", $.ga(counts, "replaced")], ["inserted", $.ga(counts, "inserted")]]);
yield Claim(["source.counted", $.dict([["by", $.ga(erasure, "counted")], ...$.pairs(edits)])]);
return null;
});
_residue = $.fn("_residue", ["erasure"], {}, function* (erasure) {
let key, places, verdict;
for (const $v16 of $.each($.tuple([$.tuple(["residue.found", $.ga(Verdicts, "RESIDUAL")]), $.tuple(["residue.unread", $.ga(Verdicts, "NOT_COVERED")])]))) {
{const $v17 = $.unpack($v16, 2, -1);key = $v17[0];verdict = $v17[1];}
places = $.b.len([[...(function* ($first) { for (const $v18 of $.each($first)) { let place; place = $v18; if (!$.t($.eq($.gi(place, "verdict"), verdict))) continue; yield place; } })($.ga(erasure, "residue"))]]);
if ($.t(places)) {
yield Claim([key, $.dict([["places", places]])]);
}
}
return null;
});
_figure_claims = $.fn("_figure_claims", ["erasure", "accountant", "delta"], {}, function* (erasure, accountant, delta) {
let claim, guarantee, key, plan, rows, what, whole;
plan = $.ga(accountant, "plan");
if (!$.t(!$.is(plan, null))) throw $.raised($.b.AssertionError);
for (const $v19 of $.each($.cm(derive_guarantees([erasure, accountant]), "items", []))) {
{const $v20 = $.unpack($v19, 2, -1);key = $v20[0];guarantee = $v20[1];}
what = $.gi($.cm(key, "partition", ["."]), 0n);
rows = $.gi($.dict([["erased", $.ga(erasure, "deleted")], ["replaced", $.ga(erasure, "replaced")], ["present", 1n]]), what);
whole = $.either($.eq(what, "present"), () => $.both($.eq(what, "erased"), () => are_whole_subjects([erasure, $.ga($.ga(plan, "problem"), "rows_per_subject")])));
claim = figure_claim([key, guarantee, plan], {"rows": rows, "whole": whole, "delta": delta, "by_calendar": $.ga(erasure, "by_calendar")});
yield claim;
if (($.t(!$.eq(what, "present")) && $.t($.le(HARDLY, $.gi($.ga(claim, "values"), "advantage"))))) {
yield Claim(["hardly", $.dict([["figure", key]])]);
}
}
if ($.t($.lt(1n, $.mul(delta, $.ga(plan, "records"))))) {
yield Claim(["delta-large", $.dict([["delta", delta], ["records", $.ga(plan, "records")]])]);
}
return null;
});
figure_claim = $.fn("figure_claim", ["key", "guarantee", "plan", "*", "rows", "whole", "delta", "by_calendar"], {}, function (key, guarantee, plan, rows, whole, delta, by_calendar) {
let blind, exact, most, order, person, schedule, seen, target, values;
{const $v21 = [$.cm(guarantee, "with_slack", []), $.ga($.ga(plan, "budget"), "order"), $.gi($.cm(key, "partition", ["."]), 2n)];exact = $v21[0];order = $v21[1];seen = $v21[2];}
most = $.ga($.ga(plan, "problem"), "rows_per_subject");
person = $.both($.either(whole, () => $.eq(most, 1n)), () => $.le(most, $.ga(guarantee, "rows")));
values = $.dict([["rows", rows], ["unit", (!$.t(person) ? "row" : ($.t($.eq(most, 1n)) ? "record" : "person"))], ["rows_per_person", $.ga(guarantee, "rows")], ["question", ($.t($.ga($.ga(guarantee, "adjacency"), "between_records")) ? "which" : "used")], ["worlds", $.b.str([$.ga(guarantee, "adjacency")])], ["of_hundred", success_per_hundred([$.ga(exact, "advantage")])], ["advantage", $.ga(exact, "advantage")], ["epsilon", _finite_or_none([$.cm(exact, "epsilon", [delta])])], ["delta", delta], ["order", order], ["renyi", ($.t($.is(order, null)) ? null : _finite_or_none([$.cm(exact, "renyi", [order])]))], ["gdp", $.ga(exact, "gdp")]]);
schedule = ($.t(by_calendar) ? "schedule-calendar" : "schedule-fixed");
blind = ($.t($.ga(guarantee, "non_adaptive")) ? $.tuple(["requests-blind"]) : $.tuple([]));
target = ($.t($.cm(key, "startswith", ["present."])) ? "record-fixed" : "target-fixed");
return Claim([key, values, $.tuple([...$.each(blind), target, ...$.each(($.t($.has($.tuple(["all", "before"]), seen)) ? $.tuple([schedule]) : $.tuple([])))])]);
});
odds = $.fn("odds", ["accountant", "delta"], {}, function* (accountant, delta) {
let cap, epsilon, most, plan, values;
plan = $.ga(accountant, "plan");
epsilon = ($.t($.is(plan, null)) ? null : $.cm(accountant, "stopping_epsilon", [delta]));
if (($.t($.is(plan, null)) || $.t($.is($.ga(plan, "total"), null)) || $.t($.is(epsilon, null)) || !$.t($.le(epsilon, MOST_ODDS)))) {
return null;
}
{const $v22 = [($.t($.ga(accountant, "releases")) ? $.cm(accountant, "dp_cumulative", []) : $.ga(plan, "dp")), $.ga($.ga(plan, "problem"), "rows_per_subject")];cap = $v22[0];most = $v22[1];}
values = $.dict([["unit", ($.t($.lt($.ga(cap, "rows"), most)) ? "row" : ($.t($.eq(most, 1n)) ? "record" : "person"))], ["rows_per_person", $.ga(cap, "rows")], ["question", ($.t($.ga($.ga(cap, "adjacency"), "between_records")) ? "which" : "used")], ["worlds", $.b.str([$.ga(cap, "adjacency")])], ["epsilon", epsilon], ["odds", $.mul($.libraries["math"].exp([epsilon]), $.add(1n, $.mul(8n, UNIT)))], ["delta", delta], ["total_epsilon", $.ga($.ga(plan, "total"), "epsilon")], ["total_delta", $.ga($.ga(plan, "total"), "delta")]]);
yield Claim(["odds.ever", values, $.tuple(["total-fixed"])]);
return null;
});
_finite_or_none = $.fn("_finite_or_none", ["bound"], {}, function (bound) {
return ($.t($.libraries["math"].isinf([bound])) ? null : bound);
});
conditions_of = $.fn("conditions_of", ["plan", "accountant", "from_data", "runs"], {}, function* (plan, accountant, from_data, runs) {
let first, last, norm, norms, radius;
norms = $.either(_row_norms([runs]), () => [$.tuple([$.ga($.ga(plan, "loss"), "radius"), 1n, 1n])]);
radius = $.dict([["radius", $.b.max([(function* ($first) { for (const $v23 of $.each($first)) { let _, norm; {const $v24 = $.unpack($v23, 3, -1);norm = $v24[0];_ = $v24[1];_ = $v24[2];} yield norm; } })(norms)])]]);
if ($.t($.is(from_data, null))) {
yield Claim(["ranges-unknown", radius]);
} else {
if ($.t(from_data)) {
yield Claim(["ranges-from-data", $.dict([...$.pairs(radius), ["columns", $.b.list([from_data])]])]);
} else {
yield Claim(["ranges-public", radius]);
}
}
if ($.t(!$.is($.ga($.ga(plan, "problem"), "feature_map"), null))) {
yield Claim(["map-public", $.dict([["digest", $.ga($.ga(plan, "problem"), "feature_map")]])]);
}
yield Claim(["rows-per-person", $.dict([["rows_per_person", $.ga($.ga(plan, "problem"), "rows_per_subject")]])]);
yield Claim(["curator-trusted", $.dict([])]);
if ($.t($.lt(1n, $.b.len([norms])))) {
for (const $v25 of $.each(norms)) {
{const $v26 = $.unpack($v25, 3, -1);norm = $v26[0];first = $v26[1];last = $v26[2];}
yield Claim(["row-norm", $.dict([["radius", norm], ["first", first], ["last", last]])]);
}
}
yield* $.each(_unique([(function* ($first) { for (const $v27 of $.each($first)) { let facts; facts = $v27; for (const $v28 of $.each($.cm(facts, "conditions", []))) { let key, values; {const $v29 = $.unpack($v28, 2, -1);key = $v29[0];values = $v29[1];} yield Claim([key, values]); }} })($.ga($.ga(accountant, "account"), "mechanisms"))]));
return null;
});
_row_norms = $.fn("_row_norms", ["runs"], {}, function (runs) {
let first, found, mechanism, norm, number, releases;
found = [];
number = 0n;
for (const $v30 of $.each(runs)) {
{const $v31 = $.unpack($v30, 2, -1);mechanism = $v31[0];releases = $v31[1];}
{const $v32 = [$.add(number, 1n), $.add(number, releases)];first = $v32[0];number = $v32[1];}
norm = $.ga(mechanism, "row_norm");
if (($.t($.is(norm, null)) && $.t(!$.has($.tuple(["extractor", "statistics"]), $.ga(mechanism, "left"))))) {
throw $.raised(InvalidParameter([("" + "release " + $.formatted(first, "", "") + " does not state the norm of its rows; state row_norm")], {"row_norm": norm}));
}
if (($.t(found) && $.t($.has($.tuple([null, $.gi($.gi(found, $.neg(1n)), 0n)]), norm)))) {
$.si(found, $.neg(1n), $.tuple([...$.each($.slice($.gi(found, $.neg(1n)), null, 2n, null)), number]));
} else {
if ($.t(!$.is(norm, null))) {
$.cm(found, "append", [$.tuple([norm, first, number])]);
}
}
}
return found;
});
_unique = $.fn("_unique", ["claims"], {}, function (claims) {
let claim, found;
found = $.dict([]);
for (const $v33 of $.each(claims)) {
claim = $v33;
$.cm(found, "setdefault", [("" + $.formatted($.ga(claim, "key"), "", "") + " " + $.formatted($.b.sorted([$.cm($.ga(claim, "values"), "items", [])]), "", "")), claim]);
}
return $.b.list([$.cm(found, "values", [])]);
});
_deadline_claims = $.fn("_deadline_claims", ["erasure"], {}, function* (erasure) {
let last, notices, told, what, when;
{const $v34 = [$.ga(erasure, "deadline"), $.ga(erasure, "notices")];last = $v34[0];notices = $v34[1];}
if ($.t($.is(last, null))) {
return null;
}
if ($.t(!$.is($.ga(notices, "extended_until"), null))) {
yield Claim(["deadline.extended", $.dict([["day", last], ["reason", $.b.str([$.ga(notices, "extension_reason")])]])]);
} else {
yield Claim([($.t($.ga(notices, "holidays")) ? "deadline.holidays" : "deadline"), $.dict([["day", last]])]);
}
told = ($.t($.is($.ga(notices, "informed"), null)) ? null : $.cm($.ga(notices, "informed"), "isoformat", []));
for (const $v35 of $.each($.tuple([$.tuple(["erased", $.ga(erasure, "edited")]), $.tuple(["published", $.ga(erasure, "served")]), $.tuple(["told", told])]))) {
{const $v36 = $.unpack($v35, 2, -1);what = $v36[0];when = $v36[1];}
if ($.t(!$.is(when, null))) {
yield Claim([($.t($.le(when, last)) ? "in-time" : "late"), $.dict([["what", what]])]);
}
}
return null;
});
_notice_claims = $.fn("_notice_claims", ["erasure", "left"], {}, function* (erasure, left) {
let kept, name, rows, said, told, until, when;
{const $v37 = [$.ga(erasure, "notices"), $.dict([["rows", $.ga(erasure, "rows")]])];said = $v37[0];rows = $v37[1];}
for (const $v38 of $.each($.tuple(["models", "purposes"]))) {
name = $v38;
if ($.t(!$.is($.b.getattr([said, name]), null))) {
yield Claim([name, $.dict([[name, $.b.getattr([said, name])]])]);
}
}
if ($.t(!$.is($.ga(said, "withdrawn"), null))) {
kept = $.either($.has(left, "base"), () => $.has(left, "extractor"));
yield Claim([($.t(kept) ? "model-withdrawn.kept" : "model-withdrawn"), $.dict([...$.pairs(rows), ["day", $.cm($.ga(said, "withdrawn"), "isoformat", [])]])]);
} else {
if ($.t($.is($.ga(erasure, "status"), $.ga(Statuses, "PENDING")))) {
until = $.ga(said, "publish_by");
yield ($.t($.is(until, null)) ? Claim(["model-in-use", rows]) : Claim(["model-in-use.until", $.dict([...$.pairs(rows), ["day", $.cm(until, "isoformat", [])]])]));
}
}
yield* $.each(_destination_claims([erasure]));
if ($.t(!$.is($.ga(said, "recipients"), null))) {
told = $.dict([["recipients", $.ga(said, "recipients")]]);
when = $.ga(said, "recipients_told");
yield ($.t($.is(when, null)) ? Claim(["recipients", told]) : Claim(["recipients.told", $.dict([...$.pairs(told), ["day", $.cm(when, "isoformat", [])]])]));
}
if ($.t(!$.is($.ga(said, "backups_until"), null))) {
yield Claim(["backups", $.dict([...$.pairs(rows), ["day", $.cm($.ga(said, "backups_until"), "isoformat", [])]])]);
}
if ($.t(!$.is($.ga(said, "informed"), null))) {
yield Claim(["told", $.dict([["day", $.cm($.ga(said, "informed"), "isoformat", [])]])]);
}
if ($.t(!$.is($.ga(said, "contact"), null))) {
yield Claim(["contact", $.dict([["contact", $.ga(said, "contact")]])]);
}
yield ($.t($.is($.ga(said, "authority"), null)) ? Claim(["complaint", $.dict([])]) : Claim(["complaint.to", $.dict([["authority", $.ga(said, "authority")]])]));
yield Claim(["record-kept", $.dict([])]);
return null;
});
_destination_claims = $.fn("_destination_claims", ["erasure"], {}, function* (erasure) {
let left, named, places;
named = [...(function* ($first) { for (const $v39 of $.each($first)) { let place; place = $v39; if (!$.t(!$.eq($.gi(place, "kind"), UNKNOWN))) continue; yield place; } })($.ga(erasure, "publishers"))];
if ($.t($.lt($.b.len([named]), $.b.len([$.ga(erasure, "publishers")])))) {
yield Claim(["elsewhere.unknown", $.dict([])]);
}
if (!$.t(named)) {
return null;
}
places = $.dict([["places", $.b.len([named])], ["kinds", $.b.sorted([$.set((function* ($first) { for (const $v40 of $.each($first)) { let place; place = $v40; yield $.b.str([$.gi(place, "kind")]); } })(named))])]]);
left = $.b.len([[...(function* ($first) { for (const $v41 of $.each($first)) { let place; place = $v41; if (!$.t(_may_have_used([$.gi(place, "oldest"), $.ga(erasure, "release")]))) continue; yield place; } })(named)]]);
yield ($.t(left) ? Claim(["elsewhere.left", $.dict([...$.pairs(places), ["left", left]])]) : Claim(["elsewhere.none", places]));
return null;
});
_may_have_used = $.fn("_may_have_used", ["oldest", "release"], {}, function (oldest, release) {
return $.both(!$.is(oldest, null), () => $.either($.is(release, null), () => $.lt(oldest, release)));
});
_duties = $.fn("_duties", ["erasure", "*", "total"], {}, function* (erasure, total) {
if ($.t($.is($.ga(erasure, "status"), $.ga(Statuses, "WITHHELD")))) {
yield ($.t(total) ? "total" : "budget");
}
if ($.t($.is($.ga(erasure, "status"), $.ga(Statuses, "PENDING")))) {
yield "publish";
}
yield* $.each($.tuple(["tell", "recipients"]));
if ($.t($.is($.ga($.ga(erasure, "notices"), "put_back"), null))) {
yield* $.each($.tuple(["withdraw", "backups"]));
}
return null;
});
return {HARDLY, MOST_ODDS, NOT_COVERED, claims_of, find_serving_release, derive_guarantees, are_whole_subjects, _edit_claims, _source_claims, _residue, _figure_claims, figure_claim, odds, _finite_or_none, conditions_of, _row_norms, _unique, _deadline_claims, _notice_claims, _destination_claims, _may_have_used, _duties, Claim, Statuses, KEYS, Any, Mapping, UNIT, Verdicts, InvalidParameter, UNKNOWN, success_per_hundred, Worlds};
})();
$.modules["evidence.certificate"] = (() => {
let FORMAT, SOFTWARE, BLOCKS, _REQUEST, _EVIDENCE, _FACTS, _SINCE, check_facts, facts_to_json, _facts_of, check_catalogue, erasure_of, read_history;
const MOST_TALLIES = $.modules["accountant.tallies"]["MOST_TALLIES"];
const Tally = $.modules["accountant.tallies"]["Tally"];
const TallyAccount = $.modules["accountant.tallies"]["TallyAccount"];
const InvalidParameter = $.modules["errors"]["InvalidParameter"];
const check_count = $.modules["errors"]["check_count"];
const plan_from_dict = $.modules["methods.serialization"]["plan_from_dict"];
const check_delta = $.modules["privacy.guarantee"]["check_delta"];
const case_to_json = $.modules["register.case"]["case_to_json"];
const local_day = $.modules["register.case"]["local_day"];
const parse_datetime = $.modules["register.case"]["parse_datetime"];
const __version__ = $.modules["version"]["__version__"];
const CATALOGUE = $.modules["evidence.claims"]["CATALOGUE"];
const Erasure = $.modules["evidence.facts"]["Erasure"];
const check_certificate_id = $.modules["evidence.facts"]["check_certificate_id"];
const check_chronological = $.modules["evidence.facts"]["check_chronological"];
const check_released = $.modules["evidence.facts"]["check_released"];
const check_version = $.modules["evidence.facts"]["check_version"];
const Notices = $.modules["evidence.notices"]["Notices"];
FORMAT = "noisygd-delete/erasure-certificate/1";
SOFTWARE = "noisygd-delete";
BLOCKS = $.tuple(["format", "identity", "request", "action", "evidence", "public_facts", "claims", "signature"]);
_REQUEST = $.tuple(["request_id", "received", "edited", "served", "rows", "replaced", "inserted", "remaining"]);
_EVIDENCE = $.tuple(["checked", "audit", "ledger_entries", "ledger_sha256", "from_data", "by_calendar", "deleted_at", "read_at", "counted", "residue", "publishers"]);
_FACTS = $.dict([["request", $.dict((function* ($first) { for (const $v1 of $.each($first)) { let name; name = $v1; yield [name, name]; } })(_REQUEST))], ["action", $.dict([["status", "status"], ["release", "release"], ["model_before_sha256", "model_before"], ["model_after_sha256", "model_after"]])], ["evidence", $.dict((function* ($first) { for (const $v2 of $.each($first)) { let name; name = $v2; yield [name, name]; } })(_EVIDENCE))]]);
_SINCE = $.dict([]);
check_facts = $.fn("check_facts", ["erasure", "plan", "history"], {}, function (erasure, plan, history) {
if (($.t(!$.is($.ga(erasure, "ledger_entries"), null)) && !$.t($.lt($.ga(history, "releases"), $.ga(erasure, "ledger_entries"))))) {
throw $.raised(InvalidParameter([("" + "is too few: " + $.formatted($.ga(history, "releases"), "", "") + " releases and the beginning have one each")], {"ledger_entries": $.ga(erasure, "ledger_entries")}));
}
check_released([$.ga(history, "releases"), $.ga(erasure, "publishers")]);
$.cm($.ga(plan, "method"), "check_plan", [plan]);
return null;
});
facts_to_json = $.fn("facts_to_json", ["erasure", "*", "certificate_id", "issued", "made_by", "catalogue"], {"made_by": __version__, "catalogue": CATALOGUE}, function (erasure, certificate_id, issued, made_by, catalogue) {
let blocks, when;
when = parse_datetime(["issued", issued]);
check_chronological([], {"edited": $.ga(erasure, "edited"), "served": $.ga(erasure, "served"), "issued": $.cm(local_day([when, $.ga(erasure, "received")]), "isoformat", [])});
$.cm($.ga(erasure, "notices"), "follow", [], {"edited": $.ga(erasure, "edited"), "received": $.ga(erasure, "received"), "issued": when});
blocks = $.dict((function* ($first) { for (const $v3 of $.each($first)) { let block, facts; {const $v4 = $.unpack($v3, 2, -1);block = $v4[0];facts = $v4[1];} yield [block, $.dict((function* ($first) { for (const $v5 of $.each($first)) { let fact, name; {const $v6 = $.unpack($v5, 2, -1);name = $v6[0];fact = $v6[1];} yield [name, case_to_json([$.b.getattr([erasure, fact])])]; } })($.cm(facts, "items", [])))]; } })($.cm(_facts_of([catalogue]), "items", [])));
$.si($.gi(blocks, "request"), "notices", $.cm($.ga(erasure, "notices"), "to_dict", []));
return $.dict([["format", FORMAT], ["identity", $.dict([["certificate_id", check_certificate_id([certificate_id])], ["software", SOFTWARE], ["version", check_version([made_by])], ["catalogue", check_catalogue([catalogue])], ["issued", when], ["controller", $.ga(erasure, "controller")]])], ...$.pairs(blocks)]);
});
_facts_of = $.fn("_facts_of", ["catalogue"], {}, function (catalogue) {
return $.dict((function* ($first) { for (const $v7 of $.each($first)) { let block, facts; {const $v8 = $.unpack($v7, 2, -1);block = $v8[0];facts = $v8[1];} yield [block, $.dict((function* ($first) { for (const $v9 of $.each($first)) { let fact, name; {const $v10 = $.unpack($v9, 2, -1);name = $v10[0];fact = $v10[1];} if (!$.t($.le($.cm(_SINCE, "get", [name, 1n]), catalogue))) continue; yield [name, fact]; } })($.cm(facts, "items", [])))]; } })($.cm(_FACTS, "items", [])));
});
check_catalogue = $.fn("check_catalogue", ["number"], {}, function (number) {
if ($.t($.lt(CATALOGUE, check_count(["catalogue", number])))) {
throw $.raised(InvalidParameter([("" + "must be at most " + $.formatted(CATALOGUE, "", "") + "; verify the certificate with the version that issued it")], {"catalogue": number}));
}
return $.b.int([number]);
});
erasure_of = $.fn("erasure_of", ["certificate"], {}, function (certificate) {
let facts, known, notices;
known = _facts_of([check_catalogue([$.gi($.gi(certificate, "identity"), "catalogue")])]);
facts = $.dict((function* ($first) { for (const $v11 of $.each($first)) { let block, facts; {const $v12 = $.unpack($v11, 2, -1);block = $v12[0];facts = $v12[1];} for (const $v13 of $.each($.cm(facts, "items", []))) { let fact, name; {const $v14 = $.unpack($v13, 2, -1);name = $v14[0];fact = $v14[1];} yield [fact, $.gi($.gi(certificate, block), name)]; }} })($.cm(known, "items", [])));
notices = Notices([], {...$.named($.gi($.gi(certificate, "request"), "notices"))});
return Erasure([], {...$.named(facts), "notices": notices, "controller": $.gi($.gi(certificate, "identity"), "controller")});
});
read_history = $.fn("read_history", ["certificate"], {}, function (certificate) {
let about, ledger, listed, public$, tallies;
public$ = $.gi(certificate, "public_facts");
if ($.t(!$.eq($.b.set([public$]), $.set(["plan", "ledger", "delta"])))) {
throw $.raised(InvalidParameter(["public_facts are plan, ledger and delta"]));
}
{const $v15 = [$.gi(public$, "ledger"), $.gi($.gi(certificate, "action"), "release")];ledger = $v15[0];about = $v15[1];}
if ((!$.t($.b.isinstance([ledger, $.b.list])) || $.t($.lt(MOST_TALLIES, $.b.len([ledger]))))) {
throw $.raised(InvalidParameter([("" + "the ledger must be a list of at most " + $.formatted(MOST_TALLIES, "", ""))]));
}
listed = [...(function* ($first) { for (const $v16 of $.each($first)) { let fields; fields = $v16; yield $.cm(Tally, "from_dict", [fields]); } })(ledger)];
tallies = TallyAccount([listed, ($.t($.is(about, null)) ? null : check_count(["release", about]))]);
return $.tuple([plan_from_dict([$.gi(public$, "plan")]), tallies, check_delta(["delta", $.gi(public$, "delta")])]);
});
return {FORMAT, SOFTWARE, BLOCKS, _REQUEST, _EVIDENCE, _FACTS, _SINCE, check_facts, facts_to_json, _facts_of, check_catalogue, erasure_of, read_history, Erasure, Notices, check_delta, plan_from_dict, check_count, TallyAccount, Tally, MOST_TALLIES, InvalidParameter, CATALOGUE, check_released, check_version, check_certificate_id, case_to_json, local_day, check_chronological, parse_datetime, __version__};
})();
$.modules["evidence.verification"] = (() => {
let SAME, MOST_CLAIMS, verify_certificate, _with_whole_numbers, read_claims, _check_facts, find_over_budget, _check_claims, claims_fault, _missing_part, _is_known_claim, _has_type, covers_claim, _is_at_least, _named_format, _check_format, _check_signature, _check_model;
const math = $.libraries["math"];
const Mapping = $.libraries["collections.abc"]["Mapping"];
const is_within_budget = $.modules["accountant.events"]["is_within_budget"];
const NoisyGDDeleteError = $.modules["errors"]["NoisyGDDeleteError"];
const success_per_hundred = $.modules["privacy.sentences"]["success_per_hundred"];
const limited_io = $.libraries["records.limited_io"];
const parse_day = $.modules["register.case"]["parse_day"];
const BLOCKS = $.modules["evidence.certificate"]["BLOCKS"];
const FORMAT = $.modules["evidence.certificate"]["FORMAT"];
const check_catalogue = $.modules["evidence.certificate"]["check_catalogue"];
const check_facts = $.modules["evidence.certificate"]["check_facts"];
const erasure_of = $.modules["evidence.certificate"]["erasure_of"];
const facts_to_json = $.modules["evidence.certificate"]["facts_to_json"];
const read_history = $.modules["evidence.certificate"]["read_history"];
const LAST_DIGITS = $.modules["evidence.checks"]["LAST_DIGITS"];
const REFUSALS = $.modules["evidence.checks"]["REFUSALS"];
const Check = $.modules["evidence.checks"]["Check"];
const Verification = $.modules["evidence.checks"]["Verification"];
const at_least = $.modules["evidence.checks"]["at_least"];
const first_difference = $.modules["evidence.checks"]["first_difference"];
const shorten_error = $.modules["evidence.checks"]["shorten_error"];
const with_whole_numbers = $.modules["evidence.checks"]["with_whole_numbers"];
const KEYS = $.modules["evidence.claims"]["KEYS"];
const Claim = $.modules["evidence.claims"]["Claim"];
const of_history = $.modules["evidence.claims"]["of_history"];
const select_owed = $.modules["evidence.claims"]["select_owed"];
const claims_of = $.modules["evidence.derivation"]["claims_of"];
const key_id = $.modules["evidence.signing"]["key_id"];
const read_public = $.modules["evidence.signing"]["read_public"];
const signed_by = $.modules["evidence.signing"]["signed_by"];
SAME = 1e-09;
MOST_CLAIMS = 20000n;
verify_certificate = $.fn("verify_certificate", ["certificate", "*", "public_key", "model"], {"public_key": null, "model": null}, function (certificate, public_key, model) {
let checks;
certificate = _with_whole_numbers([certificate]);
checks = [_check_format([certificate]), _check_signature([certificate, public_key])];
if (!$.t($.ga($.gi(checks, 0n), "passed"))) {
return Verification([$.b.tuple([checks])]);
}
checks = $.iadd(checks, [_check_facts([certificate]), _check_claims([certificate])]);
if ($.t(!$.is(model, null))) {
$.cm(checks, "append", [_check_model([certificate, model])]);
}
return Verification([$.b.tuple([checks])]);
});
_with_whole_numbers = $.fn("_with_whole_numbers", ["certificate"], {}, function (certificate) {
try {
return with_whole_numbers([certificate]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, $.b.RecursionError)) {
return certificate;
} else throw $caught;
}
return null;
});
read_claims = $.fn("read_claims", ["certificate"], {}, function (certificate) {
let conditions, found, given, values;
found = [];
for (const $v1 of $.each($.gi(certificate, "claims"))) {
given = $v1;
if ($.t(!$.eq($.b.set([given]), $.set(["key", "values", "conditions"])))) {
throw $.raised($.b.ValueError(["a claim has key, values and conditions"]));
}
{const $v2 = [$.gi(given, "values"), $.gi(given, "conditions")];values = $v2[0];conditions = $v2[1];}
if ((!$.t($.b.isinstance([values, Mapping])) || !$.t($.b.isinstance([conditions, $.b.list])))) {
throw $.raised($.b.ValueError(["values of a claim are an object, conditions a list"]));
}
$.cm(found, "append", [Claim([$.gi(given, "key"), $.b.dict([values]), $.b.tuple([conditions])])]);
}
return found;
});
_check_facts = $.fn("_check_facts", ["certificate"], {}, function (certificate) {
let _, again, erasure, error, found, history, identity, name, over, plan;
try {
{const $v3 = [$.gi(certificate, "identity"), erasure_of([certificate])];identity = $v3[0];erasure = $v3[1];}
again = facts_to_json([erasure], {"certificate_id": $.gi(identity, "certificate_id"), "issued": $.gi(identity, "issued"), "made_by": $.gi(identity, "version"), "catalogue": $.gi(identity, "catalogue")});
for (const $v4 of $.each(again)) {
name = $v4;
found = first_difference([$.gi(certificate, name), $.gi(again, name), ("" + $.formatted(name, "", "") + ".")]);
if ($.t(!$.is(found, null))) {
return Check(["facts", false, ("" + $.formatted(found, "", "") + " is not as this program writes it")]);
}
}
{const $v5 = $.unpack(read_history([certificate]), 3, -1);plan = $v5[0];history = $v5[1];_ = $v5[2];}
check_facts([erasure, plan, history]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, REFUSALS)) {error = $caught;
return Check(["facts", false, ("" + "out of their range: " + $.formatted(shorten_error([error]), "", ""))]);
} else throw $caught;
}
over = find_over_budget([plan]);
if ($.t(!$.is(over, null))) {
return Check(["facts", false, ("" + "the plan does not meet its own budget: " + $.formatted(over, "", ""))]);
}
return Check(["facts", true, "in their ranges; the operator's word, but that the plan meets its budget"]);
});
find_over_budget = $.fn("find_over_budget", ["plan"], {}, function (plan) {
let name, promise;
for (const $v6 of $.each($.tuple([$.tuple(["a record that is still there", $.ga(plan, "dp")]), $.tuple(["a deleted record", $.ga(plan, "deletion")])]))) {
{const $v7 = $.unpack($v6, 2, -1);name = $v7[0];promise = $v7[1];}
if (!$.t(is_within_budget([promise, plan]))) {
return name;
}
}
return null;
});
_check_claims = $.fn("_check_claims", ["certificate"], {}, function (certificate) {
let catalogue, delta, error, fault, history, plan, proven, said;
try {
{const $v8 = [read_claims([certificate]), check_catalogue([$.gi($.gi(certificate, "identity"), "catalogue")])];said = $v8[0];catalogue = $v8[1];}
{const $v9 = $.unpack(read_history([certificate]), 3, -1);plan = $v9[0];history = $v9[1];delta = $v9[2];}
proven = claims_of([erasure_of([certificate]), plan, history, delta]);
fault = claims_fault([said, select_owed([proven, catalogue]), catalogue]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, REFUSALS)) {error = $caught;
return Check(["claims", false, ("" + "cannot be compared: " + $.formatted(shorten_error([error]), "", ""))]);
} else throw $caught;
}
if ($.t(!$.is(fault, null))) {
return Check(["claims", false, fault]);
}
return Check(["claims", true, ("" + $.formatted($.b.len([said]), "", "") + " claims of catalogue " + $.formatted(catalogue, "", "") + ", each at least what the facts prove")]);
});
claims_fault = $.fn("claims_fault", ["said", "proven", "catalogue"], {}, function (said, proven, catalogue) {
let claim, due, key, left, like, others, place;
for (const $v10 of $.each(said)) {
claim = $v10;
if ((!$.t(_is_known_claim([claim])) || $.t($.lt(catalogue, $.b.max([(function* ($first) { for (const $v11 of $.each($first)) { let name; name = $v11; yield $.ga($.gi(KEYS, name), "since"); } })($.tuple([$.ga(claim, "key"), ...$.each($.ga(claim, "conditions"))]))]))))) {
return ("" + $.formatted($.slice($.b.str([$.ga(claim, "key")]), null, 60n, null), "r", "") + " with these values and conditions is no claim of catalogue " + $.formatted(catalogue, "", ""));
}
}
left = $.dict([]);
for (const $v12 of $.each(said)) {
claim = $v12;
$.cm($.cm(left, "setdefault", [$.ga(claim, "key"), []]), "append", [claim]);
}
for (const $v13 of $.each(proven)) {
due = $v13;
like = $.cm(left, "get", [$.ga(due, "key"), []]);
place = $.b.next([(function* ($first) { for (const $v14 of $.each($first)) { let claim, i; {const $v15 = $.unpack($v14, 2, -1);i = $v15[0];claim = $v15[1];} if (!$.t(covers_claim([claim, due]))) continue; yield i; } })($.b.enumerate([like])), null]);
if ($.t($.is(place, null))) {
return ("" + $.formatted($.ga(due, "key"), "", "") + ": " + $.formatted(($.t(like) ? _missing_part([$.gi(like, 0n), due]) : "it is not stated"), "", ""));
}
$.cm(like, "pop", [place]);
}
for (const $v16 of $.each($.cm(left, "items", []))) {
{const $v17 = $.unpack($v16, 2, -1);key = $v17[0];others = $v17[1];}
if (($.t(others) && !$.t(of_history([key])))) {
return ("" + $.formatted(key, "", "") + ": nothing in the facts shows it");
}
}
return null;
});
_missing_part = $.fn("_missing_part", ["claim", "due"], {}, function (claim, due) {
let name, unit;
for (const $v18 of $.each($.cm($.ga($.gi(KEYS, $.ga(due, "key")), "values"), "items", []))) {
{const $v19 = $.unpack($v18, 2, -1);name = $v19[0];unit = $v19[1];}
if (!$.t(_is_at_least([unit, $.cm($.ga(claim, "values"), "get", [name]), $.gi($.ga(due, "values"), name), $.ga(due, "values")]))) {
return $.slice(("" + $.formatted(name, "", "") + " is stated as " + $.formatted($.cm($.ga(claim, "values"), "get", [name]), "r", "") + ", where " + $.formatted($.gi($.ga(due, "values"), name), "r", "") + " can be proven"), null, 200n, null);
}
}
return ("" + "it needs the conditions " + $.formatted($.cm(", ", "join", [$.ga(due, "conditions")]), "", ""));
});
_is_known_claim = $.fn("_is_known_claim", ["claim"], {}, function (claim) {
let conditions, key;
key = ($.t($.b.isinstance([$.ga(claim, "key"), $.b.str])) ? $.cm(KEYS, "get", [$.ga(claim, "key")]) : null);
if (($.t($.is(key, null)) || $.t(!$.eq($.b.set([$.ga(claim, "values")]), $.b.set([$.ga(key, "values")]))) || $.t(!$.eq($.b.len([$.b.set([$.ga(claim, "conditions")])]), $.b.len([$.ga(claim, "conditions")]))))) {
return false;
}
conditions = $.b.all([(function* ($first) { for (const $v20 of $.each($first)) { let name; name = $v20; yield $.both($.has(KEYS, name), () => $.both($.eq($.ga($.gi(KEYS, name), "role"), "condition"), () => !$.t($.ga($.gi(KEYS, name), "values")))); } })($.ga(claim, "conditions"))]);
return $.both(conditions, () => $.b.all([(function* ($first) { for (const $v21 of $.each($first)) { let name, unit; {const $v22 = $.unpack($v21, 2, -1);name = $v22[0];unit = $v22[1];} yield _has_type([unit, $.gi($.ga(claim, "values"), name)]); } })($.cm($.ga(key, "values"), "items", []))]));
});
_has_type = $.fn("_has_type", ["unit", "value"], {}, function (unit, value) {
if ($.t($.has($.tuple(["bound", "number"]), unit))) {
return $.either($.is(value, null), () => $.both($.has($.tuple([$.b.int, $.b.float]), $.b.type([value])), () => $.both((($v23, $v24, $v25) => $.le($v23, $v24) && $.lt($v24, $v25))(0n, value, $.libraries["math"].inf), () => !$.eq($.gi($.b.str([value]), 0n), "-"))));
}
if ($.t($.has($.tuple(["count", "odds"]), unit))) {
return $.both($.is($.b.type([value]), $.b.int), () => (($v26, $v27, $v28) => $.le($v26, $v27) && $.lt($v27, $v28))(0n, value, $.pow(2n, 53n)));
}
if ($.t($.eq(unit, "list"))) {
return $.both($.b.isinstance([value, $.b.list]), () => $.b.all([(function* ($first) { for (const $v29 of $.each($first)) { let one; one = $v29; yield $.b.isinstance([one, $.b.str]); } })(value)]));
}
if (!$.t($.b.isinstance([value, $.b.str]))) {
return false;
}
return $.either(!$.eq(unit, "day"), () => $.eq($.cm(parse_day(["day", value]), "isoformat", []), value));
});
covers_claim = $.fn("covers_claim", ["claim", "due"], {}, function (claim, due) {
return $.both($.eq($.ga(claim, "key"), $.ga(due, "key")), () => $.both($.le($.b.set([$.ga(due, "conditions")]), $.b.set([$.ga(claim, "conditions")])), () => $.b.all([(function* ($first) { for (const $v30 of $.each($first)) { let name, unit; {const $v31 = $.unpack($v30, 2, -1);name = $v31[0];unit = $v31[1];} yield _is_at_least([unit, $.gi($.ga(claim, "values"), name), $.gi($.ga(due, "values"), name), $.ga(due, "values")]); } })($.cm($.ga($.gi(KEYS, $.ga(due, "key")), "values"), "items", []))])));
});
_is_at_least = $.fn("_is_at_least", ["unit", "said", "proven", "values"], {}, function (unit, said, proven, values) {
if ($.t($.eq(unit, "odds"))) {
return $.b.bool([(($v32, $v33, $v34) => $.le($v33, $v32) && $.le($v34, $v33))(100n, said, success_per_hundred([$.mul($.gi(values, "advantage"), $.sub(1n, LAST_DIGITS))]))]);
}
if ($.t($.eq(unit, "bound"))) {
return at_least([said, proven]);
}
if (($.t($.eq(unit, "number")) && $.t(!$.is(said, null)) && $.t(!$.is(proven, null)))) {
return $.libraries["math"].isclose([said, proven], {"rel_tol": SAME, "abs_tol": 0.0});
}
return $.both($.is($.b.type([said]), $.b.type([proven])), () => $.b.bool([$.eq(said, proven)]));
});
_named_format = $.fn("_named_format", ["certificate"], {}, function (certificate) {
let found;
found = ($.t($.b.isinstance([certificate, Mapping])) ? $.cm(certificate, "get", ["format"]) : null);
return ($.t($.b.isinstance([found, $.b.str])) ? found : "");
});
_check_format = $.fn("_check_format", ["certificate"], {}, function (certificate) {
let kind, missing, name, named;
named = _named_format([certificate]);
if ($.t(!$.eq(named, FORMAT))) {
return Check(["format", false, ("" + $.formatted(shorten_error([$.b.ValueError([$.b.repr([named])])]), "", "") + " is not " + $.formatted(FORMAT, "r", "") + "; verify it with the version that issued it")]);
}
missing = [...(function* ($first) { for (const $v35 of $.each($first)) { let name; name = $v35; if (!($.t(!$.has(certificate, name)) && $.t(!$.eq(name, "signature")))) continue; yield name; } })(BLOCKS)];
if (($.t(missing) || !$.t($.le($.b.set([certificate]), $.b.set([BLOCKS]))))) {
return Check(["format", false, ("" + "missing or unknown blocks; there must be " + $.formatted($.cm(", ", "join", [BLOCKS]), "", ""))]);
}
for (const $v36 of $.each($.slice(BLOCKS, 1n, null, null))) {
name = $v36;
kind = ($.t($.eq(name, "claims")) ? $.b.list : Mapping);
if (($.t($.has(certificate, name)) && !$.t($.b.isinstance([$.gi(certificate, name), kind])))) {
return Check(["format", false, "a block of it is of another kind than it must be"]);
}
}
if ($.t($.lt(MOST_CLAIMS, $.b.len([$.gi(certificate, "claims")])))) {
return Check(["format", false, ("" + "a certificate has at most " + $.formatted(MOST_CLAIMS, "", "") + " claims")]);
}
return Check(["format", true, named]);
});
_check_signature = $.fn("_check_signature", ["certificate", "public_key"], {}, function (certificate, public_key) {
let expected, signer;
signer = ($.t($.b.isinstance([certificate, Mapping])) ? signed_by([$.b.dict([certificate])]) : null);
if ($.t($.is(signer, null))) {
return Check(["signature", false, "unsigned, or altered after signing"]);
}
if ($.t($.is(public_key, null))) {
return Check(["signature", true, ("" + "unaltered since key " + $.formatted(key_id([signer]), "", "") + " signed it; compare with the controller's key id")]);
}
expected = key_id([read_public([public_key])]);
if ($.t(!$.eq(key_id([signer]), expected))) {
return Check(["signature", false, ("" + "signed by key " + $.formatted(key_id([signer]), "", "") + ", not by the expected " + $.formatted(expected, "", ""))]);
}
return Check(["signature", true, ("" + "signed by the expected key " + $.formatted(expected, "", ""))]);
});
_check_model = $.fn("_check_model", ["certificate", "model"], {}, function (certificate, model) {
let digest, error, stated;
try {
digest = $.libraries["records.limited_io"].file_digest([model]);
} catch ($error) { const $caught = $.thrown($error);
if ($.caught($caught, NoisyGDDeleteError)) {error = $caught;
return Check(["model", false, shorten_error([error])]);
} else throw $caught;
}
stated = $.cm($.gi(certificate, "action"), "get", ["model_after_sha256"]);
if ($.t($.eq(digest, stated))) {
return Check(["model", true, ("" + "its SHA-256 is " + $.formatted(digest, "", ""))]);
}
return Check(["model", false, ("" + "its SHA-256 is " + $.formatted(digest, "", "") + ", which is not the one stated")]);
});
return {SAME, MOST_CLAIMS, verify_certificate, _with_whole_numbers, read_claims, _check_facts, find_over_budget, _check_claims, claims_fault, _missing_part, _is_known_claim, _has_type, covers_claim, _is_at_least, _named_format, _check_format, _check_signature, _check_model, Verification, Check, shorten_error, NoisyGDDeleteError, REFUSALS, select_owed, erasure_of, claims_of, read_history, check_catalogue, check_facts, first_difference, facts_to_json, key_id, read_public, signed_by, Mapping, BLOCKS, FORMAT, with_whole_numbers, of_history, Claim, KEYS, is_within_budget, at_least, LAST_DIGITS, success_per_hundred, parse_day};
})();
// One certificate, checked by the translated verifier. Signatures are the browser's to check, and it answers later.

$.check = async (text, publicKey = null) => {
  const {verify_certificate} = $.modules["evidence.verification"], {is_envelope, open_envelope} = $.modules["evidence.signing"];
  const {with_whole_numbers} = $.modules["evidence.checks"];
  for (;;) {
    try {
      let document = with_whole_numbers([$.parsed(text)]), checks = [];
      const named = publicKey === null ? {} : {public_key: publicKey};
      if (is_envelope([document])) {
        const [certificate, check] = open_envelope([document], named);
        document = certificate;
        checks = [check];
      }
      const answer = verify_certificate([document], named);
      checks = [...checks, ...$.ga(answer, "checks")].map((check) => ({name: check.name, passed: check.passed, detail: check.detail}));
      return {passed: checks.every((check) => check.passed), checks, document};
    } catch (error) {
      if (error instanceof $.Question) { await $.answer(error.parts); continue; }
      const known = $.thrown(error);
      if (!$.caught(known, $.b.ValueError)) throw error;
      return {passed: false, checks: [{name: "file", passed: false, detail: $.str(known)}], document: null};
    }
  }
};
$.answer = async ({name, raw, signature, data}) => {
  let key;
  try {
    key = await crypto.subtle.importKey("raw", raw, {name: "Ed25519"}, false, ["verify"]);
  } catch (error) {
    if (error.name !== "NotSupportedError" && globalThis.crypto?.subtle) { $.answers.set(name, false); return; }  // not a point of the curve
    throw new $.Unchecked("this browser cannot check Ed25519 signatures");
  }
  $.answers.set(name, await crypto.subtle.verify({name: "Ed25519"}, key, signature, data));
};
$.Unchecked = class Unchecked extends Error {};

$.style = ":root { color-scheme: light dark; --paper: #fff; --ink: #1d2430; --soft: #5b6575; --line: #d9dee6; --accent: #1f5f8b; --wash: #f4f6f9; --bad: #b01c1c; --bad-wash: #fbeeee; }\n@media screen and (prefers-color-scheme: dark) {\n  :root { --paper: #14181f; --ink: #e3e8ef; --soft: #a3adbb; --line: #343c48; --accent: #6fb1de; --wash: #1d232c; --bad: #ff8b80; --bad-wash: #331d1d; }\n  figure svg { background: #fff; }\n}\n* { box-sizing: border-box; }\nbody { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, \"Segoe UI\", Helvetica, Arial, sans-serif; }\nmain { max-width: 54rem; margin: 0 auto; padding: 2rem 1.5rem 3rem; }\nh1 { font-size: 1.6rem; margin: 0 0 .2rem; }\nh2 { font-size: 1.05rem; margin: 1.8rem 0 .5rem; padding-bottom: .2rem; border-bottom: 1px solid var(--line); }\np.lead { color: var(--soft); margin: 0 0 1rem; }\np.lead span { display: block; overflow-wrap: anywhere; }\n.annex { margin-top: 3rem; border-bottom-width: 3px; }\ntable { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }\nth, td { text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }\nth { font-weight: 600; }\ntd.n, th.n { text-align: right; padding: .3rem .2rem .3rem 1rem; white-space: nowrap; }\nth.n { white-space: normal; }\nth .form { white-space: nowrap; }\ntd.n + td, th.n + th { padding-left: 1rem; }\ntd small { color: var(--soft); }\ntable.facts th { width: 15rem; color: var(--soft); font-weight: 400; }\ncode { font: .85em/1.4 ui-monospace, \"DejaVu Sans Mono\", Consolas, monospace; overflow-wrap: anywhere; }\n.box { background: var(--wash); border-left: 4px solid var(--accent); padding: .6rem 1rem; margin: .6rem 0; }\n.box p { margin: .35rem 0; }\n.warning { border-left-color: #b4540a; }\n.check.unchecked { border-left-color: #8a8f98; }\n.check.half { border-left-color: #b4870a; }\n.check.wrong { border-left-color: var(--bad); background: var(--bad-wash); }\n.check #state { font-weight: 600; }\n.check ul { list-style: none; padding: 0; overflow-wrap: anywhere; }\n.check .failed { color: var(--bad); font-weight: 600; }\n.check textarea { width: 100%; font: .85rem ui-monospace, \"DejaVu Sans Mono\", Consolas, monospace; }\n.check input { max-width: 100%; }\nul { margin: .3rem 0; padding-left: 1.2rem; }\n.stated { list-style: none; border-left: 4px dotted var(--soft); padding: .3rem 1rem; color: var(--soft); }\nfigure { margin: 1rem 0; }\nfigure svg { width: 100%; max-width: 38rem; height: auto; }\nfigcaption { color: var(--soft); font-size: .9rem; }\n.broad { max-width: 72rem; }\n.requests { font-size: .9rem; }\n.requests td { padding-right: 1rem; overflow-wrap: break-word; hyphens: auto; }\n.requests p { margin: 0; padding-left: .7em; text-indent: -.7em; }\n.requests tr.urgent td:first-child { border-left: 4px solid #b4540a; padding-left: .6rem; }\n.late { color: #9a4608; font-weight: 600; }\n.pages { color: var(--soft); }\n.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1.2rem; }\nfooter { margin-top: 2rem; color: var(--soft); font-size: .85rem; }\n.wide { overflow-x: auto; }\n.heading { margin-bottom: .2rem; }\n.letter { max-width: 40rem; }\n.letter p { margin: .8rem 0; }\n@media (min-width: 44rem) {\n  .requests td { width: 20%; }\n  .requests td:first-child { width: 19%; }\n  .broad .requests td:nth-child(2) { width: 25%; }\n}\n@media screen and (min-width: 76rem) { main:not(.broad) .five { margin: 0 -9rem; } }\n@media (max-width: 44rem) {\n  .pair { grid-template-columns: 1fr; }\n  main { padding: 1rem .9rem 2rem; }\n  table.facts, table.facts tbody, table.facts tr, table.facts th, table.facts td { display: block; width: 100%; }\n  table.facts th { border: 0; padding-bottom: 0; }\n  td, th { overflow-wrap: anywhere; }\n  table.stack, table.stack tbody, table.stack tr, table.stack td { display: block; width: 100%; }\n  table.stack thead { display: none; }\n  table.stack tr { border-bottom: 1px solid var(--line); padding: .4rem 0; }\n  table.stack td, table.stack td.n { display: flex; gap: .8rem; justify-content: space-between; text-align: right; border: 0; padding: .1rem 0; white-space: normal; }\n  table.requests td { width: 100%; padding: .15rem 0; }\n  table.requests td::before { flex: 0 0 6.5rem; }\n  table.requests td > div { flex: 1; text-align: left; }\n  table.requests tr.urgent { border-left: 4px solid #b4540a; padding-left: .6rem; }\n  table.requests tr.urgent td:first-child { border: 0; padding-left: 0; }\n  table.stack td.what { display: block; text-align: left; }\n  table.stack td::before { content: attr(data-label); color: var(--soft); text-align: left; }\n  .wide { font-size: .8rem; }\n  .wide:has(.stack) { font-size: .95rem; }\n  .wide td, .wide th { overflow-wrap: normal; padding-right: .4rem; padding-left: .2rem; }\n}\n@media print {\n  @page { size: A4; margin: 16mm; }\n  @page across { size: A4 landscape; }\n  .broad { page: across; }\n  .wide { overflow: visible; }\n  body { font-size: 10.5pt; }\n  main { max-width: none; padding: 0; }\n  h2, .heading { break-after: avoid; }\n  h2 + *, .heading + * { break-before: avoid; }\n  .together { break-inside: avoid; }\n  thead { display: table-header-group; }\n  p { orphans: 3; widows: 3; }\n  tr, figure, .box p, li { break-inside: avoid; }\n  thead + tbody tr:nth-child(-n+2), tr:has(+ tr:last-child) { break-after: avoid; }\n  .together tbody tr:nth-child(n):nth-child(n) { break-after: auto; }\n  figure svg { max-width: 25rem; }\n  footer { break-before: avoid; }\n  .requests { font-size: 8.5pt; line-height: 1.35; }\n  .pages a { display: none; }\n  #tools { display: none; }\n}\n.check.right { border-left-color: #1d7a3d; background: #eef8f1; }\n@media screen and (prefers-color-scheme: dark) { .check.right { background: #18291d; } }\n";
// The page of a certificate: the check's state, the sentences of the checked file, and the controls.
//
// A named element (`<form name="body">`) shadows a property of its document. So the file and the language are read through prototypes, the
// whole document is replaced by a new tree, and that tree is reached through the references below, never by a name. Of the former document
// nothing but the text of the file is shown.

$.script = (() => {  // the text of this script, whose digest the page states
  const running = Object.getOwnPropertyDescriptor(Document.prototype, "currentScript").get.call(document);
  return running === null ? null : Object.getOwnPropertyDescriptor(Node.prototype, "textContent").get.call(running);
})();
$.page = () => {
  const find = (selector) => Document.prototype.querySelector.call(document, selector);
  const held = find("#signed"), root = find(":root");
  const given = held === null ? "" : Object.getOwnPropertyDescriptor(Node.prototype, "textContent").get.call(held);
  const asked = Element.prototype.getAttribute.call(root, "lang");
  const code = asked !== null && Object.hasOwn($.catalogues.labels, asked) ? asked : "en";
  const words = JSON.parse($.catalogues.labels[code]), said = (name) => words[`check.${name}`];
  const digest = $.script === null ? "–" : `sha256-${btoa(String.fromCharCode(...$.sha256(new TextEncoder().encode($.script))))}`;
  const own = given.trim() ? given : null;
  let text = own;
  const element = (name, kind, ...inner) => {
    const made = Document.prototype.createElement.call(document, name);
    if (kind) made.className = kind;
    made.append(...inner);
    return made;
  };
  const coded = (parts) => parts.map((part, place) => place % 2 ? element("code", "", part) : part);
  const cells = (row, head) => row.map((cell, place) => {
    const made = element("td", place ? "n" : "what", cell);
    if (place) made.dataset.label = head[place];
    return made;
  });
  const drawn = (block) => {
    const get = (name) => $.gi(block, name), lines = (name, kind) => get("lines").map((line) => element(name, kind, ...coded(line)));
    switch (get("kind")) {
      case "title": return [element("h1", "", get("text"))];
      case "heading": return [element("h2", "", get("text"))];
      case "annex": return [element("h2", "annex", get("text"))];
      case "lead": return [element("p", "lead", ...lines("span", ""))];
      case "box": return [element("div", "box", ...lines("p", ""))];
      case "warning": return [element("div", "box warning", ...lines("p", ""))];
      case "stated": return [element("ul", "stated", ...lines("li", ""))];
      case "list": return [element("ul", "", ...lines("li", ""))];
      case "text": return lines("p", "");
      case "facts": return [element("table", "facts", element("tbody", "", ...get("rows").map(([name, value]) => element("tr", "", element("th", "", name), element("td", "", ...coded(value))))))];
      case "table": {
        const head = element("thead", "", element("tr", "", ...get("head").map((name, place) => element("th", place ? "n" : "", name))));
        const body = element("tbody", "", ...get("rows").map((row) => element("tr", "", ...cells(row, get("head")))));
        return [element("section", "together", element("p", "heading", get("text")), element("div", "wide", element("table", "stack", head, body)))];
      }
      case "footer": return [element("footer", "", get("text"))];
    }
    throw new Error(get("kind"));
  };
  const title = element("title"), article = element("article"), state = element("p"), failures = element("ul");
  const paper = (found) => {  // the sentences of a file
    const blocks = $.modules["reports.certificate_page"].certificate_blocks([found, code]);
    article.replaceChildren(...blocks.flatMap(drawn));
    title.textContent = `${$.gi(blocks[0], "text")} ${$.gi($.gi(found, "identity"), "certificate_id")}`;
  };
  const hide = () => { article.replaceChildren(element("p", "", said("hidden"))); title.textContent = said("title"); };
  const show = (kind, sentence, checks = []) => {
    box.className = `box check ${kind}`;
    state.textContent = sentence;
    failures.replaceChildren(...checks.filter(({passed}) => !passed).map(({name, detail}) => element("li", "failed", `${name}: ${detail}`)));
  };
  const label = (field, name) => { const made = element("label", "", said(name)); made.htmlFor = field.id; return made; };
  const input = (id, accept) => Object.assign(element("input"), {id, type: "file", accept});
  const key = Object.assign(element("textarea"), {id: "key", rows: 2, spellcheck: false, autocomplete: "off"});
  const keyfile = input("keyfile", ".pub,.pem"), other = input("other", ".json");
  const save = Object.assign(element("button", "", said("save")), {id: "save", type: "button", hidden: own === null});
  state.setAttribute("role", "status");
  const tools = element("div", "", element("p", "", label(key, "ask"), element("br"), key), element("p", "", label(keyfile, "ask_file"), " ", keyfile),
    element("p", "", label(other, "ask_other"), " ", other), element("p", "", save));
  const box = element("section", "box check unchecked", state, failures, tools,
    element("p", "", element("small", "", said("trust"), " ", said("script"), " ", element("code", "", digest))));
  for (const [id, made] of Object.entries({check: box, state, checks: failures, tools, paper: article})) made.id = id;
  const page = element("html", "", element("head", "", title), element("body", "", element("main", "", box, article)));
  page.lang = code;
  Document.prototype.replaceChildren.call(document);  // and what is beside the root: `<?xml-stylesheet?>`
  Node.prototype.appendChild.call(document, page);
  new MutationObserver((found) => found.flatMap((one) => [...one.addedNodes]).forEach((node) => node.remove())).observe(document, {childList: true});
  window.navigation?.addEventListener("navigate", (event) => { if (event.downloadRequest === null) event.preventDefault(); });  // a refresh of the former document
  const style = new CSSStyleSheet();
  style.replaceSync($.style);
  document.adoptedStyleSheets = [style];
  hide();
  if (window.top !== window) return show("unchecked", said("framed"));  // the page around it could say anything of what stands here
  let latest = 0;
  const run = async () => {
    const mine = ++latest, given = key.value.trim(), pem = given.includes("BEGIN PUBLIC KEY");
    hide();
    if (text === null) return show("unchecked", said("none"));
    show("unchecked", said("busy"));
    await new Promise((then) => setTimeout(then, 30));  // the words above are seen first
    let answer;
    try {
      answer = await $.check(text, pem ? given : null);
      if (mine === latest && answer.passed) paper(answer.document);
    } catch (error) {
      if (mine !== latest) return;
      const unsupported = error instanceof $.Unchecked;
      hide();
      try { if (unsupported) paper($.parsed(text)); } catch { hide(); }  // it can still be read
      return show("unchecked", `${said(unsupported ? "no_signature" : "broken")} (${error.message})`);
    }
    if (mine !== latest) return;
    const {checks, document: found} = answer;
    if (!answer.passed) { hide(); return show("wrong", said("wrong"), checks); }
    const signer = $.gi($.gi(found, "signature"), "key_id"), short = given.toLowerCase().replace(/[\s:]/g, "");
    if (given && !pem && short !== signer) { hide(); return show("wrong", said("other_key"), [...checks, {name: said("key"), passed: false, detail: signer}]); }
    show(given ? "right" : "half", given ? said("right") : `${said("unknown_key")} ${signer}`, checks);
  };
  const fromFile = (field, then) => field.addEventListener("change", async () => {
    const [file] = field.files;
    if (!file) return;
    const wrong = (sentence) => { hide(); show("wrong", sentence); };
    latest += 1;
    hide();
    show("unchecked", said("busy"));
    if (file.size > 1 << 26) return wrong(said("too_long"));
    const raw = await file.arrayBuffer();
    try {
      then(new TextDecoder("utf-8", {fatal: true}).decode(raw));
    } catch {
      return wrong(said("not_text"));
    }
    run();
  });
  fromFile(keyfile, (found) => { key.value = found; });
  fromFile(other, (found) => { text = found; });
  key.addEventListener("input", run);
  save.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text ?? ""], {type: "application/json"}));
    link.download = "certificate.json";
    link.click();
  });
  run();
};
$.page();
