#!/usr/bin/env bash
# Install what pip cannot, with apt-get where that is possible; otherwise say what is missing and go on.
# usage: tools/setup_system.sh [dot] [chromium] [dejavu] [liberation] [python3-venv]
set -euo pipefail

has_font() { # its file, the variable that names its folder
    [ -n "${!2:-}" ] && return
    [ -n "$(find /usr/share/fonts /usr/local/share/fonts "${HOME:-/nonexistent}/.local/share/fonts" /Library/Fonts \
        -name "$1" 2>/dev/null)" ]
}

present() {
    case $1 in
        dejavu) has_font DejaVuSans.ttf DEJAVU_FONTS ;;
        liberation) has_font LiberationSans-Regular.ttf LIBERATION_FONTS ;;
        dot) command -v dot ;;
        chromium) command -v chromium || command -v chromium-browser || command -v google-chrome ;;
        *-venv) "${1%-venv}" -c 'import ensurepip' ;;
    esac >/dev/null 2>&1
}

package() {
    case $1 in
        dot) echo graphviz ;;
        dejavu) echo fonts-dejavu-core ;;
        liberation) echo fonts-liberation ;;
        *) echo "$1" ;;
    esac
}

without() {
    case $1 in
        dot) echo "the Graphviz inside pygraphviz draws instead" ;;
        chromium) echo "the browser tests are skipped" ;;
        dejavu | liberation) echo "the course runs with the fonts of this machine" ;;
        *-venv) echo "python -m venv may fail" ;;
    esac
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

apt_install() {
    command -v apt-get >/dev/null || return
    as_root true 2>/dev/null || return
    exec 9<"${BASH_SOURCE[0]}"
    flock 9 # one at a time, as steps run side by side
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "$1" ||
        { as_root apt-get update -qq &&
            as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "$1"; }
} >/dev/null 2>&1

for program in "$@"; do
    present "$program" && continue
    echo "Installing $(package "$program")"
    apt_install "$(package "$program")" || true
    present "$program" ||
        echo "No $program here, and apt-get cannot install $(package "$program"): $(without "$program")."
done
