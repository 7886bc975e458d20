// How long a report takes to open, each of its frames to draw, and what the page does for each, in a headless browser that has no graphics processor: on the
// clock, and as processor time of the page and of the process that draws, which other programs on the machine disturb less.
//
// usage: node tests/speed.mjs REPORT [SECONDS]     in the folder that scripts/viewer has built the viewer in

import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { findBrowser } from "./browser.mjs";

const [report, seconds = "5"] = process.argv.slice(2);
const TICKS = 100; // of the clock of /proc, per second

/** Processor time (s) of the descendants of this process whose command line has a word in it. */
function processorTime(word) {
  const all = readdirSync("/proc").flatMap((pid) => {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, "utf8");
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
      return [{ pid, parent: fields[1], time: (Number(fields[11]) + Number(fields[12])) / TICKS, command: readFileSync(`/proc/${pid}/cmdline`, "utf8") }];
    } catch {
      return []; // not a process, or one that has ended
    }
  });
  const own = new Set([String(process.pid)]);
  for (let before = 0; before < own.size; ) {
    before = own.size;
    for (const one of all) if (own.has(one.parent)) own.add(one.pid);
  }
  return all.filter((one) => own.has(one.pid) && one.command.includes(word)).reduce((sum, one) => sum + one.time, 0);
}

const measure = () => ({ clock: Date.now() / 1000, page: processorTime("--type=renderer"), drawing: processorTime("--type=gpu-process") });

const launch = await findBrowser(report);
const browser = await launch();
const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } });
const start = measure();
await tab.goto(pathToFileURL(resolve(report)).href, { timeout: 300000 });
await tab.waitForFunction(() => window.yoke !== undefined, null, { timeout: 300000 });
const painted = await tab.evaluate(() => {
  const gl = document.querySelector("canvas")?.getContext("webgl2");
  gl?.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits until the model is drawn
  return (performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN) / 1000;
});
const open = measure();
const spent = `processor time of the page ${(open.page - start.page).toFixed(2)} s, of the drawing ${(open.drawing - start.drawing).toFixed(2)} s`;
console.log(`open: plots after ${painted.toFixed(2)} s, the model drawn after ${(open.clock - start.clock).toFixed(2)} s; ${spent}`);

const frames = await tab.evaluate(async (limit) => {
  let count = 0;
  const begun = performance.now();
  document.querySelector(".play").click();
  await new Promise((done) => {
    const next = () => {
      count++;
      if (performance.now() - begun > 1000 * limit) done();
      else requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  return count;
}, Number(seconds));
const played = measure();
const each = (a, b) => ((1000 * (b - a)) / frames).toFixed(1);
console.log(`play: ${(frames / (played.clock - open.clock)).toFixed(1)} frames per second; of each, processor time of the page ${each(open.page, played.page)} ms, of the drawing ${each(open.drawing, played.drawing)} ms`);

// What the page itself does for a frame, whoever draws: to move everything, and to hand it over with the calls that draw it. The
// least of many, which nothing else has disturbed.
const [move, hand] = await tab.evaluate(() => {
  const app = window.yoke;
  const count = 40;
  const least = [Infinity, Infinity];
  for (let i = 0; i < count; i++) {
    const begun = performance.now();
    app.setTime(app.start + ((i + 0.5) / count) * (app.end - app.start));
    const moved = performance.now();
    app.view?.draw();
    least[0] = Math.min(least[0], moved - begun);
    least[1] = Math.min(least[1], performance.now() - moved);
  }
  return least;
});
console.log(`of a frame: ${move.toFixed(1)} ms to move everything, ${hand.toFixed(1)} ms to hand it to who draws`);
await browser.close();
