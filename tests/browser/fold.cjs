// How far down the timelines of a page reach, in windows of several sizes. Prints what it saw as JSON.
//
//     node fold.cjs BROWSER EXECUTABLE REPORT.html
const { driven, opened, settled, watched } = require("./driver.cjs");

const [kind, executablePath, report] = process.argv.slice(2);
const SIZES = [
  [1440, 900],
  [1280, 720],
];

driven(kind, executablePath, async (browser) => {
  const seen = { errors: [], sizes: [] };
  for (const [width, height] of SIZES) {
    const page = await watched(browser, seen.errors, { width, height, deviceScaleFactor: 1 });
    await page.bringToFront();
    await opened(page, report);
    await settled(page);
    const places = await page.$$eval(".tz-lanes", (found) => found.map((each) => each.getBoundingClientRect().toJSON()));
    const texts = await page.$$eval(".tz-label", (found) => found.map((each) => each.textContent));
    seen.sizes.push({ height, tops: places.map((each) => each.top), bottoms: places.map((each) => each.bottom), texts });
    await page.close();
  }
  return seen;
});
