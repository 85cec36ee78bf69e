import FileKit
import Glibc

/// What the test's own process uses.
public enum TestProcess {
    /// The bytes of memory that are resident now.
    public static func residentBytes() throws -> Int {
        let text = String(decoding: try Files.read("/proc/self/statm", limit: 4096), as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        guard let pages else { throw ScriptError.failed("/proc/self/statm is not as expected: \(text)") }
        return pages * Int(getpagesize())
    }

    /// The seconds of processor time used so far, by user and system.
    public static func processorSeconds() -> Double {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let (user, system) = (usage.ru_utime, usage.ru_stime)
        return Double(user.tv_sec + system.tv_sec) + Double(user.tv_usec + system.tv_usec) / 1e6
    }
}
