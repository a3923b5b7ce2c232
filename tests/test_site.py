"""The site that `make site` has built: linked pages exist, and nothing is loaded from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest
from conftest import ROOT

from tracealyze.findings.rule_set import rules
from tracealyze.render.addresses import SITE, rule_page

BUILT = ROOT / ".cache" / "site"
pytestmark = pytest.mark.site


def local_pages() -> list[Path]:
    pages = sorted(BUILT.rglob("*.html"))
    assert len(pages) > 80, "run make site"
    return pages


def test_each_rule_has_the_page_that_findings_link_to() -> None:
    for rule in rules():
        page = (rule_page(rule.name, rule.code) or "").removeprefix(SITE)
        text = (BUILT / page).read_text(encoding="utf-8")
        assert rule.code in text
        assert "saves" in text or "info[" in text or "warning" in text, f"{rule.name}: no output of an example"


def test_rules_about_time_show_a_timeline() -> None:
    pages = {rule.name: (BUILT / "rules" / f"{rule.name}.html").read_text(encoding="utf-8") for rule in rules()}
    without = {name for name, text in pages.items() if f"_images/{name}-" not in text}
    # A rule about several captures, or about captures without a clock, has none.
    assert "grace-kill" in pages.keys() - without
    assert len(without) < 10, without


def test_gate_page_exists_for_metrics() -> None:
    assert (BUILT / "gate.html").exists()


def test_no_page_loads_anything_from_another_host() -> None:
    loaded = re.compile(r'<(?:script|img|iframe|source|link)\b[^>]*?(?:src|href)="(?:https?:)?//', re.IGNORECASE)
    for page in local_pages():
        assert not loaded.search(page.read_text(encoding="utf-8")), page
    for style in BUILT.rglob("*.css"):
        assert not re.search(r"url\(\s*[\"']?(?:https?:)?//|@import", style.read_text(encoding="utf-8")), style


def test_links_between_pages_lead_to_files() -> None:
    missing = set()
    for page in local_pages():
        for target in re.findall(r'(?:href|src)="([^"#?:]+)[^":]*"', page.read_text(encoding="utf-8")):
            if not (page.parent / unquote(target)).exists():
                missing.add((page.name, target))
    assert not missing


def test_published_schemas_are_schemas_with_their_address() -> None:
    files = sorted((BUILT / "schemas").glob("*.json"))
    assert len(files) == len(list((ROOT / "tests" / "schemas").glob("*.json")))
    page = (BUILT / "schemas.html").read_text(encoding="utf-8")
    for file in files:
        schema = json.loads(file.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$id"] == f"{SITE}schemas/{file.name}"
        assert f'href="schemas/{file.name}"' in page
