"""Canaries: no secret, home folder, user or host name leaves, and nothing harmless is touched."""

from __future__ import annotations

import json
import os
import random
import string
from typing import Any

import pytest

from envcheck.facts import Fact, ok
from envcheck.probing import run
from envcheck.probing.host import Host
from envcheck.probing.redaction import REDACTED, Redactor, strip_url

_RANDOM = random.Random(1)  # the same canaries in every run


def _random(alphabet: str, length: int) -> str:
    """Return text with a digit, a small and a capital letter, where the alphabet has them."""
    head = "".join(next((c for c in alphabet if c in kind), "") for kind in ("0123456789", "aQ"))
    return head + "".join(_RANDOM.choice(alphabet) for _ in range(length - len(head)))


ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits

# Built from parts, so that scanners of repositories do not take them for real ones.
TOKENS = {
    "AWS key id": "AK" + "IA" + _random(UPPER, 16),
    "AWS temporary key id": "AS" + "IA" + _random(UPPER, 16),
    "GitHub personal": "gh" + "p_" + _random(ALNUM, 36),
    "GitHub server": "gh" + "s_" + _random(ALNUM, 36),
    "GitHub fine-grained": "github" + "_pat_" + _random(ALNUM, 22) + "_" + _random(ALNUM, 59),
    "GitLab": "gl" + "pat-" + _random(ALNUM, 20),
    "GitLab runner": "gl" + "rt-" + _random(ALNUM, 20),
    "Hugging Face": "h" + "f_" + _random(ALNUM, 34),
    "Hugging Face organisation": "api" + "_org_" + _random(ALNUM, 34),
    "OpenAI": "s" + "k-proj-" + _random(ALNUM, 48),
    "Anthropic": "s" + "k-ant-api03-" + _random(ALNUM, 80),
    "Stripe": "s" + "k_live_" + _random(ALNUM, 24),
    "Slack bot": "xo" + "xb-" + _random(string.digits, 12) + "-" + _random(ALNUM, 24),
    "Slack hook": "https://hooks.slack.com/services/T" + _random(UPPER, 8) + "/B" + "0",
    "PyPI": "py" + "pi-AgEIcHlwaS5vcmc" + _random(ALNUM, 60),
    "Google API": "AI" + "za" + _random(ALNUM, 35),
    "Google OAuth": "ya" + "29." + _random(ALNUM, 60),
    "Google client": "GO" + "CSPX-" + _random(ALNUM, 28),
    "npm": "np" + "m_" + _random(ALNUM, 36),
    "Docker Hub": "dc" + "kr_pat_" + _random(ALNUM, 27),
    "SendGrid": "S" + "G." + _random(ALNUM, 22) + "." + _random(ALNUM, 43),
    "Databricks": "da" + "pi" + _random(HEX, 32),
    "DigitalOcean": "do" + "p_v1_" + _random(HEX, 64),
    "Vault": "hv" + "s." + _random(ALNUM, 90),
    "Shopify": "sh" + "pat_" + _random(HEX, 32),
    "Linear": "li" + "n_api_" + _random(ALNUM, 40),
    "Grafana": "gl" + "sa_" + _random(ALNUM, 32),
    "NVIDIA": "nv" + "api-" + _random(ALNUM, 64),
    "Replicate": "r" + "8_" + _random(ALNUM, 37),
    "Telegram": "123456789" + ":AA" + _random(ALNUM, 33),
    "JWT": "ey" + "J" + _random(ALNUM, 30) + ".ey" + "J" + _random(ALNUM, 30) + "." + "s" * 20,
    "Bearer": "Bearer " + _random(ALNUM, 32),
    "Basic": "Authorization: basic " + _random(ALNUM, 32) + "==",
    "private key": "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "OpenSSH key": "-----BEGIN " + "OPENSSH PRIVATE KEY-----\nb3BlbnNz",
    "PGP key": "-----BEGIN " + "PGP PRIVATE KEY BLOCK-----\n\nlQOYBF",
    "GPU": "GPU-" + "8d1e4c2a-1111-2222-3333-444455556666",
    "MIG": "MIG-" + "8d1e4c2a-1111-2222-3333-444455556666",
    "MIG of a GPU": "MIG-GPU-" + "8d1e4c2a-1111-2222-3333-444455556666/1/0",
}
ASSIGNED = [
    "password=hunter2", "PASSWORD: hunter2", "DB_PASS=hunter2", "passwd = 'hunter2'",
    '"password": "hunter2"', "token=hunter2", "HF_TOKEN=hunter2", "api_key=hunter2",
    "APIKEY:hunter2", "x-api-key: hunter2", "secret=hunter2", "client_secret=hunter2",
    "AWS_SECRET_ACCESS_KEY=hunter2", "auth=hunter2", "oauth: hunter2", "dsn=hunter2",
    "credentials=hunter2", "AccountKey=hunter2;EndpointSuffix=x", "?sig=hunter2&se=1",
    "password:\n  hunter2", "password: |\n  hunter2", "password=\n\thunter2",
    "first line\nsecond\ntoken=hunter2\nlast", "pwd=hunter2", "mysql --password hunter2",
    "--token hunter2", "passphrase: hunter2", "private_key=hunter2", "Authorization: hunter2",
]  # fmt: skip
HARMLESS = [
    "tokenizers>=0.14", "tokenizers (<0.22,>=0.21)", "secretstorage", "SecretStorage>=3.2",
    "authlib (>=1.0)", "python-auth0==1", "pypi-attestations>=0.0.28", "keyring", "keyring>=23",
    "basic-auth", "token>=1", "token==1", "auth==2.0", "auth===2.0", "auth!=2.0", "auth~=2.0",
    "auth (==2.0)", "auth=2.0", "pass==1.0", "secret<3", 'requests-auth>=1; extra == "auth"',
    "google-auth-oauthlib<2,>=0.5", 'token; python_version >= "3.9"', "dsnparse==0.2.1",
    "bypass=true", "design=material-v3", "msal-extensions; sys_platform=='win32'", "compass>=1",
    "pkg[secret,token]>=1.2", "hf-xet<2.0.0,>=1.1.3", "hf_transfer", "hf_transfer_very_long_name",
    "dask-sk-learn-contrib-project", "sk-learn-contrib-a-very-long-package-name", "flask-login>=1",
    "pypi-attestations-of-a-rather-long-name", "2.16.1+cu121",
    "1!2.0.post1.dev3", "cp311-cp311-manylinux_2_17_x86_64", "py3-none-any",
    "basic configuration of things",
    "bearer of good news and more", "Asia/Tokyo", "6.1.0-28-cloud-amd64", "x86-64-v3",
    "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "GPU-only build", f"{'e3b0c442' * 8}",
    "https://pypi.org/simple/", "https://host:8443/simple/auth/",
    "git+https://github.com/org/repo@v1.0", "git+https://github.com:443/org/repo@v1.0",
    "/usr/lib/python3/dist-packages", "/opt/home/bin/x", "/usr/local/cuda/lib64", "~/lib",
    "--xla_gpu_autotune_level=2 --xla_cpu_use_key_value=true", "cuda>=12.2 brand=tesla,driver>=470",
    "https://github.com/alice/repo", "STRICT", "en_US.UTF-8", ":4096:8", "tensorflow_intel",
    "AVX512_SPR,X86_V4", "SG.1.2", "npm_install", "Unicode é ü 漢字",
]  # fmt: skip
ALICE = {"HOME": "/data/people/alice", "USER": "alice", "LOGNAME": "alice", "HOSTNAME": "box17"}


@pytest.fixture
def redactor() -> Redactor:
    """Return the redactor of a user called alice on a machine called box17."""
    return Redactor(ALICE)


@pytest.mark.parametrize("name", list(TOKENS))
@pytest.mark.parametrize("place", ["{}", "before {} after", "x={}", "line\n{}\nline", "/a/{}/b"])
def test_tokens_of_many_vendors(redactor: Redactor, name: str, place: str) -> None:
    """A token is gone wherever it stands in a string."""
    token = TOKENS[name]
    cleaned = redactor.text(place.format(token))

    assert cleaned == REDACTED
    assert redactor.text(cleaned) == cleaned


@pytest.mark.parametrize("text", ASSIGNED)
def test_assigned_secrets(redactor: Redactor, text: str) -> None:
    """A name that means a secret takes its value along, over line ends too."""
    assert "hunter2" not in redactor.text(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_is_untouched(redactor: Redactor, text: str) -> None:
    """Requirement lines, versions, tags, digests, addresses and settings stay as they are."""
    assert redactor.text(text) == text


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://alice:hunter2@host/simple", "https://host/simple"),
        ("https://hunter2@host/simple", "https://host/simple"),
        ("https://__token__:hunter2@host:8443/x", "https://host:8443/x"),
        ("https://alice:hun@ter2@host/x", "https://host/x"),
        ("https://alice:hun/ter2@host/x", "https://host/x"),
        ("git+ssh://git@github.com/org/repo.git@v1", "git+ssh://github.com/org/repo.git@v1"),
        ("pkg @ https://u:hunter2@h/a.whl ; python_version < '3'",
         "pkg @ https://h/a.whl ; python_version < '3'"),
        ("a http://u:hunter2@h/ b ftp://u:hunter2@h/", "a http://h/ b ftp://h/"),
        ("https://:hunter2@host/", "https://host/"),
    ],
)  # fmt: skip
def test_userinfo_leaves_addresses(redactor: Redactor, url: str, clean: str) -> None:
    """Addresses lose user and password, and nothing else."""
    assert redactor.text(url) == clean


@pytest.mark.parametrize(
    ("path", "clean"),
    [
        ("/home/bob/lib", "~/lib"),
        ("/home/bob", "~"),
        ("/usr/home/bob/lib", "~/lib"),
        ("/export/home/bob/lib", "~/lib"),
        ("/var/home/bob/lib", "~/lib"),
        ("/mnt/c/Users/bob/lib", "~/lib"),
        ("/c/Users/bob/lib", "~/lib"),
        ("/Users/bob/Library/x", "~/Library/x"),
        (r"C:\Users\bob\lib", r"~\lib"),
        (r"c:\users\Bob Smith\lib", r"~\lib"),
        ("C:/Users/bob/lib", "~/lib"),
        ("file:///home/bob/x.whl", "file://~/x.whl"),
        ("/opt/x:/home/bob/y:/home/eve/z", "/opt/x:~/y:~/z"),
        ("'/home/bob/a b'", "'~/a b'"),
        ("/data/people/alice/lib", "~/lib"),
        ("/data/people/alice", "~"),
        ("/data/people/alicex/lib", "/data/people/alicex/lib"),
        ("/scratch/alice/lib", f"/scratch/{REDACTED}/lib"),
        ("/scratch/alice", f"/scratch/{REDACTED}"),
        ("/nfs/box17/alice/lib", f"/nfs/{REDACTED}/{REDACTED}/lib"),
        ("/scratch/alice2/lib", "/scratch/alice2/lib"),
        ("alice", "alice"),  # a word; only in a path is it known to be a name
    ],
)
def test_homes_users_and_hosts_leave_paths(redactor: Redactor, path: str, clean: str) -> None:
    """A home folder is `~` wherever it lies; user and host names leave other paths."""
    assert redactor.text(path) == clean


@pytest.mark.parametrize("home", ["/", "", "/root", "/app", "/usr", "/home"])
def test_a_home_that_is_a_system_folder_is_kept(home: str) -> None:
    """Service accounts have homes such as `/`; replacing them would destroy every path."""
    redactor = Redactor({"HOME": home, "USER": "root"})

    assert redactor.text("/usr/lib/x:/app/y") == "/usr/lib/x:/app/y"


def test_a_key_split_into_lines_is_gone(redactor: Redactor) -> None:
    """Where one string of a value is the head of a private key, all of its strings go."""
    lines = TOKENS["private key"].split("\n")

    assert redactor.clean(lines) == [REDACTED] * 3
    assert redactor.clean({"a": lines, "n": 3}) == {"a": [REDACTED] * 3, "n": 3}


def test_values_are_cleaned_at_any_depth(redactor: Redactor) -> None:
    """Lists, objects and keys of objects are cleaned; numbers and words are not changed."""
    value = {"a": ["x", {"/home/bob/k": f"token={TOKENS['GitHub personal']}"}], "n": [1, None, 2.5]}

    assert redactor.clean(value) == {"a": ["x", {"~/k": REDACTED}], "n": [1, None, 2.5]}


def test_harmless_values_are_not_copied(redactor: Redactor) -> None:
    """Nothing is done where nothing is suspected, since every capture pays for it."""
    value = {"requires": ["numpy>=1.26", "h5py"], "version": "2.16.1"}

    assert redactor.clean(value) is value


def test_half_a_character_can_be_written(redactor: Redactor) -> None:
    """A lone surrogate, which no UTF-8 file can hold, is replaced at any depth."""
    assert redactor.text("a\udcffb") == "a?b"
    assert redactor.clean(["a\udcffb"]) == ["a?b"]
    json.dumps(redactor.clean({"\ud800": 1}), ensure_ascii=False).encode("utf-8")


def test_long_text_is_cheap(redactor: Redactor) -> None:
    """No pattern needs more than linear time, or this would not end."""
    for text in ("auth=" * 50_000, "a@" * 50_000 + "://", "/home/" * 50_000, "ey" + "J" * 90_000):
        redactor.text(text)


def test_every_fact_of_every_probe_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Value, reason and source of a fact are cleaned, whichever probe gave it."""
    token = TOKENS["GitHub personal"]
    fact = Fact("ok", {"k": token}, f"because {token}", "/home/bob/source")
    monkeypatch.setattr(run, "_load", lambda _name: lambda _host: {"os.system": fact})

    found = run.run_probes(Host(environ=ALICE, live=True), ["os_release"])["os.system"]

    assert found == Fact("ok", {"k": REDACTED}, REDACTED, "~/source")


def test_no_canary_survives_a_capture_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]
) -> None:
    """With canaries in known and unknown variables, none is in what all probes give."""
    planted = dict(zip((f"CANARY_{n}" for n in range(99)), TOKENS.values(), strict=False))
    planted |= dict.fromkeys(
        ("KERAS_BACKEND", "OPENBLAS_CORETYPE", "TF_GPU_ALLOCATOR", "LANG", "TZ", "XLA_FLAGS",
         "LD_PRELOAD", "PYTHONPATH", "NVIDIA_REQUIRE_CUDA", "OMP_NUM_THREADS"),
        TOKENS["GitHub personal"],
    )  # fmt: skip
    planted["LD_LIBRARY_PATH"] = f"/home/bob/lib:/srv/{TOKENS['Hugging Face']}:/x/alice/y"
    planted["CUDA_VISIBLE_DEVICES"] = TOKENS["GPU"]
    planted |= ALICE
    for name, text in planted.items():
        monkeypatch.setenv(name, text)

    text = json.dumps(
        {key: fact.to_json() for key, fact in run.run_probes(Host()).items()}, ensure_ascii=False
    )

    for name, canary in {**TOKENS, "user": "/alice", "bob": "bob", "host": "box17"}.items():
        assert canary.split("\n")[0] not in text, name
    assert "CANARY_" not in text


def test_user_and_host_of_this_machine_do_not_appear() -> None:
    """The real names of this user and machine are in no path of a capture."""
    if not hasattr(os, "uname"):
        pytest.skip("POSIX names")
    names = {os.uname().nodename, os.environ.get("USER", "")} - {"", "root", "localhost", "vm"}
    text = json.dumps([fact.to_json() for fact in run.run_probes(Host()).values()])

    assert [name for name in names if len(name) > 2 and f"/{name}/" in text] == []


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://u:p@host/simple/?token=x#egg=y", "https://host/simple/"),
        ("file:///home/bob/x", "file:"),
        ("git+ssh://git@host/repo.git", "git+ssh://host/repo.git"),
    ],
)
def test_strip_url(url: str, clean: str) -> None:
    """Addresses are kept without credentials, query, fragment and local paths."""
    assert strip_url(url) == clean


def test_facts_without_strings_are_fine(redactor: Redactor) -> None:
    """Numbers, truth values and nothing pass as they are."""
    values: list[Any] = [None, True, 3, 2.5, [], {}]
    for value in values:
        assert redactor.clean(value) == value
    assert ok(redactor.clean(1)).value == 1
