"""Build the documentation as a site: the pages of docs/, one page per rule, the interface, and the schemas.

`make site` runs it. The pages are copied into a folder with the layout of the site first, because some of them lie
elsewhere in the repository, and links between files become links between pages or to the repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path, PurePosixPath

import rule_pages

from tracealyze.render.addresses import REPOSITORY, SITE

ROOT = rule_pages.ROOT
DOCS = ROOT / "docs"
_ELSEWHERE = {
    "docs/site/index.md": "index.md",
    "docs/site/api.md": "api.md",
    "docs/site/schemas.md": "schemas.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
"""Pages that do not lie in docs/ as they do on the site."""

_OTHERS = "PAGES THAT NO LIST NAMES"
"""The line of the index for new pages: each page must be in a list."""

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def pages() -> dict[str, str]:
    """Files of the repository, and the pages that they become."""
    own = [*DOCS.glob("*.md"), *(DOCS / "tutorials").glob("*.md")]
    found = {str(file.relative_to(ROOT)): str(file.relative_to(DOCS)) for file in sorted(own)}
    return found | _ELSEWHERE


def stage(folder: Path) -> None:
    """Write the sources of the site into a folder."""
    known = pages()
    for source, page in known.items():
        to = folder / page
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(_linked((ROOT / source).read_text(encoding="utf-8"), source, page, known), encoding="utf-8")
    shutil.copytree(DOCS / "pictures", folder / "pictures", ignore=shutil.ignore_patterns("*.py"))
    shutil.copytree(DOCS / "site" / "static", folder / "static")
    shutil.copy(DOCS / "site" / "conf.py", folder)
    _publish_schemas(folder / "extra" / "schemas")
    rule_pages.write(folder / "rules")


def _publish_schemas(folder: Path) -> None:
    """The schemas of the tests, with the address at which each is published."""
    folder.mkdir(parents=True)
    for file in sorted((ROOT / "tests" / "schemas").glob("*.json")):
        # The form of the gate that writes it is called json.
        name = "check.json" if file.name == "json.json" else file.name
        schema = {"$schema": _DRAFT, "$id": f"{SITE}schemas/{name}", **json.loads(file.read_text(encoding="utf-8"))}
        (folder / name).write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")


def _linked(text: str, source: str, page: str, known: dict[str, str]) -> str:
    """The text with links to other pages, and to the repository for files that are not pages."""

    def link(match: re.Match[str]) -> str:
        target, _, anchor = match["target"].partition("#")
        if ":" in target or not target:
            return match[0]
        file = os.path.normpath(PurePosixPath(source).parent / target)
        place = known.get(file)
        if file.startswith("docs/pictures/"):
            place = file.removeprefix("docs/")
        elif file == "rules":
            place = "rules/index.md"
        elif file.startswith("rules/"):
            place = file.replace(".toml", ".md")
        to = os.path.relpath(place, PurePosixPath(page).parent) if place else f"{REPOSITORY}/blob/main/{file}"
        return f"]({to}{'#' + anchor if anchor else ''})"

    text = re.sub(r"\]\((?P<target>[^)\s]+)\)", link, text)
    if page == "index.md":
        others = (name.removesuffix(".md") for name in known.values() if name != page)
        text = text.replace(_OTHERS, "\n".join(name for name in others if f"\n{name}\n" not in text))
    if page == "rules.md":
        text = re.sub(r"(?m)^\| `([a-z-]+)` \((TLZ\d+)\)", r"| [`\1`](rules/\1.md) (\2)", text)
    return text


def main() -> int:
    """Build into the folder that the command line names."""
    from sphinx.cmd.build import main as build

    output = Path(sys.argv[1] if len(sys.argv) > 1 else ".cache/site").resolve()
    sources = output.with_name(f"{output.name}-sources")
    for folder in (sources, output):
        shutil.rmtree(folder, ignore_errors=True)
    stage(sources)
    return build(["--fail-on-warning", "--keep-going", "--quiet", "-b", "html", str(sources), str(output)])


if __name__ == "__main__":
    sys.exit(main())
