import { type Model, type Path, pathAt } from "./model.ts";
import type { Range } from "./view.ts";

export interface Sum {
  name: string;
  ns: number;
}

/** What the critical path consists of in a range. */
export interface Sums {
  totalNs: number;
  classes: Sum[];
  lanes: { lane: number; ns: number }[];
  /** Upper bound of the error of each sum; 0 if all are exact. */
  errorNs: number;
}

/** Sums over the rows of the path, never over what is drawn. */
export function sumsOf(model: Model, range: Range): Sums {
  const { path, classes } = model;
  const ofClass = new Float64Array(classes.length);
  const ofLane = new Map<number, number>();
  let totalNs = 0;
  for (let row = pathAt(path, range.fromNs); row < path.startNs.length && path.startNs[row] < range.toNs; row++) {
    const ns = Math.min(path.endNs[row], range.toNs) - Math.max(path.startNs[row], range.fromNs);
    if (ns <= 0) continue;
    totalNs += ns;
    ofClass[path.class[row]] += ns;
    const lane = laneOf(path, row);
    ofLane.set(lane, (ofLane.get(lane) ?? 0) + ns);
  }
  const isWhole = range.fromNs <= 0 && range.toNs >= model.wallNs;
  const byTime = (a: { ns: number }, b: { ns: number }) => b.ns - a.ns;
  return {
    totalNs,
    classes: classes
      .map((look, at) => ({ name: look.name, ns: ofClass[at] }))
      .filter((sum) => sum.ns > 0)
      .sort(byTime),
    lanes: (isWhole ? ofWindow(model) : [...ofLane].map(([lane, ns]) => ({ lane, ns }))).sort(byTime),
    errorNs: isWhole ? 0 : 2 * model.movedNs,
  };
}

/** The lane that a row of the path is charged to; -1 if it is of several tasks, or of one without a lane. */
export function laneOf(path: Path, row: number): number {
  return path.flags[row] & 8 ? -1 : path.lane[row];
}

/** The exact sums of the whole window; -1 stands for all tasks without a lane. */
function ofWindow(model: Model): { lane: number; ns: number }[] {
  const lanes = model.lanes
    .filter((lane) => lane.onPathNs > 0)
    .map((lane) => ({ lane: lane.number, ns: lane.onPathNs }));
  const restNs = model.wallNs - lanes.reduce((sum, each) => sum + each.ns, 0);
  return restNs > 0 ? [...lanes, { lane: -1, ns: restNs }] : lanes;
}
