/// The file systems that are mounted, by /proc/self/mountinfo.
package enum MountedDisk {
    /// - Parameter device: `st_dev`.
    /// - Returns: the type of the file system, such as `ext4` or `fuse.bindfs`; nil if it is not found.
    package static func type(of device: UInt) -> String? {
        guard let bytes = try? SmallFile.read("/proc/self/mountinfo", limit: 4 << 20) else { return nil }
        return type(of: device, in: String(decoding: bytes, as: UTF8.self))
    }

    static func type(of device: UInt, in table: String) -> String? {
        // As gnu_dev_major(3) and gnu_dev_minor(3).
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 6, words[2] == "\(major):\(minor)", let dash = words.firstIndex(of: "-") else {
                continue
            }
            return words[(dash + 1)...].first.map(String.init)
        }
        return nil
    }

    /// Whether the options of the mount may decide the modes of all files, whatever chmod says.
    package static func mayDecideModes(_ type: String) -> Bool {
        type.hasPrefix("fuse")
            || ["vfat", "msdos", "exfat", "ntfs", "ntfs3", "cifs", "smb3", "9p", "vboxsf"].contains(type)
    }
}
