#!/usr/bin/env bash
# What action.yml runs, with its inputs in the environment: unpacks a release, checks, and comments.
# Exit code 3, inconclusive, does not fail the step.
set -eo pipefail

from=$TARBALL
if [ -z "$from" ]; then
  if [ -z "$REPOSITORY" ] || [ -z "$VERSION" ]; then
    echo "::error::fathom check needs repository and version, or tarball" && exit 2
  fi
  from=$GITHUB_SERVER_URL/$REPOSITORY/releases/download/$VERSION/fathom-${VERSION#v}-Linux.tar.gz
elif [ -e "$from" ]; then
  from=file://$(realpath "$from")
fi
fathom=$RUNNER_TEMP/fathom
mkdir -p "$fathom"
curl -fsSL --retry 3 -o "$fathom.tar.gz" "$from"
if [ -n "$SHA256" ]; then
  echo "$SHA256  $fathom.tar.gz" | sha256sum --check --quiet || exit 2
fi
tar -xzf "$fathom.tar.gz" -C "$fathom" --strip-components=1

read -r -a words <<<"${ARGUMENTS//$'\n'/ }"
if [ -n "$BASE$HEAD" ]; then words+=(--base "$BASE" --head "$HEAD"); fi
folder=$(mktemp -d "$RUNNER_TEMP/gate.XXXXXX")
code=0
env -u GITHUB_TOKEN "$fathom/bin/fathom" check "${words[@]}" --github \
  --markdown "$folder/gate.md" --junit "$folder/gate.xml" --json "$folder/gate.json" || code=$?
printf 'code=%s\nfolder=%s\n' "$code" "$folder" >>"$GITHUB_OUTPUT"
if [ "$COMMENT" = true ] && [ -e "$folder/gate.md" ]; then
  python3 "$fathom/share/fathom/ci/comment.py" "$folder/gate.md" "$GITHUB_JOB"
fi
if [ "$code" -ne 3 ]; then exit "$code"; fi
