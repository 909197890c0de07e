import Glibc
package import SystemCalls

extension Home {
    /// The state of the configuration file, for noticing a later change; nil if there is none. Links are followed.
    package var configurationStamp: FileStamp? {
        var status = stat()
        guard stat(configurationFile, &status) == 0 else { return nil }
        return FileStamp(status)
    }
}
