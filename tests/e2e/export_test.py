"""What `fathom export` writes, in its readers: PyTorch's table of devices, Prometheus's parsers.

Usage: export_test.py FATHOM RESULT inductor | openmetrics. Exit code 77: no reader is installed.
"""

import dataclasses
import shutil
import subprocess
import sys
import types


def export(fathom, result, name):
    return subprocess.run([fathom, "export", name, result], check=True, capture_output=True,
                          text=True).stdout


def inductor(text):
    """Runs the module over stand-ins with the fields of PyTorch 2.9's DeviceInfo."""
    info = types.ModuleType("torch._inductor.analysis.device_info")
    info.DeviceInfo = dataclasses.make_dataclass(
        "DeviceInfo", [("tops", dict), ("dram_bw_gbs", float), ("dram_gb", float)], frozen=True)
    info._device_mapping = {"NVIDIA H100": "untouched"}
    torch = types.ModuleType("torch")
    types_of_torch = ["float64", "float32", "bfloat16", "float16", "float8_e4m3fn", "int8"]
    for name in types_of_torch:
        setattr(torch, name, "torch." + name)
    for name, module in {"torch": torch, "torch._inductor": types.ModuleType("_inductor"),
                         "torch._inductor.analysis": types.ModuleType("analysis"),
                         info.__name__: info}.items():
        sys.modules[name] = module
    exec(compile(text, "inductor", "exec"), {})
    device = info._device_mapping.pop("NVIDIA H200")
    assert info._device_mapping == {"NVIDIA H100": "untouched"}, info._device_mapping
    assert set(device.tops) == {"torch.tf32"} | {"torch." + name for name in types_of_torch}
    # The data sheet's dense figures: what is measured a clock is below them at the highest clock.
    sheet = {"float64": 67, "float32": 67, "tf32": 495, "bfloat16": 989, "float16": 989,
             "float8_e4m3fn": 1979, "int8": 1979}
    for name, tops in sheet.items():
        assert 0.9 * tops < device.tops["torch." + name] < 1.1 * tops, (name, device.tops)
    assert 4000 < device.dram_bw_gbs < 4815 and 140 < device.dram_gb < 152, device


def openmetrics(text):
    readers = 0
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
        families = {family.name: family for family in text_string_to_metric_families(text)}
        latency = {sample.labels["name"]: sample.value
                   for sample in families["fathom_cycles"].samples}
        assert 25 < latency["l1.latency"] < 45, latency
        assert families["fathom_bytes_per_second"].unit == "bytes_per_second"
        readers += 1
    except ImportError:
        print("not installed: prometheus_client")
    if promtool := shutil.which("promtool"):
        check = subprocess.run([promtool, "check", "metrics"], input=text, text=True,
                               capture_output=True)
        assert check.returncode == 0 and not check.stderr, check.stderr
        readers += 1
    else:
        print("not installed: promtool")
    return 0 if readers else 77


if __name__ == "__main__":
    program, document, reader = sys.argv[1:]
    sys.exit(globals()[reader](export(program, document, reader)))
