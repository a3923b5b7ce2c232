// A picture of a report as it is once its timeline can be used: node shot.cjs EXECUTABLE REPORT.html PICTURE.png WIDTH HEIGHT
const { driven, opened, settled, watched } = require("../../tests/browser/driver.cjs");

const [executablePath, report, path, width, height] = process.argv.slice(2);

driven("chrome", executablePath, async (browser) => {
  const page = await watched(browser, [], { width: Number(width), height: Number(height), deviceScaleFactor: 1 });
  await page.bringToFront();
  await opened(page, report);
  await settled(page);
  await page.screenshot({ path });
  return "";
});
