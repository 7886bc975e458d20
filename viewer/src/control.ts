// Controls of a run in progress (cli/live_control.h): pause, one frame at a time, and parameters.

import { button, el, number, unitText } from "./ui";

interface Parameter {
  name: string; // "left.stiffness"
  unit: string;
  value: number;
  minimum: number | null; // null: no limit
  maximum: number | null;
}

export interface ControlState {
  paused: boolean;
  can_pause: boolean;
  refusal: string; // why the last change was not made
  parameters: Parameter[];
}

/** The end of the run that the page controls. */
export interface Controlled {
  control(): Promise<ControlState>;
  post(action: string): Promise<string>; // "" or the reason of a refusal
}

const FILTER_FROM = 12; // parameters, from which on they can be searched

/** The range of a slider: the limits if there are two, else up to twice the present size. */
function sliderRange(one: Parameter): [number, number] {
  const size = 2 * Math.abs(one.value) || 1;
  const low = one.minimum ?? -size;
  const high = one.maximum ?? size;
  return [Math.max(low, -size), Math.min(high, one.minimum !== null && one.minimum > 0 ? Math.max(size, 2 * one.minimum) : size)];
}

export class RunControl {
  /** Buttons for the header. */
  readonly buttons = el("span", { class: "run-control", attrs: { hidden: "" } });
  /** Content of a panel. */
  readonly panel = el("section", { class: "card control" }, [el("h2", { text: "Parameters" })]);
  private readonly pause = button("pause", "pause the run before its next step, or continue", () => void this.send(this.paused ? "resume" : "pause"));
  private readonly advance = button("step", "continue to the next frame, and pause", () => void this.send("advance"));
  private readonly note = el("p", { class: "muted", attrs: { role: "status" } });
  private paused = false;
  private rows: { one: Parameter; field: HTMLInputElement; slider: HTMLInputElement }[] = [];

  constructor(private readonly run: Controlled) {
    this.buttons.append(this.pause, this.advance);
  }

  /** Asks the run for its state. */
  async refresh(): Promise<void> {
    const state = await this.run.control();
    this.paused = state.paused;
    this.buttons.hidden = !state.can_pause;
    this.pause.textContent = state.paused ? "resume" : "pause";
    this.pause.classList.toggle("on", state.paused);
    if (this.rows.length !== state.parameters.length) this.build(state.parameters);
    if (state.refusal) this.note.textContent = state.refusal;
    state.parameters.forEach((one, i) => {
      const row = this.rows[i];
      if (!row || row.field === document.activeElement || row.slider === document.activeElement || row.one.value === one.value) return;
      row.one.value = one.value;
      this.show(row);
    });
  }

  /** The run has ended. */
  finish(): void {
    this.buttons.hidden = true;
    for (const { field, slider } of this.rows) field.disabled = slider.disabled = true;
    this.note.textContent = "The run has ended. The summary lists the changes.";
  }

  private async send(action: string): Promise<boolean> {
    const reason = await this.run.post(action).catch((error: Error) => error.message);
    this.note.textContent = reason;
    if (reason === "") await this.refresh().catch(() => undefined);
    return reason === "";
  }

  private show(row: { one: Parameter; field: HTMLInputElement; slider: HTMLInputElement }): void {
    row.field.value = String(Number(row.one.value.toPrecision(10)));
    row.slider.value = String(row.one.value);
  }

  private build(parameters: Parameter[]): void {
    this.rows = [];
    const list = el("div", { class: "parameters" });
    for (const one of parameters) {
      const [low, high] = sliderRange(one);
      const field = el("input", { attrs: { type: "number", step: "any", "aria-label": one.name } });
      const slider = el("input", { title: `${number(low)} to ${number(high)}`, attrs: { type: "range", min: String(low), max: String(high), step: String((high - low) / 200), "aria-label": `${one.name}, slider` } });
      const row = { one, field, slider };
      const set = async (value: number) => {
        const before = one.value;
        if (!Number.isFinite(value) || value === before) return this.show(row);
        one.value = value;
        if (await this.send(`set?parameter=${encodeURIComponent(one.name)}&value=${value}`)) this.note.textContent = `${one.name} = ${number(value)} ${unitText(one.unit)}`;
        else one.value = before;
        this.show(row);
      };
      field.addEventListener("change", () => void set(Number(field.value)));
      slider.addEventListener("input", () => (field.value = slider.value));
      slider.addEventListener("change", () => void set(Number(slider.value)));
      this.show(row);
      this.rows.push(row);
      list.append(el("label", { class: "parameter" }, [el("span", { text: one.name }), slider, field, el("span", { class: "muted", text: unitText(one.unit) })]));
    }

    const filter = el("input", { attrs: { type: "search", placeholder: "Search parameters …", "aria-label": "search parameters" } });
    filter.addEventListener("input", () => {
      for (const [i, label] of [...list.children].entries()) (label as HTMLElement).hidden = !parameters[i].name.includes(filter.value);
    });
    const text = parameters.length > 0 ? "A change acts from the next macro step on and is noted in the results." : "No parameter of this system can be changed during the run.";
    this.panel.replaceChildren(el("h2", { text: "Parameters" }), el("p", { class: "muted", text }), ...(parameters.length >= FILTER_FROM ? [filter] : []), list, this.note);
  }
}
