// Plots of channels over time, one card each; the time of the 3D view is a line in all of them.

import uPlot from "uplot";
import { Channel, channelNames, channelOf, Run, valueAt } from "./data";
import { Drawing, drawLines, DrawnLine } from "./drawing";
import { button, colourOf, displayUnit, download, el, number, svg, unitText } from "./ui";

interface Curve {
  run: number;
  component: number;
  label: string;
  time: Float64Array;
  values: Float64Array;
}

type Mode = "time" | "difference" | "spectrum" | "phase";

const DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3]];

/** Energy that the integration of each subsystem and each interface made, and all together. */
export function energyBalance(run: Run): Channel | null {
  const labels: string[] = [];
  const columns: Float64Array[] = [];
  const add = (label: string, column: Float64Array) => {
    labels.push(label);
    columns.push(column);
  };
  for (const name of run.scene?.subsystems ?? []) {
    const made = run.frames?.monitor(`${name}.spurious_energy`);
    if (made) add(name, made.columns[0]);
  }
  const monitored = labels.length > 0;
  if (monitored)
    for (const link of run.scene!.connections) {
      const created = run.frames!.monitor(`${link.name}.energy_created`);
      if (created?.columns[0].some((value) => value !== 0)) add(`interface ${link.name}`, created.columns[0]);
    }
  else
    for (const channel of run.channels) {
      // Energy error of records without frames: kinetic + potential + dissipated - work, minus its value at the start.
      const parts = ["kinetic", "potential", "dissipated", "work"].map((label) => channel.labels.indexOf(label));
      if (!channel.name.endsWith(".energy") || parts.some((part) => part < 0)) continue;
      const [k, p, d, w] = parts.map((part) => channel.columns[part]);
      const sum = (i: number) => k[i] + p[i] + d[i] - w[i];
      add(channel.name.replace(/\.energy$/, ""), k.map((_, i) => sum(i) - sum(0)));
    }
  if (labels.length === 0) return null;
  if (labels.length > 1) add("total", columns[0].map((_, i) => columns.reduce((all, column) => all + column[i], 0)));
  return { name: "energy balance", unit: "J", labels, columns, time: monitored ? run.frames!.time : run.time };
}

/** Magnitude of the spectrum up to half the rate of the samples, by a transform of length 2^n with a Hann window. */
function spectrum(time: Float64Array, values: Float64Array): { frequency: Float64Array; size: Float64Array } {
  const span = time[time.length - 1] - time[0];
  let n = 2;
  while (n < Math.min(time.length, 32768)) n *= 2; // at least as many points as samples, so that nothing is folded down
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
  const half = Math.min(n / 2, time.length >> 1);
  const frequency = new Float64Array(half);
  const size = new Float64Array(half);
  for (let i = 0; i < half; i++) {
    frequency[i] = i / span;
    size[i] = (2 * Math.hypot(re[i], im[i])) / n;
  }
  return { frequency, size };
}

function lookUp(run: Run, name: string): Channel | null {
  return name === "energy balance" ? energyBalance(run) : channelOf(run, name);
}

/** Formats with as many digits as distinguish neighbors on an axis. */
function tickTexts(ticks: number[]): string[] {
  const largest = ticks.reduce((most, tick) => Math.max(most, Math.abs(tick)), 0);
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : largest;
  const digits = step > 0 ? Math.ceil(Math.log10(largest / step)) + 2 : 4;
  return ticks.map((tick) => number(Math.abs(tick) < 1e-9 * step ? 0 : tick, Math.max(4, Math.min(12, digits))));
}

/** A line with dashes as the background of a small box. */
function lineOf(colour: string, dash: number[]): string {
  if (dash.length === 0) return colour;
  let at = 0;
  const stops = dash.flatMap((length, i) => {
    const from = at;
    at += length;
    return [`${i % 2 === 0 ? colour : "transparent"} ${from}px ${at}px`];
  });
  return `repeating-linear-gradient(90deg, ${stops.join(", ")})`;
}

interface PhaseLine extends DrawnLine {
  time: Float64Array;
  x: Float64Array;
  y: Float64Array;
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
  private factor = 1; // of the unit that values are shown in, to the SI unit
  private readonly unitBox = el("span", { class: "unit" });
  private readonly against = el("select", { class: "against", title: "what it is drawn against", attrs: { "aria-label": "other axis of the phase plot", hidden: "" } });
  private phase: { drawing: Drawing; dots: SVGElement[]; lines: PhaseLine[] } | null = null;

  constructor(
    private readonly runs: Run[],
    readonly name: string,
    private readonly owner: Plots,
  ) {
    this.collect();
    this.hideConstant();
    const hasPhase = this.fillAgainst();
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
      this.against.hidden = this.mode !== "phase";
      this.draw();
    });
    this.against.addEventListener("change", () => this.draw());
    const heading = el("h3", {}, [this.title, this.unitBox]);
    const tools = el("div", { class: "tools" }, [
      modes,
      this.against,
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
      const channel = lookUp(run, this.name);
      if (!channel) return;
      this.unit = channel.unit;
      this.title = channel.name;
      channel.columns.forEach((values, k) => {
        const label = channel.labels[k] || (channel.columns.length > 1 ? String(k + 1) : "");
        const of = this.runs.length > 1 ? [run.label, label].filter(Boolean).join(" ") : label || channel.name.replace(/^.*\./, "");
        this.curves.push({ run: r, component: k, label: of, time: channel.time ?? run.time, values });
        for (const value of values) if (Math.abs(value) > this.largest) this.largest = Math.abs(value);
      });
    });
  }

  /** Components that hardly move leave the picture to those that do; their entries in the legend show them again. */
  private hideConstant(): void {
    const range = (curve: Curve): [number, number] => {
      let low = Infinity;
      let high = -Infinity;
      for (const value of curve.values) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
      return [low, high];
    };
    const ranges = this.curves.map(range);
    const widths = ranges.map(([low, high]) => (high > low ? high - low : 0));
    const widest = Math.max(0, ...widths);
    if (!(widest > 0) || this.name === "energy balance") return;
    const moving = ranges.filter((_, i) => widths[i] > 0.05 * widest);
    const low = Math.min(...moving.map((one) => one[0]));
    const high = Math.max(...moving.map((one) => one[1]));
    for (const component of new Set(this.curves.map((curve) => curve.component))) {
      const own = this.curves.flatMap((curve, i) => (curve.component === component ? [i] : []));
      const constant = own.every((i) => widths[i] <= 1e-6 * widest);
      const small = own.every((i) => widths[i] <= 0.05 * widest);
      const stretches = own.some((i) => Math.max(high, ranges[i][1]) - Math.min(low, ranges[i][0]) > 2 * (high - low));
      if (constant || (small && stretches)) for (const i of own) this.hidden.add(this.curves[i].label);
    }
  }

  /** Chooses the unit that keeps the numbers of these curves short. */
  private chooseUnit(curves: Curve[]): void {
    let largest = 0;
    for (const curve of curves) if (!this.hidden.has(curve.label)) for (const value of curve.values) if (Math.abs(value) > largest) largest = Math.abs(value);
    const display = this.mode === "phase" ? { factor: 1, text: unitText(this.unit) } : displayUnit(this.unit, largest);
    this.factor = display.factor;
    this.unitBox.textContent = display.text;
  }

  /** Color of a curve: by its component, or by its run if there is one component. */
  private colour(curve: Curve): string {
    const components = this.curves.filter((other) => other.run === curve.run).length;
    if (this.name === "energy balance" && /(^| )total$/.test(curve.label)) return getComputedStyle(document.documentElement).getPropertyValue("--text").trim();
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
    this.phase = null;
    this.body.replaceChildren();
    if (this.curves.length === 0) return;
    if (this.mode === "phase") {
      this.chooseUnit([]);
      this.drawPhase();
      return;
    }
    const { data, curves, timed } = this.shown();
    this.chooseUnit(curves);
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
        axis({ size: 34, values: (_u, ticks) => tickTexts(ticks).map((text, i) => (i === ticks.length - 1 ? `${text} ${timed ? "s" : "Hz"}` : text)) }),
        axis({ size: 62, values: (_u, ticks) => tickTexts(ticks.map((tick) => tick / this.factor)) }),
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

  /** Quantities against which the first component can be drawn, most useful first: another component, or the velocity of a position. */
  private fillAgainst(): boolean {
    const own = this.curves[0];
    if (!own) return false;
    const rates: [string, string][] = [
      ["position", "velocity"],
      ["angle", "angular_velocity"],
      ["orientation", "angular_velocity"],
    ];
    const rate = rates.find(([of]) => this.name.includes(`.${of}`));
    const partner = rate ? this.name.replace(`.${rate[0]}`, `.${rate[1]}`) : "";
    const found: { name: string; component: number; text: string; rank: number }[] = [];
    for (const name of this.owner.names()) {
      const channel = this.runs.map((run) => lookUp(run, name)).find((one) => one !== null)!;
      channel.columns.forEach((_, component) => {
        if (name === this.name && component === 0) return;
        const near = name.split(".")[0] === this.name.split(".")[0] && name !== "energy balance";
        const rank = name === partner ? 0 : name === this.name ? 1 : near ? 2 : 3;
        const text = [name, channel.labels[component] || (channel.columns.length > 1 ? String(component + 1) : "")].filter(Boolean).join(" ");
        found.push({ name, component, text, rank });
      });
    }
    found.sort((a, b) => a.rank - b.rank);
    this.against.replaceChildren(...found.map((one) => el("option", { text: `against ${one.text}`, attrs: { value: JSON.stringify([one.name, one.component]) } })));
    return found.length > 0;
  }

  private phaseLines(): { lines: PhaseLine[]; xTitle: string; yTitle: string } {
    const [name, component] = JSON.parse(this.against.value) as [string, number];
    const lines: PhaseLine[] = [];
    let unit = "";
    this.runs.forEach((run, r) => {
      const own = this.curves.find((curve) => curve.run === r);
      const other = lookUp(run, name);
      if (!own || !other || !other.columns[component]) return;
      unit = other.unit;
      const time = other.time ?? run.time;
      const y = time === own.time ? other.columns[component] : own.time.map((t) => valueAt(time, other.columns[component], t));
      lines.push({ label: this.runs.length > 1 ? run.label : "", colour: colourOf(r), dash: DASHES[r % DASHES.length], time: own.time, x: own.values, y });
    });
    const titled = (text: string, of: string) => `${text}${unitText(of) ? ` [${unitText(of)}]` : ""}`;
    const first = this.curves[0].label;
    const own = this.runs.length > 1 ? first.slice(this.runs[this.curves[0].run].label.length + 1) : first;
    return { lines, xTitle: titled([this.name, own === this.name.replace(/^.*\./, "") ? "" : own].filter(Boolean).join(" "), this.unit), yTitle: titled(this.against.selectedOptions[0].text.replace(/^against /, ""), unit) };
  }

  private drawPhase(): void {
    const { lines, xTitle, yTitle } = this.phaseLines();
    const drawing = drawLines({ title: "", xTitle, yTitle, lines }, false);
    this.body.innerHTML = drawing.text;
    const picture = this.body.querySelector("svg")!;
    picture.setAttribute("class", "phase");
    const dots = lines.map((line) => svg("circle", { r: 4, fill: line.colour }));
    picture.append(...dots);
    this.phase = { drawing, dots, lines };
    this.legend.replaceChildren();
    this.setTime(this.owner.time);
  }

  /** After its run has grown: the curves go on, and a part that was zoomed into stays. */
  grow(): void {
    this.collect();
    if (!this.plot || this.mode !== "time") return;
    this.chooseUnit(this.curves);
    this.plot.setData(this.table(this.curves), !this.owner.isZoomed);
    this.setTime(this.owner.time);
  }

  private drawLegend(curves: Curve[]): void {
    this.values = [];
    const entries = curves.map((curve) => {
      const value = el("span", { class: "value", attrs: { "data-curve": curve.label } });
      this.values.push(value);
      const swatch = el("span", { class: "swatch line" });
      swatch.style.background = lineOf(this.colour(curve), this.runs.length > 1 ? DASHES[curve.run % DASHES.length] : []);
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
    this.values.forEach((value, k) => (value.textContent = number(this.quiet(u.data[k + 1][i] as number) / this.factor, 6)));
  }

  /** Sets components to zero that are rounding errors relative to the other curves. */
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
    if (this.phase) {
      const { drawing, dots, lines } = this.phase;
      lines.forEach((line, i) => {
        const [x, y] = drawing.at(valueAt(line.time, line.x, t), valueAt(line.time, line.y, t));
        dots[i].setAttribute("cx", x.toFixed(1));
        dots[i].setAttribute("cy", y.toFixed(1));
      });
    }
    if (!this.plot || (this.plot.cursor.left ?? -1) >= 0 || this.mode === "spectrum") return;
    const curves = this.mode === "difference" ? this.shown().curves : this.curves;
    this.values.forEach((value, k) => {
      const curve = curves[k];
      if (curve) value.textContent = number(this.quiet(valueAt(curve.time, curve.values, t)) / this.factor, 6);
    });
  }

  setWindow(low: number, high: number): void {
    if (this.plot && this.mode !== "spectrum") this.plot.setScale("x", { min: low, max: high });
  }

  resize(): void {
    if (this.plot && this.body.clientWidth > 0) this.plot.setSize({ width: this.body.clientWidth, height: 190 });
  }

  private saveNumbers(): void {
    let head: string[];
    let data: ArrayLike<number | null | undefined>[];
    if (this.mode === "phase") {
      const { lines, xTitle, yTitle } = this.phaseLines();
      head = lines.flatMap((line) => ["t [s]", xTitle, yTitle].map((title) => [line.label, title].filter(Boolean).join(" ")));
      data = lines.flatMap((line) => [line.time, line.x, line.y]);
    } else {
      const shown = this.shown();
      head = [this.mode === "spectrum" ? "f [Hz]" : "t [s]", ...shown.curves.map((curve) => `${curve.label} [${this.unit || "1"}]`)];
      data = shown.data;
    }
    const quote = (text: string) => (/[",]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
    const lines = [head.map(quote).join(",")];
    const rows = data.reduce((most, column) => Math.max(most, column.length), 0);
    for (let i = 0; i < rows; i++) lines.push(data.map((column) => column[i] ?? "").join(","));
    download(`${this.name}.csv`, new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
  }

  /** The visible plot, black on white. */
  private drawing(): string {
    const unit = unitText(this.unit);
    const title = `${this.title}${unit ? ` [${unit}]` : ""}`;
    if (this.mode === "phase") return drawLines({ title: "", ...this.phaseLines() }, true).text;
    const { data, curves, xLabel, timed } = this.shown();
    const x = data[0] as ArrayLike<number>;
    const window = this.plot?.scales.x;
    const lines = curves.flatMap((curve, k) =>
      this.hidden.has(curve.label) ? [] : [{ label: curve.label, colour: this.colour(curve), dash: this.runs.length > 1 ? DASHES[curve.run % DASHES.length] : [], x, y: data[k + 1] as ArrayLike<number | null> }],
    );
    return drawLines({ title, xTitle: timed ? `${xLabel} [s]` : `${xLabel} [Hz]`, yTitle: "", lines, from: window?.min, to: window?.max }, true).text;
  }

  private saveDrawing(): void {
    download(`${this.name}.svg`, new Blob([this.drawing()], { type: "image/svg+xml" }));
  }

  /** The same as pixels at twice the resolution of the screen, with title, units and legend. */
  private savePicture(): void {
    const text = this.drawing();
    const [, , width, height] = /viewBox="([^"]*)"/.exec(text)![1].split(" ").map(Number);
    const picture = new Image();
    picture.onload = () => {
      const canvas = el("canvas");
      canvas.width = 2 * width;
      canvas.height = 2 * height;
      canvas.getContext("2d")!.drawImage(picture, 0, 0, 2 * width, 2 * height);
      canvas.toBlob((blob) => blob && download(`${this.name}.png`, blob));
    };
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text.replace("<svg ", `<svg width="${width}" height="${height}" `))}`;
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
    for (const run of this.runs) for (const name of channelNames(run)) names.add(name);
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
