internal import Executors

/// A digest that a second thread computes while its owner takes the next bytes: for a slow algorithm beside other work.
///
/// The thread begins with the first content of more than `pieceBytes` and ends with this value. If no thread can be
/// started, the owner's thread computes. Costs two pieces of memory, from the first byte on.
package struct BackgroundDigest: ~Copyable {
    /// So many bytes are handed over at once, as waking a thread takes as long as digesting some kilobytes.
    static let pieceBytes = 256 << 10

    private let work: Work
    /// The bytes that are not handed over yet.
    private var gathered = 0

    package init(_ algorithm: DigestAlgorithm) {
        self.init(algorithm, startThread: BackgroundThread.start)
    }

    init(_ algorithm: DigestAlgorithm, startThread: @escaping BackgroundThread.Starting) {
        work = Work(algorithm, startThread)
    }

    deinit { work.end() }

    /// Adds the next bytes of the content. They are copied.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            if gathered == Self.pieceBytes {
                work.handOver()
                gathered = 0
            }
            let count = min(rest.count, Self.pieceBytes - gathered)
            work.put(UnsafeRawBufferPointer(rebasing: rest.prefix(count)), at: gathered)
            gathered += count
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }

    /// The digest of everything added since the start, at which it then is again.
    package mutating func finalize() -> Digest {
        defer { gathered = 0 }
        return work.finalize(gathered)
    }

    package mutating func reset() {
        work.reset(gathered)
        gathered = 0
    }

    /// The state that both threads use. Sendable: `rests` and `handedOver` say whose turn it is. The owner alone has `filling`; the
    /// thread has `state` and `full` from `handedOver` to `rests`, and the owner otherwise.
    private final class Work: @unchecked Sendable {
        private var state: DigestState
        private var filling: [UInt8] = []
        private var full: [UInt8] = []
        private let rests = Semaphore(1)
        private let handedOver = Semaphore()
        private var isOver = false
        private var hasThread = false
        private var hasUsedFull = false
        private let startThread: BackgroundThread.Starting

        init(_ algorithm: DigestAlgorithm, _ startThread: @escaping BackgroundThread.Starting) {
            state = DigestState(algorithm)
            self.startThread = startThread
        }

        func put(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
            if filling.isEmpty { filling = [UInt8](repeating: 0, count: pieceBytes) }
            filling.withUnsafeMutableBytes { filling in
                UnsafeMutableRawBufferPointer(rebasing: filling[offset...]).copyMemory(from: bytes)
            }
        }

        /// Gives the thread a whole piece, as soon as it has done the one before.
        func handOver() {
            rests.wait()
            swap(&filling, &full)
            hasUsedFull = true
            if !hasThread { hasThread = startThread("waft-digest") { [self] in go() } }
            if hasThread {
                handedOver.signal()
            } else {
                full.withUnsafeBytes { state.update($0) }
                rests.signal()
            }
        }

        func finalize(_ gathered: Int) -> Digest {
            rests.wait()
            defer { rests.signal() }
            filling.withUnsafeBytes { state.update(UnsafeRawBufferPointer(rebasing: $0.prefix(gathered))) }
            wipe(gathered)
            return state.finalize()
        }

        func reset(_ gathered: Int) {
            rests.wait()
            wipe(gathered)
            state.reset()
            rests.signal()
        }

        /// The contents of a sealed item do not outlive its end here.
        private func wipe(_ gathered: Int) {
            filling.withUnsafeMutableBytes { _ = $0.prefix(gathered).initializeMemory(as: UInt8.self, repeating: 0) }
            if hasUsedFull { full.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 0) } }
            hasUsedFull = false
        }

        func end() {
            rests.wait()
            isOver = true
            if hasThread { handedOver.signal() }
        }

        private func go() {
            while true {
                handedOver.wait()
                if isOver { return }
                full.withUnsafeBytes { state.update($0) }
                rests.signal()
            }
        }
    }
}
