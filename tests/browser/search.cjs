// Searches in each kind of rows: what is counted, what is marked, and whether the next hit looks different. Prints what it
// saw as JSON, by kind of rows.
//
//     node search.cjs BROWSER EXECUTABLE REPORT.html WORD
const { driven, opened, readPixels, settled, watched } = require("./driver.cjs");

const [kind, executablePath, report, word] = process.argv.slice(2);

// The colour of marks in the light theme, and how much of it a pixel at the edge of a mark may lack.
const ACCENT = [31, 111, 184];
const MAX_DIFFERENCE = 12;

/** What the search shows, the pixels of its marks, and a picture of the lanes. */
const looks = (accent, maxDifference) => {
  const canvas = document.querySelector(".tz-lanes canvas");
  const data = window.pixelsOf(canvas, 0, 0, canvas.width, canvas.height);
  let marked = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (accent.every((part, channel) => Math.abs(data[at + channel] - part) <= maxDifference)) marked++;
  }
  return {
    hits: document.querySelector("[id$=-hits]").textContent,
    message: document.querySelector("[id$=-message]").textContent,
    picture: canvas.toDataURL(),
    marked,
  };
};

driven(kind, executablePath, async (browser) => {
  const seen = { errors: [], modes: {} };
  const page = await watched(browser, seen.errors);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]).catch(() => null);
  const look = async () => {
    await settled(page);
    return page.evaluate(looks, ACCENT, MAX_DIFFERENCE);
  };
  await opened(page, report);
  const modes = await page.$$eval(".tz-bar option", (options) => options.map((option) => option.value));
  for (const mode of modes) {
    await page.goto("about:blank");
    await opened(page, report);
    await readPixels(page);
    await page.select(".tz-bar select", mode);
    const before = await look();
    await page.focus(".tz-bar input");
    await page.keyboard.type(word);
    const first = await look();
    await page.keyboard.press("Enter");
    const next = await look();
    seen.modes[mode] = {
      hits: [first.hits, next.hits],
      messages: [first.message, next.message],
      marked: [before.marked, first.marked, next.marked],
      moves: first.picture !== next.picture,
    };
  }
  return seen;
});
