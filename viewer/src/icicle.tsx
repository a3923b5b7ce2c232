import { useState } from "preact/hooks";
import type { ClassLook } from "./contract.ts";
import { darkened } from "./raster.ts";
import { duration } from "./view.ts";

export interface Node {
  depth: number;
  name: string;
  ns: number;
  /** Start, in the time of all nodes before it. */
  fromNs: number;
  cls: string;
}

/** Nodes with their places: the children of a node lie side by side below it, from its start. */
export function placed(nodes: readonly [number, string, number][], classes: readonly ClassLook[]): Node[] {
  const ends: number[] = [0];
  let cls = "";
  return nodes.map(([depth, name, ns]) => {
    const fromNs = ends[depth];
    ends[depth] = fromNs + ns;
    ends[depth + 1] = fromNs;
    if (depth === 1) cls = name;
    const title = depth === 1 ? classes.find((look) => look.name === name)?.title : undefined;
    return { depth, name: title ?? name, ns, fromNs, cls };
  });
}

const ROW = 20;

/** The nodes whose names contain all words, and the time of those that lie in no other one. */
export function matching(nodes: readonly Node[], text: string): { hits: ReadonlySet<number>; ns: number } {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = new Set<number>();
  let ns = 0;
  let outer: Node | null = null;
  for (const [at, node] of words.length ? nodes.entries() : []) {
    if (outer && node.depth <= outer.depth) outer = null;
    const name = node.name.toLowerCase();
    if (!words.every((word) => name.includes(word))) continue;
    hits.add(at);
    if (!outer) {
      ns += node.ns;
      outer = node;
    }
  }
  return { hits, ns };
}

export function Icicle({ nodes, classes, ofCapture }: { nodes: Node[]; classes: ClassLook[]; ofCapture: string }) {
  const [chosen, choose] = useState(0);
  const [searched, search] = useState("");
  const { hits, ns } = matching(nodes, searched);
  const root = nodes[chosen];
  const inside = nodes
    .map((node, at) => ({ node, at }))
    .filter(
      ({ node }) =>
        node.fromNs + node.ns > root.fromNs && node.fromNs < root.fromNs + root.ns && node.depth >= root.depth,
    )
    .filter(({ node, at }) => at === chosen || node.depth > root.depth)
    .filter(({ node }) => node.ns / root.ns > 0.002);
  const look = (node: Node) => darkened(classes.find((each) => each.name === node.cls)?.color ?? "#767676");
  const total = nodes[0].ns;
  return (
    <section class="tz-icicle" aria-label={`Icicle${ofCapture}`}>
      <p class="tz-note">
        {root.depth ? root.name : "Critical path"} {duration(root.ns)} = {((100 * root.ns) / total).toFixed(1)}%, by
        class, program, process, call and target. Select a box to enlarge it
        {chosen ? "; select the top box to go back" : ""}.
      </p>
      <p>
        <input
          type="search"
          placeholder="Search"
          aria-label="Search the icicle by class, program, process id, call or target"
          value={searched}
          onInput={(event) => search(event.currentTarget.value)}
        />{" "}
        <span class="tz-note tz-icicle-hits" role="status">
          {searched.trim() &&
            `${hits.size.toLocaleString("en")} of ${nodes.length.toLocaleString("en")} boxes, ${duration(ns)} = ${((100 * ns) / total).toFixed(1)}%`}
        </span>
      </p>
      <div style={{ position: "relative", overflow: "hidden", height: `${(6 - root.depth) * ROW}px` }}>
        {inside.map(({ node, at }) => {
          const from = Math.max(0, (node.fromNs - root.fromNs) / root.ns);
          const wide = Math.min(1 - from, node.ns / root.ns);
          const label = `${node.name || "all"}: ${duration(node.ns)}, ${((100 * node.ns) / total).toFixed(1)}%`;
          return (
            <button
              type="button"
              key={at}
              title={label}
              aria-label={label}
              tabIndex={wide > 0.02 ? 0 : -1}
              onClick={() => choose(at === chosen ? parentOf(nodes, at) : at)}
              style={{
                position: "absolute",
                left: `${100 * from}%`,
                width: `calc(${100 * wide}% - 1px)`,
                top: `${(node.depth - root.depth) * ROW}px`,
                height: `${ROW - 1}px`,
                background: look(node),
                // Boxes that are not found lose their colours, but not their contrast.
                filter: searched.trim() && !hits.has(at) ? "grayscale(1)" : "none",
                outline: hits.has(at) ? "2px solid var(--ink, #1c1f23)" : "none",
                outlineOffset: "-2px",
                color: "#fff",
                border: "0",
                padding: wide > 0.02 ? "0 .25rem" : "0",
                font: "12px system-ui, sans-serif",
                textAlign: "left",
                overflow: "hidden",
                whiteSpace: "nowrap",
                cursor: "pointer",
              }}
            >
              {wide > 0.02 ? `${node.name || "all"} ${duration(node.ns)}` : ""}
            </button>
          );
        })}
      </div>
    </section>
  );
}

export function parentOf(nodes: readonly Node[], at: number): number {
  for (let up = at - 1; up >= 0; up--) if (nodes[up].depth < nodes[at].depth) return up;
  return 0;
}
