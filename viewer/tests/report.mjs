// Opens real reports in a headless browser, as their readers do: plays, scrubs, picks a body, reads a value off a plot and
// compares it with the file; and looks for errors on the console and for requests to a network.
//
// usage: node tests/report.mjs YOKE PAGE MODELS FOLDER    FOLDER keeps the reports and screenshots
//
// Exit code 77 where there is no Chromium or no viewer: the test is skipped.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { check, findBrowser, finish } from "./browser.mjs";

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
  tab.on("console", (message) => message.type() === "error" && problems.push(`console: ${message.text()}`));
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
  const expected = interpolate(time, csv.get(test.column), now);
  check(Math.abs(shown - expected) <= 1e-4 * Math.max(Math.abs(expected), test.scale), `${test.model}: the plot shows ${shown}, the file has ${expected}`);

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
  const pendulum = await testReport({ model: "double-pendulum", sets: ["time.end=1"], pick: ["mechanism", "lower"], channel: "mechanism.lower.position", column: "mechanism.lower.position:y [m]", component: 1, scale: 1 });
  const damper = await testReport({ model: "particle-damper", sets: ["time.end=0.02"], pick: ["damper", "can"], channel: "damper.contacts", column: "damper.contacts [1]", scale: 1, expect: "particle" });
  await testReport({ model: "log-crane", sets: ["time.end=0.2"], pick: ["mechanism", "log"], channel: "mechanism.log.position", column: "mechanism.log.position:z [m]", component: 2, scale: 1 });

  // The forces of contacts are those of the run: under a stack they carry its weight, which the scale reads.
  const stack = makeReport({ model: "box-stack", sets: [] });
  const loaded = await open(`${stack}.html`, { width: 1200, height: 800 }, "light");
  await loaded.tab.locator('.transport input[type="range"]').fill("1000");
  const carried = (await loaded.tab.evaluate(() => window.yoke.contacts())).filter((contact) => Math.abs(contact[2]) < 1e-3).reduce((sum, contact) => sum + Math.abs(contact[8]), 0);
  const weight = Math.abs(readCsv(`${stack}.csv`).get("world.scale.force:z [N]").at(-1));
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
  for (const problem of heap.problems) check(false, `contacts of particles: ${problem}`);
  await heap.context.close();

  // Tables of the analyses become maps, curves and shapes.
  const analyses = [
    { name: "map", command: ["stability", "--scheme", "explicit", "--inputs", "index-1", "--map", "rho-inf=0:1:5", "--map", "mass-ratio=1e-2:1e2:5:log"], charts: 1 },
    { name: "convergence", command: ["converge", join(models, "two-mass-oscillator", "scenario.yaml"), "--schemes", "explicit,tight", "--steps", "2e-3,1e-3", "--set", "time.end=0.05"], charts: 3 },
    { name: "modes", command: ["modes", join(models, "cantilever", "scenario.yaml"), "--count", "2"], charts: 2 },
    { name: "sweep", command: ["sweep", join(models, "two-mass-oscillator", "scenario.yaml"), "--set", "time.end=0.05", "--vary", "time.step=1e-4:1e-3:3", "--measure", "max(left.mass.position)"], charts: 1 },
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
  for (const problem of problems) check(false, `two runs: ${problem}`);
  await context.close();
} finally {
  await browser.close();
}

finish("all reports are as they should be");
