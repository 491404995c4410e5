// Pictures of every kind of page of a run's report, wide and light, narrow and dark, and of the figures of its first page.
// usage: CHROMIUM=.. BROWSER_PACKAGES=build/release/browser node tests/browser/screenshots.mjs RUN/report FOLDER
// ITEM names the trajectory's page, LOOKS=all takes each page in light and dark, wide and narrow.
import { mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { launch, watchedPage } from "./browser.mjs";

const [report, folder] = process.argv.slice(2).map((path) => resolve(path));
const wide = { viewport: { width: 1100, height: 800 } };
const narrow = { viewport: { width: 390, height: 800 } };
const looks = process.env.LOOKS === "all"
  ? Object.entries({ wide, narrow }).flatMap(([name, size]) => ["light", "dark"].map((colorScheme) => [`${name}_${colorScheme}`, { ...size, colorScheme }]))
  : [["wide", { ...wide, colorScheme: "light" }], ["narrow", { ...narrow, colorScheme: "dark" }]];
const all = readdirSync(report, { recursive: true }).filter((name) => name.endsWith(".html")).sort();
const first = (start) => all.find((name) => name.startsWith(start));
const pages = {
  run: "index.html", items: "items.html", rejected: "rejected.html", environment: "environment.html", methods: "methods.html", cite: "cite.html",
  variant: first("v/"), model: first("m/"), level: first("l/"), problem: first("p/"), trajectory: process.env.ITEM ?? first("t/"),
};

mkdirSync(folder, { recursive: true });
const browser = await launch();
async function open(name, options, use) {
  const { page, close } = await watchedPage(browser, "file:", options);
  await page.goto(`file://${report}/${name.replaceAll("%", "%25")}`);
  await page.waitForTimeout(300);
  await use(page);
  await close();
}
for (const [look, options] of looks) {
  for (const [kind, name] of Object.entries(pages)) {
    if (name && all.includes(name)) await open(name, options, (page) => page.screenshot({ path: join(folder, `report_${kind}_${look}.png`) }));
  }
}
await open("index.html", { ...wide, colorScheme: "light" }, async (page) => {
  for (const id of await page.$$eval("figure.chart[id]", (figures) => figures.map((figure) => figure.id))) {
    await page.locator(`#${id}`).scrollIntoViewIfNeeded();
    if (await page.$(`#${id} svg`)) await page.locator(`#${id}`).screenshot({ path: join(folder, `report_${id.replace("fig-", "figure_")}.png`) });
  }
});
await browser.close();
