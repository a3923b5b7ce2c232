// Opens a page that compares captures, moves in one of its timelines, and searches its icicle. Prints what it saw as JSON.
//
//     node steps.cjs BROWSER EXECUTABLE REPORT.html
const { driven } = require("./driver.cjs");

const [kind, executablePath, report] = process.argv.slice(2);

const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const ranges = (page) => page.$$eval(".tz-range", (found) => found.map((each) => each.textContent));

driven(kind, executablePath, async (browser) => {
  const seen = { errors: [], accessibility: [] };
  const page = await browser.newPage();
  page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  // Only Chromium lets a test add a script to a page with a policy.
  if (kind === "chrome") await page.setBypassCSP(true);
  await page.setViewport({ width: 1280, height: 720 });
  await page.goto(`file://${report}`);
  await page.waitForFunction("document.documentElement.dataset.tz", { timeout: 20000 });
  seen.form = await page.evaluate(() => document.documentElement.dataset.tz);
  await settled(page);
  seen.sums = await page.$$eval("table[id$=-sums]", (tables) => tables.map((table) => Number(table.dataset.ns)));
  [seen.whole] = await ranges(page);
  await (await page.$$(".tz-lanes"))[1].focus();
  for (const key of ["w", "w", "d"]) await page.keyboard.press(key);
  await settled(page);
  seen.ranges = await ranges(page);
  await page.click(".tz-bar button[aria-expanded]");
  await page.focus(".tz-icicle input");
  await page.keyboard.type("sleep");
  await settled(page);
  seen.icicle = await page.$eval(".tz-icicle-hits", (hits) => Number.parseInt(hits.textContent, 10));
  if (kind === "chrome") {
    await page.addScriptTag({ path: require.resolve("axe-core/axe.min.js") });
    seen.accessibility = await page.evaluate(() => axe.run().then((result) => result.violations.map((each) => each.id)));
  }
  return seen;
});
