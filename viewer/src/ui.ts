// Small helpers for the page.

type Child = Node | string | null | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: { class?: string; text?: string; title?: string; attrs?: Record<string, string> } = {},
  children: Child[] = [],
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (options.class) made.className = options.class;
  if (options.text !== undefined) made.textContent = options.text;
  if (options.title) made.title = options.title;
  for (const [name, value] of Object.entries(options.attrs ?? {})) made.setAttribute(name, value);
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

export function svg(tag: string, attrs: Record<string, string | number>, text?: string): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attrs)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

export function button(text: string, title: string, onClick: () => void): HTMLButtonElement {
  const made = el("button", { text, title, attrs: { type: "button" } });
  made.addEventListener("click", onClick);
  return made;
}

/** A number as engineers read it: four digits, no noise. */
export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  let text: string;
  if (size >= 1e5 || size < 1e-3) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    text = `${mantissa.replace(/\.?0+$/, "")}e${Number(exponent)}`;
  } else {
    text = Number(value.toPrecision(digits)).toString();
  }
  return text.replace(/-/g, "−");
}

const PREFIXES = ["p", "n", "µ", "m", "", "k", "M", "G", "T"];

/** The unit in which values up to `largest` are short numbers, and its size in SI units: 0.012 m are shown as 12 mm. */
export function displayUnit(unit: string, largest: number): { factor: number; text: string } {
  // "m/s" may be shown as "mm/s", but not "m^2" as "mm^2", which is another factor.
  if (!/^(m|N|Pa|J|W|s|V|A|Hz)($|[ */])/.test(unit) || !(largest > 0) || !Number.isFinite(largest)) return { factor: 1, text: unitText(unit) };
  const thousands = Math.floor(Math.log10(largest * (1 + 1e-9)) / 3);
  const index = Math.max(-4, Math.min(unit.startsWith("s") ? 0 : 4, thousands));
  return { factor: 1000 ** index, text: PREFIXES[index + 4] + unitText(unit) };
}

export function unitText(unit: string): string {
  return unit && unit !== "1" ? unit.replace(/\^2/g, "²").replace(/\^3/g, "³").replace(/ /g, "\u00b7") : "";
}

/** A colour per subsystem, and per run in plots. */
export const palette = ["#3f72a6", "#c07d25", "#3a8b7d", "#8c5b8f", "#b24c3d", "#6b7f3a", "#5b6b8c", "#a0673f"];

export function colourOf(index: number): string {
  return palette[((index % palette.length) + palette.length) % palette.length];
}

export function copy(text: string, from: HTMLButtonElement): void {
  const done = () => {
    const before = from.textContent;
    from.textContent = "copied";
    setTimeout(() => (from.textContent = before), 1200);
  };
  const fallback = () => {
    const area = el("textarea", { attrs: { readonly: "" } });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    done();
  };
  if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(text).then(done, fallback);
  else fallback();
}

export function download(name: string, content: Blob): void {
  const link = el("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
