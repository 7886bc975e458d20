// Opens a run while it goes on, in a headless browser: sees it grow, scrubs back, stops it, and looks at its end. Before that,
// what the port refuses.
//
// usage: node tests/live.mjs YOKE PAGE MODELS FOLDER    FOLDER keeps the record and a screenshot
//
// Exit code 77 where there is no Chromium, no viewer or no libmicrohttpd: the test is skipped.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { request } from "node:http";
import { join, resolve } from "node:path";
import { check, findBrowser, finish, isProblem, skip } from "./browser.mjs";

const [yoke, page, models, folder] = process.argv.slice(2).map((path) => resolve(path));
const launch = await findBrowser(page);

mkdirSync(folder, { recursive: true });
const record = join(folder, "live.h5");
rmSync(record, { force: true });

// A run of many minutes, of which the test sees the beginning.
const scenario = join(models, "particle-damper", "scenario.yaml");
const run = spawn(yoke, ["run", scenario, "--live", "--set", "time.end=60", "--frames", "60000", "-o", record], { stdio: ["ignore", "pipe", "pipe"] });
let said = "";
let complaint = "";
run.stdout.on("data", (text) => (said += text));
run.stderr.on("data", (text) => (complaint += text));
const ended = new Promise((done) => run.on("exit", (code) => done(code)));
const limit = setTimeout(() => run.kill("SIGKILL"), 120000); // it is stopped by then

async function until(what, condition, seconds = 60) {
  for (const begun = Date.now(); Date.now() - begun < 1000 * seconds; ) {
    if (await condition()) return true;
    await new Promise((done) => setTimeout(done, 50));
  }
  check(false, `${what}: not within ${seconds} s`);
  return false;
}

/** A page that collects what goes wrong in it, and every request that does not go to the run. */
async function openPage(browser, url, problems) {
  const tab = await browser.newPage({ viewport: { width: 1440, height: 860 }, colorScheme: "light" });
  tab.on("console", (message) => isProblem(message) && problems.push(`console: ${message.text()}`));
  tab.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  tab.on("request", (one) => one.url().startsWith(url) || /^(data|blob):/.test(one.url()) || problems.push(`request: ${one.url()}`));
  await tab.goto(url);
  return tab;
}

/** Before a run begins its particles settle: they are seen to fall and to come to rest, and then the run itself. */
async function watchSettling(browser) {
  const slowly = "subsystems.damper.particles.shot.settling.step=3e-5"; // so that there is time to look
  const process = spawn(yoke, ["run", join(models, "cantilever-damper", "scenario.yaml"), "--live", "--set", slowly, "--set", "time.end=60", "--no-output"], { stdio: ["ignore", "pipe", "ignore"] });
  const problems = [];
  try {
    let told = "";
    process.stdout.on("data", (text) => (told += text));
    await until("the address of the run with particles", () => /live: \S+/.test(told) || process.exitCode !== null, 20);
    const tab = await openPage(browser, /live: (\S+)/.exec(told)[1], problems);
    const title = () => tab.locator("header h1").textContent();
    await until("frames of the bed", () => tab.evaluate(() => window.yoke?.report.runs[0].frames?.count > 3));
    check((await title()) === "Settling of 147 particles", `while particles settle the title is "${await title()}"`);
    check(/147 particles settle: .* s, still .* m\/s/.test(await tab.locator(".live-state").textContent()), "how far they have settled is not said");
    const [before, after, wide, speed] = await tab.evaluate(() => {
      const run = window.yoke.report.runs[0];
      const height = (frame) => {
        const at = [0, 0, 0];
        const grains = run.scene.bodies.flatMap((body, i) => (body.motion === 1 ? [i] : []));
        return grains.reduce((sum, i) => (run.frames.readPosition(i, frame, 0, at), sum + at[2]), 0) / grains.length;
      };
      const box = window.yoke.bounds();
      return [height(0), height(run.frames.count - 1), box[2] - box[0], run.channels[0].columns[0].at(-1)];
    });
    check(after < before - 1e-4, `the particles are at ${before} m, and later at ${after} m in the mean`);
    check(wide > 0.2 && wide < 1, `the bed takes up ${wide} of the view`);
    check(speed > 0, "their speed is not plotted");
    await tab.waitForTimeout(1000); // of drawing
    await tab.screenshot({ path: join(folder, "live-settling.png") });
    await until("the run after its particles have settled", async () => !/^Settling/.test(await title()), 120);
    await until("channels of the run", () => tab.evaluate(() => window.yoke.report.runs[0].channels.some((channel) => channel.name === "tip.position")), 20);
    for (const problem of problems) check(false, `settling: ${problem}`);
    await tab.close();
  } finally {
    process.kill("SIGKILL");
  }
}

/** The status of a request. */
function ask(url, options = {}) {
  return new Promise((done, fail) => {
    const made = request(url, options, (answer) => {
      answer.resume();
      answer.on("end", () => done(answer.statusCode));
    });
    made.on("error", fail);
    made.end();
  });
}

await until("the address of the run", () => /live: \S+/.test(said) || run.exitCode !== null, 20);
if (/built without libmicrohttpd/.test(complaint)) skip("the program was built without libmicrohttpd");
const address = /live: (\S+)/.exec(said)?.[1] ?? "";
check(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/.test(address), `the address is "${address}": ${complaint}`);
const origin = new URL(address).origin;

// Only who knows the address, calls it by its name and reads is answered.
check((await ask(address)) === 200, "the page is not there");
check((await ask(origin + "/")) === 404, "the page is there without its key");
check((await ask(address, { headers: { Host: "example.org" } })) === 403, "another host is answered");
check((await ask(address + "more", { method: "PUT" })) === 405, "PUT is answered");
check((await ask(address + "more", { method: "POST" })) === 405, "POST is answered where nothing can be stopped");
check((await ask(origin + "/00000000000000000000000000000000/stop", { method: "POST" })) === 404, "a wrong key is answered");
check((await ask(address + "../../etc/passwd")) === 404, "files are served");

const browser = await launch();
try {
  const problems = [];
  const tab = await openPage(browser, address, problems);
  await tab.waitForSelector(".clock", { timeout: 60000 });
  const clock = async () => parseFloat(await tab.locator(".clock").textContent());

  // It stays at the end of the run, until somebody looks back.
  const first = await clock();
  await until("the run grows", async () => (await clock()) > first);
  check(/\d+ %, .* left/.test(await tab.locator(".live-state").textContent()), "the time that is left is not said");
  await tab.screenshot({ path: join(folder, "live-running.png") });
  await tab.locator('.transport input[type="range"]').fill("0");
  const back = await clock();
  await tab.waitForTimeout(1200);
  check((await clock()) === back, "the time goes on though it was set by hand");
  await tab.getByRole("button", { name: "live" }).click();
  check((await clock()) > back, "the button `live` does not go to the end");

  // Frames and samples are of one motion: the container is where its channel says.
  const [drawn, recorded] = await tab.evaluate(() => {
    const run = window.yoke.report.runs[0];
    const body = run.scene.bodies.findIndex((one) => one.name === "can");
    const at = [0, 0, 0];
    const z = run.channels.find((channel) => channel.name === "damper.can.position").columns[2];

    // At an instant that both have: between samples it swings too fast to be interpolated.
    let frame = run.frames.count - 1;
    const sampleOf = (t) => run.time.findIndex((time) => Math.abs(time - t) < 1e-9);
    while (frame > 0 && sampleOf(run.frames.time[frame]) < 0) frame--;
    run.frames.readPosition(body, frame, 0, at);
    return [at[2], z[sampleOf(run.frames.time[frame])]];
  });
  check(Math.abs(drawn - recorded) < 1e-7, `the container is drawn at ${drawn} m, its channel says ${recorded} m`);

  // A pause holds the run, a step brings the next frame, and a change of a parameter acts and is noted.
  const count = () => tab.evaluate(() => window.yoke.report.runs[0].frames.count);
  await tab.getByRole("button", { name: "pause" }).click();
  await until("the button offers to resume", async () => (await tab.getByRole("button", { name: "resume" }).count()) === 1, 20);
  await tab.waitForTimeout(1500);
  const held = await count();
  await tab.waitForTimeout(1500);
  check((await count()) === held, `${(await count()) - held} frames were added during a pause`);
  await tab.getByRole("button", { name: "step" }).click();
  await until("a step brings a frame", async () => (await count()) > held, 20);
  await tab.waitForTimeout(1200);
  check((await count()) === held + 1, `a step brings ${(await count()) - held} frames`);
  await tab.getByRole("tab", { name: "Control" }).click();
  const gravity = tab.getByRole("spinbutton", { name: "damper.gravity.z" });
  check((await gravity.inputValue()) === "-9.81", `gravity is ${await gravity.inputValue()}`);
  await gravity.fill("-5");
  await gravity.press("Enter");
  await until("the change is confirmed", async () => /gravity.z = −5/.test(await tab.locator(".control").textContent()), 10);
  check((await ask(address + "set?parameter=damper.gravity.z&value=x", { method: "POST" })) === 400, "a value that is no number is accepted");
  check((await ask(address + "set?parameter=damper.gravitation&value=1", { method: "POST" })) === 400, "an unknown parameter is accepted");
  await tab.screenshot({ path: join(folder, "live-control.png") });
  await tab.getByRole("tab", { name: "Plots" }).click();
  await tab.getByRole("button", { name: "resume" }).click();
  await until("the run continues", async () => (await count()) > held + 1, 20);

  // A stop is orderly: the record is complete, and says that it was stopped.
  await tab.getByRole("button", { name: "stop" }).click();
  const code = await ended;
  check(code !== 0 && code !== null, `the exit code after a stop is ${code}`);
  check(/stopped at t = /.test(complaint), `the run does not say that it was stopped: ${complaint}`);
  check(existsSync(record), "there is no record of the run that was stopped");
  await until("the page has the end", async () => /the run has ended: stopped at t = /.test(await tab.locator(".live-state").textContent()), 20);
  await tab.getByRole("tab", { name: "Trust" }).click();
  check(/Macro steps/.test(await tab.locator(".trust").textContent()), "what the run says of itself is not there at the end");
  await tab.screenshot({ path: join(folder, "live-ended.png") });
  for (const problem of problems) check(false, `live: ${problem}`);
  await watchSettling(browser);
} finally {
  await browser.close();
  run.kill("SIGKILL");
}
clearTimeout(limit);


const again = spawnSync(yoke, ["reproduce", record], { encoding: "utf8" });
check(again.status !== 0 && /were changed in its live view: t = .* s: damper.gravity.z = -5/.test(again.stderr), `a run that was changed is reproduced: ${again.stderr}`);
execFileSync(yoke, ["report", record, "-o", join(folder, "live.html")], { stdio: ["ignore", "inherit", "inherit"] });
finish("the live view is as it should be");
