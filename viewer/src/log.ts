import type { CaptureMeta, ClassLook } from "./contract.ts";
import type { Columns } from "./decode.ts";
import type { Exact, Lane, Model, Path } from "./model.ts";
import { pathAt } from "./model.ts";

/** A difference of sums below this is 0. */
const MIN_NS = 1e-6;
/** Columns of the strip above the lanes. */
const COLUMNS = 512;

/** Kinds of messages, by the words in them; the first that fits. A hatch tells them apart without colours. */
const KINDS: [ClassLook, RegExp][] = [
  [
    look("errors", "#c0392b", "M0 6L6 0"),
    /\b(error|errors|fail(ed|s|ure|ing)?|fatal|panic|oops|bug|segfault|killed|denied|refused|corrupt\w*|abort\w*|critical|cannot|timed out|timeout)\b/i,
  ],
  [
    look("warnings", "#e69f00", ""),
    /\b(warn(ing)?s?|deprecated|retry(ing)?|unable|missing|not found|slow|skipp\w+|degraded)\b/i,
  ],
  [
    look("ends", "#8e5ea2", ""),
    /\b(stopp(ed|ing)|shut\w* ?down|unmount\w*|terminat\w+|clos(ed|ing)|exit\w*|remov\w+|disconnect\w*|down)\b/i,
  ],
  [
    look("starts", "#1b9e77", ""),
    /\b(start(ed|ing)?|reached|listening|mount(ed|ing)?|regist\w+|load(ed|ing)|initiali[sz]\w+|init|probe\w*|detected|found|attached|connected|enabled|up|ready|opened)\b/i,
  ],
];

function look(name: string, color: string, hatch: string): ClassLook {
  return { name, title: name, lane_title: name, letter: "", color, hatch };
}

/** The class of a message, or -1. */
export function kindOf(text: string, first: number): number {
  const at = KINDS.findIndex(([, words]) => words.test(text));
  return at < 0 ? -1 : first + at;
}

/** What a section of the page holds, by its name. */
type Sections = (name: string) => Columns;

/** Whether a capture is a log with sources; each of them has a lane. */
export function isLog(capture: CaptureMeta): boolean {
  return capture.limits.sources > 0;
}

/** The model of a log: lanes are sources, calls are messages, and a message is on the path for the silence after it. */
export function logOf(model: Model, sections: Sections): Model {
  const { strings, wallNs } = model;
  const classes = [...model.classes, ...KINDS.map(([look]) => look)];
  const kinds = strings.map((text) => kindOf(text, model.classes.length));
  const lanes = lanesOf(sections("sources"), strings, classes);
  const gap = classes.findIndex((look) => look.name === "gap");
  const path = pathOf(model.path, lanes, strings);
  path.look = path.call.map((text, row) => (path.lane[row] < 0 || kinds[text] < 0 ? path.class[row] : kinds[text]));
  const exact = exactOf(sections("messages"), lanes, gap, model.capture.limits);
  exact.class = exact.call.map((text) => (kinds[text] < 0 ? gap : kinds[text]));
  const findings = model.findings.map((finding) => ({
    ...finding,
    stretches: finding.stretches.map(([, fromNs, toNs]): [number, number, number] => [
      laneOfEvidence(lanes[path.lane[pathAt(path, fromNs)]], toNs),
      fromNs,
      toNs,
    ]),
  }));
  return {
    ...model,
    isLog: true,
    classes,
    lanes,
    laneOfTask: new Map(lanes.map((lane) => [lane.task, lane.number])),
    path,
    exact,
    findings,
    levels: [],
    overview: overviewOf(classes, exact, gap, lanes, wallNs),
  };
}

/** Evidence lies in the log as a whole. It is about the source where it begins, unless it outlasts it; -1 stands for that. */
function laneOfEvidence(lane: Lane | undefined, toNs: number): number {
  return lane && toNs <= lane.endNs ? lane.number : -1;
}

function lanesOf(sources: Columns, strings: string[], classes: ClassLook[]): Lane[] {
  return Array.from(sources.start, (birthNs, number) => ({
    number,
    task: number,
    pid: -1,
    tid: -1,
    parent: -1,
    depth: 0,
    isThread: false,
    birthNs,
    endNs: birthNs + sources.life[number],
    program: strings[sources.name[number]],
    argv: "",
    name: strings[sources.name[number]] || "(no source)",
    ending: "",
    line: sources.line[number],
    calls: sources.messages[number],
    onPathNs: sources.on_path[number],
    row: sources.row[number],
    sumsNs: classes.map(() => 0),
  }));
}

/** A silence is named by the message before it, and is in the lane of its source. */
function pathOf(path: Path, lanes: readonly Lane[], strings: string[]): Path {
  const laneOf = new Map(lanes.map((lane) => [lane.program, lane.number]));
  // Stretches of several messages have no source.
  const lane = Int32Array.from(path.what, (what, row) =>
    what === 4 ? (laneOf.get(strings[path.call[row]]) ?? -1) : -1,
  );
  return { ...path, lane, call: path.target, target: new Float64Array(path.target.length) };
}

function exactOf(messages: Columns, lanes: readonly Lane[], gap: number, limits: Record<string, number>): Exact {
  const rows = messages.source.length;
  const first = new Int32Array(lanes.length + 1).fill(rows);
  for (let row = rows - 1; row >= 0; row--) first[messages.source[row]] = row;
  for (let lane = lanes.length - 1; lane >= 0; lane--) first[lane] = Math.min(first[lane], first[lane + 1]);
  return {
    first,
    startNs: messages.start,
    endNs: messages.start.map((startNs, row) => startNs + messages.dur[row]),
    class: new Float64Array(rows).fill(gap),
    call: messages.text,
    target: new Float64Array(rows),
    line: messages.line,
    isComplete: limits.exact_messages === limits.messages,
  };
}

/** The time that sources have messages to come, per class and column: the kind of the last message, else silence. */
function overviewOf(
  classes: readonly ClassLook[],
  exact: Exact,
  gap: number,
  lanes: readonly Lane[],
  wallNs: number,
): Float64Array[] {
  const overview = classes.map(() => new Float64Array(COLUMNS));
  for (const lane of lanes) {
    addTime(overview[gap], Math.max(0, lane.birthNs), lane.endNs, 1, wallNs);
    for (let at = exact.first[lane.number]; at < exact.first[lane.number + 1]; at++) {
      if (exact.class[at] === gap) continue;
      const [fromNs, toNs] = [Math.max(0, exact.startNs[at], lane.birthNs), Math.min(exact.endNs[at], lane.endNs)];
      addTime(overview[exact.class[at]], fromNs, toNs, 1, wallNs);
      addTime(overview[gap], fromNs, toNs, -1, wallNs);
    }
  }
  // Differences of sums are not exactly 0.
  overview[gap].forEach((ns, column) => {
    overview[gap][column] = ns < MIN_NS ? 0 : ns;
  });
  return overview;
}

/** Adds a time to the columns that it overlaps. */
function addTime(sums: Float64Array, fromNs: number, toNs: number, sign: 1 | -1, wallNs: number): void {
  const columnNs = wallNs / COLUMNS;
  const last = Math.min(COLUMNS - 1, Math.floor(toNs / columnNs));
  for (let column = Math.floor(fromNs / columnNs); column <= last; column++) {
    sums[column] += sign * Math.max(0, Math.min(toNs, (column + 1) * columnNs) - Math.max(fromNs, column * columnNs));
  }
}
