"""Text and JSON list findings in one order: what is true of the whole capture comes last."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tracealyze.commands._cli import app

_START_US = 1700000010000000


def _capture(folder: Path) -> Path:
    lines = ['100 1700000009.999000 execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.000500>']
    for number in range(12000):
        name, folder_number = divmod(number, 100)
        stamp_us = _START_US + number * 60
        stamp = f"{stamp_us // 1000000}.{stamp_us % 1000000:06}"
        call = f'openat(AT_FDCWD, "/lib/{folder_number}/m{name}", O_RDONLY)'
        lines.append(f"100 {stamp} {call} = -1 ENOENT (No such file or directory) <0.000031>")
    lines.append("100 1700000010.721000 exit_group(0) = ?")
    lines.append("100 1700000010.721100 +++ exited with 0 +++")
    capture = folder / "capture.strace"
    capture.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return capture


def _output(*words: str) -> str:
    return CliRunner().invoke(app, list(words)).output


def test_reports_have_one_order_of_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    capture = str(_capture(tmp_path))
    findings = json.loads(_output("summarize", "--json", capture))["findings"]
    codes = list(dict.fromkeys(finding["code"] for finding in findings))
    text = list(dict.fromkeys(re.findall(r"\[(TLZ\d+)\]", _output("summarize", "--full", capture))))
    assert findings[0]["name"] == "missing-file-storm"
    assert text == codes
