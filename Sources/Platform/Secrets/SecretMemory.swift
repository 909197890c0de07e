internal import COpenSSL
internal import Glibc
internal import Synchronization

/// Memory for secrets, outside the heap.
///
/// Small secrets share pages, in slots of `slotBytes`; each larger one, up to `maximumMappedBytes`, has pages of its own.
/// The kernel is asked not to swap these pages (mlock), to leave them out of core dumps (MADV_DONTDUMP), and to give a
/// forked process zeros in their place (MADV_WIPEONFORK). Nothing fails if it refuses: `RLIMIT_MEMLOCK` may be used up,
/// and hibernation writes locked pages too. Larger secrets, and small ones beyond `maximumPages` pages, are on the heap.
///
/// This is not the secure heap of libcrypto: that is as large as it was at the start, and once it is full libcrypto has
/// no memory for the keys of its connections either.
enum SecretMemory {
    /// Bytes of a slot.
    static let slotBytes = 128
    /// Pages with slots, at most: 256 KiB, or 2,048 secrets.
    static let maximumPages = 64
    /// Bytes of a secret that has pages of its own, at most.
    static let maximumMappedBytes = 128 << 10

    /// Memory of one secret. It is zeroed when it is given out, and wiped when it is given back.
    struct Room {
        fileprivate enum Origin {
            case slot
            case pages(count: Int)
            case heap
        }

        let start: UnsafeMutableRawPointer
        fileprivate let origin: Origin

        /// Whether the secret is outside the heap.
        var isProtected: Bool {
            if case .heap = origin { return false }
            return true
        }
    }

    private struct Slots {
        /// Addresses.
        var free: [UInt] = []
        var pages = 0
    }

    private static let slots = Mutex(Slots())
    private static let pageBytes = max(sysconf(Int32(_SC_PAGESIZE)), 4096)

    static func allocate(_ count: Int) -> Room {
        if count <= slotBytes {
            if let slot = slot() { return Room(start: slot, origin: .slot) }
        } else if count <= maximumMappedBytes {
            let whole = (count + pageBytes - 1) / pageBytes * pageBytes
            if let start = map(whole) { return Room(start: start, origin: .pages(count: whole)) }
        }
        let start = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 1)
        start.initializeMemory(as: UInt8.self, repeating: 0, count: count)
        return Room(start: start, origin: .heap)
    }

    /// - Parameter count: as it was allocated.
    static func release(_ room: Room, _ count: Int) {
        OPENSSL_cleanse(room.start, count)
        switch room.origin {
        case .slot:
            let address = UInt(bitPattern: room.start)
            slots.withLock { $0.free.append(address) }
        case .pages(let count): munmap(room.start, count)
        case .heap: room.start.deallocate()
        }
    }

    /// A free slot; nil if all are in use.
    private static func slot() -> UnsafeMutableRawPointer? {
        let address = slots.withLock { slots -> UInt? in
            if slots.free.isEmpty, slots.pages < maximumPages, let page = map(pageBytes) {
                slots.pages += 1
                let start = UInt(bitPattern: page)
                slots.free = stride(from: start, to: start + UInt(pageBytes), by: slotBytes).reversed()
            }
            return slots.free.popLast()
        }
        return address.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
    }

    private static func map(_ count: Int) -> UnsafeMutableRawPointer? {
        let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start, Int(bitPattern: start) != -1 else { return nil }
        _ = mlock(start, count)
        _ = madvise(start, count, Int32(MADV_DONTDUMP))
        _ = madvise(start, count, Int32(MADV_WIPEONFORK))
        return start
    }
}
