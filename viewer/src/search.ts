import type { Model } from "./model.ts";
import { duration, nameOf, searched } from "./view.ts";

/** A lane, or a moment in one, that a search finds. */
export interface Hit {
  lane: number;
  /** The start of a call; null for the lane as a whole. */
  atNs: number | null;
  /** The exact call. */
  row: number | null;
  text: string;
}

const MAX_HITS = 10_000;

/** The lanes whose names contain all words, then the calls whose names or targets do, in order of time. */
export function found(model: Model, text: string): Hit[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const lanes = searched(model.lanes, text).map((lane) => ({
    lane,
    atNs: null,
    row: null,
    text: nameOf(model.lanes[lane]),
  }));
  return [...lanes, ...calls(model, words)].slice(0, MAX_HITS);
}

/** How many calls of the capture have names with all words, drawn or not; 0 if that is unknown. */
export function callsNamed(model: Model, text: string): number {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return 0;
  const named = (model.capture.calls ?? []).filter(([name]) =>
    words.every((word) => name.toLowerCase().includes(word)),
  );
  return named.reduce((sum, [, count]) => sum + count, 0);
}

function calls(model: Model, words: readonly string[]): Hit[] {
  const { strings, exact } = model;
  const places: [lane: number, at: number][] = [];
  const texts = strings.map((each) => each.toLowerCase());
  // A call is found by its name and its target together, which few pairs have.
  const known = new Map<number, boolean>();
  for (let lane = 0; lane < model.lanes.length; lane++) {
    for (let at = exact.first[lane]; at < exact.first[lane + 1]; at++) {
      const key = exact.call[at] * strings.length + exact.target[at];
      let isHit = known.get(key);
      if (isHit === undefined) {
        const whole = `${texts[exact.call[at]]} ${texts[exact.target[at]]}`;
        isHit = words.every((word) => whole.includes(word));
        known.set(key, isHit);
      }
      if (isHit) places.push([lane, at]);
    }
  }
  // Only the hits that are kept have a text.
  return places
    .sort(([, a], [, b]) => exact.startNs[a] - exact.startNs[b])
    .slice(0, MAX_HITS)
    .map(([lane, at]) => {
      const what = `${strings[exact.call[at]]} ${strings[exact.target[at]]}`.trim();
      const took = duration(exact.endNs[at] - exact.startNs[at]);
      return {
        lane,
        atNs: exact.startNs[at],
        row: at,
        text: `${what}, ${took}, in ${nameOf(model.lanes[lane])}, line ${exact.line[at]}`,
      };
    });
}
