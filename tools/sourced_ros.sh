# SPDX-License-Identifier: Apache-2.0
# For setup.sh to source: which ROS 2 the shell has, apart from what this checkout itself has built.

# Print the directories of a list (a:b:c) that exist and do not lie in the checkout.
paths_outside() { # LIST CHECKOUT
    local entry rest=
    local -a entries
    IFS=: read -ra entries <<< "$1"
    for entry in "${entries[@]}"; do
        [ -d "$entry" ] || continue
        case "$entry/" in "$2"/*) continue ;; esac
        case "$(cd "$entry" && pwd -P)/" in "$(cd "$2" && pwd -P)"/*) continue ;; esac
        rest="$rest${rest:+:}$entry"
    done
    printf '%s\n' "$rest"
}

# Succeed where a ROS 2 is sourced; the checkout's own overlay is none.
ros_is_sourced() { # CHECKOUT
    [ -n "${ROS_DISTRO:-}" ] && [ -n "$(paths_outside "${AMENT_PREFIX_PATH:-}" "$1")" ]
}

# Take what the checkout has built out of the lists that its own build reads.
leave_out_own_overlay() { # CHECKOUT
    local list rest
    for list in AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH; do
        rest=$(paths_outside "${!list:-}" "$1")
        if [ -n "$rest" ]; then export "$list=$rest"; else unset "$list"; fi
    done
}
