// The browser, the report that it opens, and what a page must never do.
import { spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { once } from "node:events";

// The packages stand in the build folder, not beside these files.
const require = createRequire(`${process.env.BROWSER_PACKAGES}/package.json`);
export const { chromium } = require("playwright-core");
export const axePath = require.resolve("axe-core/axe.min.js");

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });

export const sweep = (...args) => spawnSync(process.env.SWEEP, args, { encoding: "utf8" });

// Serves the run's report as a sweep does, and calls use(address) meanwhile.
export async function served(run, use) {
  // The next free one of twenty is taken.
  const port = String(20000 + (process.pid % 20000));
  const child = spawn(process.env.SWEEP, ["__web", run, "127.0.0.1", port, "1", "3"], { stdio: ["ignore", "ignore", "inherit", "pipe"] });
  try {
    const [line] = await once(child.stdio[3], "data");
    await use(`http://127.0.0.1:${Number(line)}`);
  } finally {
    child.stdio[3].destroy();
    if (child.exitCode === null) await once(child, "exit");
  }
}

// A page that remembers every request that leaves its place, and every complaint.
export async function watchedPage(browser, base, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options });
  context.setDefaultTimeout(60000);
  const page = await context.newPage();
  const faults = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(base) && !/^(data|blob):/.test(request.url())) faults.push(`request of ${request.url()}`);
  });
  // A poll that is answered with "not modified" is told as one that was broken off.
  page.on("requestfailed", (request) => {
    if (!(request.resourceType() === "fetch" && request.url() === page.url())) faults.push(`failed: ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) faults.push(`${response.status()}: ${response.url()}`);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => faults.push(`dialog: ${dialog.message()}`));
  return { page, faults, close: () => context.close() };
}
