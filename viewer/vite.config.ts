import { defineConfig, Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

/** The shaders of three.js are texts, which no minifier looks into: indentation and empty lines are left out. */
const plainShaders: Plugin = {
  name: "plain-shaders",
  enforce: "pre",
  transform: (code, id) => (/three\.module\.js/.test(id) ? code.replace(/\\n(\\n|\\t| )+/g, "\\n") : null),
};

// One HTML file without a single request: scripts and styles are inlined.
export default defineConfig({
  plugins: [plainShaders, viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: "es2020", modulePreload: false, reportCompressedSize: false },
});
