import { Component } from "preact";
import { describedBand } from "./bands.ts";
import { describedLock, type Lock } from "./locks.ts";
import { exactAt, type Model, pathAt } from "./model.ts";
import { laneOf } from "./sums.ts";
import { duration, laneAt, nameOf, type Row } from "./view.ts";

export interface TipState {
  x: number;
  y: number;
  /** Width of the lanes: a tip at the right end lies to the left of the pointer. */
  width: number;
  lines: string[];
}

/** What is under the pointer. It is a component of its own, so that moving the pointer draws nothing else. */
export class Tip extends Component<object, { tip: TipState | null }> {
  state: { tip: TipState | null } = { tip: null };

  show(tip: TipState | null) {
    if (tip || this.state.tip) this.setState({ tip });
  }

  render() {
    const { tip } = this.state;
    if (!tip) return null;
    const isRight = tip.x > tip.width / 2;
    const side = isRight ? { right: `${tip.width - tip.x + 12}px` } : { left: `${tip.x + 12}px` };
    return (
      <div class="tz-tip" aria-hidden="true" style={{ top: `${tip.y + 14}px`, ...side }}>
        {tip.lines.map((line) => (
          <div key={line}>{line}</div>
        ))}
      </div>
    );
  }
}

/** The lane, its call and the stretch of the path at a moment; `row` is null in the row of the path. */
export function describedAt(
  model: Model,
  row: Row | null,
  atNs: number,
  perPixelNs: number,
  locks: readonly Lock[] = [],
): string[] | null {
  const piece = pathAt(model.path, atNs);
  const ofPath = laneOf(model.path, piece);
  if (atNs < 0 || atNs > model.wallNs) return null;
  if (row === null)
    return [
      ofPath < 0 ? `several ${model.isLog ? "messages" : "tasks"}` : nameOf(model.lanes[ofPath]),
      pathText(model, piece),
    ];
  if (row.band) {
    const lock = row.band.lock === null ? undefined : locks[row.band.lock];
    return lock ? describedLock(model, lock, atNs) : describedBand(model, row, atNs);
  }
  const lane = laneAt(model.lanes, row, atNs, perPixelNs);
  if (lane < 0) return null;
  const lines = [nameOf(model.lanes[lane])];
  const call = exactAt(model.exact, lane, atNs);
  if (call >= 0) {
    const { exact, strings } = model;
    const name = `${strings[exact.call[call]]} ${strings[exact.target[call]]}`.trim();
    lines.push(`${name}: ${duration(exact.endNs[call] - exact.startNs[call])}, line ${exact.line[call]}`);
  }
  if (ofPath === lane) lines.push(`critical path: ${pathText(model, piece)}`);
  return lines;
}

function pathText({ path, strings, classes }: Model, row: number): string {
  const call = `${strings[path.call[row]]} ${strings[path.target[row]]}`.trim();
  const cls = classes[path.class[row]].title;
  return `${call ? `${call} (${cls})` : cls}, ${duration(path.endNs[row] - path.startNs[row])}`;
}
