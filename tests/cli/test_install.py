"""One file makes Tau load pi-intent; it is written and removed whole, and nothing else is touched."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import pi_intent
from pi_intent.cli.demo.model import ScriptedCall, ScriptedModel, Turn
from pi_intent.cli.demo.tau import HermeticTau
from pi_intent.descriptions import descriptions_folder
from pi_intent.errors import HostError
from pi_intent.hosts.tau.install import PACKAGE, InstallResult, remove_shim, shim_text, write_shim
from pi_intent.hosts.tau.locate import extensions_folder
from pi_intent.ledger.calls import calls
from pi_intent.ledger.location import find_ledger

SECONDS = 60


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def pi_intent_command(environ: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pi_intent.cli.main", *arguments]
    return subprocess.run(command, env=environ, cwd=environ["HOME"], capture_output=True, text=True, timeout=SECONDS)


def snapshot(folder: Path) -> dict[str, bytes | str | None]:
    """Return everything below a folder: what files hold, where links lead, None for folders."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in folder.rglob("*")
    }


def on_place(warning: str) -> bool:
    """Whether a warning is about this very checkout, which may lie in a folder for temporary files."""
    return f"pi-intent itself lies in {PACKAGE}" in warning


def lasting(result: InstallResult) -> InstallResult:
    """Return a result without such a warning."""
    return replace(result, warnings=tuple(warning for warning in result.warnings if not on_place(warning)))


# The command


@pytest.mark.parametrize("home", ["", "ada"])
def test_without_a_home_nothing_is_written_anywhere(environ: dict[str, str], home: str) -> None:
    with pytest.raises(HostError, match="which is no absolute path: set it to your home folder"):
        extensions_folder(environ | {"HOME": home})
    there = environ["HOME"]
    assert extensions_folder({"HOME": "", "TAU_HOME": there}) == Path(there, "extensions")


def test_installing_writes_one_file_and_uninstalling_takes_it_away(environ: dict[str, str]) -> None:
    path = Path(environ["HOME"], ".tau", "extensions", "pi_intent.py")
    done = pi_intent_command(environ, "install", "tau")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"Installed: {path}")
    assert [line for line in done.stderr.splitlines() if not on_place(line)] == []
    assert snapshot(Path(environ["HOME"])) == {
        ".tau": None,
        ".tau/extensions": None,
        ".tau/extensions/pi_intent.py": shim_text().encode(),
    }
    done = pi_intent_command(environ, "uninstall", "tau")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"Removed: {path}\n", "")
    assert snapshot(Path(environ["HOME"])) == {".tau": None, ".tau/extensions": None}


@pytest.mark.parametrize(
    ("tau_home", "folder"), [("", ".tau"), ("~/t", "t"), ("~", "."), ("{HOME}/elsewhere", "elsewhere")]
)
def test_the_file_goes_where_tau_looks_for_it(environ: dict[str, str], tau_home: str, folder: str) -> None:
    environ["TAU_HOME"] = tau_home.format(**environ)
    done = pi_intent_command(environ, "install", "tau", "--json")
    expected = Path(environ["HOME"], folder, "extensions", "pi_intent.py")
    document = json.loads(done.stdout)
    document["warnings"] = [warning for warning in document["warnings"] if not on_place(warning)]
    assert document == {
        "host": "tau",
        "action": "installed",
        "dryRun": False,
        "path": str(expected),
        "package": str(PACKAGE),
        "version": pi_intent.__version__,
        "warnings": [],
    }
    assert expected.is_file()


def test_a_home_that_tau_would_not_start_with_is_refused_with_what_to_do(environ: dict[str, str]) -> None:
    environ["TAU_HOME"] = "here"
    before = snapshot(Path(environ["HOME"]))
    done = pi_intent_command(environ, "install", "tau")
    assert (done.returncode, done.stdout) == (1, "")
    assert "set it to an absolute path" in done.stderr
    assert snapshot(Path(environ["HOME"])) == before


def test_a_dry_run_says_what_would_be_done_and_does_nothing(environ: dict[str, str]) -> None:
    path = Path(environ["HOME"], ".tau", "extensions", "pi_intent.py")
    done = pi_intent_command(environ, "install", "tau", "--dry-run")
    assert (done.returncode, done.stdout) == (0, f"Would install: {path}\n")
    assert snapshot(Path(environ["HOME"])) == {}
    write_shim(path.parent)
    before = snapshot(Path(environ["HOME"]))
    done = pi_intent_command(environ, "uninstall", "tau", "--dry-run")
    assert (done.returncode, done.stdout) == (0, f"Would remove: {path}\n")
    assert snapshot(Path(environ["HOME"])) == before


def test_uninstalling_what_is_not_installed_is_done_already(environ: dict[str, str]) -> None:
    done = pi_intent_command(environ, "uninstall", "tau")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Not installed, nothing to do")


@pytest.mark.parametrize("arguments", [["install"], ["install", "vim"], ["uninstall", "tau", "tau"]])
def test_a_wrong_command_line_exits_with_2(environ: dict[str, str], arguments: list[str]) -> None:
    assert pi_intent_command(environ, *arguments).returncode == 2


def test_a_failure_is_one_json_document_where_that_was_asked_for(environ: dict[str, str]) -> None:
    folder = Path(environ["HOME"], ".tau", "extensions", "pi_intent.py")
    folder.mkdir(parents=True)
    why = "is a folder, not what pi-intent writes there, and was left alone: move it away and try again"
    done = pi_intent_command(environ, "install", "tau", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout) == {
        "host": "tau",
        "action": "failed",
        "error": f"{folder} {why}",
    }


def test_installing_warns_when_it_will_have_no_effect(environ: dict[str, str]) -> None:
    done = pi_intent_command(environ | {"PI_INTENT": "off"}, "install", "tau")
    assert done.returncode == 0
    assert "PI_INTENT=off is set here" in done.stderr


# The file


def test_installing_twice_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "pi_intent.py"
    assert lasting(write_shim(tmp_path)) == InstallResult(action="installed", path=path)
    before = path.stat()
    assert lasting(write_shim(tmp_path)) == InstallResult(action="unchanged", path=path)
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )
    assert path.read_text() == shim_text()


def test_an_older_file_of_ours_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pi_intent.py"
    path.write_text("# pi-intent shim 0 (pi-intent 0.0.1)\nold\n")
    assert lasting(write_shim(tmp_path)) == InstallResult(action="updated", path=path)
    assert snapshot(tmp_path) == {"pi_intent.py": shim_text().encode()}


@pytest.mark.parametrize("kind", ["file", "empty", "folder", "link", "dangling"])
def test_what_pi_intent_did_not_write_is_refused_and_left_alone(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "extensions"
    folder.mkdir()
    path = folder / "pi_intent.py"
    (tmp_path / "target").write_text(shim_text())  # even a link to what would be ours
    match kind:
        case "file":
            path.write_text("def setup(tau): ...\n# pi-intent shim 1 \n")
        case "empty":
            path.touch()
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to(tmp_path / "target")
        case _:
            path.symlink_to(tmp_path / "nowhere")
    before = snapshot(tmp_path)
    for attempt in (write_shim, remove_shim):
        with pytest.raises(HostError, match="was left alone"):
            attempt(folder)
    assert snapshot(tmp_path) == before


def test_a_folder_that_cannot_be_made_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HostError, match="check who owns"):
        write_shim(tmp_path / "file" / "extensions")
    with pytest.raises(HostError, match="check who owns"):
        remove_shim(tmp_path / "file")


def test_uninstalling_takes_along_what_python_compiled_of_the_file_and_nothing_else(tmp_path: Path) -> None:
    write_shim(tmp_path)
    compiled = tmp_path / "__pycache__"
    compiled.mkdir()
    (compiled / "pi_intent.cpython-313.pyc").touch()
    (compiled / "other.cpython-313.pyc").touch()
    assert remove_shim(tmp_path) == InstallResult(action="removed", path=tmp_path / "pi_intent.py")
    assert snapshot(tmp_path) == {"__pycache__": None, "__pycache__/other.cpython-313.pyc": b""}


def test_the_file_names_the_package_whatever_its_path_looks_like(tmp_path: Path) -> None:
    package = Path("/a 'b' \"c\"\\n{d}\u00e9\udcff")
    namespace: dict[str, object] = {"__file__": "x"}
    exec(compile(shim_text(package).encode(), "shim", "exec"), namespace)
    assert namespace["PACKAGE"] == str(package)


@pytest.mark.parametrize(
    ("entry", "manifest", "says"),
    [
        ("pi-intent", 'extensions = ["pi_intent/hosts/tau/pi_intent.py"]', "Tau loads {copy} instead"),
        ("work", 'extensions = ["other.py", "pi_intent/extension.py"]', "Tau passes over it"),
        ("pi_intent", None, "Tau loads {copy} instead"),
    ],
)
def test_a_second_copy_in_tau_s_folder_is_warned_about(
    tmp_path: Path, entry: str, manifest: str | None, says: str
) -> None:
    copy = tmp_path / entry
    copy.mkdir()
    if manifest is None:
        (copy / "extension.py").touch()
    else:
        (copy / "pyproject.toml").write_text(f"[tool.tau]\n{manifest}\n")
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "pyproject.toml").write_text("not TOML")
    [warning] = [warning for warning in write_shim(tmp_path).warnings if not on_place(warning)]
    assert says.format(copy=copy) in warning
    assert warning.endswith("delete it")
    [warning] = remove_shim(tmp_path).warnings
    assert warning == f"{copy} holds pi-intent as well, so Tau still loads it: delete it, too"


@pytest.mark.parametrize(
    ("package", "where"),
    [
        ("/home/u/.cache/uv/archive-v0/x/lib/pi_intent", "the cache of uv"),
        ("/big/uv/environments-v2/x/pi_intent", "the cache of uv"),
        ("/xdg/uv/builds-v0/x/pi_intent", "the cache of uv"),
        ("/home/u/.local/share/pipx/.cache/abc/lib/pi_intent", "the cache of pipx"),
        ("/home/u/.cache/pipx/abc/pi_intent", "the cache of pipx"),
        ("/tmp/venv/lib/pi_intent", "temporary files"),
    ],
)
def test_a_package_that_will_not_last_is_warned_about(tmp_path: Path, package: str, where: str) -> None:
    environ = {"HOME": "/home/u", "UV_CACHE_DIR": "/big/uv", "XDG_CACHE_HOME": "/xdg"}
    [warning] = write_shim(tmp_path, package=Path(package), environ=environ, dry_run=True).warnings
    assert where in warning
    assert 'run "pi-intent install tau" there' in warning


@pytest.mark.parametrize(
    "package",
    ["/home/u/.local/share/uv/tools/pi-intent/lib/pi_intent", "/home/u/.local/share/pipx/venvs/pi-intent/pi_intent"],
)
def test_a_package_that_stays_is_not_warned_about(tmp_path: Path, package: str) -> None:
    assert write_shim(tmp_path, package=Path(package), environ={"HOME": "/home/u"}, dry_run=True).warnings == ()


# In Tau

BARE_CALL = ScriptedCall(name="bash", arguments={"command": "echo ran > bare", "description": "Running"})
STATED_CALL = ScriptedCall(name="bash", arguments={"intent": "Leave a mark", "command": "echo ran > stated"})


def copy_package(target: Path) -> Path:
    """Put a copy of the package where no Python finds it by itself, as another environment would hold it."""
    shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(descriptions_folder(), target / "tool_descriptions", dirs_exist_ok=True)
    return target


def without(tau: HermeticTau, *modules: str) -> HermeticTau:
    """Return a Tau whose environment lacks these packages, and which tells at its end where pi-intent came from."""
    launcher = tau.root / "tau"
    launcher.write_text(
        f"#!{sys.executable}\n"
        "import atexit, sys\n"
        "class Lacking:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name in {modules!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Lacking())\n"
        "def tell():\n"
        "    package = sys.modules.get('pi_intent')\n"
        "    print('loaded:', package and package.__file__, file=sys.stderr)\n"
        "    print('click:', 'click' in sys.modules, file=sys.stderr)\n"
        "atexit.register(tell)\n"
        "from tau_coding.cli import app\n"
        "app()\n"
    )
    launcher.chmod(launcher.stat().st_mode | stat.S_IXUSR)
    return replace(tau, command=launcher)


def tool_names(model: ScriptedModel) -> list[list[str]]:
    """Return the names of bash's arguments as each request had them."""
    return [
        [*tool["function"]["parameters"]["properties"]]
        for request in model.tool_requests
        for tool in request.body["tools"]
        if tool["function"]["name"] == "bash"
    ]


def test_the_file_works_for_a_tau_in_another_environment_which_has_no_click(tmp_path: Path) -> None:
    package = copy_package(tmp_path / "elsewhere" / "pi_intent")
    with ScriptedModel([Turn(calls=(BARE_CALL,)), Turn(calls=(STATED_CALL,)), Turn(text="Done")]) as model:
        tau = without(HermeticTau.create(tmp_path / "tau", model.base_url), "pi_intent", "click")
        write_shim(tau.tau_home / "extensions", package=package)
        run = tau.run("Go", timeout=SECONDS)
    assert (run.exit_code, run.stdout.strip()) == (0, "Done"), run.stderr
    assert f"loaded: {package / '__init__.py'}\nclick: False\n" in run.stderr
    assert (tau.project / "bare").exists() is False
    assert (tau.project / "stated").read_text() == "ran\n"
    recorded = calls(find_ledger(tau.project, tau.environment).root)
    assert [call.done and call.done.status for call in recorded] == ["rejected", "ok"]


@pytest.mark.parametrize("mode", ["print", "json", "rpc"])
def test_a_package_that_is_gone_is_told_in_every_mode_and_tau_goes_on(tmp_path: Path, mode: str) -> None:
    with ScriptedModel([Turn(calls=(BARE_CALL,)), Turn(text="Done")]) as model:
        tau = HermeticTau.create(tmp_path, model.base_url)
        shim = write_shim(tau.tau_home / "extensions", package=tmp_path / "gone" / "pi_intent").path
        if mode == "rpc":
            done = subprocess.run(
                [tau.command, "--mode", "rpc"],
                cwd=tau.project,
                env=tau.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
            )
            code, stderr = done.returncode, done.stderr
        else:
            run = tau.run("Go", options=["--mode", "json"] if mode == "json" else [], timeout=SECONDS)
            code, stderr = run.exit_code, run.stderr
    told = [line for line in stderr.splitlines() if "pi-intent" in line]
    assert told == [
        f"[extension:error] pi-intent is off, calls state no intent: {tmp_path / 'gone' / 'pi_intent'} is gone; "
        f'run "pi-intent install tau" again, or delete {shim}'
    ]
    assert code == 0
    if mode != "rpc":  # which waits for requests on standard input, and there are none
        assert (tau.project / "bare").read_text() == "ran\n"


def test_a_package_that_breaks_while_it_is_loaded_is_told_with_the_reason(tmp_path: Path) -> None:
    package = copy_package(tmp_path / "elsewhere" / "pi_intent")
    (package / "hosts" / "tau" / "setup.py").write_text("def setup(tau)\n")
    with ScriptedModel([Turn(calls=(BARE_CALL,)), Turn(text="Done")]) as model:
        tau = HermeticTau.create(tmp_path / "tau", model.base_url)
        write_shim(tau.tau_home / "extensions", package=package)
        run = tau.run("Go", timeout=SECONDS)
    assert (run.exit_code, run.stdout.strip()) == (0, "Done")
    assert "expected ':' (setup.py, line 1); run \"pi-intent install tau\" again" in run.stderr
    assert run.stderr.count("[extension:error]") == 1
    assert (tau.project / "bare").read_text() == "ran\n"


def test_off_leaves_what_the_model_sees_as_it_is_without_us(tmp_path: Path) -> None:
    with ScriptedModel([]) as model:
        tau = HermeticTau.create(tmp_path, model.base_url)
        tau.run("Go", timeout=SECONDS)
        write_shim(tau.tau_home / "extensions")
        run = tau.run("Go", environment={"PI_INTENT": "off"}, timeout=SECONDS)
        tau.run("Go", timeout=SECONDS)
    assert tool_names(model) == [["command", "description", "timeout"]] * 2 + [
        ["intent", "rationale", "command", "timeout"]
    ]
    assert model.tool_requests[0].body == model.tool_requests[1].body
    assert run.stderr == ""


WITNESS = """
import json, sys

def setup(tau):
    def agent_settled(event, context):
        files = [getattr(module, "__file__", None) or "" for module in [*sys.modules.values()]]
        ours = [file.rpartition("/pi_intent/")[2] for file in files if "/pi_intent/" in file]
        print("witness", json.dumps({
            "twice": sorted({file for file in ours if ours.count(file) > 1}),
            "some": len(ours) > 20,
            "package": sys.modules["pi_intent"].__file__,
            "loaded": [each.name for each in tau._runtime.extension_metadata if not each.hidden],
        }), file=sys.stderr)
    tau.on("agent_settled", agent_settled)
"""


@pytest.mark.parametrize("beside", ["-e", "tau install", "both"])
def test_a_checkout_beside_the_file_gives_one_set_up_and_every_class_once(tmp_path: Path, beside: str) -> None:
    checkout = tmp_path / "pi-intent"
    copy_package(checkout / "pi_intent")
    (checkout / "pyproject.toml").write_text('[tool.tau]\nextensions = ["pi_intent/hosts/tau/pi_intent.py"]\n')
    options: Sequence[str] = [] if beside == "tau install" else ["-e", str(checkout)]
    with ScriptedModel([Turn(calls=(BARE_CALL,)), Turn(calls=(STATED_CALL,)), Turn(text="Done")]) as model:
        tau = HermeticTau.create(tmp_path / "tau", model.base_url)
        extensions = tau.tau_home / "extensions"
        if beside != "-e":
            subprocess.run(
                [tau.command, "install", str(checkout)],
                env=tau.environment,
                check=True,
                timeout=SECONDS,
                cwd=tmp_path,
            )
        warnings = [warning for warning in write_shim(extensions).warnings if not on_place(warning)]
        (extensions / "witness.py").write_text(WITNESS)
        run = tau.run("Go", options=options, timeout=SECONDS)
    assert run.exit_code == 0, run.stderr
    [told] = [line for line in run.stderr.splitlines() if line.startswith("witness ")]
    first = PACKAGE if beside == "-e" else extensions / "pi-intent" / "pi_intent"
    assert json.loads(told.removeprefix("witness ")) == {
        "twice": [],
        "some": True,
        "package": str(first / "__init__.py"),
        "loaded": ["pi_intent", "witness"],
    }
    assert tool_names(model) == [["intent", "rationale", "command", "timeout"]] * 3
    assert len(warnings) == (0 if beside == "-e" else 1)
    recorded = calls(find_ledger(tau.project, tau.environment).root)
    assert [call.done and call.done.status for call in recorded] == ["rejected", "ok"]
