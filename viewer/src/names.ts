import type { Lane } from "./model.ts";

/** Programs that only start another one; what they run is what people look for. */
const SHIMS = new Set([
  "env",
  "nice",
  "nohup",
  "sudo",
  "timeout",
  "time",
  "stdbuf",
  "setsid",
  "ionice",
  "pyenv",
  "xargs",
]);
const SHELLS = new Set(["sh", "bash", "dash", "ksh", "zsh"]);
/** What these run is named by their first argument. */
const INTERPRETERS = /^(perl|python|ruby|node|php|lua|tclsh|Rscript|bash|dash|ksh|zsh|sh)[\d.]*$/;
const MAX_WORDS = 6;

/** The last part of a path: the folders of a program say less than its name. */
export function lastPart(word: string): string {
  return word.replace(/^.*\/(?=[^/])/, "");
}

/** A command without what only starts another one: `timeout 5 make all` is `make all`, `sh -c 'cc x'` is `cc x`. */
export function unwrapped(argv: string): string {
  let words = argv.split(/\s+/).filter(Boolean);
  while (words.length > 1) {
    const program = lastPart(words[0]);
    let at = 1;
    if (SHELLS.has(program)) {
      if (words[1] !== "-c" || words.length < 3) break;
      at = 2;
      words[at] = words[at].replace(/^['"]/, "");
      words[words.length - 1] = words[words.length - 1].replace(/['"]$/, "");
    } else if (SHIMS.has(program)) {
      // Options, assignments and numbers belong to the one that starts.
      while (at < words.length && /^(-.*|\w+=.*|\d+(\.\d+)?[smhd]?|exec)$/.test(words[at])) at++;
      if (at >= words.length) break;
    } else break;
    words = words.slice(at);
  }
  return words.join(" ");
}

/** A title that a process gave itself is one word in quotes: `'nginx: worker process'`. */
function withoutQuotes(argv: string): string {
  return argv.replace(/^'([^']*)'$/, "$1");
}

/** Each lane gets the words by which it differs from others of its program: `cc1 f12.c`, not `cc1 -quiet -I …`. */
export function tellApart(lanes: readonly Lane[]): void {
  const groups = new Map<string, Lane[]>();
  for (const lane of lanes) {
    if (lane.isThread || !lane.argv) continue;
    const program = lastPart(lane.program);
    const group = groups.get(program);
    if (group) group.push(lane);
    else groups.set(program, [lane]);
  }
  for (const group of groups.values()) {
    const split = group.map((lane) => unwrapped(withoutQuotes(lane.argv)).split(" "));
    const number = new Map<string, number>();
    for (const words of split)
      for (const word of new Set(words.slice(1))) number.set(word, (number.get(word) ?? 0) + 1);
    group.forEach((lane, at) => {
      const [program, ...rest] = split[at];
      const own = rest.filter((word) => number.get(word) !== group.length && !/^-/.test(word));
      const isTold = group.length > 1 && own.length > 0 && own.length < rest.length;
      const script = INTERPRETERS.test(lastPart(program ?? "")) && !own.includes(rest[0]) ? rest.slice(0, 1) : [];
      const kept = isTold ? [...script, ...own.slice(-MAX_WORDS)] : rest;
      // A file is often named twice, with and without its folder.
      const parts = isTold ? [...new Set(kept.map(lastPart))] : kept;
      lane.words = [lastPart(program ?? ""), ...parts].join(" ");
    });
  }
}
