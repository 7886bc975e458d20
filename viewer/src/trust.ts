// Trust in a run: findings with their remedies, indicators, and the diagram of what
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
  growing_oscillation: "Interface wrenches oscillate from step to step",
  energy_error: "Energy was created or lost",
  not_converged: "Iterations did not converge",
  drift: "An interface drifts apart",
  algebraic_loop: "The wrench side responds immediately",
  mass_ratio: "The motion side is heavier",
  interface_gap: "The sides of an interface do not move as one",
  contact_residual: "Contacts were not solved",
  penetration: "A body with prescribed motion passed through a fixed body",
  run_failed: "The run stopped before its end",
  recovered: "Steps failed, and the run continued",
  wire_loop: "The signals of an algebraic loop lag by a step",
  emitter_shortfall: "An emitter could not place all particles",
};

/** Figures of the run by name. */
function figuresOf(run: Run): (name: string) => number | null {
  const by = new Map(run.summary.map((figure) => [figure.name, figure.value]));
  return (name) => by.get(name) ?? null;
}

function percent(value: number | null): string {
  return `${number(value === null ? null : 100 * value, 3)} %`;
}

/** From what on a finding is reported, and from what on it is serious, by the limits that the record has; docs/trust.md. */
function limitOf(run: Run, kind: string): string {
  const value = figuresOf(run);
  const limit = (name: string) => percent(value(`threshold.${name}`));
  if (value("threshold.energy_error") === null) return ""; // a record from before it had them
  const texts: Record<string, string> = {
    energy_error: `Warning above ${limit("energy_error")} created or lost at interfaces, serious above ${limit("energy_error_serious")}.`,
    growing_oscillation: `Serious if it grows over ${value("threshold.oscillation_steps")} steps and exceeds ${limit("growing_oscillation_serious")} of the wrench at the end.`,
    not_converged: `Warning above ${limit("not_converged")} of the impulse, serious above ${limit("not_converged_serious")}.`,
    interface_gap: `Warning above ${limit("interface_gap")}, serious above ${limit("interface_gap_serious")}.`,
    contact_residual: `Warning above ${limit("contact_residual")} of the steps, serious above ${limit("contact_residual_serious")} if the residuals are large as well.`,
    penetration: `Serious above ${limit("penetration_serious")} of the radius of the body.`,
    emitter_shortfall: `Warning above ${limit("emitter_shortfall")}.`,
  };
  return texts[kind] ?? "";
}

/** The size of a finding in the unit that its limits have. */
function sizeOf(finding: Finding): string {
  if (finding.value === null) return "";
  if (["energy_error", "not_converged", "interface_gap", "emitter_shortfall"].includes(finding.kind)) return percent(finding.value);
  if (finding.kind === "growing_oscillation") return `Growth by ${number(finding.value, 4)} per step`;
  if (finding.kind === "contact_residual") return `${number(finding.value, 3)} times the resolution of a step`;
  if (finding.kind === "penetration") return `${number(finding.value, 3)} m`;
  if (finding.kind === "drift") return number(finding.value, 3);
  if (finding.kind === "run_failed") return `t = ${number(finding.value, 5)} s`;
  return ""; // its sentence has it
}

export function findings(run: Run): Finding[] {
  const by = new Map<string, Figure>(run.summary.map((figure) => [figure.name, figure]));
  const list: Finding[] = [];
  for (const figure of run.summary) {
    const match = /^findings\.(\d+)\.kind$/.exec(figure.name);
    if (!match) continue;
    const own = (name: string) => by.get(`findings.${match[1]}.${name}`);
    const remedies: Finding["remedies"] = [];
    for (let k = 1; own(`remedy_${k}`); k++) {
      const remedy = own(`remedy_${k}`)!;
      remedies.push(wordRemedy(run, remedy.value ?? 0, remedy.text.split("\n").filter(Boolean)));
    }
    list.push({
      kind: figure.text,
      text: own("message")?.text ?? "",
      value: own("value")?.value ?? null,
      serious: (own("is_serious")?.value ?? 0) > 0,
      interface: own("interface")?.text ?? "",
      remedies,
    });
  }
  return list;
}

/** A remedy in words, and as a command: other values for the run, or an analysis that finds them. */
function wordRemedy(run: Run, kind: number, overrides: string[]): { text: string; command: string } {
  const scenario = /(\S+\.ya?ml)\b/.exec(run.command)?.[1] ?? "SCENARIO";
  if (kind === 1) return { text: "Let Yoke find a scheme and a step", command: `yoke advise ${scenario}` };
  if (kind === 2) return { text: "Let Yoke find a step that is small enough", command: `yoke convergence ${scenario}` };
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

/** Values as a small curve, of each piece the one that is furthest from zero; a limit as a dashed line, where it is near enough to be seen. */
function sparkline(values: ArrayLike<number> | undefined, limit: number | null = null): Node | null {
  if (!values || values.length < 2) return null;
  const n = Math.min(160, values.length);
  const picked: number[] = [];
  for (let i = 0; i < n; i++) {
    const a = Math.floor((i * values.length) / n);
    const b = Math.max(a + 1, Math.floor(((i + 1) * values.length) / n));
    let most = values[a];
    for (let k = a; k < b; k++) if (Math.abs(values[k]) > Math.abs(most)) most = values[k];
    picked.push(Number.isFinite(most) ? most : 0);
  }
  const [lowest, highest] = [Math.min(0, ...picked), Math.max(0, ...picked)];
  const seen = limit !== null && limit < 5 * Math.max(-lowest, highest);
  const low = lowest;
  const high = seen ? Math.max(highest, limit) : highest;
  const span = high - low || 1;
  const y = (v: number) => (20 - ((v - low) / span) * 18).toFixed(1);
  const points = picked.map((v, i) => `${((i / (n - 1 || 1)) * 120).toFixed(1)},${y(v)}`).join(" ");
  const made = svg("svg", { viewBox: "0 0 120 22", width: 120, height: 22, class: "spark" });
  made.append(svg("title", {}, `over the run, from ${number(lowest, 3)} to ${number(highest, 3)}${limit !== null ? `; limit ${number(limit, 3)}` : ""}`));
  if (seen) made.append(svg("line", { x1: 0, x2: 120, y1: y(limit), y2: y(limit), class: "limit-line" }));
  made.append(svg("polyline", { points, fill: "none", stroke: "currentColor", "stroke-width": 1 }));
  return made;
}

/** A number on a logarithmic axis, good below its limit and bad above. */
function scale(value: number | null, limit: number | null, text: string): Node | null {
  if (value === null || limit === null || !(limit > 0) || !(value > 0)) return null;
  const [low, high] = [Math.min(value, limit) / 3, Math.max(value, limit) * 3];
  const at = (v: number) => 4 + (112 * Math.log(v / low)) / Math.log(high / low);
  const [x, edge] = [at(value), at(limit)];
  const made = svg("svg", { viewBox: "0 0 120 22", width: 120, height: 22, class: "spark scale-drawing" });
  made.append(
    svg("title", {}, text),
    svg("line", { x1: 4, x2: edge, y1: 15, y2: 15, class: "good-part" }),
    svg("line", { x1: edge, x2: 116, y1: 15, y2: 15, class: "bad-part" }),
    svg("line", { x1: edge, x2: edge, y1: 9, y2: 21, class: "limit-line" }),
    svg("path", { d: `M${x.toFixed(1)},12l-4,-8h8z`, fill: "currentColor" }),
  );
  return made;
}

function curveOf(run: Run, name: string, limit: number | null = null): Node | null {
  const columns = channelOf(run, name)?.columns ?? [];
  return columns.length === 1 ? sparkline(columns[0], limit) : null;
}

/** Energy that all together made. */
function energyCurve(run: Run): Node | null {
  const value = figuresOf(run);
  const [made, all] = [value("threshold.energy_error_serious"), value("reference_energy")];
  const columns = energyBalance(run)?.columns ?? [];
  return sparkline(columns[columns.length - 1], made !== null && all !== null ? made * all : null);
}

/** The ratio of masses at an interface next to the limit of its scheme. */
function ratioScale(run: Run, link: string): Node | null {
  const value = figuresOf(run);
  const [ratio, limit] = [value(`${link}.mass_ratio`), value(`${link}.mass_ratio_limit`)];
  return scale(ratio, limit, `ratio ${number(ratio, 3)}, the scheme is stable up to ${number(limit, 3)}`);
}

/** How far a run came. */
function reachScale(run: Run): Node | null {
  const value = figuresOf(run);
  const [time, end] = [value("end_time_reached"), value("end_time_requested")];
  if (time === null || !end) return null;
  const reached = 4 + 112 * Math.min(1, time / end);
  const made = svg("svg", { viewBox: "0 0 120 22", width: 120, height: 22, class: "spark" });
  made.append(svg("title", {}, `${number(time, 5)} s of ${number(end, 5)} s`), svg("line", { x1: 4, x2: reached, y1: 12, y2: 12, class: "good-part" }));
  if (reached < 116) made.append(svg("line", { x1: reached, x2: 116, y1: 12, y2: 12, class: "bad-part" }));
  return made;
}

/** The curves that show a finding, each with what it is. */
function curvesOfFinding(run: Run, finding: Finding): HTMLElement[] {
  const value = figuresOf(run);
  const link = finding.interface;
  const subsystems = run.scene?.subsystems ?? [];
  const kinds: Record<string, () => [string, Node | null][]> = {
    energy_error: () => [["spurious energy [J] over the run", energyCurve(run)]],
    growing_oscillation: () => [["oscillation of the wrench from step to step, as a fraction of its maximum", curveOf(run, `${link}.step_oscillation`, value("threshold.growing_oscillation_serious"))]],
    not_converged: () => [["iterations of a macro step over the run", curveOf(run, "coupling.iteration_count")]],
    mass_ratio: () => [["ratio of the masses, and the limit of the scheme", ratioScale(run, link)]],
    algebraic_loop: () => [["ratio of the masses, and the limit of the scheme", ratioScale(run, link)]],
    drift: () => [["gap [m] over the run", curveOf(run, `${link}.gap_position`)]],
    interface_gap: () => [["gap in velocity [m/s] over the run", curveOf(run, `${link}.gap_velocity`)]],
    contact_residual: () =>
      subsystems
        .filter((name) => (value(`${name}.unsolved_step_fraction`) ?? 0) > (value("threshold.contact_residual") ?? 0))
        .flatMap((name): [string, Node | null][] => [
          [`residual of the contacts in ${name} [m/s] over the run`, curveOf(run, `${name}.contact_residual`)],
          [`fraction of the steps of ${name} with unsolved contacts`, curveOf(run, `${name}.unsolved_step_fraction`, value("threshold.contact_residual_serious"))],
        ]),
    penetration: () =>
      subsystems.filter((name) => channelOf(run, `${name}.max_prescribed_penetration`)?.columns[0].some((depth) => depth > 0)).map((name) => [`penetration in ${name} [m] over the run`, curveOf(run, `${name}.max_prescribed_penetration`)]),
    run_failed: () => [
      ["time that was reached, of that which was asked for", reachScale(run)],
      ["spurious energy [J] over the run", energyCurve(run)],
    ],
    emitter_shortfall: () => [["fraction of the particles that could not be placed", scale(finding.value, value("threshold.emitter_shortfall"), percent(finding.value))]],
  };
  return (kinds[finding.kind]?.() ?? []).flatMap(([text, curve]) => (curve ? [el("div", { class: "curve-of muted" }, [curve, text])] : []));
}

/** Each indicator of the run: what it says, its number, its limit and its curve; docs/trust.md. */
function indicators(run: Run, list: Finding[]): HTMLElement {
  const value = figuresOf(run);
  const rows: HTMLElement[] = [];
  const add = (text: string, figure: string, limit: string, curve: Node | null, kinds: string[] = [], link = "") => {
    const found = list.filter((one) => kinds.includes(one.kind) && (link === "" || one.interface === link));
    const state = found.some((one) => one.serious) ? "bad" : found.length > 0 ? "doubtful" : "";
    rows.push(el("tr", {}, [el("td", { text }, limit ? [el("span", { class: "limit muted", text: limit })] : []), el("td", { class: `number ${state}`, text: figure }), el("td", { class: "curve" }, [curve])]));
  };

  const [time, end] = [value("end_time_reached"), value("end_time_requested")];
  if (time !== null && end !== null) add("Time that the run reached", `${number(time, 5)} s`, `It was to reach ${number(end, 5)} s.`, reachScale(run), ["run_failed"]);
  const made = value("spurious_energy");
  if (made !== null && Number.isFinite(made)) add(`Coupling and integration ${made < 0 ? "lost" : "created"} energy, relative to the initial energy plus the external work`, percent(Math.abs(made)), limitOf(run, "energy_error"), energyCurve(run), ["energy_error"]);
  const steps = value("step_count");
  const iterations = value("iteration_count");
  if (steps && iterations && iterations > steps) {
    const largest = value("max_iterations");
    add("Iterations of a macro step, on average", `${number(iterations / steps, 3)}${largest !== null ? `, at most ${largest}` : ""}`, limitOf(run, "not_converged"), curveOf(run, "coupling.iteration_count"), ["not_converged"]);
  }
  const open = value("steps_not_converged");
  if (open) add("Macro steps whose iterations did not converge", `${number(open, 8)} of ${number(steps, 8)}`, "", null, ["not_converged"]);

  const energy = value("reference_energy");
  for (const link of run.scene?.connections ?? []) {
    if (link.kind === LinkKind.Wire) continue;
    const name = link.name;
    const figure = (key: string) => value(`${name}.${key}`) ?? 0;
    const travel = figure("path_length");
    const drift = value("threshold.drift");
    if (figure("max_gap_position"))
      add(`The sides of interface ${name} are apart by at most`, `${number(figure("max_gap_position"))} m`, travel && drift ? `Warning if the gap keeps growing beyond ${number(drift * travel, 3)} m, ${number(drift)} of the path of the interface.` : "", curveOf(run, `${name}.gap_position`), ["drift"], name);
    if (figure("max_gap_rotation"))
      add(`The sides of interface ${name} are turned against each other by at most`, `${number(figure("max_gap_rotation"))} rad`, drift ? `Warning if it keeps growing beyond ${number(drift)} rad.` : "", curveOf(run, `${name}.gap_rotation`), ["drift"], name);
    if (figure("relative_velocity_gap")) add(`The velocities of the sides of interface ${name} differ by this fraction of its own`, percent(figure("relative_velocity_gap")), limitOf(run, "interface_gap"), curveOf(run, `${name}.gap_velocity`), ["interface_gap"], name);
    if (figure("relative_residual_impulse")) add(`Impulse of interface ${name} that the iterations left`, percent(figure("relative_residual_impulse")), limitOf(run, "not_converged"), scale(figure("relative_residual_impulse"), value("threshold.not_converged_serious"), "relative to the limit of trust"), ["not_converged"], name);
    if (value(`${name}.step_oscillation`) !== null) add(`The wrench of interface ${name} oscillates from step to step by this fraction of its maximum, at the end`, percent(figure("step_oscillation")), limitOf(run, "growing_oscillation"), curveOf(run, `${name}.step_oscillation`, value("threshold.growing_oscillation_serious")), ["growing_oscillation"], name);
    if (figure("energy_created")) {
      const least = value("threshold.energy_error");
      add(`Interface ${name} ${figure("energy_created") < 0 ? "lost" : "created"} energy`, `${number(Math.abs(figure("energy_created")))} J`, energy && least ? `It counts in the line on energy, where ${percent(least)} are ${number(least * energy, 3)} J.` : "", curveOf(run, `${name}.energy_created`));
    }
    if (figure("mass_ratio")) {
      const [limit, most] = [value(`${name}.mass_ratio_limit`), value("threshold.mass_ratio_tested")];
      let says = "This scheme has no limit of it.";
      if (limit !== null) says = limit === most ? `This scheme is stable up to at least ${number(most)}, the largest ratio tested.` : `This scheme with these integrators is stable up to ${number(limit, 3)}.`;
      add(`Interface ${name}: mass of the side that takes the motion by that of the side that takes the wrench`, number(figure("mass_ratio")), most === null ? "" : says, ratioScale(run, name), ["mass_ratio", "algebraic_loop"], name);
    }
  }
  run.scene?.subsystems.forEach((name) => {
    const residual = value(`${name}.max_contact_residual`);
    if (residual !== null) add(`The contacts in ${name} were solved up to a residual of`, `${number(residual)} m/s`, "What a step resolves is the limit: the next line counts the steps above it.", curveOf(run, `${name}.contact_residual`), ["contact_residual"]);
    const unresolved = value(`${name}.unsolved_step_fraction`);
    if (unresolved !== null) add(`Steps of ${name} that left contacts unsolved, beyond what a step resolves`, percent(unresolved), limitOf(run, "contact_residual"), curveOf(run, `${name}.unsolved_step_fraction`, value("threshold.contact_residual_serious")), ["contact_residual"]);
    const passage = channelOf(run, `${name}.max_prescribed_penetration`)?.columns[0];
    if (passage?.some((depth) => depth > 0)) add(`A driven body of ${name} went into what never moves by`, `${number(passage[passage.length - 1])} m`, limitOf(run, "penetration"), sparkline(passage), ["penetration"]);
    const solving = channelOf(run, `${name}.contact_iteration_count`)?.columns[0];
    if (solving) add(`Most iterations for the contacts of a step in ${name}`, number(solving.reduce((most, v) => Math.max(most, v), 0), 6), "", sparkline(solving));
  });
  if (steps) add("Macro steps", number(steps, 8), "", null);
  const wall = value("wall_time");
  if (wall !== null) add("Time that the run took", `${number(wall, 3)} s`, "", null);
  return el("table", { class: "indicators" }, rows);
}

/** Distribution of the run time: a bar with a section for each subsystem, and the rest. */
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
    const known = new Set<string>(); // remedies already listed above
    for (const finding of list) {
      const measured = [sizeOf(finding), limitOf(run, finding.kind)].filter(Boolean).join(". ");
      const fresh = finding.remedies.filter((remedy) => !known.has(remedy.command));
      const remedies = fresh.map((remedy) => {
        known.add(remedy.command);
        const press = button("copy", "copy the command", () => copy(remedy.command, press));
        const command = el("div", { class: "command" }, [el("code", { text: remedy.command }), press]);
        return el("div", { class: "remedy" }, [el("span", { text: remedy.text }), command]);
      });
      section.append(
        el("div", { class: finding.serious ? "finding serious" : "finding" }, [
          el("h3", { text: TITLES[finding.kind] ?? finding.kind.replace(/_/g, " ") }),
          el("p", { text: `${finding.text.charAt(0).toUpperCase()}${finding.text.slice(1)}.` }),
          measured ? el("p", { class: "muted", text: measured }) : null,
          ...curvesOfFinding(run, finding),
          fresh.length < finding.remedies.length ? el("p", { class: "muted", text: fresh.length > 0 ? "A remedy above helps here too, or:" : "The remedies above also help here." }) : null,
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
  for (const link of scene.connections) {
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
