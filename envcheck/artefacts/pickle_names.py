"""Names in pickles that mean something: code, commands, the standard library."""

from __future__ import annotations

__all__ = ["CODE", "STANDARD", "is_dangerous", "is_sensitive_attribute"]

_BUILTINS = frozenset({
    "eval", "exec", "compile", "__import__", "open", "input", "breakpoint", "execfile", "apply",
    "delattr", "setattr", "globals", "locals", "vars", "memoryview", "help",
})  # fmt: skip
_MODULES = frozenset({
    "os", "posix", "nt", "subprocess", "commands", "popen2", "pty", "shutil", "sys", "socket",
    "socketserver", "asyncio", "runpy", "code", "codeop", "importlib", "imp", "pkgutil", "pip",
    "ctypes", "_ctypes", "cffi", "platform", "webbrowser", "http", "httplib", "urllib", "urllib2",
    "requests", "aiohttp", "ftplib", "smtplib", "ssl", "telnetlib", "poplib", "imaplib", "pdb",
    "bdb", "cProfile", "profile", "timeit", "trace", "multiprocessing", "signal", "threading",
    "_thread", "venv", "ensurepip", "site", "pydoc", "doctest", "idlelib", "lib2to3", "cgi",
    "cgitb", "tempfile", "zipimport", "zipapp", "gc", "_posixsubprocess", "_xxsubinterpreters",
    "tkinter", "sqlite3", "resource", "fcntl", "mmap", "linecache", "fileinput",
})  # fmt: skip
_DANGEROUS = frozenset({
    ("operator", "attrgetter"), ("operator", "methodcaller"), ("_operator", "attrgetter"),
    ("_operator", "methodcaller"), ("types", "FunctionType"), ("types", "CodeType"),
    ("types", "LambdaType"), ("marshal", "loads"), ("marshal", "load"), ("pickle", "loads"),
    ("pickle", "load"), ("_pickle", "loads"), ("_pickle", "load"), ("cloudpickle", "loads"),
    ("dill", "loads"), ("dill", "load"), ("joblib", "load"), ("numpy", "load"),
    ("numpy.testing._private.utils", "runstring"), ("numpy", "fromfile"),
    ("torch", "load"), ("torch.hub", "load"), ("torch.serialization", "load"),
    ("shelve", "open"), ("io", "open"), ("_io", "open"), ("io", "FileIO"), ("_io", "FileIO"),
    ("codecs", "open"), ("bz2", "open"), ("gzip", "open"), ("lzma", "open"), ("zipfile", "ZipFile"),
    ("logging.config", "listen"), ("functools", "reduce"), ("pandas", "read_pickle"),
    ("pandas.io.pickle", "read_pickle"), ("sklearn.utils", "os"), ("torch._inductor.codecache",
    "compile_file"), ("torch.jit.unsupported_tensor_ops", "execWrapper"),
})  # fmt: skip
_REACHED = frozenset({
    "os", "sys", "posix", "nt", "subprocess", "shutil", "importlib", "socket", "pty", "ctypes",
    "builtins", "runpy", "commands",
})  # fmt: skip
"""Modules that other modules import, and through which an attribute of those leads."""

CODE = frozenset({
    ("types", "CodeType"), ("types", "FunctionType"), ("types", "LambdaType"),
    ("marshal", "loads"), ("marshal", "load"), ("builtins", "code"), ("new", "code"),
    ("cloudpickle", "_make_function"), ("cloudpickle", "_make_skel_func"),
    ("cloudpickle", "_fill_function"), ("cloudpickle", "_function_setstate"),
    ("cloudpickle", "_make_skeleton_class"), ("cloudpickle", "_make_skeleton_enum"),
    ("cloudpickle", "_rebuild_tornado_coroutine"), ("cloudpickle", "dynamic_subimport"),
    ("dill", "_create_function"), ("dill", "_create_code"), ("dill", "_create_type"),
    ("dill", "_import_module_code"),
})  # fmt: skip
"""Top-level module and name of what rebuilds Python code stored in a pickle."""

STANDARD = frozenset({
    "__builtin__", "__main__", "_codecs", "_collections", "_functools", "_io", "_operator",
    "_pickle", "_random", "_struct", "_thread", "abc", "argparse", "array", "ast", "asyncio",
    "base64", "bdb", "binascii", "bisect", "builtins", "bz2", "cProfile", "calendar", "cmath",
    "code", "codecs", "codeop", "collections", "commands", "concurrent", "configparser",
    "contextlib", "contextvars", "copy", "copy_reg", "copyreg", "csv", "ctypes", "dataclasses",
    "datetime", "decimal", "difflib", "doctest", "email", "enum", "errno", "fractions",
    "functools", "gc", "glob", "graphlib", "gzip", "hashlib", "heapq", "hmac", "html", "http",
    "imp", "importlib", "inspect", "io", "ipaddress", "itertools", "json", "keyword", "linecache",
    "locale", "logging", "lzma", "marshal", "math", "mmap", "multiprocessing", "new", "nt",
    "ntpath", "numbers", "operator", "os", "pathlib", "pdb", "pickle", "pkgutil", "platform",
    "posix", "posixpath", "pprint", "pty", "queue", "random", "re", "reprlib", "resource",
    "runpy", "secrets", "select", "shelve", "shutil", "signal", "site", "socket",
    "socketserver", "sqlite3", "ssl", "statistics", "string", "struct", "subprocess", "sys",
    "sysconfig", "tempfile", "textwrap", "threading", "time", "timeit", "token", "tokenize",
    "trace", "traceback", "tracemalloc", "types", "typing", "unicodedata", "unittest", "urllib",
    "uuid", "venv", "warnings", "weakref", "webbrowser", "xml", "zipfile", "zipimport", "zlib",
    "zoneinfo",
})  # fmt: skip
"""Modules that no distribution brings; one list, so that every Python gives the same facts."""

_ATTRIBUTES = frozenset({
    "system", "popen", "Popen", "spawnl", "spawnv", "execv", "execve", "execl", "eval", "exec",
    "check_call", "check_output", "getoutput", "import_module", "runcode", "run_module",
})  # fmt: skip


def is_dangerous(module: str, name: str) -> bool:
    """Return whether a global can run commands or code, or reach files and the network.

    A dotted name is followed part by part: `sklearn.utils` `os.system` is `os.system`.
    """
    parts = name.split(".")
    if module.partition(".")[0] in _MODULES or (module, name) in _DANGEROUS:
        return True
    if module in ("builtins", "__builtin__") and parts[0] in _BUILTINS:
        return True
    return parts[0] in _REACHED or any(is_sensitive_attribute(part) for part in parts[1:])


def is_sensitive_attribute(name: str) -> bool:
    """Return whether getting this attribute of some object is a step towards running code."""
    dunder = name.startswith("__") and name.endswith("__")
    return name in _ATTRIBUTES or name in _REACHED or dunder
