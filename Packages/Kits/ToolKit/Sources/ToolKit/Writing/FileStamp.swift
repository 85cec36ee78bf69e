import Capabilities
import Glibc

/// What tells whether a file is still the one that it was, without its content.
struct FileStamp: Sendable, Hashable {
    private let device: UInt
    private let number: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    init(_ status: stat) {
        (device, number, size) = (UInt(status.st_dev), UInt(status.st_ino), Int(status.st_size))
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }

    /// For a sentence: how large it was and when it was changed last.
    var words: String {
        let time = Timestamp(microseconds: Int64(seconds) &* 1_000_000 &+ Int64(nanoseconds / 1000))
        return "\(ByteCount(size).words) of \(time.iso8601)"
    }
}
