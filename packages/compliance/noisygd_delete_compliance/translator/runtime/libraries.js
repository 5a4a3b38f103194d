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
