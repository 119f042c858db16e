#!/usr/bin/env bash
# Put this package with one of its extras into a virtual environment; quick when that was done before.
# usage: tools/setup_venv.sh [--lowest] EXTRA [FOLDER]        PYTHON=... chooses the interpreter
# --lowest: with the oldest Python and the lowest versions of direct dependencies that pyproject.toml allows
set -euo pipefail
cd "$(dirname "$0")/.."
lowest=
if [ "$1" = --lowest ]; then
    lowest=1
    shift
fi
extra=$1
venv=${2:-.venv}

done_before() {
    [ -x "$venv/bin/python" ] && [ -e "$venv/.has-$1" ] && [ ! pyproject.toml -nt "$venv/.has-$1" ]
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-} ${lowest:+python3.11} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "tapemagic needs Python 3.11 or newer: install one, or say where it is with PYTHON=..." >&2
    return 1
}

# An editable installation copies the extension of JupyterLab, which goes stale when front_end/ is built again.
copy_extension() {
    local target=$venv/share/jupyter/labextensions/tapemagic
    if [ -d "$target" ] && ! diff -rq tapemagic/labextension "$target" >/dev/null; then
        rm -r "$target"
        cp -r tapemagic/labextension "$target"
    fi
}

if done_before "$extra" || { [ "$extra" = course ] && done_before dev; }; then
    copy_extension
    exit
fi

if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    "$python" -c 'import ensurepip' 2>/dev/null || tools/setup_system.sh "$(basename "$python")-venv"
    echo "Making $venv with $("$python" --version)"
    "$python" -m venv --clear "$venv"
fi
echo "Installing tapemagic[$extra] into $venv: minutes the first time, nothing the second"
constraints=()
if [ "$lowest" ]; then
    "$venv/bin/python" tools/lowest.py "$extra" >"$venv/lowest.txt"
    constraints=(--constraint "$venv/lowest.txt")
fi
"$venv/bin/python" -m pip install --quiet "${constraints[@]}" --editable ".[$extra]"
copy_extension
touch "$venv/.has-$extra"
