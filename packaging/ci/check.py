#!/usr/bin/env python3
"""What action.yml and templates/check.yml run: `fathom check`, and a comment with what it found.

CHECK holds the command's arguments, quoted as for a shell. fathom-check/ gets gate.md, gate.xml and
gate.json. A later run replaces its own comment on the pull or merge request. A job of no request,
or one that may not write, says so and does not fail. Standard library alone.

GitHub: Fathom comes from TARBALL, a URL or a path, else from the release of RELEASE, which is the
action's OWNER/NAME@TAG. FATHOM_TOKEN may write pull requests. Inconclusive (3) ends with 0.
GitLab: this file stands in the unpacked tarball. FATHOM_TOKEN, a project access token with the
scope api, may be missing, and then there is no comment.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tarfile
import tempfile
import urllib.request

LONGEST = 60_000  # GitHub takes 65,536 characters


def body_of(text, mark):
    """The summary with a smaller heading; what is too long for a comment is cut between lines."""
    lines = [line for line in text.splitlines() if not line.startswith("<a id=")]
    text = "\n".join(lines).strip().replace("# fathom check", "### fathom check", 1)
    if len(text) > LONGEST:
        text = text.split("<details>")[0]  # the metrics that did not change
    if len(text) > LONGEST:
        text = text[:LONGEST].rsplit("\n", 1)[0] + "\n\nCut here: the job's summary has all of it."
    return f"{mark}\n{text}\n"


def call(method, url, headers, content=None):
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(
        url, data, headers | {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def server():
    """Where the request's comments are, where a comment is changed, how, and with which headers."""
    env = os.environ
    if env.get("GITHUB_EVENT_PATH"):
        with open(env["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
            number = json.load(file).get("pull_request", {}).get("number")
        issues = f"{env['GITHUB_API_URL']}/repos/{env['GITHUB_REPOSITORY']}/issues"
        headers = {
            "Authorization": f"Bearer {env['FATHOM_TOKEN']}",
            "Accept": "application/vnd.github+json",
        }
        return number and (f"{issues}/{number}/comments", f"{issues}/comments", "PATCH", headers)
    number = env.get("CI_MERGE_REQUEST_IID")
    project = f"{env.get('CI_API_V4_URL')}/projects/{env.get('CI_PROJECT_ID')}"
    notes = f"{project}/merge_requests/{number}/notes"
    return number and (notes, notes, "PUT", {"PRIVATE-TOKEN": env.get("FATHOM_TOKEN", "")})


def refuse(code, why):
    print(f"fathom: {why}.")
    sys.exit(code)


def unpacked(folder):
    """Fathom's folder: the one that has this file, else the tarball's."""
    here = pathlib.Path(__file__).resolve().parents[3]
    if (here / "bin/fathom").exists():
        return here
    tarball = os.environ["TARBALL"]
    if not tarball:
        repository, _, tag = os.environ["RELEASE"].partition("@")
        name = f"fathom-{tag.removeprefix('v')}-Linux.tar.gz"
        tarball = f"{os.environ['GITHUB_SERVER_URL']}/{repository}/releases/download/{tag}/{name}"
    elif pathlib.Path(tarball).exists():
        tarball = pathlib.Path(tarball).resolve().as_uri()
    try:
        with urllib.request.urlopen(tarball, timeout=60) as stream:
            with tarfile.open(fileobj=stream, mode="r|gz") as files:
                files.extractall(folder)
    except (OSError, tarfile.TarError) as problem:
        refuse(23, f"{tarball} is no release ({problem}): give one as `tarball`")
    for program in folder.glob("*/bin/fathom"):
        return program.parents[1]
    refuse(23, f"{tarball} has no bin/fathom in it: give a release as `tarball`")


def comment(text, name):
    """Leaves the summary on the request; `name` tells the comments of several jobs apart."""
    mark = f"<!-- fathom check {name} -->"
    found = server()
    if not found:
        print("fathom: no comment: this job is of no pull or merge request.")
        return
    comments, changed, method, headers = found
    content = {"body": body_of(text, mark)}
    try:
        for page in range(1, 11):
            listed = call("GET", f"{comments}?per_page=100&page={page}", headers)
            for earlier in listed:
                if earlier["body"].startswith(mark):
                    call(method, f"{changed}/{earlier['id']}", headers, content)
                    return
            if len(listed) < 100:
                break
        call("POST", comments, headers, content)
    except (OSError, ValueError) as problem:
        print(f"fathom: no comment: {problem}. The job's summary has the result.")


def main():
    env = os.environ
    github = "GITHUB_ACTION_PATH" in env
    try:
        arguments = shlex.split(env["CHECK"])
    except ValueError as problem:
        refuse(2, f"`check` cannot be read as words ({problem}): quote it as for a shell")
    fathom = unpacked(pathlib.Path(tempfile.mkdtemp(dir=env.get("RUNNER_TEMP")))) / "bin/fathom"
    folder = pathlib.Path("fathom-check")
    folder.mkdir(exist_ok=True)
    words = [fathom, "check", *arguments, *(["--github"] if github else [])]
    for flag, file in (("--markdown", "gate.md"), ("--junit", "gate.xml"), ("--json", "gate.json")):
        (folder / file).unlink(missing_ok=True)
        words += [flag, folder / file]
    # What is measured is the request's own code, which has no business with the token.
    code = subprocess.call(words, env={key: env[key] for key in env if key != "FATHOM_TOKEN"})
    if (folder / "gate.md").exists() and (github or env.get("FATHOM_TOKEN")):
        comment((folder / "gate.md").read_text(), env.get("GITHUB_JOB") or env.get("CI_JOB_NAME"))
    sys.exit(0 if github and code == 3 else code)


if __name__ == "__main__":
    main()
