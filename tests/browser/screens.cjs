// Takes the first screen of a report, without and with scripts, and compares it with pictures. Prints what it saw as JSON.
//
//     node screens.cjs BROWSER EXECUTABLE REPORT.html FOLDER GOLDEN compare|make
//
// The pictures are FOLDER/off.png and FOLDER/on.png, the golden ones GOLDEN-off.png and GOLDEN-on.png.
const fs = require("node:fs");
const { driven, opened, settled, watched } = require("./driver.cjs");
const { differing, encoded, pixelsOf } = require("./png.cjs");

const [kind, executablePath, report, folder, golden, task] = process.argv.slice(2);

// Of 255. Golden pictures have rounded colors, up to 8 from those on the screen.
const MAX_DIFFERENCE = 16;

/** The families that draw the page, and the width of a text in each generic one, which tells versions of a family apart. */
async function fonts(page) {
  const client = await page.createCDPSession();
  await client.send("DOM.enable");
  await client.send("CSS.enable");
  const { root } = await client.send("DOM.getDocument");
  const { nodeIds } = await client.send("DOM.querySelectorAll", { nodeId: root.nodeId, selector: "body, body *" });
  const families = new Set();
  for (const nodeId of nodeIds) {
    const found = await client.send("CSS.getPlatformFontsForNode", { nodeId });
    for (const each of found.fonts) families.add(each.familyName);
  }
  const widths = await page.evaluate(() => {
    const context = document.createElement("canvas").getContext("2d");
    return ["system-ui", "sans-serif", "monospace"].map((family) => {
      context.font = `1000px ${family}`;
      return Math.round(context.measureText("Hamburgefonstiv 0123456789 → ×").width);
    });
  });
  return { families: [...families].sort(), widths };
}

/** Takes the picture of a first screen. */
async function taken(page, scripts, path) {
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: "light" },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await page.setJavaScriptEnabled(scripts === "on");
  if (scripts === "on") {
    await opened(page, report);
    await settled(page);
  } else {
    await page.goto(`file://${report}`);
  }
  await page.screenshot({ path });
}

driven(kind, executablePath, async (browser) => {
  const seen = { errors: [], browser: (await browser.version()).split(".")[0], differing: {} };
  // The policy of a report allows no images; an empty page has no policy.
  const empty = await browser.newPage();
  for (const scripts of ["off", "on"]) {
    const page = await watched(browser, seen.errors, { width: 1280, height: 720, deviceScaleFactor: 1 });
    await page.bringToFront();
    const [file, kept] = [`${folder}/${scripts}.png`, `${golden}-${scripts}.png`];
    await taken(page, scripts, file);
    if (scripts === "on") seen.fonts = await fonts(page);
    await page.close();
    const pixels = await pixelsOf(empty, file);
    if (task === "make") fs.writeFileSync(kept, encoded(pixels));
    seen.differing[scripts] = differing(pixels, await pixelsOf(empty, kept), MAX_DIFFERENCE);
  }
  return seen;
});
