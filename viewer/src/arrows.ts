import { type Model, pathAt, type Wake } from "./model.ts";
import type { Range } from "./view.ts";

/** Pixels of a stretch of the path that an arrow begins or ends at. */
const MIN_ARROW = 10;
/** Arrows along the path: more hide the bars. */
const MAX_PATH_ARROWS = 12;

/** The waits that have an arrow: all of the chosen lane, then the longest along the critical path, as far as both sides of
 * the arrow can be seen. */
export function arrowsOf(model: Model, range: Range, perPixel: number, chosen: number | null): Wake[] {
  const inRange = model.wakes.filter((wake) => wake.atNs >= range.fromNs && wake.atNs <= range.toNs);
  const isChosen = (wake: Wake) => wake.waker === chosen || wake.waiter === chosen;
  const longestFirst = (a: Wake, b: Wake) => b.durNs - a.durNs;
  const ofPath = inRange.filter((wake) => !isChosen(wake) && isOfPath(model, wake, perPixel)).sort(longestFirst);
  return [...inRange.filter(isChosen).sort(longestFirst), ...ofPath.slice(0, MAX_PATH_ARROWS)];
}

/** Whether the critical path goes from one task to the other at this moment, in stretches that are wide enough. */
function isOfPath({ path, movedNs }: Model, wake: Wake, perPixel: number): boolean {
  const minNs = perPixel * MIN_ARROW;
  const near = pathAt(path, wake.atNs);
  return [near, near + 1].some(
    (at) =>
      at > 0 &&
      at < path.startNs.length &&
      path.lane[at - 1] === wake.waker &&
      path.lane[at] === wake.waiter &&
      Math.abs(path.startNs[at] - wake.atNs) <= Math.max(movedNs, perPixel) &&
      path.endNs[at - 1] - path.startNs[at - 1] >= minNs &&
      path.endNs[at] - path.startNs[at] >= minNs,
  );
}
