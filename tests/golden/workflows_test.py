"""The ready workflows of docs/gate are YAML; action and component get what they ask for."""

import pathlib
import sys

try:
    import yaml
except ImportError:
    sys.exit(77)  # skipped

root = pathlib.Path(sys.argv[1])


def required(inputs):
    return {name for name, entry in inputs.items() if "default" not in entry}


github = yaml.safe_load((root / "docs/gate/github.yaml").read_text())
assert github[True] == "pull_request"  # YAML 1.1 reads the key `on` so
assert github["permissions"] == {"contents": "read", "pull-requests": "write"}
job = github["jobs"]["gate"]
assert job["runs-on"] == ["self-hosted", "gpu"]
(check,) = [step for step in job["steps"] if step.get("uses", "").startswith("OWNER/NAME@")]
action = yaml.safe_load((root / "action.yml").read_text())
assert required(action["inputs"]) <= set(check["with"]) <= set(action["inputs"])
(upload,) = [step for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
assert upload["if"] == "always()" and upload["with"]["path"] == "fathom-check"

gitlab = yaml.safe_load((root / "docs/gate/gitlab.yaml").read_text())
head, jobs = yaml.safe_load_all((root / "templates/check.yml").read_text())
(include,) = gitlab["include"]
assert include["component"].endswith("/check@v1.2.3")
assert required(head["spec"]["inputs"]) <= set(include["inputs"]) <= set(head["spec"]["inputs"])
# What stands beside the component is merged into its job, so is of its name and not of its keys.
((name, job),) = jobs.items()
assert set(gitlab) == {"include", name} and not set(gitlab[name]) & set(job)
