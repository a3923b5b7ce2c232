import { ticks } from "d3-array";
import { arrowsOf } from "./arrows.ts";
import { countsOf } from "./bands.ts";
import { type Lock, waitingAt, whatOf } from "./locks.ts";
import { type Model, pathAt } from "./model.ts";
import { blit, darkened, firstExact, hexOf, longestRun, type Palette, pathStrips, stack, strip } from "./raster.ts";
import type { Hit } from "./search.ts";
import { type Stay, staysOf } from "./stays.ts";
import { duration, nameOf, type Range, type Row } from "./view.ts";

export const ROW = 22;
const BAR = 14;
/** Pixels above and below a bar. */
const GAP = 4;
/** The line below a pale bar, in the full colour of its class. */
const EDGE = 2;
export const AXIS = 22;
/** The critical path as a row, below room for the numbers of findings; the lanes begin below it. */
const PATH = AXIS + 8;
export const LANES = PATH + ROW + 2;
export const MINI = 42;
/** Of several captures on a page, without words. */
export const LOW_MINI = 16;
const MAX_WAKES = 30;
const MAX_MARKS = 2000;
const MAX_LABELS = 400;
const FONT = "12px system-ui, sans-serif";
const SMALL = "11px system-ui, sans-serif";
/** Pixels of a stretch of the path that has lines to its neighbours, and the number of such lines: the widest. */
const MIN_STRETCH = 3;
const MAX_JOINS = 16;
/** Radius of the number of a finding. */
const BADGE = 6.5;
const MIN_LABEL = 26;

export interface Theme {
  ink: string;
  dim: string;
  rule: string;
  paper: string;
  accent: string;
  bad: string;
  palette: Palette;
}

export interface Scene {
  model: Model;
  rows: Row[];
  rowOf: Int32Array;
  range: Range;
  /** Scrolled rows, in pixels. */
  top: number;
  focusRow: number;
  finding: number | null;
  selection: Range | null;
  /** A lane that the user chose: its arrows are drawn. */
  chosen: number | null;
  locks: readonly Lock[];
  hits: readonly Hit[];
  hitLanes: ReadonlySet<number>;
  hit: Hit | null;
  theme: Theme;
}

/** Pixels of names to the left of the lanes. */
export function namesWidth(width: number): number {
  return Math.round(Math.min(260, width * 0.24));
}

export function xOf(scene: Pick<Scene, "range">, atNs: number, left: number, width: number): number {
  return left + ((atNs - scene.range.fromNs) / (scene.range.toNs - scene.range.fromNs)) * (width - left);
}

export function drawLanes(canvas: HTMLCanvasElement, scene: Scene): void {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = sized(canvas, ratio);
  const context = canvas.getContext("2d");
  if (!context || width < 40 || height < LANES) return;
  const left = namesWidth(width);
  const path = paintBars(context, scene, ratio, left);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = FONT;
  context.textBaseline = "middle";
  drawSelection(context, scene, left, width, height);
  drawNames(context, scene, left, height);
  const stays = staysOf(
    scene.model,
    scene.range,
    ((scene.range.toNs - scene.range.fromNs) / (width - left)) * MIN_LABEL,
  );
  inside(context, left, LANES, width, height, () => {
    drawCalls(context, scene, left, width, height);
    drawJoins(context, scene, left, width, height);
    drawStays(context, scene, stays, [left, width], path, (lane) => {
      const row = scene.rowOf[lane] ?? -1;
      return row < 0 ? -ROW : yOf(scene, row);
    });
    drawHolds(context, scene, left, width, height);
    drawWakes(context, scene, left, width, height);
    drawHits(context, scene, left, width, height);
  });
  // The number of a finding is half above its row.
  inside(context, left, LANES - BADGE, width, height, () =>
    drawFindings(context, scene, left, width, (task) => {
      const row = scene.rowOf[scene.model.laneOfTask.get(task) ?? -1] ?? -1;
      const y = yOf(scene, row);
      return row < 0 || y < LANES - BADGE || y > height ? null : y;
    }),
  );
  inside(context, left, AXIS, width, LANES, () => {
    drawStays(context, scene, stays, [left, width], path, () => PATH, true);
    drawFindings(context, scene, left, width, () => PATH);
  });
  drawAxis(context, scene, left, width);
}

function inside(
  context: CanvasRenderingContext2D,
  left: number,
  top: number,
  right: number,
  bottom: number,
  draw: () => void,
): void {
  context.save();
  context.beginPath();
  context.rect(left, top, right - left, bottom - top);
  context.clip();
  draw();
  context.restore();
}

function sized(canvas: HTMLCanvasElement, ratio: number): [number, number] {
  const { clientWidth, clientHeight } = canvas;
  const [width, height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)];
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  return [clientWidth, clientHeight];
}

function yOf(scene: Scene, row: number): number {
  return LANES + row * ROW - scene.top;
}

/** The rows that are visible, wholly or in part. */
export function visible(scene: Pick<Scene, "rows" | "top">, height: number): [first: number, end: number] {
  const first = Math.max(0, Math.floor(scene.top / ROW));
  return [first, Math.min(scene.rows.length, Math.ceil((scene.top + height - LANES) / ROW))];
}

/** The pixels of a canvas. They are drawn anew for each frame, but need memory once. */
function pixelsOf(context: CanvasRenderingContext2D): { image: ImageData; pixels: Uint32Array } {
  const { width, height } = context.canvas;
  let known = images.get(context.canvas);
  if (known?.image.width !== width || known.image.height !== height) {
    const image = context.createImageData(width, height);
    known = { image, pixels: new Uint32Array(image.data.buffer) };
    images.set(context.canvas, known);
  }
  return known;
}

const images = new WeakMap<HTMLCanvasElement, { image: ImageData; pixels: Uint32Array }>();

/**
 * Lanes are pale, with a line in the full colour of the class; where the critical path is, the bar has that colour.
 * Returns the class of the critical path in each pixel.
 */
function paintBars(context: CanvasRenderingContext2D, scene: Scene, ratio: number, left: number): Uint8Array {
  const { width, height } = context.canvas;
  const { palette } = scene.theme;
  const { image, pixels } = pixelsOf(context);
  pixels.fill(palette.page);
  const start = Math.round(left * ratio);
  const room = Math.max(1, width - start);
  const classes = new Uint8Array(room);
  const [first, end] = visible(scene, height / ratio);
  const strips = Array.from({ length: Math.max(0, end - first) }, () => new Uint8Array(room));
  pathStrips(scene.model, (lane) => scene.rowOf[lane] ?? -1, first, scene.range, strips);
  const paint = (y: number, tall: number, top: number, strip: Uint8Array, tiles: Uint32Array) => {
    const from = Math.max(Math.round(top * ratio), Math.round(y * ratio));
    const to = Math.min(height, Math.round((y + tall) * ratio));
    if (from < to) blit(pixels, width, start, from, to - from, strip, tiles);
  };
  for (let row = first; row < end; row++) {
    const y = yOf(scene, row) + GAP;
    const { band } = scene.rows[row];
    if (band) {
      if (row === first || band.slot === 0) paintBand(pixels, width, start, ratio, scene, row - band.slot, room);
      if (band.slot === 0) paint(y, BAR, LANES, strips[row - first], palette.tiles);
      continue;
    }
    strip(scene.model, scene.rows[row], scene.range, classes);
    paint(y, BAR - EDGE, LANES, classes, palette.pale);
    paint(y + BAR - EDGE, EDGE, LANES, classes, palette.tiles);
    paint(y, BAR, LANES, strips[row - first], palette.tiles);
  }
  const whole = [new Uint8Array(room)];
  pathStrips(scene.model, () => 0, 0, scene.range, whole);
  paint(PATH + GAP, BAR, AXIS, whole[0], palette.tiles);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.putImageData(image, 0, 0);
  return whole[0];
}

/** The area of a band, below its first row. */
function paintBand(
  pixels: Uint32Array,
  width: number,
  start: number,
  ratio: number,
  scene: Scene,
  row: number,
  room: number,
): void {
  const { band } = scene.rows[row];
  const top = Math.round((yOf(scene, row) + ROW) * ratio);
  const tall = Math.round((((band?.slots ?? 1) - 1) * ROW - 3) * ratio);
  const lock = scene.locks[band?.lock ?? -1];
  const counts = lock ? waitingOf(scene, lock, room) : countsOf(scene.model, scene.rows[row], scene.range, room);
  const place: [number, number, number] = [top, tall, Math.round(LANES * ratio)];
  stack(pixels, width, start, place, counts.classes, counts.most, scene.theme.palette.middle);
}

/** How many tasks wait for a lock, in each pixel. */
function waitingOf({ model, range }: Scene, lock: Lock, room: number): { classes: Float32Array[]; most: number } {
  const classes = model.classes.map(() => new Float32Array(room));
  const of =
    classes[
      Math.max(
        0,
        model.classes.findIndex((look) => look.name === "lock"),
      )
    ];
  const perPixel = (range.toNs - range.fromNs) / room;
  for (let x = 0; x < room; x++) of[x] = waitingAt(lock, range.fromNs + (x + 0.5) * perPixel);
  return { classes, most: Math.max(1, lock.most) };
}

/** Who holds a lock: what it does meanwhile has the colour of its class, and its name where there is room. */
function drawHolds(context: CanvasRenderingContext2D, scene: Scene, left: number, width: number, height: number): void {
  const { model, theme } = scene;
  const [first, end] = visible(scene, height);
  context.font = SMALL;
  for (let row = first; row < end; row++) {
    const { band } = scene.rows[row];
    const lock = scene.locks[band?.lock ?? -1];
    if (!lock || band?.slot !== 0) continue;
    const y = yOf(scene, row) + GAP;
    for (const hold of lock.holds) {
      if (hold.toNs < scene.range.fromNs || hold.fromNs > scene.range.toNs) continue;
      const x = Math.max(left, xOf(scene, hold.fromNs, left, width));
      const room = Math.min(width, xOf(scene, hold.toNs, left, width)) - x;
      const color = hold.call < 0 ? theme.dim : model.classes[hold.class].color;
      context.fillStyle = color;
      context.fillRect(x, y, Math.max(room - 0.5, 0.5), BAR);
      if (room < MIN_LABEL) continue;
      const name = `${nameOf(model.lanes[hold.lane])}: ${whatOf(model.strings, hold)}`;
      const texts = [name, whatOf(model.strings, hold), model.strings[hold.call] ?? ""];
      const text = texts.find((each) => widthOf(context, each) + 10 < room);
      if (!text) continue;
      context.fillStyle = darkened(hold.call < 0 ? "#5b6168" : model.classes[hold.class].color);
      context.fillRect(x + 2, y + 1, widthOf(context, text) + 6, BAR - 2);
      context.fillStyle = "#ffffff";
      context.fillText(text, x + 5, y + BAR / 2 + 0.5);
    }
  }
}

/** What a search found: lanes have a frame, calls a mark below them, and the one that is shown has a line. */
function drawHits(context: CanvasRenderingContext2D, scene: Scene, left: number, width: number, height: number): void {
  const { model, range, theme } = scene;
  const places = new Set<string>();
  context.strokeStyle = theme.accent;
  context.fillStyle = theme.accent;
  context.lineWidth = 1;
  for (const hit of scene.hits) {
    if (places.size > MAX_MARKS) break;
    const row = scene.rowOf[hit.lane] ?? -1;
    const y = yOf(scene, row);
    if (row < 0 || y < LANES - ROW || y > height) continue;
    const [fromNs, toNs] = timeOf(model, hit);
    if (toNs < range.fromNs || fromNs > range.toNs) continue;
    const from = Math.max(left, xOf(scene, fromNs, left, width));
    const to = Math.min(width, Math.max(from + 3, xOf(scene, toNs, left, width)));
    const place = `${Math.round(from)} ${row}`;
    if (places.has(place)) continue;
    places.add(place);
    if (hit.atNs === null) context.strokeRect(from + 0.5, y + GAP - 1.5, to - from - 1, BAR + 2);
    else context.fillRect(from, y + ROW - 3, Math.max(3, to - from), 2.5);
  }
  drawHit(context, scene, left, width, height);
}

function drawHit(context: CanvasRenderingContext2D, scene: Scene, left: number, width: number, height: number): void {
  if (!scene.hit) return;
  const y = yOf(scene, scene.rowOf[scene.hit.lane] ?? -1);
  const [fromNs, toNs] = timeOf(scene.model, scene.hit);
  const from = Math.max(left, xOf(scene, fromNs, left, width));
  const to = Math.min(width, Math.max(from + 4, xOf(scene, toNs, left, width)));
  if (toNs < scene.range.fromNs || fromNs > scene.range.toNs) return;
  context.lineWidth = 2.5;
  context.strokeRect(from - 1, y + GAP - 2, to - from + 2, BAR + 4);
  context.fillRect(Math.round((from + to) / 2), LANES, 1, height - LANES);
}

/** The time of a hit. */
function timeOf({ lanes, exact }: Model, hit: Hit): [number, number] {
  if (hit.atNs === null) return [lanes[hit.lane].birthNs, lanes[hit.lane].endNs];
  return [hit.atNs, hit.row === null ? hit.atNs : exact.endNs[hit.row]];
}

function drawNames(context: CanvasRenderingContext2D, scene: Scene, left: number, height: number): void {
  const [first, end] = visible(scene, height);
  context.font = `600 ${FONT}`;
  context.fillStyle = scene.theme.ink;
  context.fillText("critical path", 8, PATH + ROW / 2 + 0.5);
  inside(context, 0, LANES, left, height, () => {
    for (let row = first; row < end; row++) {
      const y = yOf(scene, row);
      const { band, isGroup } = scene.rows[row];
      const isHit = scene.hitLanes.size > 0 && scene.rows[row].lanes.some((lane) => scene.hitLanes.has(lane));
      if (row === scene.focusRow) {
        context.fillStyle = scene.theme.rule;
        context.fillRect(0, y + 1, left, ROW - 2);
      }
      const x = 8 + 10 * Math.min(scene.rows[row].depth, 10);
      if (band?.slot) {
        context.font = SMALL;
        context.fillStyle = scene.theme.dim;
        if (band.slot === 1) context.fillText(fitted(context, band.about, left - x - 8), x, y + ROW / 2 - 2);
        continue;
      }
      context.font = `${isHit ? "700 " : band || isGroup ? "600 " : ""}${FONT}`;
      context.fillStyle = isHit ? scene.theme.accent : scene.theme.ink;
      context.fillText(fitted(context, scene.rows[row].name, left - x - 8), x, y + ROW / 2 + 0.5);
    }
  });
}

const widths = new Map<string, number>();

/** The width of a name of a call. There are few of them, and measuring is slow. */
function widthOf(context: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    width = context.measureText(text).width;
    widths.set(text, width);
  }
  return width;
}

/** A text that fits, with an ellipsis if it is not all of it. Folders are left out first: the last part of a path counts. */
function fitted(context: CanvasRenderingContext2D, whole: string, room: number): string {
  if (context.measureText(whole).width <= room) return whole;
  const text = whole.replace(/(^|\s)\S*\/(?=[^\s/])/g, "$1…/");
  if (context.measureText(text).width <= room) return text;
  let [from, to] = [0, text.length];
  while (from < to) {
    const middle = (from + to + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= room) from = middle;
    else to = middle - 1;
  }
  return `${text.slice(0, from)}…`;
}

/** Names of calls in wide pale bars, else the letter of the class. */
function drawCalls(context: CanvasRenderingContext2D, scene: Scene, left: number, width: number, height: number): void {
  const { model, range } = scene;
  const perPixel = (range.toNs - range.fromNs) / (width - left);
  const [first, end] = visible(scene, height);
  context.font = SMALL;
  context.fillStyle = scene.theme.ink;
  let drawn = 0;
  for (let row = first; row < end && drawn < MAX_LABELS; row++) {
    const { lanes, band } = scene.rows[row];
    for (const lane of band || lanes.length > 50 ? [] : lanes) {
      const from = firstExact(model, lane, range.fromNs);
      // So many calls are narrower than their names; the bars show their classes.
      if (firstExact(model, lane, range.toNs) - from > 1000) continue;
      for (let at = from; at < model.exact.first[lane + 1] && drawn < MAX_LABELS; at++) {
        if (model.exact.startNs[at] >= range.toNs) break;
        if (model.exact.endNs[at] - model.exact.startNs[at] < 14 * perPixel) continue;
        const startNs = model.isLog ? afterPath(model, lane, model.exact.startNs[at]) : model.exact.startNs[at];
        const x = Math.max(left, xOf(scene, startNs, left, width));
        const room = Math.min(width, xOf(scene, model.exact.endNs[at], left, width)) - x;
        if (room < 14 || isOnPath(model, lane, model.exact.startNs[at], model.exact.endNs[at])) continue;
        const call = model.strings[model.exact.call[at]];
        // A letter says what calls do; all messages are alike.
        const letter = model.isLog ? "" : model.classes[model.exact.class[at]].letter;
        const text = widthOf(context, call) + 10 < room ? call : letter;
        drawn++;
        context.fillText(text, x + 4, yOf(scene, row) + GAP + (BAR - EDGE) / 2 + 0.5);
      }
    }
  }
}

/** The moment from which a message has a pale bar: when the next message of any source ends the silence after it. */
function afterPath({ path }: Model, lane: number, startNs: number): number {
  const row = pathAt(path, startNs);
  return path.lane[row] === lane ? path.endNs[row] : startNs;
}

/** Whether the path is in a lane at the middle of a time; such a stretch has a label of the path. */
function isOnPath(model: Model, lane: number, fromNs: number, toNs: number): boolean {
  return model.path.lane[pathAt(model.path, (fromNs + toNs) / 2)] === lane;
}

/**
 * What wide stretches of the path consist of, on a dark ground so that the text is readable on each colour, where the bar
 * has this colour. `path` is the class in each pixel.
 */
function drawStays(
  context: CanvasRenderingContext2D,
  scene: Scene,
  stays: readonly Stay[],
  [left, width]: [number, number],
  path: Uint8Array,
  yOfLane: (lane: number) => number,
  withName = false,
): void {
  const { model } = scene;
  context.font = SMALL;
  for (const stay of stays) {
    const scale = path.length / (width - left);
    const [from, to] = [stay.fromNs, stay.toNs].map((ns) => (xOf(scene, ns, left, width) - left) * scale);
    const [start, end] = longestRun(path, from, to, stay.class);
    const x = left + start / scale;
    const room = (end - start) / scale - 8;
    const y = yOfLane(stay.lane) + GAP;
    if (y < 0 || room < MIN_LABEL - 8) continue;
    const call = stay.call ? model.strings[stay.call] : model.classes[stay.class].title;
    const target = stay.target ? ` ${model.strings[stay.target]}` : "";
    // A message begins with the name of its source.
    const program = withName && stay.lane >= 0 && !model.isLog ? `${nameOf(model.lanes[stay.lane])}: ` : "";
    const text = [`${program}${call}${target}`, `${program}${call}`, call].find(
      (each) => widthOf(context, each) < room,
    );
    if (!text) continue;
    context.fillStyle = darkened(model.classes[stay.class].color);
    context.fillRect(x + 2, y + 1, widthOf(context, text) + 6, BAR - 2);
    context.fillStyle = "#ffffff";
    context.fillText(text, x + 5, y + BAR / 2 + 0.5);
  }
}

/** Lines between the lanes where the path goes from one to another, of the widest stretches: more would be a fence. */
function drawJoins(context: CanvasRenderingContext2D, scene: Scene, left: number, width: number, height: number): void {
  const { path } = scene.model;
  const joins: { x: number; from: number; to: number; wide: number }[] = [];
  let [lastX, lastY, lastWide] = [Number.NaN, Number.NaN, 0];
  for (let row = pathAt(path, scene.range.fromNs); row < path.startNs.length; row++) {
    if (path.startNs[row] > scene.range.toNs) break;
    const lane = scene.rowOf[path.lane[row]] ?? -1;
    const from = Math.max(left - 9, xOf(scene, path.startNs[row], left, width));
    const to = Math.min(width + 9, xOf(scene, path.endNs[row], left, width));
    if (lane < 0) {
      lastX = Number.NaN;
      continue;
    }
    if (to - lastX < 0.6) continue;
    const y = Math.min(Math.max(yOf(scene, lane) + ROW / 2, LANES - ROW), height + ROW);
    const isNear = to - from >= MIN_STRETCH && lastWide >= MIN_STRETCH;
    if (y !== lastY && isNear && !Number.isNaN(lastX)) {
      const down = Math.sign(y - lastY) * (BAR / 2);
      const wide = Math.min(to - from, lastWide);
      joins.push({ x: Math.round(from) + 0.5, from: lastY + down, to: y - down, wide });
    }
    lastWide = y === lastY && !Number.isNaN(lastX) ? lastWide + to - from : to - from;
    [lastX, lastY] = [to, y];
  }
  context.beginPath();
  for (const join of joins.sort((a, b) => b.wide - a.wide).slice(0, MAX_JOINS)) {
    context.moveTo(join.x, join.from);
    context.lineTo(join.x, join.to);
  }
  context.strokeStyle = scene.theme.dim;
  context.lineWidth = 1;
  context.stroke();
}

/** Arrows from the task that ended a wait to the one that waited, of the chosen task and along the critical path as far as
 * that can be seen; dashed if inferred. Of those side by side, the longest. */
function drawWakes(context: CanvasRenderingContext2D, scene: Scene, left: number, width: number, height: number): void {
  const { range, model } = scene;
  const perPixel = (range.toNs - range.fromNs) / (width - left);
  const inside = arrowsOf(model, range, perPixel, scene.chosen);
  const taken = new Set<number>();
  context.lineWidth = 1;
  context.strokeStyle = scene.theme.ink;
  context.fillStyle = scene.theme.ink;
  for (const wake of inside) {
    if (taken.size >= MAX_WAKES) break;
    const [from, to] = [scene.rowOf[wake.waker] ?? -1, scene.rowOf[wake.waiter] ?? -1];
    if (from < 0 || to < 0 || from === to) continue;
    const x = xOf(scene, wake.atNs, left, width);
    const [y1, y2] = [from, to].map((row) => yOf(scene, row) + ROW / 2);
    const place = Math.round(x / 12);
    if (Math.max(y1, y2) < LANES || Math.min(y1, y2) > height || (inside.length > MAX_WAKES && taken.has(place)))
      continue;
    taken.add(place);
    const tip = y2 < y1 ? 4 : -4;
    context.setLineDash(wake.isMeasured ? [] : [3, 3]);
    context.beginPath();
    context.moveTo(x, y1);
    context.lineTo(x, y2);
    context.stroke();
    context.beginPath();
    context.moveTo(x, y2);
    context.lineTo(x - 3, y2 + 1.5 * tip);
    context.lineTo(x + 3, y2 + 1.5 * tip);
    context.fill();
  }
  context.setLineDash([]);
}

/** Brackets over the stretches of findings; without a lane, over the critical path. */
function drawFindings(
  context: CanvasRenderingContext2D,
  scene: Scene,
  left: number,
  width: number,
  yOfTask: (task: number) => number | null,
): void {
  const badges: [number, number, number, string][] = [];
  scene.model.findings.forEach((finding, number) => {
    for (const [task, fromNs, toNs] of finding.stretches) {
      const y = yOfTask(task);
      if (y === null || toNs < scene.range.fromNs || fromNs > scene.range.toNs) continue;
      const from = Math.max(left, xOf(scene, fromNs, left, width));
      const to = Math.min(width, Math.max(from + 3, xOf(scene, toNs, left, width)));
      const color = finding.severity === "info" ? scene.theme.dim : scene.theme.bad;
      context.strokeStyle = color;
      context.lineWidth = number === scene.finding ? 2.5 : 1.25;
      context.beginPath();
      context.moveTo(from + 0.5, y + 5);
      context.lineTo(from + 0.5, y + 1.5);
      context.lineTo(to - 0.5, y + 1.5);
      context.lineTo(to - 0.5, y + 5);
      context.stroke();
      const middle = Math.min(Math.max((from + to) / 2, left + 8), width - 8);
      if (finding.number) badges.push([middle, y, finding.number, color]);
    }
  });
  drawBadges(context, scene, badges);
}

/** The numbers that findings have on the page: once in a row, and one of those at the same place. */
function drawBadges(context: CanvasRenderingContext2D, scene: Scene, badges: [number, number, number, string][]): void {
  const taken = new Set<string>();
  const numbers = new Set<string>();
  context.font = "700 10px system-ui, sans-serif";
  context.textAlign = "center";
  for (const [x, y, number, color] of badges) {
    const place = `${Math.round(x / 14)} ${y}`;
    if (taken.has(place) || numbers.has(`${number} ${y}`)) continue;
    taken.add(place);
    numbers.add(`${number} ${y}`);
    context.beginPath();
    context.arc(x, y + 1, BADGE, 0, 2 * Math.PI);
    context.fillStyle = color;
    context.fill();
    context.fillStyle = scene.theme.paper;
    context.fillText(String(number), x, y + 1.5);
  }
  context.textAlign = "start";
}

function drawSelection(
  context: CanvasRenderingContext2D,
  scene: Scene,
  left: number,
  width: number,
  height: number,
): void {
  if (!scene.selection) return;
  const from = Math.max(left, xOf(scene, scene.selection.fromNs, left, width));
  const to = Math.min(width, xOf(scene, scene.selection.toNs, left, width));
  if (to <= from) return;
  context.fillStyle = `${scene.theme.accent}22`;
  context.fillRect(from, AXIS, to - from, height);
  context.fillStyle = scene.theme.accent;
  context.fillRect(from, 0, 1, height);
  context.fillRect(to - 1, 0, 1, height);
}

function drawAxis(context: CanvasRenderingContext2D, scene: Scene, left: number, width: number): void {
  context.fillStyle = scene.theme.paper;
  context.fillRect(0, 0, width, AXIS);
  context.fillStyle = scene.theme.dim;
  context.strokeStyle = scene.theme.rule;
  context.lineWidth = 1;
  context.font = "11px system-ui, sans-serif";
  for (const ns of ticks(scene.range.fromNs, scene.range.toNs, Math.max(2, Math.floor((width - left) / 130)))) {
    const x = Math.round(xOf(scene, ns, left, width)) + 0.5;
    context.beginPath();
    context.moveTo(x, AXIS - 5);
    context.lineTo(x, AXIS);
    context.stroke();
    context.fillText(moment(ns, scene.range), Math.min(x + 3, width - 60), AXIS / 2 - 1);
  }
}

/** A moment with as many digits as the range needs. */
export function moment(ns: number, range: Range): string {
  const lengthNs = range.toNs - range.fromNs;
  const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(lengthNs / 1e9)) + 2));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

/** The strip of all of the window without the frame: it changes only with size and colours. */
interface Strip {
  canvas: HTMLCanvasElement;
  key: string;
  /** Most tasks at once, on average of a column. */
  peak: number;
}

const drawnStrips = new WeakMap<Model, Strip>();

/** The mean number of tasks in each class per column, one class upon the other. */
function stripOf(model: Model, theme: Theme, width: number, height: number): Strip {
  const key = `${width} ${height} ${theme.paper}`;
  const known = drawnStrips.get(model);
  if (known?.key === key) return known;
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, width);
  canvas.height = height;
  const context = canvas.getContext("2d");
  const { overview, wallNs, classes } = model;
  const columns = overview[0].length;
  const sums = Array.from({ length: columns }, (_, column) => overview.reduce((sum, each) => sum + each[column], 0));
  const most = Math.max(...sums, 1);
  const wide = width / columns;
  for (let column = 0; context && column < columns; column++) {
    let y = height;
    for (let cls = 0; cls < classes.length; cls++) {
      const tall = (overview[cls][column] / most) * (height - 4);
      if (tall <= 0) continue;
      context.fillStyle = mixed(classes[cls].color, theme.paper, 0.6);
      context.fillRect(column * wide, y - tall, wide + 0.5, tall);
      y -= tall;
    }
  }
  const drawn = { canvas, key, peak: most / (wallNs / columns) };
  drawnStrips.set(model, drawn);
  return drawn;
}

/** All of the window, and the range that the lanes show. */
export function drawMini(canvas: HTMLCanvasElement, scene: Scene): void {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = sized(canvas, ratio);
  const context = canvas.getContext("2d");
  if (!context || width < 40) return;
  const left = namesWidth(width);
  const { wallNs, scaleNs, overview } = scene.model;
  const wide = ((width - left) * wallNs) / scaleNs;
  const strip = stripOf(scene.model, scene.theme, Math.round(wide * ratio), Math.round(height * ratio));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = scene.theme.paper;
  context.fillRect(0, 0, width, height);
  context.drawImage(strip.canvas, left, 0, wide, height);
  const [from, to] = [scene.range.fromNs, scene.range.toNs].map((ns) => left + (ns / scaleNs) * (width - left));
  if (from > left || to < width) {
    context.fillStyle = `${scene.theme.paper}b0`;
    context.fillRect(left, 0, from - left, height);
    context.fillRect(to, 0, width - to, height);
    context.strokeStyle = scene.theme.ink;
    context.lineWidth = 1.5;
    context.strokeRect(from + 0.75, 0.75, Math.max(3, to - from - 1.5), height - 1.5);
  }
  if (left < 150 || height < MINI) return;
  context.fillStyle = scene.theme.dim;
  context.font = SMALL;
  context.textBaseline = "middle";
  const { peak } = strip;
  context.fillText(
    `all ${scene.model.isLog ? "sources" : "tasks"}: up to ${peak < 10 ? peak.toFixed(1) : Math.round(peak)} at once`,
    8,
    13,
  );
  context.fillText(`on average of ${duration(wallNs / overview[0].length)}`, 8, 28);
}

function mixed(color: string, paper: string, share: number): string {
  const part = (text: string, at: number) => Number.parseInt(text.slice(at, at + 2), 16);
  return `#${[1, 3, 5].map((at) => hexOf(part(color, at) * share + part(paper, at) * (1 - share))).join("")}`;
}
