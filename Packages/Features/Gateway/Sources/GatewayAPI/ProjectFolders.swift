import Capabilities
import Glibc
import HTTPCore
import HTTPServer

/// The places in which projects may have their folders.
public struct ProjectFolders: Sendable {
    /// The folder in which the gateway creates project folders.
    public let home: String
    /// Other folders in which clients may create projects.
    public let allowed: [String]

    /// - Parameters:
    ///   - home: an absolute path, which need not exist yet.
    ///   - allowed: absolute paths. One that does not exist allows nothing.
    public init(home: String, allowed: [String] = []) {
        self.home = home
        self.allowed = allowed
    }

    /// Returns the folder for a project and creates it if needed. An absolute path must be inside an allowed folder, a
    /// relative path is beneath `home`, and without a path the folder is named after the project.
    func folder(named name: String, at path: String?) throws(RequestProblem) -> String {
        guard let path, !path.isEmpty else { return try make(free(Self.plain(name))) }
        guard !path.utf8.contains(0), path.utf8.count < 4096 else {
            throw Self.invalid(path, "it is not a valid path")
        }
        guard !path.split(separator: "/").contains("..") else {
            throw Self.invalid(path, "it contains '..'")
        }
        return try make(path.hasPrefix("/") ? path : "\(home)/\(path)")
    }

    private func make(_ path: String) throws(RequestProblem) -> String {
        // Check where the existing part of the path leads before creating anything.
        var existing = path
        while Self.real(existing) == nil, let slash = existing.lastIndex(of: "/"), existing != home {
            existing = slash == existing.startIndex ? "/" : String(existing[..<slash])
        }
        guard existing == home || Self.real(existing).map(isAllowed) == true else {
            throw Self.invalid(path, "it is outside the folders for projects; use a path beneath \(home)")
        }
        try makeFolders(path)
        guard let real = Self.real(path), isAllowed(real) else {
            throw Self.invalid(path, "it leads outside the folders for projects")
        }
        return real
    }

    private func isAllowed(_ real: String) -> Bool {
        ([home] + allowed).contains { root in
            guard let root = Self.real(root) else { return false }
            return real == root || root == "/" || real.hasPrefix(root + "/")
        }
    }

    private func makeFolders(_ path: String) throws(RequestProblem) {
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            if unsafe mkdir(made, 0o700) == 0 || errno == EEXIST { continue }
            // A parent folder may exist although it is not writable.
            if Self.real(made) != nil { continue }
            throw Self.invalid(path, "cannot create the folder \(PlainText.escape(made))")
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Self.invalid(path, "it is not a folder")
        }
    }

    /// An unused path beneath `home`.
    private func free(_ name: String) -> String {
        var candidates = (2...).lazy.map { "\(home)/\(name)-\($0)" }.makeIterator()
        var path = "\(home)/\(name)"
        while unsafe access(path, F_OK) == 0, let next = candidates.next() { path = next }
        return path
    }

    /// A folder name without characters that need quoting.
    private static func plain(_ name: String) -> String {
        let words = name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let plain = words.joined(separator: "-").prefix(60)
        return plain.isEmpty ? "project" : String(plain)
    }

    /// The path without links and dots; nil when nothing exists there.
    private static func real(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard unsafe realpath(path, &buffer) != nil else { return nil }
        return String(validating: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func invalid(_ path: String, _ reason: String) -> RequestProblem {
        let shown = PlainText.escape(path).quotedForMessage
        return RequestProblem(
            .badRequest, code: "gateway.invalid-path", "cannot use the path \(shown): \(reason)",
            inputs: [InputProblem(place: "body", name: "path", message: reason)])
    }
}
