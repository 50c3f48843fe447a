#!/usr/bin/env python3
"""Leaves the summary of `fathom check` on the pull or merge request that the CI job is of.

    comment.py GATE.md [NAME]

GitHub (action.sh): GITHUB_TOKEN may write pull requests. GitLab (templates/check.yml):
FATHOM_TOKEN is a project access token with the scope api. NAME tells the comments of several checks
apart; a later run replaces its own. A job of no request, or one that may not write, says so and
does not fail. Standard library alone.
"""

import json
import os
import sys
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
            "Authorization": f"Bearer {env.get('GITHUB_TOKEN', '')}",
            "Accept": "application/vnd.github+json",
        }
        return number and (f"{issues}/{number}/comments", f"{issues}/comments", "PATCH", headers)
    number = env.get("CI_MERGE_REQUEST_IID")
    project = f"{env.get('CI_API_V4_URL')}/projects/{env.get('CI_PROJECT_ID')}"
    notes = f"{project}/merge_requests/{number}/notes"
    return number and (notes, notes, "PUT", {"PRIVATE-TOKEN": env.get("FATHOM_TOKEN", "")})


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    mark = f"<!-- fathom check {sys.argv[2] if len(sys.argv) > 2 else ''} -->"
    found = server()
    if not found:
        print("fathom: no comment: this job is of no pull or merge request.")
        return
    comments, changed, method, headers = found
    content = {"body": body_of(text, mark)}
    try:
        for page in range(1, 11):
            listed = call("GET", f"{comments}?per_page=100&page={page}", headers)
            for comment in listed:
                if comment["body"].startswith(mark):
                    call(method, f"{changed}/{comment['id']}", headers, content)
                    return
            if len(listed) < 100:
                break
        call("POST", comments, headers, content)
    except (OSError, ValueError) as problem:
        print(f"fathom: no comment: {problem}. The job's summary has the result.")


if __name__ == "__main__":
    main()
