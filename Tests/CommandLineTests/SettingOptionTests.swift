import ArgumentParser
import Settings
import Sharing
import Testing

@testable import CommandLine

@Suite("The options for settings")
struct SettingOptionTests {
    @Test("each setting with an option is in the help of the receivers, with its meaning, and no other option is")
    func help() throws {
        let keys = SettingKey.all.filter { $0.flag != nil }
        for command in [WaftDaemonCommand.helpMessage(columns: 500), ReceiveCommand.helpMessage(columns: 500)] {
            for key in keys {
                let line = try #require(command.split(separator: "\n").first { $0.contains("  \(key.flag ?? "") <") })
                #expect(command.contains(key.help.dropLast()), "\(line)")
            }
            let options = command.matches(of: /(?m)^ +(--[a-z]+) </).map { String($0.output.1) }
            let ofCodes = ["--for", "--remember", "--at", "--from"]
            #expect(options.filter { !ofCodes.contains($0) } == keys.compactMap(\.flag))
        }
    }

    @Test("an option overrides the value of a setting, and is its source")
    func values() throws {
        let words = ["--name", "study", "--port", "0", "--accept", "none", "--conflict", "skip"]
        var settings = Settings(hostName: "host")
        try ReceiverOptions.parse([]).apply(to: &settings)
        #expect(settings.places.isEmpty)
        try ReceiverOptions.parse(words).apply(to: &settings)
        #expect(settings.name == "study" && settings.port == 0)
        #expect(settings.accept == .none && settings.conflict == .skip)
        #expect(
            settings.places == ["name": "--name", "port": "--port", "accept": "--accept", "conflict": "--conflict"])
    }
}
