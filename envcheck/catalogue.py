"""Every fact key, declared once: type, unit, meaning and the probe that gives it.

The JSON Schema of fingerprints, the reference in the docs and the checks on the way in are all
made from this table. CPython 3.9, standard library.

Types: `string`, `integer`, `number`, `boolean`, `list[T]`, and an object given by its fields
as `{name: (type, meaning)}`. Fields may be left out of a value when they are not known; a key
ending in `.*` declares a family.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from envcheck.facts import Key

__all__ = ["KEYS", "PROBES", "declaration", "keys_of"]

_PACKAGE = {
    "version": ("string", "version as the metadata spells it"),
    "tag": ("string", "wheel tags, sorted and joined with a comma; absent when not from a wheel"),
    "requires": ("list[string]", "Requires-Dist lines, sorted"),
    "requires_python": ("string", "Requires-Python"),
    "extras": ("list[string]", "Provides-Extra, sorted"),
    "installer": ("string", "content of INSTALLER: pip, uv, conda …"),
    "editable": ("boolean", "installed in editable (development) mode"),
    "origin": ("string", "kind of direct_url.json: archive, vcs or directory"),
    "origin_url": ("string", "address in direct_url.json without credentials, query or local path"),
    "origin_revision": ("string", "commit or archive hash in direct_url.json"),
    "duplicates": ("list[string]", "versions of further metadata folders in the same folder"),
    "shadowed": ("list[string]", "versions of the same name later on the path"),
    "imports": ("list[string]", "top-level import names"),
    "record_sha256": ("string", "digest of the distribution's own files as RECORD lists them"),
    "specifier": ("string", "wanted versions, in an intended environment (requirements, lock)"),
    "wanted_extras": ("list[string]", "extras asked for, in an intended environment"),
    "local": ("string", "local version label such as cu121 where the file spells it apart"),
}

_GPU = {
    "name": ("string", "product name"),
    "compute_capability": ("string", "for example 8.0"),
    "memory_bytes": ("integer", "total memory in bytes"),
    "mig": ("boolean", "multi-instance mode is on"),
}

_BLAS = {
    "package": ("string", "normalised name of the distribution that brings it"),
    "library": ("string", "openblas, mkl, accelerate, blis or netlib"),
    "version": ("string", "version where the file name or build record tells it"),
}

_OPENMP = {
    "package": ("string", "normalised name of the distribution that brings it"),
    "library": ("string", "libgomp, libiomp5 or libomp"),
}

_KERAS_CONFIG = {
    "backend": ("string", "backend in keras.json"),
    "floatx": ("string", "default float type"),
    "epsilon": ("number", "fuzz factor"),
    "image_data_format": ("string", "channels_last or channels_first"),
}

_TENSORFLOW = {
    "version": ("string", "version of the distribution it was read from"),
    "cuda_version": ("string", "CUDA it was built with"),
    "cudnn_version": ("string", "cuDNN it was built with"),
    "compute_capabilities": ("list[string]", "sm_XX (binary) and compute_XX (PTX) it carries"),
    "is_cuda_build": ("boolean", "built with CUDA"),
    "is_rocm_build": ("boolean", "built with ROCm"),
}

_TORCH = {
    "version": ("string", "full version with its local label"),
    "cuda": ("string", "CUDA it was built with"),
    "hip": ("string", "ROCm it was built with"),
    "git_version": ("string", "commit it was built from"),
}

_ONNXRUNTIME = {
    "version": ("string", "version of the distribution"),
    "package": ("string", "distribution that provides it"),
    "providers": ("list[string]", "execution providers whose libraries are present"),
}

_PACKAGE_LIST = {
    "count": ("integer", "distributions found"),
    "complete": ("boolean", "false where a folder of the path could not be listed, or the list "
                 "is an intention (requirements) without its dependencies"),
    "nameless": ("list[string]", "metadata folders without a usable METADATA, or "
                 "lines of a file whose project name is not known"),
    "kind": ("string", "installed, requirements or lock"),
}

_FILE = {
    "bytes": ("integer", "size in bytes"),
    "sha256": ("string", "digest of the content"),
}

_TABLE: Tuple[Tuple[str, str, Any, str, str], ...] = (
    # key, probe, type, unit, meaning
    ("os.system", "os_release", "string", "", "linux, darwin or windows"),
    ("os.release_id", "os_release", "string", "", "ID of os-release, for example debian"),
    ("os.release_version", "os_release", "string", "", "VERSION_ID of os-release"),
    ("os.kernel_release", "os_release", "string", "", "kernel release; containers share the host's"),
    ("os.container", "os_release", "list[string]", "",
     "markers of a container that were seen; a marker is a hint, no proof"),
    ("os.sandbox", "os_release", "string", "", "gvisor or lambda where a marker says so, else none"),
    ("os.libc_family", "libc", "string", "", "glibc or musl"),
    ("os.libc_version", "libc", "string", "", "version of the C library that processes use"),
    ("os.system_libraries", "libc", "list[string]", "",
     "of a fixed list (libGL.so.1, libgomp.so.1 …) those the loader can find"),
    ("cpu.architecture", "cpu", "string", "", "x86_64, aarch64 … (aliases normalised)"),
    ("cpu.features", "cpu", "list[string]", "", "instruction sets of a fixed vocabulary, sorted"),
    ("cpu.level", "cpu", "string", "", "x86-64-v1 to v4, derived from the features"),
    ("cpu.model", "cpu", "string", "", "model name; hypervisors mask it, never compared"),
    ("cpu.byte_order", "cpu", "string", "", "little or big"),
    ("cpu.pointer_bits", "cpu", "integer", "bit", "word size of the interpreter"),
    ("cpu.logical_count", "cpu", "integer", "CPUs", "logical processors of the host"),
    ("cpu.affinity_count", "cpu", "integer", "CPUs", "logical processors this process may use"),
    ("limits.cpu_quota", "limits", "number", "CPUs", "cgroup CPU time limit in processors"),
    ("limits.cpuset_count", "limits", "integer", "CPUs", "processors in the cgroup's cpuset"),
    ("limits.memory_bytes", "limits", "integer", "bytes", "cgroup memory limit"),
    ("limits.memory_total_bytes", "limits", "integer", "bytes", "memory of the host"),
    ("limits.shm_bytes", "limits", "integer", "bytes", "size of /dev/shm"),
    ("limits.open_files", "limits", "integer", "files", "soft limit of open files"),
    ("limits.writable_temp", "limits", "boolean", "", "a folder for temporary files is writable"),
    ("python.version", "python", "string", "", "full version"),
    ("python.implementation", "python", "string", "", "cpython, pypy …"),
    ("python.cache_tag", "python", "string", "", "for example cpython-311"),
    ("python.ext_suffix", "python", "string", "", "suffix of compiled modules"),
    ("python.free_threaded", "python", "boolean", "", "built without the global interpreter lock"),
    ("python.debug_build", "python", "boolean", "", "built with --with-pydebug"),
    ("python.optimize", "python", "integer", "", "level of -O: asserts and docstrings dropped"),
    ("python.hash_seed", "python", "string", "", "random, or the fixed seed of str hashes"),
    ("python.text_encoding", "python", "string", "", "encoding of open() without an argument"),
    ("python.filesystem_encoding", "python", "string", "", "encoding of file names"),
    ("python.utf8_mode", "python", "boolean", "", "UTF-8 mode is on"),
    ("python.timezone", "python", "string", "", "name of the local time zone, or its UTC offset"),
    ("python.environment", "python", "string", "", "venv, conda or system"),
    ("python.user_site", "python", "boolean", "", "packages of the user's folder are importable"),
    ("python.path_extras", "python", "integer", "folders",
     "folders on the path beyond the standard library and the package folders"),
    ("python.packages", "packages", _PACKAGE_LIST, "", "how complete the list of packages is"),
    ("package.*", "packages", _PACKAGE, "", "one installed distribution, by normalised name"),
    ("native.blas", "native", [_BLAS], "", "BLAS libraries that distributions bring"),
    ("native.openmp", "native", [_OPENMP], "", "OpenMP runtimes that distributions bring"),
    ("framework.tensorflow", "frameworks", _TENSORFLOW, "", "TensorFlow's build record"),
    ("framework.torch", "frameworks", _TORCH, "", "PyTorch's build record"),
    ("framework.onnxruntime", "frameworks", _ONNXRUNTIME, "", "ONNX Runtime as installed"),
    ("framework.keras_config", "frameworks", _KERAS_CONFIG, "", "keras.json as Keras would read it"),
    ("framework.keras_backend", "frameworks", "string", "",
     "backend Keras would use: KERAS_BACKEND, else keras.json, else tensorflow"),
    ("gpu.driver", "gpu", "string", "", "kernel driver version"),
    ("gpu.cuda_driver_version", "gpu", "string", "", "highest CUDA the driver serves"),
    ("gpu.devices", "gpu", [_GPU], "", "graphics processors, in index order"),
    ("gpu.visible", "gpu", "string", "",
     "all, none, or how many, as CUDA_VISIBLE_DEVICES and NVIDIA_VISIBLE_DEVICES leave them"),
    ("env.*", "env", "string", "", "effective value of an allow-listed environment variable"),
    ("file.*", "files", _FILE, "", "a declared extra file"),
)


def _spell(kind: Any) -> Tuple[str, Any]:
    """Return a declared type as its word and its fields."""
    if isinstance(kind, dict):
        return "object", kind
    if isinstance(kind, list):
        return "list[object]", kind[0]
    return kind, None


KEYS: Dict[str, Key] = {}
"""Every declaration by key."""
PROBES: Dict[str, Tuple[str, ...]] = {}
"""The keys of each built-in probe, by the name of its module."""

for _name, _probe, _kind, _unit, _doc in _TABLE:
    _word, _fields = _spell(_kind)
    KEYS[_name] = Key(_name, _word, _doc, _unit, _fields)
    PROBES[_probe] = (*PROBES.get(_probe, ()), _name)


def declaration(key: str) -> Optional[Key]:
    """Return the declaration of a fact key, or None for a key of a third party."""
    found = KEYS.get(key)
    if found is None:
        found = KEYS.get(key.partition(".")[0] + ".*")
    return found


def keys_of(probe: str) -> Tuple[str, ...]:
    """Return the keys that a built-in probe must give, or () for a third party's."""
    return PROBES.get(probe, ())
