"""The ready workflows of docs/gate are YAML, and treat exit code 3 as inconclusive."""

import pathlib
import sys

try:
    import yaml
except ImportError:
    sys.exit(77)  # skipped

folder = pathlib.Path(sys.argv[1]) / "docs" / "gate"

github = yaml.safe_load((folder / "github.yaml").read_text())
assert github[True] == "pull_request"  # YAML 1.1 reads the key `on` so
job = github["jobs"]["gate"]
assert job["runs-on"] == ["self-hosted", "gpu"]
commands = [step.get("run", "") for step in job["steps"]]
assert any("--build-dir build-base" in c and "--build-dir build " in c for c in commands)
(check,) = [c for c in commands if "fathom check" in c]
assert "--github" in check and "--junit gate.xml" in check and '-ne 3' in check
(upload,) = [step for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
assert upload["if"] == "always()" and "gate.xml" in upload["with"]["path"]

gitlab = yaml.safe_load((folder / "gitlab.yaml").read_text())["performance gate"]
assert gitlab["tags"] == ["gpu"]
assert gitlab["allow_failure"] == {"exit_codes": [3]}
assert gitlab["artifacts"]["when"] == "always"
assert gitlab["artifacts"]["reports"] == {"junit": "gate.xml"}
assert any("fathom check" in line and "--junit gate.xml" in line for line in gitlab["script"])
