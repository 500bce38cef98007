#!/bin/sh
# Finds a Python that can compare (CPython 3.11 or newer) and starts the check with it.
# That Python only runs the tool; which one is checked is said by the input `python`.
set -eu

check="$(dirname -- "$0")/check.py"

suits() {
    "$1" -I -S -B -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

for found in python3 python python3.15 python3.14 python3.13 python3.12 python3.11 \
    /usr/bin/python3 \
    "${RUNNER_TOOL_CACHE:-/nonexistent}"/Python/3.1[1-9].*/*/bin/python3 \
    "${RUNNER_TOOL_CACHE:-/nonexistent}"/Python/3.1[1-9].*/*/python.exe; do
    if suits "$found"; then
        exec "$found" -I -B "$check"
    fi
done

echo "::error title=envcheck%3A nothing was checked::No Python 3.11 or newer was found to run the check with. Add one to the job, for example with actions/setup-python, and name the Python to be checked in the input 'python'."
[ -z "${GITHUB_OUTPUT:-}" ] || echo "exit-code=2" >>"$GITHUB_OUTPUT"
exit 2
