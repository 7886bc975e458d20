// The data of a report: what `yoke report` packed (cli/report.h), decoded.
//
//   base64( zlib( "YKR1", u32 length of the JSON, JSON, padding to 8 bytes, arrays ) )
//
// Arrays are named in the JSON by their offset and length in bytes. Numbers are split into planes
// (first all high bytes, ...), which compresses far better.

import { unzlibSync } from "fflate";

type Ref = [offset: number, bytes: number];

interface PackedColumn {
  base: number;
  data: Ref;
}

interface PackedChannel {
  name: string;
  unit: string;
  labels: string[];
  columns: PackedColumn[];
}

interface PackedFrames {
  count: number;
  recorded: number;
  time: Ref;
  low: Ref;
  scale: Ref;
  position: Ref;
  orientation: Ref;
  strain: Ref;
  wrench: Ref;
  monitor: Ref;
  contact: PackedContacts | null;
}

interface PackedContacts {
  low: number[];
  scale: number[];
  count: Ref;
  peak: Ref;
  point: Ref;
  normal: Ref;
  force: Ref;
}

interface PackedRun {
  file: string;
  title: string;
  command: string;
  scenario: string;
  complete: boolean;
  recorded: number;
  rows: number;
  time: Ref;
  channels: PackedChannel[];
  skipped: string[];
  summary: Figure[];
  scene: Scene | null;
  frames: PackedFrames | null;
}

export interface Figure {
  name: string;
  value: number | null;
  unit: string;
  text: string;
}

// The numbers of these enums are those of the C enums yk_scene_motion, yk_shape_kind and yk_connection_kind, which records contain
// (docs/report.md).
export const enum Motion {
  Fixed = 0,
  Point = 1,
  Moves = 2,
}

export interface Body {
  name: string;
  subsystem: number;
  motion: Motion;
  has_strain: boolean;
  position: number[];
  orientation: number[]; // w first
}

export const enum Kind {
  Sphere = 0,
  Box = 1,
  Cylinder = 2,
  Capsule = 3,
  Line = 4,
  ThinLine = 5,
  Actuator = 6,
  Hull = 7,
  BoxCavity = 8,
  CylinderCavity = 9,
  Plane = 10,
  Joint = 11,
  Ellipsoid = 12,
}

/** For the `default` of a switch over all kinds: a kind without a case is an error of the compiler, an unknown number one at run time. */
export function unknownKind(kind: never): never {
  throw new Error(`unknown kind of shape: ${kind}`);
}

export interface Shape {
  kind: Kind;
  name: string;
  body: number; // -1: the ground
  end: number;
  position: number[];
  orientation: number[];
  size: number[];
  open: number;
  points: number[];
}

export const enum LinkKind {
  Markers = 0,
  Scalar = 1,
  Wire = 2,
}

export interface Link {
  name: string;
  kind: LinkKind;
  from: number;
  to: number;
}

export interface Scene {
  subsystems: string[];
  solvers: string[];
  up: number[];
  bodies: Body[];
  shapes: Shape[];
  connections: Link[];
  contacts: number; // of a frame, at most
  monitor_version: number; // layout of Frames.monitored, 0: none
}

export interface Channel {
  name: string;
  unit: string;
  labels: string[];
  columns: Float64Array[];
  time?: Float64Array; // where it is not that of the samples
}

/** Monitored quantities of a frame, in the order of include/yoke/record.h. */
function monitoredNames(scene: Scene): { name: string; unit: string }[] {
  if (!scene.monitor_version) return [];
  const own = [["spurious_energy", "J"]];
  const figures = [
    ["gap_position", "m"],
    ["gap_rotation", "rad"],
    ["gap_velocity", "m/s"],
    ["gap_angular_velocity", "rad/s"],
    ["energy_created", "J"],
  ];
  if (scene.monitor_version > 1) {
    own.push(["contact_residual", "m/s"], ["unsolved_step_fraction", "1"], ["max_prescribed_penetration", "m"]);
    figures.push(["step_oscillation", "1"]);
  }
  const named = (owner: string, list: string[][]) => list.map(([figure, unit]) => ({ name: `${owner}.${figure}`, unit }));
  const interfaces = scene.connections.filter((link) => link.kind !== LinkKind.Wire);
  return [
    ...scene.subsystems.flatMap((name) => named(name, own)),
    ...interfaces.flatMap((link) => named(link.name, figures)),
    { name: "coupling.iteration_count", unit: "1" },
  ];
}

/** Numbers that grow at their end, with room behind them. */
class Grown<T extends Float32Array | Float64Array> {
  private store: T;

  constructor(public values: T) {
    this.store = values;
  }

  add(more: T): void {
    const used = this.values.length;
    const all = used + more.length;
    if (all > this.store.length) {
      this.store = new (this.values.constructor as new (length: number) => T)(2 * all);
      this.store.set(this.values);
    }
    this.store.set(more, used);
    this.values = this.store.subarray(0, all) as T;
  }
}

/** Contact points frame by frame, 9 numbers each: point (m), unit normal, force (N). */
export class Contacts {
  private readonly values: Grown<Float32Array>;
  private readonly ends: number[] = []; // number of contacts up to and with each frame

  constructor(counts: ArrayLike<number>, values: Float32Array) {
    this.values = new Grown(values);
    let end = 0;
    for (let i = 0; i < counts.length; i++) this.ends.push((end += counts[i]));
  }

  /** The contacts of one frame. */
  of(frame: number): Float32Array {
    const from = frame > 0 ? this.ends[frame - 1] : 0;
    return this.values.values.subarray(9 * from, 9 * (this.ends[frame] ?? from));
  }

  /** A frame as the solvers gave it, with zeros behind its last contact of each subsystem. */
  append(frame: Float32Array): void {
    const kept: number[] = [];
    for (let at = 0; at < frame.length; at += 9) if (Math.hypot(frame[at + 6], frame[at + 7], frame[at + 8]) > 0) kept.push(...frame.subarray(at, at + 9));
    this.values.add(new Float32Array(kept));
    this.ends.push((this.ends[this.ends.length - 1] ?? 0) + kept.length / 9);
  }

  /** The largest number of them in a frame. */
  get most(): number {
    return this.ends.reduce((most, end, i) => Math.max(most, end - (i > 0 ? this.ends[i - 1] : 0)), 0);
  }

  /** A force (N) that few contacts of the run exceed. */
  get usualForce(): number {
    const all = this.values.values;
    const stride = 9 * Math.max(1, Math.floor(all.length / 9 / 20000));
    const sizes: number[] = [];
    for (let at = 0; at < all.length; at += stride) sizes.push(Math.hypot(all[at + 6], all[at + 7], all[at + 8]));
    sizes.sort((a, b) => a - b);
    return sizes[Math.floor(0.99 * (sizes.length - 1))] ?? 0;
  }
}

/** Positions and orientations over time. */
export class Frames {
  readonly moving: Int32Array; // body -> entry of the positions, -1: fixed
  readonly turning: Int32Array;
  readonly strained: Int32Array;
  readonly positions: number; // values per frame
  readonly orientations: number;
  readonly strains: number;
  readonly wrenches: number;
  readonly monitored: { name: string; unit: string }[];
  spans: Float32Array | null = null; // of each coordinate over the run, where it is over
  private readonly times: Grown<Float64Array>;
  private readonly tables: Grown<Float32Array>[];

  /** The tables: positions, orientations (w first), strains, wrenches, and what is monitored. */
  constructor(
    readonly scene: Scene,
    time: Float64Array,
    public recorded: number,
    tables: Float32Array[],
    readonly contacts: Contacts,
  ) {
    const n = scene.bodies.length;
    this.moving = new Int32Array(n).fill(-1);
    this.turning = new Int32Array(n).fill(-1);
    this.strained = new Int32Array(n).fill(-1);
    let moving = 0;
    let turning = 0;
    let strained = 0;
    scene.bodies.forEach((body, i) => {
      if (body.motion !== Motion.Fixed) this.moving[i] = moving++;
      if (body.motion === Motion.Moves) this.turning[i] = turning++;
      if (body.has_strain) this.strained[i] = strained++;
    });
    this.positions = 3 * moving;
    this.orientations = 4 * turning;
    this.strains = strained;
    this.wrenches = scene.connections.filter((link) => link.kind === LinkKind.Markers).length;
    this.monitored = monitoredNames(scene);
    this.times = new Grown(time);
    this.tables = tables.map((table) => new Grown(table));
  }

  get time(): Float64Array {
    return this.times.values;
  }

  get strain(): Float32Array {
    return this.tables[2].values;
  }

  get wrench(): Float32Array {
    return this.tables[3].values;
  }

  /** Frames as the solvers gave them, each with its tables one after the other. */
  append(times: Float64Array, values: Float32Array): void {
    const sizes = [this.positions, this.orientations, this.strains, 9 * this.wrenches, this.monitored.length];
    const size = times.length > 0 ? values.length / times.length : 0;
    let from = 0;
    sizes.forEach((width, t) => {
      const table = new Float32Array(width * times.length);
      for (let i = 0; i < times.length; i++) table.set(values.subarray(i * size + from, i * size + from + width), i * width);
      this.tables[t].add(table);
      from += width;
    });
    for (let i = 0; i < times.length; i++) this.contacts.append(values.subarray(i * size + from, (i + 1) * size));
    this.times.add(times);
    this.recorded += times.length;
  }

  get count(): number {
    return this.time.length;
  }

  /** The frame before a time, and how far the next one is reached, 0 to 1. */
  locate(t: number): [number, number] {
    const time = this.time;
    if (time.length < 2 || t <= time[0]) return [0, 0];
    if (t >= time[time.length - 1]) return [time.length - 1, 0];
    let a = 0;
    let b = time.length - 1;
    while (b - a > 1) {
      const middle = (a + b) >> 1;
      if (time[middle] <= t) a = middle;
      else b = middle;
    }
    return [a, (t - time[a]) / (time[b] - time[a])];
  }

  /** Writes the position of a body into 3 numbers; NaN if the body does not exist at this time. */
  readPosition(body: number, frame: number, part: number, out: number[] | Float32Array, at = 0): void {
    const entry = this.moving[body];
    if (entry < 0) {
      const fixed = this.scene.bodies[body].position;
      for (let k = 0; k < 3; k++) out[at + k] = fixed[k];
      return;
    }
    const i = frame * this.positions + 3 * entry;
    const next = part > 0 ? i + this.positions : i;
    const position = this.tables[0].values;
    // A particle that leaves periodic space at one end comes in at the other, and is nowhere between.
    if (part > 0 && this.spans && !this.scene.bodies[body].name)
      for (let k = 0; k < 3; k++) if (Math.abs(position[next + k] - position[i + k]) > 0.8 * this.spans[3 * entry + k]) part = part < 0.5 ? 0 : 1;
    for (let k = 0; k < 3; k++) out[at + k] = position[i + k] + part * (position[next + k] - position[i + k]);
  }

  /** The same of many particles, which all move: three numbers each. */
  readParticles(bodies: ArrayLike<number>, frame: number, part: number, out: Float32Array): void {
    const position = this.tables[0].values;
    const next = part > 0 ? this.positions : 0;
    for (let n = 0, to = 0; n < bodies.length; n++, to += 3) {
      const entry = 3 * this.moving[bodies[n]];
      const i = frame * this.positions + entry;
      const dx = position[i + next] - position[i];
      const dy = position[i + next + 1] - position[i + 1];
      const dz = position[i + next + 2] - position[i + 2];
      const spans = this.spans;
      const jumps = next > 0 && spans !== null && (Math.abs(dx) > 0.8 * spans[entry] || Math.abs(dy) > 0.8 * spans[entry + 1] || Math.abs(dz) > 0.8 * spans[entry + 2]);
      const w = jumps ? Math.round(part) : part;
      out[to] = position[i] + w * dx;
      out[to + 1] = position[i + 1] + w * dy;
      out[to + 2] = position[i + 2] + w * dz;
    }
  }

  /** Its orientation as x, y, z, w. */
  readOrientation(body: number, frame: number, part: number, out: number[]): void {
    const entry = this.turning[body];
    if (entry < 0) {
      const q = this.scene.bodies[body].orientation;
      out[0] = q[1];
      out[1] = q[2];
      out[2] = q[3];
      out[3] = q[0];
      return;
    }
    const i = frame * this.orientations + 4 * entry;
    const next = part > 0 ? i + this.orientations : i;
    const orientation = this.tables[1].values;
    let along = 0; // a quaternion and its opposite are one orientation
    for (let k = 0; k < 4; k++) along += orientation[i + k] * orientation[next + k];
    const sign = along < 0 ? -1 : 1;
    let norm = 0;
    for (let k = 0; k < 4; k++) {
      const a = orientation[i + k];
      const v = a + part * (sign * orientation[next + k] - a);
      out[(k + 3) % 4] = v;
      norm += v * v;
    }
    norm = Math.sqrt(norm) || 1;
    for (let k = 0; k < 4; k++) out[k] /= norm;
  }

  /** A monitored quantity by name; null if it is not monitored or unknown. */
  monitor(name: string): Channel | null {
    const at = this.monitored.findIndex((one) => one.name === name);
    const values = this.tables[4].values;
    const width = this.monitored.length;
    if (at < 0 || values.length < width || Number.isNaN(values[at])) return null;
    const column = new Float64Array(this.count);
    for (let i = 0; i < column.length; i++) column[i] = values[i * width + at];
    return { name, unit: this.monitored[at].unit, labels: [""], columns: [column], time: this.time };
  }

  strainOf(body: number, frame: number): number {
    const entry = this.strained[body];
    return entry < 0 ? NaN : this.strain[frame * this.strains + entry];
  }
}

const NO_POSITION = 65535; // of a body that is not there in a frame

export interface Run {
  file: string;
  label: string;
  live: boolean; // still running
  title: string;
  command: string;
  scenario: string;
  complete: boolean;
  recorded: number;
  time: Float64Array;
  channels: Channel[];
  skipped: string[];
  summary: Figure[];
  scene: Scene | null;
  frames: Frames | null;
}

export interface Report {
  software: string;
  runs: Run[];
}

/** A channel by its name: recorded, or what is monitored in every run. */
export function channelOf(run: Run, name: string): Channel | null {
  return run.channels.find((channel) => channel.name === name) ?? run.frames?.monitor(name) ?? null;
}

/** Names of all of them; of what is monitored those in which something happens. */
export function channelNames(run: Run): string[] {
  const names = run.channels.map((channel) => channel.name);
  for (const { name } of run.frames?.monitored ?? []) {
    if (names.includes(name)) continue;
    const values = run.frames!.monitor(name)?.columns[0];
    if (values?.some((value) => value !== 0 && value !== values[values.length - 1])) names.push(name);
  }
  return names;
}

/** Decompresses in the background by the browser if it can, otherwise by fflate. */
async function inflate(packed: Uint8Array): Promise<Uint8Array> {
  if (typeof DecompressionStream === "undefined") return unzlibSync(packed);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A text that was compressed and written as base64. */
export async function decodeText(base64: string): Promise<string> {
  return new TextDecoder().decode(await inflate(bytesOfBase64(base64.trim())));
}

function bytesOfBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Puts planes of bytes together again, the first plane being the highest byte. */
function joinPlanes(planes: Uint8Array, width: number): ArrayBuffer {
  const count = planes.length / width;
  const out = new Uint8Array(planes.length);
  for (let p = 0; p < width; p++) {
    const from = p * count;
    const to = width - 1 - p;
    for (let i = 0; i < count; i++) out[width * i + to] = planes[from + i];
  }
  return out.buffer;
}

class Reader {
  constructor(
    private readonly bytes: Uint8Array,
    private readonly start: number,
  ) {}

  private slice(ref: Ref): Uint8Array {
    return this.bytes.subarray(this.start + ref[0], this.start + ref[0] + ref[1]);
  }

  doubles(ref: Ref): Float64Array {
    return new Float64Array(joinPlanes(this.slice(ref), 8));
  }

  floats(ref: Ref): Float32Array {
    return new Float32Array(joinPlanes(this.slice(ref), 4));
  }

  octets(ref: Ref): Int8Array {
    return new Int8Array(this.slice(ref));
  }

  /** Differences from frame to frame, summed up; they wrap around as they did when they were taken. */
  words(ref: Ref, perFrame = Infinity): Uint16Array {
    const values = new Uint16Array(joinPlanes(this.slice(ref), 2));
    for (let i = perFrame; i < values.length; i++) values[i] += values[i - perFrame];
    return values;
  }
}

function decodeContacts(packed: PackedContacts | null, reader: Reader): Contacts {
  if (!packed) return new Contacts([], new Float32Array());
  const counts = reader.words(packed.count);
  const peaks = reader.floats(packed.peak);
  const points = reader.words(packed.point);
  const normals = reader.octets(packed.normal);
  const forces = new Int16Array(reader.words(packed.force).buffer);
  const values = new Float32Array(3 * points.length);
  let contact = 0;
  counts.forEach((count, frame) => {
    for (const end = contact + count; contact < end; contact++)
      for (let c = 0; c < 3; c++) {
        const i = 3 * contact + c;
        values[9 * contact + c] = packed.low[c] + packed.scale[c] * points[i];
        values[9 * contact + 3 + c] = normals[i] / 127;
        values[9 * contact + 6 + c] = (peaks[frame] * forces[i]) / 32767;
      }
  });
  return new Contacts(counts, values);
}

function decodeRun(packed: PackedRun, reader: Reader): Run {
  const channels = packed.channels.map((channel) => ({
    name: channel.name,
    unit: channel.unit,
    labels: channel.labels,
    columns: channel.columns.map((column) => {
      const values = reader.floats(column.data);
      const out = new Float64Array(values.length);
      for (let i = 0; i < values.length; i++) out[i] = column.base + values[i];
      return out;
    }),
  }));
  let frames: Frames | null = null;
  if (packed.scene && packed.frames) {
    const f = packed.frames;
    const low = reader.floats(f.low);
    const scale = reader.floats(f.scale);
    const words = reader.words(f.position, low.length || 1);
    const position = new Float32Array(words.length);
    for (let i = 0, k = 0; i < words.length; i++, k = k + 1 === low.length ? 0 : k + 1) position[i] = words[i] === NO_POSITION ? NaN : low[k] + scale[k] * words[i];
    const turns = new Int16Array(reader.words(f.orientation, f.count ? f.orientation[1] / 2 / f.count : 1).buffer);
    frames = new Frames(packed.scene, reader.doubles(f.time), f.recorded, [position, Float32Array.from(turns), reader.floats(f.strain), reader.floats(f.wrench), reader.floats(f.monitor)], decodeContacts(f.contact, reader));
    frames.spans = scale.map((one) => one * (NO_POSITION - 1));
  }
  return {
    file: packed.file,
    label: packed.file.replace(/^.*\//, "").replace(/\.(h5|hdf5|csv)$/, ""),
    live: false,
    title: packed.title,
    command: packed.command,
    scenario: packed.scenario,
    complete: packed.complete,
    recorded: packed.recorded,
    time: reader.doubles(packed.time),
    channels,
    skipped: packed.skipped,
    summary: packed.summary,
    scene: packed.scene,
    frames,
  };
}

export function decode(base64: string): Promise<Report> {
  return decodeBytes(bytesOfBase64(base64.trim()));
}

export async function decodeBytes(packedBytes: Uint8Array): Promise<Report> {
  const bytes = await inflate(packedBytes);
  const magic = String.fromCharCode(...bytes.subarray(0, 4));
  if (magic !== "YKR1") throw new Error("this file holds no report data");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  const json = new TextDecoder().decode(bytes.subarray(8, 8 + length));
  const packed = JSON.parse(json) as { software: string; runs: PackedRun[] };
  const reader = new Reader(bytes, Math.ceil((8 + length) / 8) * 8);
  const runs = packed.runs.map((run) => decodeRun(run, reader));

  // Runs of the same name get a number.
  const seen = new Map<string, number>();
  for (const run of runs) {
    const times = (seen.get(run.label) ?? 0) + 1;
    seen.set(run.label, times);
    if (times > 1) run.label += ` (${times})`;
  }
  return { software: packed.software, runs };
}

/** Samples behind those that a run has: one array per column, in the order of its channels. */
export function appendSamples(run: Run, time: Float64Array, columns: Float64Array[]): void {
  const join = (a: Float64Array, b: Float64Array) => {
    const both = new Float64Array(a.length + b.length);
    both.set(a);
    both.set(b, a.length);
    return both;
  };
  run.time = join(run.time, time);
  run.recorded += time.length;
  let next = 0;
  for (const channel of run.channels) channel.columns = channel.columns.map((column) => join(column, columns[next++]));
}

/** The value of a column at a time, between its samples. */
export function valueAt(time: Float64Array, values: Float64Array, t: number): number {
  const n = time.length;
  if (n === 0) return NaN;
  if (t <= time[0]) return values[0];
  if (t >= time[n - 1]) return values[n - 1];
  let a = 0;
  let b = n - 1;
  while (b - a > 1) {
    const middle = (a + b) >> 1;
    if (time[middle] <= t) a = middle;
    else b = middle;
  }
  const w = (t - time[a]) / (time[b] - time[a]);
  return values[a] + w * (values[b] - values[a]);
}
