// Opens a page that compares captures, moves in one of its timelines, and searches its icicle. Prints what it saw as JSON.
//
//     node steps.cjs BROWSER EXECUTABLE REPORT.html
const { accessibility, driven, opened, settled, watched } = require("./driver.cjs");

const [kind, executablePath, report] = process.argv.slice(2);

const ranges = (page) => page.$$eval(".tz-range", (found) => found.map((each) => each.textContent));

driven(kind, executablePath, async (browser) => {
  const seen = { errors: [], accessibility: [] };
  const page = await watched(browser, seen.errors);
  if (kind === "chrome") await page.setBypassCSP(true);
  seen.form = await opened(page, report);
  await settled(page);
  seen.sums = await page.$$eval("table[id$=-sums]", (tables) => tables.map((table) => Number(table.dataset.ns)));
  seen.labels = await page.$$eval(".tz-lanes", (found) => found.map((each) => each.getAttribute("aria-label")));
  [seen.whole] = await ranges(page);
  await (await page.$$(".tz-lanes"))[1].focus();
  for (const key of ["w", "w", "d"]) await page.keyboard.press(key);
  await settled(page);
  seen.ranges = await ranges(page);
  await page.click(".tz-bar button[aria-expanded]");
  const grey = () => page.$$eval(".tz-icicle button", (boxes) => boxes.map((box) => getComputedStyle(box).filter));
  seen.grey = await grey();
  await page.focus(".tz-icicle input");
  await page.keyboard.type("sleep");
  await settled(page);
  seen.icicle = await page.$eval(".tz-icicle-hits", (hits) => Number.parseInt(hits.textContent, 10));
  seen.greyOfSearch = await grey();
  if (kind === "chrome") seen.accessibility = await accessibility(page);
  return seen;
});
