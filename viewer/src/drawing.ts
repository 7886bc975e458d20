// Curves as an SVG drawing: axes, one line per curve, a legend below. For papers black on white, on the page in its colours.

import { number } from "./ui";

export interface DrawnLine {
  label: string;
  colour: string;
  dash?: number[];
  x: ArrayLike<number>;
  y: ArrayLike<number | null | undefined>;
}

const WIDTH = 640;
const HEIGHT = 320;
const BOX = { left: 84, right: 16, top: 34, bottom: 46 };
const POINTS = 4000; // of a line; where it has more, the least and the largest of pieces

function escape(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** Round numbers in a range, about as many as asked for. */
export function roundTicks(low: number, high: number, count: number): number[] {
  const raw = (high - low) / count;
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = power * ([1, 2, 5].find((one) => one * power >= raw) ?? 10);
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return ticks;
}

function thinned(line: DrawnLine, from: number, to: number): [number, number][] {
  const points: [number, number][] = [];
  for (let i = 0; i < line.x.length; i++) {
    const y = line.y[i];
    if (line.x[i] >= from && line.x[i] <= to && y !== null && y !== undefined && Number.isFinite(y)) points.push([line.x[i], y]);
  }
  if (points.length <= POINTS) return points;
  const piece = Math.ceil((2 * points.length) / POINTS);
  const kept: [number, number][] = [];
  for (let i = 0; i < points.length; i += piece) {
    const part = points.slice(i, i + piece);
    const least = part.reduce((a, b) => (b[1] < a[1] ? b : a));
    const largest = part.reduce((a, b) => (b[1] > a[1] ? b : a));
    kept.push(...(part.indexOf(least) <= part.indexOf(largest) ? [least, largest] : [largest, least]));
  }
  return kept;
}

export interface Drawing {
  text: string;
  at: (x: number, y: number) => [number, number]; // a point of the plot in the drawing
}

export function drawLines(plot: { title: string; xTitle: string; yTitle: string; lines: DrawnLine[]; from?: number; to?: number }, paper: boolean): Drawing {
  const spread = (values: ArrayLike<number | null | undefined>[]): [number, number] => {
    let low = Infinity;
    let high = -Infinity;
    for (const list of values)
      for (let i = 0; i < list.length; i++) {
        const v = list[i];
        if (v === null || v === undefined || !Number.isFinite(v)) continue;
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
    if (!(high >= low)) return [0, 1];
    return high > low ? [low, high] : [low - 0.5 * (Math.abs(low) || 1), low + 0.5 * (Math.abs(low) || 1)];
  };
  const [x0, x1] = spread(plot.lines.map((line) => line.x));
  const from = plot.from ?? x0;
  const to = plot.to ?? x1;
  const lines = plot.lines.map((line) => ({ ...line, points: thinned(line, from, to) }));
  const [low, high] = spread(lines.map((line) => line.points.map((point) => point[1])));
  const pad = 0.05 * (high - low);
  const x = (v: number) => BOX.left + ((v - from) / (to - from || 1)) * (WIDTH - BOX.left - BOX.right);
  const y = (v: number) => HEIGHT - BOX.bottom - ((v - low + pad) / (high - low + 2 * pad)) * (HEIGHT - BOX.top - BOX.bottom);

  // Names below, in as many rows as they need.
  const names: string[] = [];
  let [column, row] = [BOX.left, 0];
  for (const line of lines) {
    if (!line.label) continue;
    const width = 7 * line.label.length + 52;
    if (column > BOX.left && column + width > WIDTH) [column, row] = [BOX.left, row + 1];
    const top = HEIGHT + 8 + 18 * row;
    names.push(`<path d="M${column},${top}h24" stroke="${line.colour}" stroke-width="2"${dashed(line)}/>`, `<text x="${column + 30}" y="${top + 4}">${escape(line.label)}</text>`);
    column += width;
  }
  const height = names.length > 0 ? HEIGHT + 24 + 18 * row : HEIGHT;

  const [ink, weak] = paper ? ["black", "#e3e3e3"] : ["currentColor", "var(--line)"];
  const parts: string[] = [];
  if (paper) parts.push(`<rect width="${WIDTH}" height="${height}" fill="white"/>`);
  if (plot.title) parts.push(`<text x="${BOX.left}" y="20" font-weight="bold">${escape(plot.title)}</text>`);
  for (const tick of roundTicks(from, to, 7))
    parts.push(`<path d="M${x(tick).toFixed(2)},${BOX.top}V${HEIGHT - BOX.bottom}" stroke="${weak}"/>`, `<text x="${x(tick).toFixed(2)}" y="${HEIGHT - BOX.bottom + 16}" text-anchor="middle">${number(tick)}</text>`);
  for (const tick of roundTicks(low - pad, high + pad, 5))
    parts.push(`<path d="M${BOX.left},${y(tick).toFixed(2)}H${WIDTH - BOX.right}" stroke="${weak}"/>`, `<text x="${BOX.left - 6}" y="${(y(tick) + 4).toFixed(2)}" text-anchor="end">${number(tick)}</text>`);
  parts.push(
    `<rect x="${BOX.left}" y="${BOX.top}" width="${WIDTH - BOX.left - BOX.right}" height="${HEIGHT - BOX.top - BOX.bottom}" fill="none" stroke="${paper ? ink : weak}"/>`,
    `<text x="${(BOX.left + WIDTH - BOX.right) / 2}" y="${HEIGHT - 10}" text-anchor="middle">${escape(plot.xTitle)}</text>`,
  );
  if (plot.yTitle) parts.push(`<text transform="translate(14,${(BOX.top + HEIGHT - BOX.bottom) / 2}) rotate(-90)" text-anchor="middle">${escape(plot.yTitle)}</text>`);
  for (const line of [...lines].reverse()) {
    const points = line.points.map(([px, py]) => `${x(px).toFixed(2)},${y(py).toFixed(2)}`).join(" ");
    parts.push(`<polyline points="${points}" fill="none" stroke="${line.colour}" stroke-width="1.2"${dashed(line)}/>`);
  }
  const text = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="${ink}">${[...parts, ...names].join("\n")}</svg>\n`;
  return { text, at: (px, py) => [x(px), y(py)] };
}

function dashed(line: DrawnLine): string {
  return line.dash?.length ? ` stroke-dasharray="${line.dash.join(" ")}"` : "";
}
