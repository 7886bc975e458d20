// What the run says of itself: findings with their remedies, indicators, and the schematic of what
// is coupled with what.

import { channelOf, Figure, LinkKind, Run } from "./data";
import { energyBalance } from "./plots";
import { button, colourOf, copy, el, number, svg } from "./ui";

interface Finding {
  kind: string;
  text: string;
  value: number | null;
  serious: boolean;
  interface: string; // that it is about; "" where it is about the whole
  remedies: { text: string; command: string }[];
}

const TITLES: Record<string, string> = {
  ripple: "Interface wrenches swing from step to step",
  energy: "Energy was made or lost",
  not_converged: "Iterations did not converge",
  drift: "An interface drifts apart",
  feedthrough: "A wrench is answered at once",
  mass_ratio: "The motion side is heavier",
  gap: "The sides of an interface do not move as one",
  contact: "Contacts were not solved",
  passage: "A driven body passed through a wall",
  failed: "The run did not come to its end",
  mended: "Steps failed, and the run went on",
  emitter: "Particles that were due did not come",
};

/** From what on a finding is reported, and from what on it is serious: docs/trust.md. */
const LIMITS: Record<string, string> = {
  energy: "Reported from 2 %; serious from 5 % made or 15 % lost.",
  ripple: "Reported where the swing grows over 64 steps; serious above 5 % of the wrench.",
  not_converged: "Reported from 0.01 % left open; serious from 2 %.",
  gap: "Reported from 5 % of the velocity; serious from 20 %.",
  passage: "Reported from 1 % of the body's radius; always serious.",
};

/** The size of a finding in the unit that its limits have. */
function sizeOf(finding: Finding): string {
  if (finding.value === null) return "";
  if (finding.kind === "energy" || finding.kind === "not_converged" || finding.kind === "gap") return `${number(100 * finding.value, 3)} %`;
  if (finding.kind === "passage" || finding.kind === "drift") return number(finding.value, 3);
  if (finding.kind === "failed") return `t = ${number(finding.value, 5)} s`;
  return ""; // its sentence has it
}

export function findings(run: Run): Finding[] {
  const by = new Map<string, Figure>(run.summary.map((figure) => [figure.name, figure]));
  const list: Finding[] = [];
  for (const figure of run.summary) {
    const match = /^finding_(\d+)_(.+)$/.exec(figure.name);
    if (!match || match[2] === "serious" || match[2] === "interface") continue;
    const n = match[1];
    const remedies: Finding["remedies"] = [];
    for (let k = 1; by.has(`remedy_${n}_${k}`); k++) {
      const remedy = by.get(`remedy_${n}_${k}`)!;
      remedies.push(wordRemedy(run, remedy.value ?? 0, remedy.text.split("\n").filter(Boolean)));
    }
    list.push({
      kind: match[2],
      text: figure.text,
      value: figure.value,
      serious: (by.get(`finding_${n}_serious`)?.value ?? 0) > 0,
      interface: by.get(`finding_${n}_interface`)?.text ?? "",
      remedies,
    });
  }
  return list;
}

/** A remedy in words, and as a command: other values for the run, or an analysis that finds them. */
function wordRemedy(run: Run, kind: number, overrides: string[]): { text: string; command: string } {
  const scenario = /(\S+\.ya?ml)\b/.exec(run.command)?.[1] ?? "SCENARIO";
  if (kind === 1) return { text: "Let Yoke find a scheme and a step", command: `yoke advise ${scenario}` };
  if (kind === 2) return { text: "Let Yoke find a step that is small enough", command: `yoke converge ${scenario}` };
  const words = overrides.map((one, i) => `${i === 0 ? "Use" : i === 1 ? "with" : "and"} ${one.replace("=", " ")}`).join(" ");
  const sets = overrides.map((one) => `--set ${/[^\w=.+-]/.test(one) ? `'${one}'` : one}`);
  return { text: words, command: [run.command || `yoke run ${scenario}`, ...sets].join(" ") };
}

export function verdict(run: Run): { text: string; state: "good" | "doubtful" | "bad" } {
  if (run.live) return { text: "running", state: "good" };
  const list = findings(run);
  if (!run.complete) return { text: "incomplete record", state: "bad" };
  if (list.some((finding) => finding.serious)) return { text: "do not trust this run", state: "bad" };
  if (list.length > 0) return { text: list.length === 1 ? "1 remark" : `${list.length} remarks`, state: "doubtful" };
  return { text: "no remarks", state: "good" };
}

/** Values as a small curve, of each piece the one that is furthest from zero. */
function sparkline(values: ArrayLike<number> | undefined): Node | null {
  if (!values || values.length < 2) return null;
  const n = Math.min(160, values.length);
  const picked: number[] = [];
  for (let i = 0; i < n; i++) {
    const a = Math.floor((i * values.length) / n);
    const b = Math.max(a + 1, Math.floor(((i + 1) * values.length) / n));
    let most = values[a];
    for (let k = a; k < b; k++) if (Math.abs(values[k]) > Math.abs(most)) most = values[k];
    picked.push(most);
  }
  const low = Math.min(0, ...picked);
  const high = Math.max(0, ...picked);
  const span = high - low || 1;
  const points = picked.map((v, i) => `${((i / (n - 1 || 1)) * 120).toFixed(1)},${(20 - ((v - low) / span) * 18).toFixed(1)}`).join(" ");
  const made = svg("svg", { viewBox: "0 0 120 22", width: 120, height: 22, class: "spark" });
  made.append(svg("title", {}, `over the run, from ${number(low, 3)} to ${number(high, 3)}`), svg("polyline", { points, fill: "none", stroke: "currentColor", "stroke-width": 1 }));
  return made;
}

function curveOf(run: Run, name: string): Node | null {
  const columns = channelOf(run, name)?.columns ?? [];
  return columns.length === 1 ? sparkline(columns[0]) : null;
}

/** Energy that all together made. */
function energyCurve(run: Run): Node | null {
  const columns = energyBalance(run)?.columns ?? [];
  return sparkline(columns[columns.length - 1]);
}

/** The curve that shows a finding, with what it is. */
function curveOfFinding(run: Run, finding: Finding): Node | null {
  const kinds: Record<string, [string, Node | null]> = {
    energy: ["energy made [J]", energyCurve(run)],
    not_converged: ["iterations of a macro step", curveOf(run, "coupling.iterations")],
    mass_ratio: ["gap [m]", curveOf(run, `${finding.interface}.gap`)],
    drift: ["gap [m]", curveOf(run, `${finding.interface}.gap`)],
    gap: ["gap in velocity [m/s]", curveOf(run, `${finding.interface}.gap_velocity`)],
  };
  const [text, curve] = kinds[finding.kind] ?? ["", null];
  return curve ? el("div", { class: "curve-of muted" }, [curve, `${text} over the run`]) : null;
}

/** Each indicator of the run: what it says, its number, its limit and its curve; docs/trust.md. */
function indicators(run: Run, list: Finding[]): HTMLElement {
  const by = new Map(run.summary.map((figure) => [figure.name, figure]));
  const value = (name: string) => by.get(name)?.value ?? null;
  const rows: HTMLElement[] = [];
  const add = (text: string, figure: string, limit: string, curve: Node | null, kinds: string[] = [], link = "") => {
    const found = list.filter((one) => kinds.includes(one.kind) && (link === "" || one.interface === link));
    const state = found.some((one) => one.serious) ? "bad" : found.length > 0 ? "doubtful" : "";
    rows.push(el("tr", {}, [el("td", { text }, limit ? [el("span", { class: "limit muted", text: limit })] : []), el("td", { class: `number ${state}`, text: figure }), el("td", { class: "curve" }, [curve])]));
  };

  const made = value("energy_made");
  if (made !== null && Number.isFinite(made))
    add(`Coupling and integration ${made < 0 ? "lost" : "made"} energy, as a part of that at the start and fed in`, `${number(100 * Math.abs(made), 3)} %`, "Remark from 2 % made or taken away by interfaces, not to be trusted from 5 % made or 15 % taken away.", energyCurve(run), ["energy"]);
  const steps = value("steps");
  const iterations = value("iterations");
  if (steps && iterations && iterations > steps) {
    const largest = value("largest_iterations");
    add("Iterations of a macro step, on average", `${number(iterations / steps, 3)}${largest !== null ? `, at most ${largest}` : ""}`, "Remark where they end at their limit and leave more than 0.01 % of an impulse open, not to be trusted from 2 %.", curveOf(run, "coupling.iterations"), ["not_converged"]);
  }
  const open = value("steps_not_converged");
  if (open) add("Macro steps whose iterations did not converge", `${number(open, 8)} of ${number(steps, 8)}`, "", null, ["not_converged"]);

  const scale = value("energy_scale");
  for (const link of run.scene?.links ?? []) {
    if (link.kind === LinkKind.Wire) continue;
    const name = link.name;
    const figure = (key: string) => value(`${name}.${key}`) ?? 0;
    const travel = figure("travel");
    if (figure("largest_position_error"))
      add(`The sides of interface ${name} are apart by at most`, `${number(figure("largest_position_error"))} m`, travel ? `Remark where the gap goes on growing beyond ${number(1e-5 * travel, 3)} m, 1e−5 of the way that the interface went.` : "", curveOf(run, `${name}.gap`), ["drift"], name);
    if (figure("largest_rotation_error"))
      add(`The sides of interface ${name} are turned against each other by at most`, `${number(figure("largest_rotation_error"))} rad`, "Remark where it goes on growing beyond 1e−5 rad.", curveOf(run, `${name}.gap_rotation`), ["drift"], name);
    if (figure("velocity_gap"))
      add(`The velocities of the sides of interface ${name} differ by this part of its own, over the run`, `${number(100 * figure("velocity_gap"), 3)} %`, "Remark from 5 %, not to be trusted from 20 %.", curveOf(run, `${name}.gap_velocity`), ["gap"], name);
    if (figure("energy_created"))
      add(`Interface ${name} ${figure("energy_created") < 0 ? "took away" : "created"} energy`, `${number(Math.abs(figure("energy_created")))} J`, scale ? `It counts in the first line, where 2 % are ${number(0.02 * scale, 3)} J.` : "", curveOf(run, `${name}.energy_created`));
    if (figure("mass_ratio"))
      add(`Interface ${name}: mass of the side that takes the motion by that of the side that takes the wrench`, number(figure("mass_ratio")), "Tried at the start: remark where the scheme does not bear it.", null, ["mass_ratio"], name);
  }
  run.scene?.subsystems.forEach((name) => {
    const residual = value(`${name}.largest_contact_residual`);
    if (residual !== null) add(`The contacts in ${name} were solved up to a residual of`, `${number(residual)} m/s`, "Remark where more than 0.1 % of the steps leave more than their length resolves.", curveOf(run, `${name}.residual`), ["contact"]);
    const solving = channelOf(run, `${name}.iterations`)?.columns[0];
    if (solving) add(`Most iterations for the contacts of a step in ${name}`, number(solving.reduce((most, v) => Math.max(most, v), 0), 6), "", sparkline(solving));
  });
  if (steps) add("Macro steps", number(steps, 8), "", null);
  const wall = value("wall_time");
  if (wall !== null) add("Time that the run took", `${number(wall, 3)} s`, "", null);
  return el("table", { class: "indicators" }, rows);
}

/** Where the time of the run went: a bar with a piece for each subsystem, and the rest. */
function timeShare(run: Run): HTMLElement | null {
  const value = (name: string) => run.summary.find((figure) => figure.name === name)?.value ?? null;
  const wall = value("wall_time");
  const parts = (run.scene?.subsystems ?? []).flatMap((name, i) => {
    const own = value(`${name}.wall_time`);
    return own !== null && own > 0 ? [{ name, own, colour: colourOf(i) }] : [];
  });
  if (!wall || parts.length === 0) return null;
  const spent = parts.reduce((sum, part) => sum + part.own, 0);
  if (spent < wall) parts.push({ name: "coupling, recording and the rest", own: wall - spent, colour: "var(--line)" });
  const whole = Math.max(wall, spent);
  const bar = el("div", { class: "share" });
  const names = el("div", { class: "share-names" });
  for (const part of parts) {
    const percent = `${number((100 * part.own) / whole, 3)} %`;
    const piece = el("i", { title: `${part.name}: ${percent}` });
    piece.style.cssText = `width:${(100 * part.own) / whole}%;background:${part.colour}`;
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = part.colour;
    bar.append(piece);
    names.append(el("span", {}, [swatch, `${part.name} `, el("span", { class: "muted", text: percent })]));
  }
  return el("div", {}, [el("h3", { text: "Where the time went" }), bar, names]);
}

export function trustPanel(runs: Run[]): HTMLElement {
  const panel = el("div", { class: "trust" });
  runs.forEach((run) => {
    const state = verdict(run);
    const list = findings(run);
    const head = el("h2", {}, [runs.length > 1 ? `${run.label}: ` : "", el("span", { class: `verdict ${state.state}`, text: state.text })]);
    const section = el("section", { class: "card" }, [head]);
    if (run.live) section.append(el("p", { class: "muted", text: "What the run says of itself comes with its end." }));
    else if (list.length === 0)
      section.append(el("p", { class: "muted", text: run.summary.length ? "Energies, gaps and iterations were watched in every step, and nothing stood out." : "The record has no summary: the run did not come to its end." }));
    for (const finding of list) {
      const remedies = finding.remedies.map((remedy) => {
        const press = button("copy", "copy the command", () => copy(remedy.command, press));
        const command = el("div", { class: "command" }, [el("code", { text: remedy.command }), press]);
        return el("div", { class: "remedy" }, [el("span", { text: remedy.text }), command]);
      });
      section.append(
        el("div", { class: finding.serious ? "finding serious" : "finding" }, [
          el("h3", { text: TITLES[finding.kind] ?? finding.kind.replace(/_/g, " ") }),
          el("p", { text: `${finding.text.charAt(0).toUpperCase()}${finding.text.slice(1)}.` }),
          el("p", { class: "muted", text: [sizeOf(finding), LIMITS[finding.kind]].filter(Boolean).join(". ") }),
          curveOfFinding(run, finding),
          ...remedies,
        ]),
      );
    }
    section.append(indicators(run, list));
    const share = timeShare(run);
    if (share) section.append(share);
    if (run.scene && run.scene.subsystems.length > 1) section.append(schematic(run, list));
    panel.append(section);
  });
  return panel;
}

/** Subsystems as boxes, interfaces and wires as lines between them; what findings name is marked. */
export function schematic(run: Run, list: Finding[]): HTMLElement {
  const scene = run.scene!;
  const n = scene.subsystems.length;
  const columns = Math.min(n, 3);
  const rows = Math.ceil(n / columns);
  const width = 560;
  const cell = width / columns;
  const box = { w: Math.min(130, 0.56 * cell), h: 46 };
  const height = rows * 120 + 10;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "schematic", role: "img", "aria-label": "subsystems and interfaces" });
  const at = (i: number): [number, number] => {
    const row = Math.floor(i / columns);
    const inRow = Math.min(columns, n - row * columns);
    return [width / 2 + ((i % columns) - (inRow - 1) / 2) * cell, row * 120 + 60];
  };
  const named = (name: string): Finding | undefined => list.find((finding) => finding.interface === name);
  const stateOf = (fault: Finding | undefined) => (fault ? (fault.serious ? "bad" : "doubtful") : "good");
  const pairs = new Map<string, number>();
  for (const link of scene.links) {
    const key = [link.from, link.to].sort((a, b) => a - b).join("-");
    const turn = pairs.get(key) ?? 0;
    pairs.set(key, turn + 1);
    const [x1, y1] = at(link.from);
    const [x2, y2] = at(link.to);
    const bend = (turn % 2 === 0 ? -1 : 1) * (14 + 26 * Math.floor(turn / 2)) - (x1 === x2 && y1 === y2 ? 60 : 0);
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const mx = (x1 + x2) / 2 - ((y2 - y1) / length) * bend;
    const my = (y1 + y2) / 2 + ((x2 - x1) / length) * bend;
    const state = stateOf(named(link.name));
    drawing.append(
      svg("path", {
        d: `M${x1},${y1} Q${2 * mx - (x1 + x2) / 2},${2 * my - (y1 + y2) / 2} ${x2},${y2}`,
        class: `link ${state}${link.kind === LinkKind.Wire ? " wire" : ""}`,
      }),
      svg("text", { x: mx, y: my - 4, "text-anchor": "middle", class: `name ${state}` }, link.name),
    );
  }
  scene.subsystems.forEach((name, i) => {
    const [x, y] = at(i);
    const state = stateOf(list.find((finding) => finding.interface === "" && finding.text.includes(`'${name}'`)));
    drawing.append(
      svg("rect", { x: x - box.w / 2, y: y - box.h / 2, width: box.w, height: box.h, rx: 4, class: `box ${state}`, style: `stroke:${colourOf(i)}` }),
      svg("text", { x, y: y - 2, "text-anchor": "middle", class: "title" }, name),
      svg("text", { x, y: y + 14, "text-anchor": "middle", class: "solver" }, scene.solvers[i]),
    );
  });
  return el("div", { class: "schematic-box" }, [el("h3", { text: "What is coupled with what" }), drawing]);
}
