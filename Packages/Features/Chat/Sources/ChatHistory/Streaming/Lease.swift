import FileKit
import Glibc

/// Who writes a message that is not complete: a process that no other one can be taken for, not even after its number
/// was given again or the machine was started anew.
struct Lease: Sendable, Hashable {
    let boot: String
    let process: Int32
    /// When the process began, in ticks since the machine did.
    let start: String

    /// This process.
    static func own() -> Lease {
        let process = getpid()
        return Lease(boot: currentBoot() ?? "", process: process, start: status(of: process)?.start ?? "")
    }

    init(boot: String, process: Int32, start: String) {
        self.boot = boot
        self.process = process
        self.start = start
    }

    var text: String { "\(boot)/\(process)/\(start)" }

    init?(_ text: String) {
        let fields = text.split(separator: "/", omittingEmptySubsequences: false)
        guard fields.count == 3, let process = Int32(fields[1]) else { return nil }
        self.init(boot: String(fields[0]), process: process, start: String(fields[2]))
    }

    /// Whether that process still runs.
    var isAlive: Bool {
        guard boot == Self.currentBoot() ?? "", let status = Self.status(of: process) else { return false }
        // A process that ended but was not waited for writes nothing any more.
        return status.start == start && status.state != "Z" && status.state != "X"
    }

    private static func currentBoot() -> String? {
        read("/proc/sys/kernel/random/boot_id")?.split(separator: "\n").first.map(String.init)
    }

    /// "(2) comm … (3) state … (22) starttime" of proc(5). The name may hold spaces and parentheses itself.
    private static func status(of process: Int32) -> (state: Substring, start: String)? {
        guard let line = read("/proc/\(process)/stat"), let end = line.lastIndex(of: ")") else { return nil }
        let fields = line[line.index(after: end)...].split(separator: " ")
        guard fields.count > 19 else { return nil }
        return (fields[0], String(fields[19]))
    }

    /// A process that is gone has no such file, and may go while it is read.
    private static func read(_ path: String) -> String? {
        do {
            return String(decoding: try Files.read(path, limit: 4096), as: UTF8.self)
        } catch {
            return nil
        }
    }
}
