import { type Band, programRows } from "./bands.ts";
import type { Lane, Level } from "./model.ts";

/** A range of time, in nanoseconds since the start of the window. */
export interface Range {
  fromNs: number;
  toNs: number;
}

/** A range inside the window, at least `minNs` long. */
export function clamped(range: Range, wallNs: number, minNs: number): Range {
  const lengthNs = Math.min(Math.max(range.toNs - range.fromNs, Math.min(minNs, wallNs)), wallNs);
  const middleNs = (range.fromNs + range.toNs) / 2;
  const fromNs = Math.min(Math.max(middleNs - lengthNs / 2, 0), wallNs - lengthNs);
  return { fromNs, toNs: fromNs + lengthNs };
}

/** Zoom by a factor around a moment that keeps its place. */
export function zoomed(range: Range, factor: number, aroundNs: number, wallNs: number, minNs: number): Range {
  const lengthNs = Math.min(Math.max((range.toNs - range.fromNs) * factor, minNs), wallNs);
  const share = (aroundNs - range.fromNs) / (range.toNs - range.fromNs);
  const fromNs = aroundNs - share * lengthNs;
  return clamped({ fromNs, toNs: fromNs + lengthNs }, wallNs, minNs);
}

/** The coarsest level whose cells are at most a pixel wide; else the finest. */
export function levelFor(levels: readonly Level[], range: Range, wallNs: number, pixels: number): number {
  const perPixel = (range.toNs - range.fromNs) / Math.max(1, pixels) / wallNs;
  const found = levels.findIndex((level) => 1 / level.columns <= perPixel);
  return found < 0 ? levels.length - 1 : found;
}

/** Whether cells of the finest level are wider than a pixel. */
export function isBeyond(levels: readonly Level[], range: Range, wallNs: number, pixels: number): boolean {
  const finest = levels[levels.length - 1];
  return !finest || wallNs / finest.columns > (range.toNs - range.fromNs) / Math.max(1, pixels);
}

export const MODES = ["tree", "packed", "path", "program"] as const;
export type Mode = (typeof MODES)[number];

const MAX_LABEL = 200;

/** A row of the timeline: lanes that do not overlap, in order of their births. */
export interface Row {
  name: string;
  depth: number;
  lanes: Int32Array;
  /** If its tasks overlap: it takes several rows, and shows how many they are. */
  band?: Band;
  /** If it has all tasks of a program, one after the other. */
  isGroup?: boolean;
}

/** `slots` is the number of rows of a band. */
export function rowsOf(lanes: readonly Lane[], mode: Mode, slots?: number): Row[] {
  if (mode === "packed") return packedRows(lanes);
  if (mode === "program") return programRows(lanes, slots);
  const listed = mode === "path" ? lanes.filter((lane) => lane.onPathNs > 0) : lanes;
  return listed.map((lane) => ({
    name: labelOf(lane),
    depth: mode === "tree" ? lane.depth : 0,
    lanes: Int32Array.of(lane.number),
  }));
}

export function nameOf(lane: Lane): string {
  if (lane.name) return lane.name;
  const program = lane.program.split("/").pop() || "unknown program";
  if (lane.tid < 0) return program;
  return lane.isThread ? `${program} ${lane.tid} (thread)` : `${program} ${lane.pid}`;
}

/** The id and the command line, as in the static picture. */
export function labelOf(lane: Lane): string {
  if (lane.isThread || lane.tid < 0) return nameOf(lane);
  const words = lane.words ?? withoutFolders(lane.argv || lane.program);
  return `${lane.pid} ${words.slice(0, MAX_LABEL) || "(program unknown)"}`;
}

function packedRows(lanes: readonly Lane[]): Row[] {
  const rows: number[][] = [];
  for (const lane of lanes) {
    rows[lane.row] ??= [];
    rows[lane.row].push(lane.number);
  }
  return rows.map((numbers) =>
    rowOf(lanes, numbers, numbers.length > 1 ? `${numbers.length} tasks` : labelOf(lanes[numbers[0]])),
  );
}

export function rowOf(lanes: readonly Lane[], numbers: number[], name: string): Row {
  numbers.sort((a, b) => lanes[a].birthNs - lanes[b].birthNs || a - b);
  return { name, depth: 0, lanes: Int32Array.from(numbers) };
}

/** The beginning of a command line, without the folders of its program: a narrow row shows what is left. */
export function withoutFolders(command: string): string {
  return command.replace(/^\S*\/(?=[^\s/])/, "").slice(0, MAX_LABEL);
}

/** The row of each lane, -1 if it has none. */
export function rowOfLane(rows: readonly Row[], lanes: number): Int32Array {
  const found = new Int32Array(lanes).fill(-1);
  // A task that has a row of its own is after its band.
  rows.forEach((row, at) => {
    if (!row.band?.slot) for (const lane of row.lanes) found[lane] = at;
  });
  return found;
}

/** The lane of a row at a moment, within a tolerance; -1 if there is none. */
export function laneAt(lanes: readonly Lane[], row: Row, atNs: number, toleranceNs: number): number {
  let [from, to] = [0, row.lanes.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (lanes[row.lanes[middle]].birthNs <= atNs + toleranceNs) from = middle + 1;
    else to = middle;
  }
  const at = from - 1;
  const lane = row.lanes[at];
  return lane !== undefined && atNs - toleranceNs <= lanes[lane].endNs ? lane : -1;
}

/** The lanes that contain all words, by program, arguments or id. */
export function searched(lanes: readonly Lane[], text: string): number[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const has = (lane: Lane) => {
    const whole = `${lane.program} ${lane.argv}`.toLowerCase();
    return words.every((word) => whole.includes(word) || String(lane.pid) === word || String(lane.tid) === word);
  };
  return lanes.filter(has).map((lane) => lane.number);
}

const UNITS: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** A duration of at least 0 as the report writes it. */
export function duration(ns: number): string {
  if (ns === 0) return "0 s";
  if (ns >= 600e9) return inMinutes(Math.round(ns / 1e9));
  const [unit, name] = UNITS.find(([size]) => ns >= size * 0.9995) ?? UNITS[3];
  const value = ns / unit;
  if (unit === 1e9) return `${value.toFixed(2)} s`;
  return `${value.toFixed(unit === 1 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${name}`;
}

function inMinutes(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}

export interface Link {
  range: Range | null;
  task: number | null;
  finding: number | null;
  mode: Mode | null;
}

/** The part of an address after `#`: `t=a..b&task=&f=&view=`, times in nanoseconds. */
export function linkOf(hash: string): Link {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  const times = /^(\d+)\.\.(\d+)$/.exec(values.get("t") ?? "");
  const number = (name: string) => (/^\d+$/.test(values.get(name) ?? "") ? Number(values.get(name)) : null);
  const mode = MODES.find((each) => each === values.get("view")) ?? null;
  const range =
    times && Number(times[1]) < Number(times[2]) ? { fromNs: Number(times[1]), toNs: Number(times[2]) } : null;
  return { range, task: number("task"), finding: number("f"), mode };
}

export function hashOf(link: Link): string {
  const parts: string[] = [];
  if (link.range) parts.push(`t=${Math.floor(link.range.fromNs)}..${Math.ceil(link.range.toNs)}`);
  if (link.task !== null) parts.push(`task=${link.task}`);
  if (link.finding !== null) parts.push(`f=${link.finding}`);
  if (link.mode) parts.push(`view=${link.mode}`);
  return `#${parts.join("&")}`;
}
