"""The instruction set in use. All compiled modules of the library share one choice."""
from ldpfast._core.kernels cimport LDP_ISA_COUNT, ldp_isa, ldp_isa_name, ldp_isa_set, ldp_isa_supported

ldp_isa()  # chosen at import, before threads start


def isa() -> str:
    """Return the name of the instruction set in use: "plain", "avx2" or "avx512"."""
    return ldp_isa_name(ldp_isa()).decode()


def isas() -> list:
    """Return the names of the instruction sets that this machine supports, in order of vector width."""
    return [ldp_isa_name(i).decode() for i in range(LDP_ISA_COUNT) if ldp_isa_supported(i)]


def set_isa(str name) -> None:
    """Select an instruction set by name. Call it before threads start."""
    for i in range(LDP_ISA_COUNT):
        if ldp_isa_name(i).decode() == name and ldp_isa_set(i) == 0:
            return
    raise ValueError(f"instruction set must be one of {isas()}, got {name!r}")
