import FileKit
import Glibc
import Testing

/// The processes of this machine, from /proc.
enum Processes {
    /// The processes whose command line contains a text.
    static func with(_ mark: String) throws -> [Int] {
        try all().filter { text("/proc/\($0)/cmdline").contains(mark) }
    }

    /// The running child processes of a process.
    static func children(of parent: Int32) throws -> [Int] {
        try all().filter { id in
            // The state and the parent come after the name in parentheses.
            let words = text("/proc/\(id)/stat").split(separator: ")").last?.split(separator: " ") ?? []
            return words.count > 1 && words[1] == "\(parent)"
        }
    }

    /// The number of open descriptors of a process.
    static func descriptors(of process: Int32) throws -> Int { try Files.list("/proc/\(process)/fd").count }

    /// The resident memory of a process in bytes.
    static func residentBytes(of process: Int32) -> Int {
        let line = text("/proc/\(process)/status").split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// Lists a folder in /proc, where entries may disappear meanwhile without an error.
    private static func all() throws -> [Int] {
        guard let stream = unsafe opendir("/proc") else { throw RawConnection.Failure(message: "there is no /proc") }
        defer { unsafe closedir(stream) }
        var found: [Int] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { field in
                unsafe String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let id = Int(name) { found.append(id) }
        }
        return found
    }

    /// The content of a file; empty for a process that has just ended.
    private static func text(_ path: String) -> String {
        do { return String(decoding: try Files.read(path, limit: 1 << 16), as: UTF8.self) } catch { return "" }
    }
}

extension Trait where Self == ConditionTrait {
    /// A condition for tests that count the descriptors of a program, which hides them to protect its secrets in
    /// memory.
    static var onlyRootSeesDescriptors: Self {
        .enabled(if: geteuid() == 0, "only root may count the descriptors of a program that hides its memory")
    }
}
