// The model of a report in motion, as pictures: frame-000.png and so on in FOLDER. scripts/gallery makes moving pictures of them.
// Where there is nothing to be seen in 3D it is the first plot, in which the time goes on.
//
// usage: node film.mjs REPORT FOLDER [COUNT [WIDTH HEIGHT]]
//
// Exit code 77 where there is no Chromium or no report.

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { findBrowser } from "./tests/browser.mjs";

const [report, folder, count = "48", width = "320", height = "240"] = process.argv.slice(2);
const launch = await findBrowser(report);
const browser = await launch();
try {
  const tab = await browser.newPage({ colorScheme: "light", viewport: { width: Number(width) + 24, height: 2 * Number(height) } });
  await tab.goto(pathToFileURL(resolve(report)).href, { timeout: 120000 });
  await tab.waitForFunction(() => window.yoke !== undefined, null, { timeout: 120000 });
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < Number(count); i++) {
    const shot = await tab.evaluate(([part, w, h]) => window.yoke.picture(part, w, h), [i / (Number(count) - 1), Number(width), Number(height)]);
    const seen = shot === null ? await tab.locator(".card.plot").first().screenshot() : Buffer.from(shot.replace(/^.*,/, ""), "base64");
    writeFileSync(join(folder, `frame-${String(i).padStart(3, "0")}.png`), seen);
  }
} catch (error) {
  console.error(`film: ${report}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
