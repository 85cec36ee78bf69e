import Capabilities
import FileKit
import Glibc

/// Reads files of settings with what they include.
struct ConfigLoader {
    /// Limits of all files together. No person writes as much.
    struct Limits {
        var files = 512
        var lines = 50_000
        var bytes = 4 << 20
    }

    /// "READCONF_MAX_DEPTH 16" (readconf.c).
    private static let deepest = 16

    let account: SSHAccount
    /// The folder of the files of the system that are included without a whole path.
    var systemFolder = "/etc/ssh"
    var limits = Limits()
    /// Whether included files are read.
    var followsIncludes = true
    private var (files, lines, bytes) = (0, 0, 0)

    init(_ account: SSHAccount) {
        self.account = account
    }

    /// Reads a file. Nil if there is none.
    ///
    /// - Parameter isChecked: whether others must not be able to write it.
    mutating func load(
        _ path: String, isUsers: Bool, isChecked: Bool, depth: Int = 0
    ) throws(SSHError) -> ConfigFile? {
        guard depth <= Self.deepest else {
            throw SSHError(
                .configuration, "\(path) is included through more than \(Self.deepest) files; ssh reads no more either")
        }
        guard let text = try read(path, isChecked: isChecked) else { return nil }
        return try parse(text, path, isUsers: isUsers, depth: depth)
    }

    /// Reads a text, with the files that it includes.
    mutating func parse(
        _ text: [UInt8], _ path: String, isUsers: Bool, depth: Int = 0
    ) throws(SSHError) -> ConfigFile {
        files += 1
        bytes += text.count
        var parsed = ConfigLine.lines(of: text)
        lines += parsed.count
        guard files <= limits.files, lines <= limits.lines, bytes <= limits.bytes else {
            throw SSHError(
                .tooLarge,
                "the settings of SSH with \(path) are larger than the limit of \(limits.files) files, \(limits.lines) "
                    + "lines and \(ByteCount(limits.bytes).words)")
        }
        for index in parsed.indices where followsIncludes && parsed[index].keyword == "include" {
            parsed[index].included = try include(parsed[index], of: path, isUsers: isUsers, depth: depth)
        }
        return ConfigFile(path: path, lines: parsed, isUsers: isUsers)
    }

    private mutating func include(
        _ line: ConfigLine, of path: String, isUsers: Bool, depth: Int
    ) throws(SSHError) -> [ConfigFile] {
        var included: [ConfigFile] = []
        for pattern in line.arguments ?? [] where !pattern.isEmpty {
            guard let whole = wholePath(pattern, isUsers: isUsers) else { continue }
            for name in try Self.names(whole, limit: limits.files) {
                if let file = try load(name, isUsers: isUsers, isChecked: true, depth: depth + 1) {
                    included.append(file)
                }
            }
        }
        return included
    }

    /// The path that a pattern of `Include` stands for. Nil for one that is refused when the line is applied.
    private func wholePath(_ pattern: String, isUsers: Bool) -> String? {
        if pattern.utf8.first == UInt8(ascii: "/") { return pattern }
        guard isUsers else {
            return pattern.utf8.first == UInt8(ascii: "~") ? nil : "\(systemFolder)/\(pattern)"
        }
        let home = account.environment["HOME"] ?? account.home
        guard pattern.utf8.first == UInt8(ascii: "~") else { return "\(home)/.ssh/\(pattern)" }
        let user = pattern.dropFirst().prefix { $0 != "/" }
        let folder = user.isEmpty ? home : SSHAccount.home(of: String(user))
        // As in C, a user who does not exist stays as it was written, and matches nothing.
        return folder.map { $0 + pattern.dropFirst(1 + user.count) } ?? pattern
    }

    /// The existing files whose paths match a pattern, sorted.
    private static func names(_ pattern: String, limit: Int) throws(SSHError) -> [String] {
        var found = unsafe glob_t()
        defer { unsafe globfree(&found) }
        guard !pattern.utf8.contains(0), unsafe glob(pattern, 0, nil, &found) == 0 else { return [] }
        guard unsafe found.gl_pathc <= limit else {
            throw SSHError(
                .tooLarge, "'Include \(pattern)' matches \(unsafe found.gl_pathc) files; the limit is \(limit)")
        }
        return unsafe (0..<Int(found.gl_pathc)).compactMap { index in
            unsafe found.gl_pathv[index].map { unsafe String(cString: $0) }
        }
    }

    // MARK: Reading

    /// The content of a file. Nil if there is none. A folder and `/dev/null` are empty, as for C.
    private func read(_ path: String, isChecked: Bool) throws(SSHError) -> [UInt8]? {
        let text: [UInt8]
        do throws(FileError) {
            let real = try Files.canonical(path)
            let kind = try Files.info(real).kind
            if kind == .directory || real == "/dev/null" { return [] }
            text = try Files.read(real, limit: limits.bytes)
        } catch {
            if error.errno == ENOENT || error.errno == ENOTDIR { return nil }
            throw SSHError(
                error.kind == .tooLarge ? .tooLarge : .configuration,
                "cannot read the settings of SSH: \(error.message)", cause: error)
        }
        guard !isChecked || FileProtection.isProtected(path, for: account.userID) else {
            throw SSHError(
                .configuration,
                "bad owner or permissions on \(path): others may write it, so ssh refuses it too; "
                    + "its owner can change that with chmod go-w")
        }
        return text
    }
}
