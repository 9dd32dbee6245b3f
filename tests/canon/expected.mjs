// Reads one JSON document per line and writes its canonical form, one per line, by means of ECMAScript: sort() orders by
// UTF-16 code units, JSON.stringify writes strings and numbers as RFC 8785 asks.
//
//   node expected.mjs numbers|documents INPUT OUTPUT
//
// Numbers also follow the rule for what a double cannot hold: BigInt decides whether the written value is exactly the
// printed one.
import { readFileSync, writeFileSync } from "node:fs";

const [mode, input, output] = process.argv.slice(2);

/// coefficient × 10^exponent
function decimal(text) {
  const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  return { coefficient: BigInt(sign + whole + fraction), exponent: BigInt(exponent) - BigInt(fraction.length) };
}

function sameValue(a, b) {
  if (a.coefficient === 0n || b.coefficient === 0n) return a.coefficient === b.coefficient;
  const [low, high] = a.exponent < b.exponent ? [a, b] : [b, a];
  const shift = high.exponent - low.exponent;
  if (shift > 5000n) return false; // No text here has so many digits.
  return low.coefficient === high.coefficient * 10n ** shift;
}

function exact({ coefficient, exponent }) {
  const sign = coefficient < 0n ? "-" : "";
  let digits = (coefficient < 0n ? -coefficient : coefficient).toString();
  exponent += BigInt(digits.length - 1);
  digits = digits.replace(/0+$/, "");
  const point = digits.length > 1 ? "." : "";
  return `${sign}${digits[0]}${point}${digits.slice(1)}e${exponent < 0n ? "" : "+"}${exponent}`;
}

function canonicalNumber(text) {
  const printed = JSON.stringify(JSON.parse(text));
  const written = decimal(text);
  return printed !== "null" && sameValue(decimal(printed), written) ? printed : exact(written);
}

function canonicalDocument(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalDocument).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalDocument(value[name])}`).join(",")}}`;
}

const canonical = { numbers: canonicalNumber, documents: (text) => canonicalDocument(JSON.parse(text)) }[mode];
const lines = readFileSync(input, "utf8").split("\n");
lines.pop(); // Behind the last line break.
writeFileSync(output, lines.map((line) => canonical(line) + "\n").join(""));
