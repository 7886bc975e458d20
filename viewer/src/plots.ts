// Plots of channels over time, one card each; the time of the 3D view is a line in all of them.

import uPlot from "uplot";
import { Channel, Run, valueAt } from "./data";
import { drawLines } from "./drawing";
import { button, colourOf, download, el, number, unitText } from "./ui";

/** A channel by name, of all runs that have it. */
export interface PlotRequest {
  name: string;
  title?: string;
}

interface Curve {
  run: number;
  component: number;
  label: string;
  time: Float64Array;
  values: Float64Array;
}

type Mode = "time" | "difference" | "spectrum" | "phase";

const DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3]];

/** Kinetic + potential + dissipated - work of each subsystem, less what it was at the start. */
export function energyBalance(run: Run): Channel | null {
  const labels: string[] = [];
  const columns: Float64Array[] = [];
  const total = new Float64Array(run.time.length);
  for (const channel of run.channels) {
    const parts = ["kinetic", "potential", "dissipated", "work"].map((label) => channel.labels.indexOf(label));
    if (!channel.name.endsWith(".energy") || parts.some((part) => part < 0)) continue;
    const [k, p, d, w] = parts.map((part) => channel.columns[part]);
    const sum = new Float64Array(total.length);
    for (let i = 0; i < sum.length; i++) {
      sum[i] = k[i] + p[i] + d[i] - w[i] - (k[0] + p[0] + d[0] - w[0]);
      total[i] += sum[i];
    }
    labels.push(channel.name.replace(/\.energy$/, ""));
    columns.push(sum);
  }
  if (labels.length === 0) return null;
  if (labels.length > 1) {
    labels.push("total");
    columns.push(total);
  }
  return { name: "energy balance", unit: "J", labels, columns };
}

/** Magnitude of the spectrum of evenly spaced samples, by a transform of length 2^n with a Hann window. */
function spectrum(time: Float64Array, values: Float64Array): { frequency: Float64Array; size: Float64Array } {
  const span = time[time.length - 1] - time[0];
  let n = 2;
  while (2 * n <= Math.min(time.length, 16384)) n *= 2;
  const re = new Float64Array(n);
  const im = new Float64Array(n);
  let mean = 0;
  for (let i = 0; i < n; i++) {
    re[i] = valueAt(time, values, time[0] + (span * i) / n);
    mean += re[i] / n;
  }
  for (let i = 0; i < n; i++) re[i] = (re[i] - mean) * (1 - Math.cos((2 * Math.PI * i) / n));
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j], re[i]];
      [im[i], im[j]] = [im[j], im[i]];
    }
  }
  for (let length = 2; length <= n; length *= 2) {
    const angle = (-2 * Math.PI) / length;
    for (let i = 0; i < n; i += length)
      for (let k = 0; k < length / 2; k++) {
        const c = Math.cos(angle * k);
        const s = Math.sin(angle * k);
        const a = i + k;
        const b = a + length / 2;
        const x = re[b] * c - im[b] * s;
        const y = re[b] * s + im[b] * c;
        re[b] = re[a] - x;
        im[b] = im[a] - y;
        re[a] += x;
        im[a] += y;
      }
  }
  const half = n / 2;
  const frequency = new Float64Array(half);
  const size = new Float64Array(half);
  for (let i = 0; i < half; i++) {
    frequency[i] = i / span;
    size[i] = (2 * Math.hypot(re[i], im[i])) / n;
  }
  return { frequency, size };
}

/** As many digits as tell neighbours on an axis apart. */
function tickTexts(ticks: number[]): string[] {
  const largest = ticks.reduce((most, tick) => Math.max(most, Math.abs(tick)), 0);
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : largest;
  const digits = step > 0 ? Math.ceil(Math.log10(largest / step)) + 2 : 4;
  return ticks.map((tick) => number(Math.abs(tick) < 1e-9 * step ? 0 : tick, Math.max(4, Math.min(12, digits))));
}

class Card {
  readonly element: HTMLElement;
  private readonly body = el("div", { class: "plot-body" });
  private readonly legend = el("div", { class: "legend" });
  private plot: uPlot | null = null;
  private marker: HTMLElement | null = null;
  private curves: Curve[] = [];
  private hidden = new Set<string>();
  private unit = "";
  private title = "";
  private mode: Mode = "time";
  private values: HTMLElement[] = [];
  private largest = 0;

  constructor(
    private readonly runs: Run[],
    readonly name: string,
    private readonly owner: Plots,
  ) {
    this.collect();
    const hasPhase = this.curves.filter((curve) => curve.run === 0).length >= 2;
    const modes = el("select", { class: "mode", title: "what is drawn", attrs: { "aria-label": `kind of plot of ${name}` } });
    const options: [Mode, string][] = [
      ["time", "over time"],
      ["spectrum", "spectrum"],
    ];
    if (hasPhase) options.push(["phase", "phase"]);
    if (runs.length > 1) options.splice(1, 0, ["difference", "difference"]);
    for (const [value, text] of options) modes.append(el("option", { text, attrs: { value } }));
    modes.addEventListener("change", () => {
      this.mode = modes.value as Mode;
      this.draw();
    });
    const heading = el("h3", {}, [this.title, unitText(this.unit) ? el("span", { class: "unit", text: unitText(this.unit) }) : null]);
    const tools = el("div", { class: "tools" }, [
      modes,
      button("CSV", "save the numbers", () => this.saveNumbers()),
      button("PNG", "save the picture as pixels", () => this.savePicture()),
      button("SVG", "save the picture as lines, for papers", () => this.saveDrawing()),
      button("×", "close this plot", () => owner.close(name)),
    ]);
    this.element = el("section", { class: "card plot", attrs: { "data-channel": name } }, [el("header", {}, [heading, tools]), this.body, this.legend]);
  }

  private collect(): void {
    this.curves = [];
    this.runs.forEach((run, r) => {
      const channel = this.name === "energy balance" ? energyBalance(run) : run.channels.find((c) => c.name === this.name);
      if (!channel) return;
      this.unit = channel.unit;
      this.title = channel.name;
      channel.columns.forEach((values, k) => {
        const label = channel.labels[k] || (channel.columns.length > 1 ? String(k + 1) : "");
        const of = this.runs.length > 1 ? [run.label, label].filter(Boolean).join(" ") : label || channel.name.replace(/^.*\./, "");
        this.curves.push({ run: r, component: k, label: of, time: run.time, values });
        for (const value of values) if (Math.abs(value) > this.largest) this.largest = Math.abs(value);
      });
    });
  }

  /** Of a curve by its component, or by its run where there is one component. */
  private colour(curve: Curve): string {
    const components = this.curves.filter((other) => other.run === curve.run).length;
    return colourOf(components > 1 ? curve.component : curve.run);
  }

  private series(curve: Curve): uPlot.Series {
    return {
      label: curve.label,
      stroke: this.colour(curve),
      width: 1.4,
      pxAlign: 0, // slow curves are no stairs
      dash: this.runs.length > 1 ? DASHES[curve.run % DASHES.length] : [],
      show: !this.hidden.has(curve.label),
      spanGaps: true,
      points: { show: false },
    };
  }

  /** Curves of different runs on one axis of time. */
  private table(curves: Curve[]): uPlot.AlignedData {
    if (curves.every((curve) => curve.time === curves[0].time)) return [curves[0].time, ...curves.map((curve) => curve.values)] as unknown as uPlot.AlignedData;
    return uPlot.join(curves.map((curve) => [curve.time, curve.values] as unknown as uPlot.AlignedData));
  }

  private shown(): { data: uPlot.AlignedData; curves: Curve[]; xLabel: string; timed: boolean } {
    if (this.mode === "difference") {
      const base = this.curves.filter((curve) => curve.run === 0);
      const others = this.curves.filter((curve) => curve.run > 0);
      const curves = others.map((curve, i) => {
        const reference = base[i % Math.max(1, base.length)];
        const values = curve.values.map((value, k) => (reference ? value - valueAt(reference.time, reference.values, curve.time[k]) : NaN));
        return { ...curve, values, label: `${curve.label} − ${this.runs[0].label}` };
      });
      if (curves.length > 0) return { data: this.table(curves), curves, xLabel: "t", timed: true };
    }
    if (this.mode === "spectrum") {
      const curves = this.curves.map((curve) => {
        const s = spectrum(curve.time, curve.values);
        return { ...curve, time: s.frequency, values: s.size };
      });
      return { data: this.table(curves), curves, xLabel: "f", timed: false };
    }
    return { data: this.table(this.curves), curves: this.curves, xLabel: "t", timed: true };
  }

  draw(): void {
    this.plot?.destroy();
    this.plot = null;
    this.marker = null;
    this.body.replaceChildren();
    if (this.curves.length === 0) return;
    if (this.mode === "phase") {
      this.drawPhase();
      return;
    }
    const { data, curves, xLabel, timed } = this.shown();
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("--muted").trim();
    const line = style.getPropertyValue("--line").trim();
    const font = `11px ${style.getPropertyValue("--sans").trim()}`;
    const axis = (over: Partial<uPlot.Axis>): uPlot.Axis => ({
      stroke: text,
      font,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1, size: 4 },
      ...over,
    });
    const options: uPlot.Options = {
      width: Math.max(200, this.body.clientWidth),
      height: 190,
      padding: [8, 20, 0, 0],
      legend: { show: false },
      cursor: {
        sync: timed ? { key: "yoke", setSeries: false, scales: ["x", null] } : undefined,
        drag: { x: true, y: false },
        points: { size: 6 },
      },
      scales: { x: { time: false }, y: { range: (_u, low, high) => this.range(low, high) } },
      series: [{}, ...curves.map((curve) => this.series(curve))],
      axes: [
        axis({ size: 34, values: (_u, ticks) => tickTexts(ticks).map((text, i) => (i === ticks.length - 1 ? `${xLabel} ${timed ? "[s]" : "[Hz]"}` : text)) }),
        axis({ size: 62, values: (_u, ticks) => tickTexts(ticks) }),
      ],
      hooks: {
        setCursor: [(u) => this.readout(u)],
        setScale: [
          (u, key) => {
            if (key === "x" && timed) this.owner.zoomed(this, u.scales.x.min!, u.scales.x.max!);
            this.moveMarker(this.owner.time);
          },
        ],
      },
    };
    this.plot = new uPlot(options, data, this.body);
    if (timed) {
      this.marker = el("div", { class: "time-marker" });
      this.plot.over.append(this.marker);
      this.plot.over.addEventListener("click", (event) => {
        const box = this.plot!.over.getBoundingClientRect();
        this.owner.onTime(this.plot!.posToVal(event.clientX - box.left, "x"));
      });
    }
    this.drawLegend(curves);
    this.setTime(this.owner.time);
  }

  /** Noise around a value that does not change is not drawn at full height. */
  private range(low: number, high: number): [number, number] {
    if (!Number.isFinite(low) || !Number.isFinite(high)) return [-1, 1];
    const size = Math.max(Math.abs(low), Math.abs(high));
    const least = Math.max(1e-6 * size, 1e-15);
    if (high - low < least) {
      const middle = 0.5 * (low + high);
      const half = Math.max(0.5 * size, 1e-12);
      return size === 0 ? [-1, 1] : [middle - half, middle + half];
    }
    const pad = 0.06 * (high - low);
    return [low - pad, high + pad];
  }

  private drawPhase(): void {
    const own = this.curves.filter((curve) => curve.run === 0);
    const width = Math.max(200, this.body.clientWidth);
    const canvas = el("canvas", { class: "phase" });
    const ratio = window.devicePixelRatio || 1;
    const height = 260;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    this.body.append(canvas);
    const context = canvas.getContext("2d")!;
    const style = getComputedStyle(document.documentElement);
    context.scale(ratio, ratio);
    const [low, high] = [own[0], own[1]].reduce(
      (range, curve, k) => {
        for (const v of curve.values) {
          range[0][k] = Math.min(range[0][k], v);
          range[1][k] = Math.max(range[1][k], v);
        }
        return range;
      },
      [
        [Infinity, Infinity],
        [-Infinity, -Infinity],
      ],
    );
    const x = (v: number) => 62 + ((v - low[0]) / (high[0] - low[0] || 1)) * (width - 80);
    const y = (v: number) => height - 30 - ((v - low[1]) / (high[1] - low[1] || 1)) * (height - 44);
    context.strokeStyle = style.getPropertyValue("--line");
    context.strokeRect(62, 14, width - 80, height - 44);
    context.fillStyle = style.getPropertyValue("--muted");
    context.font = `11px ${style.getPropertyValue("--sans")}`;
    context.fillText(`${own[0].label}: ${number(low[0])} to ${number(high[0])}`, 62, height - 10);
    context.save();
    context.translate(14, height - 30);
    context.rotate(-Math.PI / 2);
    context.fillText(`${own[1].label}: ${number(low[1])} to ${number(high[1])}`, 0, 0);
    context.restore();
    this.runs.forEach((_, r) => {
      const curves = this.curves.filter((curve) => curve.run === r);
      if (curves.length < 2) return;
      context.strokeStyle = colourOf(r);
      context.beginPath();
      for (let i = 0; i < curves[0].values.length; i++) context.lineTo(x(curves[0].values[i]), y(curves[1].values[i]));
      context.stroke();
    });
    this.legend.replaceChildren();
  }

  /** After its run has grown: the curves go on, and a part that was zoomed into stays. */
  grow(): void {
    this.collect();
    if (!this.plot || this.mode !== "time") return;
    this.plot.setData(this.table(this.curves), !this.owner.isZoomed);
    this.setTime(this.owner.time);
  }

  private drawLegend(curves: Curve[]): void {
    this.values = [];
    const entries = curves.map((curve) => {
      const value = el("span", { class: "value", attrs: { "data-curve": curve.label } });
      this.values.push(value);
      const swatch = el("span", { class: "swatch" });
      swatch.style.background = this.colour(curve);
      const entry = el("button", { class: "entry", title: "show or hide", attrs: { type: "button" } }, [swatch, el("span", { text: curve.label }), value]);
      entry.classList.toggle("off", this.hidden.has(curve.label));
      entry.addEventListener("click", () => {
        if (this.hidden.has(curve.label)) this.hidden.delete(curve.label);
        else this.hidden.add(curve.label);
        this.draw();
      });
      return entry;
    });
    this.legend.replaceChildren(...entries);
  }

  /** The values under the cursor, or at the time of the 3D view. */
  private readout(u: uPlot): void {
    const i = u.cursor.idx;
    if (i === null || i === undefined || u.cursor.left! < 0) {
      this.setTime(this.owner.time);
      return;
    }
    this.values.forEach((value, k) => (value.textContent = number(this.quiet(u.data[k + 1][i] as number), 6)));
  }

  /** Rounding errors beside the other curves are zero. */
  private quiet(value: number): number {
    return Math.abs(value) < 1e-12 * this.largest ? 0 : value;
  }

  private moveMarker(t: number): void {
    if (!this.plot || !this.marker) return;
    const x = this.plot.valToPos(t, "x");
    const inside = x >= 0 && x <= this.plot.over.clientWidth;
    this.marker.style.display = inside ? "" : "none";
    this.marker.style.transform = `translateX(${x}px)`;
  }

  setTime(t: number): void {
    this.moveMarker(t);
    if (!this.plot || (this.plot.cursor.left ?? -1) >= 0 || this.mode === "spectrum") return;
    const curves = this.mode === "difference" ? this.shown().curves : this.curves;
    this.values.forEach((value, k) => {
      const curve = curves[k];
      if (curve) value.textContent = number(this.quiet(valueAt(curve.time, curve.values, t)), 6);
    });
  }

  setWindow(low: number, high: number): void {
    if (this.plot && this.mode !== "spectrum") this.plot.setScale("x", { min: low, max: high });
  }

  resize(): void {
    if (this.plot && this.body.clientWidth > 0) this.plot.setSize({ width: this.body.clientWidth, height: 190 });
  }

  private saveNumbers(): void {
    const { data, curves } = this.shown();
    const head = [this.mode === "spectrum" ? "f [Hz]" : "t [s]", ...curves.map((curve) => `${curve.label} [${this.unit}]`)];
    const quote = (text: string) => (/[",]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
    const lines = [head.map(quote).join(",")];
    for (let i = 0; i < data[0].length; i++) lines.push(data.map((column) => column[i] ?? "").join(","));
    download(`${this.name}.csv`, new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
  }

  private saveDrawing(): void {
    const { data, curves, xLabel, timed } = this.shown();
    const x = data[0] as ArrayLike<number>;
    const window = this.plot?.scales.x;
    const phase = this.mode === "phase" && curves.length > 1;
    const lines = phase
      ? [{ label: "", colour: colourOf(0), x: curves[0].values, y: curves[1].values }]
      : curves.flatMap((curve, k) => (this.hidden.has(curve.label) ? [] : [{ label: curve.label, colour: this.colour(curve), x, y: data[k + 1] as ArrayLike<number | null> }]));
    const unit = unitText(this.unit);
    const drawing = drawLines({
      title: `${this.title}${unit ? ` [${unit}]` : ""}`,
      xTitle: phase ? curves[0].label : timed ? `${xLabel} [s]` : `${xLabel} [Hz]`,
      lines,
      from: phase ? undefined : window?.min,
      to: phase ? undefined : window?.max,
    });
    download(`${this.name}.svg`, new Blob([drawing], { type: "image/svg+xml" }));
  }

  private savePicture(): void {
    const canvas = this.body.querySelector("canvas");
    canvas?.toBlob((blob) => blob && download(`${this.name}.png`, blob));
  }
}

export class Plots {
  readonly element = el("div", { class: "plots" });
  onTime: (t: number) => void = () => {};
  onChange: () => void = () => {};
  time = 0;
  private cards = new Map<string, Card>();
  private zooming = false;

  constructor(private readonly runs: Run[]) {}

  names(): string[] {
    const names = new Set<string>();
    if (this.runs.some((run) => energyBalance(run))) names.add("energy balance");
    for (const run of this.runs) for (const channel of run.channels) names.add(channel.name);
    return [...names];
  }

  has(name: string): boolean {
    return this.cards.has(name);
  }

  open(name: string, first = false): void {
    if (this.cards.has(name)) {
      this.cards.get(name)!.element.scrollIntoView({ block: "nearest" });
      return;
    }
    const card = new Card(this.runs, name, this);
    this.cards.set(name, card);
    if (first) this.element.prepend(card.element);
    else this.element.append(card.element);
    card.draw();
    this.onChange();
  }

  close(name: string): void {
    this.cards.get(name)?.element.remove();
    this.cards.delete(name);
    this.onChange();
  }

  setTime(t: number): void {
    this.time = t;
    for (const card of this.cards.values()) card.setTime(t);
  }

  /** Whether plots show a part of the run. */
  isZoomed = false;

  zoomed(by: Card, low: number, high: number): void {
    if (this.zooming) return;
    const times = this.runs.map((run) => run.time).filter((time) => time.length > 0);
    const first = Math.min(...times.map((time) => time[0]));
    const last = Math.max(...times.map((time) => time[time.length - 1]));
    this.isZoomed = high - low < 0.98 * (last - first);
    this.zooming = true;
    for (const card of this.cards.values()) if (card !== by) card.setWindow(low, high);
    this.zooming = false;
  }

  resize(): void {
    for (const card of this.cards.values()) card.resize();
  }

  grow(): void {
    this.zooming = true;
    for (const card of this.cards.values()) card.grow();
    this.zooming = false;
  }

  redraw(): void {
    for (const card of this.cards.values()) card.draw();
  }
}
