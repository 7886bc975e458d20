// A run in progress: data from `yoke run --live` (cli/live.h), requested every half second.

import type { Controlled, ControlState } from "./control";
import { appendSamples, Contacts, decodeBytes, Frames, Report, Run } from "./data";

export interface LiveState {
  state: "loading" | "settling" | "running" | "ended";
  step: number;
  steps: number;
  time: number;
  seconds: number; // on the clock
  loading: string; // what is done before the run begins
}

interface Head extends LiveState {
  rows: number;
  width: number;
  frames: number;
  size: number;
  more: boolean; // that did not fit into this answer
  act: number; // what is shown: each settling of particles is one, the run the last
}

const PAUSE = 500; // ms

const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

export class Live implements Controlled {
  private readonly base = location.pathname.replace(/[^/]*$/, "");
  private rows = 0;
  private frames = 0;
  private act = 0;

  /** The report without data, as soon as there is something to show; null before. */
  private async start(): Promise<Report | null> {
    const answer = await fetch(`${this.base}start`);
    if (answer.status === 204) return null;
    if (!answer.ok) throw new Error(`the run answers with ${answer.status}`);
    this.act = Number(answer.headers.get("Yoke-Act"));
    return decodeBytes(new Uint8Array(await answer.arrayBuffer()));
  }

  /** New data, and the index of its first number. */
  private async ask(): Promise<{ head: Head; bytes: ArrayBuffer; at: number }> {
    const answer = await fetch(`${this.base}more?rows=${this.rows}&frames=${this.frames}`);
    if (!answer.ok) throw new Error(`the run answers with ${answer.status}`);
    const bytes = await answer.arrayBuffer();
    const length = new DataView(bytes).getUint32(4, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))) as Head;
    return { head, bytes, at: Math.ceil((8 + length) / 8) * 8 };
  }

  /** Adds what has come to the run; nothing where another is shown now. */
  private async more(run: Run): Promise<Head> {
    const { head, bytes, at: start } = await this.ask();
    if (head.act !== this.act) return head;
    let at = start;
    const doubles = (count: number) => {
      const values = new Float64Array(bytes, at, count);
      at += 8 * count;
      return values;
    };
    const time = doubles(head.rows);
    const columns: Float64Array[] = [];
    for (let k = 0; k < head.width; k++) columns.push(doubles(head.rows));
    if (head.rows > 0) appendSamples(run, time, columns);
    const frameTimes = doubles(head.frames);
    if (head.frames > 0 && run.frames) run.frames.append(frameTimes, new Float32Array(bytes, at, head.frames * head.size));
    this.rows += head.rows;
    this.frames += head.frames;
    return head;
  }

  /** Begins as soon as there is something to show, particles that settle or the run, and says what comes until the end. */
  async follow(load: (what: string) => void, begin: (report: Report) => void, grow: (state: LiveState) => void, end: () => void): Promise<void> {
    while (!(await this.followAct(load, begin, grow)));
    end();
  }

  /** One of what is shown one after the other; true: it was the last. */
  private async followAct(load: (what: string) => void, begin: (report: Report) => void, grow: (state: LiveState) => void): Promise<boolean> {
    this.rows = this.frames = 0;
    let report = await this.start();
    while (!report) {
      load((await this.ask()).head.loading);
      await wait(PAUSE);
      report = await this.start();
    }
    const act = this.act;
    const run = report.runs[0];
    run.live = true;
    if (run.scene && run.scene.shapes.length > 0) run.frames = new Frames(run.scene, new Float64Array(0), 0, [0, 1, 2, 3, 4].map(() => new Float32Array(0)), new Contacts([], new Float32Array(0)));

    let head = await this.more(run);
    while (head.act === act && run.time.length === 0 && head.state !== "ended") {
      await wait(PAUSE);
      head = await this.more(run);
    }
    if (head.act !== act) return false;
    if (run.frames && run.frames.count === 0) run.frames = null;
    begin(report);
    grow(head);
    while (head.state !== "ended" || head.more) {
      if (!head.more) await wait(PAUSE);
      head = await this.more(run);
      if (head.act !== act) return false;
      grow(head);
    }

    // Findings and indicators of the run.
    const last = await this.start();
    run.live = false;
    if (last) {
      run.summary = last.runs[0].summary;
      run.complete = last.runs[0].complete;
    }
    return true;
  }

  async control(): Promise<ControlState> {
    const answer = await fetch(`${this.base}control`);
    if (!answer.ok) throw new Error(`the run answers with ${answer.status}`);
    return (await answer.json()) as ControlState;
  }

  async post(action: string): Promise<string> {
    const answer = await fetch(`${this.base}${action}`, { method: "POST" });
    return answer.ok ? "" : (await answer.text()).trim();
  }

  async stop(): Promise<void> {
    await fetch(`${this.base}stop`, { method: "POST" });
  }
}
