// Tables of the analyses (`yoke report map.csv`): stability maps, convergence, sweeps and mode shapes, drawn as SVG that can be
// saved. The columns of a table determine how it is drawn.

import { roundTicks } from "./drawing";
import { button, colourOf, download, el, number, svg, unitText } from "./ui";

export interface Table {
  file: string;
  text: string;
}

interface Columns {
  names: string[];
  rows: string[][];
}

const WIDTH = 640;
const HEIGHT = 400;
const BOX = { left: 96, right: 30, top: 16, bottom: 50 };

// Reading ---------------------------------------------------------------------------------------

/** The fields of a CSV text, quoted ones too. */
export function readCsv(text: string): Columns {
  const rows = text
    .trim()
    .split(/\r?\n/)
    .map((line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map((match) => match[1].replace(/^"|"$/g, "").replace(/""/g, '"')).slice(0, -1))
    .map((fields, _, all) => (fields.length < all[0].length ? [...fields, ...Array(all[0].length - fields.length).fill("")] : fields));
  return { names: rows[0] ?? [], rows: rows.slice(1) };
}

function column(table: Columns, name: string): number[] {
  const at = table.names.indexOf(name);
  // The program writes "inf" and "nan", which Number() both reads as NaN.
  return table.rows.map((row) => (row[at] === "" ? NaN : row[at] === "inf" ? Infinity : Number(row[at])));
}

function distinct(values: number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

/** Whether values on an axis are spaced by factors. */
function isGeometric(values: number[]): boolean {
  if (values.length < 3 || values[0] <= 0) return false;
  const first = values[1] / values[0];
  const last = values[values.length - 1] / values[values.length - 2];
  return Math.abs(last / first - 1) < 0.05 && Math.abs((values[values.length - 1] - values[values.length - 2]) / (values[1] - values[0]) - 1) > 0.2;
}

// Axes ------------------------------------------------------------------------------------------

interface Axis {
  title: string;
  log: boolean;
  at: (value: number) => number; // pixels
  ticks: number[];
}

function makeAxis(title: string, low: number, high: number, log: boolean, from: number, to: number): Axis {
  const map = (v: number) => (log ? Math.log10(v) : v);
  const [a, b] = [map(low), map(high)];
  const span = b - a || 1;
  let ticks = roundTicks(a, b, Math.abs(to - from) / 90);
  if (log) {
    // Powers of ten, as many as there is room for; over few decades the numbers between them too.
    const every = Math.max(1, Math.ceil((b - a) / 7));
    const between = b - a < 2.2 ? [1, 2, 5] : [1];
    ticks = [];
    for (let power = Math.floor(a); power <= b; power++) if (power % every === 0) ticks.push(...between.map((one) => one * Math.pow(10, power)));
    ticks = ticks.filter((tick) => tick >= low && tick <= high);
  }
  return { title, log, at: (value) => from + ((map(value) - a) / span) * (to - from), ticks };
}

function makeFrame(x: Axis, y: Axis): SVGElement {
  const drawing = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", "font-family": "Helvetica, Arial, sans-serif", "font-size": 12, fill: "currentColor" });
  const bottom = HEIGHT - BOX.bottom;
  const grid = svg("g", { "pointer-events": "none" }); // what lies below it can be pointed at
  drawing.append(grid);
  for (const tick of x.ticks)
    grid.append(
      svg("path", { d: `M${x.at(tick)},${BOX.top}V${bottom + 4}`, stroke: "currentColor", "stroke-opacity": 0.15 }),
      svg("text", { x: x.at(tick), y: bottom + 18, "text-anchor": "middle" }, number(tick)),
    );
  for (const tick of y.ticks)
    grid.append(
      svg("path", { d: `M${BOX.left - 4},${y.at(tick)}H${WIDTH - BOX.right}`, stroke: "currentColor", "stroke-opacity": 0.15 }),
      svg("text", { x: BOX.left - 8, y: y.at(tick) + 4, "text-anchor": "end" }, number(tick)),
    );
  grid.append(
    svg("rect", { x: BOX.left, y: BOX.top, width: WIDTH - BOX.left - BOX.right, height: bottom - BOX.top, fill: "none", stroke: "currentColor", "stroke-opacity": 0.5 }),
    svg("text", { x: (BOX.left + WIDTH - BOX.right) / 2, y: HEIGHT - 10, "text-anchor": "middle" }, x.title),
    svg("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(14,${(BOX.top + bottom) / 2}) rotate(-90)` }, y.title),
  );
  return drawing;
}

function card(title: string, drawing: SVGElement, note: Node | string): HTMLElement {
  const save = button("SVG", "save the picture as lines, for papers", () => {
    const copy = drawing.cloneNode(true) as SVGElement;
    copy.setAttribute("style", "color:black;background:white");
    download(`${title}.svg`, new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  });
  return el("section", { class: "card plot" }, [el("header", {}, [el("h3", { text: title }), el("div", { class: "tools" }, [save])]), drawing as unknown as HTMLElement, el("p", { class: "muted chart-note" }, [note])]);
}

// Maps ------------------------------------------------------------------------------------------

/** From pale to dark along one hue. */
function shade(part: number, dark: [number, number, number], pale: [number, number, number]): string {
  const p = Math.max(0, Math.min(1, part));
  return `rgb(${pale.map((c, i) => Math.round(c + p * (dark[i] - c))).join(",")})`;
}

/** A grid of values over two columns; the value under the pointer is said below. */
function mapCard(title: string, table: Columns, xName: string, yName: string, values: number[], colour: (value: number) => string, say: (value: number) => string, summary: string): HTMLElement {
  const xs = column(table, xName);
  const ys = column(table, yName);
  const [gridX, gridY] = [distinct(xs), distinct(ys)];
  // Cells reach half way to their neighbours.
  const edges = (grid: number[], log: boolean): number[] => {
    const map = (v: number) => (log ? Math.log(v) : v);
    const back = (v: number) => (log ? Math.exp(v) : v);
    const inner = grid.slice(1).map((v, i) => back((map(v) + map(grid[i])) / 2));
    const first = grid.length > 1 ? back(2 * map(grid[0]) - map(inner[0])) : grid[0] * 0.9 - 0.1;
    const last = grid.length > 1 ? back(2 * map(grid[grid.length - 1]) - map(inner[inner.length - 1])) : grid[0] * 1.1 + 0.1;
    return [first, ...inner, last];
  };
  const [logX, logY] = [isGeometric(gridX), isGeometric(gridY)];
  const [edgeX, edgeY] = [edges(gridX, logX), edges(gridY, logY)];
  const x = makeAxis(xName, edgeX[0], edgeX[edgeX.length - 1], logX, BOX.left, WIDTH - BOX.right);
  const y = makeAxis(yName, edgeY[0], edgeY[edgeY.length - 1], logY, HEIGHT - BOX.bottom, BOX.top);
  const drawing = makeFrame(x, y);
  const cells = svg("g", { class: "cells", "shape-rendering": "crispEdges" });
  const note = el("span", { text: summary });
  const [indexX, indexY] = [new Map(gridX.map((v, i) => [v, i])), new Map(gridY.map((v, i) => [v, i]))];
  values.forEach((value, k) => {
    const [i, j] = [indexX.get(xs[k])!, indexY.get(ys[k])!];
    const [left, right, low, high] = [x.at(edgeX[i]), x.at(edgeX[i + 1]), y.at(edgeY[j]), y.at(edgeY[j + 1])];
    const cell = svg("rect", { x: left.toFixed(2), y: high.toFixed(2), width: (right - left).toFixed(2), height: (low - high).toFixed(2), fill: colour(value) });
    cell.addEventListener("pointerenter", () => (note.textContent = `${xName} ${number(xs[k])}, ${yName} ${number(ys[k])}: ${say(value)}`));
    cells.append(cell);
  });
  cells.addEventListener("pointerleave", () => (note.textContent = summary));
  drawing.insertBefore(cells, drawing.firstChild);
  return card(title, drawing, note);
}

function stabilityMap(file: string, table: Columns): HTMLElement[] {
  const radius = column(table, "spectral_radius");
  const stable = column(table, "stable");
  const fraction = stable.filter((one) => one === 1).length / Math.max(1, stable.length);
  const undecided = radius.filter((one) => isNaN(one)).length / Math.max(1, radius.length);
  const colour = (value: number) => {
    if (isNaN(value)) return "#8a8f98";
    if (!(value < Infinity)) return "#7c1d1d";
    if (value <= 1 + 1e-6) return "#2b69ae";
    return shade(1 + Math.log10(Math.min(1, value - 1)) / 6, [166, 48, 34], [252, 233, 205]);
  };
  const say = (value: number) => (isNaN(value) ? "undecided" : `spectral radius ${number(value, 8)}, ${value <= 1 + 1e-6 ? "stable" : "unstable"}`);
  const grey = undecided > 0 ? `, undecided (grey) in ${number(100 * undecided, 3)} %` : "";
  return [mapCard(file, table, table.names[0], table.names[1], radius, colour, say, `stable (blue) in ${number(100 * fraction, 3)} % of the map${grey}; from pale to dark the spectral radius grows from 1 + 1e−6 to 2`)];
}

// Curves ----------------------------------------------------------------------------------------

interface Curve {
  label: string;
  x: number[];
  y: number[];
}

function curveCard(title: string, xTitle: string, yTitle: string, curves: Curve[], log: [boolean, boolean], summary = ""): HTMLElement {
  const fits = (curve: Curve, i: number) => Number.isFinite(curve.x[i]) && Number.isFinite(curve.y[i]) && (!log[0] || curve.x[i] > 0) && (!log[1] || curve.y[i] > 0);
  const points = curves.map((curve) => curve.x.map((_, i) => i).filter((i) => fits(curve, i)));
  const all = (part: "x" | "y") => curves.flatMap((curve, c) => points[c].map((i) => curve[part][i]));
  const range = (values: number[], isLog: boolean): [number, number] => {
    const low = values.length ? Math.min(...values) : isLog ? 0.1 : 0;
    const high = values.length ? Math.max(...values) : 1;
    if (isLog) return [low / 1.3, high * 1.3];
    const pad = 0.05 * (high - low || Math.abs(low) || 1);
    return [low - pad, high + pad];
  };
  const x = makeAxis(xTitle, ...range(all("x"), log[0]), log[0], BOX.left, WIDTH - BOX.right);
  const y = makeAxis(yTitle, ...range(all("y"), log[1]), log[1], HEIGHT - BOX.bottom, BOX.top);
  const drawing = makeFrame(x, y);
  const legend = el("div", { class: "legend" });
  curves.forEach((curve, c) => {
    const colour = colourOf(c);
    const at = points[c].map((i) => `${x.at(curve.x[i]).toFixed(2)},${y.at(curve.y[i]).toFixed(2)}`);
    drawing.append(svg("polyline", { points: at.join(" "), fill: "none", stroke: colour, "stroke-width": 1.5 }));
    for (const i of points[c]) {
      const dot = svg("circle", { cx: x.at(curve.x[i]).toFixed(2), cy: y.at(curve.y[i]).toFixed(2), r: 3.2, fill: colour });
      dot.append(svg("title", {}, `${curve.label} ${number(curve.x[i])}: ${number(curve.y[i], 6)}`.trim()));
      drawing.append(dot);
    }
    if (curves.length < 2) return;
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = colour;
    legend.append(el("span", { class: "entry" }, [swatch, curve.label]));
  });
  return card(title, drawing, curves.length > 1 ? legend : summary);
}

function convergence(file: string, table: Columns): HTMLElement[] {
  const step = column(table, "step [s]");
  const error = column(table, "relative_error");
  const seconds = column(table, "seconds [s]");
  const calls = column(table, "calls");
  const kind = table.names.indexOf("variant");
  const variants = [...new Set(table.rows.map((row) => row[kind] || ""))];
  const curves = (values: number[]): Curve[] =>
    variants.map((label) => {
      const own = table.rows.map((_, i) => i).filter((i) => (table.rows[i][kind] || "") === label);
      return { label: label || file, x: own.map((i) => values[i]), y: own.map((i) => error[i]) };
    });
  return [
    curveCard(`${file}: error over step`, "macro step [s]", "relative error", curves(step), [true, true]),
    curveCard(`${file}: error over work`, "calls of subsystems", "relative error", curves(calls), [true, true]),
    curveCard(`${file}: error over time`, "time of the run [s]", "relative error", curves(seconds), [true, true]),
  ];
}

/** Varied values come first; measures have brackets, or are those of the macro step. Curves lie over the last value that is a number. */
function sweep(table: Columns): HTMLElement[] {
  const first = table.names.findIndex((name) => /\(|^(radius|coupling)$/.test(name));
  const count = first > 0 ? first : 1;
  const axes = table.names.slice(0, count);
  const measures = table.names.slice(count).filter((name) => column(table, name).some(Number.isFinite));
  const numeric = axes.filter((name) => column(table, name).every(Number.isFinite));
  const over = numeric[numeric.length - 1] ?? "run, in the order of the table";
  const xs = numeric.length > 0 ? column(table, over) : table.rows.map((_, i) => i + 1);
  const log = isGeometric(distinct(xs));

  // The other values name a curve: "mass 0.3 kg, scheme tight".
  const labelOf = (row: string[]) =>
    axes
      .map((name, k) => {
        if (name === over || numeric.length === 0) return "";
        const unit = /\[(.*)\]$/.exec(name)?.[1] ?? "";
        const value = Number.isFinite(Number(row[k])) ? number(Number(row[k])) : row[k];
        return [name.replace(/ \[.*$/, "").replace(/^.*\./, ""), value, unitText(unit)].filter(Boolean).join(" ");
      })
      .filter(Boolean)
      .join(", ");
  return measures.flatMap((measure) => {
    const values = column(table, measure);
    const groups = new Map<string, Curve>();
    table.rows.forEach((row, i) => {
      const label = labelOf(row);
      const curve = groups.get(label) ?? { label, x: [], y: [] };
      curve.x.push(xs[i]);
      curve.y.push(values[i]);
      groups.set(label, curve);
    });
    const cards = groups.size <= 12 ? [curveCard(measure, over, measure, [...groups.values()], [log, false])] : [];
    if (count === 2 && numeric.length === 2 && axes.every((name) => distinct(column(table, name)).length > 2)) {
      const finite = values.filter(Number.isFinite);
      const [low, high] = [Math.min(...finite), Math.max(...finite)];
      const colour = (value: number) => (Number.isFinite(value) ? shade((value - low) / (high - low || 1), [20, 54, 92], [226, 238, 247]) : "#b24c3d");
      cards.push(mapCard(`${measure}, map`, table, axes[0], over, values, colour, (value) => number(value, 6), `from ${number(low)} (pale) to ${number(high)} (dark)`));
    }
    return cards;
  });
}

/** Each mode as the displacement of its nodes along the direction in which they move most; it swings. */
function modes(file: string, table: Columns): HTMLElement[] {
  const mode = column(table, "mode");
  const frequency = column(table, "frequency_Hz");
  const damping = column(table, "damping");
  return distinct(mode).map((one) => {
    const rows = table.rows.map((_, i) => i).filter((i) => mode[i] === one);
    const size = (name: string) => Math.max(...rows.map((i) => Math.abs(column(table, name)[i])));
    const parts = ["ux", "uy", "uz", "rx", "ry", "rz"];
    const largest = parts.slice(0, 3).reduce((best, name) => (size(name) > size(best) ? name : best));
    const name = size(largest) > 1e-6 * Math.max(...parts.map(size)) ? largest : parts.reduce((best, part) => (size(part) > size(best) ? part : best));
    const [re, im] = [column(table, name), column(table, `${name}_im`)];
    const most = Math.max(...rows.map((i) => Math.hypot(re[i], im[i] || 0))) || 1;
    const x = makeAxis("node, in the order of the model", 1, Math.max(2, rows.length), false, BOX.left, WIDTH - BOX.right);
    const y = makeAxis(`${name[0] === "u" ? "displacement" : "rotation"} along ${name[1]}`, -1.1, 1.1, false, HEIGHT - BOX.bottom, BOX.top);
    const drawing = makeFrame(x, y);
    const line = svg("polyline", { fill: "none", stroke: colourOf(one - 1), "stroke-width": 2 });

    // How far each node goes to either side, for eyes and papers that see one moment.
    for (const side of [-1, 1]) {
      const reach = rows.map((i, k) => `${x.at(k + 1).toFixed(1)},${y.at((side * Math.sign(re[i] || 1) * Math.hypot(re[i], im[i] || 0)) / most).toFixed(1)}`);
      drawing.append(svg("polyline", { points: reach.join(" "), fill: "none", stroke: colourOf(one - 1), "stroke-opacity": 0.45, "stroke-dasharray": "4 3" }));
    }
    drawing.append(line);
    const place = (phase: number) => {
      const [c, s] = [Math.cos(phase), Math.sin(phase)];
      line.setAttribute("points", rows.map((i, k) => `${x.at(k + 1).toFixed(1)},${y.at((re[i] * c - (im[i] || 0) * s) / most).toFixed(1)}`).join(" "));
    };
    place(0);
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const swing = (now: number) => {
      place((now / 1000) * Math.PI);
      if (drawing.isConnected) requestAnimationFrame(swing);
    };
    if (!still) requestAnimationFrame(() => requestAnimationFrame(swing));
    const decay = damping[rows[0]] ? `, damping ratio ${number(damping[rows[0]])}` : "";
    return card(`${file}: mode ${one}, ${number(frequency[rows[0]], 6)} Hz`, drawing, `largest motion scaled to 1${decay}`);
  });
}

function cardsOf(file: string, table: Columns): HTMLElement[] {
  const has = (...names: string[]) => names.every((name) => table.names.includes(name));
  if (has("spectral_radius", "stable")) return stabilityMap(file, table);
  if (has("step [s]", "relative_error", "variant")) return convergence(file, table);
  if (has("mode", "frequency_Hz", "node")) return modes(file, table);
  return sweep(table);
}

/** The page of one or several tables, with their numbers below. */
export function showTables(root: HTMLElement, tables: Table[], software: string): void {
  const theme = (dark: boolean) => (document.documentElement.dataset.theme = dark ? "dark" : "light");
  theme(window.matchMedia("(prefers-color-scheme: dark)").matches);
  const title = tables.map((table) => table.file.replace(/^.*\//, "")).join(", ");
  document.title = `${title} – Yoke`;
  const head = el("header", {}, [el("span", { class: "mark", text: "YOKE" }), el("h1", { text: title }), button("theme", "light or dark", () => theme(document.documentElement.dataset.theme !== "dark"))]);
  const charts = el("div", { class: "charts" });
  const numbers = el("div", {});
  for (const { file, text } of tables) {
    const table = readCsv(text);
    const name = file.replace(/^.*\//, "").replace(/\.csv$/, "");
    charts.append(...cardsOf(name, table));
    const rows = table.rows.slice(0, 500).map((row) => el("tr", {}, row.map((field) => el("td", { class: "number", text: field !== "" && Number.isFinite(Number(field)) ? number(Number(field), 6) : field }))));
    const full = el("table", {}, [el("tr", {}, table.names.map((one) => el("th", { text: one }))), ...rows]);
    const save = button("CSV", "save the numbers", () => download(`${name}.csv`, new Blob([text], { type: "text/csv" })));
    const left = table.rows.length > 500 ? `, the first 500 of ${table.rows.length} rows` : "";
    numbers.append(el("details", { class: "card" }, [el("summary", { text: `Numbers of ${name}${left}` }), save, el("div", { class: "scroll" }, [full])]));
  }
  root.classList.add("flat", "tables");
  root.append(head, el("main", { class: "table-page" }, [charts, numbers, el("p", { class: "muted", text: `Written by ${software}.` })]));
}
