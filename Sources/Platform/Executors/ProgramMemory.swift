import CLinuxShims

/// The memory that this process keeps as a program, apart from its data.
package enum ProgramMemory {
    /// Call this before the first thread starts.
    package static func bound() {
        // A heap for each thread would keep the largest buffers that ever passed through it: twice the memory for a
        // large file, and no faster. The lists of 10,000 items and of their verdicts are about a megabyte each and
        // short-lived: they return to the system at once, and leave no gaps in a heap. Buffers for reading and writing have
        // half a megabyte, and are kept: a channel makes a new one for each piece, and a heap that gives each back has the
        // kernel clear all memory that the contents of a file pass through.
        CLinuxShims_limit_heaps(2, 768 << 10, 4 << 20)
    }
}
