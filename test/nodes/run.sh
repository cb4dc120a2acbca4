#!/usr/bin/env bash
# The last commit under each Node that kybatch promises: a clean install, the demo three times (an abort may come by
# chance), the tests. One line a version. `npm run test:nodes -- 22 24` takes some; DEMOS=10 and TESTS=no change the work.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d "${TMPDIR:-/tmp}/kybatch-nodes-XXXXXX")
# The tests of another user's folder run this Node as another user.
chmod 755 "$work"
versions=("$@")
[ $# -gt 0 ] || versions=(20 22 24)
demos=${DEMOS:-3}
# Node itself is a package of the registry, one for each platform, with its headers.
package=node-$(node -p 'process.platform.replace("win32", "win") + "-" + process.arch')

# Says on stdout what was reached, in full in the log; ends with 1 at the first step that failed.
try_node() {
  local home=$work/$1 log=$work/$1.log
  mkdir -p "$home/node"
  echo '{}' > "$home/node/package.json"
  npm install --prefix "$home/node" --ignore-scripts --no-audit --no-fund "$package@$1" >> "$log" 2>&1 || { echo "Node $1: not to be had"; return 1; }
  local root=$home/node/node_modules/$package
  # npm and every script find this Node first; what is compiled is compiled against its own headers.
  export PATH=$root/bin:$PATH npm_config_nodedir=$root
  printf 'Node %s:' "$(node --version)"
  git clone --quiet . "$home/clone" && cd "$home/clone" || { echo ' no clone'; return 1; }
  local from=$SECONDS
  npm ci >> "$log" 2>&1 || { echo ' install FAILED'; return 1; }
  printf ' installed in %s s with %s,' $((SECONDS - from)) "$(cd node_modules && echo better-sqlite3*)"
  for ((demo = 1; demo <= demos; demo++)); do
    npm run demo >> "$log" 2>&1 || { echo " demo FAILED at $demo of $demos"; return 1; }
  done
  printf ' demo %s of %s,' "$demos" "$demos"
  [ "${TESTS:-yes}" = yes ] || { echo ' tests left out'; return 0; }
  from=$SECONDS
  npm test >> "$log" 2>&1 || { echo ' tests FAILED'; return 1; }
  npm run test:long >> "$log" 2>&1 || { echo ' long tests FAILED'; return 1; }
  npm run test:machine >> "$log" 2>&1 || { echo ' tests of the machine FAILED'; return 1; }
  echo " tests passed in $((SECONDS - from)) s"
}

failed=0
for version in "${versions[@]}"; do
  if (try_node "$version"); then rm -rf "${work:?}/$version"; else
    failed=1
    tail -n 20 "$work/$version.log" >&2
  fi
done
if [ $failed = 0 ]; then rm -rf "$work"; else echo "What is left of it, with the logs: $work" >&2; fi
exit $failed
