import FileKit
import Glibc

/// The memory and processor time of the test process.
public enum TestProcess {
    /// The resident memory in bytes.
    public static func residentBytes() throws -> Int {
        let text = String(decoding: try Files.read("/proc/self/statm", limit: 4096), as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        guard let pages else { throw ScriptError.failed("/proc/self/statm is not as expected: \(text)") }
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
