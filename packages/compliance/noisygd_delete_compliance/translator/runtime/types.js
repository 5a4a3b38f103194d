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
