// The page: header, 3D view with its playback controls, and panels next to it.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { channelOf, decode, decodeText, Report, Run } from "./data";
import { canEncode, encodeVideo } from "./video";
import { RunControl } from "./control";
import { Live, LiveState } from "./live";
import { Plots } from "./plots";
import { openScreen, Picked, Screen, View3D } from "./scene3d";
import { showTables, Table } from "./tables";
import { trustPanel, verdict } from "./trust";
import { button, colourOf, download, el, number, svg, unitText } from "./ui";

const VIDEO_RATE = 30; // frames per second
const VIDEO_FRAMES_MAX = 18000; // ten minutes
const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const CONTACTS_SHOWN = 60; // in a frame; where there are more they are shown when they are asked for

class App {
  private readonly plots: Plots;
  private view: View3D | null = null;
  private readonly viewport = el("div", { class: "viewport" });
  private run: Run;
  private time = 0;
  private start = 0;
  private end = 1;
  private playing = false;
  private loop = true;
  private speed = 1;
  private last = 0;
  private following = true; // of a live run: its present end is shown
  private readonly closed = new AbortController();

  private readonly play = button("▶", "play or pause (space)", () => this.setPlaying(!this.playing));
  private readonly slider = el("input", { title: "time", attrs: { type: "range", min: "0", max: "1000", step: "1", value: "0", "aria-label": "time" } });
  private readonly clock = el("span", { class: "clock" });
  private readonly speeds = el("select", { class: "optional", title: "speed of the playback (+ and −)", attrs: { "aria-label": "speed" } });
  private readonly looping = button("loop", "start again at the end (l)", () => this.setLoop(!this.loop));
  private readonly badge = button("", "what the run says of itself", () => this.show("Trust"));
  private readonly atEnd = button("live", "stay at the present end of the run", () => this.setFollowing(!this.following));
  private readonly liveBar = el("progress", { attrs: { max: "1", value: "0", "aria-label": "progress of the run" } });
  private readonly video = button("video", "save the run as a video, as it is seen now, at the chosen speed", () => void this.saveVideo());
  private encoding = false;
  private readonly control: RunControl | null;
  private readonly liveText = el("span", { class: "left muted" });
  private readonly measure = button("measure", "distance of two points (m)", () => undefined);
  private readonly tools = el("div", { class: "overlay tools" });
  private readonly contactForce = el("span"); // that is drawn thickest
  private readonly arrowForce = el("span"); // of the longest arrows
  private readonly largestStrain = el("span");
  private readonly triad = svg("svg", { class: "triad", viewBox: "-32 -32 64 64", role: "img", "aria-label": "axes" });
  private readonly names = el("div", { class: "legend-3d" });
  private readonly pickedBox = el("div", { class: "overlay picked", attrs: { hidden: "" } });
  private readonly message = el("div", { class: "overlay message", attrs: { hidden: "" } });
  private readonly panels = new Map<string, { tab: HTMLButtonElement; panel: HTMLElement }>();

  constructor(
    root: HTMLElement,
    readonly report: Report,
    private readonly live: Live | null = null,
  ) {
    const runs = report.runs;
    this.run = runs[0];
    this.control = live ? new RunControl(live) : null;
    this.plots = new Plots(runs);
    document.title = `${this.run.title || this.run.label} – Yoke`;
    this.setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches);

    const stage = el("main", { class: "stage" });
    const side = this.sidePanels();
    root.append(this.header(), stage, side);
    stage.append(this.viewport);
    const drawn = runs.find((run) => run.scene && run.scene.shapes.length > 0);
    if (drawn) this.run = drawn;
    else root.classList.add("flat");
    stage.append(this.transport());

    this.setRange();
    this.openDefaults();
    this.setTime(this.start);
    this.keys();
    const resized = () => {
      this.view?.resize();
      this.plots.resize();
    };
    new ResizeObserver(resized).observe(this.viewport);
    window.addEventListener("resize", resized, { signal: this.closed.signal });
    requestAnimationFrame((now) => this.tick(now));
  }

  /** The model, after the page around it has been painted; `screen`: one that is open already. */
  async open(screen: Screen | null): Promise<void> {
    if (!this.run.scene?.shapes.length) return;
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const run = this.run;
    screen ??= openScreen();
    if (!screen) {
      this.viewport.append(el("div", { class: "empty" }, [el("p", { text: "This browser offers no WebGL, so the model cannot be shown; plots work." })]));
      return;
    }
    const view = this.openView(run, screen);
    await view.compile();
    if (this.closed.signal.aborted) return;
    this.view = view;
    view.setTheme(document.documentElement.dataset.theme === "dark");
    view.resize();
    view.setTime(this.time);
    view.draw();
  }

  /** Another one takes its place. */
  close(): void {
    this.closed.abort();
    this.view?.close();
  }

  // Parts of the page ---------------------------------------------------------------------------

  private header(): HTMLElement {
    const runs = this.report.runs;
    const head = el("header", {}, [el("span", { class: "mark", text: "YOKE" }), el("h1", { text: this.run.title || this.run.label, title: this.run.command })]);
    if (runs.length > 1) {
      const chips = el("select", { title: "run that is shown in 3D", attrs: { "aria-label": "run" } });
      runs.forEach((run, i) => chips.append(el("option", { text: run.label, attrs: { value: String(i) } })));
      chips.addEventListener("change", () => {
        this.run = runs[Number(chips.value)];
        if (this.view) {
          this.view.load(this.run, verdict(this.run).state === "bad");
          this.describe(this.view, this.run);
        }
        this.pick(null);
        this.setTime(this.time);
      });
      head.append(chips);
    }
    if (this.live) {
      const stop = button("stop", "end the run after its present step, with its results", () => {
        stop.disabled = true;
        stop.textContent = "stopping";
        void this.live!.stop().catch(() => undefined);
      });
      stop.className = "stop";
      head.append(el("span", { class: "live-state" }, [this.liveBar, this.liveText, this.control!.buttons, stop]));
    }
    this.showVerdict();
    head.append(
      this.badge,
      button("theme", "light or dark (t)", () => this.setTheme(document.documentElement.dataset.theme !== "dark")),
      button("keys", "keyboard (?)", () => this.toggleKeys()),
    );
    return head;
  }

  private showVerdict(): void {
    const states = this.report.runs.map(verdict);
    const worst = states.find((one) => one.state === "bad") ?? states.find((one) => one.state === "doubtful") ?? states[0];
    this.badge.textContent = worst.text;
    this.badge.className = `verdict ${worst.state}`;
  }

  private openView(run: Run, screen: Screen): View3D {
    this.viewport.append(screen.renderer.domElement);
    const view = new View3D(screen);
    view.load(run, verdict(run).state === "bad");
    view.onPick = (picked) => this.pick(picked);
    view.onMeasure = (text) => {
      this.message.hidden = text === "";
      this.message.textContent = text;
    };

    const views = el("div", { class: "overlay views" });
    (["iso", "x", "y", "z"] as const).forEach((name, i) => views.append(button(name, `view ${name} (${i + 1})`, () => view.view(name))));
    this.measure.addEventListener("click", () => view.setMeasuring(this.measure.classList.toggle("on")));
    views.append(
      button("fit", "see the whole model (0)", () => view.fitAll()),
      button("full", "full screen (g)", () => this.toggleFullScreen()),
      this.measure,
    );
    this.video.classList.add("video");
    if (canEncode() && !this.live) views.append(this.video);
    this.viewport.append(el("div", { class: "corner" }, [this.names, this.pickedBox]), views, this.triad, this.tools, this.message);
    view.onTurn = () => this.drawTriad(view.axes);
    this.describe(view, run);
    view.resize();
    view.view("iso");
    return view;
  }

  /** The quantities of a run that can be shown, and the names of its subsystems. */
  private describe(view: View3D, run: Run): void {
    const tools = this.tools;
    tools.replaceChildren();
    this.measure.classList.remove("on");
    this.message.hidden = true;
    const toggle = (text: string, title: string, on: boolean, act: (on: boolean) => void) => {
      const made = button(text, title, () => {
        on = !on;
        made.classList.toggle("on", on);
        act(on);
      });
      made.classList.toggle("on", on);
      tools.append(made);
    };
    if (view.hasArrows) {
      toggle("wrenches", "forces (red) and torques (violet) of the interfaces", true, (on) => {
        view.showArrows = on;
        this.arrowForce.hidden = !on;
        view.setTime(this.time);
      });
      this.arrowForce.className = "scale wrench";
      this.arrowForce.title = "force and torque of the longest arrows; larger ones are rare and drawn at most half longer";
      this.showArrowScale(view);
      tools.append(this.arrowForce);
    }
    const contacts = view.contactForces;
    if (contacts) {
      const scale = el("span", { class: "scale contact", title: "force of a contact; larger ones are drawn like this one" }, ["0", el("i"), this.contactForce]);
      this.contactForce.textContent = `${number(contacts.largestForce, 2)} N`;
      const show = (on: boolean) => {
        view.showContacts = on;
        scale.hidden = !on;
        view.setTime(this.time);
      };
      const few = run.frames!.contacts.most <= CONTACTS_SHOWN;
      toggle("contacts", "forces of the contacts: chains from particle to particle, arrows elsewhere", few, show);
      tools.append(scale);
      show(few);
    }
    if (view.hasStrain) {
      toggle("strain", "beams coloured by strain", true, (on) => {
        view.showStrain = on;
        view.setTime(this.time);
      });
      this.largestStrain.textContent = number(view.highestStrain, 2);
      tools.append(el("span", { class: "scale", title: "strain (m/m), root mean square over the section" }, ["0", el("i"), this.largestStrain]));
    }
    if (view.hasContainers) {
      const section = el("select", { title: "cut the model open", attrs: { "aria-label": "section" } });
      for (const axis of ["off", "x", "y", "z"]) section.append(el("option", { text: axis === "off" ? "no section" : `section ${axis}`, attrs: { value: axis } }));
      const where = el("input", { title: "where it is cut", attrs: { type: "range", min: "0", max: "1", step: "0.01", value: "0.5", "aria-label": "place of the section", hidden: "" } });
      const cut = () => {
        where.hidden = section.value === "off";
        view.setSection(section.value as "off" | "x" | "y" | "z", Number(where.value));
      };
      section.addEventListener("change", () => {
        where.value = "0.5";
        cut();
      });
      where.addEventListener("input", cut);
      tools.append(section, where);
    }

    this.names.replaceChildren();
    run.scene?.subsystems.forEach((name, i) => {
      if (!run.scene!.bodies.some((body) => body.subsystem === i)) return;
      const swatch = el("span", { class: "swatch" });
      swatch.style.background = colourOf(i);
      this.names.append(el("span", {}, [swatch, name]));
    });
  }

  /** Scale of the longest arrows of the interfaces. */
  private showArrowScale(view: View3D): void {
    const [force, torque] = view.arrowSizes;
    const parts: (Node | string)[] = [];
    if (force > 0) parts.push(el("i", { class: "force" }), `${number(force, 2)} N`);
    if (torque > 0) parts.push(el("i", { class: "torque" }), `${number(torque, 2)} N m`);
    this.arrowForce.replaceChildren(...parts);
  }

  /** Directions of x, y and z in the view; the axis nearest to the eye is drawn last. */
  private drawTriad(axes: number[][]): void {
    const order = [0, 1, 2].sort((a, b) => axes[a][2] - axes[b][2]);
    const parts = order.flatMap((i) => {
      const [x, y] = [22 * axes[i][0], -22 * axes[i][1]];
      const name = "xyz"[i];
      return [svg("line", { x1: 0, y1: 0, x2: x, y2: y, class: name }), svg("text", { x: 1.28 * x, y: 1.28 * y + 3.5, class: name, "text-anchor": "middle" }, name)];
    });
    this.triad.replaceChildren(...parts);
  }

  private transport(): HTMLElement {
    this.play.className = "play";
    this.looping.classList.add("on", "optional");
    this.slider.addEventListener("input", () => {
      this.setFollowing(false);
      this.setPlaying(false);
      this.setTime(this.start + (Number(this.slider.value) / 1000) * (this.end - this.start));
    });
    for (const speed of SPEEDS) this.speeds.append(el("option", { text: `${speed}×`, attrs: { value: String(speed) } }));
    this.speeds.addEventListener("change", () => (this.speed = Number(this.speeds.value)));
    return el("footer", { class: "transport" }, [this.play, this.slider, this.clock, this.live ? this.atEnd : null, this.speeds, this.looping]);
  }

  private sidePanels(): HTMLElement {
    const tabs = el("nav", { class: "tabs", attrs: { role: "tablist" } });
    const side = el("aside", { class: "side" }, [tabs]);
    const add = (name: string, content: Node[]) => {
      const tab = button(name, name, () => this.show(name));
      tab.setAttribute("role", "tab");
      const panel = el("div", { class: "panel", attrs: { role: "tabpanel", "data-panel": name } }, content);
      tabs.append(tab);
      side.append(panel);
      this.panels.set(name, { tab, panel });
    };
    add("Plots", [this.picker(), this.plots.element]);
    add("Trust", [trustPanel(this.report.runs)]);
    add("Summary", this.report.runs.map((run) => this.summary(run)));
    add("Scenario", this.report.runs.map((run) => el("section", { class: "card" }, [el("h2", { text: run.label }), el("pre", { text: run.scenario || "The record holds no scenario." })])));
    if (this.control) add("Control", [this.control.panel]);
    this.show("Plots");
    return side;
  }

  private show(name: string): void {
    for (const [key, { tab, panel }] of this.panels) {
      panel.hidden = key !== name;
      tab.setAttribute("aria-selected", String(key === name));
    }
    if (name === "Plots") this.plots.resize();
  }

  private summary(run: Run): HTMLElement {
    const rows = run.summary
      .filter((figure) => !/^(findings|threshold)\./.test(figure.name))
      .map((figure) => el("tr", {}, [el("td", { text: figure.name.replace(/_/g, " ") }), el("td", { class: "number", text: figure.text || `${number(figure.value, 6)} ${unitText(figure.unit)}` })]));
    const facts: [string, string][] = run.scene ? [] : [["scene", "none: records of `yoke run` into .h5 have one unless --frames 0 was given"]];
    facts.push(
      ["file", run.file],
      ["command", run.command],
      ["samples", `${run.recorded}${run.time.length < run.recorded ? `, ${run.time.length} in this report` : ""}`],
    );
    if (run.frames) facts.push(["frames", `${run.frames.recorded}${run.frames.count < run.frames.recorded ? `, ${run.frames.count} in this report` : ""}`]);
    if (run.skipped.length > 0) facts.push(["left out", `${run.skipped.join(", ")} (too many components to plot)`]);
    const head = facts.map(([name, text]) => el("tr", {}, [el("td", { text: name }), el("td", { text })]));
    return el("section", { class: "card" }, [el("h2", { text: run.label }), el("table", {}, head), el("table", {}, rows), el("p", { class: "muted", text: `Written by ${this.report.software}.` })]);
  }

  /** The list of channels to plot, searched as one types. */
  private picker(): HTMLElement {
    const input = el("input", { attrs: { type: "search", placeholder: "Plot a channel …", "aria-label": "plot a channel", autocomplete: "off" } });
    const list = el("ul", { attrs: { hidden: "" } });
    const names = this.plots.names();
    const unitOf = (name: string) => this.report.runs.map((run) => channelOf(run, name)).find((channel) => channel !== null)?.unit ?? (name === "energy balance" ? "J" : "");
    let active = -1;
    const fill = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = names.filter((name) => words.every((word) => name.toLowerCase().includes(word))).slice(0, 200);
      active = -1;
      list.replaceChildren(
        ...found.map((name) => {
          const item = el("li", { class: this.plots.has(name) ? "open" : "", attrs: { "data-name": name } }, [el("span", { text: name }), el("span", { class: "muted", text: unitText(unitOf(name)) })]);
          item.addEventListener("mousedown", (event) => {
            event.preventDefault();
            this.plots.open(name, true);
            input.value = "";
            input.blur();
          });
          return item;
        }),
      );
      list.hidden = found.length === 0;
    };
    input.addEventListener("focus", fill);
    input.addEventListener("input", fill);
    input.addEventListener("blur", () => (list.hidden = true));
    input.addEventListener("keydown", (event) => {
      const items = [...list.children] as HTMLElement[];
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        active = Math.max(0, Math.min(items.length - 1, active + (event.key === "ArrowDown" ? 1 : -1)));
        items.forEach((item, i) => item.classList.toggle("active", i === active));
        items[active]?.scrollIntoView({ block: "nearest" });
        event.preventDefault();
      } else if (event.key === "Enter" && items.length > 0) {
        this.plots.open(items[Math.max(0, active)].dataset.name!, true);
        input.value = "";
        input.blur();
      } else if (event.key === "Escape") input.blur();
      event.stopPropagation();
    });
    return el("div", { class: "picker" }, [input, list]);
  }

  /** Positions, forces and energies to begin with; channels in which nothing happens come last. */
  private openDefaults(): void {
    const still = (name: string) =>
      this.report.runs.every((run) =>
        (channelOf(run, name)?.columns ?? []).every((column) => {
          let low = Infinity;
          let high = -Infinity;
          for (const value of column) {
            low = Math.min(low, value);
            high = Math.max(high, value);
          }
          return high - low <= 1e-4 * Math.max(Math.abs(low), Math.abs(high));
        }),
      );
    const all = this.plots.names();
    const names = [...all.filter((name) => !still(name)), ...all.filter(still)];
    const wanted: string[] = [];
    const take = (test: RegExp, most: number) => {
      for (const name of names.filter((one) => test.test(one)).slice(0, most)) if (!wanted.includes(name)) wanted.push(name);
    };
    const recorded = (name: string) => this.run.channels.some((channel) => channel.name === name);
    take(/\.(position|angle|displacement)(\.[xyz])?$/, 2);
    take(/\.(force|wrench)$/, 1);
    for (const link of this.run.scene?.connections ?? []) if (wanted.length < 4 && recorded(`${link.name}.gap_position`)) wanted.push(`${link.name}.gap_position`);
    if (names.includes("energy balance")) wanted.push("energy balance");
    take(/./, names.length);
    wanted.slice(0, 4).forEach((name) => this.plots.open(name));
    this.plots.onTime = (t) => {
      this.setFollowing(false);
      this.setPlaying(false);
      this.setTime(Math.min(this.end, Math.max(this.start, t)));
    };
  }

  // Picking -------------------------------------------------------------------------------------

  private pick(picked: Picked | null): void {
    this.pickedBox.hidden = picked === null;
    if (!picked) return;
    const subsystem = this.run.scene!.subsystems[picked.subsystem];
    const prefix = `${subsystem}.${picked.name}.`;
    const own = this.plots.names().filter((name) => name.startsWith(prefix) || name === `${subsystem}.${picked.name}`);
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = colourOf(picked.subsystem);
    const parts: Node[] = [el("span", {}, [swatch, el("strong", { text: picked.name || "unnamed" }), el("span", { class: "muted", text: `  ${subsystem}` })])];
    if (own.length > 0) {
      const choice = el("select", { title: "plot a channel of it", attrs: { "aria-label": "plot a channel of it" } }, [el("option", { text: `plot (${own.length})`, attrs: { value: "" } })]);
      for (const name of own) choice.append(el("option", { text: name.slice(subsystem.length + 1), attrs: { value: name } }));
      choice.addEventListener("change", () => {
        if (choice.value) this.plots.open(choice.value, true);
        this.show("Plots");
        choice.value = "";
      });
      parts.push(choice);
      if (!own.some((name) => this.plots.has(name))) this.plots.open(own[0], true);
    } else parts.push(el("span", { class: "muted", text: "no recorded channels" }));
    if (picked.body >= 0) {
      const follow = button("follow", "keep the camera on it (f)", () => {
        this.view!.setFollowed(this.view!.isFollowing ? -1 : picked.body);
        follow.classList.toggle("on", this.view!.isFollowing);
      });
      follow.classList.toggle("on", this.view!.isFollowing);
      parts.push(follow);
    }
    this.pickedBox.replaceChildren(...parts);
  }

  // Time ----------------------------------------------------------------------------------------

  private setRange(): void {
    const spans = this.report.runs.flatMap((run) => {
      const times = run.frames && run.frames.count > 0 ? [run.frames.time[0], run.frames.time[run.frames.count - 1]] : [];
      return run.time.length > 0 ? [...times, run.time[0], run.time[run.time.length - 1]] : times;
    });
    this.start = Math.min(...spans);
    this.end = Math.max(...spans, this.start + 1e-12);

    // A run lasts about eight seconds on the screen, at a round speed.
    const ideal = (this.end - this.start) / 8;
    this.speed = SPEEDS.reduce((best, one) => (Math.abs(Math.log(one / ideal)) < Math.abs(Math.log(best / ideal)) ? one : best));
    this.speeds.value = String(this.speed);
  }

  private setTime(t: number): void {
    this.time = t;
    this.view?.setTime(t);
    this.plots.setTime(t);
    this.slider.value = String(Math.round((1000 * (t - this.start)) / (this.end - this.start)));
    const digits = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(this.end - this.start))));
    this.clock.textContent = `${t.toFixed(digits)} s`;
    this.clock.title = `of ${this.end.toFixed(digits)} s`;
  }

  private setFollowing(on: boolean): void {
    if (!this.live) return;
    this.following = on && this.run.live;
    this.atEnd.classList.toggle("on", this.following);
    if (this.following) {
      this.setPlaying(false);
      this.setTime(this.end);
    }
  }

  private setPlaying(on: boolean): void {
    if (on) this.setFollowing(false);
    if (on && !this.loop && this.time >= this.end) this.setTime(this.start);
    this.playing = on;
    this.play.textContent = on ? "❚❚" : "▶";
    this.last = 0;
  }

  /** The whole run at the chosen speed, with the present camera; a second click stops it. */
  async makeVideo(): Promise<Blob | null> {
    const view = this.view!;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = view.canvasSize.map((pixels) => pixels - (pixels % 2));
    const paper = canvas.getContext("2d", { alpha: false })!;
    const style = getComputedStyle(this.viewport);
    const size = Math.round(canvas.height / 36);
    const seconds = (this.end - this.start) / this.speed;
    const frames = Math.max(2, Math.min(VIDEO_FRAMES_MAX, Math.round(seconds * VIDEO_RATE) + 1));
    const before = this.time;
    this.setPlaying(false);
    try {
      return await encodeVideo({
        width: canvas.width,
        height: canvas.height,
        frames,
        rate: VIDEO_RATE,
        draw: (frame) => {
          this.setTime(this.start + ((this.end - this.start) * frame) / (frames - 1));
          paper.fillStyle = style.backgroundColor;
          paper.fillRect(0, 0, canvas.width, canvas.height);
          view.paint(canvas);
          paper.fillStyle = style.color;
          paper.font = `${size}px sans-serif`;
          paper.fillText(this.clock.textContent ?? "", size, canvas.height - size);
          return canvas;
        },
        progress: (part) => {
          this.video.textContent = `${Math.round(100 * part)} %`;
          return this.encoding;
        },
      });
    } finally {
      this.setTime(before);
    }
  }

  private async saveVideo(): Promise<void> {
    if (!this.view) return;
    if (this.encoding) {
      this.encoding = false;
      return;
    }
    this.encoding = true;
    this.video.classList.add("on");
    try {
      const video = await this.makeVideo();
      if (video) download(`${(this.run.title || this.run.label).replace(/[^\p{L}\p{N}]+/gu, "-")}.webm`, video);
    } catch (error) {
      this.message.hidden = false;
      this.message.textContent = `No video: ${(error as Error).message}`;
    }
    this.encoding = false;
    this.video.classList.remove("on");
    this.video.textContent = "video";
  }

  private setLoop(on: boolean): void {
    this.loop = on;
    this.looping.classList.toggle("on", on);
  }

  private tick(now: number): void {
    if (this.closed.signal.aborted) return;
    if (this.playing) {
      if (this.last > 0) {
        let next = this.time + (this.speed * Math.min(200, now - this.last)) / 1000;
        if (next > this.end) {
          if (this.loop) next = this.start;
          else {
            next = this.end;
            this.setPlaying(false);
          }
        }
        this.setTime(next);
      }
      this.last = now;
    }
    if (!this.encoding) this.view?.draw(); // a video draws its own frames
    requestAnimationFrame((next) => this.tick(next));
  }

  // Running simulation --------------------------------------------------------------------------

  /** More of the run has come. */
  grow(state: LiveState): void {
    const speed = this.speed;
    this.setRange();
    if (!this.following) {
      this.speed = speed;
      this.speeds.value = String(speed);
    }
    const [touched, strained] = [this.view?.contactForces, this.view?.hasStrain];
    this.view?.grow();
    const touching = this.view?.contactForces;
    if ((touching && !touched) || (this.view?.hasStrain && !strained)) this.describe(this.view!, this.run);
    if (this.view) this.largestStrain.textContent = number(this.view.highestStrain, 2);
    if (touching) this.contactForce.textContent = `${number(touching.largestForce, 2)} N`;
    if (this.view?.hasArrows) this.showArrowScale(this.view);
    this.plots.grow();
    this.setTime(this.following ? this.end : this.time);
    this.atEnd.classList.toggle("on", this.following);

    const done = state.steps > 0 ? state.step / state.steps : 0;
    const left = done > 0 ? (state.seconds * (1 - done)) / done : NaN;
    const minutes = left >= 90 ? `${number(left / 60, 2)} min` : `${Math.ceil(left)} s`;
    this.liveBar.value = done;
    const settling = state.state === "settling";
    if (state.state === "running") void this.control?.refresh().catch(() => undefined);
    if (settling) this.badge.textContent = "settling";
    if (settling) this.liveText.textContent = state.loading;
    else this.liveText.textContent = `${(100 * done).toFixed(0)} %${Number.isFinite(left) && state.state === "running" ? `, ${minutes} left` : ""}`;
  }

  /** The run has come to its end, or cannot be heard any more. */
  finish(lost: boolean): void {
    this.run.live = false;
    this.setFollowing(false);
    this.atEnd.remove();
    this.control?.finish();
    const outcome = this.run.summary.find((figure) => figure.name === "outcome")?.text;
    const ending = outcome ? `the run has ended: ${outcome}` : "the run has ended";
    const state = document.querySelector(".live-state");
    state?.replaceChildren(el("span", { class: "left", text: lost ? "the run has ended or cannot be reached; `yoke report` shows its results" : ending }));
    this.showVerdict();
    this.panels.get("Trust")!.panel.replaceChildren(trustPanel(this.report.runs));
    this.panels.get("Summary")!.panel.replaceChildren(...this.report.runs.map((run) => this.summary(run)));
  }

  // Keyboard and theme --------------------------------------------------------------------------

  private step(by: number): void {
    this.setFollowing(false);
    this.setPlaying(false);
    const times = this.run.frames && this.run.frames.count > 1 ? this.run.frames.time : this.run.time;
    const span = (times[times.length - 1] - times[0]) / Math.max(1, times.length - 1);
    this.setTime(Math.min(this.end, Math.max(this.start, this.time + by * span)));
  }

  private keys(): void {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target as HTMLElement;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && target !== this.slider) return;
      const change = (by: number) => {
        const i = SPEEDS.indexOf(this.speed);
        this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, i + by))];
        this.speeds.value = String(this.speed);
      };
      const actions: Record<string, () => void> = {
        " ": () => this.setPlaying(!this.playing),
        ArrowRight: () => this.step(event.shiftKey ? 10 : 1),
        ArrowLeft: () => this.step(event.shiftKey ? -10 : -1),
        Home: () => {
          this.setFollowing(false);
          this.setTime(this.start);
        },
        End: () => this.setTime(this.end),
        "+": () => change(1),
        "-": () => change(-1),
        l: () => this.setLoop(!this.loop),
        t: () => this.setTheme(document.documentElement.dataset.theme !== "dark"),
        f: () => (this.pickedBox.querySelector('button[title^="keep"]') as HTMLButtonElement | null)?.click(),
        "0": () => this.view?.fitAll(),
        g: () => this.toggleFullScreen(),
        "1": () => this.view?.view("iso"),
        "2": () => this.view?.view("x"),
        "3": () => this.view?.view("y"),
        "4": () => this.view?.view("z"),
        "?": () => this.toggleKeys(),
        Escape: () => {
          this.view?.select(null);
          this.pick(null);
        },
      };
      const action = actions[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", press, { signal: this.closed.signal });
  }

  private keyBox: HTMLElement | null = null;

  private toggleKeys(): void {
    if (this.keyBox) {
      this.keyBox.remove();
      this.keyBox = null;
      return;
    }
    const lines = [
      ["space", "play or pause"],
      ["← →", "one frame, with shift ten"],
      ["Home End", "start, end"],
      ["+ −", "faster, slower"],
      ["l", "loop"],
      ["1 2 3 4", "views"],
      ["0", "whole model"],
      ["g", "full screen"],
      ["f", "follow what is picked"],
      ["t", "light or dark"],
      ["Esc", "let go"],
    ];
    this.keyBox = el("div", { class: "overlay keys" }, lines.map(([key, does]) => el("span", {}, [el("b", { text: key }), does])));
    this.viewport.append(this.keyBox);
  }

  private toggleFullScreen(): void {
    if (document.fullscreenElement) void document.exitFullscreen();
    else void document.documentElement.requestFullscreen().catch(() => undefined);
  }

  private setTheme(dark: boolean): void {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.view?.setTheme(dark);
    this.plots.redraw();
  }

  /** For the gallery: the model at a part of the time of the run, 0 to 1, as a picture; null where there is none. */
  picture(part: number, width: number, height: number): string | null {
    this.setTime(this.start + part * (this.end - this.start));
    return this.view?.picture(width, height) ?? null;
  }

  /** For tests: the contacts that are drawn, each with its point, normal and force. */
  contacts(): number[][] {
    return this.view?.contactForces?.shown ?? [];
  }

  /** For tests: what the model takes up of the view. */
  bounds(): number[] | null {
    return this.view?.bounds ?? null;
  }

  /** For tests: where a body of the shown run is on the screen. */
  locate(subsystem: string, body: string): [number, number] | null {
    const scene = this.run.scene;
    const i = scene ? scene.bodies.findIndex((one) => one.name === body && scene.subsystems[one.subsystem] === subsystem) : -1;
    return i >= 0 && this.view ? this.view.project(i) : null;
  }
}

/** The page is open: tests and the gallery find it here. */
function expose(app: App): void {
  (window as unknown as { yoke: App }).yoke = app;
}

/** Shows a simulation that runs in another process, from its first frame to its end. */
function showLive(root: HTMLElement): void {
  document.documentElement.dataset.theme = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const doing = el("p", { class: "muted" });
  const waiting = el("div", { class: "waiting" }, [el("h2", { text: "The scenario is being loaded" }), doing]);
  root.append(waiting);
  const live = new Live();
  let app: App | null = null;
  live
    .follow(
      (what) => (doing.textContent = what),
      (report) => {
        app?.close();
        root.replaceChildren();
        root.className = "";
        const made = (app = new App(root, report, live));
        void made.open(null).then(() => expose(made));
      },
      (state) => app?.grow(state),
      () => app?.finish(false),
    )
    .catch((error: Error) => {
      if (app) app.finish(true);
      else waiting.replaceChildren(el("p", { text: `The run cannot be shown: ${error.message}` }));
    });
}

async function main(): Promise<void> {
  const root = document.getElementById("app")!;
  if (document.getElementById("yoke-live")) {
    showLive(root);
    return;
  }
  const tables = document.getElementById("yoke-tables");
  if (tables) {
    const content = JSON.parse(await decodeText(tables.textContent ?? "")) as { software: string; tables: Table[] };
    showTables(root, content.tables, content.software);
    return;
  }
  const data = document.getElementById("yoke-data");
  if (!data || !data.textContent) {
    root.append(el("p", { class: "muted", text: "This page is the viewer of `yoke report` without a report in it." }));
    return;
  }
  try {
    // While the browser unpacks the data, the page waits for the graphics.
    const decoding = decode(data.textContent);
    const screen = "drawn" in data.dataset ? openScreen() : null;
    const app = new App(root, await decoding);
    await app.open(screen);
    expose(app);
  } catch (error) {
    root.replaceChildren(el("p", { text: `This report cannot be shown: ${(error as Error).message}` }));
    throw error;
  }
}

void main();
