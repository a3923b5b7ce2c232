import { cellAt, exactAt, type Lane, type Model, NO_CELL } from "./model.ts";
import { labelOf, levelFor, nameOf, type Range, type Row, rowOf } from "./view.ts";

/** A group of tasks, or a lock, that takes several rows: how many tasks there are in each class, over time. */
export interface Band {
  /** The place of a row in its band, and the number of its rows. */
  slot: number;
  slots: number;
  /** The line below the name. */
  about: string;
  /** A lock has waiting tasks instead of living ones. */
  lock: number | null;
}

/** Tasks of a program that have a row each. More are a band. */
export const MAX_SINGLE = 3;
const SLOTS = 3;
/** Rows for the tasks of a band that the critical path needs, and their least share of the path. */
const MAX_NEEDED = 6;
const MIN_NEEDED_SHARE = 0.02;
/** In a large group these are exceptions: of equal tasks, none says more than another. */
const MAX_ALIKE = 12;
const MIN_OF_MEAN = 3;
/** Programs without the critical path that have a row each. More are one band. */
const MAX_OTHERS = 3;
/** Cells of lanes that are counted per picture; with more, columns are wider. */
const MAX_CELLS = 2_000_000;

/** A program; of a source of messages the kind, without its number: `ata1` is an `ata`, `app[77]` an `app`. */
export function programOf(lane: Lane): string {
  if (lane.name === undefined) return lane.program.split("/").pop() || "unknown program";
  const [word] = lane.name.split(/[\s:]/);
  return word.replace(/[[(].*$/, "").replace(/(\p{L}{2})[\d._-]+$/u, "$1") || lane.name;
}

const pathNsOf = (lanes: readonly Lane[]) => lanes.reduce((sum, lane) => sum + lane.onPathNs, 0);

/**
 * Programs with most time on the path first: few tasks have rows of their own, many are a band and what the path needs.
 * A band has `slots` rows; tasks that run one after the other need no band.
 */
export function programRows(lanes: readonly Lane[], slots = SLOTS): Row[] {
  const groups = new Map<string, Lane[]>();
  for (const lane of lanes) {
    const program = programOf(lane);
    const group = groups.get(program);
    if (group) group.push(lane);
    else groups.set(program, [lane]);
  }
  const ordered = [...groups]
    .map(([program, group]) => ({ program, group, pathNs: pathNsOf(group) }))
    .sort((a, b) => b.pathNs - a.pathNs || (a.program < b.program ? -1 : 1));
  const allNs = pathNsOf(lanes);
  const needed = ordered.filter(({ pathNs }) => pathNs > 0);
  const others = ordered.filter(({ pathNs }) => pathNs === 0);
  const isFolded = others.length > MAX_OTHERS;
  const rest = others.flatMap(({ group }) => group);
  return [
    ...[...needed, ...(isFolded ? [] : others)].flatMap(({ program, group }) =>
      groupRows(lanes, program, group, allNs, slots),
    ),
    ...(isFolded ? bandRows(lanes, `${others.length} other ${kindsOf(rest)}`, rest, slots) : []),
  ];
}

const kindsOf = ([first]: readonly Lane[]) => (first.name === undefined ? "programs" : "sources");

function groupRows(lanes: readonly Lane[], program: string, group: Lane[], allNs: number, slots: number): Row[] {
  if (group.length <= MAX_SINGLE) return group.map((lane) => single(lane, 0));
  const ofMean = group.length > MAX_ALIKE ? (MIN_OF_MEAN * pathNsOf(group)) / group.length : 0;
  const needed = group
    .filter((lane) => lane.onPathNs > Math.max(MIN_NEEDED_SHARE * allNs, ofMean))
    .sort((a, b) => b.onPathNs - a.onPathNs || a.number - b.number)
    .slice(0, MAX_NEEDED)
    .sort((a, b) => a.birthNs - b.birthNs || a.number - b.number);
  return [...bandRows(lanes, `${program} ×${group.length}`, group, slots), ...needed.map((lane) => single(lane, 1))];
}

function single(lane: Lane, depth: number): Row {
  return { name: labelOf(lane), depth, lanes: Int32Array.of(lane.number) };
}

function bandRows(lanes: readonly Lane[], name: string, group: Lane[], slots: number): Row[] {
  const row = rowOf(
    lanes,
    group.map((lane) => lane.number),
    name,
  );
  const most = mostAtOnce(group);
  if (most === 1) return [{ ...row, isGroup: true }];
  const about = `up to ${most} at once`;
  return Array.from({ length: slots }, (_, slot) => ({
    ...row,
    name: slot ? "" : name,
    band: { slot, slots, about, lock: null },
  }));
}

/** The largest number of tasks that live at the same time. */
export function mostAtOnce(group: readonly { birthNs: number; endNs: number }[]): number {
  // A task of 0 ns lives for the moment of its birth.
  const ends = group.map((lane) => Math.max(lane.endNs, lane.birthNs + 1)).sort((a, b) => a - b);
  const births = group.map((lane) => lane.birthNs).sort((a, b) => a - b);
  let [most, ended] = [0, 0];
  births.forEach((birthNs, born) => {
    while (ended < ends.length && ends[ended] <= birthNs && ended < born) ended++;
    most = Math.max(most, born + 1 - ended);
  });
  return most;
}

/** Numbers of tasks per class and pixel: `counts[class][x]`. */
export interface Counts {
  classes: Float32Array[];
  most: number;
}

const known = new WeakMap<Int32Array, { key: string; counts: Counts }>();

/** How many tasks of a row are in each class, in each pixel of a range. */
export function countsOf(model: Model, row: Row, range: Range, pixels: number): Counts {
  const key = `${range.fromNs} ${range.toNs} ${pixels}`;
  const before = known.get(row.lanes);
  if (before?.key === key) return before.counts;
  const counts = counted(model, row, range, pixels);
  known.set(row.lanes, { key, counts });
  return counts;
}

function counted(model: Model, row: Row, range: Range, pixels: number): Counts {
  const classes = Array.from({ length: model.classes.length + 1 }, () => new Float32Array(pixels));
  const perPixel = (range.toNs - range.fromNs) / pixels;
  const level = model.levels[levelFor(model.levels, range, model.wallNs, pixels)];
  const extents = [...row.lanes]
    .map((number) => ({
      number,
      from: Math.max(0, Math.floor((Math.max(0, model.lanes[number].birthNs) - range.fromNs) / perPixel)),
      to: Math.min(pixels, Math.ceil((Math.min(model.lanes[number].endNs, model.wallNs) - range.fromNs) / perPixel)),
    }))
    .filter(({ from, to }) => to > from);
  const step = Math.max(1, Math.ceil(extents.reduce((sum, { from, to }) => sum + to - from, 0) / MAX_CELLS));
  for (const { number, from, to } of extents) {
    for (let x = from - (from % step); x < to; x += step) {
      const atNs = range.fromNs + (Math.max(x, from) + 0.5) * perPixel;
      const cls = classAt(model, level, number, atNs);
      for (let each = Math.max(x, from); each < Math.min(x + step, to); each++) classes[cls][each]++;
    }
  }
  let most = 1;
  for (let x = 0; x < pixels; x++)
    most = Math.max(
      most,
      classes.reduce((sum, each) => sum + each[x], 0),
    );
  return { classes, most };
}

function classAt(model: Model, level: Model["levels"][number] | undefined, lane: number, atNs: number): number {
  if (!level) {
    const call = exactAt(model.exact, lane, atNs);
    return call < 0 ? model.classes.length : model.exact.class[call];
  }
  const column = Math.floor(atNs / (model.wallNs / level.columns));
  const cell = cellAt(level, lane, Math.min(Math.max(column, level.first[lane]), level.last[lane]));
  return cell === NO_CELL ? model.classes.length : cell;
}

/** What a band shows at a moment, in words: how many tasks are in which class. */
export function describedBand(model: Model, row: Row, atNs: number): string[] {
  const living = [...row.lanes].filter((lane) => model.lanes[lane].birthNs <= atNs && model.lanes[lane].endNs > atNs);
  const numbers = new Map<number, number>();
  for (const lane of living) {
    const cls = classAt(model, model.levels[model.levels.length - 1], lane, atNs);
    numbers.set(cls, (numbers.get(cls) ?? 0) + 1);
  }
  const parts = [...numbers]
    .sort((a, b) => b[1] - a[1])
    .map(([cls, number]) => `${number} ${model.classes[cls]?.lane_title ?? "unknown"}`);
  const first = living.length === 1 ? nameOf(model.lanes[living[0]]) : `${living.length} tasks at once`;
  return [first, ...(living.length ? [parts.join(", ")] : [])];
}
