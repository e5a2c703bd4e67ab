// The memory of the compiled module of a client, for tests.

/** Run `open` and return its client, and whether some bytes are anywhere in the memory of its module. */
export async function watchMemory(open) {
  let memory;
  const instantiate = WebAssembly.instantiate;
  WebAssembly.instantiate = async (...given) => {
    const instance = await instantiate(...given);
    memory = instance.exports.memory;
    return instance;
  };
  try {
    return { client: await open(), isThere: (bytes) => Buffer.from(memory.buffer).includes(Buffer.from(bytes)) };
  } finally {
    WebAssembly.instantiate = instantiate;
  }
}
