"""A real browser, without a network: pages laid out, and scripts run."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
in_a_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine (apt-get install chromium)")
_REMEMBERED = """for (const [module, name] of [["gaussian", "gdp_epsilon"], ["renyi", "rate_epsilon"], ["gaussian", "rate_advantage"]]) {
  $.modules[`bounds.${module}`][name] = $.cache($.modules[`bounds.${module}`][name]);
}"""


def run(page: Path, folder: Path, *options: str, width: int = 1000, timeout: float = 120) -> str:
    """What the browser prints, with these options, of a page that it opens from its file."""
    command = [
        *(str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},2600"),
        *(f"--user-data-dir={folder}/profile", "--host-resolver-rules=MAP * ~NOTFOUND", *options, page.as_uri()),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=timeout)
    return done.stdout + done.stderr


def dom(text: str, folder: Path, *, width: int = 1000, timeout: float = 120) -> str:
    """The page as it stands when its scripts are done."""
    page = folder / "page.html"
    page.write_text(text, encoding="utf-8")
    return run(page, folder, "--virtual-time-budget=3600000", "--dump-dom", width=width, timeout=timeout)


def judged(texts: list[str], key: str | None, script: str, folder: Path, *, timeout: float = 120) -> list[bool]:
    """Whether each of these files holds, by the script of a page. `key`: the signer's public key in PEM form."""
    given = json.dumps([texts, key]).replace("<", "\\u003c")
    loop = f"""(async () => {{
  const [texts, key] = JSON.parse(document.getElementById("given").textContent), found = [];
  const $ = (() => {{ {script}\n{_REMEMBERED}\nreturn $; }})();
  for (const text of texts) {{
    try {{ found.push((await $.check(text, key)).passed ? "1" : "0"); }} catch (error) {{ found.push(`[${{error.stack ?? error}}]`); }}
  }}
  document.body.dataset.found = found.join("");
}})();"""
    page = f"""<!doctype html><meta charset="utf-8"><body><script type="application/json" id="given">{given}</script>
<script>{loop}</script></body>"""
    shown = dom(page, folder, timeout=timeout)
    answer = re.search(r'data-found="([^"]*)"', shown)
    assert answer is not None, shown[-2000:]
    assert re.fullmatch("[01]*", answer[1]), html.unescape(answer[1])[:3000]
    return [letter == "1" for letter in answer[1]]
