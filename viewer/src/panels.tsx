import type { ClassLook } from "./contract.ts";
import { moment } from "./draw.ts";
import { exactAt, type Lane, type Model } from "./model.ts";
import type { Sums } from "./sums.ts";
import { duration, nameOf, type Range } from "./view.ts";

/** The sums of the critical path in a range, by class and by task. */
export function SumTable({
  id,
  model,
  sums,
  range,
  isSelection,
}: {
  id: string;
  model: Model;
  sums: Sums;
  range: Range;
  isSelection: boolean;
}) {
  const share = (ns: number) => `${((100 * ns) / Math.max(1, sums.totalNs)).toFixed(1)}%`;
  return (
    <section aria-label={`Sums${model.ofCapture}`}>
      <h3>
        Critical path in the {isSelection ? "selection" : "visible time"}: {duration(sums.totalNs)}
      </h3>
      <table id={id} data-ns={sums.totalNs}>
        <tbody>
          {sums.classes.map(({ name, ns }) => {
            const look = model.classes.find((each) => each.name === name)!;
            return (
              <tr key={name} data-class={name} data-ns={ns}>
                <td>
                  <span class="tz-swatch" style={{ background: look.color }} /> {look.letter}
                </td>
                <td>{look.title}</td>
                <td class="n">{duration(ns)}</td>
                <td class="n">{share(ns)}</td>
              </tr>
            );
          })}
          {sums.lanes.slice(0, 5).map(({ lane, ns }) => (
            <tr key={lane}>
              <td />
              <td>{lane < 0 ? `other ${model.isLog ? "sources" : "tasks"}` : nameOf(model.lanes[lane])}</td>
              <td class="n">{duration(ns)}</td>
              <td class="n">{share(ns)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="tz-note">
        {moment(range.fromNs, range)} to {moment(range.toNs, range)};{" "}
        {sums.errorNs ? `each sum is accurate to ±${duration(sums.errorNs)}.` : "exact."}
      </p>
    </section>
  );
}

/** The chosen lane, its call at the chosen moment, and a command that lists its events. */
export function Detail({ model, lane, atNs, range }: { model: Model; lane: Lane | null; atNs: number; range: Range }) {
  if (!lane) return null;
  const at = exactAt(model.exact, lane.number, atNs);
  const call = at < 0 ? "" : `${model.strings[model.exact.call[at]]} ${model.strings[model.exact.target[at]]}`;
  const whole = { fromNs: 0, toNs: model.wallNs };
  const [from, to] = [Math.max(0, lane.birthNs), Math.min(model.wallNs, lane.endNs)];
  const times = lane.sumsNs
    .map((ns, cls) => ({ look: model.classes[cls], ns }))
    .filter(({ ns }) => ns > 0)
    .sort((a, b) => b.ns - a.ns);
  return (
    <section aria-label={`Lane${model.ofCapture}`}>
      <h3>{nameOf(lane)}</h3>
      {lane.argv && <p>{lane.argv}</p>}
      <p>
        From {moment(from, whole)} for {duration(to - from)}, {lane.calls.toLocaleString("en")}{" "}
        {model.isLog ? "messages" : `calls, ${lane.ending}`}.{" "}
        {model.isLog ? "Silence after them" : "On the critical path for"} {duration(lane.onPathNs)}. First line:{" "}
        {lane.line}.
      </p>
      {at >= 0 && (
        <p>
          At {moment(atNs, { fromNs: atNs, toNs: atNs + 1e6 })}: {call.trim()},{" "}
          {duration(model.exact.endNs[at] - model.exact.startNs[at])}, line {model.exact.line[at]}.
        </p>
      )}
      {!model.isLog && (
        <p>All of its time: {times.map(({ look, ns }) => `${look.lane_title} ${duration(ns)}`).join(", ") || "0 s"}.</p>
      )}
      <p class="tz-note">
        <code>{commandOf(model, lane, range)}</code>
      </p>
    </section>
  );
}

/** A command that lists the events of a lane, in the range if that is not the whole window. */
function commandOf(model: Model, lane: Lane, range: Range): string {
  const id = lane.tid < 0 ? "" : ` --pid ${lane.pid}`;
  const isWhole = range.fromNs <= 0 && range.toNs >= model.wallNs;
  const seconds = (ns: number) => `+${((ns + model.capture.offset_ns) / 1e9).toFixed(6)}`;
  const times = isWhole ? "" : ` --from ${seconds(range.fromNs)} --to ${seconds(range.toNs)}`;
  return `tracealyze events ${quoted(model.capture.name)}${id}${times}`;
}

/** A word for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The classes of the key below the lanes; it takes all of the path and of the lanes, so it is computed once. */
export function offPath(model: Model): ClassLook[] {
  if (model.isLog) {
    const kinds = new Set(model.exact.class);
    return model.classes.filter((look, cls) => kinds.has(cls) && look.name !== "gap");
  }
  const onPath = new Set(model.path.class);
  return model.classes.filter((_, cls) => !onPath.has(cls) && model.lanes.some((lane) => lane.sumsNs[cls] > 0));
}

/** The classes that no part of the critical path has, so that the key above does not list them. */
export function OffPath({ looks, isLog }: { looks: readonly ClassLook[]; isLog: boolean }) {
  if (!looks.length) return null;
  return (
    <p class="tz-note tz-off">
      {isLog ? "Messages by their words:" : "Off the critical path:"}
      {looks.map((look) => (
        <span key={look.name}>
          <span class="tz-swatch" style={{ background: look.color }} /> {look.lane_title}
        </span>
      ))}
    </p>
  );
}
