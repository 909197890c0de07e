import Sharing

/// The radio backend that AirDrop uses: a program of root that brings Apple's radio link.
package enum RadioChoice: Sendable, Hashable {
    /// One in `/usr/lib/omdrop`, if it is there.
    case auto
    case off
    /// The absolute path of a helper.
    case helper(String)
}

extension SettingForm where Value == RadioChoice {
    static var radio: Self {
        single(
            .text, "auto, off or the absolute path of a helper",
            read: { text in
                switch text {
                case "auto": .auto
                // A truth value of YAML.
                case "off", "false": .off
                default: PathText.isAbsolute(text) ? .helper(text) : nil
                }
            },
            write: { choice in
                switch choice {
                case .auto: "auto"
                case .off: "off"
                case .helper(let path): path
                }
            })
    }
}
