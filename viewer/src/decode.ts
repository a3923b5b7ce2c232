import type { SectionMeta } from "./contract.ts";

/** Columns of numbers, by name without the prefix `d_`. */
export type Columns = Record<string, Float64Array>;

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const decoded = atob(text);
  const bytes = new Uint8Array(decoded.length);
  for (let at = 0; at < decoded.length; at++) bytes[at] = decoded.charCodeAt(at);
  return bytes;
}

export async function inflated(bytes: Uint8Array<ArrayBuffer>, size: number): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const raw = new Uint8Array(await new Response(stream).arrayBuffer());
  if (raw.length !== size) throw new Error(`a section has ${raw.length} bytes instead of ${size}`);
  return raw;
}

/** Variable-length integers, the lowest seven bits first. Values above 2^53 lose precision, as all times in scripts do. */
export class Reader {
  at = 0;
  constructor(readonly bytes: Uint8Array) {}

  number(): number {
    let value = 0;
    let unit = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error("a section ends too early");
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
      unit *= 128;
    }
  }
}

/** 0, 1, 2, 3 stand for 0, -1, 1, -2. */
export function signed(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

export function columnsOf(raw: Uint8Array, section: SectionMeta): Columns {
  const reader = new Reader(raw);
  const columns: Columns = {};
  for (const name of section.columns) {
    const values = new Float64Array(section.rows);
    const isStep = name.startsWith("d_");
    let last = 0;
    for (let row = 0; row < section.rows; row++) {
      const number = reader.number();
      last = isStep ? last + signed(number) : number;
      values[row] = last;
    }
    columns[isStep ? name.slice(2) : name] = values;
  }
  if (reader.at !== raw.length) throw new Error(`section ${section.name} has more than its columns`);
  return columns;
}

export function stringsOf(raw: Uint8Array, count: number): string[] {
  const reader = new Reader(raw);
  const decoder = new TextDecoder();
  const strings: string[] = [];
  for (let number = 0; number < count; number++) {
    const length = reader.number();
    strings.push(shown(decoder.decode(raw.subarray(reader.at, reader.at + length))));
    reader.at += length;
  }
  return strings;
}

/** Ranges of characters that are invisible or change the direction of text; those of `tracealyze/base/sanitize.py`. */
const HIDDEN: [number, number][] = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

/** A text with such characters as escapes: traces are hostile input. */
export function shown(text: string): string {
  let escaped = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const isHidden = HIDDEN.some(([first, last]) => first <= code && code <= last);
    escaped += isHidden ? escapeOf(code) : character;
  }
  return escaped;
}

function escapeOf(code: number): string {
  if (code < 0x100) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
