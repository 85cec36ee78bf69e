import Glibc

extension Terminal {
    /// Whether a person can be asked at all: `/dev/tty` opens, wherever the standard streams go.
    public static var hasControllingTerminal: Bool {
        let descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}
