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
