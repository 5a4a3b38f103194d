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
