import Glibc

extension Files {
    /// Whether this user may write there now: what `doctor` asks before anything is written.
    public static func isWritable(_ path: String) -> Bool {
        unsafe !path.utf8.contains(0) && access(path, W_OK) == 0
    }
}
