import Lines
import Operations

extension DeskCall {
    /// The settings that a window may change: those that name no program, give none a right, and let none run unasked.
    static let changeable: Set<String> = [
        "accept", "clearQuota", "conflict", "desk.firstSteps", "desk.sound", "dialects.airdrop.enabled",
        "dialects.airdrop.flags",
        "dialects.airdrop.modelName", "dialects.localsend.deviceModel", "dialects.localsend.enabled",
        "dialects.localsend.pin", "dialects.localsend.plain", "dialects.localsend.port", "discovery", "eligibility",
        "excludedActivities", "inhibitSleep", "lockAfter", "lockOnScreenSaver", "logLevel", "name", "notifications",
        "outboxQuota", "partialLifetime", "partialQuota", "port", "previews", "protection", "relay",
        "reserve", "searchDomains",
        "skipInterfaces", "strangerQuota", "web.certificate", "web.enabled", "web.key", "web.plain", "web.port",
    ]

    private struct Setting: Decodable, Sendable {
        var setting: String
        /// Nil for the default.
        var values: [String]?
    }

    private struct OneHandler: Decodable, Sendable {
        /// Its identifier.
        var handler: String
    }

    private struct Question: Decodable, Sendable {
        /// The name of an item, a type, or a URL. An item is judged by its name.
        var about: String
    }

    /// The settings, and the handlers with the choices about them.
    static let settings: [String: DeskCall] = [
        "settings": DeskCall { (_: Nothing, desk) in
            for fault in try desk.waft().config.check(nil).faults { try await desk.show(fault) }
            try await desk.show(SettingsSchemaLine())
            for line in desk.host.settings(try desk.host.strict()) { try await desk.show(line) }
            return .done
        },
        "settings/set": DeskCall { (wanted: Setting, desk) in
            guard changeable.contains(wanted.setting) else {
                throw WaftError(.notPermitted, "a window does not change this setting")
            }
            let config = try desk.waft().config
            let change =
                if let values = wanted.values {
                    try await config.set(wanted.setting, to: values)
                } else {
                    try await config.unset(wanted.setting)
                }
            try await desk.show(change.line)
            if let failure = change.failure { throw failure }
            return .done
        },
        "handlers": .lines { (_: Nothing, waft) in
            let (handlers, problems) = waft.handlers.list()
            return handlers + problems
        },
        "handlers/show": .lines { (one: OneHandler, waft) in
            let (handlers, problems) = try waft.handlers.show(one.handler)
            return handlers + problems
        },
        "handlers/enable": DeskCall { (one: OneHandler, desk) in
            try await desk.show(try await desk.host.strict().handlers.enable(one.handler))
            return .done
        },
        "handlers/disable": DeskCall { (one: OneHandler, desk) in
            try await desk.show(try await desk.host.strict().handlers.disable(one.handler))
            return .done
        },
        "handlers/decide": .lines { (question: Question, waft) in
            switch waft.handlers.decision(about: question.about) {
            case .item(let line): [line]
            case .scheme(let line): [line]
            }
        },
    ]
}
