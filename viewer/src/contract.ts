/** The document `tz-meta`; see tests/schemas/report.json. */
export interface Meta {
  schema: string;
  /** The time that the whole width stands for, if it is not the window: pages with several captures have one scale. */
  scale_ns?: number;
  /** What the page calls the capture, if it has several. */
  label?: string;
  classes: ClassLook[];
  captures: CaptureMeta[];
  findings: Finding[];
  icicle: [depth: number, name: string, ns: number][];
}

export interface ClassLook {
  name: string;
  /** What time of this class is on the critical path, and in a lane. */
  title: string;
  lane_title: string;
  letter: string;
  color: string;
  hatch: string;
}

export interface CaptureMeta {
  capture: number;
  name: string;
  tick_ns: number;
  /** Start of the window since the start of the capture. */
  offset_ns: number;
  limits: Record<string, number>;
  /** Numbers of all calls by name, if only some of them are drawn exactly. */
  calls?: [name: string, count: number][];
  folded_ns: Record<string, number>;
  wake_kinds: string[];
  confidences: string[];
  sections: SectionMeta[];
}

export interface SectionMeta {
  name: string;
  rows: number;
  columns: string[];
  raw_bytes: number;
  id: string;
  codec: string;
  crc32: number;
}

export interface Finding {
  code: string;
  name: string;
  severity: string;
  title: string;
  capture: number;
  pid: number | null;
  lines: number[];
  stretches: [task: number, startNs: number, endNs: number][];
  article?: string | null;
  /** Its number on the page, 0 if it has none; not in the document. */
  number?: number;
}
