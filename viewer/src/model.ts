import { bisectRight } from "d3-array";
import type { CaptureMeta, ClassLook, Finding, Meta } from "./contract.ts";
import { bytesOfBase64, type Columns, columnsOf, inflated, stringsOf } from "./decode.ts";
import { isLog, logOf } from "./log.ts";
import { tellApart } from "./names.ts";

export const COLUMNS = 1024;
export const FACTOR = 8;
export const NO_CELL = 15;
/** Findings without a number come last. */
const MAX_NUMBER = 1e9;

/** A lane: a task from birth to death. Times are nanoseconds since the start of the window. */
export interface Lane {
  number: number;
  task: number;
  pid: number;
  tid: number;
  parent: number;
  depth: number;
  isThread: boolean;
  birthNs: number;
  endNs: number;
  program: string;
  argv: string;
  /** What it is called; by default its program and id. */
  name?: string;
  /** The words of its command that tells it from others of its program; by default the command. */
  words?: string;
  ending: string;
  line: number;
  calls: number;
  onPathNs: number;
  row: number;
  /** Time by class, exactly. */
  sumsNs: number[];
}

export interface Level {
  columns: number;
  first: Float64Array;
  last: Float64Array;
  /** Byte at which the cells of each lane start. */
  offsets: Float64Array;
  cells: Uint8Array;
}

export interface Path {
  startNs: Float64Array;
  endNs: Float64Array;
  lane: Int32Array;
  class: Float64Array;
  /** What it is drawn as, if that is not its class: kinds of messages. */
  look?: Float64Array;
  what: Float64Array;
  call: Float64Array;
  target: Float64Array;
  line: Float64Array;
  pieces: Float64Array;
  flags: Float64Array;
}

export interface Exact {
  /** First interval of each lane, and the number of all as the last element. */
  first: Int32Array;
  startNs: Float64Array;
  endNs: Float64Array;
  class: Float64Array;
  call: Float64Array;
  target: Float64Array;
  line: Float64Array;
  isComplete: boolean;
}

export interface Wake {
  atNs: number;
  waker: number;
  waiter: number;
  durNs: number;
  how: string;
  isMeasured: boolean;
}

export interface Model {
  meta: Meta;
  capture: CaptureMeta;
  classes: ClassLook[];
  wallNs: number;
  /** Which capture it is, on a page with several: " of NAME". */
  ofCapture: string;
  /** The longest range that can be shown: the window, or that of the longest capture of the page. */
  scaleNs: number;
  movedNs: number;
  /** Whether lanes are sources of messages instead of tasks. */
  isLog: boolean;
  lanes: Lane[];
  laneOfTask: Map<number, number>;
  strings: string[];
  path: Path;
  exact: Exact;
  wakes: Wake[];
  overview: Float64Array[];
  levels: Level[];
  findings: Finding[];
}

/** Reads a section by the id of its element. */
export type Source = (id: string) => string;

export async function modelOf(meta: Meta, number: number, source: Source): Promise<Model> {
  const capture = meta.captures[number];
  const limits = capture.limits;
  const raw = new Map<string, Uint8Array>();
  await Promise.all(
    capture.sections.map(async (section) => {
      raw.set(section.name, await inflated(bytesOfBase64(source(section.id)), section.raw_bytes));
    }),
  );
  const about = (name: string) => capture.sections.find((section) => section.name === name)!;
  const columns = (name: string) => columnsOf(raw.get(name)!, about(name));
  const strings = stringsOf(raw.get("strings")!, about("strings").rows);
  const wallNs = limits.wall_ns;
  const lanes = lanesOf(columns("tasks"), columns("sums"), strings, meta.classes);
  tellApart(lanes);
  const levels = capture.sections
    .filter((section) => section.name.startsWith("cells"))
    .map((section, level) => levelOf(lanes, wallNs, COLUMNS * FACTOR ** level, raw.get(section.name)!));
  const overview = columns("overview");
  const wakes = columns("wakes");
  const model: Model = {
    meta,
    capture,
    isLog: false,
    classes: meta.classes,
    wallNs,
    ofCapture: meta.label ? ` of ${meta.label}` : "",
    scaleNs: Math.max(meta.scale_ns ?? 0, wallNs),
    movedNs: limits.path_moved_ns,
    lanes,
    laneOfTask: new Map(lanes.map((lane) => [lane.task, lane.number])),
    strings,
    path: pathOf(columns("path")),
    exact: exactOf(columns("exact"), lanes, limits.exact_calls === limits.calls),
    wakes: Array.from(wakes.at, (atNs, at) => ({
      atNs,
      waker: wakes.waker[at] - 1,
      waiter: wakes.waiter[at] - 1,
      durNs: wakes.dur[at],
      how: capture.wake_kinds[wakes.how[at]],
      isMeasured: wakes.sure[at] === 0,
    })),
    overview: meta.classes.map((look) => overview[look.name]),
    levels,
    findings: meta.findings
      .filter((finding) => finding.capture === capture.capture)
      .map(numbered)
      .sort((a, b) => (a.number || MAX_NUMBER) - (b.number || MAX_NUMBER)),
  };
  return isLog(capture) ? logOf(model, columns) : model;
}

/** The number that the page gives to a finding is at the end of the id of its element. */
function numbered(finding: Finding): Finding {
  return { ...finding, number: Number(/-(\d+)$/.exec(finding.article ?? "")?.[1] ?? 0) };
}

function lanesOf(tasks: Columns, sums: Columns, strings: string[], classes: ClassLook[]): Lane[] {
  const lanes: Lane[] = [];
  for (let number = 0; number < tasks.task.length; number++) {
    const up = tasks.up[number];
    const parent = up === 0 ? -1 : number - (up % 2 === 0 ? up / 2 : -(up + 1) / 2);
    const known = lanes[parent];
    lanes.push({
      number,
      task: tasks.task[number],
      pid: tasks.pid[number],
      tid: tasks.tid[number],
      parent,
      depth: known ? known.depth + 1 : 0,
      isThread: tasks.is_thread[number] === 1,
      birthNs: tasks.birth[number],
      endNs: tasks.birth[number] + tasks.life[number],
      program: strings[tasks.program[number]],
      argv: strings[tasks.argv[number]],
      ending: endingOf(tasks.ended[number], tasks.ending[number], strings),
      line: tasks.line[number],
      calls: tasks.calls[number],
      onPathNs: tasks.on_path[number],
      row: tasks.row[number],
      sumsNs: classes.map((look) => sums[look.name][number]),
    });
  }
  return lanes;
}

function endingOf(ended: number, value: number, strings: string[]): string {
  if (ended === 1) return `exited with ${value % 2 === 0 ? value / 2 : -(value + 1) / 2}`;
  if (ended === 2) return `killed by ${strings[value]}`;
  return ended === 3 ? "its id was taken over by another thread" : "end not in the capture";
}

/** The column of a moment, exactly: products exceed 2^53. */
function columnOf(atNs: number, columns: number, wallNs: number): number {
  const column = (BigInt(Math.max(0, atNs)) * BigInt(columns)) / BigInt(Math.max(1, wallNs));
  return Math.min(Number(column), columns - 1);
}

export function levelOf(lanes: readonly Lane[], wallNs: number, columns: number, cells: Uint8Array): Level {
  const first = new Float64Array(lanes.length);
  const last = new Float64Array(lanes.length);
  const offsets = new Float64Array(lanes.length);
  let offset = 0;
  lanes.forEach((lane, at) => {
    const birthNs = Math.max(0, lane.birthNs);
    const endNs = Math.min(wallNs, lane.endNs);
    first[at] = columnOf(birthNs, columns, wallNs);
    last[at] = Math.max(first[at], columnOf(Math.max(endNs - 1, birthNs), columns, wallNs));
    offsets[at] = offset;
    offset += Math.ceil((last[at] - first[at] + 1) / 2);
  });
  if (offset !== cells.length) throw new Error(`${cells.length} bytes of cells instead of ${offset}`);
  return { columns, first, last, offsets, cells };
}

/** The class in a column of a lane. */
export function cellAt(level: Level, lane: number, column: number): number {
  if (column < level.first[lane] || column > level.last[lane]) return NO_CELL;
  const at = column - level.first[lane];
  const byte = level.cells[level.offsets[lane] + (at >> 1)];
  return at & 1 ? byte >> 4 : byte & 15;
}

function pathOf(columns: Columns): Path {
  const startNs = new Float64Array(columns.dur.length);
  const endNs = new Float64Array(columns.dur.length);
  let atNs = 0;
  columns.dur.forEach((durNs, row) => {
    startNs[row] = atNs;
    atNs += durNs;
    endNs[row] = atNs;
  });
  const lane = Int32Array.from(columns.lane, (number) => number - 1);
  const { class: cls, what, call, target, line, pieces, flags } = columns;
  return { startNs, endNs, lane, class: cls, what, call, target, line, pieces, flags };
}

function exactOf(columns: Columns, lanes: readonly Lane[], isComplete: boolean): Exact {
  const rows = columns.lane.length;
  const first = new Int32Array(lanes.length + 1).fill(rows);
  const startNs = new Float64Array(rows);
  const endNs = new Float64Array(rows);
  let lastLane = -1;
  let atNs = 0;
  for (let row = 0; row < rows; row++) {
    const lane = columns.lane[row];
    if (lane !== lastLane) {
      first.fill(row, lastLane + 1, lane + 1);
      lastLane = lane;
      atNs = Math.max(0, lanes[lane].birthNs);
    }
    startNs[row] = atNs + columns.gap[row];
    atNs = startNs[row] + columns.dur[row];
    endNs[row] = atNs;
  }
  const { class: cls, call, target, line } = columns;
  return { first, startNs, endNs, class: cls, call, target, line, isComplete };
}

/** The exact call of a lane at a moment, or -1. */
export function exactAt(exact: Exact, lane: number, atNs: number): number {
  const found = bisectRight(exact.startNs, atNs, exact.first[lane], exact.first[lane + 1]) - 1;
  return found >= exact.first[lane] && atNs < exact.endNs[found] ? found : -1;
}

/** The row of the path at a moment. */
export function pathAt(path: Path, atNs: number): number {
  return Math.min(Math.max(bisectRight(path.startNs, atNs) - 1, 0), path.startNs.length - 1);
}
