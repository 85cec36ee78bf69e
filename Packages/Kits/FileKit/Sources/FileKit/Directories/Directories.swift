import Capabilities
import Glibc

/// The directories of an application, by the XDG Base Directory rules or under one folder that a variable names.
///
///     let places = Directories(application: "martlet", override: "MARTLET_HOME", environment: Environment.snapshot())
///     let settings = try places.config + "/config.json"
///
/// Nothing is created, and nothing is looked up before it is needed.
public struct Directories: Sendable {
    private let application: String
    private let override: String?
    private let environment: [String: String]
    private let userID: UInt32

    /// If the variable `override` is set, all directories of the user are under the folder it names.
    public init(
        application: String, override: String? = nil, environment: [String: String], userID: UInt32? = nil
    ) {
        self.application = application
        self.override = override
        self.environment = environment
        self.userID = userID ?? getuid()
    }

    /// Settings.
    public var config: String {
        get throws(FileError) { try place("config", "XDG_CONFIG_HOME", ".config") }
    }

    /// Data that the user would miss.
    public var data: String {
        get throws(FileError) { try place("data", "XDG_DATA_HOME", ".local/share") }
    }

    /// Logs, history and similar files.
    public var state: String {
        get throws(FileError) { try place("state", "XDG_STATE_HOME", ".local/state") }
    }

    /// Files that can be created again.
    public var cache: String {
        get throws(FileError) { try place("cache", "XDG_CACHE_HOME", ".cache") }
    }

    /// Sockets and locks of this login. Nil when the system has no such directory.
    public var runtime: String? {
        get throws(FileError) {
            if let root = try overridingFolder { return "\(root)/runtime" }
            return absolute("XDG_RUNTIME_DIR").map { "\($0)/\(application)" }
        }
    }

    /// The administrator's settings, the most important directory first. The override does not move them.
    public var systemConfig: [String] {
        let value = environment["XDG_CONFIG_DIRS"] ?? ""
        let listed = (value.isEmpty ? "/etc/xdg" : value).split(separator: ":")
        return listed.filter { $0.utf8.first == UInt8(ascii: "/") }.map { "\($0)/\(application)" }
    }
}

extension Directories {
    private func place(_ folder: String, _ variable: String, _ fallback: String) throws(FileError) -> String {
        if let root = try overridingFolder { return "\(root)/\(folder)" }
        if let base = absolute(variable) { return "\(base)/\(application)" }
        return "\(try home)/\(fallback)/\(application)"
    }

    /// "All paths set in these environment variables must be absolute. If an implementation encounters a relative
    /// path in any of these variables it should consider the path invalid and ignore it." (XDG Base Directory)
    private func absolute(_ variable: String) -> String? {
        environment[variable].flatMap { AbsolutePath.isAbsolute($0) ? $0 : nil }
    }

    // A relative override is rejected, not ignored: ignoring it would write to the real home directory.
    private var overridingFolder: String? {
        get throws(FileError) {
            guard let override, let folder = environment[override], !folder.isEmpty else { return nil }
            guard AbsolutePath.isAbsolute(folder) else {
                throw FileError(.notFound, "use", folder, because: "\(override) must be an absolute path")
            }
            return folder
        }
    }

    private var home: String {
        get throws(FileError) {
            if let home = absolute("HOME") ?? UserDatabase.home(of: userID) { return home }
            throw FileError(
                .noHome, "find", "the home directory",
                because: "user \(userID) has none; set HOME\(override.map { " or \($0)" } ?? "")")
        }
    }
}

/// Reads the system's user database.
enum UserDatabase {
    /// The home directory of a user. Nil when there is no such user, or only a relative path.
    static func home(of userID: UInt32) -> String? {
        var record = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 14)
        return unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress,
                unsafe getpwuid_r(userID, &record, start, buffer.count, &found) == 0,
                unsafe found != nil, let home = unsafe record.pw_dir
            else { return nil }
            let path = unsafe String(cString: home)
            return AbsolutePath.isAbsolute(path) ? path : nil
        }
    }
}
