// Pictures of every kind of page of a run's report, wide and light, narrow and dark.
// usage: CHROMIUM=.. BROWSER_PACKAGES=build/release/browser node tests/browser/screenshots.mjs RUN/report FOLDER
import { mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { launch, watchedPage } from "./browser.mjs";

const [report, folder] = process.argv.slice(2).map((path) => resolve(path));
const looks = [["wide", { viewport: { width: 1100, height: 800 }, colorScheme: "light" }], ["narrow", { viewport: { width: 390, height: 800 }, colorScheme: "dark" }]];
const all = readdirSync(report, { recursive: true }).filter((name) => name.endsWith(".html")).sort();
const first = (start) => all.find((name) => name.startsWith(start));
const pages = { run: "index.html", items: "items.html", rejected: "rejected.html", environment: "environment.html", methods: "methods.html", variant: first("v/"), model: first("m/"), level: first("l/"), problem: first("p/"), trajectory: process.env.ITEM ?? first("t/") };

mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const [look, options] of looks) {
  for (const [kind, name] of Object.entries(pages)) {
    if (!name) continue;
    const { page, close } = await watchedPage(browser, "file:", options);
    await page.goto(`file://${report}/${name.replaceAll("%", "%25")}`);
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(folder, `report_${kind}_${look}.png`) });
    await close();
  }
}
await browser.close();
