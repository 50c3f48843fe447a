"""The ready workflows of docs/gate get what action and component ask for; those of docs/fleet fit
together and are what Kubernetes takes, if the package kubernetes-validate is there to say so.
"""

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

measure, collect = (yaml.safe_load((root / "docs/fleet" / name).read_text())
                    for name in ("kubernetes.yaml", "kubernetes-collect.yaml"))

spec = measure["spec"]
assert spec["completionMode"] == "Indexed"  # backoffLimitPerIndex needs it, and Never
# All nodes at once, none ends the others.
assert spec["completions"] == spec["parallelism"] == spec["maxFailedIndexes"]
assert "backoffLimitPerIndex" in spec and "backoffLimit" not in spec

for job in (measure, collect):
    pod = job["spec"]["template"]["spec"]
    assert pod["restartPolicy"] == "Never"
    (container,) = pod["containers"]
    volumes = {volume["name"] for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    (claim,) = [v["persistentVolumeClaim"]["claimName"] for v in pod["volumes"]
                if "persistentVolumeClaim" in v]
    assert claim == "fathom-shared"
    assert "/shared/fleet" in container["command"]

pod = spec["template"]["spec"]
(container,) = pod["containers"]
(alone,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
assert alone["labelSelector"]["matchLabels"] == {"job-name": measure["metadata"]["name"]}
assert "$(NODE_NAME)" in container["args"] and container["env"][0]["name"] == "NODE_NAME"
expected = collect["spec"]["template"]["spec"]["containers"][0]["command"]
gpus = spec["completions"] * container["resources"]["limits"]["nvidia.com/gpu"]
assert expected[expected.index("--expect-gpus") + 1] == str(gpus)
assert collect["spec"]["backoffLimit"] == 0  # exit code 5 is a report, not a reason to try again

try:
    import kubernetes_validate
except ImportError:
    sys.exit()
for job in (measure, collect):  # the oldest with backoffLimitPerIndex by default
    kubernetes_validate.validate(job, "1.29", strict=True)
