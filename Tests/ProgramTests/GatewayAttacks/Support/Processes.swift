import FileKit
import Glibc
import Testing

/// What runs on this machine, as /proc tells it.
enum Processes {
    /// The processes whose command line has that in it.
    static func with(_ mark: String) throws -> [Int] {
        try all().filter { text("/proc/\($0)/cmdline").contains(mark) }
    }

    /// The processes that one has started and that are still there.
    static func children(of parent: Int32) throws -> [Int] {
        try all().filter { id in
            // Behind the name, which is in parentheses, come the state and the parent.
            let words = text("/proc/\(id)/stat").split(separator: ")").last?.split(separator: " ") ?? []
            return words.count > 1 && words[1] == "\(parent)"
        }
    }

    /// How many descriptors a process has open.
    static func descriptors(of process: Int32) throws -> Int { try Files.list("/proc/\(process)/fd").count }

    /// How much memory of a process is resident, in bytes.
    static func residentBytes(of process: Int32) -> Int {
        let line = text("/proc/\(process)/status").split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// Processes come and go while they are listed, which is no failure here as it is for other folders.
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

    /// Empty for a process that has just gone.
    private static func text(_ path: String) -> String {
        do { return String(decoding: try Files.read(path, limit: 1 << 16), as: UTF8.self) } catch { return "" }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that count the descriptors of a program, which hides them with the secrets in its memory.
    static var onlyRootSeesDescriptors: Self {
        .enabled(if: geteuid() == 0, "only root may count the descriptors of a program that hides its memory")
    }
}
