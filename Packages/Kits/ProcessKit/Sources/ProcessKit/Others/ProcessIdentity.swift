import Glibc

/// A process that no other one can be taken for: not after its number was given again, nor after the machine was started
/// anew. It can be stored, and asked later whether that process still runs.
public struct ProcessIdentity: Sendable, Hashable {
    public let process: Int32
    private let boot: String
    private let start: UInt64

    /// This process.
    public static var own: ProcessIdentity {
        let process = getpid()
        return ProcessIdentity(process: process, boot: currentBoot, start: OtherProcess.start(of: process) ?? 0)
    }

    private init(process: Int32, boot: String, start: UInt64) {
        self.process = process
        self.boot = boot
        self.start = start
    }

    /// As it was stored.
    public init?(_ text: String) {
        let fields = text.split(separator: "/", omittingEmptySubsequences: false)
        guard fields.count == 3, let process = Int32(fields[1]), let start = UInt64(fields[2]) else { return nil }
        self.init(process: process, boot: String(fields[0]), start: start)
    }

    public var text: String { "\(boot)/\(process)/\(start)" }

    /// Whether that process still runs. One that has ended and was not waited for does nothing any more.
    public var isAlive: Bool {
        boot == Self.currentBoot && OtherProcess.start(of: process) == start && !OtherProcess.isZombie(process)
    }

    private static var currentBoot: String {
        let file = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(file, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
