import { Component, createRef, render } from "preact";
import type { Finding, Meta } from "./contract.ts";
import {
  AXIS,
  drawLanes,
  drawMini,
  LANES,
  LOW_MINI,
  MINI,
  moment,
  namesWidth,
  ROW,
  type Scene,
  type Theme,
  visible,
} from "./draw.ts";
import { Icicle, type Node, placed } from "./icicle.tsx";
import { type Lock, lockRows, lockSentence, locksOf } from "./locks.ts";
import { type Lane, type Model, modelOf, pathAt } from "./model.ts";
import { Detail, OffPath, offPath, SumTable } from "./panels.tsx";
import { paletteOf } from "./raster.ts";
import { callsNamed, found, type Hit } from "./search.ts";
import { laneOf, sumsOf } from "./sums.ts";
import { makeSortable } from "./tables.ts";
import { describedAt, Tip } from "./tip.tsx";
import {
  clamped,
  duration,
  hashOf,
  laneAt,
  linkOf,
  MODES,
  type Mode,
  nameOf,
  type Range,
  type Row,
  rowOfLane,
  rowsOf,
  zoomed,
} from "./view.ts";

const MODE_NAMES: Record<Mode, string> = {
  tree: "tree",
  packed: "packed",
  path: "critical path only",
  program: "by program",
};
/** Lanes of a log are sources. */
const LOG_MODE_NAMES: Record<Mode, string> = { ...MODE_NAMES, tree: "by source", program: "by kind of source" };
const nameOfMode = (mode: Mode, model: Model) => (model.isLog ? LOG_MODE_NAMES : MODE_NAMES)[mode];
const MAX_LISTED = 60;
/** With more lanes, they are grouped: rows of one letter say nothing, and sources of a log begin one after the other. */
const MAX_TREE = 40;
const MAX_SOURCES = 20;
/** Of several captures, each has few rows, so that all timelines are in sight, and bands are lower. */
const MAX_TREE_OF_SEVERAL = 8;
const SLOTS_OF_SEVERAL = 2;
/** Milliseconds from a change of the view to that of the address. */
const ADDRESS_MS = 150;
const SCROLLS = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", "Tab"]);
const KEYS: [string, string][] = [
  ["← → or A D", "move in time"],
  ["+ − or W S", "zoom in and out"],
  ["0", "show the whole window"],
  ["↑ ↓", "go to another lane"],
  ["n, p", "next and previous finding"],
  ["Enter", "zoom to the finding"],
  ["[ ]", "previous and next stretch of the critical path"],
  ["b", "select the visible time and sum it"],
  ["Esc", "end the selection"],
  ["m", "other rows"],
  ["/", "search"],
  ["Drag", "move; with Shift, or on the axis: select"],
  ["Wheel", "zoom, once the timeline has the focus; Ctrl and wheel always"],
  ["?", "this list"],
];

interface State {
  range: Range;
  top: number;
  mode: Mode;
  focusRow: number;
  finding: number | null;
  /** The lane that the user went to; none at first. */
  chosen: number | null;
  selection: Range | null;
  atNs: number;
  search: string;
  hit: number;
  isHelpOpen: boolean;
  isIcicleOpen: boolean;
  message: string;
}

/** The timelines of a page, from the top. They show the same range; the address is that of the first. */
const apps: App[] = [];

class App extends Component<{ model: Model; prefix: string }, State> {
  lanesRef = createRef<HTMLCanvasElement>();
  miniRef = createRef<HTMLCanvasElement>();
  boxRef = createRef<HTMLDivElement>();
  searchRef = createRef<HTMLInputElement>();
  rows: Row[] = [];
  rowOf: Int32Array = new Int32Array();
  rowsMode: Mode | null = null;
  hits: Hit[] = [];
  hitLanes: ReadonlySet<number> = new Set();
  locks: Lock[] = locksOf(this.props.model);
  tipRef = createRef<Tip>();
  nodes: Node[] = placed(this.props.model.meta.icicle, this.props.model.classes);
  pointers = new Map<number, PointerEvent>();
  drag: { kind: "pan" | "select" | "mini"; fromNs: number; range: Range; top: number; x: number; y: number } | null =
    null;
  theme = themeOf(this.props.model);
  looks = offPath(this.props.model);
  summary = this.about(this.props.model.capture.limits);
  address = 0;
  state: State = this.started();
  frame = 0;

  /** Whether the page compares captures. */
  get isOneOfSeveral() {
    return Boolean(this.props.model.meta.label);
  }

  get minNs() {
    return Math.min(this.props.model.wallNs, Math.max(200, this.props.model.capture.tick_ns));
  }

  started(): State {
    const { model } = this.props;
    const link = linkOf(location.hash);
    const whole = { fromNs: 0, toNs: model.scaleNs };
    const maxTree = this.isOneOfSeveral ? MAX_TREE_OF_SEVERAL : model.isLog ? MAX_SOURCES : MAX_TREE;
    const mode = link.mode ?? (model.lanes.length <= maxTree ? "tree" : "program");
    this.arrange(mode);
    const lane = link.task === null ? undefined : model.laneOfTask.get(link.task);
    const focusRow = Math.max(0, this.rowOf[lane ?? mostOnPath(model)]);
    // What the path spends most time in is in sight; programs are in this order.
    const isBelow = mode !== "program" && focusRow * ROW > this.height - LANES - 2 * ROW;
    const finding = link.finding !== null && link.finding < model.findings.length ? link.finding : null;
    return {
      range: link.range ? clamped(link.range, model.scaleNs, this.minNs) : whole,
      top: lane === undefined && !isBelow ? 0 : Math.min(Math.max(0, (focusRow - 4) * ROW), this.maxTop),
      mode,
      focusRow,
      finding,
      chosen: lane ?? null,
      selection: null,
      atNs: link.range ? (link.range.fromNs + link.range.toNs) / 2 : 0,
      search: "",
      hit: 0,
      isHelpOpen: false,
      isIcicleOpen: false,
      message: "",
    };
  }

  arrange(mode: Mode) {
    if (this.rowsMode === mode) return;
    const slots = this.isOneOfSeveral ? SLOTS_OF_SEVERAL : undefined;
    const locks = mode === "program" ? lockRows(this.locks) : [];
    this.rows = [...locks, ...rowsOf(this.props.model.lanes, mode, slots)];
    this.rowOf = rowOfLane(this.rows, this.props.model.lanes.length);
    this.rowsMode = mode;
  }

  componentDidMount() {
    apps.push(this);
    const redraw = () => this.forceUpdate();
    new ResizeObserver(redraw).observe(this.boxRef.current!);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.theme = themeOf(this.props.model);
      redraw();
    });
    addEventListener("hashchange", () => location.hash !== this.hash() && this.setState(this.started()));
    addEventListener("keydown", this.pageKey);
    this.boxRef.current!.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.paint();
  }

  componentDidUpdate(_: unknown, before: State) {
    this.paint();
    const { range, finding, mode, focusRow } = this.state;
    if (before.range !== range) for (const other of apps) if (other.state.range !== range) other.setState({ range });
    if (apps[0] !== this) return;
    if (before.range !== range || before.finding !== finding || before.mode !== mode || before.focusRow !== focusRow) {
      this.keepAddress();
    }
  }

  /** The address follows once the view rests: browsers accept few changes per second, and each takes time. */
  keepAddress() {
    clearTimeout(this.address);
    this.address = window.setTimeout(() => history.replaceState(null, "", this.hash()), ADDRESS_MS);
  }

  hash() {
    const { range, finding, mode, focusRow } = this.state;
    const { scaleNs, lanes } = this.props.model;
    const isWhole = range.fromNs <= 0 && range.toNs >= scaleNs;
    const lane = lanes[this.rows[focusRow]?.lanes[0]];
    return hashOf({ range: isWhole ? null : range, task: lane ? lane.task : null, finding, mode });
  }

  scene(): Scene {
    const { model } = this.props;
    const { range, top, focusRow, finding, selection, chosen, search, hit } = this.state;
    return {
      model,
      rows: this.rows,
      rowOf: this.rowOf,
      range,
      top,
      focusRow,
      finding,
      selection,
      chosen,
      locks: this.locks,
      hits: search ? this.hits : [],
      hitLanes: this.hitLanes,
      hit: (search && this.hits[hit]) || null,
      theme: this.theme,
    };
  }

  paint() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      if (!this.lanesRef.current || !this.miniRef.current) return;
      performance.mark("tz-paint");
      const scene = this.scene();
      drawLanes(this.lanesRef.current, scene);
      drawMini(this.miniRef.current, scene);
      performance.measure("tz-frame", "tz-paint");
    });
  }

  get height() {
    // Of several captures, the second is to be seen without scrolling.
    const tallest = this.isOneOfSeveral
      ? ROW * Math.floor(Math.max(4, Math.min(9, (innerHeight * 0.16) / ROW)))
      : Math.max(9 * ROW, Math.min(480, innerHeight * 0.55));
    return LANES + Math.min(Math.max(this.rows.length, 2) * ROW, tallest);
  }

  get maxTop() {
    return Math.max(0, this.rows.length * ROW - (this.height - LANES));
  }

  move(range: Range) {
    this.setState({ range: clamped(range, this.props.model.scaleNs, this.minNs) });
  }

  zoom(factor: number, aroundNs?: number) {
    const { range } = this.state;
    const around = aroundNs ?? (range.fromNs + range.toNs) / 2;
    this.setState({ range: zoomed(range, factor, around, this.props.model.scaleNs, this.minNs) });
  }

  pan(share: number) {
    const { fromNs, toNs } = this.state.range;
    const by = share * (toNs - fromNs);
    this.move({ fromNs: fromNs + by, toNs: toNs + by });
  }

  /** A row comes into view. */
  focus(row: number, more: Partial<State> = {}) {
    let focusRow = Math.min(Math.max(row, 0), this.rows.length - 1);
    // A band is one place for the keys.
    const slot = this.rows[focusRow]?.band?.slot ?? 0;
    const down = row > this.state.focusRow && focusRow - slot === this.state.focusRow;
    const { slots } = this.rows[focusRow]?.band ?? { slots: 1 };
    if (slot && down && focusRow - slot + slots < this.rows.length) focusRow += slots - slot;
    else focusRow -= slot;
    const lane = this.rows[focusRow]?.lanes;
    more = { chosen: lane?.length === 1 ? lane[0] : null, ...more };
    const [y, tall] = [focusRow * ROW, this.height - LANES];
    const top = Math.min(Math.max(this.state.top, y + 2 * ROW - tall), Math.max(0, y - ROW));
    this.setState({ ...more, focusRow, top: Math.min(Math.max(top, 0), this.maxTop) });
  }

  focusLane(lane: number, more: Partial<State> = {}) {
    if (this.rowOf[lane] < 0) {
      this.arrange("tree");
      more = { ...more, mode: "tree" };
    }
    this.focus(this.rowOf[lane], { chosen: lane, ...more });
  }

  showFinding(number: number, zooms: boolean) {
    const { model } = this.props;
    const finding = model.findings[number];
    if (!finding) return;
    const [task] = finding.stretches[0] ?? [-1, 0, 0];
    const { fromNs, range } = this.extentOf(finding);
    const message = `Finding ${number + 1} of ${model.findings.length}: ${finding.title}`;
    const more: Partial<State> = { finding: number, message, atNs: fromNs, ...(zooms ? { range } : {}) };
    const lane = model.laneOfTask.get(task);
    if (lane === undefined) this.setState({ ...more } as State);
    else this.focusLane(lane, more);
  }

  /** All of a finding, and a range that shows it. */
  extentOf({ stretches }: Finding): { fromNs: number; range: Range } {
    const { wallNs, scaleNs } = this.props.model;
    const fromNs = Math.min(...(stretches.length ? stretches.map((stretch) => stretch[1]) : [0]));
    const toNs = Math.max(...(stretches.length ? stretches.map((stretch) => stretch[2]) : [wallNs]));
    const margin = Math.max((toNs - fromNs) * 0.08, this.minNs);
    const range = { fromNs: Math.max(0, fromNs - margin), toNs: Math.min(wallNs, toNs + margin) };
    return { fromNs, range: clamped(range, scaleNs, this.minNs) };
  }

  stepPath(by: number) {
    const { path, lanes, strings } = this.props.model;
    const row = Math.min(Math.max(pathAt(path, this.state.atNs) + by, 0), path.startNs.length - 1);
    const [fromNs, toNs] = [path.startNs[row], path.endNs[row]];
    const { range } = this.state;
    const lane = laneOf(path, row);
    const call = strings[path.call[row]] || this.props.model.classes[path.class[row]].title;
    const message = `Critical path, ${moment(fromNs, range)}: ${lane < 0 ? `several ${this.props.model.isLog ? "messages" : "tasks"}` : nameOf(lanes[lane])}, ${call}, ${duration(toNs - fromNs)}`;
    const length = range.toNs - range.fromNs;
    const isVisible = fromNs >= range.fromNs && fromNs < range.toNs;
    const more: Partial<State> = { atNs: fromNs, selection: { fromNs, toNs }, message };
    if (!isVisible)
      more.range = clamped(
        { fromNs: fromNs - length / 2, toNs: fromNs + length / 2 },
        this.props.model.scaleNs,
        this.minNs,
      );
    if (lane < 0) this.setState(more as State);
    else this.focusLane(lane, more);
  }

  /** Keys of the page, as long as nothing has the focus. Those that scroll a page do so. */
  pageKey = (event: KeyboardEvent) => {
    const hasFocus = document.activeElement && document.activeElement !== document.body;
    if (hasFocus || event.defaultPrevented || apps[0] !== this || SCROLLS.has(event.key)) return;
    if (event.key !== "/") this.boxRef.current?.focus({ preventScroll: true });
    this.key(event);
  };

  key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { model } = this.props;
    const { finding, focusRow } = this.state;
    const count = model.findings.length;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.pan(-0.15),
      a: () => this.pan(-0.15),
      ArrowRight: () => this.pan(0.15),
      d: () => this.pan(0.15),
      w: () => this.zoom(0.7),
      "+": () => this.zoom(0.7),
      "=": () => this.zoom(0.7),
      s: () => this.zoom(1 / 0.7),
      "-": () => this.zoom(1 / 0.7),
      "0": () => this.move({ fromNs: 0, toNs: model.scaleNs }),
      ArrowUp: () => this.focus(focusRow - 1),
      ArrowDown: () => this.focus(focusRow + 1),
      PageUp: () => this.focus(focusRow - 15),
      PageDown: () => this.focus(focusRow + 15),
      Home: () => this.focus(0),
      End: () => this.focus(this.rows.length - 1),
      n: () => count && this.showFinding(finding === null ? 0 : (finding + 1) % count, false),
      p: () => count && this.showFinding(finding === null ? count - 1 : (finding + count - 1) % count, false),
      Enter: () => count && this.showFinding(finding ?? 0, true),
      "[": () => this.stepPath(-1),
      "]": () => this.stepPath(1),
      b: () => this.setState({ selection: this.state.range, message: "" }),
      m: () => this.setMode(MODES[(MODES.indexOf(this.state.mode) + 1) % MODES.length]),
      "/": () => this.searchRef.current?.focus(),
      "?": () => this.setState({ isHelpOpen: !this.state.isHelpOpen }),
      Escape: () => this.setState({ selection: null, isHelpOpen: false }),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };

  setMode(mode: Mode) {
    const lane = this.rows[this.state.focusRow]?.lanes[0] ?? 0;
    this.arrange(mode);
    this.setState({ mode, top: 0 });
    // Other rows choose no other task: its arrows would come with them.
    this.focus(Math.max(0, this.rowOf[lane]), {
      mode,
      chosen: this.state.chosen,
      message: `Rows: ${nameOfMode(mode, this.props.model)}, ${this.rows.length}`,
    });
  }

  timeAt(event: { clientX: number }): number {
    const box = this.lanesRef.current!.getBoundingClientRect();
    const left = namesWidth(box.width);
    const { fromNs, toNs } = this.state.range;
    return fromNs + ((event.clientX - box.left - left) / (box.width - left)) * (toNs - fromNs);
  }

  wheel(event: WheelEvent) {
    const hasFocus = this.boxRef.current!.contains(document.activeElement);
    const isZoom =
      event.ctrlKey ||
      event.metaKey ||
      (hasFocus && Math.abs(event.deltaY) > Math.abs(event.deltaX) && !event.shiftKey);
    if (isZoom) {
      event.preventDefault();
      this.zoom(Math.exp(Math.min(Math.max(event.deltaY, -60), 60) * 0.005), this.timeAt(event));
    } else if (event.deltaX || event.shiftKey) {
      event.preventDefault();
      this.pan((event.deltaX || event.deltaY) / 800);
    } else if (this.maxTop && this.state.top + event.deltaY > 0 && this.state.top + event.deltaY < this.maxTop) {
      event.preventDefault();
      this.setState({ top: this.state.top + event.deltaY });
    }
  }

  down = (event: PointerEvent) => {
    this.pointers.set(event.pointerId, event);
    (event.currentTarget as Element).setPointerCapture?.(event.pointerId);
    const box = this.lanesRef.current!.getBoundingClientRect();
    const isSelect = event.shiftKey || event.clientY - box.top < AXIS;
    const { range, top } = this.state;
    this.drag = {
      kind: isSelect ? "select" : "pan",
      fromNs: this.timeAt(event),
      range,
      top,
      x: event.clientX,
      y: event.clientY,
    };
  };

  moved = (event: PointerEvent) => {
    const last = this.pointers.get(event.pointerId);
    if (!last || !this.drag) return;
    if (this.pointers.size === 2) {
      const [a, b] = [...this.pointers.values()];
      const before = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
      this.pointers.set(event.pointerId, event);
      const [c, d] = [...this.pointers.values()];
      const after = Math.hypot(c.clientX - d.clientX, c.clientY - d.clientY);
      this.zoom(before / Math.max(1, after), this.timeAt({ clientX: (c.clientX + d.clientX) / 2 }));
      return;
    }
    this.pointers.set(event.pointerId, event);
    if (this.drag.kind === "select") {
      const [fromNs, toNs] = [this.drag.fromNs, this.timeAt(event)].sort((a, b) => a - b);
      const { wallNs } = this.props.model;
      if (toNs > 0 && fromNs < wallNs)
        this.setState({ selection: { fromNs: Math.max(0, fromNs), toNs: Math.min(wallNs, toNs) } });
      return;
    }
    const { range, top, x, y } = this.drag;
    const width = this.lanesRef.current!.clientWidth;
    const by = ((x - event.clientX) / (width - namesWidth(width))) * (range.toNs - range.fromNs);
    this.move({ fromNs: range.fromNs + by, toNs: range.toNs + by });
    this.setState({ top: Math.min(Math.max(top + y - event.clientY, 0), this.maxTop) });
  };

  up = (event: PointerEvent) => {
    this.pointers.delete(event.pointerId);
    if (this.drag && Math.hypot(event.clientX - this.drag.x, event.clientY - this.drag.y) < 4) this.click(event);
    this.drag = null;
  };

  click(event: PointerEvent) {
    const box = this.lanesRef.current!.getBoundingClientRect();
    const atNs = this.timeAt(event);
    const { model } = this.props;
    const isPath = event.clientY - box.top < LANES;
    const onPath = this.rowOf[laneOf(model.path, pathAt(model.path, atNs))] ?? -1;
    const row = isPath ? onPath : Math.floor((event.clientY - box.top - LANES + this.state.top) / ROW);
    if (row < 0 || row >= this.rows.length) return;
    const over = model.findings.findIndex((finding) =>
      finding.stretches.some(
        ([task, from, to]) => this.rowOf[model.laneOfTask.get(task) ?? -1] === row && from <= atNs && atNs <= to,
      ),
    );
    this.focus(row, { atNs, finding: over < 0 ? null : over, message: "" });
    articleOf(model, over)?.scrollIntoView({ block: "nearest" });
  }

  overMini = (event: PointerEvent) => {
    if (event.type === "pointermove" && !event.buttons) return;
    (event.currentTarget as Element).setPointerCapture?.(event.pointerId);
    const box = this.miniRef.current!.getBoundingClientRect();
    const left = namesWidth(box.width);
    const atNs = ((event.clientX - box.left - left) / (box.width - left)) * this.props.model.scaleNs;
    const { fromNs, toNs } = this.state.range;
    this.move({ fromNs: atNs - (toNs - fromNs) / 2, toNs: atNs + (toNs - fromNs) / 2 });
  };

  find = (text: string) => {
    this.hits = found(this.props.model, text);
    this.hitLanes = new Set(this.hits.map((hit) => hit.lane));
    this.setState({ search: text, hit: 0 });
    if (this.hits.length) this.showHit(0, { search: text });
  };

  /** Which hit of how many. Calls that are not drawn exactly are only counted. */
  countOfHits(hit: number, text: string): string {
    const { exact } = this.props.model;
    const all = callsNamed(this.props.model, text);
    const inAll = all > this.hits.length ? `; ${all.toLocaleString("en")} calls in all` : "";
    const more = exact.isComplete ? "" : ` in what is drawn exactly${inAll}`;
    return this.hits.length ? `${hit + 1} of ${this.hits.length.toLocaleString("en")}${more}` : `none${more}`;
  }

  nextHit(by: number) {
    if (this.hits.length) this.showHit((this.state.hit + by + this.hits.length) % this.hits.length);
  }

  showHit(hit: number, more: Partial<State> = {}) {
    const { lane: number, atNs, text } = this.hits[hit];
    const { range } = this.state;
    const lane = this.props.model.lanes[number];
    const [from, to] = atNs === null ? [lane.birthNs, lane.endNs] : [atNs, atNs];
    const isVisible = to >= range.fromNs && from <= range.toNs;
    const length = range.toNs - range.fromNs;
    const around = clamped(
      { fromNs: from - length / 2, toNs: from + length / 2 },
      this.props.model.scaleNs,
      this.minNs,
    );
    this.focusLane(number, {
      ...more,
      hit,
      message: text,
      ...(atNs === null ? {} : { atNs }),
      ...(isVisible ? {} : { range: around }),
    });
  }

  /** What is under the pointer, next to it. */
  hover = (event: PointerEvent) => {
    const tip = this.tipRef.current;
    if (!tip) return;
    const box = this.lanesRef.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const isOut = event.type !== "pointermove" || this.drag !== null || x < namesWidth(box.width) || y < AXIS;
    if (isOut) return tip.show(null);
    const { model } = this.props;
    const row = y < LANES ? null : this.rows[Math.floor((y - LANES + this.state.top) / ROW)];
    const perPixel = (this.state.range.toNs - this.state.range.fromNs) / (box.width - namesWidth(box.width));
    const lines = row === undefined ? null : describedAt(model, row, this.timeAt(event), perPixel, this.locks);
    tip.show(lines && { x, y, width: box.width, lines });
  };

  render() {
    const { model } = this.props;
    const { mode, search, hit, isHelpOpen, isIcicleOpen, message, range } = this.state;
    return (
      <div class={this.isOneOfSeveral ? "tz tz-several" : "tz"}>
        <div class="tz-bar">
          {this.isOneOfSeveral && (
            <strong class="tz-label" aria-hidden="true" title={model.meta.label}>
              {model.meta.label}
            </strong>
          )}
          <span class="tz-group">
            <input
              ref={this.searchRef}
              type="search"
              placeholder="Search"
              aria-label="Search by program, argument, process id, call or target"
              title="Program, argument, process id, call or target"
              value={search}
              onInput={(event) => this.find(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter") this.nextHit(event.shiftKey ? -1 : 1);
                if (event.key === "Escape") this.boxRef.current?.focus();
              }}
            />
            <span class="tz-note" id={`${this.props.prefix}-hits`} role="status">
              {search ? this.countOfHits(hit, search) : ""}
            </span>
          </span>
          <label>
            Rows{" "}
            <select value={mode} onChange={(event) => this.setMode(event.currentTarget.value as Mode)}>
              {MODES.map((each) => (
                <option key={each} value={each}>
                  {nameOfMode(each, model)}
                </option>
              ))}
            </select>
          </label>
          <span class="tz-group">
            <button type="button" aria-label="Zoom in" title="Zoom in (w)" onClick={() => this.zoom(0.5)}>
              +
            </button>
            <button type="button" aria-label="Zoom out" title="Zoom out (s)" onClick={() => this.zoom(2)}>
              −
            </button>
            <button
              type="button"
              title="The whole window (0)"
              onClick={() => this.move({ fromNs: 0, toNs: model.scaleNs })}
            >
              All
            </button>
          </span>
          <button
            type="button"
            aria-expanded={isIcicleOpen}
            onClick={() => this.setState({ isIcicleOpen: !isIcicleOpen })}
          >
            Icicle
          </button>
          <button type="button" aria-expanded={isHelpOpen} onClick={() => this.setState({ isHelpOpen: !isHelpOpen })}>
            Keys ?
          </button>
          <span class="tz-note tz-range">
            {moment(range.fromNs, range)} to {moment(range.toNs, range)} ({duration(range.toNs - range.fromNs)})
          </span>
        </div>
        {isIcicleOpen && <Icicle nodes={this.nodes} classes={model.classes} ofCapture={model.ofCapture} />}
        <div class="tz-mini" onPointerDown={this.overMini} onPointerMove={this.overMini}>
          <canvas ref={this.miniRef} style={{ height: `${this.isOneOfSeveral ? LOW_MINI : MINI}px` }} />
        </div>
        <div
          ref={this.boxRef}
          class={`tz-lanes${this.drag ? " tz-drag" : ""}`}
          tabIndex={0}
          role="application"
          aria-label={`Timeline${model.ofCapture}. Press ? for the keys.`}
          aria-describedby={`${this.props.prefix}-list`}
          onKeyDown={this.key}
          onPointerDown={this.down}
          onPointerMove={(event) => {
            this.moved(event);
            this.hover(event);
          }}
          onPointerLeave={this.hover}
          onPointerUp={this.up}
          onPointerCancel={this.up}
        >
          <canvas ref={this.lanesRef} style={{ height: `${this.height}px` }} />
          <Tip ref={this.tipRef} />
        </div>
        {isHelpOpen && <Help close={() => this.setState({ isHelpOpen: false })} />}
        <p class="tz-note tz-message" role="status" aria-live="polite" id={`${this.props.prefix}-message`}>
          {message || this.summary}
        </p>
        {!this.isOneOfSeveral && this.notes()}
        {this.list()}
        {this.under()}
      </div>
    );
  }

  /** What the colours of the lanes mean, and what locks cost. */
  notes() {
    return (
      <>
        <OffPath looks={this.looks} isLog={this.props.model.isLog} />
        {this.locks.map((lock) => (
          <p class="tz-note tz-message" key={lock.name}>
            {lockSentence(lock)}.
          </p>
        ))}
      </>
    );
  }

  /** The sums and the chosen lane; of several captures they are folded, so that the next timeline is in sight. */
  under() {
    const { model } = this.props;
    const { selection, range, focusRow } = this.state;
    const content = (
      <div class="tz-under">
        <SumTable
          id={`${this.props.prefix}-sums`}
          model={model}
          sums={sumsOf(model, selection ?? range)}
          range={selection ?? range}
          isSelection={selection !== null}
        />
        <Detail model={model} lane={this.laneOfFocus(focusRow)} atNs={this.state.atNs} range={selection ?? range} />
      </div>
    );
    if (!this.isOneOfSeveral) return content;
    return (
      <details>
        <summary class="tz-note">
          Sums and lane<span class="tz-hidden">{model.ofCapture}</span>
        </summary>
        {this.notes()}
        {content}
      </details>
    );
  }

  laneOfFocus(row: number): Lane | null {
    const chosen = this.rows[row];
    if (!chosen) return null;
    const tolerance = (this.state.range.toNs - this.state.range.fromNs) / 200;
    const lane = laneAt(this.props.model.lanes, chosen, this.state.atNs, tolerance);
    return this.props.model.lanes[lane < 0 ? chosen.lanes[0] : lane];
  }

  about(limits: Record<string, number>): string {
    const { model } = this.props;
    if (model.isLog) return aboutLog(limits);
    const tasks = limits.tasks.toLocaleString("en");
    const parts = [
      limits.lanes === limits.tasks
        ? `Each task has a lane: ${tasks}`
        : `${limits.lanes.toLocaleString("en")} of ${tasks} tasks have a lane`,
    ];
    const foldedNs = Object.values(model.capture.folded_ns).reduce((sum, ns) => sum + ns, 0);
    if (foldedNs) parts.push(`the others live for ${duration(foldedNs)} in all`);
    if (!model.exact.isComplete) {
      parts.push(
        `${limits.exact_calls.toLocaleString("en")} of ${limits.calls.toLocaleString("en")} calls are drawn exactly, the rest as the class with most time`,
      );
    }
    if (model.movedNs)
      parts.push(`short stretches of the critical path are drawn within ${duration(model.movedNs)} of their place`);
    return `${parts.join("; ")}.`;
  }

  /** The visible rows as text, for screen readers. */
  list() {
    const { model } = this.props;
    const [first, end] = visible({ rows: this.rows, top: this.state.top }, this.height);
    const sentence = (row: Row) => {
      const lane = model.lanes[row.lanes[0]];
      const lock = this.locks[row.band?.lock ?? -1];
      if (lock) return `${row.name}: ${lockSentence(lock)}`;
      if (row.band) return `${row.name}: ${row.band.about}`;
      if (row.lanes.length > 1) return `${row.name}: ${row.lanes.length} tasks`;
      return `${nameOf(lane)}, ${moment(lane.birthNs, { fromNs: 0, toNs: model.wallNs })} for ${duration(lane.endNs - lane.birthNs)}, on the critical path for ${duration(lane.onPathNs)}`;
    };
    return (
      <ul
        class="tz-hidden"
        id={`${this.props.prefix}-list`}
        aria-label={`Visible lanes, ${first + 1} to ${end} of ${this.rows.length}`}
      >
        {this.rows
          .slice(first, Math.min(end, first + MAX_LISTED))
          .filter((row) => !row.band?.slot)
          .map((row) => (
            <li key={`${row.name} ${row.lanes[0]}`}>{sentence(row)}</li>
          ))}
      </ul>
    );
  }
}

function Help({ close }: { close: () => void }) {
  return (
    <div class="tz-help" role="dialog" aria-label="Keys">
      <dl>{KEYS.flatMap(([key, what]) => [<dt key={key}>{key}</dt>, <dd key={what}>{what}</dd>])}</dl>
      <button type="button" onClick={close}>
        Close
      </button>
    </div>
  );
}

/** What the lanes of a log show of it. */
function aboutLog(limits: Record<string, number>): string {
  const [sources, messages] = [limits.all_sources, limits.messages].map((each) => each.toLocaleString("en"));
  const isWhole = limits.sources === limits.all_sources;
  const lanes = isWhole
    ? `Each source of messages has a lane: ${sources}`
    : `${limits.sources.toLocaleString("en")} of ${sources} sources have a lane`;
  const drawn =
    limits.exact_messages === limits.messages
      ? "a message lasts until the next one of its source, in full color until the next one of any"
      : `${limits.exact_messages.toLocaleString("en")} of ${messages} messages are drawn`;
  return `${lanes}; ${drawn}.`;
}

/** The lane that the critical path spends most time in. */
function mostOnPath(model: Model): number {
  return model.lanes.reduce((most, lane) => (lane.onPathNs > model.lanes[most].onPathNs ? lane.number : most), 0);
}

function themeOf(model: Model): Theme {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string, otherwise: string) => hex(style.getPropertyValue(name).trim()) ?? otherwise;
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const paper = color("--paper", isDark ? "#14171a" : "#ffffff");
  return {
    ink: color("--ink", isDark ? "#e4e6e9" : "#1c1f23"),
    dim: color("--dim", isDark ? "#a3a9b0" : "#5b6168"),
    rule: color("--rule", isDark ? "#363b41" : "#d9dcdf"),
    bad: color("--bad", isDark ? "#ff8a80" : "#b3261e"),
    accent: isDark ? "#6db3f2" : "#1f6fb8",
    paper,
    palette: paletteOf(model.classes, paper, isDark ? "#4a5058" : "#c3c8ce"),
  };
}

function hex(color: string): string | null {
  if (/^#[0-9a-f]{6}$/i.test(color)) return color;
  return /^#[0-9a-f]{3}$/i.test(color) ? `#${[...color.slice(1)].map((digit) => digit + digit).join("")}` : null;
}

function articleOf(model: Model, finding: number): HTMLElement | null {
  const id = model.findings[finding]?.article;
  return id ? document.getElementById(id) : null;
}

/** Each finding of the page gets a button that shows it in the timeline. */
function linkFindings(model: Model, app: App): void {
  model.findings.forEach((finding, number) => {
    const heading = articleOf(model, number)?.querySelector("h3");
    if (!heading || !finding.stretches.length || heading.querySelector(".tz-show")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "tz-show";
    button.textContent = "Show in the timeline";
    button.addEventListener("click", () => {
      app.showFinding(number, true);
      document.getElementById("timeline")?.scrollIntoView({ block: "start" });
      app.boxRef.current?.focus({ preventScroll: true });
    });
    heading.append(button);
  });
}

/** Each capture of a page has a document, and a section with its static picture. */
async function start(): Promise<void> {
  document.querySelectorAll("table").forEach(makeSortable);
  if (typeof DecompressionStream === "undefined") return;
  let form = "";
  for (const about of document.querySelectorAll<HTMLElement>("script[id^=tz-][id$=meta]")) {
    const prefix = about.id.slice(0, -"-meta".length);
    const section = document.getElementById(`${prefix.slice("tz-".length)}${prefix === "tz" ? "" : "-"}timeline`);
    if (!section) continue;
    const meta: Meta = JSON.parse(about.textContent ?? "");
    const model = await modelOf(meta, 0, (id) => document.getElementById(id)?.textContent ?? "");
    // A log of which no message fits into the page has one lane: its stretches in the static picture show more.
    const draws = model.capture.limits.calls > 0 || model.isLog;
    if (draws) replace(section, model, prefix);
    form = draws || form === "ready" ? "ready" : "static";
  }
  if (!form) return;
  document.documentElement.dataset.tz = form;
  performance.mark("tz-ready");
}

/** The static picture stays for printing, and because the key above it refers to its hatches. */
function replace(section: HTMLElement, model: Model, prefix: string): void {
  const figure = section.querySelector("figure");
  const root = document.createElement("div");
  section.insertBefore(root, figure);
  const made = createRef<App>();
  performance.mark("tz-model");
  render(<App model={model} prefix={prefix} ref={made} />, root);
  figure?.classList.add("tz-static");
  figure?.setAttribute("inert", "");
  if (made.current) linkFindings(model, made.current);
}

/** The static page is shown before the timeline is made. A page in the background has no frames to wait for. */
function afterPaint(act: () => void): void {
  if (document.visibilityState === "visible") requestAnimationFrame(() => setTimeout(act));
  else act();
}

afterPaint(() => start().catch((error: unknown) => console.error("The timeline stays static:", error)));
