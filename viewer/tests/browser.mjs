// What the tests in a headless browser share: Chromium, or the reason to skip, and checks that are counted.

import { existsSync, statSync } from "node:fs";

const paths = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Ends the test as skipped; where the viewer is required, as in CI, as failed. */
export function skip(reason) {
  if (process.env.YOKE_VIEWER === "required") {
    console.error(`FAILED: ${reason}, and YOKE_VIEWER=required`);
    process.exit(1);
  }
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

/** A function that starts the browser, which draws in software; skips where there is none, or no viewer at `page`. */
export async function findBrowser(page) {
  const executablePath = paths.find(existsSync);
  if (!executablePath) skip("Chromium is not installed");
  if (!existsSync(page) || statSync(page).size === 0) skip("the program was built without the viewer");
  const { chromium } = await import("playwright-core").catch(() => skip("playwright-core is not installed"));
  const args = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
  return () => chromium.launch({ executablePath, args });
}

/** Whether a message of the console is one of something that went wrong; shaders that do not compile are warnings of WebGL. */
export function isProblem(message) {
  return message.type() === "error" || /WebGL: INVALID/.test(message.text());
}

let failures = 0;

export function check(condition, text) {
  if (condition) return;
  failures++;
  console.error(`FAILED: ${text}`);
}

/** Ends the test with what the checks gave. */
export function finish(good) {
  console.log(failures === 0 ? good : `${failures} failed`);
  process.exit(failures === 0 ? 0 : 1);
}
