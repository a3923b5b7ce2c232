import { type Model, pathAt } from "./model.ts";
import { laneOf } from "./sums.ts";
import type { Range } from "./view.ts";

/** A time that the critical path spends in one lane, and what most of it is. */
export interface Stay {
  lane: number;
  fromNs: number;
  toNs: number;
  class: number;
  /** Numbers of texts; 0 if no call has most of the time. */
  call: number;
  target: number;
}

/** The stays of at least `minNs` within a range. */
export function staysOf(model: Model, range: Range, minNs: number): Stay[] {
  const { path } = model;
  const found: Stay[] = [];
  let row = pathAt(path, range.fromNs);
  while (row < path.startNs.length && path.startNs[row] < range.toNs) {
    const lane = laneOf(path, row);
    const first = row;
    // Each message of a log is a stay: other than calls in a loop, few messages are alike.
    const isSame = (at: number) => laneOf(path, at) === lane && (!model.isLog || path.call[at] === path.call[first]);
    while (row < path.startNs.length && path.startNs[row] < range.toNs && isSame(row)) row++;
    const [fromNs, toNs] = [Math.max(path.startNs[first], range.fromNs), Math.min(path.endNs[row - 1], range.toNs)];
    if (toNs - fromNs < minNs) continue;
    const rows = Array.from({ length: row - first }, (_, at) => first + at);
    const looks = path.look ?? path.class;
    const [call, ns] = largest(model, rows, (at) => path.call[at]);
    const isMost = 2 * ns > toNs - fromNs;
    // A name has the colour of its own class.
    const named = isMost ? rows.filter((at) => path.call[at] === call) : rows;
    const [cls] = largest(model, named, (at) => looks[at]);
    const [target, targetNs] = isMost
      ? largest(
          model,
          rows.filter((at) => path.call[at] === call),
          (at) => path.target[at],
        )
      : [0, 0];
    found.push({
      lane,
      fromNs,
      toNs,
      class: cls,
      call: isMost ? call : 0,
      target: 2 * targetNs > ns ? target : 0,
    });
  }
  return found;
}

/** The value with most time, and its time. */
function largest({ path }: Model, rows: readonly number[], value: (row: number) => number): [number, number] {
  const sums = new Map<number, number>();
  for (const row of rows) sums.set(value(row), (sums.get(value(row)) ?? 0) + path.endNs[row] - path.startNs[row]);
  let best: [number, number] = [0, 0];
  for (const [key, ns] of sums) if (ns > best[1]) best = [key, ns];
  return best;
}
