"""The jobs of docs/fleet fit together, and are what Kubernetes takes.

The latter where the package kubernetes-validate is there.
"""

import pathlib
import sys

try:
    import yaml
except ImportError:
    sys.exit(77)  # skipped

folder = pathlib.Path(sys.argv[1]) / "docs" / "fleet"
measure, collect = (yaml.safe_load((folder / name).read_text())
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
