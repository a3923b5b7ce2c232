import assert from "node:assert/strict";
import { test } from "node:test";
import { arrowsOf } from "../src/arrows.ts";
import { countsOf, describedBand, mostAtOnce, programOf } from "../src/bands.ts";
import { columnsOf, Reader, shown, signed, stringsOf } from "../src/decode.ts";
import { matching, placed } from "../src/icicle.tsx";
import { describedLock, holdAt, lockSentence, locksOf, waitingAt } from "../src/locks.ts";
import { kindOf, logOf } from "../src/log.ts";
import { cellAt, exactAt, type Lane, levelOf, type Model, pathAt } from "../src/model.ts";
import { tellApart, unwrapped } from "../src/names.ts";
import { EMPTY, longestRun, paletteOf, pathStrips, pixel, strip } from "../src/raster.ts";
import { found } from "../src/search.ts";
import { staysOf } from "../src/stays.ts";
import { sumsOf } from "../src/sums.ts";
import { compared, numberOf } from "../src/tables.ts";
import {
  clamped,
  duration,
  hashOf,
  isBeyond,
  laneAt,
  levelFor,
  linkOf,
  nameOf,
  rowOfLane,
  rowsOf,
  searched,
  withoutFolders,
  zoomed,
} from "../src/view.ts";

function lane(number: number, birthNs: number, endNs: number, more: Partial<Lane> = {}): Lane {
  const known = {
    task: number,
    pid: 100 + number,
    tid: 100 + number,
    parent: -1,
    depth: 0,
    isThread: false,
    program: "/bin/a",
  };
  const rest = { argv: "a b", ending: "", line: 1, calls: 1, onPathNs: 0, row: 0, sumsNs: [] };
  return { number, birthNs, endNs, ...known, ...rest, ...more };
}

/** Two lanes: one calls class 1 from 10 to 60 and class 2 from 60 to 80, the other lives from 100 to 200. */
function model(): Model {
  const lanes = [lane(0, 0, 100, { onPathNs: 100 }), lane(1, 100, 200, { onPathNs: 60, program: "/bin/b" })];
  const looks = ["user", "disk", "sleep"].map((name) => ({
    name,
    title: name,
    lane_title: name,
    letter: "x",
    color: "#102030",
    hatch: "",
  }));
  const numbers = (...values: number[]) => Float64Array.from(values);
  const none = numbers(0, 0, 0, 0);
  return {
    meta: { schema: "", classes: looks, captures: [], findings: [], icicle: [] },
    capture: {
      capture: 0,
      name: "c",
      tick_ns: 1,
      offset_ns: 0,
      limits: {},
      folded_ns: {},
      wake_kinds: [],
      confidences: [],
      sections: [],
    },
    classes: looks,
    wallNs: 200,
    ofCapture: "",
    scaleNs: 200,
    movedNs: 0,
    isLog: false,
    lanes,
    laneOfTask: new Map([
      [0, 0],
      [1, 1],
    ]),
    strings: [""],
    path: {
      startNs: numbers(0, 10, 100, 160),
      endNs: numbers(10, 100, 160, 200),
      lane: Int32Array.of(0, 0, 1, -1),
      class: numbers(0, 1, 2, 0),
      what: none,
      call: none,
      target: none,
      line: none,
      pieces: none,
      flags: none,
    },
    exact: {
      first: Int32Array.of(0, 2, 2),
      startNs: numbers(10, 60),
      endNs: numbers(60, 80),
      class: numbers(1, 2),
      call: none,
      target: none,
      line: none,
      isComplete: true,
    },
    wakes: [],
    overview: [],
    levels: [],
    findings: [],
  };
}

test("numbers of several bytes are read in order", () => {
  const reader = new Reader(Uint8Array.of(0x05, 0xe5, 0x8e, 0x26));
  assert.deepEqual([reader.number(), reader.number()], [5, 624485]);
  assert.throws(() => reader.number(), /too early/);
});

test("differences add up with their signs", () => {
  assert.deepEqual([0, 1, 2, 3].map(signed), [0, -1, 1, -2]);
  const section = { name: "s", rows: 3, columns: ["d_at", "dur"], raw_bytes: 6, id: "", codec: "", crc32: 0 };
  const columns = columnsOf(Uint8Array.of(4, 1, 2, 7, 8, 9), section);
  assert.deepEqual([...columns.at], [2, 1, 2]);
  assert.deepEqual([...columns.dur], [7, 8, 9]);
  assert.throws(() => columnsOf(Uint8Array.of(4, 1, 2, 7, 8, 9, 9), section), /more than its columns/);
});

test("texts have their control characters escaped", () => {
  assert.deepEqual(stringsOf(Uint8Array.of(0, 2, 0x1b, 0x61), 2), ["", "\\x1ba"]);
  assert.equal(shown("a\u202eb"), "a\\u202eb");
  assert.equal(shown("\u{1f600}é"), "\u{1f600}é");
});

test("the coarsest level with cells of a pixel is used", () => {
  const levels = [1024, 8192].map((columns) => levelOf([], 1_000_000, columns, new Uint8Array()));
  const range = (toNs: number) => ({ fromNs: 0, toNs });
  assert.equal(levelFor(levels, range(1_000_000), 1_000_000, 1000), 0 + 0);
  assert.equal(levelFor(levels, range(500_000), 1_000_000, 1000), 1);
  assert.equal(isBeyond(levels, range(500_000), 1_000_000, 1000), false);
  assert.equal(isBeyond(levels, range(100_000), 1_000_000, 1000), true);
});

test("cells of a lane start with a new byte", () => {
  const lanes = [lane(0, 0, 3), lane(1, 2, 4)];
  const level = levelOf(lanes, 4, 4, Uint8Array.of(0x21, 0x03, 0x54));
  const cells = (number: number) => [0, 1, 2, 3].map((column) => cellAt(level, number, column));
  assert.deepEqual(cells(0), [1, 2, 3, 15]);
  assert.deepEqual(cells(1), [15, 15, 4, 5]);
  assert.throws(() => levelOf(lanes, 4, 4, Uint8Array.of(1)), /instead of 3/);
});

test("zooming keeps the moment under the pointer", () => {
  const range = zoomed({ fromNs: 0, toNs: 100 }, 0.5, 20, 100, 1);
  assert.deepEqual(range, { fromNs: 10, toNs: 60 });
  assert.deepEqual(zoomed(range, 100, 20, 100, 1), { fromNs: 0, toNs: 100 });
  assert.deepEqual(clamped({ fromNs: 90, toNs: 130 }, 100, 1), { fromNs: 60, toNs: 100 });
});

test("sums of a part are clipped, and of the whole complete", () => {
  const part = sumsOf(model(), { fromNs: 50, toNs: 120 });
  assert.deepEqual(part.classes, [
    { name: "disk", ns: 50 },
    { name: "sleep", ns: 20 },
  ]);
  assert.deepEqual(part.lanes, [
    { lane: 0, ns: 50 },
    { lane: 1, ns: 20 },
  ]);
  const whole = sumsOf(model(), { fromNs: 0, toNs: 200 });
  assert.equal(whole.totalNs, 200);
  assert.deepEqual(whole.lanes, [
    { lane: 0, ns: 100 },
    { lane: 1, ns: 60 },
    { lane: -1, ns: 40 },
  ]);
});

test("a stretch of several tasks is charged to none of them", () => {
  const merged = model();
  merged.path.flags = Float64Array.of(0, 8, 0, 0);
  assert.deepEqual(sumsOf(merged, { fromNs: 0, toNs: 120 }).lanes, [
    { lane: -1, ns: 90 },
    { lane: 1, ns: 20 },
    { lane: 0, ns: 10 },
  ]);
});

test("sums of merged stretches state their error", () => {
  const merged = { ...model(), movedNs: 7 };
  assert.equal(sumsOf(merged, { fromNs: 50, toNs: 120 }).errorNs, 14);
  assert.equal(sumsOf(merged, { fromNs: 0, toNs: 200 }).errorNs, 0);
});

test("a call and a stretch are found at a moment", () => {
  const { exact, path } = model();
  assert.deepEqual(
    [9, 10, 59, 60, 80].map((at) => exactAt(exact, 0, at)),
    [-1, 0, 0, 1, -1],
  );
  assert.deepEqual(
    [0, 10, 199, 500].map((at) => pathAt(path, at)),
    [0, 1, 3, 3],
  );
});

test("rows have each lane once in every mode but the path", () => {
  const lanes = [...model().lanes, lane(2, 50, 60, { row: 1 })];
  for (const mode of ["tree", "packed", "program"] as const) {
    const numbers = rowsOf(lanes, mode).flatMap((row) => [...row.lanes]);
    assert.deepEqual(numbers.sort(), [0, 1, 2]);
  }
  assert.deepEqual(
    rowsOf(lanes, "path").map((row) => [...row.lanes]),
    [[0], [1]],
  );
  assert.deepEqual([...rowOfLane(rowsOf(lanes, "packed"), 3)], [0, 0, 1]);
});

test("many tasks of a program are a band, with rows for those that the path needs", () => {
  const lanes = Array.from({ length: 9 }, (_, at) => lane(at, 10 * at, 10 * at + 25, { onPathNs: at === 4 ? 90 : 1 }));
  lanes.push(lane(9, 0, 200, { program: "/bin/b", onPathNs: 300 }));
  const rows = rowsOf(lanes, "program");
  assert.deepEqual(
    rows.map((row) => [row.name, row.band?.slot ?? -1, row.lanes.length]),
    [
      ["109 a b", -1, 1],
      ["a ×9", 0, 9],
      ["", 1, 9],
      ["", 2, 9],
      ["104 a b", -1, 1],
    ],
  );
  assert.equal(rows[1].band?.about, "up to 3 at once");
  // A task with a row of its own is not in that of its band.
  assert.deepEqual([...rowOfLane(rows, 10)], [1, 1, 1, 1, 4, 1, 1, 1, 1, 0]);
});

test("tasks of a program that run one after the other share a row", () => {
  const lanes = Array.from({ length: 20 }, (_, number) => ({
    ...model().lanes[0],
    number,
    program: "/bin/tr",
    birthNs: 10 * number,
    endNs: 10 * number + 10,
    onPathNs: 5,
  }));
  const [row, ...others] = rowsOf(lanes, "program");
  assert.deepEqual([row.name, row.band, row.lanes.length, others.length], ["tr ×20", undefined, 20, 0]);
  // Only one that needs much more than the others has a row of its own.
  lanes[7].onPathNs = 500;
  assert.deepEqual(
    rowsOf(lanes, "program").map((each) => [...each.lanes].length),
    [20, 1],
  );
});

test("sources of a log are grouped by their kinds", () => {
  const kinds = [
    "ata1",
    "ata12",
    "sd 0:0:0:0",
    "app[77]",
    "systemd-networkd",
    "EXT4-fs (md0)",
    "10.0.0.1",
    "r8169 3:0",
  ];
  assert.deepEqual(
    kinds.map((name) => programOf({ ...model().lanes[0], name })),
    ["ata", "ata", "sd", "app", "systemd-networkd", "EXT4-fs", "10.0.0.1", "r8169"],
  );
});

test("programs without the path are one band if they are many", () => {
  const lanes = ["a", "b", "c", "d"].map((name, at) => lane(at, 0, 9, { program: `/bin/${name}` }));
  lanes.push(lane(4, 0, 9, { program: "/bin/e", onPathNs: 9 }));
  const names = rowsOf(lanes, "program").map((row) => row.name);
  assert.deepEqual(names, ["104 a b", "4 other programs", "", ""]);
});

test("tasks at once are counted at each birth", () => {
  const times = (...pairs: [number, number][]) => pairs.map(([birthNs, endNs]) => ({ birthNs, endNs }));
  assert.equal(mostAtOnce(times([0, 10], [10, 20], [20, 30])), 1);
  assert.equal(mostAtOnce(times([0, 10], [5, 20], [9, 30])), 3);
  assert.equal(mostAtOnce(times([0, 0], [0, 0])), 2);
});

test("a band counts tasks by class, and describes a moment", () => {
  const { rows, drawn } = { rows: rowsOf(model().lanes, "packed"), drawn: model() };
  const counts = countsOf(drawn, rows[0], { fromNs: 0, toNs: 200 }, 20);
  assert.equal(counts.most, 1);
  assert.deepEqual([counts.classes[1][3], counts.classes[2][7], counts.classes[3][15]], [1, 1, 1]);
  assert.deepEqual(describedBand(drawn, rows[0], 150), ["b 101", "1 unknown"]);
});

/** Two tasks wait for a lock while a third writes; then one of them holds it. */
function convoy(): Model {
  const drawn = model();
  const numbers = (...values: number[]) => Float64Array.from(values);
  const lanes = [lane(0, 0, 100), lane(1, 0, 100, { pid: 100 }), lane(2, 0, 100, { pid: 100 })];
  const looks = [...drawn.classes, { ...drawn.classes[0], name: "lock", title: "lock", lane_title: "lock" }];
  return {
    ...drawn,
    classes: looks,
    wallNs: 100,
    lanes,
    strings: ["", "futex FUTEX_WAIT_PRIVATE", "futex FUTEX_WAKE_PRIVATE", "fsync", "0x10", "/var/journal.db"],
    exact: {
      first: Int32Array.of(0, 2, 5, 6),
      startNs: numbers(5, 40, 10, 45, 70, 20),
      endNs: numbers(38, 41, 42, 69, 71, 90),
      class: numbers(1, 3, 3, 1, 3, 3),
      call: numbers(3, 2, 1, 3, 2, 1),
      target: numbers(5, 4, 4, 5, 4, 4),
      line: numbers(1, 2, 3, 4, 5, 6),
      isComplete: true,
    },
  };
}

test("a lock has its holder, what that does, and who waits", () => {
  const drawn = convoy();
  const [lock, ...others] = locksOf(drawn);
  assert.equal(others.length, 0);
  assert.deepEqual(
    [0, 15, 25, 50, 95].map((at) => waitingAt(lock, at)),
    [0, 1, 2, 1, 0],
  );
  assert.deepEqual(
    lock.holds.map((hold) => [hold.fromNs, hold.toNs, hold.lane]),
    [
      [10, 40, 0],
      [42, 70, 1],
    ],
  );
  assert.equal(holdAt(lock, 41), null);
  assert.equal(
    lockSentence(lock),
    "2 tasks wait for one lock, up to 2 at once; its holders spend 58 ns in fsync journal.db, 2 times",
  );
  assert.deepEqual(describedLock(drawn, lock, 50), ["held by a 100 for 28 ns", "fsync journal.db", "1 task waits"]);
  // One task that waits for another one to end is no convoy.
  assert.deepEqual(locksOf({ ...drawn, lanes: drawn.lanes.slice(0, 2) }), []);
});

test("commands are told apart, and what starts them is left out", () => {
  const lanes = ["cc1 -quiet f1.c", "/usr/lib/cc1 -quiet f2.c"].map((argv, at) =>
    lane(at, 0, 9, { program: "/usr/lib/cc1", argv }),
  );
  tellApart(lanes);
  assert.deepEqual(
    lanes.map((each) => each.words),
    ["cc1 f1.c", "cc1 f2.c"],
  );
  assert.equal(unwrapped("timeout 5 sh -c 'cc a.c'"), "cc a.c");
  assert.equal(unwrapped("sh stop.sh"), "sh stop.sh");
});

test("messages of a log have kinds by their words", () => {
  const kinds = ["nothing", "I/O error, dev sda", "warning: old", "Stopped target", "Started Login"];
  assert.deepEqual(
    kinds.map((text) => kindOf(text, 10)),
    [-1, 10, 11, 12, 13],
  );
});

test("a click finds the lane that lives at that moment", () => {
  const { lanes } = model();
  const [row] = rowsOf(lanes, "packed");
  assert.deepEqual(
    [50, 150, 250].map((at) => laneAt(lanes, row, at, 0)),
    [0, 1, -1],
  );
  assert.equal(laneAt(lanes, row, 205, 10), 1);
});

test("pixels show the exact calls, and nothing outside a life", () => {
  const drawn = model();
  const classes = new Uint8Array(20);
  strip(drawn, rowsOf(drawn.lanes, "tree")[0], { fromNs: 0, toNs: 200 }, classes);
  assert.deepEqual([...classes], [0, 1, 1, 1, 1, 1, 2, 2, 0, 0, ...Array(10).fill(EMPTY)]);
});

test("a label is where its class is, across a few other pixels", () => {
  const pixels = Uint8Array.of(1, 1, 2, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1);
  assert.deepEqual(longestRun(pixels, 0, 13, 1), [0, 6]);
  assert.deepEqual(longestRun(pixels, 4, 13, 1), [9, 13]);
  assert.deepEqual(longestRun(pixels, 0, 13, 2), [6, 9]);
  assert.deepEqual(longestRun(pixels, 0, 13, 3), [0, 0]);
});

test("hatches mix the colour with the page", () => {
  const { tiles } = paletteOf([{ color: "#000000", hatch: "M0 3H6" }], "#ffffff", "#cccccc");
  assert.equal(tiles[0], pixel("#000000", "#ffffff", 1));
  assert.equal(tiles[3 * 6], pixel("#000000", "#ffffff", 0.35));
});

test("a search needs all words, or an id", () => {
  const { lanes } = model();
  assert.deepEqual(searched(lanes, "BIN b"), [0, 1]);
  assert.deepEqual(searched(lanes, "101"), [1]);
  assert.deepEqual(searched(lanes, "10"), []);
  assert.deepEqual(searched(lanes, " "), []);
});

test("links survive, and others are ignored", () => {
  const link = { range: { fromNs: 5, toNs: 9 }, task: 3, finding: 1, mode: "packed" as const };
  assert.deepEqual(linkOf(hashOf(link)), link);
  assert.deepEqual(linkOf("#t=9..5&task=x&view=%3Cb%3E"), { range: null, task: null, finding: null, mode: null });
});

test("durations are those of the report", () => {
  assert.deepEqual([0, 7, 1_500, 59_000_000, 431_000_000, 11_420_000_000].map(duration), [
    "0 s",
    "7 ns",
    "1.50 µs",
    "59.0 ms",
    "431 ms",
    "11.42 s",
  ]);
});

test("cells of tables sort by their amounts", () => {
  assert.deepEqual(["431 ms", "1.52 s", "12%", "4,103", "x"].map(numberOf), [0.431, 1.52, 12, 4103, null]);
  assert.deepEqual(["b", "431 ms", "1.52 s", "a"].sort(compared), ["1.52 s", "431 ms", "a", "b"]);
});

test("children of the icicle lie inside their parent", () => {
  const nodes = placed(
    [
      [0, "", 10],
      [1, "disk", 6],
      [2, "a", 4],
      [2, "b", 2],
      [1, "user", 4],
      [2, "c", 4],
    ],
    model().classes,
  );
  assert.deepEqual(
    nodes.map((node) => node.fromNs),
    [0, 0, 0, 4, 6, 6],
  );
  assert.deepEqual(nodes.map((node) => node.cls).slice(1), ["disk", "disk", "disk", "user", "user"]);
});

test("the path fills the pixels of its lanes with the class of most time", () => {
  const strips = [new Uint8Array(4), new Uint8Array(4)];
  pathStrips(model(), (lane) => lane, 0, { fromNs: 0, toNs: 200 }, strips);
  assert.deepEqual(
    strips.map((each) => [...each]),
    [
      [1, 1, EMPTY, EMPTY],
      [EMPTY, EMPTY, 2, 2],
    ],
  );
});

test("stays of the path cover it, and short ones are left out", () => {
  const whole = { fromNs: 0, toNs: 200 };
  const stays = staysOf(model(), whole, 0);
  assert.equal(
    stays.reduce((sum, stay) => sum + stay.toNs - stay.fromNs, 0),
    200,
  );
  assert.ok(staysOf(model(), whole, 150).length < stays.length);
});

test("arrows are those of the chosen lane and the longest along the path", () => {
  const wakeAt = (atNs: number, durNs: number) => ({
    atNs,
    waker: atNs % 20 === 0 ? 1 : 0,
    waiter: atNs % 20 === 0 ? 0 : 1,
    durNs,
    how: "exit",
    isMeasured: true,
  });
  const known = model();
  // The path changes between both lanes every 10 ns, each change with a wait; one wait is not on the path.
  const starts = Array.from({ length: 20 }, (_, at) => at * 10);
  known.path = {
    ...known.path,
    startNs: Float64Array.from(starts),
    endNs: Float64Array.from(starts, (ns) => ns + 10),
    lane: Int32Array.from(starts, (_, at) => at % 2),
  };
  known.wakes = [...starts.slice(1).map((ns) => wakeAt(ns, ns)), { ...wakeAt(55, 1000), waker: 2 }];
  const whole = { fromNs: 0, toNs: 200 };
  const ofPath = arrowsOf(known, whole, 0.5, null);
  assert.deepEqual(
    ofPath.map((wake) => wake.atNs),
    [190, 180, 170, 160, 150, 140, 130, 120, 110, 100, 90, 80],
  );
  assert.deepEqual(arrowsOf(known, whole, 2, null), [], "stretches are too narrow");
  assert.deepEqual(
    arrowsOf(known, whole, 2, 2).map((wake) => wake.atNs),
    [55],
  );
  assert.equal(arrowsOf(known, { fromNs: 0, toNs: 45 }, 0.5, null).length, 4);
});

test("a search finds lanes first, then calls in order of time", () => {
  const { exact } = model();
  const strings = ["", "open", "/etc/hosts", "read"];
  const known = {
    ...model(),
    strings,
    exact: { ...exact, call: Float64Array.of(1, 3), target: Float64Array.of(2, 2) },
  };
  assert.deepEqual(
    found(known, "hosts").map((hit) => [hit.lane, hit.atNs]),
    [
      [0, 10],
      [0, 60],
    ],
  );
  assert.deepEqual(
    found(known, "READ etc").map((hit) => hit.atNs),
    [60],
  );
  assert.deepEqual(
    found(known, "101").map((hit) => [hit.lane, hit.atNs]),
    [[1, null]],
  );
  assert.deepEqual(found(known, " "), []);
});

test("long times are in minutes, as in the report", () => {
  assert.equal(duration(599e9), "599.00 s");
  assert.equal(duration(2609e9), "43 min 29 s");
  assert.equal(duration(7260e9), "2 h 1 min");
});

test("a search of the icicle counts the time of boxes within found boxes once", () => {
  const nodes = placed(
    [
      [0, "", 100],
      [1, "cpu", 60],
      [2, "make", 40],
      [3, "make all", 30],
      [2, "cc", 20],
      [1, "disk", 40],
      [2, "make", 10],
      [2, "cc", 30],
    ],
    [],
  );
  assert.deepEqual(matching(nodes, " MAKE "), { hits: new Set([2, 3, 6]), ns: 50 });
  assert.deepEqual(matching(nodes, "make all"), { hits: new Set([3]), ns: 30 });
  assert.deepEqual(matching(nodes, " "), { hits: new Set(), ns: 0 });
});

test("lanes of a log are its sources, and silences are in the lane of the message before them", () => {
  const numbers = (...values: number[]) => Float64Array.from(values);
  const log = model();
  log.classes = [...log.classes, { ...log.classes[0], name: "gap" }];
  log.strings = ["", "mail", "start", "sent", "job"];
  log.capture = { ...log.capture, limits: { sources: 2, messages: 3, exact_messages: 3 } };
  const none = numbers(0, 0, 0);
  log.path = {
    ...log.path,
    startNs: numbers(0, 50, 150),
    endNs: numbers(50, 150, 200),
    lane: Int32Array.of(0, 0, 0),
    class: numbers(3, 3, 3),
    what: numbers(4, 4, 4),
    call: numbers(1, 4, 1),
    target: numbers(2, 2, 3),
    flags: none,
  };
  log.findings = [
    { code: "", name: "", severity: "", title: "", capture: 0, pid: null, lines: [], stretches: [[7, 60, 150]] },
  ];
  const sections: Record<string, Record<string, Float64Array>> = {
    sources: {
      name: numbers(1, 4),
      start: numbers(0, 50),
      life: numbers(200, 100),
      messages: numbers(2, 1),
      on_path: numbers(100, 100),
      line: numbers(1, 2),
      row: numbers(0, 1),
    },
    messages: {
      source: numbers(0, 0, 1),
      start: numbers(0, 150, 50),
      dur: numbers(150, 50, 100),
      text: numbers(2, 3, 2),
      line: numbers(1, 3, 2),
    },
  };
  const made = logOf(log, (name) => sections[name]);
  assert.deepEqual(made.lanes.map(nameOf), ["mail", "job"]);
  assert.deepEqual([...made.path.lane], [0, 1, 0]);
  assert.deepEqual(
    [...made.path.call].map((call) => made.strings[call]),
    ["start", "start", "sent"],
  );
  assert.equal(exactAt(made.exact, 0, 149), 0);
  assert.equal(exactAt(made.exact, 1, 60), 2);
  assert.deepEqual(made.findings[0].stretches, [[1, 60, 150]]);
  // Two sources have messages to come from 50 to 150: 250 ns after a message about a start, 50 ns after another one.
  const sums = made.overview.map((columns) => Math.round(columns.reduce((sum, ns) => sum + ns, 0)));
  assert.deepEqual(Object.fromEntries(made.classes.map(({ name }, cls) => [name, sums[cls]]).filter(([, ns]) => ns)), {
    gap: 50,
    starts: 250,
  });
  assert.deepEqual(sumsOf(made, { fromNs: 0, toNs: 200 }).lanes, [
    { lane: 0, ns: 100 },
    { lane: 1, ns: 100 },
  ]);
});

test("names of rows begin with the last part of the program", () => {
  const compiler = "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus -quiet a/b.cc";
  assert.equal(withoutFolders(compiler), "cc1plus -quiet a/b.cc");
  assert.equal(withoutFolders("sh -c /bin/true"), "sh -c /bin/true");
  assert.equal(withoutFolders("/usr/sbin/"), "sbin/");
  assert.equal(withoutFolders(""), "");
});
