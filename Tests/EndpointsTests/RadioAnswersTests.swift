import AirDropDialect
import Programs
import SecureTransport
import Testing

@testable import Endpoints

@Suite("The answers of a radio backend")
struct RadioAnswersTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("that say what the backend is are read, with at most 16 obstacles in one escaped line each")
    func probe() throws {
        let probe = try RadioProbe(
            bytes(
                #"{"backend":"owl","version":"0.1.0","contract":"0.7.0","hardware":true,"#
                    + #""missing":[{"id":"radio","say":"Wi-Fi isn't\nconnected\u001b[2J."}],"more":1}"#))
        #expect(probe.backend == "owl" && probe.version == "0.1.0" && probe.hasHardware)
        #expect(probe.missing == [#"Wi-Fi isn't\nconnected\u{1B}[2J."#])
        let many = Array(repeating: #"{"id":"a","say":"\#(String(repeating: "x", count: 4_000))"}"#, count: 100)
        let long = try RadioProbe(
            bytes(
                #"{"backend":"b","version":"","contract":"0.7","hardware":false,"missing":[\#(many.joined(separator: ","))]}"#
            ))
        #expect(long.missing.count == 16 && long.missing.allSatisfy { $0.unicodeScalars.count <= 300 })
    }

    @Test("of another contract are a fault that names it")
    func contract() {
        for contract in ["0.8.0", "1.0.0", "0.70.1", "7", ""] {
            let text = #"{"backend":"b","version":"1","contract":"\#(contract)","hardware":true,"missing":[]}"#
            #expect(throws: RadioFault.otherContract(contract)) { try RadioProbe(bytes(text)) }
        }
    }

    @Test(
        "that are garbage, of wrong types or deep without end are faults",
        arguments: [
            "", "garbage", "[]", "null", "{}", "\u{0}\u{1B}[2J", #"{"visible":1}"#, #"{"visible":"true"}"#,
            #"{"visible":true,"remaining":"9"}"#, #"{"visible":true,"remaining":-1}"#,
            #"{"visible":true,"remaining":1e99}"#, #"{"visible":true,"remaining":99999999999}"#,
            #"{"visible":true,"remaining":2.5}"#, #"{"visible":true,"reason":{}}"#,
            #"{"visible":true,"rx_proven":"yes"}"#, String(repeating: "[", count: 60_000),
        ])
    func garbage(text: String) {
        #expect(throws: RadioFault.malformed("status")) { try RadioStatus(bytes(text)) }
        #expect(throws: RadioFault.malformed("probe")) { try RadioProbe(bytes(text)) }
        #expect(HeardPeer.all(bytes(text)).isEmpty)
    }

    @Test("about the window are read, with and without an end")
    func status() throws {
        let open = try RadioStatus(
            bytes(#"{"visible":true,"remaining":42,"reason":"","rx_proven":true,"peer_op":""}"#))
        #expect(open.isVisible && open.remaining == 42 && open.isProven && open.reason.isEmpty)
        let closed = try RadioStatus(bytes(#"{"visible":false,"remaining":null,"reason":"expired","rx_proven":false}"#))
        #expect(!closed.isVisible && closed.remaining == nil && closed.reason == "expired")
        #expect(try RadioStatus(bytes(#"{"visible":true}"#)).isVisible)
    }

    @Test("about peers give each once, the strongest first, and pass over lines of another form")
    func peers() {
        let text = """
            02:00:00:00:00:01 rssi=?
            86:08:04:8a:2b:f4 rssi=-60
            02:00:00:00:00:02 rssi=-40
            02:00:00:00:00:02 rssi=-90
            01:00:5e:00:00:01 rssi=-1
            00:00:00:00:00:00 rssi=-1
            02:00:00:00:00 rssi=-1
            02:00:00:00:00:00:03 rssi=-1
            02:00:00:00:00:+3 rssi=-1
            02:00:00:00:00:0003 rssi=-1
            02:00:00:00:00:04 rssi=
            02:00:00:00:00:05 rssi=-1000000
            02:00:00:00:00:06 rssi=-50 x
            ; rm -rf / rssi=-1
            """
        #expect(HeardPeer.all(bytes(text)).map(\.digits) == ["020000000002", "8608048a2bf4", "020000000001"])
        let crowd = (0..<5_000).map {
            "02:00:00:00:\(String($0 >> 8 | 0x100, radix: 16).suffix(2)):\(String($0 & 255 | 0x100, radix: 16).suffix(2)) rssi=-50"
        }
        #expect(HeardPeer.all(bytes(crowd.joined(separator: "\n"))).count == 256)
    }

    @Test("lead to the link-local address that a hardware address makes")
    func address() throws {
        let peer = try #require(HeardPeer.all(bytes("86:08:04:8a:2b:f4 rssi=?")).first)
        #expect(peer.host == "fe80::8408:4ff:fe8a:2bf4")
        let target = AirDropEndpoint.target(of: peer, on: RadioLink(index: 7, host: "fe80::1"))
        #expect(target.addresses.map(\.port) == [8_770, 8_771] && target.addresses.allSatisfy { $0.scopeID == 7 })
    }

    @Test("and the records of the radio link show a peer once, whichever comes first")
    func twice() throws {
        let link = RadioLink(index: 7, host: "fe80::1")
        let peer = try #require(HeardPeer.all(bytes("86:08:04:8a:2b:f4 rssi=?")).first)
        let heard = AirDropEndpoint.target(of: peer, on: link)
        func announced(_ scope: UInt32) -> PeerTarget {
            PeerTarget(
                .airdrop, addresses: [DialAddress(host: peer.host, port: 8_770, scopeID: scope)],
                announcement: .init(instance: "a", facts: [:]))
        }
        for (first, second) in [(heard, announced(7)), (announced(7), heard)] {
            let view = AirDropView(limit: 9)
            #expect(view.enter(first.airDropInstance, at: first, radio: 7))
            #expect(!view.enter(second.airDropInstance, at: second, radio: 7))
        }
        let view = AirDropView(limit: 9)
        #expect(view.enter("heard", at: heard, radio: 7) && view.enter("a", at: announced(3), radio: 7))
    }

    @Test("by an exit code are a fault of their own, with the last line that the backend wrote")
    func exits() {
        let errors = bytes("12:00:00Z trying\nomdrop-discoverable: Wi-Fi isn't\tconnected\n")
        let words = #"omdrop-discoverable: Wi-Fi isn't\tconnected"#
        let cases: [(ProgramExit, RadioFault)] = [
            (.code(3), .notNow(words)), (.code(4), .noRadio(words)), (.code(126), .refused), (.code(127), .refused),
            (.code(1), .failed("start", words)), (.signal(9), .failed("start", words)),
        ]
        for (exit, fault) in cases { #expect(RadioBackend.fault("start", exit, errors) == fault) }
        #expect(RadioBackend.fault("stop", .code(3)) == .notNow(""))
        for (_, fault) in cases {
            #expect(!fault.description.contains("\n") && !fault.hint.isEmpty)
        }
    }
}
