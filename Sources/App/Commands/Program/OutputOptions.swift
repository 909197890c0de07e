import ArgumentParser
import Endpoints
import Settings

/// Options for the output of a command.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON document a line.")
    var json = false
}
