import Glibc

/// An error of the kernel.
package struct SystemError: Error, Hashable, CustomStringConvertible {
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// The error of the call that has just failed on this thread.
    package static var last: SystemError { SystemError(errno) }

    /// In the words of strerror(3), such as "No such file or directory". At the limit of open files, which any call may
    /// meet, with the way to raise it.
    package var description: String {
        String(cString: strerror(number)) + (number == EMFILE ? ": the limit is reached; raise it with ulimit -n" : "")
    }
}

/// Repeats a system call while signals interrupt it.
///
/// - Parameter body: the call; -1 stands for failure, with `errno` set.
/// - Returns: the call's result, not negative.
/// - Throws: the kernel's error.
@discardableResult
package func systemCall<Number: SignedInteger>(_ body: () -> Number) throws(SystemError) -> Number {
    while true {
        let result = body()
        if result >= 0 { return result }
        if errno != EINTR { throw .last }
    }
}
