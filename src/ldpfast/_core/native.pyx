"""The instruction set and the implementation of AES in use. All compiled modules of the library share one choice."""
from ldpfast._core.kernels cimport (
    AES_FORM_COUNT, LDP_ISA_COUNT, aes_form as form_in_use, aes_form_name, aes_form_set, aes_form_supported, ldp_isa,
    ldp_isa_name, ldp_isa_set, ldp_isa_supported,
)

ldp_isa()  # both are chosen at import, before threads start
form_in_use()


def isa() -> str:
    """Return the name of the instruction set in use: "plain", "avx2" or "avx512"."""
    return ldp_isa_name(ldp_isa()).decode()


def isas() -> list[str]:
    """Return the names of the instruction sets that this machine supports, in order of vector width."""
    return [ldp_isa_name(i).decode() for i in range(LDP_ISA_COUNT) if ldp_isa_supported(i)]


def set_isa(str name) -> None:
    """Select an instruction set by name. Call it before threads start."""
    for i in range(LDP_ISA_COUNT):
        if ldp_isa_name(i).decode() == name and ldp_isa_set(i) == 0:
            return
    raise ValueError(f"instruction set must be one of {isas()}, got {name!r}")


def aes_form() -> str:
    """Return the implementation of AES in use: "portable", "armv8", "aes-ni", "vaes-256" or "vaes-512"."""
    return aes_form_name(form_in_use()).decode()


def aes_forms() -> list[str]:
    """Return the implementations of AES that this machine supports, the fastest last."""
    return [aes_form_name(i).decode() for i in range(AES_FORM_COUNT) if aes_form_supported(i)]


def set_aes_form(str name) -> None:
    """Select an implementation of AES by name. Call it before threads start."""
    for i in range(AES_FORM_COUNT):
        if aes_form_name(i).decode() == name and aes_form_set(i) == 0:
            return
    raise ValueError(f"implementation of AES must be one of {aes_forms()}, got {name!r}")
