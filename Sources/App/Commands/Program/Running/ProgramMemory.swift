import CLinuxShims

/// The memory that this process keeps as a program, apart from its data.
enum ProgramMemory {
    /// Call this before the first thread starts.
    static func bound() {
        // A heap for each thread would keep the largest buffers that ever passed through it: twice the memory for a
        // large file, and no faster. The lists of 20,000 items are larger than a megabyte and short-lived: they return
        // to the system at once. Buffers for reading and writing are smaller, and are kept: a channel makes a new one for each
        // piece, and a heap that gives each back has the kernel clear all memory that the contents of a file pass through.
        CLinuxShims_limit_heaps(2, 1 << 20, 4 << 20)
    }
}
