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
