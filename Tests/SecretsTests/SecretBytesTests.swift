import Foundation
import Testing

@testable import Secrets

@Suite("Secret bytes")
struct SecretBytesTests {
    @Test("secrets of every size hold their bytes", arguments: [0, 1, 127, 128, 129, 4096, 4097, 131_072, 131_073])
    func sizes(count: Int) {
        let bytes = KeyDerivation.random(count)
        let secret = SecretBytes(bytes)
        #expect(secret.count == count)
        #expect(secret.revealed == bytes)
        #expect(secret.isProtected == (count <= SecretMemory.maximumMappedBytes))
        #expect(secret[(count / 2)..<count].revealed == Array(bytes[(count / 2)...]))
    }

    @Test("a secret that was released leaves zeros for the next one")
    func wiping() {
        for count in [16, 128, 5000] {
            for _ in 0..<300 {
                SecretBytes(count: count) { room in
                    #expect(room.allSatisfy { $0 == 0 })
                    for index in room.indices { room[index] = 0xAA }
                }.withBytes { #expect($0.allSatisfy { $0 == 0xAA }) }
            }
        }
    }

    @Test("many secrets at once do not share memory, and those that find no place in the pages are on the heap")
    func crowd() {
        let secrets = (0..<3000).map { number in
            SecretBytes(count: 8) { $0.storeBytes(of: UInt64(number), as: UInt64.self) }
        }
        for (number, secret) in secrets.enumerated() {
            #expect(secret.withBytes { $0.load(as: UInt64.self) } == UInt64(number))
        }
        #expect(secrets.contains { $0.isProtected })
        #expect(secrets.contains { !$0.isProtected })
    }

    @Test("the pages of a secret are locked, and are left out of core dumps and of forked processes")
    func pages() throws {
        let secret = SecretBytes.random(32)
        let address = secret.withBytes { UInt(bitPattern: $0.baseAddress) }
        var flags: Substring?
        var isFound = false
        // Foundation reads only the first page of it as a string.
        let map = try #require(try FileHandle(forReadingFrom: URL(filePath: "/proc/self/smaps")).readToEnd())
        for line in String(decoding: map, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            let bounds = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if bounds.count == 2 { isFound = (bounds[0]..<bounds[1]).contains(address) }
            if isFound, line.hasPrefix("VmFlags:") { flags = line }
        }
        let found = try #require(flags).split(separator: " ")
        #expect(found.contains("dd"))
        #expect(found.contains("wf"))
        // Where the limit allows no locked memory, there is none.
        let limits = try String(contentsOfFile: "/proc/self/limits", encoding: .utf8).split(separator: "\n")
        let limit = try #require(limits.first { $0.hasPrefix("Max locked memory") }).split(separator: " ")[3]
        #expect(found.contains("lo") || Int(limit).map { $0 < 1 << 20 } == true)
        _ = secret
    }
}
