public import Capabilities
import JSON

/// Keeps what the person has agreed to for folders in one file: `{"/home/me/web": {"device": 2, "inode": 7, "mode":
/// "workspace", "rules": […]}}`.
///
/// It stands here, and not with the host that offers it, so that tests of features keep the same file.
public final class FolderRecordFile: FolderRules, RuleKeeper {
    /// Nobody answers so many questions. What grows beyond is refused, so that it can always be read again.
    static let largestFile = 4 << 20
    private static let lockTime: Duration = .seconds(5)
    private let path: String

    /// - Parameter path: of the file; empty where there is no place for one, and then nothing is agreed to.
    public init(_ path: String) {
        self.path = path
    }

    /// Where it is kept, if anywhere.
    public var files: [String] { path.isEmpty ? [] : [path] }

    public func record(of folder: String) throws -> FolderRecord {
        // Looking at the folder first tells of one that is gone, whatever was decided there.
        let identity = try Identity(of: folder)
        return try load()[identity.path]?.record(seenAs: identity) ?? FolderRecord(path: identity.path)
    }

    @discardableResult
    public func change(_ folder: String, _ edit: @Sendable (inout FolderRecord) -> Void) async throws -> FolderRecord {
        guard !path.isEmpty else {
            throw FileError(.noHome, "keep", folder, because: "there is no folder to remember it in; set HOME")
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
                because: "too much was agreed to already; 'martlet chat disallow' takes it back")
        }
        try Files.writeAtomically(bytes, to: path, mode: 0o600)
        // One that is not released here is when it goes.
        lock.release()
        return FolderRecord(path: record.path, mode: record.mode, rules: record.rules)
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
            // What cannot be read of one folder may be a denial for another one that has the wrong name.
            for (folder, json) in try JSON(parsing: bytes).object ?? ["": .null] {
                guard let entry = Entry(json, path: folder) else { throw damaged("\(folder) is no record of a folder") }
                entries[folder] = entry
            }
            return entries
        } catch let error as JSONError {
            throw damaged(error.located(in: path))
        }
    }

    private func damaged(_ words: String) -> FileError {
        FileError(.invalid, "read", path, because: "\(words); mend it, or remove the file and be asked again")
    }
}

/// A folder as it is now.
private struct Identity: Hashable {
    let path: String
    let device: UInt64
    let inode: UInt64

    init(of folder: String) throws(FileError) {
        path = try Files.canonical(folder)
        let info = try Files.info(path)
        guard info.kind == .directory else {
            throw FileError(.notDirectory, "look at", path, because: "it is no folder")
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

    init(_ record: FolderRecord, seenAs identity: Identity) {
        (path, device, inode) = (record.path, identity.device, identity.inode)
        (mode, rules) = (record.mode, record.rules)
    }

    /// Nil for what is no record, or one of which something could not be kept to.
    init?(_ json: JSON, path: String) {
        guard path.hasPrefix("/"), let device = json["device"]?.int, let inode = json["inode"]?.int else { return nil }
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
    }

    /// Numbers of the file system have 64 bits without a sign, and those of JSON here have one.
    var json: JSON {
        var object: JSONObject = [
            "device": .int(Int(truncatingIfNeeded: device)), "inode": .int(Int(truncatingIfNeeded: inode)),
        ]
        object["mode"] = mode?.json
        if !rules.isEmpty { object["rules"] = .array(rules) }
        return .object(object)
    }

    /// What of it holds in the folder that is there now: in another one than it was made for, what allows nothing.
    func record(seenAs identity: Identity) -> FolderRecord {
        let isSame = (device, inode) == (identity.device, identity.inode)
        return FolderRecord(
            path: path, mode: isSame ? mode : nil,
            rules: isSame ? rules : rules.filter { $0["verdict"] != "allow" },
            isReplaced: !isSame)
    }
}
