// Opens real reports in a headless browser, as their readers do: plays, scrubs, picks a body, reads a value off a plot and
// compares it with the file; and looks for errors on the console and for requests to a network.
//
// usage: node tests/report.mjs YOKE PAGE MODELS FOLDER    FOLDER keeps the reports and screenshots
//
// Exit code 77 where there is no Chromium or no viewer: the test is skipped, unless the environment has YOKE_VIEWER=required.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { check, findBrowser, finish, isProblem } from "./browser.mjs";

const BUDGET = 700_000; // bytes of the page without data

const [yoke, page, models, folder] = process.argv.slice(2).map((path) => resolve(path));
const launch = await findBrowser(page);

const lock = readFileSync(new URL("../package-lock.json", import.meta.url), "utf8");
check(!lock.includes('"resolved"'), "package-lock.json names registries: remove its `resolved` lines");
check(statSync(page).size <= BUDGET, `the viewer has ${statSync(page).size} bytes, more than ${BUDGET}`);
mkdirSync(folder, { recursive: true });

/** The columns of a CSV file by their titles. */
function readCsv(path) {
  const [head, ...lines] = readFileSync(path, "utf8").trim().split("\n");
  const titles = head.match(/("([^"]|"")*"|[^,]+)/g).map((title) => title.replace(/^"|"$/g, ""));
  const columns = new Map(titles.map((title) => [title, []]));
  for (const line of lines) line.split(",").forEach((value, i) => columns.get(titles[i]).push(Number(value)));
  return columns;
}

function interpolate(time, values, t) {
  let i = time.findIndex((one) => one > t);
  if (i < 0) return values[values.length - 1];
  i = Math.max(1, i);
  const w = (t - time[i - 1]) / (time[i] - time[i - 1]);
  return values[i - 1] + w * (values[i] - values[i - 1]);
}

const parse = (text) => Number(text.replace(/−/g, "-"));

const browser = await launch();

async function open(path, viewport, theme, ready = () => window.yoke !== undefined) {
  const context = await browser.newContext({ viewport, colorScheme: theme });
  const tab = await context.newPage();
  const problems = [];
  tab.on("console", (message) => isProblem(message) && problems.push(`console: ${message.text()}`));
  tab.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  tab.on("request", (request) => /^(file|data|blob):/.test(request.url()) || problems.push(`request: ${request.url()}`));
  const began = Date.now();
  await tab.goto(pathToFileURL(path).href);
  await tab.waitForFunction(ready, null, { timeout: 60000 });
  return { tab, problems, context, seconds: (Date.now() - began) / 1000 };
}

/** A run of a model and its report, with the same numbers as CSV. */
function makeReport({ model, name = model, sets }) {
  const base = join(folder, name);
  const overrides = sets.flatMap((set) => ["--set", set]);
  execFileSync(yoke, ["run", join(models, model, "scenario.yaml"), "--quiet", ...overrides, "-o", `${base}.h5`, "-o", `${base}.csv`], { stdio: ["ignore", "inherit", "inherit"] });
  execFileSync(yoke, ["report", `${base}.h5`, "-o", `${base}.html`], { stdio: ["ignore", "inherit", "inherit"] });
  return base;
}

async function testReport(test) {
  const base = makeReport(test);
  const { tab, problems, context, seconds } = await open(`${base}.html`, { width: 1440, height: 860 }, "light");
  console.log(`${test.model}: ${(statSync(`${base}.html`).size / 1e6).toFixed(2)} MB, open after ${seconds.toFixed(1)} s`);
  const clock = async () => parseFloat(await tab.locator(".clock").textContent());
  const from = await clock();

  // All of the model is in the view over the whole run, and not small in it.
  let largest = 0;
  for (const time of ["0", "350", "700", "1000"]) {
    await tab.locator('.transport input[type="range"]').fill(time);
    const [left, top, right, bottom] = await tab.evaluate(() => window.yoke.bounds());
    check(left >= 0 && top >= 0 && right <= 1 && bottom <= 1, `${test.model}: the model leaves the view at ${time} of 1000 of the run: ${[left, top, right, bottom]}`);
    largest = Math.max(largest, right - left, bottom - top);
  }
  check(largest > 0.4, `${test.model}: the model takes up ${largest} of the view at most`);
  await tab.locator('.transport input[type="range"]').fill("0");

  // Playing moves the time, and pausing stops it.
  await tab.keyboard.press("Space");
  await tab.waitForFunction((t) => parseFloat(document.querySelector(".clock").textContent) > t, from, { timeout: 20000 });
  await tab.locator(".play").click();
  const paused = await clock();
  await tab.waitForTimeout(300);
  check((await clock()) === paused, `${test.model}: it goes on playing after a pause`);

  // Scrubbing goes where the slider is.
  await tab.locator('.transport input[type="range"]').fill("500");
  const csv = readCsv(`${base}.csv`);
  const time = csv.get("time [s]");
  const middle = 0.5 * (time[0] + time[time.length - 1]);
  check(Math.abs((await clock()) - middle) < 0.02 * (time[time.length - 1] - time[0]), `${test.model}: scrubbing to the middle shows ${await clock()} s, not ${middle} s`);

  // A body is picked where it is drawn.
  const spot = await tab.evaluate(([subsystem, body]) => window.yoke.locate(subsystem, body), test.pick);
  check(spot !== null, `${test.model}: ${test.pick.join(".")} is not in the scene`);
  if (spot) {
    await tab.mouse.click(spot[0], spot[1]);
    const picked = tab.locator(".picked");
    check(await picked.isVisible(), `${test.model}: a click on ${test.pick.join(".")} picks nothing`);
    if (await picked.isVisible()) {
      const text = await picked.textContent();
      check(text.includes(test.expect ?? test.pick[1]), `${test.model}: a click on ${test.pick[1]} picks "${text}"`);
    }
  }

  // Where it is at another time it is picked before that is drawn.
  const moved = await tab.evaluate(([subsystem, body]) => {
    const slider = document.querySelector('.transport input[type="range"]');
    const middle = slider.value;
    const scrub = (value) => {
      slider.value = value;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    };
    scrub("0");
    const [clientX, clientY] = window.yoke.locate(subsystem, body);
    for (const type of ["pointerdown", "pointerup"]) document.querySelector("canvas").dispatchEvent(new PointerEvent(type, { clientX, clientY, pointerId: 1, bubbles: true }));
    const box = document.querySelector(".picked");
    const text = box.hidden ? "nothing" : box.textContent;
    scrub(middle);
    return text;
  }, test.pick);
  check(moved.includes(test.expect ?? test.pick[1]), `${test.model}: a click on ${test.pick[1]} before a picture of its time picks "${moved}"`);

  // The value at the time of the view is that of the file.
  await tab.getByRole("searchbox").fill(test.channel);
  await tab.locator(`.picker li[data-name="${test.channel}"]`).click();
  await tab.mouse.move(5, 5);
  const now = middle;
  const card = tab.locator(`.card[data-channel="${test.channel}"]`);
  const shown = parse(await card.locator(".legend .value").nth(test.component ?? 0).textContent());
  // Numbers are shown in a unit with a prefix.
  const unit = await card.locator("h3 .unit").textContent();
  const factor = unit.length > 1 ? ({ n: 1e-9, µ: 1e-6, m: 1e-3, k: 1e3, M: 1e6 }[/^[nµmkM](?=(m|N|Pa|J|W|s)($|[·/]))/.exec(unit)?.[0]] ?? 1) : 1;
  const expected = interpolate(time, csv.get(test.column), now) / factor;
  check(Math.abs(shown - expected) <= 1e-4 * Math.max(Math.abs(expected), test.scale / factor), `${test.model}: the plot shows ${shown}, the file has ${expected}`);

  await tab.screenshot({ path: `${base}-light.png` });
  for (const name of ["Trust", "Summary", "Scenario", "Plots"]) await tab.getByRole("tab", { name }).click();
  await tab.getByRole("tab", { name: "Trust" }).click();
  await tab.keyboard.press("t");
  await tab.waitForTimeout(200);
  await tab.screenshot({ path: `${base}-dark.png` });
  for (const problem of problems) check(false, `${test.model}: ${problem}`);
  await context.close();

  // A phone shows the same page without scrolling sideways.
  const phone = await open(`${base}.html`, { width: 390, height: 800 }, "light");
  const wide = await phone.tab.evaluate(() => document.documentElement.scrollWidth);
  check(wide <= 390, `${test.model}: the page is ${wide} pixels wide on a phone of 390`);
  await phone.tab.screenshot({ path: `${base}-phone.png` });
  for (const problem of phone.problems) check(false, `${test.model} on a phone: ${problem}`);
  await phone.context.close();
  return base;
}

try {
  const pendulum = await testReport({ model: "double-pendulum", sets: ["time.end=1"], pick: ["mechanism", "lower"], channel: "mechanism.lower.position", column: "mechanism.lower.position.y [m]", component: 1, scale: 1 });
  const damper = await testReport({ model: "particle-damper", sets: ["time.end=0.02"], pick: ["damper", "can"], channel: "damper.contact_count", column: "damper.contact_count [1]", scale: 1, expect: "particle" });
  await testReport({ model: "log-crane", sets: ["time.end=0.2"], pick: ["mechanism", "log"], channel: "mechanism.log.position", column: "mechanism.log.position.z [m]", component: 2, scale: 1 });

  // A mechanism that moves in x and y, with y up, is seen from its front; its other ends are found on other bodies too.
  const hanging = await open(`${pendulum}.html`, { width: 1440, height: 860 }, "light");
  const [inner, outer] = await hanging.tab.evaluate(() => [window.yoke.locate("mechanism", "upper"), window.yoke.locate("mechanism", "lower")]);
  check(outer[0] - inner[0] > 80, `the pendulum along x is ${outer[0] - inner[0]} pixels wide from rod to rod`);
  await hanging.context.close();
  await testReport({ model: "modal-cantilever", sets: [], pick: ["strip", "strip"], channel: "strip.strip.tip.position", column: "strip.strip.tip.position.y [m]", component: 1, scale: 1e-3 });

  // What is watched comes with every record: the same numbers as the channels and the summary have.
  const split = makeReport({ model: "split-pendulum", sets: ["time.end=0.5"] });
  const watched = await open(`${split}.html`, { width: 1440, height: 860 }, "light");
  const figures = await watched.tab.evaluate(() => {
    const run = window.yoke.report.runs[0];
    const last = (values) => values[values.length - 1];
    const recorded = (name) => last(run.channels.find((channel) => channel.name === name).columns[0]);
    return ["gap_position", "gap_rotation", "energy_created"].map((name) => [name, last(run.frames.monitor(`hinge.${name}`).columns[0]), recorded(`hinge.${name}`)]);
  });
  for (const [name, seen, recorded] of figures) check(Math.abs(seen - recorded) <= 1e-6 * Math.abs(recorded), `the frames have ${seen} for hinge.${name}, the channel ${recorded}`);
  await watched.tab.getByRole("tab", { name: "Trust" }).click();
  const indicators = await watched.tab.locator(".indicators tr").allTextContents();
  check(indicators.some((text) => text.includes("velocities") && text.includes("Warning above 5 %")), `the indicators have no limits: ${indicators}`);
  check((await watched.tab.locator(".indicators .spark").count()) >= 4, "the indicators have no curves");

  // A phase plot has both axes named; what is saved has units.
  await watched.tab.getByRole("tab", { name: "Plots" }).click();
  const gap = watched.tab.locator('.card[data-channel="hinge.gap_position"]');
  await gap.locator("select.mode").selectOption("phase");
  await gap.locator("select.against").selectOption({ label: "against hinge.gap_velocity" });
  const axes = await gap.locator("svg.phase text").allTextContents();
  check(axes.includes("hinge.gap_position [m]") && axes.includes("hinge.gap_velocity [m/s]"), `the phase plot has the texts ${axes}`);
  await watched.tab.screenshot({ path: `${split}-phase.png` });
  await gap.locator("select.mode").selectOption("time");
  for (const [kind, least] of [["CSV", 2000], ["PNG", 4000], ["SVG", 2000]]) {
    const saving = watched.tab.waitForEvent("download");
    await gap.getByRole("button", { name: kind, exact: true }).click();
    const saved = readFileSync(await (await saving).path());
    check(saved.length > least, `the ${kind} of a plot has ${saved.length} bytes`);
    if (kind !== "PNG") check(saved.toString().includes("[m]") && saved.toString().includes("t [s]"), `the ${kind} of a plot has no units`);
  }
  for (const problem of watched.problems) check(false, `split-pendulum: ${problem}`);
  await watched.context.close();

  // A run that flew apart says so, with its remedies, and shows the model where it began.
  const apart = join(folder, "apart");
  const flown = ["--set", "coupling.modified_inputs=none", "--set", "subsystems.lower.bodies.link.mass=20", "--set", "time.end=0.2"];
  const ended = spawnSync(yoke, ["run", join(models, "split-pendulum", "scenario.yaml"), "--quiet", ...flown, "-o", `${apart}.h5`]);
  check(ended.status === 1, `the run that flies apart ends with ${ended.status}`);
  execFileSync(yoke, ["report", `${apart}.h5`, "-o", `${apart}.html`], { stdio: ["ignore", "inherit", "inherit"] });
  const untrusted = await open(`${apart}.html`, { width: 1440, height: 860 }, "light");
  const [left, , right] = await untrusted.tab.evaluate(() => window.yoke.bounds());
  check(left >= 0 && right <= 1 && right - left > 0.3, `a model that flies apart takes up ${left} to ${right} of the view at its start`);
  check((await untrusted.tab.locator("header .verdict").textContent()) === "do not trust this run", "a run that flew apart is trusted");
  await untrusted.tab.locator("header .verdict").click();
  check((await untrusted.tab.locator(".finding.serious .command code").allTextContents()).some((text) => text.includes("--set coupling.exchange=force-force")), "no remedy as a command");
  check((await untrusted.tab.locator(".schematic .link.bad").count()) === 1, "the schematic does not mark the interface");

  // Limits come from the record, and each finding has its drawing: the ratio of masses next to the limit of the scheme.
  const [ratio, bears] = await untrusted.tab.evaluate(() => ["mass_ratio", "mass_ratio_limit"].map((name) => window.yoke.report.runs[0].summary.find((figure) => figure.name === `hinge.${name}`)?.value));
  const told = /stable up to (?:a mass ratio of )?(\d+\.\d+)/.exec(await untrusted.tab.locator(".finding").first().textContent())?.[1];
  check(ratio > bears && Math.abs(bears - Number(told)) < 0.01 * bears, `the record has a ratio of ${ratio} and a limit of ${bears}, the finding says ${told}`);
  check((await untrusted.tab.locator(".finding .scale-drawing title").first().textContent()).includes("the scheme is stable up to"), "the ratio of masses is not drawn beside its limit");
  for (const finding of await untrusted.tab.locator(".finding").all()) check((await finding.locator(".spark").count()) > 0, `a finding has no curve: ${await finding.textContent()}`);
  const rows = await untrusted.tab.locator(".indicators tr").allTextContents();
  check(rows.some((text) => /to reach 0.2 s/.test(text)) && rows.some((text) => /oscillates.*exceeds 5 %/.test(text)), `indicators without their limits: ${rows}`);
  await untrusted.tab.screenshot({ path: `${apart}.png` });
  for (const problem of untrusted.problems) check(false, `apart: ${problem}`);
  await untrusted.context.close();

  // A swing that grows is drawn with its limit, which stands in the record.
  const swinging = join(folder, "swinging");
  spawnSync(yoke, ["run", join(models, "split-pendulum", "scenario.yaml"), "--quiet", "--set", "coupling.modified_inputs=none", "--set", "subsystems.lower.bodies.link.mass=9", "--set", "time.end=0.5", "-o", `${swinging}.h5`]);
  execFileSync(yoke, ["report", `${swinging}.h5`, "-o", `${swinging}.html`], { stdio: ["ignore", "inherit", "inherit"] });
  const swings = await open(`${swinging}.html`, { width: 1440, height: 860 }, "dark");
  const ripple = swings.tab.locator(".finding", { hasText: "oscillate from step to step" });
  check((await ripple.locator(".spark .limit-line").count()) === 1 && (await ripple.locator(".spark title").textContent()).endsWith("limit 0.05"), "the swing of the wrench has no curve with its limit");
  for (const problem of swings.problems) check(false, `swinging: ${problem}`);
  await swings.context.close();

  // The forces of contacts are those of the run: under a stack they carry its weight, which the scale reads.
  const stack = makeReport({ model: "box-stack", sets: [] });
  const loaded = await open(`${stack}.html`, { width: 1200, height: 800 }, "light");
  await loaded.tab.locator('.transport input[type="range"]').fill("1000");
  const carried = (await loaded.tab.evaluate(() => window.yoke.contacts())).filter((contact) => Math.abs(contact[2]) < 1e-3).reduce((sum, contact) => sum + Math.abs(contact[8]), 0);
  const weight = Math.abs(readCsv(`${stack}.csv`).get("world.scale.force.z [N]").at(-1));
  check(weight > 9000 && Math.abs(carried - weight) < 1e-3 * weight, `the lowest contacts of the stack carry ${carried} N, the scale reads ${weight} N`);
  check(await loaded.tab.locator(".scale.contact").isVisible(), "the forces of contacts have no legend");
  await loaded.tab.screenshot({ path: `${stack}.png` });
  for (const problem of loaded.problems) check(false, `box-stack: ${problem}`);
  await loaded.context.close();

  // In a heap they are shown when they are asked for.
  const heap = await open(`${damper}.html`, { width: 1200, height: 800 }, "light");
  check((await heap.tab.evaluate(() => window.yoke.contacts().length)) === 0, "the contacts of many particles are shown unasked");
  await heap.tab.locator('.transport input[type="range"]').fill("500");
  await heap.tab.getByRole("button", { name: "contacts", exact: true }).click();
  await heap.tab.waitForFunction(() => window.yoke.contacts().length > 10, null, { timeout: 20000 });
  await heap.tab.screenshot({ path: `${damper}-contacts.png` });
  await heap.tab.getByRole("tab", { name: "Trust" }).click();
  const contactRows = heap.tab.locator(".indicators tr", { hasText: "contacts" });
  check((await contactRows.count()) === 2 && (await contactRows.locator(".spark").count()) === 2, "residual and unsolved steps of the contacts have no curves");
  const [unsolved, counted] = await heap.tab.evaluate(() => {
    const run = window.yoke.report.runs[0];
    return [run.frames.monitor("damper.unsolved_step_fraction").columns[0].at(-1), run.summary.find((figure) => figure.name === "damper.unsolved_step_fraction").value];
  });
  check(Math.abs(unsolved - counted) <= 1e-6 * counted, `the frames end with ${unsolved} unsolved steps, the summary has ${counted}`);
  for (const problem of heap.problems) check(false, `contacts of particles: ${problem}`);
  await heap.context.close();

  // Tables of the analyses become maps, curves and shapes.
  const analyses = [
    { name: "map", command: ["stability", "--scheme", "explicit", "--modified-inputs", "index-1", "--map", "rho-inf=0:1:5", "--map", "mass-ratio=1e-2:1e2:5:log"], charts: 1 },
    { name: "convergence", command: ["convergence", join(models, "two-mass-oscillator", "scenario.yaml"), "--schemes", "explicit,tight", "--steps", "2e-3,1e-3", "--set", "time.end=0.05"], charts: 3 },
    { name: "modes", command: ["modes", join(models, "cantilever", "scenario.yaml"), "--count", "2"], charts: 2 },
    { name: "sweep", command: ["sweep", join(models, "two-mass-oscillator", "scenario.yaml"), "--set", "time.end=0.05", "--vary", "parameters.right_mass=0.5,1", "--vary", "time.step=1e-4:1e-3:3", "--measure", "max(left.mass.position)"], charts: 1 },
  ];
  for (const { name, command, charts } of analyses) {
    const table = join(folder, `${name}.csv`);
    const page = join(folder, `${name}.html`);
    execFileSync(yoke, [...command, "-o", table], { stdio: ["ignore", "ignore", "inherit"] });
    execFileSync(yoke, ["report", table, "-o", page], { stdio: ["ignore", "inherit", "inherit"] });
    const { tab, problems, context } = await open(page, { width: 1300, height: 820 }, "light", () => document.querySelector(".chart") !== null);
    check((await tab.locator(".chart").count()) === charts, `${name}: ${await tab.locator(".chart").count()} pictures, not ${charts}`);
    if (name === "map") {
      const numbers = readCsv(table);
      check((await tab.locator(".chart .cells rect").count()) === numbers.get("stable").length, "the map does not have a cell for every row");
      await tab.locator(".chart .cells rect").last().hover();
      const says = await tab.locator(".chart-note").textContent();
      const radius = parse(/spectral radius (\S+),/.exec(says)?.[1] ?? "");
      const last = numbers.get("spectral_radius").at(-1);
      check(Math.abs(radius - last) <= 1e-6 * last, `the map says "${says}", the table ${last}`);
    }
    if (name === "sweep") {
      const axes = await tab.locator(".chart text").allTextContents();
      check(axes.includes("time.step [s]") && axes.includes("max(left.mass.position) [m]"), `the axes of the sweep are ${axes}`);
      check((await tab.locator(".legend .entry").allTextContents()).join() === "right_mass 0.5 kg,right_mass 1 kg", "the curves of the sweep are not named with their units");
    }
    await tab.screenshot({ path: join(folder, `${name}.png`) });
    for (const problem of problems) check(false, `${name}: ${problem}`);
    await context.close();
  }

  // Two runs lie over each other, and their difference can be drawn.
  const other = makeReport({ model: "double-pendulum", name: "coarse", sets: ["time.end=1", "time.step=2e-3"] });
  const both = join(folder, "both.html");
  execFileSync(yoke, ["report", `${pendulum}.h5`, `${other}.h5`, "-o", both], { stdio: ["ignore", "inherit", "inherit"] });
  const { tab, problems, context } = await open(both, { width: 1440, height: 860 }, "light");
  const card = tab.locator(".card.plot").first();
  await card.locator("select.mode").selectOption("difference");
  check((await card.locator(".legend").textContent()).includes("−"), "the legend does not name the difference");
  await tab.screenshot({ path: join(folder, "both-light.png") });

  // The run as a video: a file that plays from start to end, and in which one can jump.
  await tab.locator(".transport select").selectOption("1");
  const [download] = await Promise.all([tab.waitForEvent("download", { timeout: 120000 }), tab.getByRole("button", { name: "video" }).click()]);
  const film = readFileSync(await download.path()).toString("base64");
  check(/\.webm$/.test(download.suggestedFilename()), `the video is named ${download.suggestedFilename()}`);
  const [duration, wide, middle] = await tab.evaluate(async (bytes) => {
    const video = document.createElement("video");
    video.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], { type: "video/webm" }));
    const event = (name) => new Promise((done, fail) => ((video.onerror = () => fail(new Error("the video cannot be played"))), (video[`on${name}`] = done)));
    await event("loadeddata");
    video.currentTime = video.duration / 2;
    await event("seeked");
    return [video.duration, video.videoWidth, video.currentTime];
  }, film);
  // In the pixels of the canvas, of which a model at rest may have more than one per pixel of the page.
  const shown = await tab.evaluate(() => document.querySelector(".stage canvas").clientWidth);
  check(Math.abs(duration - 31 / 30) < 0.002, `a run of 1 s is a video of ${duration} s`);
  check(Math.abs(middle - duration / 2) < 0.05, `jumping to the middle leads to ${middle} s`);
  check(wide >= shown - 1 && wide <= 3 * shown, `the video is ${wide} wide, the model ${shown}`);
  for (const problem of problems) check(false, `two runs: ${problem}`);
  await context.close();
} finally {
  await browser.close();
}

finish("all reports are as they should be");
