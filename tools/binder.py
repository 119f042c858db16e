"""Build the environment of binder/ in an empty folder, as repo2docker does, and run every notebook.

In build/binder: a copy of what git knows of this repository, a virtual environment with the Python of runtime.txt, what
requirements.txt asks for, and what postBuild does. pytest compares what the cells give there with what is stored.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BINDER = ROOT / "binder"
PLACE = ROOT / "build" / "binder"
KERNEL = "tapemagic-on-binder"


def run(*command: str | Path, cwd: Path, **environment: str) -> None:
    """Run a command, and stop where it fails."""
    print("$", *(str(part).replace(f"{ROOT}/", "") for part in command), flush=True)
    subprocess.run([str(x) for x in command], cwd=cwd, env=outside() | environment, check=True)


def outside() -> dict[str, str]:
    """The environment of this process without what leads Python to a checkout."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


def copy_repository(target: Path) -> None:
    """Copy the files that git knows, and new ones that it does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def wanted_version() -> str:
    """The version of Python in runtime.txt, such as 3.12."""
    text = (BINDER / "runtime.txt").read_text(encoding="utf-8").strip()
    match = re.fullmatch(r"python-(\d+\.\d+)", text)
    if not match:
        raise SystemExit(f"binder/runtime.txt says {text!r}: repo2docker reads python-X.Y there.")
    return match[1]


def candidates(version: str) -> Iterator[str]:
    """Where a Python of a version may be: chosen, this one, on the path, or kept by pyenv."""
    yield from filter(None, [os.environ.get("PYTHON"), sys.executable])
    yield f"python{version}"
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from (
        str(path) for path in sorted(root.glob(f"versions/{version}.*/bin/python{version}"))
    )


def find_python(version: str) -> str:
    """An interpreter of this version."""
    code = "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2])"
    for candidate in candidates(version):
        try:
            said = subprocess.run(
                [candidate, "-c", code], capture_output=True, text=True, check=True
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        if said.stdout.split()[-1] == version:
            return said.stdout.split()[0]
    raise SystemExit(f"Binder runs Python {version}, which is not here: say where with PYTHON=...")


def check_system() -> None:
    """Stop if a package of apt.txt is missing: what draws here would not be what draws there."""
    for package in (BINDER / "apt.txt").read_text(encoding="utf-8").split():
        known = subprocess.run(["dpkg", "-s", package], capture_output=True, check=False)  # noqa: S607
        if known.returncode:
            raise SystemExit(
                f"Binder installs {package}, which is not here: apt-get install {package}"
            )


def add_kernel(python: Path, folder: Path) -> None:
    """Describe a kernel that runs in the new environment."""
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": KERNEL, "language": "python"}
    place = folder / "kernels" / KERNEL
    place.mkdir(parents=True)
    (place / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")


def main() -> int:
    """Build it, and run the notebooks."""
    python = find_python(wanted_version())
    check_system()
    shutil.rmtree(PLACE, ignore_errors=True)
    repository, environment = PLACE / "repository", PLACE / "environment"
    copy_repository(repository)
    run(python, "-m", "venv", environment, cwd=PLACE)
    scripts = environment / "bin"
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    pip = (scripts / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, "-r", repository / "binder" / "requirements.txt", cwd=repository)
    run(
        repository / "binder" / "postBuild", cwd=repository, PATH=path, VIRTUAL_ENV=str(environment)
    )
    add_kernel(scripts / "python", PLACE / "jupyter")
    tests = (sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "--nbval")
    run(
        *tests,
        f"--nbval-kernel-name={KERNEL}",
        "--override-ini=testpaths=notebooks",
        "notebooks",
        cwd=repository,
        JUPYTER_PATH=str(PLACE / "jupyter"),
        PATH=path,
    )
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"This failed: {' '.join(map(str, error.cmd))}")
