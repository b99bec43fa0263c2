#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# with_numpy.sh DIRECTORY ARGUMENT...: runs Python with the arguments, and with NumPy: the system's, or else one that pip
# puts into the virtual environment DIRECTORY, or else the distribution's. Where none can be had it says so in one line and
# ends with 77.
set -euo pipefail
directory=$1
shift

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo -n)
# Debian has the module venv in a package of its own, and without it leaves half an environment behind.
environment() {
    command -v python3 && rm -rf "$directory" && python3 -m venv "$directory" &&
        "$directory/bin/python3" -m pip install --quiet --disable-pip-version-check --only-binary :all: numpy
}
distribution() {
    command -v apt-get && { package || { "${as_root[@]}" apt-get update -q && package; }; }
}
package() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3-numpy
}
find_python() {
    for python in python3 "$directory/bin/python3" /usr/bin/python3; do
        if "$python" -c 'import numpy' 2>/dev/null; then return; fi
    done
    return 1
}

find_python || {
    { environment || distribution; } >/dev/null 2>&1 || true
    find_python || {
        echo "skipped: no python3 with numpy here, and neither pip nor apt can install it"
        exit 77
    }
}
exec "$python" "$@"
