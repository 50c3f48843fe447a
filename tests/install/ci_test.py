#!/usr/bin/env python3
"""Runs action.yml and templates/check.yml as the servers would: ci_test.py CASE SOURCE BUILD.

Fathom comes from a tarball of the build's own install tree, by a file:// URL, and the comment goes
to a fake of the server. Exit code 77: skipped, with the reason.
"""

import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading

try:
    import yaml
except ImportError:
    sys.exit(print("SKIPPED: there is no python3-yaml") or 77)

CASE, SOURCE, BUILD = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
SLOWER = "--base 'cp base.csv {out}' --head 'cp head.csv {out}'"
CSV = "name,unit,better,sample\nsort,ms,lower,{}\nparse,ms,lower,5\n"


class Server(http.server.BaseHTTPRequestHandler):
    """The comments of one request: listed, added and changed, for whoever has the token."""

    comments, methods = [], []

    def answer(self, content, code=200):
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def handle_any(self):
        token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
        if token not in ("Bearer secret", "secret"):
            return self.answer({}, 403)
        self.methods.append((self.command, self.path.split("?")[0]))
        if self.command == "GET":
            return self.answer(self.comments)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        if self.command == "POST":
            self.comments.append({"id": len(self.comments) + 1, "body": body})
        else:
            self.comments[int(self.path.rsplit("/", 1)[1]) - 1]["body"] = body
        return self.answer({})

    do_GET = do_POST = do_PATCH = do_PUT = handle_any

    def log_message(self, *_):
        pass


def release(folder):
    """fathom-1.2.3-Linux.tar.gz, without what a check has no use for."""
    tree = folder / "fathom-1.2.3-Linux"
    for component in ("fathom", "libraries"):
        install = ["cmake", "--install", BUILD, "--prefix", tree, "--component", component]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
    for unused in ("libexec", "share/fathom/recordings"):
        shutil.rmtree(tree / unused, ignore_errors=True)
    tarball = folder / "OWNER/NAME/releases/download/v1.2.3/fathom-1.2.3-Linux.tar.gz"
    tarball.parent.mkdir(parents=True)
    with tarfile.open(tarball, "w:gz", compresslevel=1) as file:
        file.add(tree, tree.name)
    shutil.rmtree(tree)
    return tarball


def bash(script, env, folder):
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)} | env
    return subprocess.run(shell, cwd=folder, env=env, capture_output=True, text=True)


def check_comment(text, slower):
    """What got slower, by how much, how sure, and the picture."""
    row = "| regression | `sort` | 10 ms | 10.6 ms | +6 % |"
    expected = ["FAIL: 1 regression confirmed", row, "├", "fresh rounds"]
    for part in expected if slower else ["PASS: 2 metrics, no regression"]:
        assert part in text.replace("●", "├"), (part, text)
    assert "<a id=" not in text and text.startswith("<!-- fathom check "), text


def check_comments(run, place, change):
    """A commit that is slower, and the next one, as fast: the comment says so instead."""
    ended = run(SLOWER, slower=True)
    assert ended.returncode == 1, ended
    check_comment(Server.comments[0]["body"], slower=True)
    after = run(SLOWER.replace("head.csv", "base.csv"), slower=False)
    assert after.returncode == 0, after
    assert len(Server.comments) == 1
    check_comment(Server.comments[0]["body"], slower=False)
    assert Server.methods == [("GET", place), ("POST", place), ("GET", place), change], \
        Server.methods
    return ended


def github(folder, api):
    action = yaml.safe_load((SOURCE / "action.yml").read_text())
    assert {"name", "description", "inputs", "runs"} == set(action)
    assert action["runs"]["using"] == "composite"
    (step,) = action["runs"]["steps"]
    assert set(step) == {"shell", "env", "run"} and step["shell"] == "bash", step
    # By the environment alone: an input within a script would be run as one.
    assert "${{" not in step["run"], step
    event = folder / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    known = {"github.action_repository": "OWNER/NAME", "github.action_ref": "v1.2.3"}

    def run(check, tarball="", token="secret"):
        values = known | {"github.token": token, "inputs.check": check, "inputs.tarball": tarball}
        env = {
            "GITHUB_ACTION_PATH": str(SOURCE),
            "GITHUB_SERVER_URL": folder.as_uri(),
            "GITHUB_API_URL": api,
            "GITHUB_REPOSITORY": "you/project",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_JOB": "gate",
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "RUNNER_TEMP": str(folder / "temp"),
        }
        shutil.rmtree(folder / "temp", ignore_errors=True)
        (folder / "temp").mkdir()
        own = {
            key: re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda match: values[match[1]], value)
            for key, value in step["env"].items()
        }
        return bash(step["run"], env | own, folder)

    tarball = release(folder)
    # Once Fathom comes from its release, once from a file.
    comments = "/repos/you/project/issues/7/comments"
    ended = check_comments(lambda check, slower: run(check, "" if slower else str(tarball)),
                           comments, ("PATCH", "/repos/you/project/issues/comments/1"))
    assert "::error title=Regression::sort: 10 ms to 10.6 ms" in ended.stdout, ended
    summary = (folder / "summary").read_text().split("<a id=\"check\"></a>\n")[1]
    check_comment("<!-- fathom check " + summary, slower=True)
    # Inconclusive is no red job, and who may not write is told so.
    ended = run(SLOWER + " --time-limit 0.01", token="wrong")
    assert ended.returncode == 0 and "no comment: HTTP Error 403" in ended.stdout, ended
    assert json.loads((folder / "fathom-check/gate.json").read_text())["exit_code"] == 3
    # What is measured does not get the token.
    leaks = "--base 'test -z \"$FATHOM_TOKEN\" && cp base.csv {out}' --head 'cp base.csv {out}'"
    assert run(leaks).returncode == 0
    ended = run(SLOWER, (folder / "none").as_uri())
    assert ended.returncode == 23 and "is no release" in ended.stdout, ended
    ended = run("--base 'cp base.csv {out}")
    assert ended.returncode == 2 and "cannot be read as words" in ended.stdout, ended


def gitlab(folder, api):
    head, jobs = yaml.safe_load_all((SOURCE / "templates/check.yml").read_text())
    inputs = head["spec"]["inputs"]
    used = set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", json.dumps(jobs)))
    assert used == set(inputs), used ^ set(inputs)
    ((name, job),) = jobs.items()
    assert set(job) == {"rules", "variables", "script", "allow_failure", "artifacts"}, job
    assert job["allow_failure"] == {"exit_codes": [3]}
    tarball = release(folder)

    def run(check):
        given = {"check": check, "tarball": tarball.as_uri()}
        env = {
            key: re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda match: given[match[1]], str(value))
            for key, value in job["variables"].items()
        }
        server = {"CI_API_V4_URL": api, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "9"}
        own = {"CI_JOB_NAME": name, "FATHOM_TOKEN": "secret"}
        return bash(job["script"], env | server | own, folder)

    def run_with_failures(check, slower):
        ended = run(check)
        junit = (folder / job["artifacts"]["reports"]["junit"]).read_text()
        assert ("<failure" in junit) == slower, junit
        return ended

    notes = "/projects/3/merge_requests/9/notes"
    check_comments(run_with_failures, notes, ("PUT", notes + "/1"))
    assert run(SLOWER + " --time-limit 0.01").returncode == 3


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "base.csv").write_text(CSV.format(10))
        (folder / "head.csv").write_text(CSV.format(10.6))
        {"github": github, "gitlab": gitlab}[CASE](folder, f"http://127.0.0.1:{server.server_port}")


if __name__ == "__main__":
    main()
