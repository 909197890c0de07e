import Glibc

/// What the kernel said.
package struct SystemError: Error, Hashable, CustomStringConvertible {
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// That of the call that has just failed on this thread.
    package static var last: SystemError { SystemError(errno) }

    /// In the words of strerror(3), such as "No such file or directory".
    package var description: String { String(cString: strerror(number)) }
}

/// Makes a system call until no signal gets in its way.
///
/// - Parameter body: the call; -1 stands for failure, with `errno` set.
/// - Returns: what it returned, not negative.
/// - Throws: what the kernel said.
@discardableResult
package func systemCall<Number: SignedInteger>(_ body: () -> Number) throws(SystemError) -> Number {
    while true {
        let result = body()
        if result >= 0 { return result }
        if errno != EINTR { throw .last }
    }
}
