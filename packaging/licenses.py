"""Write the licences of the crates that are linked into the engine: they ask that their notices go with it.

`make licenses` runs it. Where a crate may be used under one of several licences, MIT is chosen if it is among them."""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "packaging" / "THIRD-PARTY-LICENSES.txt"
_OWN = "tracealyze-"
_NOTICES = re.compile(r"(?i)^(?:un)?licen[sc]e|^copying|^notice")


def linked() -> dict[str, str]:
    """Name and version of the crates that are linked on any platform, with their declared licences."""
    arguments = ["--package", "tracealyze-binding", "--features", "python", "--edges", "normal,no-proc-macro"]
    arguments += ["--target", "all", "--prefix", "none", "--format", "{p}|{l}", "--locked"]
    done = subprocess.run(["cargo", "tree", *arguments], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    rows = [line.removesuffix(" (*)").partition("|") for line in done.stdout.splitlines() if line]
    found = {" ".join(package.split()[:2]).replace(" v", " "): terms for package, _, terms in rows}
    return {name: terms for name, terms in sorted(found.items()) if not name.startswith(_OWN)}


def main() -> None:
    """Write the file."""
    packages = _sources()
    crates_by_text: dict[str, list[str]] = defaultdict(list)
    for name, terms in linked().items():
        crates_by_text[_text(packages[name], terms)].append(f"{name} ({terms})")
    head = "Crates that are linked into tracealyze._engine, and their licences. Written by packaging/licenses.py.\n"
    parts = [f"{'=' * 80}\n{chr(10).join(crates)}\n{'-' * 80}\n{text}\n" for text, crates in crates_by_text.items()]
    FILE.write_text("\n".join([head, *parts]), encoding="utf-8")


def _sources() -> dict[str, Path]:
    done = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    packages = json.loads(done.stdout)["packages"]
    return {f"{each['name']} {each['version']}": Path(each["manifest_path"]).parent for each in packages}


def _text(folder: Path, terms: str) -> str:
    """The notices of a crate: of MIT if that may be chosen, otherwise all."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and _NOTICES.search(file.name))
    may_choose = "MIT" in terms and " AND " not in terms
    chosen = [file for file in files if "MIT" in file.name.upper()] if may_choose else []
    texts = [file.read_text(encoding="utf-8", errors="replace").strip() for file in chosen or files]
    shown = "\n\n".join("\n".join(line.rstrip() for line in text.splitlines()) for text in texts)
    return shown or f"The crate has no file with its licence, and declares: {terms}."


if __name__ == "__main__":
    main()
