import Glibc

/// What the system's user database knows.
enum UserDatabase {
    /// The home directory on record for a user, or nil when there is no such user or only a relative path.
    static func home(of userID: UInt32) -> String? {
        var record = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 14)
        return unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress,
                unsafe getpwuid_r(userID, &record, start, buffer.count, &found) == 0,
                unsafe found != nil, let home = unsafe record.pw_dir
            else { return nil }
            let path = unsafe String(cString: home)
            return path.startsAtRoot ? path : nil
        }
    }
}
