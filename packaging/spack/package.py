# Fathom for Spack: copy this folder to packages/fathom of a repository of recipes, or
#   spack dev-build -d <clone of Fathom> fathom@0.2.0
# The build is the script that the container recipes run, too.

from spack.package import *


class Fathom(Package, CudaPackage):
    """Microbenchmarks and memory-hierarchy probes for NVIDIA GPUs."""

    license("MIT")

    version("0.2.0")

    variant("cuda", default=True, description="Build the probes, which measure a GPU")
    variant("mpi", default=False, description="Build the ranks of fathom fleet run")

    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("boost+math", type="build")
    depends_on("tomlplusplus@3.2:", type="build")
    depends_on("simdjson@3.0:")
    depends_on("fmt@9:")
    depends_on("zlib-api")
    depends_on("benchmark@1.7.1:", when="+cuda")
    depends_on("cuda@12.8:", when="+cuda")
    depends_on("mpi", when="+mpi")

    def install(self, spec, prefix):
        arguments = [
            "-DFATHOM_COMMIT=v{0}".format(self.version),
            "-DCMAKE_DISABLE_FIND_PACKAGE_MPI={0}".format("OFF" if "+mpi" in spec else "ON"),
        ]
        if "~cuda" in spec:
            arguments.append("-DFATHOM_CUDA=OFF")
        elif spec.variants["cuda_arch"].value[0] != "none":
            # Tensor instructions of 9.0 and later are in the "a" variant alone.
            targets = [
                arch if int(arch.rstrip("af")) < 90 else arch.rstrip("af") + "a"
                for arch in spec.variants["cuda_arch"].value
            ]
            arguments.append("-DFATHOM_ARCHITECTURES={0}".format(";".join(targets)))
        Executable(join_path(self.stage.source_path, "packaging", "build.sh"))(
            prefix, *arguments
        )
