import Lines
import TestSupport
import Testing

@testable import Operations

@Suite("Settings with faults")
struct SettingsFaultTests {
    @Test("no operation calls a handler with forgiven settings: they may require a sandbox")
    func handlers() throws {
        let kitchen = try Kitchen(jobs: 0)
        #expect(throws: Never.self) { try kitchen.waft.handlerRunner() }
        var forgiven = kitchen.waft
        forgiven.settingsFault = WaftError(.usage, "config.yaml:3: unknown setting")
        #expect(throws: WaftError(.usage, "config.yaml:3: unknown setting")) { try forgiven.handlerRunner() }
    }
}
