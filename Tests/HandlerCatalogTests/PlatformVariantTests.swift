import PropertyLists
import Testing

@testable import HandlerCatalog

@Suite("Platform and device variants of keys")
struct PlatformVariantTests {
    private let laptop = PlatformVariants(device: "laptop")

    @Test(
        "a key for platform and device goes before one for the device, that before one for the platform, that before none"
    )
    func precedence() {
        var keys: [String: PropertyList] = [:]
        for key in ["CFBundleName", "CFBundleName-linux", "CFBundleName~laptop", "CFBundleName-linux~laptop"] {
            keys[key] = .string(key)
            #expect(laptop.resolved(keys) == ["CFBundleName": .string(key)])
        }
    }

    @Test("a variant needs no key without a suffix")
    func variantAlone() {
        #expect(laptop.resolved(["WaftTimeout~laptop": .integer(5)]) == ["WaftTimeout": .integer(5)])
        #expect(laptop.resolved(["WaftTimeout-linux": .integer(6)]) == ["WaftTimeout": .integer(6)])
    }

    @Test("variants for other devices are left out")
    func otherDevices() {
        let keys: [String: PropertyList] = [
            "A": .integer(1), "A~server": .integer(2), "A-linux~container": .integer(3), "B~desktop": .integer(4),
        ]
        #expect(laptop.resolved(keys) == ["A": .integer(1)])
        #expect(PlatformVariants(device: nil).resolved(keys) == ["A": .integer(1)])
        #expect(PlatformVariants(device: "server").resolved(keys) == ["A": .integer(2)])
        #expect(PlatformVariants(device: "container").resolved(keys) == ["A": .integer(3)])
    }

    @Test("a key with any other suffix is a key like any other")
    func otherSuffixes() {
        let keys: [String: PropertyList] = [
            "A-macos": .integer(1), "A~ipad": .integer(2), "A~laptop-linux": .integer(3), "A-LINUX": .integer(4),
            "-linux": .integer(5), "~laptop": .integer(6),
        ]
        #expect(laptop.resolved(keys) == keys)
    }

    @Test("the identity and the program of a bundle cannot be varied")
    func fixedKeys() {
        let keys: [String: PropertyList] = [
            "CFBundleIdentifier": .string("a"), "CFBundleIdentifier-linux": .string("b"),
            "CFBundleExecutable~laptop": .string("c"), "CFBundleExecutable-linux~laptop": .string("d"),
        ]
        #expect(laptop.resolved(keys) == ["CFBundleIdentifier": .string("a")])
    }
}
