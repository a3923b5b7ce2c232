import { ticks } from "d3-array";
import { type Model, pathAt } from "./model.ts";
import { blit, firstExact, type Palette, strip } from "./raster.ts";
import { duration, type Range, type Row } from "./view.ts";

export const ROW = 20;
const BAR = 13;
export const AXIS = 22;
export const MINI = 54;
const MAX_WAKES = 60;
/** Pixels of a stretch of the path that has lines to its neighbours. */
const MIN_STRETCH = 3;

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
  hits: ReadonlySet<number>;
  theme: Theme;
}

/** Pixels of names to the left of the lanes. */
export function namesWidth(width: number): number {
  return Math.round(Math.min(230, width * 0.24));
}

export function xOf(scene: Pick<Scene, "range">, atNs: number, left: number, width: number): number {
  return left + ((atNs - scene.range.fromNs) / (scene.range.toNs - scene.range.fromNs)) * (width - left);
}

export function drawLanes(canvas: HTMLCanvasElement, scene: Scene): void {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = sized(canvas, ratio);
  const context = canvas.getContext("2d");
  if (!context || width < 40 || height < AXIS + ROW) return;
  const left = namesWidth(width);
  paintBars(context, scene, ratio, left);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  drawSelection(context, scene, left, width, height);
  drawNames(context, scene, left, height);
  context.save();
  context.beginPath();
  context.rect(left, AXIS, width - left, height - AXIS);
  context.clip();
  drawLabels(context, scene, left, width, height);
  drawPath(context, scene, left, width, height);
  drawWakes(context, scene, left, width, height);
  drawFindings(context, scene, left, width, height);
  context.restore();
  drawAxis(context, scene, left, width);
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
  return AXIS + row * ROW - scene.top;
}

/** The rows that are visible, wholly or in part. */
export function visible(scene: Pick<Scene, "rows" | "top">, height: number): [first: number, end: number] {
  const first = Math.max(0, Math.floor(scene.top / ROW));
  return [first, Math.min(scene.rows.length, Math.ceil((scene.top + height - AXIS) / ROW))];
}

function paintBars(context: CanvasRenderingContext2D, scene: Scene, ratio: number, left: number): void {
  const { width, height } = context.canvas;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(scene.theme.palette.page);
  const start = Math.round(left * ratio);
  const classes = new Uint8Array(Math.max(1, width - start));
  const [first, end] = visible(scene, height / ratio);
  for (let row = first; row < end; row++) {
    strip(scene.model, scene.rows[row], scene.range, classes);
    const from = Math.max(Math.round(AXIS * ratio), Math.round((yOf(scene, row) + 3) * ratio));
    const to = Math.min(height, Math.round((yOf(scene, row) + 3 + BAR) * ratio));
    if (from < to) blit(pixels, width, start, from, to - from, classes, scene.theme.palette);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.putImageData(image, 0, 0);
}

function drawNames(context: CanvasRenderingContext2D, scene: Scene, left: number, height: number): void {
  const [first, end] = visible(scene, height);
  context.save();
  context.beginPath();
  context.rect(0, AXIS, left - 6, height - AXIS);
  context.clip();
  for (let row = first; row < end; row++) {
    const y = yOf(scene, row);
    const isHit = scene.rows[row].lanes.some((lane) => scene.hits.has(lane));
    if (row === scene.focusRow) {
      context.fillStyle = scene.theme.rule;
      context.fillRect(0, y, left, ROW);
    }
    context.font = `${isHit ? "700 " : ""}12px system-ui, sans-serif`;
    context.fillStyle = isHit ? scene.theme.accent : scene.theme.ink;
    context.fillText(scene.rows[row].name, 6 + 10 * Math.min(scene.rows[row].depth, 10), y + ROW / 2);
  }
  context.restore();
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

/** Names of calls in wide bars, else the letter of the class. */
function drawLabels(
  context: CanvasRenderingContext2D,
  scene: Scene,
  left: number,
  width: number,
  height: number,
): void {
  const { model, range } = scene;
  const perPixel = (range.toNs - range.fromNs) / (width - left);
  const [first, end] = visible(scene, height);
  context.font = "11px system-ui, sans-serif";
  let drawn = 0;
  for (let row = first; row < end && drawn < 400; row++) {
    for (const lane of scene.rows[row].lanes.length > 50 ? [] : scene.rows[row].lanes) {
      const from = firstExact(model, lane, range.fromNs);
      // So many calls are narrower than their names; the bars show their classes.
      if (firstExact(model, lane, range.toNs) - from > 1000) continue;
      for (let at = from; at < model.exact.first[lane + 1] && drawn < 400; at++) {
        if (model.exact.startNs[at] >= range.toNs) break;
        if (model.exact.endNs[at] - model.exact.startNs[at] < 16 * perPixel) continue;
        const x = Math.max(left, xOf(scene, model.exact.startNs[at], left, width));
        const end = Math.min(width, xOf(scene, model.exact.endNs[at], left, width));
        const look = model.classes[model.exact.class[at]];
        const call = model.strings[model.exact.call[at]];
        const text = widthOf(context, call) + 10 < end - x ? call : look.letter;
        if (end - x < 14) continue;
        drawn++;
        const y = yOf(scene, row) + 3 + BAR / 2;
        const wide = widthOf(context, text);
        context.fillStyle = look.color;
        context.fillRect(x + 3, y - BAR / 2 + 1, wide + 4, BAR - 2);
        context.fillStyle = "#ffffff";
        context.fillText(text, x + 5, y + 0.5);
      }
    }
  }
}

/**
 * The path as a line along the lower edge of the lanes. Where it changes lanes more often than every few pixels, only the
 * stretches are drawn, not the lines between them.
 */
function drawPath(context: CanvasRenderingContext2D, scene: Scene, left: number, width: number, height: number): void {
  const { path } = scene.model;
  context.beginPath();
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
    const y = Math.min(Math.max(yOf(scene, lane) + ROW - 3, AXIS - 6), height + 6);
    const isNear = y === lastY || (to - from >= MIN_STRETCH && lastWide >= MIN_STRETCH);
    if (Number.isNaN(lastX) || !isNear) context.moveTo(from, y);
    else if (y !== lastY) {
      context.lineTo(from, lastY);
      context.lineTo(from, y);
    }
    context.lineTo(Math.max(to, from + 1), y);
    lastWide = y === lastY && !Number.isNaN(lastX) ? lastWide + to - from : to - from;
    [lastX, lastY] = [to, y];
  }
  context.lineJoin = "round";
  context.strokeStyle = scene.theme.paper;
  context.lineWidth = 4.5;
  context.stroke();
  context.strokeStyle = scene.theme.ink;
  context.lineWidth = 2;
  context.stroke();
}

/** Arrows from the task that ended a wait to the one that waited; dashed if inferred. Of those side by side, the longest. */
function drawWakes(context: CanvasRenderingContext2D, scene: Scene, left: number, width: number, height: number): void {
  const { range, model } = scene;
  const inside = model.wakes.filter((wake) => wake.atNs >= range.fromNs && wake.atNs <= range.toNs);
  inside.sort((a, b) => b.durNs - a.durNs);
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
    if (Math.max(y1, y2) < AXIS || Math.min(y1, y2) > height || (inside.length > MAX_WAKES && taken.has(place)))
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

function drawFindings(
  context: CanvasRenderingContext2D,
  scene: Scene,
  left: number,
  width: number,
  height: number,
): void {
  scene.model.findings.forEach((finding, number) => {
    const isChosen = number === scene.finding;
    for (const [task, fromNs, toNs] of finding.stretches) {
      const row = scene.rowOf[scene.model.laneOfTask.get(task) ?? -1] ?? -1;
      if (row < 0 || toNs < scene.range.fromNs || fromNs > scene.range.toNs) continue;
      const y = yOf(scene, row);
      if (y < AXIS - ROW || y > height) continue;
      const from = Math.max(left, xOf(scene, fromNs, left, width));
      const to = Math.min(width, Math.max(from + 3, xOf(scene, toNs, left, width)));
      context.strokeStyle = finding.severity === "info" ? scene.theme.dim : scene.theme.bad;
      context.lineWidth = isChosen ? 2.5 : 1.25;
      context.beginPath();
      context.moveTo(from, y + 5);
      context.lineTo(from, y + 1.5);
      context.lineTo(to, y + 1.5);
      context.lineTo(to, y + 5);
      context.stroke();
    }
  });
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

let drawnStrip: Strip | null = null;

/** The mean number of tasks in each class per column, one class upon the other. */
function stripOf(model: Model, theme: Theme, width: number, height: number): Strip {
  const key = `${width} ${height} ${theme.paper} ${model.capture.capture}`;
  if (drawnStrip?.key === key) return drawnStrip;
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
      context.fillStyle = classes[cls].color;
      context.fillRect(column * wide, y - tall, wide + 0.5, tall);
      y -= tall;
    }
  }
  drawnStrip = { canvas, key, peak: most / (wallNs / columns) };
  return drawnStrip;
}

/** All of the window, and the range that the lanes show. */
export function drawMini(canvas: HTMLCanvasElement, scene: Scene): void {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = sized(canvas, ratio);
  const context = canvas.getContext("2d");
  if (!context || width < 40) return;
  const left = namesWidth(width);
  const { wallNs, overview } = scene.model;
  const strip = stripOf(scene.model, scene.theme, Math.round((width - left) * ratio), Math.round(height * ratio));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = scene.theme.paper;
  context.fillRect(0, 0, width, height);
  context.drawImage(strip.canvas, left, 0, width - left, height);
  const [from, to] = [scene.range.fromNs, scene.range.toNs].map((ns) => left + (ns / wallNs) * (width - left));
  context.fillStyle = `${scene.theme.paper}b0`;
  context.fillRect(left, 0, from - left, height);
  context.fillRect(to, 0, width - to, height);
  context.strokeStyle = scene.theme.ink;
  context.lineWidth = 1.5;
  context.strokeRect(from + 0.75, 0.75, Math.max(3, to - from - 1.5), height - 1.5);
  if (left < 150) return;
  context.fillStyle = scene.theme.dim;
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  const { peak } = strip;
  context.fillText(`All tasks: up to ${peak < 10 ? peak.toFixed(1) : Math.round(peak)} at once`, 6, 12);
  context.fillText(`on average of ${duration(wallNs / overview[0].length)}`, 6, 27);
}
