import { defineConfig, Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

/** Parts of the shaders of the viewer's materials (basic, Lambert, and its own); all others belong to features that it does not use. */
const CHUNKS =
  /^(begin_vertex|beginnormal_vertex|bsdfs|clipping_planes_\w+|color_\w+|common|defaultnormal_vertex|colorspace_\w+|default_\w+|lights_lambert_\w+|lights_pars_begin|lights_fragment_(begin|end)|normal_fragment_begin|normal_pars_\w+|normal_vertex|opaque_fragment|project_vertex|specularmap_fragment|mesh(basic|lambert)_\w+)$/;

/** Parts of the renderer that nothing here turns on, as far as it calls them. */
const UNUSED: [string, string][] = [
  ["class WebXRManager extends EventDispatcher", "enabled = false; isPresenting = false; getEnvironmentBlendMode() {} setAnimationLoop() {} dispose() {}"],
  ["class PMREMGenerator", ""],
  ["class CubeCamera extends Object3D", ""],
  ["function WebGLShadowMap( renderer, objects, capabilities )", "this.enabled = false; this.render = () => {};"],
];

/** three.js without what the viewer does not draw with. Its shaders are texts, which no minifier looks into: indentation and empty lines are left out. */
function trim(code: string): string {
  for (const [head, body] of UNUSED) {
    const from = code.indexOf(`\n${head} {`) + 1;
    const to = code.indexOf("\n}\n", from);
    if (from === 0 || to < 0) throw new Error(`three.js has no "${head}" any more: see vite.config.ts`);
    code = `${code.slice(0, from)}${head} {${body}}${code.slice(to + 2)}`;
  }
  const chunks = code.replace(/\nconst ShaderChunk = \{[^}]*\};/, (table) => table.replace(/^\t(\w+): [\w$]+/gm, (entry, name) => (CHUNKS.test(name) ? entry : `\t${name}: ""`)));
  if (chunks === code) throw new Error("three.js has no table of shaders any more: see vite.config.ts");
  return chunks.replace(/\\n(\\n|\\t| )+/g, "\\n");
}

const trimThree: Plugin = {
  name: "trim-three",
  enforce: "pre",
  transform: (code, id) => (/three\.module\.js/.test(id) ? trim(code) : null),
};

// One HTML file without a single request: scripts and styles are inlined.
export default defineConfig({
  plugins: [trimThree, viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: "es2020", modulePreload: false, reportCompressedSize: false },
});
