import Foundation
import Glibc

/// A port on which no process listens now. The kernel does not assign it by itself: its own ports begin at 32768.
func freePort() throws -> Int {
    for port in (10_240..<32_768).shuffled() where try isFree(UInt16(port)) { return port }
    throw CocoaError(.fileReadUnknown)
}

private func isFree(_ port: UInt16) throws -> Bool {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard file >= 0 else { throw CocoaError(.fileReadUnknown) }
    defer { close(file) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    return withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(file, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}
