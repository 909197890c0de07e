import CXXHash

/// Owns one `XXH3_state_t`, from `XXH3_createState` to `XXH3_freeState`.
///
/// Sendable because there is one owner and libxxhash keeps nothing outside the state.
struct XXH3State: ~Copyable, @unchecked Sendable {
    // Owned; never leaves this file.
    private let handle: OpaquePointer

    init() {
        guard let handle = XXH3_createState() else { fatalError("no memory for an XXH3 state") }
        self.handle = handle
        reset()
    }

    deinit { XXH3_freeState(handle) }

    func reset() {
        // Fails only for a null state, as do the calls below.
        XXH3_128bits_reset(handle)
    }

    func update(_ base: UnsafeRawPointer, count: Int) {
        CXXHash_XXH3_128bits_update(handle, base, count)
    }

    /// Writes the 16 bytes of the canonical form.
    func finish(into bytes: UnsafeMutableRawBufferPointer) {
        var canonical = XXH128_canonical_t()
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(handle))
        withUnsafeBytes(of: canonical) { bytes.copyMemory(from: $0) }
    }
}
