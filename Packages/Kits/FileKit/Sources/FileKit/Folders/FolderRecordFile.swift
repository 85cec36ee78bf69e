public import Capabilities
import JSON

/// Stores the user's permissions for folders in one file: `{"/home/me/web": {"device": 2, "inode": 7, "mode":
/// "workspace", "rules": […], "servers": […]}}`.
///
/// It is in this package, not in the host, so that tests of features use the same file.
public final class FolderRecordFile: FolderRules, RuleKeeper {
    /// No user answers so many questions. A larger file is rejected, so that the file can always be read.
    static let largestFile = 4 << 20
    private static let lockTime: Duration = .seconds(5)
    private let path: String

    /// - Parameter path: the file. Empty when there is none; then nothing is permitted.
    public init(_ path: String) {
        self.path = path
    }

    /// The file, if there is one.
    public var files: [String] { path.isEmpty ? [] : [path] }

    public func record(of folder: String) throws -> FolderRecord {
        // The folder is inspected first, so that a missing folder is reported regardless of its record.
        let identity = try Identity(of: folder)
        return try load()[identity.path]?.record(seenAs: identity) ?? FolderRecord(path: identity.path)
    }

    @discardableResult
    public func change(_ folder: String, _ edit: @Sendable (inout FolderRecord) -> Void) async throws -> FolderRecord {
        guard !path.isEmpty else {
            throw FileError(.noHome, "remember", folder, because: "there is no folder for the record; set HOME")
        }
        try Files.makeDirectories(AbsolutePath(path).folder.text)
        let lock = try await FileLock.acquire(path + ".lock", within: Self.lockTime)
        let identity = try Identity(of: folder)
        var entries = try load()
        var record = entries[identity.path]?.record(seenAs: identity) ?? FolderRecord(path: identity.path)
        edit(&record)
        entries[record.path] = record.isEmpty ? nil : Entry(record, seenAs: identity)
        var object: JSONObject = [:]
        for entry in entries.values.sorted(by: { $0.path < $1.path }) { object[entry.path] = entry.json }
        let bytes = Array(JSON.object(object).text(.pretty).utf8)
        guard bytes.count <= Self.largestFile else {
            throw FileError(
                .tooLarge, "add to", path,
                because: "too many permissions are stored; remove some with 'martlet chat disallow'")
        }
        try Files.writeAtomically(bytes, to: path, mode: 0o600)
        // After an error the lock is released when it goes out of scope.
        lock.release()
        return FolderRecord(path: record.path, mode: record.mode, rules: record.rules, servers: record.servers)
    }

    // MARK: Among the rules that are listed

    public func keptRules(in folder: String) async throws -> [KeptRule] {
        let record = try record(of: folder)
        let mode = record.mode.map { KeptRule(["mode": $0.json], in: Self.place, scope: "project", owner: record.path) }
        return [mode].compactMap(\.self)
            + record.rules.map { KeptRule($0, in: Self.place, scope: "project", owner: record.path) }
    }

    public func remove(_ rule: KeptRule) async throws {
        try await change(rule.owner) { record in
            if rule.rule["mode"] != nil { record.mode = nil } else { record.rules.removeAll { $0 == rule.rule } }
        }
    }

    private static let place = "this folder's record"

    // MARK: The file

    private func load() throws -> [String: Entry] {
        guard !path.isEmpty else { return [:] }
        let bytes: [UInt8]
        do throws(FileError) { bytes = try Files.read(path, limit: Self.largestFile) } catch {
            if error.kind == .notFound { return [:] }
            throw error
        }
        do {
            var entries: [String: Entry] = [:]
            // An entry that cannot be read could be a denial, so the whole file is rejected.
            for (folder, json) in try JSON(parsing: bytes).object ?? ["": .null] {
                guard let entry = Entry(json, path: folder) else {
                    throw damaged("the entry for \(folder) is not valid")
                }
                entries[folder] = entry
            }
            return entries
        } catch let error as JSONError {
            throw damaged(error.located(in: path))
        }
    }

    private func damaged(_ words: String) -> FileError {
        FileError(.invalid, "read", path, because: "\(words); correct the file, or remove it to be asked again")
    }
}

/// The current identity of a folder.
private struct Identity: Hashable {
    let path: String
    let device: UInt64
    let inode: UInt64

    init(of folder: String) throws(FileError) {
        path = try Files.canonical(folder)
        let info = try Files.info(path)
        guard info.kind == .directory else {
            throw FileError(.notDirectory, "access", path, because: "it is not a folder")
        }
        (device, inode) = (info.device, info.inode)
    }
}

/// One folder in the file.
private struct Entry {
    let path: String
    let device: UInt64
    let inode: UInt64
    let mode: ToolMode?
    let rules: [JSON]
    let servers: Set<String>

    init(_ record: FolderRecord, seenAs identity: Identity) {
        (path, device, inode) = (record.path, identity.device, identity.inode)
        (mode, rules, servers) = (record.mode, record.rules, record.servers)
    }

    /// Nil when the entry is not valid, or has a part that could not be obeyed.
    init?(_ json: JSON, path: String) {
        guard AbsolutePath.isAbsolute(path), let device = json["device"]?.int, let inode = json["inode"]?.int else {
            return nil
        }
        self.path = path
        (self.device, self.inode) = (UInt64(bitPattern: Int64(device)), UInt64(bitPattern: Int64(inode)))
        if let json = json["mode"], !json.isNull {
            guard let mode = json.string.flatMap(ToolMode.init) else { return nil }
            self.mode = mode
        } else {
            mode = nil
        }
        if let json = json["rules"], !json.isNull {
            guard let rules = json.array else { return nil }
            self.rules = rules
        } else {
            rules = []
        }
        let agreed = json["servers"]?.unlessNull ?? []
        guard let servers = agreed.array?.map(\.string), !servers.contains(nil) else { return nil }
        self.servers = Set(servers.compactMap(\.self))
    }

    /// File system numbers are unsigned 64-bit, and JSON numbers here are signed.
    var json: JSON {
        var object: JSONObject = [
            "device": .int(Int(truncatingIfNeeded: device)), "inode": .int(Int(truncatingIfNeeded: inode)),
        ]
        object["mode"] = mode?.json
        if !rules.isEmpty { object["rules"] = .array(rules) }
        if !servers.isEmpty { object["servers"] = .array(servers.sorted().map { .string($0) }) }
        return .object(object)
    }

    /// The part of the record that applies to the current folder. For a replaced folder, the mode, the servers and the
    /// rules that allow something are dropped.
    func record(seenAs identity: Identity) -> FolderRecord {
        let isSame = (device, inode) == (identity.device, identity.inode)
        return FolderRecord(
            path: path, mode: isSame ? mode : nil,
            rules: isSame ? rules : rules.filter { $0["verdict"] != "allow" }, servers: isSame ? servers : [],
            isReplaced: !isSame)
    }
}
