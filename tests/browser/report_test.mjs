// The report as a reader's browser shows it, from disk and from the live server. Run by tests/e2e/browser_test.cpp.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { axePath, launch, served, sweep, watchedPage } from "./browser.mjs";
import { makeRun } from "./run.mjs";

const folder = mkdtempSync(join(tmpdir(), "sweep-browser-"));
const run = join(folder, "run");
const items = makeRun(run);
const normal = items[0];
const evil = items.at(-1);
const kinds = ["index.html", "items.html", "rejected.html", "environment.html", "methods.html", "m/alpha.html", "p/level1%252F3.html", normal, evil];
let browser;
let base;

before(async () => {
  const { stdout, stderr } = sweep("report", run);
  assert.match(stdout, /index\.html/);
  assert.match(stderr, /delta\/level_1_problem_3_trajectory\.json: not JSON/, "the one that cannot be read is named");
  base = `file://${run}/report`;
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const everyPage = () => readdirSync(join(run, "report"), { recursive: true }).filter((name) => name.endsWith(".html")).map((name) => name.replaceAll("%", "%25"));

// Opens a page, uses it, and holds it to its promises.
async function onPage(name, use, options, from = base) {
  const { page, faults, close } = await watchedPage(browser, from, options);
  await page.goto(`${from}/${name}`);
  await use(page);
  assert.equal(await page.evaluate("window.broken"), undefined, `${name} ran a model's script`);
  assert.deepEqual(faults, [], name);
  await close();
}

const visibleRows = (page, table) => page.$$eval(`#${table} tbody tr`, (rows) => rows.filter((row) => !row.hidden).map((row) => row.textContent));

// The page is no wider than the window: what is wide scrolls in its own box.
const fits = async (page, name) => {
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(wide <= room, `${name} is ${wide} wide in a window of ${room}`);
};

// waitForFunction() would evaluate text in the page, which its policy forbids.
async function until(page, holds) {
  for (let i = 0; i < 600; ++i) {
    if (await page.evaluate(holds)) return;
    await page.waitForTimeout(100);
  }
  assert.fail(`never: ${holds}`);
}

test("every page opens from disk without a request, a complaint or a break, wide and narrow, light and dark", async () => {
  const narrow = { viewport: { width: 390, height: 800 }, colorScheme: "dark" };
  for (const name of everyPage()) await onPage(name, (page) => fits(page, name));
  for (const name of kinds) await onPage(name, (page) => fits(page, name), narrow);
});

test("axe finds no fault on any kind of page", async () => {
  const axe = readFileSync(axePath, "utf8");
  for (const [colorScheme, names] of [["light", kinds], ["dark", ["index.html", normal]]]) {
    for (const name of names) {
      await onPage(name, async (page) => {
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"], preload: false }));
        assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 150)).join(" | ")}`), [], `${name}, ${colorScheme}`);
      }, { colorScheme });
    }
  }
});

test("links lead from the run to a model, a problem and a trajectory, and back", async () => {
  await onPage("index.html", async (page) => {
    await page.click("#outcomes thead a >> text=alpha");
    await page.waitForURL(/m\/alpha\.html$/);
    await page.click("#items tbody th a >> nth=0");
    await page.waitForURL(/t\/custom\/alpha\//);
    assert.match(await page.textContent("h1"), /^level1\/3 /);
    await page.click("header nav >> text=level1/3");
    await page.waitForURL(/p\/level1%252F3\.html$/);
    await page.click("header .brand");
    await page.waitForURL(/index\.html$/);
    for (const [word, file] of [["all items", "items"], ["rejected", "rejected"], ["environment", "environment"], ["how to read this", "methods"]]) {
      await page.click(`header nav >> text=${word}`);
      await page.waitForURL(`**/${file}.html`);
      assert.equal(await page.textContent("nav [aria-current=page]"), word);
    }
  });
});

test("tables sort by a column both ways, with the keyboard too, and keep the order after a reload", async () => {
  await onPage("items.html", async (page) => {
    const models = () => page.$$eval("#items tbody tr", (rows) => rows.map((row) => row.cells[1].textContent));
    await page.click("#items th[data-key=model] button");
    const up = await models();
    assert.deepEqual(up, [...up].sort());
    await page.focus("#items th[data-key=model] button");
    await page.keyboard.press("Enter");
    assert.deepEqual(await models(), [...up].sort().reverse());
    assert.equal(await page.getAttribute("#items th[data-key=model]", "aria-sort"), "descending");
    await page.click("#items th[data-key=speedup] button");
    const speeds = await page.$$eval("#items tbody tr", (rows) => rows.map((row) => parseFloat(row.querySelectorAll("td.num")[0].textContent)));
    const timed = speeds.filter((speed) => !Number.isNaN(speed));
    assert.deepEqual(timed, [...timed].sort((a, b) => a - b));
    assert.deepEqual(speeds.slice(0, timed.length), timed, "cells without a value come last");
    await page.reload();
    assert.equal(await page.getAttribute("#items th[data-key=speedup]", "aria-sort"), "ascending");
  });
});

test("filters by model, level, outcome and words narrow the items, say how many, and stay after a reload", async () => {
  await onPage("items.html", async (page) => {
    const all = (await visibleRows(page, "items")).length;
    assert.equal(all, items.length);
    await page.selectOption(".filters label:has-text('model') select", "alpha");
    assert.equal((await visibleRows(page, "items")).length, 4);
    await page.selectOption(".filters label:has-text('level') select", "sci");
    assert.equal((await visibleRows(page, "items")).length, 1);
    assert.equal(await page.textContent(".filters [role=status]"), `1 of ${all} rows`);
    await page.reload();
    assert.equal((await visibleRows(page, "items")).length, 1);
    await page.click(".filters >> text=Show all");
    assert.equal((await visibleRows(page, "items")).length, all);
    await page.fill(".filters input", "beta heat2d");
    assert.equal((await visibleRows(page, "items")).length, 1);
    await page.fill(".filters input", "");
    await page.selectOption(".filters label:has-text('outcome') select", "rejected");
    for (const row of await visibleRows(page, "items")) assert.match(row, /rejected/);
  });
});

test("a trajectory folds what went well, opens failures, colours code, shows the difference and draws its figures", async () => {
  await onPage(normal, async (page) => {
    const open = (id) => page.$eval(`#${id}`, (node) => node.open);
    assert.equal(await open("turn-1-reasoning"), false);
    assert.equal(await open("turn-1-call-1-result"), true, "a failed result is open");
    await page.click("#turn-1-reasoning summary");
    assert.equal(await open("turn-1-reasoning"), true);
    assert.ok(await page.$("#submitted [class^='hljs-']"), "code is coloured");
    const added = await page.$$eval("#turn-2-call-1-diff .add", (lines) => lines.map((line) => line.textContent));
    assert.ok(added.some((line) => line.includes("version 2")), added.join("\n"));
    for (const figure of ["fig-blocks", "fig-timeline", "fig-turn-tokens"]) {
      await page.locator(`#${figure}`).scrollIntoViewIfNeeded();
      await page.waitForSelector(`#${figure} svg`);
    }
    await page.evaluate(() => scrollTo(0, 0));
    await page.keyboard.press("j");
    await until(page, () => Math.abs(document.querySelector("#turn-1").getBoundingClientRect().top) < 9);
    await page.keyboard.press("k");
    await until(page, () => Math.abs(document.querySelector("#turn-1").getBoundingClientRect().top) < 9);
    await page.click("nav.contents >> text=evidence");
    assert.match(page.url(), /#evidence$/);
  });
});

test("hostile texts stand as text, cut, with what cannot be seen made visible", async () => {
  await onPage(evil, async (page) => {
    const words = await page.evaluate(() => document.body.textContent);
    for (const mark of ["‹U+202E›", "‹U+2066›", "‹U+001B›", "‹U+0000›", "‹U+200B›", "‹U+FEFF›"]) assert.ok(words.includes(mark), mark);
    assert.ok(!/[\u202a-\u202e\u2066-\u2069\u200b]/.test(words));
    assert.ok(words.includes("<script>window.broken = 1</script>"));
    assert.match(words, /of 5\.00 MiB are shown/);
    assert.equal(await page.$$eval("main img, main iframe, main script:not([type='application/json'])", (all) => all.length), 0);
    const size = (await page.content()).length;
    assert.ok(size < 3e6, `${size} bytes`);
  });
});

test("every figure of the run's page is drawn and can be saved", async () => {
  await onPage("index.html", async (page) => {
    const figures = await page.$$eval("figure.chart[id]", (all) => all.map((figure) => figure.id));
    let saved = 0;
    for (const figure of figures) {
      const holder = page.locator(`#${figure}`);
      await holder.scrollIntoViewIfNeeded();
      if ((await holder.locator("script").count()) === 0) continue;
      await page.waitForSelector(`#${figure} svg`);
      for (const kind of ["SVG", "CSV"]) {
        const button = holder.locator(`button:text-is("${kind}")`);
        if ((await button.count()) === 0) continue;
        // Chromium drops what goes beyond ten downloads a second.
        if (++saved % 8 === 0) await page.waitForTimeout(1200);
        const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
        const text = readFileSync(await download.path(), "utf8");
        assert.match(text, kind === "SVG" ? /^(<\?xml[^>]*>\s*)?<svg[\s\S]*<\/svg>\s*$/ : /,/, `${figure} ${kind}`);
      }
    }
    assert.ok(saved >= 20, `${saved} files saved`);
  });
});

test("a page has its landmarks, a way past the head, and prints all of it", async () => {
  await onPage(normal, async (page) => {
    for (const landmark of ["header", "nav[aria-label]", "main#main", "footer"]) assert.ok(await page.$(landmark), landmark);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.isVisible("nav.contents"), false);
    assert.equal(await page.isVisible(".copy-button"), false);
    assert.ok((await page.pdf()).length > 10000);
  });
});

test("without script a page has all its texts and tables", async () => {
  await onPage(normal, async (page) => {
    assert.ok(await page.isVisible("#timings"));
    await page.click("#turn-1-reasoning summary");
    assert.ok(await page.isVisible("#turn-1-reasoning pre"));
  }, { javaScriptEnabled: false });
});

test("the live server's pages are the same, and keep what the reader opened when they change", async () => {
  await served(run, async (address) => {
    for (const name of ["index.html", "items.html", normal, evil]) await onPage(name, (page) => page.waitForSelector("h1"), {}, address);
    await onPage("items.html", async (page) => {
      await page.selectOption(".filters label:has-text('model') select", "alpha");
      await page.click("#items th[data-key=model] button");
      // Each poll is told as one that failed when it was answered with "not modified".
      for (let polls = 0; polls < 2; ++polls) {
        await Promise.race(["requestfinished", "requestfailed"].map((event) => page.waitForEvent(event, (request) => request.resourceType() === "fetch")));
      }
      assert.equal((await visibleRows(page, "items")).length, 4);
      assert.equal(await page.isVisible("#live"), false, "each poll was answered");
    }, {}, address);
  });
});
