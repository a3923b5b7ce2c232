import { bisector, bisectRight } from "d3-array";
import type { Exact, Model } from "./model.ts";
import { duration, nameOf, type Row } from "./view.ts";

/** A time in which one task holds a lock: it is the one that releases it next. */
export interface Hold {
  fromNs: number;
  toNs: number;
  lane: number;
  /** What it does meanwhile: the call with most of the time, -1 if there is none. */
  call: number;
  target: number;
  class: number;
}

/** A lock that several tasks wait for. */
export interface Lock {
  name: string;
  /** Tasks that wait for it at some time, by their lanes. */
  lanes: number[];
  waitedNs: number;
  /** Moments at which the number of waiting tasks changes, and the number from then on. */
  atNs: number[];
  waiting: number[];
  most: number;
  holds: Hold[];
  /** What the holders do, the longest first. */
  meanwhile: { what: string; ns: number; calls: number }[];
}

const MAX_LOCKS = 2;
/** Of the window, the least time that tasks wait for a lock that is shown. */
const MIN_WAITED_SHARE = 0.05;
const SLOTS = 3;

/** Also where only the kind of an address is in the page. */
const ADDRESS = /^0x[0-9a-fN]+$/;

interface Use {
  lane: number;
  row: number;
}

/** The locks that several tasks wait for, those with most waiting first. */
export function locksOf(model: Model): Lock[] {
  if (model.isLog) return [];
  const lockClass = model.classes.findIndex((look) => look.name === "lock");
  const kinds = model.strings.map(kindOf);
  const waits = new Map<string, Use[]>();
  const releases = new Map<string, Use[]>();
  const keyOf = (lane: number, row: number) => {
    const target = model.exact.target[row];
    // Addresses are of a process; files are of all.
    const isAddress = ADDRESS.test(model.strings[target]);
    return `${target} ${isAddress ? model.lanes[lane].pid : ""}`;
  };
  const add = (to: Map<string, Use[]>, lane: number, row: number) => {
    const key = keyOf(lane, row);
    const uses = to.get(key);
    if (uses) uses.push({ lane, row });
    else to.set(key, [{ lane, row }]);
  };
  for (let lane = 0; lane < model.lanes.length; lane++) {
    for (let row = model.exact.first[lane]; row < model.exact.first[lane + 1]; row++) {
      if (!model.exact.target[row]) continue;
      const kind = kinds[model.exact.call[row]];
      if (kind === "release") add(releases, lane, row);
      else if (kind === "wait" && model.exact.class[row] === lockClass) add(waits, lane, row);
    }
  }
  return [...waits]
    .map(([key, uses]) => lockOf(model, uses, releases.get(key) ?? []))
    .filter((lock) => lock.most > 1 && lock.waitedNs > MIN_WAITED_SHARE * model.wallNs)
    .sort((a, b) => b.waitedNs - a.waitedNs)
    .slice(0, MAX_LOCKS);
}

/** Whether a call waits for a lock, or gives it back. */
function kindOf(call: string): "wait" | "release" | "" {
  if (/^futex\b.*(WAKE|UNLOCK)/.test(call) || /^(flock|lockf|fcntl)\b.*(UN|UNLCK|ULOCK)\b/.test(call)) return "release";
  return /^(futex|flock|lockf|fcntl)\b/.test(call) || /lwp_(park|mutex)|_umtx_op/.test(call) ? "wait" : "";
}

function lockOf(model: Model, waits: readonly Use[], releases: readonly Use[]): Lock {
  const { exact, strings } = model;
  const changes = waits
    .flatMap(({ row }): [number, number][] => [
      [exact.startNs[row], 1],
      [exact.endNs[row], -1],
    ])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let number = 0;
  const atNs: number[] = [];
  const waiting: number[] = [];
  for (const [at, by] of changes) {
    number += by;
    atNs.push(at);
    waiting.push(number);
  }
  const lanes = [...new Set(waits.map(({ lane }) => lane))];
  const holds = holdsOf(model, releases, waiting.length ? [atNs[0], atNs[atNs.length - 1]] : [0, 0]);
  const name = strings[exact.target[waits[0].row]];
  return {
    name: ADDRESS.test(name) ? `of ${lanes.length} tasks` : name.split("/").pop() || name,
    lanes,
    waitedNs: waits.reduce((sum, { row }) => sum + exact.endNs[row] - exact.startNs[row], 0),
    atNs,
    waiting,
    most: waiting.reduce((most, each) => Math.max(most, each), 0),
    holds,
    meanwhile: meanwhileOf(model, holds),
  };
}

/** Between two releases the lock is held by the task of the second one, while others wait. */
function holdsOf(model: Model, releases: readonly Use[], [firstNs, lastNs]: [number, number]): Hold[] {
  const { exact } = model;
  const ordered = [...releases].sort((a, b) => exact.startNs[a.row] - exact.startNs[b.row]);
  let fromNs = firstNs;
  const holds: Hold[] = [];
  for (const { lane, row } of ordered) {
    const toNs = exact.startNs[row];
    if (toNs <= fromNs || fromNs >= lastNs) {
      fromNs = Math.max(fromNs, toNs);
      continue;
    }
    // It did not hold the lock while it waited itself.
    const startNs = Math.max(fromNs, lastWaitBefore(exact, lane, row));
    if (startNs < toNs) holds.push({ fromNs: startNs, toNs, lane, ...workOf(model, lane, startNs, toNs) });
    fromNs = toNs;
  }
  return holds;
}

/** The end of the last earlier call of the task on the same lock. */
function lastWaitBefore(exact: Exact, lane: number, row: number): number {
  for (let at = row - 1; at >= exact.first[lane]; at--)
    if (exact.target[at] === exact.target[row]) return exact.endNs[at];
  return Number.NEGATIVE_INFINITY;
}

/** The call that takes most of a time in a lane. */
function workOf(model: Model, lane: number, fromNs: number, toNs: number): Pick<Hold, "call" | "target" | "class"> {
  const { exact } = model;
  let [best, bestNs] = [-1, 0];
  const start = bisectRight(exact.endNs, fromNs, exact.first[lane], exact.first[lane + 1]);
  for (let at = start; at < exact.first[lane + 1] && exact.startNs[at] < toNs; at++) {
    const ns = Math.min(exact.endNs[at], toNs) - Math.max(exact.startNs[at], fromNs);
    if (ns > bestNs) [best, bestNs] = [at, ns];
  }
  return best < 0
    ? { call: -1, target: 0, class: 0 }
    : { call: exact.call[best], target: exact.target[best], class: exact.class[best] };
}

function meanwhileOf({ strings }: Model, holds: readonly Hold[]): Lock["meanwhile"] {
  const sums = new Map<string, { what: string; ns: number; calls: number }>();
  for (const hold of holds) {
    const what = whatOf(strings, hold);
    const sum = sums.get(what) ?? { what, ns: 0, calls: 0 };
    sum.ns += hold.toNs - hold.fromNs;
    sum.calls++;
    sums.set(what, sum);
  }
  return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

/** A call with the last part of its target. */
export function whatOf(strings: readonly string[], hold: Pick<Hold, "call" | "target">): string {
  if (hold.call < 0) return "no call";
  return `${strings[hold.call]} ${(strings[hold.target] || "").split("/").pop()}`.trim();
}

const startOfHold = bisector((hold: Hold) => hold.fromNs);

/** The holder at a moment, or null. */
export function holdAt(lock: Lock, atNs: number): Hold | null {
  const at = startOfHold.right(lock.holds, atNs) - 1;
  return at >= 0 && atNs < lock.holds[at].toNs ? lock.holds[at] : null;
}

/** How many tasks wait at a moment. */
export function waitingAt(lock: Lock, atNs: number): number {
  const at = bisectRight(lock.atNs, atNs) - 1;
  return at < 0 ? 0 : lock.waiting[at];
}

/** Rows for the locks; each takes several. */
export function lockRows(locks: readonly Lock[]): Row[] {
  return locks.flatMap((lock, number) =>
    Array.from({ length: SLOTS }, (_, slot) => ({
      name: slot ? "" : `lock ${lock.name}`,
      depth: 0,
      lanes: new Int32Array(),
      band: { slot, slots: SLOTS, about: `up to ${lock.most} tasks wait`, lock: number },
    })),
  );
}

/** What a lock costs, in a sentence. */
export function lockSentence(lock: Lock): string {
  const [first] = lock.meanwhile;
  const held = first
    ? `; its holders spend ${duration(first.ns)} in ${first.what}, ${first.calls.toLocaleString("en")} times`
    : "";
  return `${lock.lanes.length} tasks wait for one lock, up to ${lock.most} at once${held}`;
}

/** What a lock shows at a moment. */
export function describedLock(model: Model, lock: Lock, atNs: number): string[] {
  const hold = holdAt(lock, atNs);
  const number = waitingAt(lock, atNs);
  const waits = `${number} ${number === 1 ? "task waits" : "tasks wait"}`;
  return hold
    ? [
        `held by ${nameOf(model.lanes[hold.lane])} for ${duration(hold.toNs - hold.fromNs)}`,
        whatOf(model.strings, hold),
        waits,
      ]
    : [waits];
}
