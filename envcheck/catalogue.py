"""Every fact key, declared once: type, unit, meaning and the probe that gives it.

The JSON Schema of fingerprints, the reference in the docs and the checks on the way in are all
made from this table. CPython 3.9, standard library.

Types: `string`, `integer`, `number`, `boolean`, `list[T]`, and an object given by its fields
as `{name: (type, meaning)}`. Fields may be left out of a value when they are not known; a key
ending in `.*` declares a family.
"""

from __future__ import annotations

from typing import Any

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
    "complete": (
        "boolean",
        (
            "false where a folder of the path could not be listed, or the list "
            "is an intention (requirements) without its dependencies"
        ),
    ),
    "nameless": (
        "list[string]",
        (
            "metadata folders without a usable METADATA, or "
            "lines of a file whose project name is not known"
        ),
    ),
    "kind": ("string", "installed, requirements or lock"),
}

_FILE = {
    "bytes": ("integer", "size in bytes"),
    "sha256": ("string", "digest of the content"),
}

_MODEL = {
    "format": (
        "string",
        (
            "onnx, keras, hdf5, savedmodel, tflite, pickle, joblib, safetensors, "
            "torch, or unknown; by content, not by name"
        ),
    ),
    "sha256": ("string", "digest of the file; of a folder: over sorted names and contents"),
    "content_sha256": (
        "string",
        (
            "the same without what envcheck itself embeds: an ONNX file "
            "without metadata_props, the entries of a Keras archive, the "
            "files of a SavedModel"
        ),
    ),
    "bytes": ("integer", "size of the file, or of all files of the folder"),
    "imports": (
        "list[string]",
        ("top-level modules outside the standard library that loading the model imports"),
    ),
    "holds_code": ("boolean", "contains marshalled Python code, which is tied to a Python minor"),
    "dangerous": (
        "list[string]",
        ("names in a pickle, or operators of a SavedModel, that can run commands or reach files"),
    ),
    "quantised": ("boolean", "computes on, or stores, integers in place of floats"),
    "unread": ("list[object]", "fields that could not be read, each with `field` and `reason`"),
    "unsafe_names": ("list[string]", "entries of an archive that would be unpacked elsewhere"),
    "inputs": (
        "list[object]",
        (
            "ONNX, TFLite: `name`, `dtype` and, where stated, `shape` with a "
            "number, a symbol or null per dimension"
        ),
    ),
    "outputs": ("list[object]", "as inputs"),
    "node_count": ("integer", "ONNX, TFLite: nodes, those of subgraphs and functions included"),
    "ops": ("list[string]", "ONNX: operators, `domain:name` outside ai.onnx; SavedModel: the same"),
    "ir_version": ("integer", "ONNX: version of the file format"),
    "opsets": ("object", "ONNX: version of each operator set, by domain; ai.onnx is empty"),
    "producer": ("string", "ONNX: name of the writer"),
    "producer_version": ("string", "ONNX: version of the writer"),
    "quantised_ops": ("list[string]", "ONNX: operators on quantised numbers"),
    "weight_types": ("list[string]", "ONNX: element types of the initialisers"),
    "int8_weight_types": ("list[string]", "ONNX: those of weight_types with at most 8 bits"),
    "custom_domains": (
        "list[string]",
        (
            "ONNX: domains of nodes that are neither the standard's, "
            "nor ONNX Runtime's, nor defined in the file"
        ),
    ),
    "functions": ("integer", "ONNX: functions defined in the file"),
    "external_data": ("list[string]", "ONNX: files with weights, as the model names them"),
    "external_missing": ("list[string]", "ONNX: those that are not there or not readable"),
    "external_short": ("list[string]", "ONNX: those that end before the weights do"),
    "external_outside": (
        "list[string]",
        (
            "ONNX: those that lead out of the model's folder "
            "(absolute, `..`, or through a link); never opened"
        ),
    ),
    "external_bytes": ("integer", "ONNX: size of all external files, when none is missing"),
    "external_sha256": ("string", "ONNX: digest over names and contents of the external files"),
    "keras_version": ("string", "Keras: version of the writer"),
    "backend": ("string", "Keras, HDF5: backend of the writer"),
    "layers": ("integer", "Keras: layers, those of nested models included"),
    "layer_classes": ("object", "Keras: number of layers by class"),
    "custom_objects": ("list[string]", "Keras: classes and functions that are not Keras' own"),
    "lambda_layers": ("list[string]", "Keras: names of Lambda layers that hold marshalled code"),
    "dtype_policies": ("list[string]", "Keras: data types and type policies of layers"),
    "compiled": ("boolean", "Keras: the configuration of compile() is stored"),
    "weights": ("list[string]", "Keras: entries with the weights"),
    "weights_only": ("boolean", "Keras, HDF5: weights without a model configuration"),
    "tensorflow_version": ("string", "SavedModel: version of the writer"),
    "tensorflow_git_version": ("string", "SavedModel: commit of the writer"),
    "graph_producer": ("integer", "SavedModel: GraphDef version of the writer"),
    "min_consumer": ("integer", "SavedModel: lowest GraphDef version of a reader"),
    "meta_graphs": ("integer", "SavedModel: graphs in the file"),
    "tags": ("list[string]", "SavedModel: tags of the graphs"),
    "signatures": ("list[object]", "SavedModel: `name`, `inputs` and `outputs` of each signature"),
    "keras_metadata": ("boolean", "SavedModel: written by Keras 2, which Keras 3 cannot load"),
    "assets": ("list[string]", "SavedModel: files under assets"),
    "missing_files": ("list[string]", "SavedModel: files of the variables that are not there"),
    "schema_version": ("integer", "TFLite: version of the schema"),
    "min_runtime_version": ("string", "TFLite: lowest version of the runtime, as the writer says"),
    "custom_ops": ("list[string]", "TFLite: operators that the runtime does not bring"),
    "flex_ops": ("list[string]", "TFLite: those of custom_ops that TensorFlow itself brings"),
    "tensor_types": ("list[string]", "TFLite, safetensors: element types of the tensors"),
    "tensor_count": ("integer", "safetensors: tensors"),
    "metadata_format": ("string", "safetensors: framework named in the metadata, for example pt"),
    "protocol": ("integer", "pickles: highest protocol used"),
    "compression": ("string", "pickles: zlib, gzip, bz2, xz or lzma"),
    "modules": ("list[string]", "pickles: modules that are referred to"),
    "globals": ("list[string]", "pickles: classes and functions that are referred to"),
    "unresolved_globals": ("integer", "pickles: references whose name is computed on loading"),
    "sklearn_versions": ("list[string]", "pickles: scikit-learn versions stored with estimators"),
    "numpy_generator": ("boolean", "pickles: refers to a random generator of numpy"),
    "pickles": ("list[string]", "PyTorch: pickles in the archive"),
    "archive_version": ("integer", "PyTorch: version of the archive format"),
    "torchscript": ("boolean", "PyTorch: holds TorchScript code"),
}

_TABLE: tuple[tuple[str, str, Any, str, str], ...] = (
    # key, probe, type, unit, meaning
    ("os.system", "os_release", "string", "", "linux, darwin or windows"),
    ("os.release_id", "os_release", "string", "", "ID of os-release, for example debian"),
    ("os.release_version", "os_release", "string", "", "VERSION_ID of os-release"),
    (
        "os.kernel_release",
        "os_release",
        "string",
        "",
        "kernel release; containers have the host's",
    ),
    (
        "os.container",
        "os_release",
        "list[string]",
        "",
        "markers of a container that were seen; a marker is a hint, no proof",
    ),
    (
        "os.sandbox",
        "os_release",
        "string",
        "",
        "gvisor or lambda if a marker says so, else none",
    ),
    ("os.libc_family", "libc", "string", "", "glibc or musl"),
    ("os.libc_version", "libc", "string", "", "version of the C library that processes use"),
    (
        "os.system_libraries",
        "libc",
        "list[string]",
        "",
        "of a fixed list (libGL.so.1, libgomp.so.1 …) those the loader can find",
    ),
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
    (
        "python.path_extras",
        "python",
        "integer",
        "folders",
        "folders on the path beyond the standard library and the package folders",
    ),
    ("python.packages", "packages", _PACKAGE_LIST, "", "how complete the list of packages is"),
    ("package.*", "packages", _PACKAGE, "", "one installed distribution, by normalised name"),
    ("native.blas", "native", [_BLAS], "", "BLAS libraries that distributions bring"),
    ("native.openmp", "native", [_OPENMP], "", "OpenMP runtimes that distributions bring"),
    ("framework.tensorflow", "frameworks", _TENSORFLOW, "", "TensorFlow's build record"),
    ("framework.torch", "frameworks", _TORCH, "", "PyTorch's build record"),
    ("framework.onnxruntime", "frameworks", _ONNXRUNTIME, "", "ONNX Runtime as installed"),
    (
        "framework.keras_config",
        "frameworks",
        _KERAS_CONFIG,
        "",
        "keras.json as Keras reads it",
    ),
    (
        "framework.keras_backend",
        "frameworks",
        "string",
        "",
        "backend Keras would use: KERAS_BACKEND, else keras.json, else tensorflow",
    ),
    ("gpu.driver", "gpu", "string", "", "kernel driver version"),
    ("gpu.cuda_driver_version", "gpu", "string", "", "highest CUDA the driver serves"),
    ("gpu.devices", "gpu", [_GPU], "", "graphics processors, in index order"),
    (
        "gpu.visible",
        "gpu",
        "string",
        "",
        "all, none, or how many, as CUDA_VISIBLE_DEVICES and NVIDIA_VISIBLE_DEVICES leave them",
    ),
    ("env.*", "env", "string", "", "effective value of an allow-listed environment variable"),
    ("model.*", "models", _MODEL, "", "a model file or folder"),
    ("file.*", "files", _FILE, "", "a declared extra file"),
)


def _spell(kind: Any) -> tuple[str, Any]:
    """Return a declared type as its word and its fields."""
    if isinstance(kind, dict):
        return "object", kind
    if isinstance(kind, list):
        return "list[object]", kind[0]
    return kind, None


KEYS: dict[str, Key] = {}
"""Every declaration by key."""
PROBES: dict[str, tuple[str, ...]] = {}
"""The keys of each built-in probe, by the name of its module."""

for _name, _probe, _kind, _unit, _doc in _TABLE:
    _word, _fields = _spell(_kind)
    KEYS[_name] = Key(_name, _word, _doc, _unit, _fields)
    PROBES[_probe] = (*PROBES.get(_probe, ()), _name)


def declaration(key: str) -> Key | None:
    """Return the declaration of a fact key, or None for a key of a third party."""
    found = KEYS.get(key)
    if found is None:
        found = KEYS.get(key.partition(".")[0] + ".*")
    return found


def keys_of(probe: str) -> tuple[str, ...]:
    """Return the keys that a built-in probe must give, or () for a third party's."""
    return PROBES.get(probe, ())
