import CLinuxShims

/// What this process holds of memory for being a program, apart from what it works on.
enum ProgramMemory {
    /// To be called before the first thread starts.
    static func bound() {
        // A heap for each thread would keep the largest buffers that ever passed through it, on each of them: twice the
        // memory for a large file, and no faster. The lists of 20,000 items are larger than a megabyte and short-lived:
        // they go back to the system at once. What is read and written at once is smaller, and is kept.
        CLinuxShims_limit_heaps(2, 1 << 20)
    }
}
