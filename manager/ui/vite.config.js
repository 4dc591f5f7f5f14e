// Builds the page into target/ui, where manager/build.rs finds it. Each file also gets a compressed form beside it.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig } from "vite";
import { checked } from "./sizes.js";

const folder = join(import.meta.dirname, "../../target/ui");

function compressed() {
  return {
    name: "compressed",
    apply: "build",
    closeBundle() {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        if (entry.isFile() && !path.endsWith(".gz")) {
          writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
        }
      }
      console.log(checked(folder).join("\n"));
    },
  };
}

export default defineConfig({
  base: "/ui/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: folder,
    emptyOutDir: true,
    // The policy of the page forbids inline styles and data that runs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  plugins: [compressed()],
  server: { proxy: { "^/(?!ui/)": "http://127.0.0.1:8080" } },
  test: { environment: "happy-dom" },
});
