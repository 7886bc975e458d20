// Video files: pictures encoded by the browser (WebCodecs), in a WebM container that can be searched.
// The container: https://www.matroska.org/technical/elements.html

const KEY_INTERVAL = 60; // frames between two that can be jumped to
const BITS_PER_PIXEL = 0.15;
const QUEUE_MAX = 4; // frames that wait for the encoder
const CODECS = [
  ["vp09.00.41.08", "V_VP9"],
  ["vp8", "V_VP8"],
] as const;

export interface VideoOptions {
  width: number; // pixels, even
  height: number;
  frames: number;
  rate: number; // frames per second
  /** Draws a frame on a canvas of that size. */
  draw(frame: number): HTMLCanvasElement;
  /** Is told what part is done; false: stop. */
  progress(part: number): boolean;
}

interface Chunk {
  key: boolean;
  time: number; // ms
  data: Uint8Array;
}

// Elements of the container ---------------------------------------------------------------------

type Data = Uint8Array | Element[];
interface Element {
  id: number;
  data: Data;
}

function bytesOf(value: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.floor(value / 256 ** (count - 1 - i)) % 256);
}

function idBytes(id: number): number[] {
  return bytesOf(id, id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1);
}

/** A number in eight bytes, so that sizes are known before positions are. */
const unsigned = (value: number) => new Uint8Array(bytesOf(value, 8));
const text = (value: string) => new TextEncoder().encode(value);
function float(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

function dataSize(data: Data): number {
  return data instanceof Uint8Array ? data.length : data.reduce((sum, one) => sum + elementSize(one), 0);
}

/** Identifier, size in eight bytes, data. */
function elementSize(one: Element): number {
  return idBytes(one.id).length + 8 + dataSize(one.data);
}

function write(one: Element, parts: Uint8Array[]): void {
  parts.push(new Uint8Array([...idBytes(one.id), 1, ...bytesOf(dataSize(one.data), 7)]));
  if (one.data instanceof Uint8Array) parts.push(one.data);
  else for (const child of one.data) write(child, parts);
}

/** A WebM file of encoded frames. */
function makeFile(codec: string, width: number, height: number, chunks: Chunk[], duration: number): Blob {
  const header: Element = {
    id: 0x1a45dfa3,
    data: [
      { id: 0x4286, data: unsigned(1) },
      { id: 0x42f7, data: unsigned(1) },
      { id: 0x42f2, data: unsigned(4) },
      { id: 0x42f3, data: unsigned(8) },
      { id: 0x4282, data: text("webm") },
      { id: 0x4287, data: unsigned(2) },
      { id: 0x4285, data: unsigned(2) },
    ],
  };
  const info: Element = {
    id: 0x1549a966,
    data: [
      { id: 0x2ad7b1, data: unsigned(1000000) }, // times in milliseconds
      { id: 0x4489, data: float(duration) },
      { id: 0x4d80, data: text("Yoke") },
      { id: 0x5741, data: text("Yoke") },
    ],
  };
  const size: Element[] = [
    { id: 0xb0, data: unsigned(width) },
    { id: 0xba, data: unsigned(height) },
  ];
  const track: Element[] = [
    { id: 0xd7, data: unsigned(1) },
    { id: 0x73c5, data: unsigned(1) },
    { id: 0x83, data: unsigned(1) }, // video
    { id: 0x86, data: text(codec) },
    { id: 0xe0, data: size },
  ];
  const tracks: Element = { id: 0x1654ae6b, data: [{ id: 0xae, data: track }] };

  // One cluster for each frame that can be jumped to.
  const clusters: { time: number; element: Element }[] = [];
  for (const chunk of chunks) {
    if (chunk.key) clusters.push({ time: chunk.time, element: { id: 0x1f43b675, data: [{ id: 0xe7, data: unsigned(chunk.time) }] } });
    const cluster = clusters[clusters.length - 1];
    const block = new Uint8Array(4 + chunk.data.length);
    block.set([0x81, ...bytesOf(chunk.time - cluster.time, 2), chunk.key ? 0x80 : 0]);
    block.set(chunk.data, 4);
    (cluster.element.data as Element[]).push({ id: 0xa3, data: block });
  }

  // Where the clusters begin, behind the list of these places.
  const cues = (positions: number[]): Element => ({
    id: 0x1c53bb6b,
    data: clusters.map(({ time }, i) => ({
      id: 0xbb,
      data: [
        { id: 0xb3, data: unsigned(time) },
        {
          id: 0xb7,
          data: [
            { id: 0xf7, data: unsigned(1) },
            { id: 0xf1, data: unsigned(positions[i]) },
          ],
        },
      ],
    })),
  });
  let at = elementSize(info) + elementSize(tracks) + elementSize(cues(clusters.map(() => 0)));
  const positions = clusters.map(({ element }) => {
    const position = at;
    at += elementSize(element);
    return position;
  });

  const parts: Uint8Array[] = [];
  write(header, parts);
  write({ id: 0x18538067, data: [info, tracks, cues(positions), ...clusters.map(({ element }) => element)] }, parts);
  return new Blob(parts, { type: "video/webm" });
}

// Encoding --------------------------------------------------------------------------------------

/** Whether this browser can make videos. */
export const canEncode = (): boolean => typeof VideoEncoder !== "undefined";

/** A video of all frames; null if it was stopped. Every frame is in it, however long its drawing takes. */
export async function encodeVideo(options: VideoOptions): Promise<Blob | null> {
  const { width, height, frames, rate } = options;
  const settings = { width, height, framerate: rate, bitrate: Math.max(1e6, Math.round(BITS_PER_PIXEL * width * height * rate)) };
  let chosen: (typeof CODECS)[number] | null = null;
  for (const one of CODECS) if (!chosen && (await VideoEncoder.isConfigSupported({ codec: one[0], ...settings })).supported) chosen = one;
  if (!chosen) throw new Error("this browser cannot encode a video of this size");

  const chunks: Chunk[] = [];
  let failure: Error | null = null;
  const encoder = new VideoEncoder({
    output: (chunk) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      chunks.push({ key: chunk.type === "key", time: Math.round(chunk.timestamp / 1000), data });
    },
    error: (error) => (failure = error),
  });
  encoder.configure({ codec: chosen[0], ...settings });
  try {
    for (let i = 0; i < frames; i++) {
      const frame = new VideoFrame(options.draw(i), { timestamp: Math.round((1e6 * i) / rate), duration: Math.round(1e6 / rate) });
      encoder.encode(frame, { keyFrame: i % KEY_INTERVAL === 0 });
      frame.close();
      do await new Promise((done) => setTimeout(done)); // lets the page and the encoder work
      while (encoder.encodeQueueSize > QUEUE_MAX && !failure);
      if (failure) throw failure;
      if (!options.progress((i + 1) / frames)) return null;
    }
    await encoder.flush();
  } finally {
    if (encoder.state !== "closed") encoder.close();
  }
  return makeFile(chosen[1], width, height, chunks, (1000 * frames) / rate);
}
