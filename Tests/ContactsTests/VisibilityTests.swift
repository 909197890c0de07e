import Contacts
import Foundation
import Sharing
import TestSupport
import Testing

@Suite("Visibility")
struct VisibilityTests {
    @Test("a temporary choice ends on time, and the permanent one holds after it")
    func choice() throws {
        let choice = try VisibilityChoice(.contacts).choosing(.everyone, for: .seconds(600), at: at(1_000))
        let rows: [(Int64, Visibility, Int64?)] = [
            (1_000, .everyone, 600_000), (300_000, .everyone, 301_000), (600_999, .everyone, 1),
            (601_000, .contacts, nil),
            (.max, .contacts, nil),
            // After the clock was set back, the remaining time is at most the whole duration.
            (0, .everyone, 600_000), (.min, .everyone, 600_000),
        ]
        for (time, visibility, remaining) in rows {
            #expect(choice.current(at: at(time)) == visibility)
            #expect(choice.nextChange(at: at(time))?.in == remaining)
            #expect(choice.nextChange(at: at(time)).map { $0.to == .contacts } ?? true)
        }
    }

    @Test("a temporary choice replaces another one, and the permanent choice holds after it")
    func replaced() throws {
        var choice = try VisibilityChoice(.off).choosing(.everyone, for: .seconds(600), at: at(0))
        choice = try choice.choosing(.contacts, for: .seconds(60), at: at(1_000))
        #expect(choice.current(at: at(60_999)) == .contacts)
        #expect(choice.current(at: at(61_000)) == .off)
        choice = try choice.choosing(.contacts, for: nil, at: at(2_000))
        #expect(choice == VisibilityChoice(.contacts))
        #expect(refusal { _ = try choice.choosing(.everyone, for: .zero, at: at(0)) } != nil)
        #expect(refusal { _ = try choice.choosing(.everyone, for: .seconds(Int64.max), at: at(0)) } != nil)
    }

    @Test("a choice is kept across a restart, and ends on time")
    func acrossRestart() throws {
        let (place, time) = (Place(), SetClocks(wall: 1_000_000))
        let file = { VisibilityFile(path: place.visibilityPath, clocks: time.clocks) }
        #expect(try file().state() == .init(visibility: .contacts, next: nil))
        try file().choose(.off)
        try file().choose(.everyone, for: .seconds(600))
        time.pass(599)
        let after = file()
        try after.restart()
        #expect(
            try after.state() == .init(visibility: .everyone, next: .init(remaining: .seconds(1), visibility: .off)))
        time.pass(1)
        #expect(try after.state() == .init(visibility: .off, next: nil))
        #expect(try file().state() == .init(visibility: .off, next: nil))
        let attributes = try FileManager.default.attributesOfItem(atPath: place.visibilityPath)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("a clock that is set back does not prolong it while the program runs")
    func setBack() throws {
        let (place, time) = (Place(), SetClocks(wall: 1_000_000_000))
        let file = VisibilityFile(path: place.visibilityPath, clocks: time.clocks)
        try file.choose(.everyone, for: .seconds(600))
        #expect(file.visibility == .everyone)
        time.pass(300)
        time.set(wall: 0)
        #expect(try file.state().next?.remaining == .seconds(300))
        time.pass(299)
        #expect(file.visibility == .everyone)
        time.pass(1)
        #expect(file.visibility == .contacts)
    }

    @Test("a clock that is set back before a restart prolongs it by its length once, however often it restarts")
    func setBackAndRestart() throws {
        let (place, time) = (Place(), SetClocks(wall: 1_000_000_000))
        try VisibilityFile(path: place.visibilityPath, clocks: time.clocks).choose(.everyone, for: .seconds(600))
        time.set(wall: 5_000)
        for restart in 0..<6 {
            let file = VisibilityFile(path: place.visibilityPath, clocks: time.clocks)
            try file.restart()
            #expect(try file.state().next?.remaining == .seconds(600 - restart * 100))
            time.pass(100)
        }
        #expect(VisibilityFile(path: place.visibilityPath, clocks: time.clocks).visibility == .contacts)
    }

    @Test("a choice that ended while the clock was set back does not begin again after a restart")
    func settled() throws {
        let (place, time) = (Place(), SetClocks(wall: 1_000_000_000))
        let file = VisibilityFile(path: place.visibilityPath, clocks: time.clocks)
        try file.choose(.everyone, for: .seconds(600))
        try file.settle()
        #expect(file.visibility == .everyone)
        time.set(wall: 0)
        time.pass(600)
        try file.settle()
        let restarted = VisibilityFile(path: place.visibilityPath, clocks: time.clocks)
        try restarted.restart()
        #expect(try restarted.state() == .init(visibility: .contacts, next: nil))
    }

    @Test("a clock that is set forward ends it early")
    func setForward() throws {
        let (place, time) = (Place(), SetClocks(wall: 1_000))
        let file = VisibilityFile(path: place.visibilityPath, clocks: time.clocks)
        try file.choose(.everyone, for: .seconds(600))
        time.set(wall: 1_000_000_000)
        #expect(file.visibility == .contacts)
        try file.restart()
        time.set(wall: 1_000)
        #expect(file.visibility == .contacts)
    }

    @Test("a choice by another process is seen at once")
    func noticed() throws {
        let place = Place()
        let (mine, other) = (VisibilityFile(path: place.visibilityPath), VisibilityFile(path: place.visibilityPath))
        for visibility in [Visibility.off, .everyone, .contacts, .off, .everyone] {
            try other.choose(visibility)
            #expect(try mine.state().visibility == visibility)
        }
        try other.choose(.off, for: .seconds(3_600))
        #expect(try mine.state().visibility == .off)
        #expect(try mine.state().next?.visibility == .everyone)
    }

    @Test(
        "a damaged file is refused, counts as contacts, and a new choice takes its place",
        arguments: [
            "", "{", "[]", #"{"version":2,"lasting":"off"}"#, #"{"version":1,"lasting":"all"}"#,
            #"{"version":1,"lasting":"off","passing":{"visibility":"everyone"}}"#,
            String(repeating: "[", count: 60_000),
            String(repeating: " ", count: 70_000),
        ])
    func damaged(text: String) throws {
        let place = Place()
        try place.write(text, to: place.visibilityPath)
        let file = VisibilityFile(path: place.visibilityPath)
        #expect(refusal { _ = try file.state() }?.hasPrefix("\(place.visibilityPath) cannot be used") == true)
        #expect(file.visibility == .contacts)
        #expect(try place.read(place.visibilityPath) == text)
        try file.choose(.off)
        #expect(try file.state().visibility == .off)
    }

    @Test("excessive numbers in the file end at the longest possible time")
    func extremes() throws {
        let place = Place()
        for (since, length) in [(Int64.max, Int64.max), (.min, .max), (0, .max), (.min, .min), (.max, -1)] {
            try place.write(
                #"{"version":1,"lasting":"off","passing":{"visibility":"everyone","since":\#(since),"length":\#(length)}}"#,
                to: place.visibilityPath)
            let file = VisibilityFile(path: place.visibilityPath, clocks: SetClocks(wall: 0).clocks)
            try file.restart()
            let remaining = try file.state().next?.remaining ?? .zero
            #expect(remaining <= .seconds(3_660 * 86_400))
        }
    }
}

@Suite("The visibility that a receiver is started with")
struct StartVisibilityTests {
    private let folder = TemporaryFolder()

    @Test("overrides the stored one until the user chooses, and never again", arguments: [Visibility.off, .contacts])
    func override(before: Visibility) throws {
        let (file, command) = (VisibilityFile(path: folder / "v.json"), VisibilityFile(path: folder / "v.json"))
        try command.choose(before)
        let start = StartVisibility(.everyone, over: file)
        #expect(start.current == .everyone)
        // The end of a time limit is not a choice.
        try command.restart()
        try command.settle()
        #expect(start.current == .everyone)
        // A second choice of the same visibility is a choice.
        try command.choose(before)
        #expect(start.current == nil)
        folder.file("v.json", "damaged")
        #expect(start.current == nil && file.visibility == .contacts)
    }

    @Test("the visibility is the stored one if none was given")
    func none() throws {
        #expect(StartVisibility(nil, over: VisibilityFile(path: folder / "v.json")).current == nil)
        let start = StartVisibility(.everyone, over: VisibilityFile(path: folder / "v.json"))
        #expect(start.current == .everyone, "nothing was ever chosen")
        try VisibilityFile(path: folder / "v.json").choose(.off)
        #expect(start.current == nil)
    }
}
