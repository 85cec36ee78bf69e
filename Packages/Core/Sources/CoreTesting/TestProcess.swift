import Glibc

/// The memory and processor time of the test process.
public enum TestProcess {
    /// Why the memory could not be read.
    public struct Problem: Error, CustomStringConvertible {
        public let description: String
    }

    /// The resident memory in bytes. Measure in an exit test: tests that run beside it use memory too.
    public static func residentBytes() throws -> Int { try residentBytes(of: "self") }

    /// The resident memory in bytes of the process with this id.
    public static func residentBytes(of process: Int32) throws -> Int { try residentBytes(of: "\(process)") }

    private static func residentBytes(of process: String) throws -> Int {
        let file = unsafe open("/proc/\(process)/statm", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 128)
        let count = unsafe read(file, &text, text.count)
        let line = String(decoding: text.prefix(max(count, 0)), as: UTF8.self)
        let fields = line.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else {
            throw Problem(description: "/proc/\(process)/statm is not as expected: \(line)")
        }
        return pages * Int(getpagesize())
    }

    /// The seconds of processor time used so far, in user and system mode.
    public static func processorSeconds() -> Double {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let (user, system) = (usage.ru_utime, usage.ru_stime)
        return Double(user.tv_sec + system.tv_sec) + Double(user.tv_usec + system.tv_usec) / 1e6
    }
}
