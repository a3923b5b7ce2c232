// Opens a profile in speedscope's page, as its command does. Prints the rows of its table of frames, and what it saves, as JSON.
//
//     node speedscope.cjs BROWSER EXECUTABLE INDEX.html PROFILE.js
const { driven, settled, watched } = require("../browser/driver.cjs");

const [kind, executablePath, index, profile] = process.argv.slice(2);

/** The cells of the rows in view: the time with what is called, the own time, and the name. */
const shownRows = (page) =>
  page.$$eval("table tr", (rows) =>
    rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)).filter((cells) => cells.length === 3),
  );

driven(kind, executablePath, async (browser) => {
  const seen = { errors: [] };
  // Speedscope has in the page only the rows that are in view.
  // Its console has warnings of the browser about drawing without a graphics card, which say nothing of the profile.
  const page = await watched(browser, [], { width: 1280, height: 4000 });
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  await page.evaluateOnNewDocument(() => {
    const urlOf = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
      globalThis.saved = blob;
      return urlOf.call(URL, blob);
    };
  });
  await page.goto(`file://${index}#localProfilePath=${profile}`);
  await page.waitForFunction(() => document.body.textContent.includes("Sandwich"), { timeout: 30000 });
  // The view named Sandwich: a table of all frames.
  await page.keyboard.press("3");
  await page.waitForSelector("table tr td", { timeout: 30000 });
  await settled(page);
  seen.rows = await shownRows(page);
  // The rows are in the order of their own time. Programs have little of it.
  await page.evaluate(() => [...document.querySelectorAll("th")].find((each) => each.textContent.includes("Total")).click());
  await settled(page);
  seen.rows.push(...(await shownRows(page)));
  await page.keyboard.down("Control");
  await page.keyboard.press("s");
  await page.keyboard.up("Control");
  await page.waitForFunction("globalThis.saved", { timeout: 30000 });
  seen.saved = JSON.parse(await page.evaluate(() => globalThis.saved.text()));
  return seen;
});
