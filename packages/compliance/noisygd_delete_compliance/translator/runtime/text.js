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
