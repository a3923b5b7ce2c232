import { cellAt, type Level, type Model, NO_CELL, pathAt } from "./model.ts";
import { isBeyond, levelFor, type Range, type Row } from "./view.ts";

/** More than there are classes. */
const CLASS_ROOM = 32;

/** Nothing is alive in this pixel. */
export const EMPTY = 255;

/** Colours of a class as tiles of 6 x 6 pixels, full where the critical path is and pale elsewhere, and of the page. */
export interface Palette {
  tiles: Uint32Array;
  pale: Uint32Array;
  /** For the area of a band. */
  middle: Uint32Array;
  page: number;
}

const TILE = 6;

/** Pixels as `ImageData` stores them on little-endian machines. */
export function pixel(color: string, paper: string, share: number): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const [ink, back] = [color, paper].map((each) => Number.parseInt(each.slice(at, at + 2), 16));
    return Math.round(ink * share + back * (1 - share));
  });
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** Shares of the colour of a class in the paper. A hatch of a pale tile is darker, of a full one lighter. */
const FULL: Shares = { ink: 1, hatch: 0.35 };
const PALE: Shares = { ink: 0.2, hatch: 0.42 };
const MIDDLE: Shares = { ink: 0.5, hatch: 0.72 };

interface Shares {
  ink: number;
  hatch: number;
}

export function paletteOf(looks: readonly { color: string; hatch: string }[], paper: string, stripe: string): Palette {
  const all = [...looks, { color: stripe, hatch: "" }];
  const [tiles, pale, middle] = [FULL, PALE, MIDDLE].map((shares) => tilesOf(all, paper, shares));
  return { tiles, pale, middle, page: pixel(paper, paper, 1) };
}

function tilesOf(looks: readonly { color: string; hatch: string }[], paper: string, shares: Shares): Uint32Array {
  const tiles = new Uint32Array(looks.length * TILE * TILE);
  looks.forEach((look, number) => {
    for (let y = 0; y < TILE; y++) {
      for (let x = 0; x < TILE; x++) {
        const share = isHatched(look.hatch, x, y) ? shares.hatch : shares.ink;
        tiles[(number * TILE + y) * TILE + x] = pixel(look.color, paper, share);
      }
    }
  });
  return tiles;
}

/** The hatches of the static picture, as paths in a square of 6. */
function isHatched(hatch: string, x: number, y: number): boolean {
  return (
    (hatch.includes("M0 6L6 0") && (x + y) % TILE === TILE - 1) ||
    (hatch.includes("M0 0L6 6") && x === y) ||
    (hatch.includes("H6") && y === 3) ||
    (hatch.includes("V6") && x === 3)
  );
}

/** The class of each pixel of a row. */
export function strip(model: Model, row: Row, range: Range, classes: Uint8Array): void {
  classes.fill(EMPTY);
  const pixels = classes.length;
  const perPixel = (range.toNs - range.fromNs) / pixels;
  const level = model.levels[levelFor(model.levels, range, model.wallNs, pixels)];
  const usesExact = isBeyond(model.levels, range, model.wallNs, pixels) || model.exact.isComplete;
  for (let at = firstLane(model, row, range.fromNs - perPixel); at < row.lanes.length; at++) {
    const number = row.lanes[at];
    const lane = model.lanes[number];
    if (lane.birthNs > range.toNs) break;
    const from = Math.max(0, Math.floor((Math.max(0, lane.birthNs) - range.fromNs) / perPixel));
    const to = Math.min(
      pixels,
      Math.max(from + 1, Math.ceil((Math.min(lane.endNs, model.wallNs) - range.fromNs) / perPixel)),
    );
    if (to <= 0 || from >= pixels) continue;
    paintCells(model, level, number, range, perPixel, from, to, classes);
    if (usesExact) paintExact(model, number, range, perPixel, from, to, classes);
  }
}

/** The first lane of a row that may end after a moment. Lanes of a row do not overlap. */
function firstLane(model: Model, row: Row, atNs: number): number {
  let [from, to] = [0, row.lanes.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (model.lanes[row.lanes[middle]].endNs < atNs) from = middle + 1;
    else to = middle;
  }
  return from;
}

function paintCells(
  model: Model,
  level: Level,
  lane: number,
  range: Range,
  perPixel: number,
  from: number,
  to: number,
  classes: Uint8Array,
): void {
  if (!level) {
    classes.fill(model.classes.length, from, to);
    return;
  }
  const perColumn = model.wallNs / level.columns;
  for (let x = from; x < to; x++) {
    const column = Math.floor((range.fromNs + (x + 0.5) * perPixel) / perColumn);
    const inside = Math.min(Math.max(column, level.first[lane]), level.last[lane]);
    const cell = cellAt(level, lane, inside);
    classes[x] = cell === NO_CELL ? model.classes.length : cell;
  }
}

/** Calls that are wider than a pixel, at their exact places; with all calls known, the time between them too. */
function paintExact(
  model: Model,
  lane: number,
  range: Range,
  perPixel: number,
  from: number,
  to: number,
  classes: Uint8Array,
): void {
  const { exact } = model;
  const isAlone = exact.isComplete && perPixel < model.wallNs / (model.levels.at(-1)?.columns ?? 1);
  if (isAlone) classes.fill(0, from, to);
  for (let at = firstExact(model, lane, range.fromNs); at < exact.first[lane + 1]; at++) {
    if (exact.startNs[at] >= range.toNs) break;
    const start = (exact.startNs[at] - range.fromNs) / perPixel;
    const end = (exact.endNs[at] - range.fromNs) / perPixel;
    if (end - start >= 1 || isAlone) {
      classes.fill(
        exact.class[at],
        Math.max(from, Math.round(start)),
        Math.min(to, Math.max(Math.round(start) + 1, Math.round(end))),
      );
    }
  }
}

export function firstExact(model: Model, lane: number, atNs: number): number {
  const { exact } = model;
  let [from, to] = [exact.first[lane], exact.first[lane + 1]];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (exact.endNs[middle] <= atNs) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * The class of the critical path in each pixel of the rows from `first` on: what has most of its time there. `strips` has
 * one strip per row.
 */
export function pathStrips(
  model: Model,
  rowOf: (lane: number) => number,
  first: number,
  range: Range,
  strips: Uint8Array[],
): void {
  for (const strip of strips) strip.fill(EMPTY);
  const pixels = strips[0]?.length ?? 0;
  const perPixel = (range.toNs - range.fromNs) / pixels;
  const { path } = model;
  const looks = path.look ?? path.class;
  /** Sums of the pixel `x` by row and class, the keys of those that are not 0, and the largest of each row. */
  const sums = new Float64Array(strips.length * CLASS_ROOM);
  const most = new Float64Array(strips.length);
  const keys: number[] = [];
  let x = -1;
  const flush = () => {
    for (const key of keys) {
      const row = Math.floor(key / CLASS_ROOM);
      if (sums[key] > most[row]) {
        most[row] = sums[key];
        strips[row][x] = key % CLASS_ROOM;
      }
    }
    for (const key of keys) {
      sums[key] = 0;
      most[Math.floor(key / CLASS_ROOM)] = 0;
    }
    keys.length = 0;
  };
  for (let at = pathAt(path, range.fromNs); at < path.startNs.length && path.startNs[at] < range.toNs; at++) {
    const row = rowOf(path.lane[at]) - first;
    if (row < 0 || row >= strips.length) continue;
    const start = (path.startNs[at] - range.fromNs) / perPixel;
    const end = (path.endNs[at] - range.fromNs) / perPixel;
    const key = row * CLASS_ROOM + looks[at];
    const last = Math.min(pixels - 1, Math.floor(end));
    for (let column = Math.max(0, Math.floor(start)); column <= last; column++) {
      if (column !== x) flush();
      x = column;
      const share = Math.min(end, column + 1) - Math.max(start, column);
      if (share <= 0) continue;
      if (sums[key] === 0) keys.push(key);
      sums[key] += share;
    }
  }
  flush();
}

/** Pixels of other classes that do not interrupt a run. */
const MAX_OTHERS = 2;

/** The longest run of a class in some pixels of a strip. */
export function longestRun(strip: Uint8Array, from: number, to: number, cls: number): [start: number, end: number] {
  let best: [number, number] = [0, 0];
  let [start, end] = [-1, -1];
  for (let x = Math.max(0, Math.round(from)); x < Math.min(strip.length, Math.round(to)); x++) {
    if (strip[x] !== cls) continue;
    if (start < 0 || x - end > MAX_OTHERS) start = x;
    end = x + 1;
    if (end - start > best[1] - best[0]) best = [start, end];
  }
  return best;
}

/** Copies a strip into some lines of an image. */
export function blit(
  image: Uint32Array,
  width: number,
  left: number,
  top: number,
  height: number,
  classes: Uint8Array,
  tiles: Uint32Array,
): void {
  for (let y = 0; y < height; y++) {
    const line = (top + y) * width + left;
    const tile = (y % TILE) * TILE;
    for (let x = 0; x < classes.length; x++) {
      const cls = classes[x];
      if (cls !== EMPTY) image[line + x] = tiles[cls * TILE * TILE + tile + (x % TILE)];
    }
  }
}

/** One area upon the other: how many tasks are in each class. `top` and `tall` are pixels; nothing is above `clip`. */
export function stack(
  image: Uint32Array,
  width: number,
  left: number,
  [top, tall, clip]: [number, number, number],
  classes: readonly Float32Array[],
  most: number,
  tiles: Uint32Array,
): void {
  const pixels = classes[0]?.length ?? 0;
  const bottom = Math.min(top + tall, Math.floor(image.length / width));
  for (let x = 0; x < pixels; x++) {
    let number = 0;
    let y = top + tall;
    for (let cls = 0; cls < classes.length; cls++) {
      if (classes[cls][x] === 0) continue;
      number += classes[cls][x];
      // One task of many is still to be seen.
      const upTo = Math.min(y - 1, Math.round(top + tall - (number / most) * tall));
      for (let each = Math.max(upTo, top, clip); each < Math.min(y, bottom); each++) {
        image[each * width + left + x] = tiles[cls * TILE * TILE + (each % TILE) * TILE + (x % TILE)];
      }
      y = upTo;
    }
  }
}

/** Dark enough for white text: at least 4.5:1. */
export function darkened(color: string): string {
  return `#${[1, 3, 5].map((at) => hexOf(Number.parseInt(color.slice(at, at + 2), 16) * 0.72)).join("")}`;
}

export function hexOf(value: number): string {
  return Math.round(value).toString(16).padStart(2, "0");
}
