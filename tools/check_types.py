"""Check types: the package with mypy; a user's program, and the README's code, with mypy and pyright."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README_CODE = ROOT / "build" / "types" / "readme.py"
PROGRAM = "tests/typing"
"""Programs that state the types they expect, so that Any fails."""

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Run both checkers, and return 1 if one found an error."""
    README_CODE.parent.mkdir(parents=True, exist_ok=True)
    README_CODE.write_text(readme_code(), encoding="utf-8")
    readme = str(README_CODE.relative_to(ROOT))
    pyright = ["pyright", "--pythonpath", sys.executable, PROGRAM, readme]
    commands = [["mypy", "tapemagic", PROGRAM, readme], pyright]
    # Both, even if the first finds errors.
    failed = [subprocess.run([sys.executable, "-m", *x], cwd=ROOT, check=False) for x in commands]
    return int(any(run.returncode for run in failed))


def readme_code() -> str:
    """Return the README's blocks of Python without magics, each as a function: they assign the same names again."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    parts = ["import numpy as np\n\nimport tapemagic as tm\n"]
    for number, block in enumerate(BLOCK.findall(text)):
        # Dask's annotations contradict its documentation: `chunks: str`, and no `dask.compute`.
        if "%" not in block and "import dask" not in block:
            lines = "".join(f"    {line}\n" if line else "\n" for line in block.splitlines())
            parts.append(f"def block_{number}() -> None:\n{lines}")
    return "\n\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
