internal import CAvahi
internal import Glibc
internal import Logging

/// The library avahi-core, loaded at its first use.
///
/// It cannot be linked beside avahi-client: both export a function named `avahi_entry_group_free`, with different
/// parameters, and call it themselves. In one process the dynamic linker gives both of them the one that was linked
/// first, and the other library crashes. Loaded with `RTLD_DEEPBIND`, avahi-core finds its own. Kept out of the global
/// scope, it is invisible to avahi-client. (AddressSanitizer refuses such loading.) So Waft also starts if only
/// avahi-client is installed.
enum AvahiCore {
    /// The functions, or why they cannot be loaded. Once loaded the library stays.
    static let functions: Result<CAvahi_core, DiscoveryError> = {
        do throws(DiscoveryError) {
            let functions = try load()
            functions.set_log_function { level, text in
                guard let text else { return }
                // Names in the text come from the link: they are escaped, so that they cannot control a terminal.
                AvahiCore.logger.log(level: AvahiCore.level(level), "\(String(cString: text).debugDescription)")
            }
            return .success(functions)
        } catch {
            return .failure(error)
        }
    }()

    private static func load() throws(DiscoveryError) -> CAvahi_core {
        // 7 is the version of the library's binary interface since 2010.
        guard let library = dlopen("libavahi-core.so.7", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) else {
            throw DiscoveryError(.responderUnavailable, cause: dlerror().map { String(cString: $0) } ?? "dlopen failed")
        }
        func find<Function>(_ name: String) throws(DiscoveryError) -> Function {
            guard let symbol = dlsym(library, name) else {
                throw DiscoveryError(.responderUnavailable, cause: "libavahi-core has no \(name)")
            }
            // The field that receives it has the type of the header's function of this name.
            return unsafeBitCast(symbol, to: Function.self)
        }
        return CAvahi_core(
            s_entry_group_commit: try find("avahi_s_entry_group_commit"),
            s_entry_group_free: try find("avahi_s_entry_group_free"),
            s_entry_group_new: try find("avahi_s_entry_group_new"),
            s_service_browser_free: try find("avahi_s_service_browser_free"),
            s_service_browser_new: try find("avahi_s_service_browser_new"),
            s_service_resolver_free: try find("avahi_s_service_resolver_free"),
            s_service_resolver_new: try find("avahi_s_service_resolver_new"),
            server_add_address: try find("avahi_server_add_address"),
            server_add_service_strlst: try find("avahi_server_add_service_strlst"),
            server_config_free: try find("avahi_server_config_free"),
            server_config_init: try find("avahi_server_config_init"),
            server_errno: try find("avahi_server_errno"),
            server_free: try find("avahi_server_free"),
            server_new: try find("avahi_server_new"),
            set_log_function: try find("avahi_set_log_function")
        )
    }

    private static let logger = Logger(label: "waft.discovery.avahi")

    /// Only messages about failures of the responder itself are warnings. The library's own warnings concern packets of
    /// others, which can come at any rate, or a second responder on this machine, which Waft allows.
    static func level(_ level: AvahiLogLevel) -> Logger.Level {
        switch level {
        case AVAHI_LOG_ERROR: .warning
        case AVAHI_LOG_WARN, AVAHI_LOG_NOTICE, AVAHI_LOG_INFO: .debug
        default: .trace
        }
    }
}
